//! A law at work: its datapath and controller, and what passes between them.

use crate::law::{Controller, Counted, Datapath, Decision, Fault, Moment, Verdict, View};
use crate::packet::Packet;
use crate::units::Time;

/// A datapath at work, and the controller that steers it.
///
/// Until it is started, the datapath obeys the knobs as they are made.
pub struct Stage<D: Datapath> {
    /// The datapath.
    pub datapath: D,
    /// What the controller set last.
    knobs: D::Knobs,
    /// What the datapath has counted.
    counts: D::Counts,
    /// What of it the controller has been told.
    told: D::Counts,
    law: Box<dyn Controller<D::Knobs, D::Counts>>,
    clock: Clock,
}

/// What came of a law's turn.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Report<C> {
    /// What was counted in the interval that ended.
    pub counts: C,
    /// What the law decided; none: it only looked.
    pub decision: Option<Decision>,
}

impl<D: Datapath> Stage<D> {
    /// Puts the two together; the law sleeps until [`Stage::start`].
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

    /// Starts the law at `now`; the view's sums are those since the port was made.
    ///
    /// # Errors
    /// The fault of a law of the user's own, or a deadline that is not later than `now`.
    pub fn start(&mut self, now: Time, view: View<'_>) -> Result<(), Fault> {
        self.told = self.counts;
        self.clock.start(self.law.start(now, &mut self.knobs)?, now, view)
    }

    /// When the law is to be asked next.
    pub fn tick_at(&self) -> Time {
        self.clock.deadline
    }

    /// Asks the law, if it is due; the view's sums are those since the port was made.
    ///
    /// # Errors
    /// The fault of a law of the user's own, or a deadline that is not later than `now`.
    pub fn tick(&mut self, now: Time, view: View<'_>) -> Result<Option<Report<D::Counts>>, Fault> {
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
        Ok(Some(Report { counts, decision }))
    }

    /// A transmission has started and so many packets still wait.
    pub fn note_queue(&mut self, waiting: u32) {
        self.clock.note_queue(waiting);
    }

    /// Before the queue: may the packet go on?
    #[inline]
    pub fn admit(&mut self, packet: &Packet, now: Time) -> Verdict {
        self.datapath.admit(packet, now, &self.knobs, &mut self.counts)
    }

    /// The packet comes to the queue, which may lose it yet.
    #[inline]
    pub fn offered(&mut self, packet: &Packet, moment: &Moment) {
        self.datapath.offered(packet, moment, &self.knobs, &mut self.counts);
    }

    /// The queue has taken the packet.
    #[inline]
    pub fn enqueued(&mut self, packet: &Packet) {
        self.datapath.enqueued(packet, &mut self.counts);
    }

    /// The queue has lost the packet.
    pub fn dropped(&mut self, packet: &Packet) {
        self.datapath.dropped(packet, &mut self.counts);
    }

    /// The queue had taken the packet that it has lost.
    pub fn untaken(&mut self, packet: &Packet) {
        self.datapath.untaken(packet, &mut self.counts);
    }

    /// Its transmission starts.
    #[inline]
    pub fn depart(&mut self, packet: &mut Packet, moment: &Moment) {
        self.datapath.depart(packet, moment, &self.knobs, &mut self.counts);
    }
}

/// When a law is due, and what its view counts from: its last turn.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    deadline: Time,
    offered: u64,
    drops: u64,
    busy: Time,
    min_queue: u32,
}

impl Default for Clock {
    /// Of a law that sleeps.
    fn default() -> Clock {
        Clock { deadline: Time::NEVER, offered: 0, drops: 0, busy: Time::ZERO, min_queue: 0 }
    }
}

impl Clock {
    /// When the law is due.
    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }

    /// The law begins at `now`, and is due then.
    pub(super) fn start(&mut self, first: Time, now: Time, view: View<'_>) -> Result<(), Fault> {
        self.view(view);
        self.set(first, now)
    }

    /// The law is due then, which must be later than now: one that stands
    /// still would be asked without end.
    pub(super) fn set(&mut self, next: Time, now: Time) -> Result<(), Fault> {
        if next > now {
            self.deadline = next;
            return Ok(());
        }
        let what = "a law must return the time of its next update, later than now";
        Err(format!("{what}: it returned {next} at {now}").into())
    }

    /// From what was counted since the port was made to what was since the last turn.
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

    /// A transmission has started and so many packets still wait.
    pub(super) fn note_queue(&mut self, waiting: u32) {
        self.min_queue = self.min_queue.min(waiting);
    }
}
