//! The optional stages of a port: filter, gate, discipline, stamp.

use crate::law::greedy::Filter;
use crate::law::queue::{Discipline, Queue};
use crate::law::session::{Admit, Counts};
use crate::law::{Decision, Draw, Fault, Moment, PerPacket, Reason, Verdict, View};
use crate::packet::{Flags, Packet};
use crate::units::Time;

use super::police::Policer;
use super::stage::{Clock, IntervalResult, Stage};
use super::stamp::Stamp;

/// Where an arrival comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// From any source that sends through this node.
    Elsewhere,
    /// From this node itself: it skips its own gate.
    Here,
}

/// The law that decided at a tick, and its decision.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Ticked {
    /// The gate's law, with the counts of the interval that ended.
    Gate {
        /// Opening packets, admissions and ends of the interval.
        counts: Counts,
        /// The decision.
        decision: Decision,
    },
    /// The queue's law.
    Queue(Decision),
    /// The stamp's law.
    Stamp(Decision),
}

/// The control of one port.
#[derive(Default)]
pub struct Stages {
    /// The age from which packets with payload are dropped on arrival.
    pub lifetime: Option<Time>,
    /// Policer of all arrivals.
    pub police: Option<Policer>,
    /// Filters against greedy origins.
    pub filter: Option<Box<dyn Filter>>,
    /// Session control.
    pub gate: Option<Stage<Admit>>,
    /// Discipline of the queue.
    pub queue: Queue,
    /// Explicit rates.
    pub stamp: Option<Stamp>,
    /// A datapath of the user's own behind the gate; its `depart` may stamp.
    pub custom: Option<Box<dyn PerPacket>>,
    /// The packets sent since they were last taken, with times, if the port is watched.
    pub(super) log: Option<Vec<(Time, Packet)>>,
    /// The clock of the discipline.
    clock: Clock,
}

impl Stages {
    /// No stage but a drop-tail queue.
    pub fn new() -> Stages {
        Stages::default()
    }

    /// Whether there is more than a queue. A port with a queue alone asks no other stage.
    pub(super) fn has_others(&self) -> bool {
        let Stages { lifetime, police, filter, gate, queue: _, stamp, custom, log, clock: _ } =
            self;
        lifetime.is_some()
            || police.is_some()
            || filter.is_some()
            || gate.is_some()
            || stamp.is_some()
            || custom.is_some()
            || log.is_some()
    }

    /// Looks at the age of the packet, then asks the policer, the filter, the gate and the user's
    /// own datapath; also returns whether the packet opens a session.
    pub(super) fn arrive(
        &mut self,
        packet: &Packet,
        now: Time,
        draw: &mut dyn Draw,
        origin: Origin,
    ) -> (Verdict, bool) {
        let mut admitted = false;
        // an acknowledgement does not say when it was sent itself
        if let Some(lifetime) = self.lifetime
            && packet.flags.has(Flags::DATA)
            && now - packet.sent > lifetime
        {
            return (Verdict::Drop(Reason::Expired), false);
        }
        if let Some(police) = &mut self.police
            && !police.passes(packet.size, now)
        {
            return (Verdict::Drop(Reason::Policed), false);
        }
        let mut verdict = Verdict::Pass;
        if let Some(filter) = &mut self.filter
            && origin == Origin::Elsewhere
        {
            verdict = filter.arrive(packet, now, draw).on(packet);
            if !matches!(verdict, Verdict::Pass | Verdict::Mark(_)) {
                return (verdict, false);
            }
        }
        if let Some(gate) = &mut self.gate
            && origin == Origin::Elsewhere
        {
            match gate.admit(packet, now) {
                Verdict::Pass => admitted = gate.datapath.opens(packet),
                refused => return (refused, false),
            }
        }
        if let Some(custom) = &mut self.custom {
            match custom.arrive(packet, now, draw).on(packet) {
                // the mark of the filter stays
                Verdict::Pass => {}
                marked @ Verdict::Mark(_) => verdict = marked,
                lost => {
                    if let Some(gate) = self.gate.as_mut().filter(|_| admitted) {
                        gate.dropped(packet);
                    }
                    return (lost, false);
                }
            }
        }
        (verdict, admitted)
    }

    /// Tells the filter and the user's own datapath, which follow every packet.
    #[inline(always)]
    fn each_follower(&mut self, mut tell: impl FnMut(&mut dyn PerPacket)) {
        if let Some(filter) = &mut self.filter {
            tell(&mut **filter);
        }
        if let Some(custom) = &mut self.custom {
            tell(&mut **custom);
        }
    }

    /// The queue has accepted the packet.
    pub(super) fn enqueued(&mut self, packet: &Packet, now: Time, origin: Origin) {
        if let Some(gate) = &mut self.gate
            && origin == Origin::Elsewhere
        {
            gate.enqueued(packet);
        }
        self.each_follower(|stage| stage.enqueued(packet, now));
    }

    /// The packet is offered to the queue, which may still drop it.
    #[inline]
    pub(super) fn offered(&mut self, packet: &Packet, moment: &Moment) {
        if let Some(stamp) = &mut self.stamp {
            stamp.offered(packet, moment);
        }
    }

    /// The queue has dropped the packet at its arrival.
    pub(super) fn lost(&mut self, packet: &Packet, reason: Reason, now: Time) {
        if let Some(gate) = &mut self.gate {
            gate.dropped(packet);
        }
        if let Some(stamp) = &mut self.stamp {
            stamp.dropped(packet);
        }
        self.dropped(packet, reason, now);
    }

    /// The queue has dropped a packet that it had accepted.
    pub(super) fn dropped_from_queue(&mut self, packet: &Packet, reason: Reason, now: Time) {
        if let Some(gate) = &mut self.gate {
            gate.dropped_from_queue(packet);
        }
        if let Some(stamp) = &mut self.stamp {
            stamp.dropped_from_queue(packet);
        }
        self.dropped(packet, reason, now);
    }

    pub(super) fn dropped(&mut self, packet: &Packet, reason: Reason, now: Time) {
        self.each_follower(|stage| stage.dropped(packet, reason, now));
    }

    pub(super) fn depart(&mut self, packet: &mut Packet, moment: &Moment) {
        if let Some(stamp) = &mut self.stamp {
            stamp.depart(packet, moment);
        }
        self.each_follower(|stage| stage.depart(packet, moment.now));
        if let Some(log) = &mut self.log {
            log.push((moment.now, *packet));
        }
    }

    /// A transmission has started, and `waiting` packets still wait.
    pub(super) fn note_queue(&mut self, waiting: u32) {
        self.clock.note_queue(waiting);
        if let Some(gate) = &mut self.gate {
            gate.note_queue(waiting);
        }
        if let Some(stamp) = &mut self.stamp {
            stamp.note_queue(waiting);
        }
    }

    pub(super) fn tick_at(&self) -> Time {
        let gate = self.gate.as_ref().map_or(Time::NEVER, Stage::tick_at);
        let stamp = self.stamp.as_ref().map_or(Time::NEVER, Stamp::tick_at);
        gate.min(self.clock.deadline()).min(stamp)
    }

    /// Starts the laws; the sums in `view` are since the creation of the port.
    pub(super) fn start(&mut self, now: Time, view: View<'_>) -> Result<(), Fault> {
        if let Some(gate) = &mut self.gate {
            gate.start(now, view)?;
        }
        let first = self.queue.start(now)?;
        self.clock.start(first, now, view)?;
        match &mut self.stamp {
            Some(stamp) => stamp.start(now, view),
            None => Ok(()),
        }
    }

    /// Runs one law that is due; the sums in `view` are since the creation of the port.
    pub(super) fn tick(&mut self, now: Time, view: View<'_>) -> Result<Option<Ticked>, Fault> {
        if let Some(gate) = &mut self.gate
            && let Some(IntervalResult { counts, decision }) = gate.tick(now, view)?
        {
            return Ok(decision.map(|decision| Ticked::Gate { counts, decision }));
        }
        if self.clock.deadline() <= now {
            let (next, decision) = self.queue.tick(now, &self.clock.view(view))?;
            self.clock.set(next, now)?;
            return Ok(decision.map(Ticked::Queue));
        }
        match &mut self.stamp {
            Some(stamp) => Ok(stamp.tick(now, view)?.map(Ticked::Stamp)),
            None => Ok(None),
        }
    }
}
