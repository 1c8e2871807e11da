//! The windowed maxima of the model.

use tidegate_core::units::Time;

/// Rounds for which an excess is remembered once the pipe was full (ExtraAckedFilterLen).
pub(super) const ROUNDS: u64 = 10;

/// The highest delivery rate of this cycle of ProbeBW and of the one before (max_bw_filter).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxBw {
    before: f64,
    now: f64,
}

impl MaxBw {
    /// Adds a sample; returns the maximum.
    pub(super) fn update(&mut self, rate: f64) -> f64 {
        self.now = self.now.max(rate);
        self.before.max(self.now)
    }

    /// The next cycle begins. A cycle without a sample does not count.
    pub(super) fn advance(&mut self) {
        if self.now > 0.0 {
            *self = MaxBw { before: self.now, now: 0.0 };
        }
    }
}

/// How much more is acknowledged at once than the bandwidth explains (extra_acked).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    /// extra_acked_interval_start, extra_acked_delivered.
    start: Time,
    delivered: f64,
    /// The greatest excess of each of the last rounds.
    greatest: [f64; ROUNDS as usize],
    round: u64,
}

impl Aggregation {
    /// Data is sent after an idle time: the count begins anew. The draft's HandleRestartFromIdle
    /// leaves what was delivered before, so that it would count as a burst; Linux does not
    /// (`bbr_cwnd_event`: `ack_epoch_acked`).
    pub(super) fn restart(&mut self, now: Time) {
        (self.start, self.delivered) = (now, 0.0);
    }

    /// Adds what an acknowledgement tells (UpdateACKAggregation); returns the greatest excess of
    /// the last `rounds` rounds.
    pub(super) fn update(
        &mut self,
        now: Time,
        newly_acked: f64,
        (bw, cwnd): (f64, f64),
        (round, rounds): (u64, u64),
    ) -> f64 {
        let mut expected = bw * now.saturating_sub(self.start).secs();
        if self.delivered <= expected {
            (self.delivered, self.start, expected) = (0.0, now, 0.0);
        }
        self.delivered += newly_acked;
        let extra = (self.delivered - expected).min(cwnd);
        for passed in (self.round + 1..=round).rev().take(ROUNDS as usize) {
            self.greatest[(passed % ROUNDS) as usize] = 0.0;
        }
        self.round = round;
        let place = &mut self.greatest[(round % ROUNDS) as usize];
        *place = place.max(extra);
        let last = (0..rounds.min(round + 1)).map(|age| (round - age) % ROUNDS);
        last.fold(0.0, |most, place| most.max(self.greatest[place as usize]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two cycles, by hand: 100 counts in its cycle and the next one. A cycle without a sample
    /// changes nothing.
    #[test]
    fn the_bandwidth_of_two_cycles() {
        let mut filter = MaxBw::default();
        assert_eq!(filter.update(100.0), 100.0);
        filter.advance();
        filter.advance();
        assert_eq!(filter.update(60.0), 100.0);
        filter.advance();
        assert_eq!(filter.update(50.0), 60.0);
    }

    /// By hand, at 1000 segments/s: 30 acknowledged at one instant are 30 too many; 5 ms later 5
    /// were expected, so 10 more make 35. The excess is remembered for ten rounds, or for one.
    #[test]
    fn the_excess_of_ten_rounds() {
        let ms = Time::from_ms;
        let mut aggregation = Aggregation::default();
        let path = (1000.0, 500.0);
        assert_eq!(aggregation.update(ms(100), 30.0, path, (1, 10)), 30.0);
        assert_eq!(aggregation.update(ms(105), 10.0, path, (1, 10)), 35.0);
        assert_eq!(aggregation.update(ms(600), 2.0, path, (2, 10)), 35.0);
        assert_eq!(aggregation.update(ms(700), 2.0, path, (2, 1)), 2.0);
        assert_eq!(aggregation.update(ms(800), 2.0, path, (10, 10)), 35.0);
        assert_eq!(aggregation.update(ms(900), 2.0, path, (11, 10)), 2.0);
        // never more than a window
        assert_eq!(aggregation.update(ms(2000), 900.0, path, (12, 10)), 500.0);
    }
}
