//! The detector of over-use, with its threshold (draft-ietf-rmcat-gcc-02, 5.4).

/// Its settings; times are in ms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) del_var_th: f64,
    pub(super) overuse_ms: f64,
    pub(super) k_u: f64,
    pub(super) k_d: f64,
    pub(super) gain: u32,
}

/// What the detector finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Signal {
    Overuse,
    Normal,
    Underuse,
}

/// Bounds of the threshold, in ms.
const LEAST: f64 = 6.0;
const MOST: f64 = 600.0;
/// How far above the threshold `m(i)` does not move it, in ms.
const FAR: f64 = 15.0;
/// Longest step of the threshold, in ms: after a pause it would go anywhere.
const LONGEST: f64 = 100.0;

/// The detector.
#[derive(Debug)]
pub(super) struct Detector {
    rules: Rules,
    threshold: f64,
    /// How long `m(i)` has been above the threshold, in ms; none: it is not.
    above_ms: Option<f64>,
    /// `m(i-1)`, multiplied, and how many groups there were.
    before: f64,
    groups: u32,
    signal: Signal,
}

impl Detector {
    pub(super) fn new(rules: Rules) -> Detector {
        Detector {
            threshold: rules.del_var_th,
            rules,
            above_ms: None,
            before: 0.0,
            groups: 0,
            signal: Signal::Normal,
        }
    }

    /// What it found last.
    pub(super) fn signal(&self) -> Signal {
        self.signal
    }

    /// Compares `m(i)` of a group that came so long after the one before it.
    pub(super) fn compare(&mut self, m: f64, arrival_ms: f64) -> Signal {
        self.groups = self.groups.saturating_add(1);
        let m = m * f64::from(self.groups.min(self.rules.gain));
        self.signal = if m > self.threshold {
            let above = self.above_ms.map_or(0.0, |ms| ms + arrival_ms);
            self.above_ms = Some(above);
            let lasts = above >= self.rules.overuse_ms;
            if lasts && m >= self.before { Signal::Overuse } else { Signal::Normal }
        } else {
            self.above_ms = None;
            if m < -self.threshold { Signal::Underuse } else { Signal::Normal }
        };
        self.before = m;
        self.adapt(m.abs(), arrival_ms);
        self.signal
    }

    fn adapt(&mut self, m: f64, arrival_ms: f64) {
        if m - self.threshold > FAR {
            return;
        }
        let k = if m < self.threshold { self.rules.k_d } else { self.rules.k_u };
        let moved = arrival_ms.min(LONGEST) * k * (m - self.threshold);
        self.threshold = (self.threshold + moved).clamp(LEAST, MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The draft's own: nothing is multiplied.
    fn detector() -> Detector {
        Detector::new(RULES)
    }

    const RULES: Rules =
        Rules { del_var_th: 12.5, overuse_ms: 10.0, k_u: 0.01, k_d: 0.00018, gain: 1 };

    /// 5.4 by hand: 13 ms is above 12.5, but has to last 10 ms, and must not fall.
    #[test]
    fn overuse_lasts_and_does_not_fall() {
        let mut one = detector();
        assert_eq!(one.compare(13.0, 9.0), Signal::Normal);
        assert_eq!(one.compare(13.5, 9.0), Signal::Normal);
        assert_eq!(one.compare(14.0, 9.0), Signal::Overuse);
        assert_eq!(one.compare(13.9, 9.0), Signal::Normal);
        assert_eq!(one.compare(0.0, 9.0), Signal::Normal);
        assert_eq!(one.compare(-13.5, 9.0), Signal::Underuse);
    }

    /// 5.4 by hand: from 12.5, 20 ms later, m = 14.5 moves the threshold by 20 * 0.01 * 2 = 0.4 up;
    /// then m = 2.9 by 20 * 0.00018 * 10 = 0.036 down. m = 28 is more than 15 above it: no change.
    #[test]
    fn the_threshold_follows_slowly_down_and_fast_up() {
        let mut one = detector();
        one.compare(14.5, 20.0);
        assert!((one.threshold - 12.9).abs() < 1e-9, "{}", one.threshold);
        one.compare(2.9, 20.0);
        assert!((one.threshold - 12.864).abs() < 1e-9, "{}", one.threshold);
        one.compare(28.0, 20.0);
        assert!((one.threshold - 12.864).abs() < 1e-9, "{}", one.threshold);
    }

    /// 5.4: the threshold is at least 6 ms.
    #[test]
    fn the_threshold_is_bounded() {
        let mut one = detector();
        for _ in 0..100_000 {
            one.compare(0.0, 20.0);
        }
        assert!((one.threshold - 6.0).abs() < 1e-9, "{}", one.threshold);
    }

    /// With a gain of 60, the 60th group of 0.3 ms counts as 18 ms; the first as 0.3.
    #[test]
    fn the_gain_grows_with_the_groups() {
        let mut one = Detector::new(Rules { gain: 60, ..RULES });
        let found: Vec<Signal> = (0..60).map(|_| one.compare(0.3, 20.0)).collect();
        assert_eq!((found[0], found[59]), (Signal::Normal, Signal::Overuse));
    }
}
