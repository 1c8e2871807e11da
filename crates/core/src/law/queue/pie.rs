//! PIE, the proportional integral controller enhanced (RFC 8033).
//!
//! | symbol             | here              | unit  | RFC                               |
//! |--------------------|-------------------|-------|-----------------------------------|
//! | `QDELAY_REF`       | `qdelay_ref`      | s     | 15 ms: target delay               |
//! | `T_UPDATE`         | `t_update`        | s     | 15 ms                             |
//! | `alpha`            | `alpha`           | 1/s   | 1/8: weight of the deviation      |
//! | `beta`             | `beta`            | 1/s   | 1 + 1/4: weight of the change     |
//! | `MAX_BURST`        | `max_burst`       | s     | 150 ms                            |
//! | `mark_ecnth`       | `mark_ecnth`      | 1     | 0.1                               |
//! | `MEAN_PKTSIZE`     | `mean_pktsize`    | byte  | no value given                    |
//! | `DQ_THRESHOLD`     | `dq_threshold`    | byte  | 2^14                              |
//! | `TAIL_DROP`        | the port's buffer |       |                                   |
//! | `drop_prob`        | `drop_prob`       | 1     | drop probability                  |
//! | `current_qdelay`   | `current_qdelay`  | s     | latest delay of the queue         |
//! | `qdelay_old`       | `qdelay_old`      | s     | delay at the last update          |
//! | `burst_allowance`  | `burst_allowance` | s     | time in which nothing is dropped  |
//! | `accu_prob`        | `accu_prob`       | 1     | sum of `drop_prob` since the last drop |
//!
//! At each arrival:
//! 1. An arrival that does not fit is dropped.
//! 2. While there is burst allowance, it is accepted (4.4).
//! 3. Safeguards (4.1): it is accepted while the delay is below half of `QDELAY_REF` and
//!    `drop_prob` below 0.2, or at most two mean packets wait.
//! 4. Otherwise it is dropped with probability `drop_prob` (4.1). With `derandomize` never before
//!    the probabilities since the last drop add up to 0.85, and always once they add up to 8.5
//!    (5.4).
//! 5. With `ecn` a packet with ECT is marked instead while `drop_prob` is below `mark_ecnth` (5.1).
//! 6. The burst allowance is restored when `drop_prob` is zero and the delay was below half of
//!    `QDELAY_REF` twice (4.4).
//!
//! Every `T_UPDATE` (`Config::updated` is the arithmetic):
//! 1. The delay is the waiting time of the packet sent last, or the backlog divided by the
//!    departure rate (4.3, 5.2).
//! 2. `p = alpha (current_qdelay - QDELAY_REF) + beta (current_qdelay - qdelay_old)` is added to
//!    `drop_prob`; `p` is scaled down in steps where `drop_prob` is small (4.2), and is at most
//!    0.02 where it is not (5.5).
//! 3. If the queue is empty, `drop_prob` decays by 2 % (4.2).
//! 4. The burst allowance is reduced by `T_UPDATE` (4.4).
//!
//! Departures:
//! - the delay comes from time stamps unless `latency = "departure-rate"`, as in Linux and ns-3:
//!   the rate is only measured while 16 KiB wait, which need not happen on a slow link in 15 ms.
//! - PIE is always on unless `active_from` says when to turn it on (5.3, optional).
//! - the probability is not scaled by the packet size (4.1, optional).
//! - above 250 ms Linux adds 2 % to `drop_prob` per update; the RFC and ns-3 do not.
//!
//! Limits: all flows share one queue and one `drop_prob`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::law::settings::Link;
use crate::law::{Decision, Draw, Fault, Reason, Turn, Verdict, View};
use crate::packet::Packet;
use crate::units::{Size, Time};

use super::{ArrivalContext, Discipline, Next, Slot, Traits, Waiting};

mod departure;

pub use departure::DepartureRate;

/// How the delay of the queue is measured (RFC 8033, 4.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Latency {
    /// By the waiting time of the packet sent last.
    #[default]
    Timestamps,
    /// By the backlog and the estimated departure rate (5.2).
    DepartureRate,
}

crate::settings! {
    /// Parameters of PIE.
    "Pie", check_at:
    qdelay_ref: Time = "15ms" ["10us" to "10s"] "Target delay of the queue" ("RFC 8033, 4.2");
    t_update: Time = "15ms" ["10us" to "10s"] "Time between two updates of the drop probability" ("RFC 8033, 4.2");
    alpha: f64 = 0.125 [0 to 1000] "Weight of the deviation from qdelay_ref, per second" ("RFC 8033, 4.2");
    beta: f64 = 1.25 [0 to 1000] "Weight of the delay's change since the last update, per second" ("RFC 8033, 4.2");
    max_burst: Time = "150ms" ["0s" to "100s"] "How long nothing is dropped at the start of a burst" ("RFC 8033, 4.4");
    mean_pktsize: Size = "1000B" ["1B" to "65000B"] "Mean packet size: while at most two such packets wait, nothing is dropped" ("RFC 8033, 4.1, without a value; ns-3's");
    ecn: bool = false "Whether a packet of an ECN-capable transport is marked instead of dropped" ("RFC 8033, 5.1");
    mark_ecnth: f64 = 0.1 [0 to 1] "With ecn: drop probability above which packets are dropped instead of marked" ("RFC 8033, 5.1");
    latency: Latency = { Latency::Timestamps } "How the delay of the queue is measured: by time stamps or by the departure rate; default timestamps" ("RFC 8033, 4.3");
    dq_threshold: Size = "16KiB" ["1B" to "64KiB"] "For departure-rate: bytes per measurement" ("RFC 8033, 5.2");
    derandomize: bool = false "Whether drops are spaced out" ("RFC 8033, 5.4");
    cap: bool = true "Whether a drop probability of 0.1 or more grows by at most 0.02 per update" ("RFC 8033, 5.5");
    active_from: f64 = { 0.0 } [0 to 1] "Share of the buffer that must be in use to turn PIE on; default 0: always on; the RFC's option is 1/3" ("RFC 8033, 5.3");
}

impl Traits for Config {
    fn marks(&self, _l4s: bool) -> bool {
        self.ecn
    }

    fn asked_to_mark(&self) -> bool {
        self.ecn
    }
}

/// 4.2: for a `drop_prob` below the first number, the adjustment is divided by the second.
const AUTO_TUNE: [(f64, f64); 6] =
    [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];

impl Config {
    /// `drop_prob` after an update (4.2, 5.5).
    pub fn updated(&self, drop_prob: f64, current_qdelay: Time, qdelay_old: Time) -> f64 {
        let (current, old) = (current_qdelay.secs(), qdelay_old.secs());
        let mut p = self.alpha * (current - self.qdelay_ref.secs()) + self.beta * (current - old);
        if let Some((_, divisor)) = AUTO_TUNE.iter().find(|(below, _)| drop_prob < *below) {
            p /= divisor;
        }
        if self.cap && drop_prob >= 0.1 {
            p = p.min(0.02);
        }
        let idle = current_qdelay == Time::ZERO && qdelay_old == Time::ZERO;
        ((drop_prob + p) * if idle { 0.98 } else { 1.0 }).clamp(0.0, 1.0)
    }

    /// Half of `QDELAY_REF`; a shorter delay counts as short (4.1, 4.4).
    fn short(&self) -> Time {
        self.qdelay_ref / 2
    }
}

/// The proportional integral controller enhanced.
#[derive(Clone, Debug)]
pub struct Pie {
    config: Config,
    active: bool,
    drop_prob: f64,
    accu_prob: f64,
    current_qdelay: Time,
    qdelay_old: Time,
    burst_allowance: Time,
    rate: DepartureRate,
}

impl Pie {
    /// With parameters that have passed [`Config::check`].
    pub fn new(config: &Config, _: Link) -> Pie {
        Pie::of(config.clone())
    }

    fn of(config: Config) -> Pie {
        Pie {
            active: config.active_from == 0.0,
            burst_allowance: config.max_burst,
            config,
            drop_prob: 0.0,
            accu_prob: 0.0,
            current_qdelay: Time::ZERO,
            qdelay_old: Time::ZERO,
            rate: DepartureRate::default(),
        }
    }

    /// Whether this arrival is to be dropped (4.1, 5.4).
    fn drop_early(&mut self, queue_bytes: u64, draw: &mut dyn Draw) -> bool {
        let short = self.qdelay_old < self.config.short() && self.drop_prob < 0.2;
        if short || queue_bytes <= 2 * self.config.mean_pktsize.bytes() {
            return false;
        }
        if self.drop_prob == 0.0 {
            self.accu_prob = 0.0;
            return false;
        }
        self.accu_prob += self.drop_prob;
        if self.config.derandomize && self.accu_prob < 0.85 {
            return false;
        }
        self.config.derandomize && self.accu_prob >= 8.5 || draw.uniform() < self.drop_prob
    }

    /// A packet is sent that leaves so many bytes waiting (4.3).
    #[inline]
    pub(super) fn sent(&mut self, packet: &Packet, left: u64, start: Time) {
        match self.config.latency {
            // an empty queue has no delay
            Latency::Timestamps if left == 0 => self.current_qdelay = Time::ZERO,
            Latency::Timestamps => self.current_qdelay = start - packet.at,
            Latency::DepartureRate if !self.active => {}
            Latency::DepartureRate => {
                let (size, threshold) = (u64::from(packet.size), self.config.dq_threshold.bytes());
                self.rate.depart(start, size, left, threshold);
            }
        }
    }

    /// Updates the drop probability (4.2, 4.4).
    pub(super) fn update(&mut self) -> Decision {
        self.drop_prob = self.config.updated(self.drop_prob, self.current_qdelay, self.qdelay_old);
        self.qdelay_old = self.current_qdelay;
        self.burst_allowance = self.burst_allowance.saturating_sub(self.config.t_update);
        let phase = if self.burst_allowance > Time::ZERO { "burst" } else { "drop" };
        Decision { phase, set: self.drop_prob, from: self.current_qdelay.secs() }
    }

    /// Whether an update would change nothing that matters to the next packet.
    pub(super) fn is_at_rest(&self) -> bool {
        let delays = [self.current_qdelay, self.qdelay_old];
        self.drop_prob == 0.0 && delays == [Time::ZERO; 2] && self.burst_allowance == Time::ZERO
    }

    /// Turns PIE on when the queue is long, and off when it has nothing to do (5.3).
    fn switch(&mut self, found: &ArrivalContext) {
        let idle = self.drop_prob == 0.0
            && self.qdelay_old == Time::ZERO
            && self.current_qdelay == Time::ZERO;
        let (used, room) = match found.room.packets {
            u32::MAX => (found.queue.bytes as f64, found.room.bytes as f64),
            packets => (f64::from(found.queue.packets), f64::from(packets)),
        };
        let long = used >= self.config.active_from * room;
        if !self.active && long {
            *self = Pie { active: true, ..Pie::of(self.config.clone()) };
        } else if self.active && idle && !long {
            self.active = false;
            self.rate.interrupt();
        }
    }
}

impl Discipline for Pie {
    fn arrive(
        &mut self,
        _: &Packet,
        _: &mut Waiting,
        found: &ArrivalContext,
        draw: &mut dyn Draw,
    ) -> Verdict {
        if !found.fits {
            self.accu_prob = 0.0;
            return Verdict::Drop(Reason::QueueFull);
        }
        let protected = !self.active || self.burst_allowance > Time::ZERO;
        let verdict = if protected || !self.drop_early(found.queue.bytes, draw) {
            Verdict::Pass
        } else {
            self.accu_prob = 0.0;
            let mark = self.config.ecn && self.drop_prob < self.config.mark_ecnth;
            if mark { Verdict::Mark(Reason::Early) } else { Verdict::Drop(Reason::Early) }
        };
        self.switch(found);
        let short = self.config.short();
        if self.drop_prob == 0.0 && self.current_qdelay < short && self.qdelay_old < short {
            self.burst_allowance = self.config.max_burst;
        }
        verdict
    }

    fn next(&mut self, waiting: &mut Waiting, slot: &Slot, _: &mut dyn Draw) -> Next {
        let Some(handle) = waiting.oldest() else { return Next::NotBefore(slot.start) };
        let Some(packet) = waiting.get(handle) else { return Next::Send(handle) };
        let left = waiting.bytes() - u64::from(packet.size);
        self.sent(packet, left, slot.start);
        Next::Send(handle)
    }

    fn start(&mut self, now: Time) -> Result<Time, Fault> {
        Ok(now + self.config.t_update)
    }

    fn tick(&mut self, now: Time, view: &View<'_>) -> Result<Turn, Fault> {
        let next = now + self.config.t_update;
        if self.config.latency == Latency::DepartureRate {
            let dq_threshold = self.config.dq_threshold.bytes();
            self.current_qdelay = self.rate.qdelay(view.queued.bytes(), dq_threshold);
        }
        if !self.active {
            return Ok((next, None));
        }
        let decision = self.update();
        // no row for the updates of a queue without drops
        Ok((next, (self.drop_prob > 0.0).then_some(decision)))
    }
}
