//! COBALT: CoDel and BLUE for one queue (CAKE, II; its state machine is that of
//! Linux' `sch_cake`, which the paper evaluates).
//!
//! | symbol      | here        | unit    | Linux                                       |
//! |-------------|-------------|---------|---------------------------------------------|
//! | `target`    | `target`    | s       | 5 ms, at least one and a half packets' time |
//! | `interval`  | `interval`  | s       | 100 ms, at least twice `target`             |
//! | `mtu_time`  | `mtu_time`  | s       | a packet of 1514 B at the shaper's rate     |
//! | `count`     | `count`     | packets | signals since congestion began              |
//! | `drop_next` | `drop_next` | s       | when the next signal is due                 |
//! | `p_drop`    | `p_drop`    | 1       | BLUE's drop probability                     |
//! | `p_inc`     | `P_INC`     | 1       | 2^-8                                        |
//! | `p_dec`     | `P_DEC`     | 1       | 2^-12                                       |
//!
//! At each transmission:
//! 1. A packet is over the target if it has waited longer than `target` and longer than four
//!    packets take. The first such packet starts an interval of `interval / sqrt(count)`; the first
//!    packet that is not over the target ends the signals.
//! 2. A packet over the target after `drop_next` is marked, or dropped without ECT. `count` rises,
//!    and the next signal is due `interval / sqrt(count)` later.
//! 3. After the signals have ended, `count` falls by one at each such time.
//! 4. Independently BLUE drops with probability `p_drop`, with or without ECN.
//!
//! BLUE: a packet dropped by a full buffer adds `P_INC` to `p_drop`; an empty queue at its turn
//! subtracts `P_DEC`; each at most once per `target`.

use crate::law::Draw;
use crate::law::queue::codel::control_law;
use crate::units::Time;

pub use crate::law::queue::codel::HeadFate;

/// 2^-8.
const P_INC: f64 = 1.0 / 256.0;
/// 2^-12.
const P_DEC: f64 = 1.0 / 4096.0;

/// The settings of COBALT, the same for every queue.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Params {
    /// Delay that does not yet count as congestion.
    pub target: Time,
    /// How long the delay may exceed the target; also the scale of the signals.
    pub interval: Time,
    /// Transmission time of a full packet at the shaper's rate.
    pub mtu_time: Time,
}

impl Params {
    /// The configured values, adapted to a link on which a packet of 1514 B takes `mtu_time`.
    pub fn new(target: Time, interval: Time, mtu_time: Time) -> Params {
        let suited = target.max(mtu_time * 3 / 2);
        let interval = (interval + (suited - target)).max(suited * 2);
        Params { target: suited, interval, mtu_time }
    }

    /// When the next signal is due: CoDel's control law.
    fn after(&self, from: Time, count: u32) -> Time {
        control_law(from, self.interval, count)
    }
}

/// The state of one queue.
#[derive(Clone, Debug, Default)]
pub struct Cobalt {
    count: u32,
    dropping: bool,
    drop_next: Time,
    p_drop: f64,
    /// When `p_drop` last changed.
    blue_timer: Option<Time>,
}

impl Cobalt {
    /// Signals since congestion began.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// BLUE's drop probability.
    pub fn p_drop(&self) -> f64 {
        self.p_drop
    }

    /// Whether no trace of earlier congestion is left.
    pub fn rests(&self, now: Time) -> bool {
        self.p_drop == 0.0 && self.count == 0 && now >= self.drop_next
    }

    /// Whether `p_drop` may change now; if so, from when on it may change again.
    fn blue(&mut self, now: Time, params: &Params) -> bool {
        let due = self.blue_timer.is_none_or(|last| now - last > params.target);
        if due {
            self.blue_timer = Some(now);
        }
        due
    }

    /// The queue has lost a packet because the buffer was full.
    pub fn queue_full(&mut self, now: Time, params: &Params) {
        if self.blue(now, params) {
            self.p_drop = (self.p_drop + P_INC).min(1.0);
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// The queue was empty at its turn.
    pub fn queue_empty(&mut self, now: Time, params: &Params) {
        if self.p_drop > 0.0 && self.blue(now, params) {
            self.p_drop = (self.p_drop - P_DEC).max(0.0);
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.calm(params);
        }
    }

    /// One signal less; returns when the next one is taken back.
    fn calm(&mut self, params: &Params) {
        self.count -= 1;
        self.drop_next = params.after(self.drop_next, self.count);
    }

    /// The decision on the packet at the head, which has waited for `waited`.
    pub fn judge(
        &mut self,
        now: Time,
        waited: Time,
        bears_mark: bool,
        params: &Params,
        draw: &mut dyn Draw,
    ) -> HeadFate {
        let over_target = waited > params.target && waited > params.mtu_time * 4;
        let due = self.count > 0 && now >= self.drop_next;
        if over_target && !self.dropping {
            self.drop_next = params.after(now, self.count);
        }
        if over_target {
            self.count = self.count.max(1);
        }
        self.dropping = over_target;
        let mut fate = HeadFate::Send;
        if due && self.dropping {
            fate = if bears_mark { HeadFate::Mark } else { HeadFate::Drop };
            self.count = self.count.saturating_add(1);
            self.drop_next = params.after(self.drop_next, self.count);
        } else {
            while self.count > 0 && due && now >= self.drop_next {
                self.calm(params);
            }
        }
        if self.p_drop > 0.0 && draw.uniform() < self.p_drop {
            fate = HeadFate::Drop;
        }
        // at rest, drop_next says until when the queue counts as active
        if self.count == 0 {
            self.drop_next = now + params.interval;
        } else if now > self.drop_next && fate != HeadFate::Drop {
            self.drop_next = now;
        }
        fate
    }
}
