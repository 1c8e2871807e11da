//! Spans of time as a distribution: their mean, the least, the longest and percentiles.

use hdrhistogram::Histogram;
use tidegate_core::units::Time;

/// Spans are distinguished from a microsecond up.
const LEAST_NS: u64 = 1_000;
/// Longer ones count as this: an hour.
const MOST_NS: u64 = 3_600_000_000_000;

/// Spans so far; a percentile has so many significant digits. Of none everything is NaN.
pub(crate) struct Spans<const DIGITS: u8> {
    sum_s: f64,
    least: Time,
    most: Time,
    sketch: Option<Histogram<u64>>,
}

impl<const DIGITS: u8> Spans<DIGITS> {
    pub(crate) const NONE: Spans<DIGITS> =
        Spans { sum_s: 0.0, least: Time::NEVER, most: Time::ZERO, sketch: None };

    /// One more.
    #[inline]
    pub(crate) fn add(&mut self, span: Time) {
        self.sum_s += span.secs();
        self.least = self.least.min(span);
        self.most = self.most.max(span);
        if self.sketch.is_none() {
            self.sketch = Histogram::new_with_bounds(LEAST_NS, MOST_NS, DIGITS).ok();
        }
        if let Some(sketch) = &mut self.sketch {
            sketch.saturating_record(span.ps() / 1000);
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.sketch.as_ref().map_or(0, Histogram::len)
    }

    fn known(&self, value: f64) -> f64 {
        if self.sketch.is_none() { f64::NAN } else { value }
    }

    pub(crate) fn mean_s(&self) -> f64 {
        self.known(self.sum_s / self.count() as f64)
    }

    pub(crate) fn least_s(&self) -> f64 {
        self.known(self.least.secs())
    }

    pub(crate) fn most_s(&self) -> f64 {
        self.known(self.most.secs())
    }

    /// What this share of them does not exceed: the upper end of a bin of the sketch.
    pub(crate) fn quantile_s(&self, share: f64) -> f64 {
        let value = |sketch: &Histogram<u64>| sketch.value_at_quantile(share) as f64 * 1e-9;
        self.sketch.as_ref().map_or(f64::NAN, value)
    }
}
