//! CoDel, controlled delay (RFC 8289).
//!
//! | symbol             | here              | unit    | RFC 8289                                     |
//! |--------------------|-------------------|---------|----------------------------------------------|
//! | `TARGET`           | `target`          | s       | 5 ms: acceptable standing delay (5.3)        |
//! | `INTERVAL`         | `interval`        | s       | 100 ms: a worst-case round-trip time (5.3)   |
//! | `first_above_time` | `first_above`     | s       | when the delay will have been above too long |
//! | `drop_next`        | `drop_next`       | s       | when the next packet is to be dropped |
//! | `count`            | `count`           | packets | drops since the dropping state began |
//! | `lastcount`        | `last_count`      | packets | `count` when the dropping state last began |
//! | `maxpacket`        | `largest`         | bytes   | largest packet: a backlog up to this is no queue |
//! | `sojourn_time`     | `Head::sojourn`   | s       | how long a packet has waited                 |
//!
//! At each transmission, in the order of arrival:
//! 1. (5.6, `dodequeue`) If the packet has waited less than `target`, or at most one packet's bytes
//!    wait behind it, the queue is good. Otherwise the packet may be dropped once the delay has
//!    stayed above `target` for one `interval`.
//! 2. (5.5, `deque`) Outside the dropping state, a packet that may be dropped is dropped, the next
//!    one is sent, and the dropping state begins. `count` starts at one or, if the last dropping
//!    state ended less than 16 intervals ago, near its last value.
//! 3. In the dropping state, at or after `drop_next`, a packet that may be dropped is dropped,
//!    `count` rises, and the next packet is examined.
//! 4. (5.6, `control_law`) Drops are `interval / sqrt(count)` apart.
//! 5. In the dropping state, when the queue is good, the dropping state ends.
//!
//! With `ecn` a packet with ECT is marked and sent instead of dropped. No further packet is
//! examined then, as in Linux.
//!
//! Departures: `maxpacket` is the largest packet seen so far, as there is no MTU here. A full
//! buffer drops the arrival, as `drop-tail`: the buffer is the port's.
//!
//! Limits: one queue for all flows, so a flow that does not slow down takes the capacity of those
//! that do.

use crate::law::settings::Link;
use crate::law::{Draw, Reason, Verdict};
use crate::packet::{Flags, Packet};
use crate::units::Time;

use super::{ArrivalContext, Discipline, Next, Slot, Traits, Waiting};

crate::settings! {
    /// Parameters of CoDel.
    "Codel", check_at:
    target: Time = "5ms" ["1us" to "10s"] "Standing delay that is accepted in the queue" ("RFC 8289, 5.3");
    interval: Time = "100ms" ["1us" to "100s"] "How long the delay may stay above the target, about the longest round-trip time" ("RFC 8289, 5.3");
    ecn: bool = false "Whether a packet of an ECN-capable transport is marked instead of dropped" ("Linux");
}

impl Traits for Config {
    fn marks(&self, _l4s: bool) -> bool {
        self.ecn
    }

    fn asked_to_mark(&self) -> bool {
        self.ecn
    }
}

/// The packet at the head of the queue.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// How long it has waited.
    pub sojourn: Time,
    /// Bytes that wait behind it.
    pub behind: u64,
    /// Whether it has ECT.
    pub ect: bool,
}

/// The decision on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeadFate {
    /// It is sent.
    Send,
    /// It is sent, marked.
    Mark,
    /// It is dropped, and the next one is examined at the same instant.
    Drop,
}

/// When to drop next, `count` drops into the dropping state (RFC 8289, 5.6: `control_law`).
pub(super) fn control_law(from: Time, interval: Time, count: u32) -> Time {
    from + Time::from_secs_f64(interval.secs() / libm::sqrt(f64::from(count.max(1))))
}

/// How far `deque` has got when it examines a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Step {
    /// It has just been called.
    #[default]
    First,
    /// It has dropped a packet in the dropping state.
    Again,
    /// It has dropped a packet and entered the dropping state: this one is sent.
    Began,
}

/// The controller of one queue: CoDel's only one, or one of FQ-CoDel's.
#[derive(Clone, Debug, Default)]
pub struct CodelControl {
    first_above: Option<Time>,
    dropping: bool,
    drop_next: Time,
    count: u32,
    last_count: u32,
    /// Size of the largest packet so far, in bytes.
    largest: u16,
    step: Step,
}

impl CodelControl {
    /// A packet of `size` bytes is queued.
    #[inline]
    pub fn added(&mut self, size: u16) {
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

    /// The queue has no packet when it is asked for one: its delay is not above the target
    /// (RFC 8289, 5.6: `dodequeue`; Linux, `codel_dequeue`).
    pub fn empty(&mut self) {
        self.first_above = None;
        // where a drop has just begun the dropping state, it goes on
        if std::mem::take(&mut self.step) != Step::Began {
            self.dropping = false;
        }
    }

    /// The decision on the packet at the head (RFC 8289, 5.5: `deque`).
    pub fn judge(&mut self, now: Time, head: &Head, config: &Config) -> HeadFate {
        let above = self.above(now, head, config);
        match std::mem::take(&mut self.step) {
            Step::Began => return HeadFate::Send,
            Step::Again if above => self.drop_next = self.after(self.drop_next, config),
            Step::Again | Step::First => {}
        }
        if !above {
            self.dropping = false;
            return HeadFate::Send;
        }
        if self.dropping && now < self.drop_next {
            return HeadFate::Send;
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
        if mark { HeadFate::Mark } else { HeadFate::Drop }
    }

    /// Enters the dropping state, at the rate of the last one if that ended recently.
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
    control: CodelControl,
}

impl Codel {
    /// With parameters that have passed [`Config::check`].
    pub fn new(config: &Config, _: Link) -> Codel {
        Codel { config: config.clone(), control: CodelControl::default() }
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
        self.control.added(packet.size);
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
            HeadFate::Send => Next::Send(handle),
            HeadFate::Mark => Next::Mark(handle),
            HeadFate::Drop => Next::Drop(handle, Reason::Early),
        }
    }
}
