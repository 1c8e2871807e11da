//! The optional stages of a port: gate, discipline, stamp.

use crate::law::aqm::dual_queue::DualQueue;
use crate::law::aqm::red::Red;
use crate::law::pushout::PushOut;
use crate::law::rate::Moment;
use crate::law::session::{Admit, Counts, Knobs};
use crate::law::{Decision, Draw, Fault, Interval, PerPacket, Reason, Verdict, View};
use crate::packet::{Flags, Packet};
use crate::units::Time;

use super::ring::{Ring, entomb};
use super::stamp::Stamp;

/// Session control at a port: the shared per-packet half and a law's interval half.
pub struct GateStage {
    /// Per-packet half.
    pub half: Admit,
    /// What the interval half set last.
    pub knobs: Knobs,
    /// What the per-packet half has counted since.
    pub counts: Counts,
    /// Interval half.
    pub law: Box<dyn Interval<Knobs, Counts>>,
    deadline: Time,
    since: Since,
}

impl GateStage {
    /// Starts the law at time zero.
    pub fn new(half: Admit, mut law: Box<dyn Interval<Knobs, Counts>>) -> GateStage {
        let mut knobs = Knobs::default();
        let deadline = law.start(Time::ZERO, &mut knobs);
        let (counts, since) = (Counts::default(), Since::default());
        GateStage { half, knobs, counts, law, deadline, since }
    }
}

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

/// What a law's view counts from: its last tick.
#[derive(Clone, Copy, Default)]
pub(super) struct Since {
    offered: u64,
    drops: u64,
    busy: Time,
    min_queue: u32,
}

impl Since {
    /// From what was counted since the port was made to what was since the last tick.
    pub(super) fn view<'a>(&mut self, mut view: View<'a>) -> View<'a> {
        let present = view.queue_packets;
        let now = Since {
            offered: view.queue_offered,
            drops: view.queue_drops,
            busy: view.busy,
            min_queue: present,
        };
        let before = std::mem::replace(self, now);
        view.queue_offered -= before.offered;
        view.queue_drops -= before.drops;
        view.busy = view.busy - before.busy;
        view.min_queue_packets = before.min_queue.min(present);
        view
    }

    /// A transmission has started and so many packets still wait.
    pub(super) fn note_queue(&mut self, waiting: u32) {
        self.min_queue = self.min_queue.min(waiting);
    }
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
#[derive(Default)]
pub struct Stages {
    /// Session control.
    pub gate: Option<GateStage>,
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

impl Stages {
    /// No control at all.
    pub fn new() -> Stages {
        Stages { wake: Time::NEVER, ..Stages::default() }
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
            let before = gate.counts.admitted;
            match gate.half.arrive(packet, now, &gate.knobs, &mut gate.counts) {
                Verdict::Pass => *admitted = gate.counts.admitted > before,
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
            gate.half.enqueued(packet, &mut gate.counts);
        }
        if let Some(custom) = &mut self.custom {
            custom.enqueued(packet, now);
        }
    }

    /// The packet comes to the queue, which may lose it yet.
    #[inline]
    pub(super) fn offered(&mut self, packet: &Packet, moment: &Moment) {
        if let Some(stamp) = &mut self.stamp {
            stamp.arrive(packet, moment);
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
            gate.since.note_queue(waiting);
        }
        if let Some(stamp) = &mut self.stamp {
            stamp.note_queue(waiting);
        }
    }

    pub(super) fn tick_at(&self) -> Time {
        let gate = self.gate.as_ref().map_or(Time::NEVER, |gate| gate.deadline);
        self.stamp.as_ref().map_or(gate, |stamp| gate.min(stamp.tick_at()))
    }

    /// Runs one law that is due; `view` has what was counted since the start.
    pub(super) fn tick(&mut self, now: Time, view: View<'_>) -> Result<Option<Ticked>, Fault> {
        if let Some(gate) = &mut self.gate
            && gate.deadline <= now
        {
            let view = gate.since.view(view);
            let counts = gate.counts;
            let next = gate.law.update(now, &view, &mut gate.counts, &mut gate.knobs)?;
            if next <= now {
                let what = "a law must return the time of its next update, later than now";
                return Err(format!("{what}: it returned {next} at {now}").into());
            }
            gate.deadline = next;
            return Ok(Some(Ticked::Gate { counts, decision: gate.law.decision() }));
        }
        match &mut self.stamp {
            Some(stamp) => Ok(stamp.tick(now, view)?.map(Ticked::Stamp)),
            None => Ok(None),
        }
    }
}
