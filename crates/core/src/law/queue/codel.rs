//! CoDel, controlled delay (RFC 8289).
//!
//! | symbol             | here              | unit    | RFC 8289                                     |
//! |--------------------|-------------------|---------|----------------------------------------------|
//! | `TARGET`           | `target`          | s       | 5 ms: acceptable standing delay (5.3)        |
//! | `INTERVAL`         | `interval`        | s       | 100 ms: a worst-case round-trip time (5.3)   |
//! | `first_above_time` | `first_above`     | s       | when the delay will have been above too long |
//! | `drop_next`        | `drop_next`       | s       | when the next packet is dropped              |
//! | `count`            | `count`           | packets | dropped since dropping began                 |
//! | `lastcount`        | `last_count`      | packets | `count` when dropping began last             |
//! | `maxpacket`        | `largest`         | bytes   | largest packet: less standing is no queue    |
//! | `sojourn_time`     | `Head::sojourn`   | s       | how long a packet has waited                 |
//!
//! At each packet's turn, in the order of arrival:
//! 1. (5.6, `dodequeue`) If it has waited less than `target`, or no more than
//!    one packet's worth of bytes stands behind it, the queue is good. Else it
//!    may be dropped once the delay has stayed above for one `interval`.
//! 2. (5.5, `deque`) Not dropping, and it may be dropped: it is, the one behind
//!    it is sent, and dropping begins. `count` starts from one or, if dropping
//!    ended less than 16 intervals ago, from where it had got to then.
//! 3. Dropping, and it may be dropped, and `drop_next` has come: it is, `count`
//!    rises, and the next one is looked at.
//! 4. (5.6, `control_law`) From one drop to the next `interval / sqrt(count)` pass.
//! 5. Dropping, and the queue is good again: dropping ends.
//!
//! With `ecn` a packet that can bear a mark is marked and sent where another
//! would be dropped; then nothing else is looked at, as in Linux.
//!
//! Departures: `maxpacket` is the largest packet that has come, for want of an
//! MTU. A full buffer loses what comes, as `drop-tail`: the buffer is the port's.
//!
//! Limits: one queue for all, so that a flow that does not slow down takes the
//! room of those that do.

use crate::law::settings::Link;
use crate::law::{Draw, Reason, Verdict};
use crate::packet::{Flags, Packet};
use crate::units::Time;

use super::{ArrivalContext, Discipline, Next, Slot, Waiting};

crate::settings! {
    /// Parameters of CoDel.
    "Codel", check_at:
    target: Time = "5ms" ["1us" to "10s"] "Standing delay that is accepted in the queue" ("RFC 8289, 5.3");
    interval: Time = "100ms" ["1us" to "100s"] "How long the delay may stay above the target, about the longest round-trip time" ("RFC 8289, 5.3");
    ecn: bool = false "Whether a packet of an ECN-capable transport is marked instead of dropped" ("Linux");
}

/// The packet whose turn it is.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// How long it has waited.
    pub sojourn: Time,
    /// Bytes that wait behind it.
    pub behind: u64,
    /// Whether it can bear a mark.
    pub ect: bool,
}

/// What happens to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It is sent.
    Send,
    /// It is sent, marked.
    Mark,
    /// It is dropped, and the next one is looked at, at the same instant.
    Drop,
}

/// When to drop next, after so many (RFC 8289, 5.6: `control_law`).
pub(super) fn control_law(from: Time, interval: Time, count: u32) -> Time {
    from + Time::from_secs_f64(interval.secs() / libm::sqrt(f64::from(count.max(1))))
}

/// How far `deque` has got when it looks at a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Step {
    /// It has just been called.
    #[default]
    First,
    /// It has dropped one, and dropping went on.
    Again,
    /// It has dropped one, and dropping began: this one is sent.
    Began,
}

/// The control of one queue: CoDel's own, and that of every queue of FQ-CoDel.
#[derive(Clone, Debug, Default)]
pub struct Control {
    first_above: Option<Time>,
    dropping: bool,
    drop_next: Time,
    count: u32,
    last_count: u32,
    /// Bytes of the largest packet that came.
    largest: u16,
    step: Step,
}

impl Control {
    /// A packet of `size` bytes comes to the queue.
    #[inline]
    pub fn came(&mut self, size: u16) {
        self.largest = self.largest.max(size);
    }

    /// Whether the packet may be dropped (RFC 8289, 5.6: `dodequeue`).
    fn above(&mut self, now: Time, head: &Head, config: &Config) -> bool {
        if head.sojourn < config.target || head.behind <= u64::from(self.largest) {
            self.first_above = None;
            return false;
        }
        let first_above = *self.first_above.get_or_insert(now + config.interval);
        now >= first_above
    }

    /// When to drop next.
    fn after(&self, from: Time, config: &Config) -> Time {
        control_law(from, config.interval, self.count)
    }

    /// What happens to the packet whose turn it is (RFC 8289, 5.5: `deque`).
    pub fn judge(&mut self, now: Time, head: &Head, config: &Config) -> Fate {
        let above = self.above(now, head, config);
        match std::mem::take(&mut self.step) {
            Step::Began => return Fate::Send,
            Step::Again if above => self.drop_next = self.after(self.drop_next, config),
            Step::Again | Step::First => {}
        }
        if !above {
            self.dropping = false;
            return Fate::Send;
        }
        if self.dropping && now < self.drop_next {
            return Fate::Send;
        }
        let mark = config.ecn && head.ect;
        if self.dropping {
            self.count = self.count.saturating_add(1);
            if mark {
                self.drop_next = self.after(self.drop_next, config);
            } else {
                self.step = Step::Again;
            }
        } else {
            self.begin(now, config);
            if !mark {
                self.step = Step::Began;
            }
        }
        if mark { Fate::Mark } else { Fate::Drop }
    }

    /// Dropping begins, at the rate at which it ended if that is not long ago.
    fn begin(&mut self, now: Time, config: &Config) {
        let delta = self.count.saturating_sub(self.last_count);
        let recent = now.saturating_sub(self.drop_next) < config.interval * 16;
        self.dropping = true;
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.drop_next = self.after(now, config);
        self.last_count = self.count;
    }
}

/// CoDel at one port.
#[derive(Clone, Debug)]
pub struct Codel {
    config: Config,
    control: Control,
}

impl Codel {
    /// With parameters that have passed [`Config::check`].
    pub fn new(config: &Config, _: Link) -> Codel {
        Codel { config: config.clone(), control: Control::default() }
    }
}

impl Discipline for Codel {
    fn arrive(
        &mut self,
        packet: &Packet,
        _: &mut Waiting,
        found: &ArrivalContext,
        _: &mut dyn Draw,
    ) -> Verdict {
        self.control.came(packet.size);
        if found.fits { Verdict::Pass } else { Verdict::Drop(Reason::QueueFull) }
    }

    fn next(&mut self, waiting: &mut Waiting, slot: &Slot, _: &mut dyn Draw) -> Next {
        let oldest = waiting.oldest();
        let Some((handle, packet)) = oldest.and_then(|at| Some((at, waiting.get(at)?))) else {
            return Next::NotBefore(slot.start);
        };
        let head = Head {
            sojourn: slot.start - packet.at,
            behind: waiting.bytes() - u64::from(packet.size),
            ect: packet.flags.has(Flags::ECT),
        };
        match self.control.judge(slot.start, &head, &self.config) {
            Fate::Send => Next::Send(handle),
            Fate::Mark => Next::Mark(handle),
            Fate::Drop => Next::Drop(handle, Reason::Early),
        }
    }
}
