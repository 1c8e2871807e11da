//! Parameters of GSS+GA: the paper's values where it gives one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::law::session::{Limiter, change};
use crate::law::settings::{Refused, check_epoch, within};
use crate::units::Time;

/// Parameters of GSS+GA.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "snake_case")]
#[schemars(rename = "GssGa")]
pub struct Config {
    /// Length of an epoch; default 2s, 1ms to 1h (session-control, V-B).
    pub epoch: Time,
    /// First step of the bracket and factor of the slope, sessions per epoch; default 20, 1 to 1e6 (V-B).
    pub step_size: f64,
    /// Width of the bracket below which it climbs instead, sessions per epoch; default 100, 1 to 1e9 (V-B).
    pub threshold: f64,
    /// Least allowance, sessions per epoch; default 10, 1 to 1e9 (not in the paper).
    pub alpha_min: f64,
    /// Growth of the bracket's steps; default 1.618, 1 to 10 (Algorithm 1).
    pub gold: f64,
    /// Golden section, share of the larger part; default 0.3819, 0.05 to 0.5 (Algorithm 1).
    pub c: f64,
    /// Largest move of the ascent, in steps; default 2, 0.05 to 1000 (not in the paper).
    pub step_limit: f64,
    /// Move of the ascent where there is no slope, sessions per epoch; default 5, 1 to 1e6 (not in the paper).
    pub probe: f64,
    /// Epochs to wait at a new allowance before one is measured; default 0, 0 to 1000 (not in the paper).
    pub skip: u32,
    /// Measure a point of the golden section again after so many others, 0: never; default 0 (not in the paper).
    pub remeasure_after: u32,
    /// Climb at last; default true (false: golden sections for ever, an ablation).
    pub ga: bool,
    /// Go back to the bracket when the traffic changes suddenly; default true (false: an ablation).
    pub restart: bool,
    /// What counts as a sudden change.
    pub detector: change::Config,
    /// How admissions are spread over an epoch; default counter (which reproduces Table I).
    pub limiter: Limiter,
    /// Whether the same sessions wait from try to try, for which the limiter should be saving-bucket; default false (ours).
    pub eligibility: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            epoch: Time::from_secs(2),
            step_size: 20.0,
            threshold: 100.0,
            alpha_min: 10.0,
            gold: 1.618,
            c: 0.3819,
            step_limit: 2.0,
            probe: 5.0,
            skip: 0,
            remeasure_after: 0,
            ga: true,
            restart: true,
            detector: change::Config::default(),
            limiter: Limiter::Counter,
            eligibility: false,
        }
    }
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
        check_epoch(self.epoch)?;
        within("step_size", self.step_size, 1.0, 1e6)?;
        within("threshold", self.threshold, 1.0, 1e9)?;
        within("alpha_min", self.alpha_min, 1.0, 1e9)?;
        within("gold", self.gold, 1.0, 10.0)?;
        within("c", self.c, 0.05, 0.5)?;
        within("step_limit", self.step_limit, 0.05, 1e3)?;
        within("probe", self.probe, 1.0, 1e6)?;
        within("skip", f64::from(self.skip), 0.0, 1e3)?;
        self.detector.check()
    }
}
