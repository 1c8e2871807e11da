//! A fixed rate of admission (session-control, III-B).
//!
//! | symbol  | here    | unit           | paper            |
//! |---------|---------|----------------|------------------|
//! | `rate`  | `rate`  | sessions/s     | 65 to 1000       |
//! | `E`     | `epoch` | s              | no value; 1 fits |
//! | `alpha` | `alpha` | sessions/epoch | `rate x E`       |
//! |         | `burst` | sessions       | none; ours       |
//!
//! The paper uses it to draw completions over admissions, and finds the best rate by trying all.
//!
//! Limits: it does not follow the link. A rate close to or above the arrivals still differs from no
//! control: with a counter some epochs have more arrivals than the allowance, and the excess waits
//! for a retry.

use crate::law::settings::Refused;
use crate::law::{Controller, Decision, Fault, Step, View};
use crate::units::{Frequency, Time};

use super::{Carry, Counts, Knobs, Limiter};

crate::settings! {
    /// Parameters of a fixed rate.
    "FixedRate":
    rate: Frequency = "100/s" [above "0/s" to "1000000000/s"] "Sessions admitted per second" ("session-control, III-B: 65/s to 1000/s");
    epoch: Time = "1s" ["1ms" to "1h"] "Length of an epoch" ("not in the paper; 1 s agrees best with its Table I");
    limiter: Limiter = { Limiter::Counter } "How admissions are spread over an epoch; default counter" ("which fits the times of Table I");
    burst: u32 = 1 quiet [1 to 1000000] "Sessions that a bucket admits at once after a pause (limiter `token-bucket`); the rules of nftables have 5" ("not in the paper");
}

impl Config {
    /// Which limiter the datapath uses.
    pub fn limiter(&self) -> Limiter {
        self.limiter
    }

    /// Whether every value is in range.
    ///
    /// # Errors
    /// The field that is not, and what would be right.
    pub fn check(&self) -> Result<(), Refused> {
        self.in_range()?;
        if self.burst > 1 && self.limiter == Limiter::Counter {
            let what = "a counter has no burst: write `limiter = \"token-bucket\"` too";
            return Err(("burst".into(), what.to_owned()));
        }
        Ok(())
    }
}

/// A fixed rate of admission.
#[derive(Clone, Debug)]
pub struct FixedRate {
    config: Config,
    carry: Carry,
    /// Sessions admitted per epoch.
    alpha: f64,
}

impl FixedRate {
    /// With parameters that have passed [`Config::check`].
    pub fn new(config: Config) -> FixedRate {
        let alpha = config.rate.get() * config.epoch.secs();
        FixedRate { config, carry: Carry::default(), alpha }
    }

    /// Sets the knobs of the next epoch and returns its end.
    fn set(&mut self, now: Time, knobs: &mut Knobs) -> Time {
        knobs.allow(self.carry.whole(self.alpha), self.config.epoch);
        // tokens arrive at the rate itself, not at this epoch's whole number of sessions
        let interval_ns = (1e9 / self.config.rate.get()) as u64;
        knobs.token_interval_ns = interval_ns.max(1);
        let burst = self.config.burst.into();
        knobs.token_depth_ns = knobs.token_interval_ns.saturating_mul(burst);
        now.saturating_add(self.config.epoch)
    }
}

impl Controller<Knobs, Counts> for FixedRate {
    fn start(&mut self, now: Time, knobs: &mut Knobs) -> Result<Time, Fault> {
        Ok(self.set(now, knobs))
    }

    fn update(&mut self, now: Time, _view: &View<'_>, counts: &Counts, knobs: &mut Knobs) -> Step {
        let decision = Decision { phase: "fixed", set: self.alpha, from: counts.departed as f64 };
        Ok((self.set(now, knobs), Some(decision)))
    }
}
