//! CP, close and probe: keeps admissions down to completions (session-control, IV-B, Algorithm 2).
//!
//! | symbol            | here              | unit           | paper        |
//! |-------------------|-------------------|----------------|--------------|
//! | `E`               | `epoch`           | s              | 1            |
//! | `stepSize`        | `step_size`       | sessions/epoch | 40           |
//! | `BUFFER_FACTOR`   | `buffer_factor`   | 1              | 1.05         |
//! | `INCREASE_FACTOR` | `increase_factor` | 1              | 1.1          |
//! | `beta`            | `beta`            | 1              | no value     |
//! | `alpha_min`       | `alpha_min`       | sessions/epoch | no value     |
//! | `alpha_t`         | `alpha`           | sessions/epoch | allowed      |
//! | `a_t`, `d_t`      | `arrived`, `ends` | sessions/epoch | counted      |
//! | `SFCR`            | `sfcr`            | sessions/epoch | smoothed `d` |
//!
//! At the end of an epoch: smooth the completions. If the allowance exceeds them, reduce it in
//! proportion to the excess (close); otherwise allow a tenth more than the completions (probe).
//!
//! Departures from the printed algorithm:
//! - `alpha_1 = a_1` is printed inside the loop; here it is the start, where everything is
//!   admitted.
//! - `SFCR < 1` would divide by almost nothing: the allowance is halved instead.
//! - `guard` (ours, on by default). After a probe the printed rule closes to `1.1 SFCR - 4`, which
//!   is below `SFCR` for every `SFCR < 40`: a low load drives the allowance down, and it never
//!   recovers. The guard closes to `SFCR` at most, and admits everything until the first session
//!   has ended.
//! - `relief` (ours, off by default). Completions alone do not show whether a link is idle or
//!   blocked where sessions are aborted, end elsewhere or live long. With relief, resets count as
//!   ends, and everything is admitted in the epoch after one in which the queue dropped nothing and
//!   was once empty.
//!
//! Limits: where arrivals vary by more than 5 % from epoch to epoch, some are refused in underload
//! too. The allowance grows by at most 10 % per epoch.

use crate::law::settings::Refused;
use crate::law::{Controller, Decision, Fault, Step, View};
use crate::units::Time;

use super::clients::{self, Who};
use super::eligibility::{BYPASS, Window};
use super::{Carry, Counts, Knobs, Limiter};

crate::settings! {
    /// Parameters of close and probe.
    "CloseProbe":
    epoch: Time = "1s" ["1ms" to "1h"] "Length of an epoch" ("session-control, V-B");
    step_size: f64 = 40 [0.001 to 1e6] "How fast an excess is reduced, in sessions per epoch" ("V-B");
    buffer_factor: f64 = 1.05 [1 to 10] "Allowances up to this many times the completions are not excessive" ("V-B");
    increase_factor: f64 = 1.1 [1.001 to 10] "A probe allows this many times the completions" ("V-B");
    beta: f64 = 0.5 [0.001 to 1] "Weight of the newest epoch in the smoothed completions, 1: no smoothing" ("not in the paper");
    alpha_min: f64 = 10 [1 to 1e9] "Least allowance, sessions per epoch" ("not in the paper");
    guard: bool = true "Whether the allowance is never reduced below the completions, nor before the first session has ended" ("ours; the printed rule: false");
    relief: bool = false "Whether all sessions are admitted after an epoch in which the queue dropped nothing and was once empty, and resets count as ends" ("ours");
    limiter: Limiter = { Limiter::Counter } "How admissions are spread over an epoch; default counter" ("which fits the times of Table I");
    eligibility: bool = false "Whether a refused session stays refused when it retries; best with the limiter saving-bucket" ("ours");
    admit: Who = { Who::Connections } quiet "What the law admits: `connections`, each by itself, `clients`, each with all of its connections, or `visits`, each connection with those of its client that follow the end of one; needs `eligibility`; default connections";
    clients: clients::Config = { clients::Config::default() } quiet "How clients are let in, with `admit = \"clients\"` or `\"visits\"`";
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
        clients::checked(self.admit, &self.clients, self.eligibility)
    }
}

/// What applies during an epoch.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Mode {
    /// Everything is admitted: at the start, and under relief.
    Open,
    /// This many sessions are admitted.
    Allow { alpha: f64 },
}

/// Close and probe.
#[derive(Clone, Debug)]
pub struct CloseProbe {
    config: Config,
    mode: Mode,
    /// Smoothed completions; none before the first session has ended.
    sfcr: Option<f64>,
    carry: Carry,
    window: Window,
    phase: &'static str,
}

impl CloseProbe {
    /// With parameters that have passed [`Config::check`].
    pub fn new(config: Config) -> CloseProbe {
        let window = Window::over(config.admit, &config.clients, config.epoch);
        let carry = Carry::default();
        CloseProbe { config, mode: Mode::Open, sfcr: None, carry, window, phase: "starting" }
    }

    /// Updates the smoothed rate with the completions of an epoch.
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
        // the settings count sessions; where clients are let in, a session is a part of one
        let unit = self.window.unit();
        let (next, phase) = if alpha <= sfcr * config.buffer_factor {
            (sfcr * config.increase_factor, "probe")
        } else if sfcr < unit {
            (alpha / 2.0, "close")
        } else {
            let closed = alpha + unit * config.step_size * (sfcr - alpha) / sfcr;
            (if config.guard { closed.max(sfcr) } else { closed }, "close")
        };
        (next.max(config.alpha_min * unit), phase)
    }

    /// Decides what applies in the next epoch.
    fn decide(&mut self, arrived: f64, ends: f64, idle: bool) {
        self.smooth(ends);
        // an epoch in which everything was admitted had an allowance of what arrived (alpha_1 =
        // a_1)
        let alpha = match self.mode {
            Mode::Open => arrived,
            Mode::Allow { alpha } => alpha,
        };
        (self.mode, self.phase) = if self.config.guard && self.sfcr.is_none() {
            (Mode::Open, "starting")
        } else if self.config.relief && idle {
            (Mode::Open, "relief")
        } else {
            let (alpha, phase) = self.next(alpha);
            (Mode::Allow { alpha }, phase)
        };
    }
}

impl Controller<Knobs, Counts> for CloseProbe {
    fn start(&mut self, now: Time, knobs: &mut Knobs) -> Result<Time, Fault> {
        knobs.open();
        Ok(now.saturating_add(self.config.epoch))
    }

    fn update(&mut self, now: Time, view: &View<'_>, counts: &Counts, knobs: &mut Knobs) -> Step {
        let broken_off = if self.config.relief { counts.resets as f64 } else { 0.0 };
        let idle = view.queue_drops == 0 && view.min_queue_packets == 0;
        self.window.count(counts);
        let unit = self.window.unit();
        let arrived = counts.arrived.saturating_sub(counts.inside) as f64;
        self.decide(arrived, unit * (counts.departed as f64 + broken_off), idle);
        let set = match self.mode {
            Mode::Open => {
                knobs.open();
                f64::INFINITY
            }
            Mode::Allow { alpha } => {
                knobs.allow(self.carry.whole(alpha), self.config.epoch);
                if self.config.eligibility {
                    self.window.follow(alpha, counts);
                    self.window.set(BYPASS, now, knobs);
                }
                alpha
            }
        };
        self.window.renew(knobs);
        let decision = Decision { phase: self.phase, set, from: self.sfcr.unwrap_or(0.0) };
        Ok((now.saturating_add(self.config.epoch), Some(decision)))
    }
}
