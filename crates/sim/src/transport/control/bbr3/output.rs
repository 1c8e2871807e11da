//! What the model comes to: the pacing rate and the window (Updating Control Parameters).

use tidegate_core::units::Time;

use super::state::{STARTUP_GAIN, State};
use super::{Bbr3, MARGIN, MIN_PIPE};

/// The round trip that is assumed before one is measured.
const NOMINAL_RTT: Time = Time::from_ms(1);

impl Bbr3 {
    /// InitPacingRate; `srtt` ([`Time::ZERO`]): no round trip is measured yet.
    pub(super) fn init_pacing_rate(&mut self, srtt: Time) {
        self.has_srtt = srtt > Time::ZERO;
        let rtt = if self.has_srtt { srtt } else { NOMINAL_RTT };
        self.pace_at(STARTUP_GAIN * self.initial_cwnd / rtt.secs());
    }

    fn pace_at(&mut self, rate: f64) {
        self.pacing_rate = rate;
        self.gap = Some(Time::from_secs_f64(1.0 / rate));
    }

    /// BoundBWForModel.
    pub(super) fn bound_bw_for_model(&mut self) {
        self.bw = self.max_bw.min(self.bw_shortterm);
    }

    /// SetPacingRateWithGain: until the pipe was full, the rate is never lowered.
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw * (1.0 - MARGIN);
        if rate > 0.0 && (self.full_bw_reached || rate > self.pacing_rate) {
            self.pace_at(rate);
        }
    }

    /// The product of bandwidth and least round trip, `BBR.bdp`; the initial window before a round
    /// trip is measured.
    pub fn bdp(&self) -> f64 {
        self.bdp_multiple(self.bw, 1.0)
    }

    fn bdp_multiple(&self, bw: f64, gain: f64) -> f64 {
        if self.min_rtt == Time::NEVER {
            return self.initial_cwnd;
        }
        gain * bw * self.min_rtt.secs()
    }

    /// Inflight: the volume in flight that a gain comes to at this bandwidth.
    pub(super) fn inflight_for(&self, bw: f64, gain: f64) -> f64 {
        self.quantised(self.bdp_multiple(bw, gain))
    }

    /// QuantizationBudget, where segments leave one by one.
    fn quantised(&self, inflight: f64) -> f64 {
        let least = inflight.max(MIN_PIPE);
        if self.state == State::Up { least + 2.0 } else { least }
    }

    /// TargetInflight.
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp().min(self.cwnd)
    }

    /// `BBR.max_inflight` (UpdateMaxInflight).
    fn max_inflight(&self) -> f64 {
        let gain = self.state.gains().1;
        self.quantised(self.bdp_multiple(self.bw, gain) + self.extra_acked)
    }

    /// ProbeRTTCwnd.
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp_multiple(self.bw, State::ProbeRtt.gains().1).max(MIN_PIPE)
    }

    /// SetCwnd.
    pub(super) fn set_cwnd(&mut self) {
        let most = self.max_inflight();
        let grown = self.cwnd + self.rs.newly_acked;
        if self.full_bw_reached {
            self.cwnd = grown.min(most);
        } else if self.cwnd < most || (self.delivered as f64) < self.initial_cwnd {
            self.cwnd = grown;
        }
        self.cwnd = self.cwnd.max(MIN_PIPE);
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd_for_model();
        self.cwnd = self.cwnd.min(self.cap);
    }

    /// BoundCwndForModel.
    fn bound_cwnd_for_model(&mut self) {
        let long = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_longterm,
            State::ProbeRtt | State::Cruise => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        self.cwnd = self.cwnd.min(long.min(self.inflight_shortterm).max(MIN_PIPE));
    }
}
