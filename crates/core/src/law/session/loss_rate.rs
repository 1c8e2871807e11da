//! Admission by loss rate (session-control, II): a baseline that the paper argues against.
//!
//! | symbol  | here        | unit | paper    |
//! |---------|-------------|------|----------|
//! | `E`     | `epoch`     | s    | not said |
//! | `p_0`   | `threshold` | 1    | not said |
//! | `beta`  | `beta`      | 1    | not said |
//! | `p`     | `loss`      | 1    | measured |
//!
//! At the end of an epoch: smooth the share of the packets offered to the
//! queue that it lost. While that is below the threshold every new session is
//! let in, and else none. Refused sessions are no losses, and their packets are
//! not offered to the queue.
//!
//! Limits: losses tell of an overload once the buffer is full, a round trip and
//! more after it began, and one threshold fits one load and one buffer: a few
//! long transfers fill it as well as many short ones.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::law::settings::{Refused, check_epoch, within};
use crate::law::{Controller, Fault, Turn, View};
use crate::units::Time;

use super::{AllOrNothing, Counts, Knobs, Limiter};

/// Parameters of admission by loss rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "snake_case")]
#[schemars(rename = "LossRate")]
pub struct Config {
    /// Length of an epoch; default 1s, 1ms to 1h (not in the paper).
    pub epoch: Time,
    /// Sessions are let in while the queue loses a smaller share of its packets; default 0.01, above 0, up to 1 (not in the paper).
    pub threshold: f64,
    /// Weight of the newest epoch in the smoothed loss rate, 1: no smoothing; default 1, 0.001 to 1 (not in the paper).
    pub beta: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config { epoch: Time::from_secs(1), threshold: 0.01, beta: 1.0 }
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

/// Admission by loss rate.
#[derive(Clone, Debug)]
pub struct LossRate {
    config: Config,
    gate: AllOrNothing,
}

impl LossRate {
    /// With parameters that have passed [`Config::check`].
    pub fn new(config: Config) -> LossRate {
        let gate = AllOrNothing::new(config.threshold, config.beta);
        LossRate { config, gate }
    }
}

impl Controller<Knobs, Counts> for LossRate {
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
        // an evicted packet may have been offered in the epoch before
        let loss = view.queue_drops as f64 / (view.queue_offered as f64).max(1.0);
        let decision = self.gate.decide(loss.min(1.0), self.config.epoch, knobs);
        Ok((now.saturating_add(self.config.epoch), Some(decision)))
    }
}
