//! What an acknowledgement tells, and the rounds that it ends.

use super::super::RateSample;
use super::Bbr3;
use super::state::Rs;

impl Bbr3 {
    /// C.is_cwnd_limited.
    pub(super) fn is_cwnd_limited(&self) -> bool {
        self.cwnd_used[0] || self.cwnd_used[1]
    }

    /// Takes over what an acknowledgement tells; false: it has no sample.
    pub(super) fn take_note(&mut self, sample: &RateSample<'_>) -> bool {
        let Some(rate) = &sample.rate else { return false };
        let interval = rate.interval.secs();
        let measured = if interval > 0.0 { f64::from(rate.delivered) / interval } else { 0.0 };
        self.rs = Rs {
            now: sample.now,
            rtt: sample.rtt,
            newly_acked: f64::from(sample.delivered),
            delivered: f64::from(rate.delivered),
            delivery_rate: measured,
            is_app_limited: rate.limited,
            prior_delivered: rate.before,
            tx_in_flight: f64::from(rate.sent_with.0),
            lost: f64::from(rate.sent_with.1),
        };
        self.delivered = rate.total;
        self.inflight = f64::from(rate.flight.1);
        self.cwnd_used[0] |= f64::from(rate.flight.0) >= self.cwnd.floor();
        true
    }

    /// UpdateRound (Tracking Packet-Timed Round Trips).
    pub(super) fn update_round(&mut self) {
        self.round_start = self.rs.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.start_round();
            self.round_count += 1;
            self.rounds_since_probe_up += 1;
            self.cwnd_used = [false, self.cwnd_used[0]];
        }
    }

    pub(super) fn start_round(&mut self) {
        self.next_round_delivered = self.delivered;
    }
}
