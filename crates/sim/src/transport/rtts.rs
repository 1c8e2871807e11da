//! The round trips that the senders of a class measure, as a distribution.

use hdrhistogram::Histogram;
use tidegate_core::units::Time;
use tidegate_model::columns::{Category, Column, RttRow};
use tidegate_model::scenario::Scenario;

use crate::names::names;

/// Round trips are distinguished from a microsecond up.
const LEAST_NS: u64 = 1_000;
/// Longer ones count as this: an hour.
const MOST_NS: u64 = 3_600_000_000_000;
/// Digits that a percentile keeps.
const DIGITS: u8 = 2;

/// The round trips of one class since the warm-up.
pub(crate) struct Rtts {
    from: Time,
    sum_s: f64,
    least: Time,
    sketch: Option<Histogram<u64>>,
}

impl Rtts {
    /// Those that will be measured from this instant on.
    pub(crate) fn after(from: Time) -> Rtts {
        Rtts { from, sum_s: 0.0, least: Time::NEVER, sketch: None }
    }

    /// A sender has measured one.
    #[inline]
    pub(crate) fn add(&mut self, now: Time, rtt: Time) {
        if now < self.from {
            return;
        }
        self.sum_s += rtt.secs();
        self.least = self.least.min(rtt);
        if self.sketch.is_none() {
            self.sketch = Histogram::new_with_bounds(LEAST_NS, MOST_NS, DIGITS).ok();
        }
        if let Some(sketch) = &mut self.sketch {
            sketch.saturating_record(rtt.ps() / 1000);
        }
    }

    fn mean_s(&self) -> f64 {
        self.sketch.as_ref().map_or(f64::NAN, |sketch| self.sum_s / sketch.len() as f64)
    }

    fn least_s(&self) -> f64 {
        if self.sketch.is_none() { f64::NAN } else { self.least.secs() }
    }

    fn quantile_s(&self, share: f64) -> f64 {
        let value = |sketch: &Histogram<u64>| sketch.value_at_quantile(share) as f64 * 1e-9;
        self.sketch.as_ref().map_or(f64::NAN, value)
    }
}

/// The `rtt` table.
pub(crate) fn columns<'a>(
    classes: impl Iterator<Item = &'a Rtts>,
    scenario: &Scenario,
) -> Vec<Column> {
    let rows = (0..).zip(classes).map(|(class, rtts)| RttRow {
        class: Category(class),
        rtt_min_s: rtts.least_s(),
        rtt_mean_s: rtts.mean_s(),
        rtt_p50_s: rtts.quantile_s(0.5),
        rtt_p95_s: rtts.quantile_s(0.95),
        rtt_p99_s: rtts.quantile_s(0.99),
    });
    RttRow::columns(rows, |column| names(scenario, column))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: of 10, 20 and 30 ms after the warm-up the mean is 20 ms; one before it is left out.
    #[test]
    fn round_trips_count_from_the_warm_up_on() {
        let mut rtts = Rtts::after(Time::from_secs(1));
        rtts.add(Time::from_ms(999), Time::from_ms(500));
        assert!(rtts.mean_s().is_nan() && rtts.quantile_s(0.5).is_nan());
        for ms in [10, 20, 30] {
            rtts.add(Time::from_secs(1), Time::from_ms(ms));
        }
        assert!((rtts.mean_s() - 0.020).abs() < 1e-12);
        assert!((rtts.least_s() - 0.010).abs() < 1e-12);
        assert!((rtts.quantile_s(0.5) - 0.020).abs() < 0.0002);
    }
}
