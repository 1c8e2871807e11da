//! CP, close and probe: admissions not above completions (session-control,
//! IV-B, Algorithm 2).
//!
//! | symbol            | here              | unit           | paper        |
//! |-------------------|-------------------|----------------|--------------|
//! | `E`               | `epoch`           | s              | 1            |
//! | `stepSize`        | `step_size`       | sessions/epoch | 40           |
//! | `BUFFER_FACTOR`   | `buffer_factor`   | 1              | 1.05         |
//! | `INCREASE_FACTOR` | `increase_factor` | 1              | 1.1          |
//! | `beta`            | `beta`            | 1              | not said     |
//! | `alpha_min`       | `alpha_min`       | sessions/epoch | not said     |
//! | `alpha_t`         | `alpha`           | sessions/epoch | allowed      |
//! | `a_t`, `d_t`      | `arrived`, `ends` | sessions/epoch | counted      |
//! | `SFCR`            | `sfcr`            | sessions/epoch | smoothed `d` |
//!
//! At the end of an epoch: smooth the completions; if more was allowed than
//! they bear, close in proportion to the excess, else probe a tenth above them.
//!
//! Departures from the print:
//! - `alpha_1 = a_1` stands in the loop; it is the start, where everything passes.
//! - `SFCR < 1` would divide by next to nothing: the allowance is halved instead.
//! - `guard` (ours, on by default). After a probe the printed rule closes to
//!   `1.1 SFCR - 4`, which is below `SFCR` for every `SFCR < 40`: a low load
//!   sends it down, and there it stays whatever comes later. The guard closes
//!   no further than to `SFCR`, and lets everything pass until sessions end at all.
//! - `relief` (ours, off by default). Completions alone cannot tell an idle
//!   link from a blocked one where sessions break off, end elsewhere or live
//!   long. With relief resets count as ends, and nothing is refused in the epoch
//!   after one in which the queue lost nothing and was empty once.
//!
//! Limits: where arrivals vary by more than a twentieth from epoch to epoch,
//! some are refused in underload too. Growth is at most a tenth per epoch.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::law::settings::{Refused, check_epoch, within};
use crate::law::{Controller, Decision, Fault, Turn, View};
use crate::units::Time;

use super::eligibility::{BYPASS, Window};
use super::{Carry, Counts, Knobs, Limiter};

/// Parameters of close and probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "snake_case")]
#[schemars(rename = "CloseProbe")]
pub struct Config {
    /// Length of an epoch; default 1s, 1ms to 1h (session-control, V-B).
    pub epoch: Time,
    /// How strongly an excess is closed, sessions per epoch; default 40, 0.001 to 1e6 (V-B).
    pub step_size: f64,
    /// Allowances up to so many times the completions are no excess; default 1.05, 1 to 10 (V-B).
    pub buffer_factor: f64,
    /// A probe allows so many times the completions; default 1.1, 1.001 to 10 (V-B).
    pub increase_factor: f64,
    /// Weight of the newest epoch in the smoothed completions, 1: no smoothing; default 0.5, 0.001 to 1 (not in the paper).
    pub beta: f64,
    /// Least allowance, sessions per epoch; default 10, 1 to 1e9 (not in the paper).
    pub alpha_min: f64,
    /// Close no further than to the completions, and not before sessions end at all; default true (ours; the printed rule: false).
    pub guard: bool,
    /// Refuse nothing while the queue loses nothing and empties, and count resets as ends; default false (ours).
    pub relief: bool,
    /// How admissions are spread over an epoch; default counter (to which the times of Table I point).
    pub limiter: Limiter,
    /// Whether the same sessions wait from try to try, for which the limiter should be saving-bucket; default false (ours).
    pub eligibility: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            epoch: Time::from_secs(1),
            step_size: 40.0,
            buffer_factor: 1.05,
            increase_factor: 1.1,
            beta: 0.5,
            alpha_min: 10.0,
            guard: true,
            relief: false,
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
        within("step_size", self.step_size, 0.001, 1e6)?;
        within("buffer_factor", self.buffer_factor, 1.0, 10.0)?;
        within("increase_factor", self.increase_factor, 1.001, 10.0)?;
        within("beta", self.beta, 0.001, 1.0)?;
        within("alpha_min", self.alpha_min, 1.0, 1e9)
    }
}

/// What is in force during an epoch.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Stage {
    /// Everything passes: at the start, and in relief.
    Open,
    /// So many sessions pass.
    Allow { alpha: f64 },
}

/// Close and probe.
#[derive(Clone, Debug)]
pub struct CloseProbe {
    config: Config,
    stage: Stage,
    /// Smoothed completions; none before the first session has ended.
    sfcr: Option<f64>,
    carry: Carry,
    window: Window,
    phase: &'static str,
}

impl CloseProbe {
    /// With parameters that have passed [`Config::check`].
    pub fn new(config: Config) -> CloseProbe {
        let (carry, window) = (Carry::default(), Window::default());
        CloseProbe { config, stage: Stage::Open, sfcr: None, carry, window, phase: "starting" }
    }

    /// Takes the completions of an epoch into the smoothed rate.
    fn smooth(&mut self, ends: f64) {
        let beta = self.config.beta;
        self.sfcr = match self.sfcr {
            Some(sfcr) => Some((1.0 - beta) * sfcr + beta * ends),
            None => (ends > 0.0).then_some(ends),
        };
    }

    /// The next allowance after one of `alpha` (Algorithm 2), and its phase.
    fn next(&self, alpha: f64) -> (f64, &'static str) {
        let config = &self.config;
        let sfcr = self.sfcr.unwrap_or(0.0);
        let (next, phase) = if alpha <= sfcr * config.buffer_factor {
            (sfcr * config.increase_factor, "probe")
        } else if sfcr < 1.0 {
            (alpha / 2.0, "close")
        } else {
            let closed = alpha + config.step_size * (sfcr - alpha) / sfcr;
            (if config.guard { closed.max(sfcr) } else { closed }, "close")
        };
        (next.max(config.alpha_min), phase)
    }

    /// Decides what is in force in the epoch that begins.
    fn decide(&mut self, arrived: f64, ends: f64, idle: bool) {
        self.smooth(ends);
        // an epoch in which everything passed allowed what arrived (alpha_1 = a_1)
        let alpha = match self.stage {
            Stage::Open => arrived,
            Stage::Allow { alpha } => alpha,
        };
        (self.stage, self.phase) = if self.config.guard && self.sfcr.is_none() {
            (Stage::Open, "starting")
        } else if self.config.relief && idle {
            (Stage::Open, "relief")
        } else {
            let (alpha, phase) = self.next(alpha);
            (Stage::Allow { alpha }, phase)
        };
    }
}

impl Controller<Knobs, Counts> for CloseProbe {
    fn start(&mut self, now: Time, knobs: &mut Knobs) -> Result<Time, Fault> {
        knobs.open();
        Ok(now.saturating_add(self.config.epoch))
    }

    fn update(
        &mut self,
        now: Time,
        view: &View<'_>,
        counts: &Counts,
        knobs: &mut Knobs,
    ) -> Result<Turn, Fault> {
        let broken_off = if self.config.relief { counts.resets as f64 } else { 0.0 };
        let idle = view.queue_drops == 0 && view.min_queue_packets == 0;
        self.decide(counts.arrived as f64, counts.departed as f64 + broken_off, idle);
        let set = match self.stage {
            Stage::Open => {
                knobs.open();
                f64::INFINITY
            }
            Stage::Allow { alpha } => {
                knobs.allow(self.carry.whole(alpha), self.config.epoch);
                if self.config.eligibility {
                    self.window.follow(alpha, counts);
                    self.window.set(BYPASS, now, knobs);
                }
                alpha
            }
        };
        let decision = Decision { phase: self.phase, set, from: self.sfcr.unwrap_or(0.0) };
        Ok((now.saturating_add(self.config.epoch), Some(decision)))
    }
}
