//! A detector of sudden changes of traffic (session-control, IV-A, action 4).
//!
//! The paper asks for one and gives no method. This one compares the completions `d` and the
//! arrivals `a` of each epoch with moving averages:
//!
//! | symbol | here       | unit           | meaning                      |
//! |--------|------------|----------------|------------------------------|
//! | `m`    | `ends`     | sessions/epoch | moving average of `d`        |
//! | `v`    | `spread`   | sessions/epoch | moving mean of `abs(d - m)`  |
//! | `m_a`  | `arrivals` | sessions/epoch | moving average of `a`        |
//!
//! An epoch is unusual when `abs(d - m) > max(4 v, 0.3 m, 10)` or `abs(a - m_a) > max(0.5 m_a,
//! 20)`; two unusual epochs in a row are a change.
//!
//! Unusual epochs do not enter the averages: with a gain of 1/4 the first epoch after a step would
//! raise `4 v` to the height of the step and so hide the second.
//!
//! Limits: a ramp of less than `ends_share x gain` (7.5 %) of the level per epoch is not detected.
//! That is intended: gradient ascent follows it without help.

crate::settings! {
    /// Parameters of the detector; none is in the paper.
    #[derive(Copy)]
    "ChangeDetector", check:
    gain: f64 = 0.25 [0.001 to 1] "Weight of the newest epoch in the averages";
    deviations: f64 = 4 [0 to 1000] "Completions are unusual when they differ from their average by more than this many mean deviations";
    ends_share: f64 = 0.3 [0 to 1000] "... and by more than this share of their average";
    ends_least: f64 = 10 [0 to 1e9] "... and by more than this many sessions per epoch";
    arrivals_share: f64 = 0.5 [0 to 1000] "Arrivals are unusual when they differ from their average by more than this share of it";
    arrivals_least: f64 = 20 [0 to 1e9] "... and by more than this many sessions per epoch";
    epochs: u32 = 2 [1 to 1000] "Unusual epochs in a row that make a change";
    hold_off: u32 = 5 [0 to 1000000] "Epochs after a start in which none counts as unusual";
}

/// The averages of usual epochs.
#[derive(Clone, Copy, Debug)]
struct Normal {
    ends: f64,
    spread: f64,
    arrivals: f64,
}

/// The detector; a law creates a new one whenever it starts to watch.
#[derive(Clone, Copy, Debug)]
pub struct Detector {
    config: Config,
    normal: Option<Normal>,
    held_off: u32,
    strange: u32,
}

impl Detector {
    /// A detector that has seen nothing yet.
    pub fn new(config: Config) -> Detector {
        Detector { config, normal: None, held_off: config.hold_off, strange: 0 }
    }

    /// Adds an epoch; returns whether the traffic has changed.
    pub fn observe(&mut self, arrivals: f64, ends: f64) -> bool {
        let config = &self.config;
        let normal = self.normal.get_or_insert(Normal { ends, spread: 0.0, arrivals });
        let off_ends = (ends - normal.ends).abs();
        let off_arrivals = (arrivals - normal.arrivals).abs();
        let ends_limit = (config.deviations * normal.spread)
            .max(config.ends_share * normal.ends)
            .max(config.ends_least);
        let arrivals_limit = (config.arrivals_share * normal.arrivals).max(config.arrivals_least);
        if self.held_off == 0 && (off_ends > ends_limit || off_arrivals > arrivals_limit) {
            self.strange += 1;
            return self.strange >= config.epochs;
        }
        self.held_off = self.held_off.saturating_sub(1);
        self.strange = 0;
        normal.spread += config.gain * (off_ends - normal.spread);
        normal.ends += config.gain * (ends - normal.ends);
        normal.arrivals += config.gain * (arrivals - normal.arrivals);
        false
    }
}
