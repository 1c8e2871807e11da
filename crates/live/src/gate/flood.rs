//! When refusing does harm: sessions that are admitted and never end.
//!
//! Openers with invented sources take the places of sessions that would end.
//! Where admitted ones exceed ended ones by far, for several epochs on end, the
//! gate refuses nobody and raises an alarm, until the two are near each other
//! again for as long: a gate must not be what a flood needs to lock everyone out.
//!
//! Limit: a load of long sessions that all begin at once looks the same for its
//! first epochs; there, refusing stops too early rather than too late.

/// What is far, and how long is long.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Limits {
    /// Admitted over ended sessions.
    pub factor: f64,
    /// Epochs on end; zero: never.
    pub epochs: u32,
}

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
}

impl Flood {
    /// Nothing seen yet.
    pub fn new(limits: Limits) -> Flood {
        Flood { limits, contrary: 0, alarm: false }
    }

    /// An epoch has ended; `refusing`: not everything passed in it. Whether there is an alarm now.
    pub fn epoch(&mut self, admitted: u64, ended: u64, refusing: bool) -> bool {
        if self.limits.epochs == 0 {
            self.alarm = false;
            return false;
        }
        let far = admitted >= FEWEST && admitted as f64 > self.limits.factor * ended as f64;
        let against = if self.alarm { !far } else { far && refusing };
        self.contrary = if against { self.contrary + 1 } else { 0 };
        if self.contrary >= self.limits.epochs {
            self.alarm = !self.alarm;
            self.contrary = 0;
        }
        self.alarm
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

    // Where everything passes nothing is locked out; few admissions say nothing.
    #[test]
    fn no_alarm_while_nothing_is_refused_or_little_comes() {
        let mut flood = Flood::new(LIMITS);
        for _ in 0..20 {
            assert!(!flood.epoch(100, 0, false));
            assert!(!flood.epoch(7, 0, true));
        }
    }
}
