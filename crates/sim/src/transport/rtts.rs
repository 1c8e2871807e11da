//! The round trips that the senders of a class measure, as a distribution.

use tidegate_core::units::Time;
use tidegate_model::columns::{Category, Column, RttRow};
use tidegate_model::scenario::Scenario;

use super::spans::Spans;
use crate::names::names;

/// The round trips of one class since the warm-up.
pub(crate) struct Rtts {
    from: Time,
    spans: Spans<2>,
}

impl Rtts {
    /// Those that will be measured from this instant on.
    pub(crate) fn after(from: Time) -> Rtts {
        Rtts { from, spans: Spans::NONE }
    }

    /// A sender has measured one.
    #[inline]
    pub(crate) fn add(&mut self, now: Time, rtt: Time) {
        if now >= self.from {
            self.spans.add(rtt);
        }
    }
}

/// The `rtt` table.
pub(crate) fn columns<'a>(
    classes: impl Iterator<Item = &'a Rtts>,
    scenario: &Scenario,
) -> Vec<Column> {
    let rows = (0..).zip(classes).map(|(class, Rtts { spans, .. })| RttRow {
        class: Category(class),
        rtt_min_s: spans.least_s(),
        rtt_mean_s: spans.mean_s(),
        rtt_p50_s: spans.quantile_s(0.5),
        rtt_p95_s: spans.quantile_s(0.95),
        rtt_p99_s: spans.quantile_s(0.99),
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
        assert!(rtts.spans.mean_s().is_nan() && rtts.spans.quantile_s(0.5).is_nan());
        for ms in [10, 20, 30] {
            rtts.add(Time::from_secs(1), Time::from_ms(ms));
        }
        assert!((rtts.spans.mean_s() - 0.020).abs() < 1e-12);
        assert!((rtts.spans.least_s() - 0.010).abs() < 1e-12);
        assert!((rtts.spans.quantile_s(0.5) - 0.020).abs() < 0.0002);
    }
}
