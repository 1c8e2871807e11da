//! The optional stages of a port: gate, discipline, stamp.

use crate::law::aqm::dual_queue::DualQueue;
use crate::law::aqm::red::Red;
use crate::law::pushout::PushOut;
use crate::law::session::{Admit, Counts, Knobs};
use crate::law::{Decision, Draw, Fault, Interval, PerPacket, Reason, Verdict, View};
use crate::packet::{Flags, Packet};
use crate::units::Time;

use super::ring::{Ring, entomb};

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
}

impl GateStage {
    /// Starts the law at time zero.
    pub fn new(half: Admit, mut law: Box<dyn Interval<Knobs, Counts>>) -> GateStage {
        let mut knobs = Knobs::default();
        let deadline = law.start(Time::ZERO, &mut knobs);
        GateStage { half, knobs, counts: Counts::default(), law, deadline }
    }
}

/// What happened at a tick: the counts of the interval that ended, and the decision on them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ticked {
    /// Opening packets, admissions and ends of the interval.
    pub counts: Counts,
    /// What the law decided.
    pub decision: Decision,
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
    /// A per-packet half of the user's own; its `depart` may stamp.
    pub custom: Option<Box<dyn PerPacket>>,
    /// What was sent and when, since it was last taken, if someone reads along.
    pub(super) log: Option<Vec<(Time, Packet)>>,
    /// Evicted packets that still hold a place in the ring.
    pub(super) tombstones: u32,
    /// When a held packet may go.
    pub(super) wake: Time,
    min_queue: u32,
    last_tick: Totals,
}

/// What the port had counted at the last tick.
#[derive(Clone, Copy, Default)]
struct Totals {
    offered: u64,
    drops: u64,
    busy: Time,
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
            Queue::PushOut(law) => law.enqueued(packet),
        }
        if let Some(gate) = &mut self.gate {
            gate.half.enqueued(packet, &mut gate.counts);
        }
        if let Some(custom) = &mut self.custom {
            custom.enqueued(packet, now);
        }
    }

    pub(super) fn dropped(&mut self, packet: &Packet, reason: Reason, now: Time) {
        if let Some(custom) = &mut self.custom {
            custom.dropped(packet, reason, now);
        }
    }

    pub(super) fn depart(&mut self, packet: &mut Packet, now: Time) {
        match &mut self.queue {
            Queue::DropTail | Queue::Red(_) | Queue::Custom(_) => {}
            Queue::DualQueue(dual) => dual.departs(packet),
            Queue::PushOut(law) => law.departs(),
        }
        if let Some(custom) = &mut self.custom {
            custom.depart(packet, now);
        }
        if let Some(log) = &mut self.log {
            log.push((now, *packet));
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
        self.min_queue = self.min_queue.min(waiting);
    }

    pub(super) fn tick_at(&self) -> Time {
        self.gate.as_ref().map_or(Time::NEVER, |gate| gate.deadline)
    }

    /// Runs the law that is due; `view` has what was counted since the start.
    pub(super) fn tick(&mut self, now: Time, mut view: View<'_>) -> Result<Option<Ticked>, Fault> {
        let Some(gate) = &mut self.gate else { return Ok(None) };
        if gate.deadline > now {
            return Ok(None);
        }
        let so_far =
            Totals { offered: view.queue_offered, drops: view.queue_drops, busy: view.busy };
        let before = std::mem::replace(&mut self.last_tick, so_far);
        view.queue_offered -= before.offered;
        view.queue_drops -= before.drops;
        view.busy = view.busy - before.busy;
        view.min_queue_packets =
            std::mem::replace(&mut self.min_queue, view.queue_packets).min(view.queue_packets);
        let counts = gate.counts;
        gate.deadline = gate.law.update(now, &view, &mut gate.counts, &mut gate.knobs)?;
        Ok(Some(Ticked { counts, decision: gate.law.decision() }))
    }
}
