//! Additive increase, multiplicative decrease of admissions, on losses.
//!
//! | symbol    | here        | unit           | source                        |
//! |-----------|-------------|----------------|-------------------------------|
//! | `E`       | `epoch`     | s              | ours: 1                       |
//! | `a_I`     | `increase`  | sessions/epoch | ours: 5                       |
//! | `b_D`     | `decrease`  | 1              | ours: 0.8                     |
//! | `y`       | `lost`      | 1              | ours: 1 if above `threshold`  |
//! | `alpha_t` | `alpha`     | sessions/epoch | allowed                       |
//!
//! The rule is that of D.-M. Chiu and R. Jain, "Analysis of the Increase and
//! Decrease Algorithms for Congestion Avoidance in Computer Networks", 1989:
//! a system that says only "too much" or "not too much" is brought to fair and
//! efficient use by adding to what is allowed, and by dividing it. M. Welsh and
//! D. Culler, "Adaptive Overload Control for Busy Internet Servers", 2003,
//! admit sessions to a server so. Here the link says "too much" when its queue
//! has lost more than a share of the packets that came to it.
//!
//! Limits: loss on a link with few large flows says little about sessions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use tidegate_core::law::session::{Counts, Knobs, Limiter};
use tidegate_core::law::settings::{Refused, check_epoch, within};
use tidegate_core::law::{Controller, Decision, Fault, Turn, View};
use tidegate_core::units::Time;

/// Parameters of additive increase, multiplicative decrease.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "snake_case")]
#[schemars(rename = "Aimd")]
pub struct Config {
    /// Length of an epoch; default 1s, 1ms to 1h.
    pub epoch: Time,
    /// What an epoch without much loss adds, sessions per epoch; default 5, 0.001 to 1e6.
    pub increase: f64,
    /// What an epoch with much loss multiplies by; default 0.8, 0.01 to 0.99.
    pub decrease: f64,
    /// Share of packets above which the queue has lost much; default 0.01, 0 to 1.
    pub threshold: f64,
    /// Least allowance, sessions per epoch; default 10, 1 to 1e9.
    pub alpha_min: f64,
    /// How admissions are spread over an epoch; default token-bucket.
    pub limiter: Limiter,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            epoch: Time::from_secs(1),
            increase: 5.0,
            decrease: 0.8,
            threshold: 0.01,
            alpha_min: 10.0,
            limiter: Limiter::TokenBucket,
        }
    }
}

impl Config {
    /// Which limiter the per-packet half uses.
    pub fn limiter(&self) -> Limiter {
        self.limiter
    }

    /// Whether every value is in range.
    ///
    /// # Errors
    /// The field that is not, and what would be right.
    pub fn check(&self) -> Result<(), Refused> {
        check_epoch(self.epoch)?;
        within("increase", self.increase, 0.001, 1e6)?;
        within("decrease", self.decrease, 0.01, 0.99)?;
        within("threshold", self.threshold, 0.0, 1.0)?;
        within("alpha_min", self.alpha_min, 1.0, 1e9)
    }
}

/// Additive increase, multiplicative decrease of admissions.
#[derive(Clone, Debug)]
pub struct Aimd {
    config: Config,
    alpha: f64,
}

impl Aimd {
    /// With parameters that have passed [`Config::check`].
    pub fn new(config: Config) -> Aimd {
        let alpha = config.alpha_min;
        Aimd { config, alpha }
    }

    /// Sets the knobs of the next epoch and returns its end.
    fn set(&self, now: Time, knobs: &mut Knobs) -> Time {
        knobs.allow(self.alpha as u64, self.config.epoch);
        now.saturating_add(self.config.epoch)
    }
}

impl Controller<Knobs, Counts> for Aimd {
    fn start(&mut self, now: Time, knobs: &mut Knobs) -> Result<Time, Fault> {
        Ok(self.set(now, knobs))
    }

    fn update(
        &mut self,
        now: Time,
        view: &View<'_>,
        counts: &Counts,
        knobs: &mut Knobs,
    ) -> Result<Turn, Fault> {
        let lost = view.queue_drops as f64 / view.queue_offered.max(1) as f64;
        let phase = if lost > self.config.threshold {
            self.alpha = (self.alpha * self.config.decrease).max(self.config.alpha_min);
            "decrease"
        } else if counts.arrived > counts.admitted {
            self.alpha += self.config.increase;
            "increase"
        } else {
            // nobody was refused: the allowance was not put to the test
            "hold"
        };
        let decision = Decision { phase, set: self.alpha, from: lost };
        Ok((self.set(now, knobs), Some(decision)))
    }
}
