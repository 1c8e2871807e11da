//! The least round trip, ProbeRTT, and the restart after an idle time.

use tidegate_core::units::Time;

use super::Bbr3;
use super::state::{AckPhase, State};

/// How long a least round trip counts.
pub(super) const FILTER: Time = Time::from_secs(10);
/// From one ProbeRTT to the next.
pub(super) const INTERVAL: Time = Time::from_secs(5);
/// How long ProbeRTT lasts, from the time that little is in flight.
pub(super) const DURATION: Time = Time::from_ms(200);

impl Bbr3 {
    /// UpdateMinRTT.
    pub(super) fn update_min_rtt(&mut self) {
        let (now, rtt) = (self.rs.now, self.rs.rtt);
        self.probe_rtt_expired = now > self.probe_rtt_min_stamp + INTERVAL;
        if rtt > Time::ZERO && (rtt < self.probe_rtt_min_delay || self.probe_rtt_expired) {
            (self.probe_rtt_min_delay, self.probe_rtt_min_stamp) = (rtt, now);
        }
        let expired = now > self.min_rtt_stamp + FILTER;
        if self.probe_rtt_min_delay < self.min_rtt || expired {
            self.min_rtt = self.probe_rtt_min_delay;
            self.min_rtt_stamp = self.probe_rtt_min_stamp;
        }
    }

    /// CheckProbeRTT.
    pub(super) fn check_probe_rtt(&mut self) {
        if self.state != State::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.state = State::ProbeRtt;
            self.save_cwnd();
            self.probe_rtt_done_stamp = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.start_round();
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt();
        }
        if self.rs.delivered > 0.0 {
            self.idle_restart = false;
        }
    }

    /// HandleProbeRTT; the sender marks what it sends meanwhile as application-limited.
    fn handle_probe_rtt(&mut self) {
        if self.probe_rtt_done_stamp.is_none() {
            if self.inflight <= self.probe_rtt_cwnd() {
                self.probe_rtt_done_stamp = Some(self.rs.now + DURATION);
                self.probe_rtt_round_done = false;
                self.start_round();
            }
            return;
        }
        self.probe_rtt_round_done |= self.round_start;
        if self.probe_rtt_round_done {
            self.check_probe_rtt_done(self.rs.now);
        }
    }

    /// CheckProbeRTTDone.
    fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt_done_stamp.is_some_and(|done| now > done) {
            self.probe_rtt_min_stamp = now;
            self.restore_cwnd();
            self.exit_probe_rtt(now);
        }
    }

    /// ExitProbeRTT.
    fn exit_probe_rtt(&mut self, now: Time) {
        self.reset_short_term_model();
        if self.full_bw_reached {
            self.start_down(now);
            self.start_cruise();
        } else {
            self.enter_startup();
        }
    }

    /// HandleRestartFromIdle: data is sent while none is in flight, of a sender that had too little
    /// to send.
    pub(super) fn restart_from_idle(&mut self, now: Time) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        if self.state.is_probe_bw() {
            self.set_pacing_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(now);
        }
    }
}
