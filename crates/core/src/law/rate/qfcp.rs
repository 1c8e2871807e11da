//! QFCP: every flow gets an equal share of the link, computed from an estimate of the number of
//! flows (qfcp, 2.2 and 2.3).
//!
//! | symbol | here                 | unit | paper                              |
//! |--------|----------------------|------|------------------------------------|
//! | `C`    | `view.rate`          | B/s  | capacity of the link               |
//! | `T`    | `interval`           | s    | moving average of the packets' RTT |
//! | `y(t)` | `bytes / T`          | B/s  | input traffic of the last interval |
//! | `q(t)` | `queue_bytes`        | B    | queue, with what was dropped       |
//! | `beta` | `beta`               | 1    | 0.5                                |
//! | `N(t)` | `n`                  | 1    | estimate of the number of flows    |
//! | `R(t)` | `rate`               | B/s  | fair share: the most that any flow may have |
//!
//! At the end of an interval:
//! 1. `N = y / R` with the rate that was in force (eq. 2);
//! 2. `R' = (C - beta q / T) / N` (eq. 3);
//! 3. `R = (R' + R) / 2` (rate stabilisation, 2.3).
//!
//! `N` is an effective number: a flow that sends less than `R` counts as a fraction of a flow,
//! which leaves the unused part of its share to the others.
//!
//! Where the paper gives no value (each is a setting):
//! - `R` starts at the capacity, as if there were one flow, and `T` at 100 ms.
//! - `T` follows the mean of an interval with weight 1/8 and stays between 10 ms and 1 s.
//! - A queue of more than `C T / beta` would give a negative share: at least a hundredth of the
//!   capacity is divided.
//! - `N` is at least 1, and `R` is between a thousandth of the capacity and the capacity.
//!
//! Limits: senders learn their share one round trip late, so for about that long a new flow sends
//! its whole share on top of the others'.

use crate::law::settings::{Link, Refused, within_time};
use crate::law::{Controller, Decision, Fault, Step, View};
use crate::units::Time;

use super::{Counts, Knobs, whole};

/// Least share of the capacity that is divided among the flows.
const LEAST_SPARE: f64 = 0.01;

crate::settings! {
    /// Parameters of QFCP.
    "Qfcp":
    beta: f64 = 0.5 [0 to 10] "How strongly the queue is drained" ("qfcp, 2.2");
    average: bool = true "Whether the new rate is the mean of the computed and the present one" ("2.3");
    virtual_queue: bool = true "Whether dropped bytes count as part of the queue" ("2.3");
    initial_rate: f64 = 1 [0.001 to 1] "Rate at the start, as a share of the capacity" ("not in the paper");
    least_rate: f64 = 0.001 [1e-9 to 1] "Least rate, as a share of the capacity" ("not in the paper");
    initial_interval: Time = "100ms" ["1ms" to "10s"] "Control period before any packet carries a round-trip time" ("not in the paper");
    least_interval: Time = "10ms" ["1ms" to "10s"] "Least control period" ("not in the paper");
    greatest_interval: Time = "1s" ["1ms" to "10s"] "Greatest control period" ("not in the paper");
    gain: f64 = 0.125 [0.001 to 1] "Weight of the newest control period's mean round-trip time in the average" ("not in the paper");
}

impl Config {
    /// Whether every value is in range.
    ///
    /// # Errors
    /// The field that is not, and what would be right.
    pub fn check(&self) -> Result<(), Refused> {
        self.in_range()?;
        let (least, most) = (self.least_interval, Time::from_secs(10));
        within_time("greatest_interval", self.greatest_interval, least, most)
    }
}

/// QFCP.
#[derive(Clone, Debug)]
pub struct Qfcp {
    config: Config,
    /// Start of the present interval.
    began: Time,
    /// Moving average of the round-trip times (T), in seconds.
    interval_s: f64,
    /// Fair share (R), in bytes per second.
    rate: f64,
    /// Estimate of the number of flows (N).
    n: f64,
}

impl Qfcp {
    /// At this link, with parameters that have passed [`Config::check`].
    pub fn new(config: &Config, link: Link) -> Qfcp {
        Qfcp {
            config: config.clone(),
            began: Time::ZERO,
            interval_s: config.initial_interval.secs(),
            rate: config.initial_rate * link.rate.bytes_per_s(),
            n: 1.0,
        }
    }

    /// Equations 2 and 3 and rate stabilisation, over an interval of `t_s` seconds.
    fn allot(&mut self, capacity: f64, queue_bytes: f64, counts: &Counts, t_s: f64) -> f64 {
        let config = &self.config;
        let in_force = self.rate;
        let y = counts.bytes as f64 / t_s;
        // qfcp, eq. 2
        self.n = (y / in_force).max(1.0);
        let lost = if config.virtual_queue { counts.dropped_bytes as f64 } else { 0.0 };
        let q = queue_bytes + lost;
        // qfcp, eq. 3
        let spare = (capacity - config.beta * q / t_s).max(LEAST_SPARE * capacity);
        let computed = spare / self.n;
        let rate = if config.average { (computed + in_force) / 2.0 } else { computed };
        rate.clamp(config.least_rate * capacity, capacity)
    }

    /// The next control period.
    fn smooth(&mut self, counts: &Counts) -> Time {
        if let Some(mean_s) = counts.mean_rtt_s() {
            self.interval_s += self.config.gain * (mean_s - self.interval_s);
        }
        let config = &self.config;
        Time::from_secs_f64(self.interval_s).clamp(config.least_interval, config.greatest_interval)
    }
}

impl Controller<Knobs, Counts> for Qfcp {
    fn start(&mut self, now: Time, knobs: &mut Knobs) -> Result<Time, Fault> {
        self.began = now;
        knobs.rate = whole(self.rate);
        Ok(now + self.config.initial_interval)
    }

    fn update(&mut self, now: Time, view: &View<'_>, counts: &Counts, knobs: &mut Knobs) -> Step {
        let t_s = (now - self.began).secs();
        let rate = self.allot(view.rate.bytes_per_s(), view.queue_bytes as f64, counts, t_s);
        self.rate = rate;
        self.began = now;
        knobs.rate = whole(rate);
        let decision = Decision { phase: "share", set: self.rate * 8.0, from: self.n };
        Ok((now + self.smooth(counts), Some(decision)))
    }
}
