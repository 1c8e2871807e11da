//! When refusing does harm: sessions that are admitted and never end.
//!
//! Openers with invented sources take the places of sessions that would end.
//! Where admitted ones exceed ended ones by far, for several epochs on end, the
//! gate refuses nobody and raises an alarm, until the two are near each other
//! again for as long: a gate must not be what a flood needs to lock everyone out.
//!
//! While nobody is refused, an overload too has more sessions admitted than ended,
//! by as much as it exceeds the link. So only `OPEN` times as many speak of a flood
//! then; and while they do, refusing does not begin.
//!
//! Limits: a load of long sessions that all begin at once looks the same for its
//! first epochs; there, refusing stops too early rather than too late. So does a
//! crowd of sixteen times what the link carries: it is left alone.

/// What is far, and how long is long.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Limits {
    /// Admitted over ended sessions.
    pub factor: f64,
    /// Epochs on end; zero: never.
    pub epochs: u32,
}

/// How much further admissions must exceed ends while nobody is refused.
const OPEN: f64 = 4.0;
/// Fewest admissions of an epoch that say anything.
const FEWEST: u64 = 8;

/// Watches admissions and ends.
#[derive(Clone, Debug)]
pub struct Flood {
    /// In force.
    pub limits: Limits,
    /// Epochs on end that speak against the present state.
    contrary: u32,
    alarm: bool,
    /// Whether the last epoch looked like one.
    far: bool,
}

impl Flood {
    /// Nothing seen yet.
    pub fn new(limits: Limits) -> Flood {
        Flood { limits, contrary: 0, alarm: false, far: false }
    }

    /// An epoch has ended; `refusing`: not everything passed in it. Whether there is an alarm now.
    pub fn epoch(&mut self, admitted: u64, ended: u64, refusing: bool) -> bool {
        if self.limits.epochs == 0 {
            (self.alarm, self.far) = (false, false);
            return false;
        }
        let open = if refusing || self.alarm { 1.0 } else { OPEN };
        self.far = admitted >= FEWEST && admitted as f64 > open * self.limits.factor * ended as f64;
        let against = self.far != self.alarm;
        self.contrary = if against { self.contrary + 1 } else { 0 };
        if self.contrary >= self.limits.epochs {
            self.alarm = !self.alarm;
            self.contrary = 0;
        }
        self.alarm
    }

    /// Whether there may be a flood: the last epoch looked like one.
    pub fn suspected(&self) -> bool {
        self.far
    }

    /// Whether there is an alarm.
    pub fn alarm(&self) -> bool {
        self.alarm
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { factor: 4.0, epochs: 3 };

    // The rule: more than four admitted to one that ends, three epochs on end.
    #[test]
    fn several_epochs_raise_the_alarm_and_as_many_end_it() {
        let mut flood = Flood::new(LIMITS);
        assert!(!flood.epoch(100, 24, true));
        assert!(!flood.epoch(100, 24, true));
        assert!(flood.epoch(100, 24, true));
        assert!(flood.epoch(100, 25, false), "four times is not far, but once is not long");
        assert!(flood.epoch(100, 0, false));
        assert!(flood.epoch(100, 90, false));
        assert!(flood.epoch(100, 90, false));
        assert!(!flood.epoch(100, 90, false));
    }

    #[test]
    fn one_good_epoch_begins_the_count_anew() {
        let mut flood = Flood::new(LIMITS);
        for _ in 0..5 {
            assert!(!flood.epoch(100, 1, true));
            assert!(!flood.epoch(100, 1, true));
            assert!(!flood.epoch(100, 50, true));
        }
    }

    // Where everything passes, sixteen to one is far, and not four; few admissions say nothing.
    #[test]
    fn an_overload_that_passes_is_no_flood() {
        let mut flood = Flood::new(LIMITS);
        for _ in 0..20 {
            assert!(!flood.epoch(160, 10, false));
            assert!(!flood.suspected());
            assert!(!flood.epoch(7, 0, true));
        }
        assert!(!flood.epoch(161, 10, false));
        assert!(flood.suspected(), "at once");
        flood.epoch(161, 10, false);
        assert!(flood.epoch(161, 10, false), "and after three epochs an alarm");
    }
}
