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

use crate::law::{Controller, Decision, Fault, Turn, View};
use crate::units::Time;

use super::eligibility::{BYPASS, Window};
use super::{Carry, Counts, Knobs, Limiter};

crate::settings! {
    /// Parameters of close and probe.
    "CloseProbe", check:
    epoch: Time = "1s" ["1ms" to "1h"] "Length of an epoch" ("session-control, V-B");
    step_size: f64 = 40 [0.001 to 1e6] "How fast an excess is reduced, sessions per epoch" ("V-B");
    buffer_factor: f64 = 1.05 [1 to 10] "Allowances up to this many times the completions are not excessive" ("V-B");
    increase_factor: f64 = 1.1 [1.001 to 10] "A probe allows this many times the completions" ("V-B");
    beta: f64 = 0.5 [0.001 to 1] "Weight of the newest epoch in the smoothed completions, 1: no smoothing" ("not in the paper");
    alpha_min: f64 = 10 [1 to 1e9] "Least allowance, sessions per epoch" ("not in the paper");
    guard: bool = true "Whether closing stops at the completions, and starts only once sessions end" ("ours; the printed rule: false");
    relief: bool = false "Whether nothing is refused while the queue drops nothing and empties, and resets count as ends" ("ours");
    limiter: Limiter = { Limiter::Counter } "How admissions are spread over an epoch; default counter (to which the times of Table I point).";
    eligibility: bool = false "Whether the same sessions stay refused from retry to retry, for which the limiter should be saving-bucket" ("ours");
}

impl Config {
    /// Which limiter the datapath uses.
    pub fn limiter(&self) -> Limiter {
        self.limiter
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
