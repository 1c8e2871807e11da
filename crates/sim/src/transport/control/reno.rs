//! Reno's window: slow start, congestion avoidance, halving (RFC 5681).
//!
//! | symbol   | meaning                    | unit     |
//! |----------|----------------------------|----------|
//! | cwnd     | congestion window          | segments |
//! | ssthresh | slow-start threshold       | segments |
//!
//! NewReno and SACK recovery use the same window; they differ in what the
//! sender repairs and in when recovery ends.

use tidegate_model::profile::{LossRule, LostSyn, Tcp};

use super::{Control, RateSample, Setback, Signal};

/// Window of a Reno, NewReno or SACK sender.
#[derive(Clone, Copy, Debug)]
pub struct Reno {
    cwnd: f64,
    ssthresh: f64,
    /// Largest useful window.
    cap: f64,
    rule: LossRule,
}

impl Reno {
    /// A new connection under a class's settings.
    pub fn new(tcp: &Tcp) -> Reno {
        Reno {
            cwnd: f64::from(tcp.initial_window),
            ssthresh: f64::from(tcp.initial_ssthresh),
            cap: f64::from(tcp.window),
            rule: tcp.loss_rule,
        }
    }

    /// Starts with a window that the path has granted; it needs no slow start.
    pub(super) fn start_with(&mut self, window: f64) {
        self.cwnd = window.min(self.cap);
        self.ssthresh = self.cwnd;
    }

    fn halve(&mut self, at: &Setback) {
        let half = match self.rule {
            // RFC 5681, eq. 4
            LossRule::Rfc => f64::from(at.flight) / 2.0,
            LossRule::FullTcp => (at.window / 2.0).floor(),
            LossRule::OneWay => at.window / 2.0,
        };
        self.ssthresh = half.max(2.0);
    }

    /// RFC 5681, 3.1, eqs. 2 and 3.
    #[inline]
    fn open(&mut self) {
        self.cwnd += if self.cwnd < self.ssthresh { 1.0 } else { 1.0 / self.cwnd };
        self.cwnd = self.cwnd.min(self.cap);
    }
}

impl Control for Reno {
    #[inline]
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    #[inline]
    fn on_ack(&mut self, sample: &RateSample<'_>) {
        if sample.opens() > 0 {
            self.open();
        }
    }

    fn on_congestion(&mut self, signal: Signal, at: &Setback) {
        if signal != Signal::LossAfterMark {
            self.halve(at);
        }
        self.cwnd = self.ssthresh;
    }

    fn on_recovered(&mut self, window: f64) {
        match self.rule {
            LossRule::Rfc => self.cwnd = self.ssthresh,
            LossRule::FullTcp | LossRule::OneWay => {
                self.cwnd = window.min(self.ssthresh);
                self.open();
            }
        }
    }

    fn on_timeout(&mut self, at: &Setback, again: bool) {
        // RFC 5681, 3.1: held constant when the same segment is lost again
        if !again || self.rule != LossRule::Rfc {
            self.halve(at);
        }
        if self.rule == LossRule::OneWay {
            // there the window may be a fraction, but not the threshold
            self.ssthresh = self.ssthresh.floor();
        }
        self.cwnd = 1.0;
    }

    fn on_lost_syn(&mut self, rule: LostSyn) {
        match rule {
            LostSyn::Nothing => {}
            LostSyn::CutSsthresh => self.ssthresh = 2.0,
            LostSyn::Rfc => self.cwnd = 1.0,
        }
    }
}
