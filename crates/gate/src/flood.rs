//! The alarm: admitted sessions that never end.
//!
//! In a SYN flood with spoofed sources, refusals would lock honest users out. If
//! admitted sessions exceed ended ones by `factor` for `epochs` epochs in a row,
//! the gate raises an alarm and refuses nothing. The alarm ends after as many
//! epochs in a row below the limit.
//!
//! In an overload, too, more sessions are admitted than end, as long as nothing is
//! refused. So the limit is `OPEN` times higher until refusals begin. Above that
//! limit they do not begin.
//!
//! Limits: many long sessions that begin at once look like a flood in their first
//! epochs, and so does a load of sixteen times the link's capacity: the gate then
//! refuses nothing.

use tidegate_core::settings;

settings! {
    /// The limits of the alarm.
    #[derive(Copy)]
    pub struct Limits:
    factor: f64 = 4 [1 to 1000000] "Epochs count in which admitted sessions exceed ended ones by this factor";
    epochs: u32 = 5 "After so many of them in a row the alarm is raised, and nothing is refused; 0: never";
}

/// Factor on the limit while nothing is refused.
const OPEN: f64 = 4.0;
/// An epoch with fewer admissions is below the limit.
const FEWEST: u64 = 8;

/// Watches admissions and ends.
#[derive(Clone, Debug)]
pub struct Flood {
    /// In force.
    pub limits: Limits,
    /// Epochs in a row that contradict the present state.
    contrary: u32,
    alarm: bool,
    /// Whether the last epoch was above the limit.
    far: bool,
}

impl Flood {
    /// No epoch so far.
    pub fn new(limits: Limits) -> Flood {
        Flood { limits, contrary: 0, alarm: false, far: false }
    }

    /// An epoch has ended; `refusing`: packets could be refused in it. Whether there is an alarm now.
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

    /// Whether the last epoch was above the limit.
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
