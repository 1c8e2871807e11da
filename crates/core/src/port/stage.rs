//! A law at a port: its datapath, its controller, and the knobs and counts between them.

use crate::law::session::Admit;
use crate::law::{Controller, Counted, Datapath, Decision, Fault, Moment, Verdict, View};
use crate::packet::Packet;
use crate::units::Time;

/// A datapath and its controller.
///
/// Until the law is started, the datapath uses the default knobs.
pub struct Stage<D: Datapath> {
    /// The datapath.
    pub datapath: D,
    /// The knobs that the controller set last.
    knobs: D::Knobs,
    /// The counts of the datapath.
    counts: D::Counts,
    /// The counts at the controller's last update.
    told: D::Counts,
    law: Box<dyn Controller<D::Knobs, D::Counts>>,
    clock: Clock,
}

/// The result of an update.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct IntervalResult<C> {
    /// The counts of the interval that ended.
    pub counts: C,
    /// The decision of the law; none: nothing changed.
    pub decision: Option<Decision>,
}

impl<D: Datapath> Stage<D> {
    /// Combines the two; the law does not run before [`Stage::start`].
    pub fn new(datapath: D, law: Box<dyn Controller<D::Knobs, D::Counts>>) -> Stage<D> {
        Stage {
            datapath,
            knobs: D::Knobs::default(),
            counts: D::Counts::default(),
            told: D::Counts::default(),
            law,
            clock: Clock::default(),
        }
    }

    /// Starts the law at `now`; the sums in `view` are since the creation of the port.
    ///
    /// # Errors
    /// The failure of a user's own law, or a deadline that is not later than `now`.
    pub fn start(&mut self, now: Time, view: View<'_>) -> Result<(), Fault> {
        self.told = self.counts;
        self.clock.start(self.law.start(now, &mut self.knobs)?, now, view)
    }

    /// The counts of the datapath.
    pub fn counts(&self) -> &D::Counts {
        &self.counts
    }

    /// The next deadline of the law.
    pub fn tick_at(&self) -> Time {
        self.clock.deadline
    }

    /// Updates the law if it is due; the sums in `view` are since the creation of the port.
    ///
    /// # Errors
    /// The failure of a user's own law, or a deadline that is not later than `now`.
    pub fn tick(
        &mut self,
        now: Time,
        view: View<'_>,
    ) -> Result<Option<IntervalResult<D::Counts>>, Fault> {
        if self.clock.deadline > now {
            return Ok(None);
        }
        let view = self.clock.view(view);
        let counts = self.counts.since(&self.told);
        self.told = self.counts;
        let (next, decision) = self.law.update(now, &view, &counts, &mut self.knobs)?;
        self.clock.set(next, now)?;
        let moment = Moment { now, queue_bytes: view.queue_bytes };
        self.datapath.renewed(&moment, &self.knobs, &mut self.counts);
        Ok(Some(IntervalResult { counts, decision }))
    }

    /// A transmission has started, and `waiting` packets still wait.
    pub fn note_queue(&mut self, waiting: u32) {
        self.clock.note_queue(waiting);
    }

    /// Before the queue: may the packet continue?
    #[inline]
    pub fn admit(&mut self, packet: &Packet, now: Time) -> Verdict {
        self.datapath.admit(packet, now, &self.knobs, &mut self.counts)
    }

    /// The packet is offered to the queue, which may still drop it.
    #[inline]
    pub fn offered(&mut self, packet: &Packet, moment: &Moment) {
        self.datapath.offered(packet, moment, &self.knobs, &mut self.counts);
    }

    /// The queue has accepted the packet.
    #[inline]
    pub fn enqueued(&mut self, packet: &Packet) {
        self.datapath.enqueued(packet, &mut self.counts);
    }

    /// The packet is lost at its arrival, behind the gate.
    pub fn dropped(&mut self, packet: &Packet) {
        self.datapath.dropped(packet, &mut self.counts);
    }

    /// The queue has dropped a packet that it had accepted.
    pub fn dropped_from_queue(&mut self, packet: &Packet) {
        self.datapath.dropped_from_queue(packet, &mut self.counts);
    }

    /// Its transmission starts.
    #[inline]
    pub fn depart(&mut self, packet: &mut Packet, moment: &Moment) {
        self.datapath.depart(packet, moment, &self.knobs, &mut self.counts);
    }
}

impl Stage<Admit> {
    /// A packet comes in by the other direction of the link: may it continue?
    pub fn came_in(&mut self, packet: &Packet, now: Time) -> Verdict {
        self.datapath.came_in(packet, now, &self.knobs, &mut self.counts)
    }
}

/// When a law is due, and the sums at its last update.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    deadline: Time,
    offered: u64,
    drops: u64,
    busy: Time,
    min_queue: u32,
}

impl Default for Clock {
    /// The schedule of a law that does not run.
    fn default() -> Clock {
        Clock { deadline: Time::NEVER, offered: 0, drops: 0, busy: Time::ZERO, min_queue: 0 }
    }
}

impl Clock {
    /// The deadline of the law.
    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }

    /// The law starts at `now`, with this deadline.
    pub(super) fn start(&mut self, first: Time, now: Time, view: View<'_>) -> Result<(), Fault> {
        self.view(view);
        self.set(first, now)
    }

    /// Sets the deadline, which must be later than now: otherwise the law would be called without
    /// end.
    pub(super) fn set(&mut self, next: Time, now: Time) -> Result<(), Fault> {
        if next > now {
            self.deadline = next;
            return Ok(());
        }
        let what = "a law must return the time of its next update, later than now";
        Err(format!("{what}: it returned {next} at {now}").into())
    }

    /// Converts sums since the creation of the port to sums since the last update.
    pub(super) fn view<'a>(&mut self, mut view: View<'a>) -> View<'a> {
        let present = view.queue_packets;
        let now = Clock {
            deadline: self.deadline,
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

    /// A transmission has started, and `waiting` packets still wait.
    pub(super) fn note_queue(&mut self, waiting: u32) {
        self.min_queue = self.min_queue.min(waiting);
    }
}
