//! DualPI2: two coupled queues, one for L4S and one for Classic traffic (RFC 9332).
//!
//! | symbol              | here             | unit  | RFC 9332, appendix A                              |
//! |---------------------|------------------|-------|---------------------------------------------------|
//! | `target`            | `target`         | s     | 15 ms: delay of the Classic queue that it steers to |
//! | `RTT_max`           | `rtt_max`        | s     | 100 ms: longest round trip, which sets the gains  |
//! | `k`                 | `k`              | 1     | 2: coupling factor                                |
//! | `Tupdate`           | `Gains::t_update`| s     | min(target, RTT_max / 3)                          |
//! | `alpha`, `beta`     | `Gains`          | 1/s   | 0.1 Tupdate / RTT_max^2, 0.3 / RTT_max            |
//! | `p_Cmax`            | `p_c_max`        | 1     | min(1 / k^2, 1): from here on ECN is of no help   |
//! | `p_Lmax`            | 1                | 1     | the same of the L4S queue                         |
//! | `minTh`, `range`    | `step`, `range`  | s     | ramp of L4S marks over the delay                  |
//! | `Th_len`            | `th_len`         | packets | 1: a shorter L4S queue is not marked            |
//! | `p'`                | `p`              | 1     | base probability                                  |
//! | `p_C`, `p_CL`       | `p^2`, `k p`     | 1     | of Classic signals, and of coupled L4S marks      |
//! | `limit`             | the port's buffer |      | 250 ms at the link's rate                         |
//!
//! At each arrival:
//! 1. What does not fit into the buffer, which both share, is lost.
//! 2. ECT(1) and CE join the L4S queue, all others the Classic one.
//!
//! At each packet's turn (figures 4 and 8):
//! 1. The scheduler names a queue: the L4S one, but for the Classic one's share.
//! 2. A packet of the L4S queue is marked with the probability `max(p'_L, k p)`,
//!    where `p'_L` is 0 up to a delay of `step` and 1 from `step + range` on.
//! 3. A Classic packet is lost with the probability `p^2` or, with ECT(0), marked.
//! 4. Overload: once `k p` reaches 1 an L4S packet is lost with the probability
//!    `p^2`, and once `p^2` reaches `p_Cmax` a Classic one is lost even with ECT.
//! 5. A probability comes true by a sum (`recur`), which goes over one at regular
//!    distances: nothing is drawn.
//!
//! Every `Tupdate` (figure 8): `p += alpha (q - target) + beta (q - q_before)`, where `q` is
//! how long the first Classic packet has waited or, without one, the first of the L4S queue.
//!
//! Departures:
//! - `step` is 1 ms and `range` 0, as in Linux; the RFC's example is 0.8 and 0.4 ms.
//! - the scheduler is Linux's: a credit in bytes. Where both queues wait, what one
//!   sends counts for the other by its weight (`c_share`, 10 %, and the rest). Once
//!   one is empty it is forgotten, where Linux keeps it. The RFC leaves it open.
//! - Linux steers by the longer of both delays, and draws.
//!
//! Limits: flows of one kind share their queue. Whoever sets ECT(1) and does not slow
//! down is only held by rule 4.

use std::collections::VecDeque;

use crate::law::settings::Link;
use crate::law::{Decision, Draw, Fault, Reason, Turn, View};
use crate::packet::Flags;
use crate::units::Time;

use super::{Discipline, Handle, Next, Slot, Traits, Waiting};

crate::settings! {
    /// Parameters of DualPI2.
    "DualPi2", check_at:
    target: Time = "15ms" ["10us" to "10s"] "Target delay of the Classic queue" ("RFC 9332, A.1");
    rtt_max: Time = "100ms" ["100us" to "100s"] "Longest expected round-trip time: sets the gains" ("RFC 9332, A.1");
    k: f64 = 2 [above 0 to 16] "Coupling factor: marks of the L4S queue per unit of base probability" ("RFC 9332, 2.5.2.1");
    step: Time = "1ms" ["0s" to "10s"] "Delay of the L4S queue from which its packets are marked" ("Linux; RFC 9332, A.1: 800us");
    range: Time = "0s" ["0s" to "10s"] "Width of the ramp above step, over which the share of marks rises to 1" ("Linux; RFC 9332, A.1: 400us");
    th_len: u32 = 1 [0 to 100000] "Packets in the L4S queue up to which step is not looked at" ("RFC 9332, A.1");
    c_share: f64 = 0.1 [0 to 1] "Share of the link that the Classic queue has while both queues wait" ("Linux");
    drop_on_overload: bool = true "Whether L4S packets are dropped once all of them are marked" ("RFC 9332, A.2");
}

impl Traits for Config {
    fn marks(&self, _l4s: bool) -> bool {
        true
    }
}

/// The controller's constants, which follow from the settings (A.1).
#[derive(Clone, Copy, Debug)]
struct Gains {
    t_update: Time,
    alpha: f64,
    beta: f64,
}

impl Config {
    fn gains(&self) -> Gains {
        let t_update = self.target.min(self.rtt_max / 3);
        let rtt_max = self.rtt_max.secs();
        Gains { t_update, alpha: 0.1 * t_update.secs() / (rtt_max * rtt_max), beta: 0.3 / rtt_max }
    }

    /// Time between two updates of the base probability.
    pub fn t_update(&self) -> Time {
        self.gains().t_update
    }

    /// The base probability after an update at these delays.
    pub fn updated(&self, p: f64, delay: Time, before: Time) -> f64 {
        let gains = self.gains();
        let (delay, before) = (delay.secs(), before.secs());
        let change = gains.alpha * (delay - self.target.secs()) + gains.beta * (delay - before);
        // without drops on overload no L4S packet can get more than one mark
        let most = if self.drop_on_overload { 1.0 } else { (1.0 / self.k).min(1.0) };
        (p + change).clamp(0.0, most)
    }

    /// Share of L4S packets that their own queue's delay marks (`laqm`).
    pub fn native(&self, delay: Time) -> f64 {
        if delay <= self.step {
            return 0.0;
        }
        if delay >= self.step + self.range {
            return 1.0;
        }
        (delay - self.step).secs() / self.range.secs()
    }

    /// Probability of Classic signals from which ECN is of no help (A.1).
    fn p_c_max(&self) -> f64 {
        (1.0 / (self.k * self.k)).min(1.0)
    }
}

/// One of the two queues.
#[derive(Clone, Debug, Default)]
struct Half {
    /// Its packets, with their arrivals.
    packets: VecDeque<(Handle, Time)>,
    /// What the probabilities add up to since a signal last came true.
    signals: f64,
    /// The same for losses on overload.
    losses: f64,
}

impl Half {
    /// How long its first packet has waited; zero without one.
    fn delay(&self, now: Time) -> Time {
        self.packets.front().map_or(Time::ZERO, |(_, came)| now.saturating_sub(*came))
    }
}

/// Whether an event of this probability comes true this time (`recur`).
fn recur(sum: &mut f64, probability: f64) -> bool {
    *sum += probability;
    let due = *sum > 1.0;
    if due {
        *sum -= 1.0;
    }
    due
}

/// DualPI2 at one port.
#[derive(Clone, Debug)]
pub struct Dualpi2 {
    config: Config,
    l4s: Half,
    classic: Half,
    /// Base probability, `p'`.
    p: f64,
    /// Delay at the last update.
    before: Time,
    /// Bytes that the Classic queue may send before it is the other's turn: none or less.
    credit: f64,
}

impl Dualpi2 {
    /// With parameters that have passed [`Config::check`].
    pub fn new(config: &Config, _: Link) -> Dualpi2 {
        Dualpi2 {
            config: config.clone(),
            l4s: Half::default(),
            classic: Half::default(),
            p: 0.0,
            before: Time::ZERO,
            credit: 0.0,
        }
    }

    /// Whether the L4S queue is served next.
    fn l4s_next(&self) -> bool {
        self.classic.packets.is_empty() || !self.l4s.packets.is_empty() && self.credit <= 0.0
    }

    /// What happens to an L4S packet that has waited so long.
    fn judge_l4s(&mut self, handle: Handle, delay: Time) -> Next {
        let config = &self.config;
        let coupled = config.k * self.p;
        let overload = coupled >= 1.0 && config.drop_on_overload;
        if overload && recur(&mut self.l4s.losses, self.p * self.p) {
            return Next::Drop(handle, Reason::Early);
        }
        let long = self.l4s.packets.len() > config.th_len as usize;
        let native = if long { config.native(delay) } else { 0.0 };
        let marked = recur(&mut self.l4s.signals, native.max(coupled).min(1.0));
        if marked { Next::Mark(handle) } else { Next::Send(handle) }
    }

    /// What happens to a Classic packet.
    fn judge_classic(&mut self, handle: Handle, ect: bool) -> Next {
        let p_c = self.p * self.p;
        if !recur(&mut self.classic.signals, p_c) {
            return Next::Send(handle);
        }
        if ect && p_c < self.config.p_c_max() {
            return Next::Mark(handle);
        }
        Next::Drop(handle, Reason::Early)
    }

    /// A packet of this size is sent: where the other queue waits too, it earns by that.
    fn charge(&mut self, of_l4s: bool, size: u16) {
        let share = self.config.c_share;
        if self.l4s.packets.is_empty() || self.classic.packets.is_empty() {
            self.credit = 0.0;
        } else if of_l4s {
            self.credit += share * f64::from(size);
        } else {
            self.credit -= (1.0 - share) * f64::from(size);
        }
    }
}

impl Discipline for Dualpi2 {
    fn taken(&mut self, handle: Handle, waiting: &mut Waiting) {
        let Some(packet) = waiting.get(handle) else { return };
        let of_l4s = packet.flags.has(Flags::L4S) || packet.flags.has(Flags::CE);
        let half = if of_l4s { &mut self.l4s } else { &mut self.classic };
        half.packets.push_back((handle, packet.at));
    }

    fn next(&mut self, waiting: &mut Waiting, slot: &Slot, _: &mut dyn Draw) -> Next {
        let of_l4s = self.l4s_next();
        let half = if of_l4s { &self.l4s } else { &self.classic };
        let first = half.packets.front().copied();
        let Some((handle, packet)) = first.and_then(|(at, _)| Some((at, waiting.get(at)?))) else {
            return Next::NotBefore(slot.start);
        };
        let (size, ect) = (packet.size, packet.flags.has(Flags::ECT));
        let next = if of_l4s {
            self.judge_l4s(handle, self.l4s.delay(slot.start))
        } else {
            self.judge_classic(handle, ect)
        };
        if !matches!(next, Next::Drop(..)) {
            self.charge(of_l4s, size);
        }
        let half = if of_l4s { &mut self.l4s } else { &mut self.classic };
        half.packets.pop_front();
        next
    }

    fn start(&mut self, now: Time) -> Result<Time, Fault> {
        Ok(now + self.config.t_update())
    }

    fn tick(&mut self, now: Time, _: &View<'_>) -> Result<Turn, Fault> {
        let first = if self.classic.packets.is_empty() { &self.l4s } else { &self.classic };
        let delay = first.delay(now);
        self.p = self.config.updated(self.p, delay, self.before);
        self.before = delay;
        let decision = Decision { phase: "couple", set: self.p, from: delay.secs() };
        // a row for every update of a queue without signals would say nothing
        Ok((now + self.config.t_update(), (self.p > 0.0).then_some(decision)))
    }
}
