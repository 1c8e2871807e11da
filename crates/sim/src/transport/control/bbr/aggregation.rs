//! Aggregated acknowledgements: how many more arrive at once than expected. The window grows by as
//! many segments (Linux's `bbr_update_ack_aggregation`).

use tidegate_core::units::Time;

use super::super::RateSample;

/// Rounds in half of the filter's window.
const ROUNDS: u32 = 5;
/// Upper bound: what the bandwidth delivers in this time.
const MOST: Time = Time::from_ms(100);

/// The maximum excess of the last rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    greatest: [f64; 2],
    rounds: u32,
    since: Time,
    acked: f64,
}

impl Aggregation {
    /// The excess, bounded by this bandwidth.
    pub(super) fn get(&self, bandwidth: f64) -> f64 {
        self.greatest[0].max(self.greatest[1]).min(bandwidth * MOST.secs())
    }

    /// Data is sent after an idle time: the count begins anew (Linux: `ack_epoch_acked`).
    pub(super) fn restart(&mut self, now: Time) {
        (self.since, self.acked) = (now, 0.0);
    }

    /// Updates the excess with an acknowledgement.
    pub(super) fn update(
        &mut self,
        sample: &RateSample<'_>,
        round: bool,
        bandwidth: f64,
        cwnd: f64,
    ) {
        if round {
            self.rounds += 1;
            if self.rounds >= ROUNDS {
                self.rounds = 0;
                self.greatest = [0.0, self.greatest[0]];
            }
        }
        let mut expected = bandwidth * sample.now.saturating_sub(self.since).secs();
        if self.acked <= expected {
            (self.acked, self.since, expected) = (0.0, sample.now, 0.0);
        }
        self.acked += f64::from(sample.delivered);
        let surplus = (self.acked - expected).min(cwnd);
        self.greatest[0] = self.greatest[0].max(surplus);
    }
}
