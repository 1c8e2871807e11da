//! The minimum round trip of the last ten seconds, and the pauses in which it is measured (draft,
//! 4.1.2 and 4.3.5).

use tidegate_core::units::Time;

/// How long a minimum stays valid.
pub(super) const WINDOW: Time = Time::from_secs(10);
/// Shortest pause, from the time that little is in flight.
pub(super) const DURATION: Time = Time::from_ms(200);

/// The estimate, and the state of the pause.
#[derive(Clone, Copy, Debug)]
pub(super) struct MinRtt {
    least: Option<Time>,
    seen: Time,
    /// When the pause may end; none: too much is still in flight.
    until: Option<Time>,
    /// Whether a round has passed in the pause.
    round: bool,
}

impl Default for MinRtt {
    fn default() -> MinRtt {
        MinRtt { least: None, seen: Time::ZERO, until: None, round: false }
    }
}

impl MinRtt {
    /// The estimate.
    pub(super) fn get(&self) -> Option<Time> {
        self.least
    }

    /// Adds a round trip ([`Time::ZERO`]: none); returns whether the estimate had expired.
    pub(super) fn update(&mut self, rtt: Time, now: Time) -> bool {
        let expired = self.least.is_some() && now > self.seen + WINDOW;
        // as little again does not count (Linux since 5.10; by the draft it does)
        let better = self.least.is_none_or(|least| rtt < least);
        if rtt > Time::ZERO && (better || expired) {
            self.least = Some(rtt);
            self.seen = now;
        }
        expired
    }

    /// Starts a pause.
    pub(super) fn probe(&mut self) {
        self.until = None;
        self.round = false;
    }

    /// Whether the pause is still waiting for the flight to shrink.
    pub(super) fn is_waiting(&self) -> bool {
        self.until.is_none()
    }

    /// Data is sent after an idle time in the pause; returns whether the pause is over, which does not
    /// wait for a round then (Linux: `bbr_check_probe_rtt_done`).
    pub(super) fn pause_has_ended(&mut self, now: Time) -> bool {
        let over = self.until.is_some_and(|until| now > until);
        if over {
            self.seen = now;
        }
        over
    }

    /// An acknowledgement in the pause; returns whether the pause is over. `low`: little is in
    /// flight; `round`: a round begins.
    pub(super) fn probe_is_over(&mut self, now: Time, low: bool, round: bool) -> bool {
        let Some(until) = self.until else {
            if low {
                self.until = Some(now + DURATION);
            }
            return false;
        };
        self.round |= round;
        if self.round && now > until {
            self.seen = now;
            return true;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The estimate holds for ten seconds; a pause lasts 200 ms from when little is in
    /// flight, and a round.
    #[test]
    fn ten_seconds_and_a_fifth_of_one() {
        let ms = Time::from_ms;
        let mut min = MinRtt::default();
        assert!(!min.update(ms(50), ms(0)));
        assert!(!min.update(ms(60), ms(10_000)));
        assert_eq!(min.get(), Some(ms(50)));
        assert!(min.update(ms(60), ms(10_001)));
        assert_eq!(min.get(), Some(ms(60)));
        min.probe();
        assert!(!min.probe_is_over(ms(10_100), false, true));
        assert!(!min.probe_is_over(ms(10_200), true, false), "200 ms from here");
        assert!(!min.probe_is_over(ms(10_401), true, false), "no round yet");
        assert!(min.probe_is_over(ms(10_402), true, true));
    }
}
