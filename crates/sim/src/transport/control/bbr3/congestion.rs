//! What losses do to the model (Updating the Model Upon Packet Loss), and how that is undone.

use tidegate_core::units::Time;

use super::super::{CongestionEvent, Lost};
use super::state::{Recovery, State, Undo};
use super::{BETA, Bbr3, LOSS_THRESH};

impl Bbr3 {
    /// UpdateLatestDeliverySignals.
    pub(super) fn update_latest_delivery_signals(&mut self) {
        self.bw_latest = self.bw_latest.max(self.rs.delivery_rate);
        self.inflight_latest = self.inflight_latest.max(self.rs.delivered);
        self.loss_round_start = self.rs.prior_delivered >= self.loss_round_delivered;
        if self.loss_round_start {
            self.loss_round_delivered = self.delivered;
        }
    }

    /// AdvanceLatestDeliverySignals.
    pub(super) fn advance_latest_delivery_signals(&mut self) {
        if self.loss_round_start {
            self.bw_latest = self.rs.delivery_rate;
            self.inflight_latest = self.rs.delivered;
        }
    }

    pub(super) fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    /// UpdateCongestionSignals, with UpdateMaxBw and AdaptLowerBoundsFromCongestion.
    pub(super) fn update_congestion_signals(&mut self) {
        self.update_round();
        let rate = self.rs.delivery_rate;
        if rate > 0.0 && (rate >= self.max_bw || !self.rs.is_app_limited) {
            self.max_bw = self.max_bw_filter.update(rate);
        }
        if !self.loss_round_start {
            return;
        }
        if self.is_loss_in_round && !self.state.is_probing() {
            self.lower_bounds();
        }
        self.is_loss_in_round = false;
    }

    /// InitLowerBounds and LossLowerBounds: once a round.
    fn lower_bounds(&mut self) {
        if self.bw_shortterm == f64::INFINITY {
            self.bw_shortterm = self.max_bw;
        }
        if self.inflight_shortterm == f64::INFINITY {
            self.inflight_shortterm = self.cwnd;
        }
        self.bw_shortterm = self.bw_latest.max(BETA * self.bw_shortterm);
        self.inflight_shortterm = self.inflight_latest.max(BETA * self.inflight_shortterm);
    }

    pub(super) fn reset_short_term_model(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = f64::INFINITY;
    }

    /// UpdateACKAggregation.
    pub(super) fn update_ack_aggregation(&mut self) {
        let rounds = if self.full_bw_reached { super::filter::ROUNDS } else { 1 };
        self.extra_acked = self.aggregation.update(
            self.rs.now,
            self.rs.newly_acked,
            (self.bw, self.cwnd),
            (self.round_count, rounds),
        );
    }

    /// IsInflightTooHigh, of the sample of this acknowledgement.
    pub(super) fn is_inflight_too_high(&self) -> bool {
        self.rs.lost > self.rs.tx_in_flight * LOSS_THRESH
    }

    /// NoteLoss.
    fn note_loss(&mut self, delivered: u64) {
        if !self.is_loss_in_round {
            self.loss_round_delivered = delivered;
        }
        self.is_loss_in_round = true;
    }

    /// HandleLostPacket.
    pub(super) fn handle_lost_packet(&mut self, lost: &Lost, now: Time) {
        self.save_state_upon_loss();
        self.note_loss(lost.total);
        self.lost_ranges.0 += u32::from(lost.seq != self.lost_ranges.1);
        self.lost_ranges.1 = lost.seq + 1;
        let (tx_in_flight, losses) = (f64::from(lost.in_flight), f64::from(lost.lost));
        if self.is_bw_probe_sample && losses > tx_in_flight * LOSS_THRESH {
            let at_loss = inflight_at_loss(tx_in_flight, losses);
            self.handle_inflight_too_high(at_loss, lost.limited, now);
        }
    }

    /// HandleInflightTooHigh.
    fn handle_inflight_too_high(&mut self, tx_in_flight: f64, limited: bool, now: Time) {
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false;
        if !limited {
            self.inflight_longterm = tx_in_flight.max(self.target_inflight() * BETA);
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down(now);
        }
    }

    /// A mark of classic ECN: as a loss that is too high, once a round trip.
    pub(super) fn handle_mark(&mut self, at: &CongestionEvent) {
        self.note_loss(self.delivered);
        if self.state == State::Startup && !self.full_bw_reached {
            self.leave_startup();
        } else if self.is_bw_probe_sample {
            self.handle_inflight_too_high(f64::from(at.flight), self.rs.is_app_limited, at.now);
        }
    }

    /// OnEnterFastRecovery.
    pub(super) fn enter_fast_recovery(&mut self) {
        self.save_state_upon_loss();
        self.recovery = Recovery::Fast;
    }

    /// OnEnterRTO: what is still in flight comes on top of the window ([`Control::on_spared`]).
    pub(super) fn enter_timeout(&mut self, until: u64) {
        self.save_state_upon_loss();
        self.recovery = Recovery::Timeout { until };
        self.cwnd = 1.0;
    }

    /// An acknowledgement up to `una` may end the recovery of a timeout.
    pub(super) fn end_timeout(&mut self, una: u64) {
        if matches!(self.recovery, Recovery::Timeout { until } if una >= until) {
            self.exit_recovery();
        }
    }

    pub(super) fn exit_recovery(&mut self) {
        if self.recovery != Recovery::None {
            self.recovery = Recovery::None;
            self.undo.saved = false;
            self.restore_cwnd();
        }
    }

    /// SaveCwnd.
    pub(super) fn save_cwnd(&mut self) {
        let usual = self.recovery == Recovery::None && self.state != State::ProbeRtt;
        self.prior_cwnd = if usual { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    /// RestoreCwnd.
    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    /// SaveStateUponLoss: once in a recovery, by its first loss, before that changes anything.
    fn save_state_upon_loss(&mut self) {
        if self.undo.saved {
            return;
        }
        self.save_cwnd();
        self.undo = Undo {
            state: None,
            saved: true,
            bw_shortterm: self.bw_shortterm,
            inflight_shortterm: self.inflight_shortterm,
            inflight_longterm: self.inflight_longterm,
        };
    }

    /// HandleSpuriousLossDetection.
    pub(super) fn handle_spurious_loss(&mut self) {
        self.recovery = Recovery::None;
        self.undo.saved = false;
        self.restore_cwnd();
        self.is_loss_in_round = false;
        self.reset_full_bw(0.0);
        self.bw_shortterm = self.bw_shortterm.max(self.undo.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(self.undo.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(self.undo.inflight_longterm);
        let probe_rtt = self.state == State::ProbeRtt;
        match self.undo.state.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if !probe_rtt {
                    self.enter_startup();
                }
            }
            Some(State::Up) if self.state != State::Up && !probe_rtt => self.start_refill(),
            _ => {}
        }
    }
}

/// InflightAtLoss: the volume in flight at which losses crossed the threshold, for a lost segment
/// that was sent with so much in flight, itself included, and so many lost since then.
fn inflight_at_loss(tx_in_flight: f64, lost: f64) -> f64 {
    let (inflight_prev, lost_prev) = (tx_in_flight - 1.0, lost - 1.0);
    let lost_prefix = (LOSS_THRESH * inflight_prev - lost_prev) / (1.0 - LOSS_THRESH);
    inflight_prev + lost_prefix
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: sent as the 101st in flight, with nothing lost before it: 2 % of 100 are 2, and 2 /
    /// 0.98 more would be the threshold. With 3 lost before it: (2 - 3) / 0.98 less than 100.
    #[test]
    fn where_losses_cross_two_percent() {
        assert!((inflight_at_loss(101.0, 1.0) - (100.0 + 2.0 / 0.98)).abs() < 1e-12);
        assert!((inflight_at_loss(101.0, 4.0) - (100.0 - 1.0 / 0.98)).abs() < 1e-12);
    }
}
