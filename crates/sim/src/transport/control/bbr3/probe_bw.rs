//! ProbeBW: DOWN, CRUISE, REFILL, UP, and from the beginning.

use tidegate_core::units::Time;

use super::state::{AckPhase, State};
use super::{Bbr3, HEADROOM, MIN_PIPE};

/// Rounds after which a flow probes at the latest, so that Reno and CUBIC get their share.
const RENO_ROUNDS: f64 = 63.0;
/// Least time between two probes; up to a second more is drawn.
const WAIT: Time = Time::from_secs(2);

impl Bbr3 {
    pub(super) fn start_down(&mut self, now: Time) {
        self.reset_congestion_signals();
        self.probe_up_acked_per_inc = f64::INFINITY;
        self.pick_probe_wait(now);
        self.cycle_stamp = now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
        self.state = State::Down;
    }

    pub(super) fn start_cruise(&mut self) {
        self.state = State::Cruise;
    }

    pub(super) fn start_refill(&mut self) {
        self.reset_short_term_model();
        self.bw_probe_up_rounds = 0;
        self.bw_probe_up_acked = 0.0;
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.state = State::Refill;
    }

    fn start_up(&mut self) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.start_round();
        self.reset_full_bw(self.rs.delivery_rate);
        self.state = State::Up;
        self.raise_inflight_longterm_slope();
    }

    /// UpdateProbeBWCyclePhase.
    pub(super) fn update_probe_bw_cycle_phase(&mut self) {
        if !self.full_bw_reached || self.adapt_long_term_model() {
            return;
        }
        let state = self.state;
        match state {
            State::Down if self.is_time_to_probe_bw() => self.start_refill(),
            State::Down if self.is_time_to_cruise() => self.start_cruise(),
            State::Cruise if self.is_time_to_probe_bw() => self.start_refill(),
            State::Refill if self.round_start => {
                self.is_bw_probe_sample = true;
                self.start_up();
            }
            State::Up if self.is_time_to_go_down() => {
                self.prev_probe_too_high = false;
                self.start_down(self.rs.now);
            }
            _ => {}
        }
    }

    /// IsTimeToCruise: there is headroom, and no queue.
    fn is_time_to_cruise(&self) -> bool {
        self.inflight <= self.inflight_with_headroom()
            && self.inflight <= self.inflight_for(self.max_bw, 1.0)
    }

    /// IsTimeToGoDown.
    fn is_time_to_go_down(&mut self) -> bool {
        if self.prev_probe_too_high && self.inflight >= self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if self.is_cwnd_limited() && self.cwnd >= self.inflight_longterm {
            self.reset_full_bw(self.rs.delivery_rate);
            return false;
        }
        self.full_bw_now
    }

    /// IsTimeToProbeBW.
    fn is_time_to_probe_bw(&self) -> bool {
        let elapsed = self.rs.now > self.cycle_stamp + self.bw_probe_wait;
        let rounds = self.target_inflight().min(RENO_ROUNDS);
        elapsed || self.rounds_since_probe_up as f64 >= rounds
    }

    /// PickProbeWait: flows that start at different times must not probe together.
    fn pick_probe_wait(&mut self, now: Time) {
        // SplitMix64's mixing (Steele, Lea and Flood 2014)
        let mut mixed = now.ps() ^ (now.ps() >> 30);
        mixed = mixed.wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        self.rounds_since_probe_up = mixed & 1;
        let share = (mixed >> 11) as f64 / (1_u64 << 53) as f64;
        self.bw_probe_wait = WAIT + Time::from_secs_f64(share);
    }

    /// InflightWithHeadroom.
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        let headroom = (HEADROOM * self.inflight_longterm).max(1.0);
        if self.inflight_longterm == f64::INFINITY {
            return f64::INFINITY;
        }
        (self.inflight_longterm - headroom).max(MIN_PIPE)
    }

    /// RaiseInflightLongtermSlope: 1, 2, 4, ... segments more a round.
    fn raise_inflight_longterm_slope(&mut self) {
        let growth = f64::from(1_u32 << self.bw_probe_up_rounds);
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(30);
        self.probe_up_acked_per_inc = (self.cwnd / growth).max(1.0);
    }

    /// ProbeInflightLongtermUpward.
    fn probe_inflight_longterm_upward(&mut self) {
        if !self.is_cwnd_limited() || self.cwnd < self.inflight_longterm {
            return;
        }
        self.bw_probe_up_acked += self.rs.newly_acked;
        if self.bw_probe_up_acked >= self.probe_up_acked_per_inc {
            let delta = (self.bw_probe_up_acked / self.probe_up_acked_per_inc).floor();
            self.bw_probe_up_acked -= delta * self.probe_up_acked_per_inc;
            self.inflight_longterm += delta;
        }
        if self.round_start {
            self.raise_inflight_longterm_slope();
        }
    }

    /// AdaptLongTermModel; returns whether it has changed the state.
    fn adapt_long_term_model(&mut self) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.round_start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.round_start {
            self.is_bw_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            let probe_bw = self.state.is_probe_bw();
            if probe_bw && !self.rs.is_app_limited {
                self.max_bw_filter.advance();
            }
            if probe_bw && self.prev_probe_precautionary && !self.prev_probe_too_high {
                self.start_refill();
                return true;
            }
        }
        if !self.is_inflight_too_high() && self.inflight_longterm < f64::INFINITY {
            self.inflight_longterm = self.inflight_longterm.max(self.rs.tx_in_flight);
            if self.state == State::Up {
                self.probe_inflight_longterm_upward();
            }
        }
        false
    }
}
