//! Admission by link occupancy (session-control, II): a baseline that the paper argues against.
//!
//! | symbol  | here          | unit | paper    |
//! |---------|---------------|------|----------|
//! | `E`     | `epoch`       | s    | not said |
//! | `u_0`   | `threshold`   | 1    | not said |
//! | `beta`  | `beta`        | 1    | not said |
//! | `u`     | `occupancy`   | 1    | measured |
//!
//! At the end of an epoch: smooth the share of it in which the link was
//! sending. While that is below the threshold every new session is let in, and
//! else none.
//!
//! Limits: one threshold fits one load. A link that is busy with sessions that
//! get on well looks like one that is busy with retransmissions, and where much
//! arrives in one open epoch all of it is let in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::law::settings::{Refused, check_epoch, within};
use crate::law::{Controller, Fault, Turn, View};
use crate::units::Time;

use super::{AllOrNothing, Counts, Knobs, Limiter};

/// Parameters of admission by link occupancy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "snake_case")]
#[schemars(rename = "Occupancy")]
pub struct Config {
    /// Length of an epoch; default 1s, 1ms to 1h (not in the paper).
    pub epoch: Time,
    /// Sessions are let in while the link is sending for a smaller share of the time; default 0.9, above 0, up to 1 (not in the paper).
    pub threshold: f64,
    /// Weight of the newest epoch in the smoothed occupancy, 1: no smoothing; default 1, 0.001 to 1 (not in the paper).
    pub beta: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config { epoch: Time::from_secs(1), threshold: 0.9, beta: 1.0 }
    }
}

impl Config {
    /// Which limiter the datapath uses: none needs to spread all or nothing.
    pub fn limiter(&self) -> Limiter {
        Limiter::Counter
    }

    /// Whether every value is in range.
    ///
    /// # Errors
    /// The field that is not, and what would be right.
    pub fn check(&self) -> Result<(), Refused> {
        check_epoch(self.epoch)?;
        within("threshold", self.threshold, 1e-9, 1.0)?;
        within("beta", self.beta, 0.001, 1.0)
    }
}

/// Admission by link occupancy.
#[derive(Clone, Debug)]
pub struct Occupancy {
    config: Config,
    gate: AllOrNothing,
}

impl Occupancy {
    /// With parameters that have passed [`Config::check`].
    pub fn new(config: Config) -> Occupancy {
        let gate = AllOrNothing::new(config.threshold, config.beta);
        Occupancy { config, gate }
    }
}

impl Controller<Knobs, Counts> for Occupancy {
    fn start(&mut self, now: Time, knobs: &mut Knobs) -> Result<Time, Fault> {
        knobs.open();
        Ok(now.saturating_add(self.config.epoch))
    }

    fn update(
        &mut self,
        now: Time,
        view: &View<'_>,
        _counts: &Counts,
        knobs: &mut Knobs,
    ) -> Result<Turn, Fault> {
        let occupancy = view.busy.secs() / self.config.epoch.secs();
        let decision = self.gate.decide(occupancy, self.config.epoch, knobs);
        Ok((now.saturating_add(self.config.epoch), Some(decision)))
    }
}
