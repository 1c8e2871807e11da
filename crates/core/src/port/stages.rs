//! The optional stages of a port: gate, discipline, stamp.

use crate::law::aqm::dual_queue::DualQueue;
use crate::law::aqm::red::Red;
use crate::law::pushout::PushOut;
use crate::law::session::{Admit, Counts};
use crate::law::{Decision, Draw, Fault, Moment, PerPacket, Reason, Verdict, View};
use crate::packet::{Flags, Packet};
use crate::units::Time;

use super::ring::{Ring, entomb};
use super::stage::{Stage, Told};
use super::stamp::Stamp;

/// What happened at a tick: which law decided, and what.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Ticked {
    /// The gate's law, on what was counted in the interval that ended.
    Gate {
        /// Opening packets, admissions and ends of the interval.
        counts: Counts,
        /// What the law decided.
        decision: Decision,
    },
    /// The stamp's law.
    Stamp(Decision),
}

/// Which waiting packet a discipline sends next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// The oldest.
    Oldest,
    /// The one so many places behind the oldest (evicted ones counted); the
    /// others keep their order.
    At(u32),
    /// The one so many places behind the oldest, which takes its place.
    Swap(u32),
    /// The oldest, which the discipline has kept until this instant.
    OldestFrom(Time),
    /// None before this instant.
    NotBefore(Time),
}

/// The waiting packets, as a discipline may see and thin them.
pub struct Backlog<'a> {
    pub(super) ring: &'a mut dyn Waiting,
    /// Packets that wait.
    pub packets: u32,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that may wait.
    pub limit_packets: u32,
    /// Bytes that may wait.
    pub limit_bytes: u64,
    pub(super) evicted: Vec<Packet>,
}

impl Backlog<'_> {
    /// Whether a packet of `size` bytes fits behind the others.
    pub fn fits(&self, size: u16) -> bool {
        self.packets < self.limit_packets && self.bytes + u64::from(size) <= self.limit_bytes
    }

    /// The waiting packets with their places, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Packet)> {
        let (first, second) = self.ring.slices();
        (0..)
            .zip(first.iter().chain(second))
            .filter(|(_, packet)| !packet.flags.has(Flags::EVICTED))
    }

    /// Takes the packet at a place out of the queue; whether there was one.
    pub fn evict(&mut self, place: u32) -> bool {
        match self.ring.at(place) {
            Some(packet) if !packet.flags.has(Flags::EVICTED) => {
                self.evicted.push(*packet);
                entomb(packet);
                self.packets -= 1;
                self.bytes -= u64::from(self.evicted[self.evicted.len() - 1].size);
                true
            }
            _ => false,
        }
    }
}

/// The ring, whatever it carries beside the packets.
pub(super) trait Waiting {
    fn slices(&self) -> (&[Packet], &[Packet]);
    fn at(&mut self, place: u32) -> Option<&mut Packet>;
}

impl<C: Default> Waiting for Ring<C> {
    fn slices(&self) -> (&[Packet], &[Packet]) {
        self.waiting_slices()
    }
    fn at(&mut self, place: u32) -> Option<&mut Packet> {
        self.waiting_mut(place)
    }
}

/// What a queue takes, and what it sends next.
#[derive(Default)]
pub enum Queue {
    /// First come, first served; what does not fit is lost.
    #[default]
    DropTail,
    /// Random early detection.
    Red(Red),
    /// Connection packets lost sooner than data.
    DualQueue(Box<DualQueue>),
    /// The worst packet gives way to a better one.
    PushOut(Box<PushOut>),
    /// A discipline of the user's own.
    Custom(Box<dyn Discipline>),
}

/// A queueing discipline of the user's own.
pub trait Discipline: Send {
    /// Whether the packet may join; the discipline may evict others for it.
    fn admit(
        &mut self,
        packet: &Packet,
        backlog: &mut Backlog<'_>,
        now: Time,
        draw: &mut dyn Draw,
    ) -> Verdict;

    /// Which of the waiting packets (at least one) is sent next.
    fn next(&mut self, _waiting: (&[Packet], &[Packet]), _now: Time) -> Next {
        Next::Oldest
    }
}

/// The control of one port.
pub struct Stages {
    /// Session control.
    pub gate: Option<Stage<Admit>>,
    /// Discipline of the queue.
    pub queue: Queue,
    /// Explicit rates.
    pub stamp: Option<Stamp>,
    /// A per-packet half of the user's own; its `depart` may stamp.
    pub custom: Option<Box<dyn PerPacket>>,
    /// What was sent and when, since it was last taken, if someone reads along.
    pub(super) log: Option<Vec<(Time, Packet)>>,
    /// Evicted packets that still hold a place in the ring.
    pub(super) tombstones: u32,
    /// The place that an evicted packet leaves to the one that comes.
    pub(super) freed: Option<u32>,
    /// When a held packet may go.
    pub(super) wake: Time,
}

impl Default for Stages {
    fn default() -> Stages {
        Stages {
            gate: None,
            queue: Queue::DropTail,
            stamp: None,
            custom: None,
            log: None,
            tombstones: 0,
            freed: None,
            wake: Time::NEVER,
        }
    }
}

impl Stages {
    /// No control at all.
    pub fn new() -> Stages {
        Stages::default()
    }

    /// The gate, then the user's own half; `admitted` tells that the packet opened a session.
    pub(super) fn arrive(
        &mut self,
        packet: &Packet,
        now: Time,
        draw: &mut dyn Draw,
        admitted: &mut bool,
    ) -> Verdict {
        if let Some(gate) = &mut self.gate {
            let before = gate.half.spent.admitted;
            match gate.admit(packet, now) {
                Verdict::Pass => *admitted = gate.half.spent.admitted > before,
                refused => return refused,
            }
        }
        match &mut self.custom {
            Some(custom) => custom.arrive(packet, now, draw),
            None => Verdict::Pass,
        }
    }

    /// The queue has taken the packet, behind `before` places of the ring.
    pub(super) fn enqueued(&mut self, packet: &Packet, before: u32, now: Time) {
        match &mut self.queue {
            Queue::DropTail | Queue::Red(_) | Queue::Custom(_) => {}
            Queue::DualQueue(dual) => dual.enqueued(packet, before),
            Queue::PushOut(law) => match self.freed.take() {
                None => law.enqueued(packet),
                Some(index) => law.enqueued_at(packet, index),
            },
        }
        if let Some(gate) = &mut self.gate {
            gate.enqueued(packet);
        }
        if let Some(custom) = &mut self.custom {
            custom.enqueued(packet, now);
        }
    }

    /// The packet comes to the queue, which may lose it yet.
    #[inline]
    pub(super) fn offered(&mut self, packet: &Packet, moment: &Moment) {
        if let Some(stamp) = &mut self.stamp {
            stamp.offered(packet, moment);
        }
    }

    /// Whether anyone looks at a packet that the queue has lost.
    #[inline]
    pub(super) fn hears_of_losses(&self) -> bool {
        self.stamp.is_some() || self.custom.is_some()
    }

    /// The queue has lost the packet, before it or out of it.
    pub(super) fn lost(&mut self, packet: &Packet, reason: Reason, now: Time) {
        if let Some(stamp) = &mut self.stamp {
            stamp.dropped(packet);
        }
        self.dropped(packet, reason, now);
    }

    pub(super) fn dropped(&mut self, packet: &Packet, reason: Reason, now: Time) {
        if let Some(custom) = &mut self.custom {
            custom.dropped(packet, reason, now);
        }
    }

    pub(super) fn depart(&mut self, packet: &mut Packet, moment: &Moment) {
        match &mut self.queue {
            Queue::DropTail | Queue::Red(_) | Queue::Custom(_) => {}
            Queue::DualQueue(dual) => dual.departs(packet),
            Queue::PushOut(law) => law.departs(),
        }
        if let Some(stamp) = &mut self.stamp {
            stamp.depart(packet, moment);
        }
        if let Some(custom) = &mut self.custom {
            custom.depart(packet, moment.now);
        }
        if let Some(log) = &mut self.log {
            log.push((moment.now, *packet));
        }
    }

    /// The oldest place of the ring, of an evicted packet, is given up.
    #[inline]
    pub(super) fn buried(&mut self) {
        self.tombstones -= 1;
        if let Queue::PushOut(law) = &mut self.queue {
            law.buried();
        }
    }

    /// A transmission has started and so many packets still wait.
    pub(super) fn note_queue(&mut self, waiting: u32) {
        if let Some(gate) = &mut self.gate {
            gate.note_queue(waiting);
        }
        if let Some(stamp) = &mut self.stamp {
            stamp.note_queue(waiting);
        }
    }

    pub(super) fn tick_at(&self) -> Time {
        let gate = self.gate.as_ref().map_or(Time::NEVER, Stage::tick_at);
        self.stamp.as_ref().map_or(gate, |stamp| gate.min(stamp.tick_at()))
    }

    /// Starts the laws; `view` has what was counted since the port was made.
    pub(super) fn start(&mut self, now: Time, view: View<'_>) -> Result<(), Fault> {
        if let Some(gate) = &mut self.gate {
            gate.start(now, view)?;
        }
        match &mut self.stamp {
            Some(stamp) => stamp.start(now, view),
            None => Ok(()),
        }
    }

    /// Runs one law that is due; `view` has what was counted since the port was made.
    pub(super) fn tick(&mut self, now: Time, view: View<'_>) -> Result<Option<Ticked>, Fault> {
        if let Some(gate) = &mut self.gate
            && let Some(Told { counts, decision }) = gate.tick(now, view)?
        {
            return Ok(decision.map(|decision| Ticked::Gate { counts, decision }));
        }
        match &mut self.stamp {
            Some(stamp) => Ok(stamp.tick(now, view)?.map(Ticked::Stamp)),
            None => Ok(None),
        }
    }
}
