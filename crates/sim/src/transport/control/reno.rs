//! Reno's window: slow start, congestion avoidance, halving (RFC 5681).
//!
//! | symbol   | meaning                    | unit     |
//! |----------|----------------------------|----------|
//! | cwnd     | congestion window          | segments |
//! | ssthresh | slow-start threshold       | segments |
//!
//! NewReno and SACK recovery use the same window; they differ in what the
//! sender repairs and in when recovery ends.

use tidegate_model::profile::{LossRule, LostSyn, Recovery, Tcp};

use super::{Acked, Control};

/// Window of a Reno, NewReno or SACK sender.
#[derive(Clone, Copy, Debug)]
pub struct Reno {
    cwnd: f64,
    ssthresh: f64,
    /// Largest useful window.
    cap: f64,
    /// Whether duplicate acknowledgements inflate the window (no SACK).
    inflates: bool,
    rule: LossRule,
}

impl Reno {
    /// A new connection under a class's settings.
    pub fn new(tcp: &Tcp) -> Reno {
        Reno {
            cwnd: f64::from(tcp.initial_window),
            ssthresh: f64::from(tcp.initial_ssthresh),
            cap: f64::from(tcp.window),
            inflates: tcp.recovery != Recovery::Sack,
            rule: tcp.loss_rule,
        }
    }

    /// Starts with a window that the path has granted; it needs no slow start.
    pub(super) fn start_with(&mut self, window: f64) {
        self.cwnd = window.min(self.cap);
        self.ssthresh = self.cwnd;
    }

    fn halve(&mut self, flight: u32) {
        let half = match self.rule {
            // RFC 5681, eq. 4
            LossRule::Rfc => f64::from(flight) / 2.0,
            LossRule::FullTcp => (self.cwnd / 2.0).floor(),
            LossRule::OneWay => self.cwnd / 2.0,
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
    fn on_ack(&mut self, ack: &Acked<'_>) {
        // RFC 3168, 6.1.2: not on an echo of a mark
        if !ack.marked {
            self.open();
        }
    }

    fn on_loss(&mut self, flight: u32) {
        self.halve(flight);
        self.on_loss_after_mark(flight);
    }

    fn on_loss_after_mark(&mut self, _flight: u32) {
        // RFC 5681, 3.2 step 3; with SACK (RFC 6675) the pipe counts instead
        self.cwnd = if self.inflates { self.ssthresh + 3.0 } else { self.ssthresh };
    }

    fn on_mark(&mut self, flight: u32) {
        self.halve(flight);
        self.cwnd = self.ssthresh;
    }

    fn on_duplicate(&mut self) {
        if self.inflates {
            self.cwnd += 1.0;
        }
    }

    fn on_partial(&mut self, segments: u32) {
        // RFC 6582, 3.2 step 3: deflate by what was acknowledged, add one back
        if self.inflates {
            self.cwnd = (self.cwnd - f64::from(segments) + 1.0).max(1.0);
        }
    }

    fn on_recovered(&mut self, _flight: u32) {
        match self.rule {
            LossRule::Rfc => self.cwnd = self.ssthresh,
            LossRule::FullTcp | LossRule::OneWay => {
                self.cwnd = self.cwnd.min(self.ssthresh);
                self.open();
            }
        }
    }

    fn on_timeout(&mut self, flight: u32, again: bool) {
        // RFC 5681, 3.1: held constant when the same segment is lost again
        if !again || self.rule != LossRule::Rfc {
            self.halve(flight);
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
