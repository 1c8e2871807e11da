//! Load factor: one rate for all, divided once a round trip by how loaded the link is.
//!
//! | symbol | here        | unit | source                                       |
//! |--------|-------------|------|----------------------------------------------|
//! | `C`    | `view.rate` | B/s  | capacity of the link                         |
//! | `u`    | `target`    | 1    | ours: 0.95                                   |
//! | `T`    | `began`     | s    | a mean round trip; 100 ms if nobody said one |
//! | `z`    | `load`      | 1    | (bytes that came + bytes that wait) / (u C T) |
//! | `R`    | `knobs.rate`| B/s  | the most that any flow may have              |
//!
//! At the end of an interval `R = R / z`, at most doubled and at least halved,
//! between 0.001 C and C. To divide by the load was the way of explicit rates in
//! ATM networks: R. Jain et al., "ERICA switch algorithm", 1995. Nobody counts
//! flows: too many of them, and `z` is above 1.
//!
//! Limits: flows that want less than `R` leave room that others take only as
//! fast as `R` climbs.

use tidegate_core::law::rate::{Counts, Knobs};
use tidegate_core::law::settings::Link;
use tidegate_core::law::{Controller, Decision, Fault, Turn, View};
use tidegate_core::units::Time;

/// An interval in which no packet has said its sender's round-trip time.
const SILENT_S: f64 = 0.1;

tidegate_core::settings! {
    /// Parameters of the load factor.
    "LoadFactor", check:
    target: f64 = 0.95 [0.1 to 1] "Share of the capacity that is aimed at";
}

impl Config {}

/// The load factor.
#[derive(Clone, Debug)]
pub struct LoadFactor {
    target: f64,
    /// Start of the present interval.
    began: Time,
    /// The rate of every flow (R) that was set last, in bits per second.
    rate_bps: f64,
}

impl LoadFactor {
    /// At this link, with parameters that have passed [`Config::check`].
    pub fn new(config: &Config, _: Link) -> LoadFactor {
        LoadFactor { target: config.target, began: Time::ZERO, rate_bps: 0.0 }
    }

    /// Sets the rate of the next interval and returns its end.
    fn set(&mut self, now: Time, rate_bps: f64, span_s: f64, knobs: &mut Knobs) -> Time {
        self.began = now;
        knobs.rate = (rate_bps / 8.0).max(1.0) as u64;
        self.rate_bps = knobs.rate as f64 * 8.0; // whole bytes per second
        now.saturating_add(Time::from_secs_f64(span_s).max(Time::from_ms(1)))
    }
}

impl Controller<Knobs, Counts> for LoadFactor {
    fn start(&mut self, now: Time, knobs: &mut Knobs) -> Result<Time, Fault> {
        // a rate that can do no harm
        Ok(self.set(now, 1e6, SILENT_S, knobs))
    }

    fn update(
        &mut self,
        now: Time,
        view: &View<'_>,
        counts: &Counts,
        knobs: &mut Knobs,
    ) -> Result<Turn, Fault> {
        let capacity = view.rate.bytes_per_s() * 8.0;
        let bits = 8.0 * (counts.bytes + view.queue_bytes) as f64;
        let load = bits / (self.target * capacity * (now - self.began).secs());
        let rate_bps = self.rate_bps / load.clamp(0.5, 2.0);
        let rate_bps = rate_bps.clamp(1e-3 * capacity, capacity);
        let next = self.set(now, rate_bps, counts.mean_rtt_s().unwrap_or(SILENT_S), knobs);
        Ok((next, Some(Decision { phase: "share", set: self.rate_bps, from: load })))
    }
}
