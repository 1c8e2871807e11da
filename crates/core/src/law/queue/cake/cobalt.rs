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
//! | `p_drop`    | `p_drop`    | 1       | BLUE's share of drops                       |
//! | `p_inc`     | `P_INC`     | 1       | 2^-8                                        |
//! | `p_dec`     | `P_DEC`     | 1       | 2^-12                                       |
//!
//! At each packet's turn:
//! 1. It is over the target if it has waited longer than `target` and than four
//!    packets take. The first that is starts an interval, of
//!    `interval / sqrt(count)`; the first that is not ends the signals.
//! 2. A packet over the target after `drop_next` is marked or else dropped:
//!    `count` rises, and the next signal is due another
//!    `interval / sqrt(count)` later.
//! 3. While the signals have ended `count` falls as it rose, one at each such time.
//! 4. Beside that BLUE drops with the chance `p_drop`, ECN or not.
//!
//! BLUE: a packet lost to a full buffer adds `P_INC` to `p_drop`, a turn that
//! finds the queue empty takes `P_DEC` away, each once a `target` at most.

use crate::law::Draw;
use crate::law::queue::codel::control_law;
use crate::units::Time;

pub use crate::law::queue::codel::Fate;

/// 2^-8.
const P_INC: f64 = 1.0 / 256.0;
/// 2^-12.
const P_DEC: f64 = 1.0 / 4096.0;

/// What COBALT goes by, the same for every queue.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Params {
    /// Delay that is no congestion yet.
    pub target: Time,
    /// How long it may last, and the scale of the signals.
    pub interval: Time,
    /// How long a full packet takes at the shaper's rate.
    pub mtu_time: Time,
}

impl Params {
    /// What is configured, made to suit a link on which a packet of 1514 B takes `mtu_time`.
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
    /// When `p_drop` was changed last.
    blue_timer: Option<Time>,
}

impl Cobalt {
    /// Signals since congestion began.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// BLUE's share of drops.
    pub fn p_drop(&self) -> f64 {
        self.p_drop
    }

    /// Whether nothing of an earlier congestion is left.
    pub fn rests(&self, now: Time) -> bool {
        self.p_drop == 0.0 && self.count == 0 && now >= self.drop_next
    }

    /// Whether `p_drop` may be changed, and if so from when on again.
    fn blue(&mut self, now: Time, params: &Params) -> bool {
        let due = self.blue_timer.is_none_or(|last| now - last > params.target);
        if due {
            self.blue_timer = Some(now);
        }
        due
    }

    /// The queue has lost a packet to a full buffer.
    pub fn queue_full(&mut self, now: Time, params: &Params) {
        if self.blue(now, params) {
            self.p_drop = (self.p_drop + P_INC).min(1.0);
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// It was the queue's turn, and it is empty.
    pub fn queue_empty(&mut self, now: Time, params: &Params) {
        if self.p_drop > 0.0 && self.blue(now, params) {
            self.p_drop = (self.p_drop - P_DEC).max(0.0);
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.calm(params);
        }
    }

    /// One signal less, and when the next is taken back.
    fn calm(&mut self, params: &Params) {
        self.count -= 1;
        self.drop_next = params.after(self.drop_next, self.count);
    }

    /// What happens to the packet whose turn it is, `waited` after its arrival.
    pub fn judge(
        &mut self,
        now: Time,
        waited: Time,
        bears_mark: bool,
        params: &Params,
        draw: &mut dyn Draw,
    ) -> Fate {
        let over_target = waited > params.target && waited > params.mtu_time * 4;
        let due = self.count > 0 && now >= self.drop_next;
        if over_target && !self.dropping {
            self.drop_next = params.after(now, self.count);
        }
        if over_target {
            self.count = self.count.max(1);
        }
        self.dropping = over_target;
        let mut fate = Fate::Send;
        if due && self.dropping {
            fate = if bears_mark { Fate::Mark } else { Fate::Drop };
            self.count = self.count.saturating_add(1);
            self.drop_next = params.after(self.drop_next, self.count);
        } else {
            while self.count > 0 && due && now >= self.drop_next {
                self.calm(params);
            }
        }
        if self.p_drop > 0.0 && draw.uniform() < self.p_drop {
            fate = Fate::Drop;
        }
        // at rest it says until when the queue counts as active
        if self.count == 0 {
            self.drop_next = now + params.interval;
        } else if now > self.drop_next && fate != Fate::Drop {
            self.drop_next = now;
        }
        fate
    }
}
