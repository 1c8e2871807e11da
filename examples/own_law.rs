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

use tidegate_core::law::session::{Counts, Knobs, Limiter};
use tidegate_core::law::{Controller, Decision, Fault, Turn, View};
use tidegate_core::units::Time;

tidegate_core::settings! {
    /// Parameters of additive increase, multiplicative decrease.
    "Aimd", check:
    epoch: Time = "1s" ["1ms" to "1h"] "Length of an epoch";
    increase: f64 = 5 [0.001 to 1e6] "What an epoch without much loss adds, sessions per epoch";
    decrease: f64 = 0.8 [0.01 to 0.99] "What an epoch with much loss multiplies by";
    threshold: f64 = 0.01 [0 to 1] "Share of packets above which the queue has lost much";
    alpha_min: f64 = 10 [1 to 1e9] "Least allowance, sessions per epoch";
    limiter: Limiter = { Limiter::TokenBucket } "How admissions are spread over an epoch; default token-bucket";
}

impl Config {
    /// Which limiter the datapath uses.
    pub fn limiter(&self) -> Limiter {
        self.limiter
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
