//! Reno's window: slow start, congestion avoidance, halving (RFC 5681).
//!
//! | symbol   | meaning                    | unit     |
//! |----------|----------------------------|----------|
//! | cwnd     | congestion window          | segments |
//! | ssthresh | slow-start threshold       | segments |
//!
//! NewReno and SACK recovery use the same window. They differ in what the sender retransmits and in
//! when recovery ends.

use tidegate_model::profile::{LossRule, Recovery, Tcp};

use super::{CongestionEvent, Control, Payloads, RateSample, Signal};

/// Window of a Reno, NewReno or SACK sender.
#[derive(Clone, Copy, Debug)]
pub struct Reno {
    cwnd: f64,
    ssthresh: f64,
    /// Largest useful window.
    cap: u32,
    rule: LossRule,
    sack: bool,
    /// Limit on the segments by which one ACK grows the window in slow start; zero: every segment
    /// counts as one in both phases.
    most: u32,
    /// Segments acknowledged since congestion avoidance last grew the window.
    credit: u32,
}

impl Reno {
    /// A new connection under a class's settings.
    pub fn new(tcp: &Tcp) -> Reno {
        Reno {
            cwnd: f64::from(tcp.initial_window),
            ssthresh: f64::from(tcp.initial_ssthresh),
            cap: tcp.window,
            rule: tcp.loss_rule,
            sack: tcp.recovery == Recovery::Sack,
            most: tcp.byte_counting,
            credit: 0,
        }
    }

    /// Starts with a window granted by the path, which needs no slow start.
    pub(super) fn start_with(&mut self, window: f64) {
        self.cwnd = window.min(f64::from(self.cap));
        self.ssthresh = self.cwnd;
    }

    /// Another control has cut the window.
    pub(super) fn cut_to(&mut self, window: f64) {
        self.ssthresh = window.max(2.0);
        self.cwnd = self.ssthresh;
        self.credit = 0;
    }

    fn halve(&mut self, at: &CongestionEvent) {
        let half = match self.rule {
            // RFC 5681, eq. 4, limited to the window with SACK: segments received after a hole
            // count as outstanding too, and every loss must lower the window (4.3)
            LossRule::Rfc if self.sack => f64::from(at.flight).min(self.cwnd) / 2.0,
            LossRule::Rfc => f64::from(at.flight) / 2.0,
            // `tcp_reno_ssthresh`
            LossRule::Linux => (self.cwnd.floor() / 2.0).floor(),
            LossRule::FullTcp | LossRule::FullTcp2006 => (at.window / 2.0).floor(),
            LossRule::OneWay => at.window / 2.0,
        };
        self.ssthresh = half.max(2.0);
    }

    /// An ACK grows the window.
    #[inline]
    fn open(&mut self, segments: u32) {
        if self.most == 0 {
            // RFC 5681, 3.1, eqs. 2 and 3, for every ACK
            self.cwnd += if self.cwnd < self.ssthresh { 1.0 } else { 1.0 / self.cwnd };
        } else if self.cwnd < self.ssthresh {
            // RFC 5681, eq. 2; RFC 3465, 2.2
            let room = (self.ssthresh - self.cwnd).max(1.0);
            self.cwnd += f64::from(segments.min(self.most)).min(room);
        } else {
            // RFC 5681, 3.1; RFC 3465, 2.1: one more segment per acknowledged window
            self.credit += segments;
            if f64::from(self.credit) >= self.cwnd {
                self.credit -= self.cwnd as u32;
                self.cwnd += 1.0;
            }
        }
        self.cwnd = self.cwnd.min(f64::from(self.cap));
    }
}

impl Control for Reno {
    #[inline]
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    #[inline]
    fn on_ack(&mut self, sample: &RateSample<'_>) {
        let segments = sample.opens();
        if segments > 0 {
            self.open(segments);
        }
    }

    fn on_part(&mut self, sample: &RateSample<'_>) {
        if self.most == 0 {
            self.on_ack(&RateSample { segments: 1, delivered: 1, ..*sample });
        }
    }

    fn on_congestion(&mut self, signal: Signal, at: &CongestionEvent) {
        if signal != Signal::LossAfterMark {
            self.halve(at);
        }
        self.credit = 0;
        let exact = self.rule == LossRule::FullTcp2006 && signal == Signal::Mark;
        // the threshold of FullTcp is a whole number, and its window is not
        self.cwnd = if exact { (at.window / 2.0).max(1.0) } else { self.ssthresh };
    }

    fn on_recovered(&mut self, window: f64) {
        match self.rule {
            LossRule::Rfc | LossRule::Linux => self.cwnd = self.ssthresh,
            LossRule::FullTcp | LossRule::FullTcp2006 | LossRule::OneWay => {
                self.cwnd = window.min(self.ssthresh);
                self.open(1);
            }
        }
    }

    fn on_timeout(&mut self, at: &CongestionEvent, again: bool) {
        // RFC 5681, 3.1: unchanged when the same segment is lost again
        if !again || self.rule.of_ns2() {
            self.halve(at);
        }
        if self.rule == LossRule::OneWay {
            // in this profile the window may be a fraction, but not the threshold
            self.ssthresh = self.ssthresh.floor();
        }
        self.credit = 0;
        self.cwnd = 1.0;
    }

    fn ssthresh(&self) -> Option<f64> {
        Some(self.ssthresh)
    }

    fn window_and_threshold(&mut self) -> Option<[&mut f64; 2]> {
        Some([&mut self.cwnd, &mut self.ssthresh])
    }
}

impl Payloads for Reno {}

#[cfg(test)]
mod tests {
    use tidegate_model::profile::Profile;

    use super::*;

    /// ns-2's change log, 23 January 2006: from then on the window is halved without rounding. By
    /// hand: 7 and 3 become 3.5 and 1.5 after a mark, and 3 and 2 before. The threshold is a whole
    /// number of at least two segments. A loss rounds in both.
    #[test]
    fn a_mark_halves_the_window_of_full_tcp_exactly_since_2006() {
        let after = |profile: Profile, signal, window| {
            let at = CongestionEvent { flight: 7, window, ..CongestionEvent::default() };
            let mut reno = Reno::new(&profile.tcp());
            reno.on_congestion(signal, &at);
            (reno.cwnd(), reno.ssthresh().expect("it has been cut"))
        };
        assert_eq!(after(Profile::Ns2Of2006, Signal::Mark, 7.0), (3.5, 3.0));
        assert_eq!(after(Profile::Ns2Of2006, Signal::Mark, 3.0), (1.5, 2.0));
        assert_eq!(after(Profile::Ns2Of2006, Signal::Loss, 7.0), (3.0, 3.0));
        assert_eq!(after(Profile::Ns2Of2005, Signal::Mark, 7.0), (3.0, 3.0));
        assert_eq!(after(Profile::Ns2Of2005, Signal::Mark, 3.0), (2.0, 2.0));
    }

    /// RFC 5681, 3.1, eq. 4 and 4.3, by hand: with 25 outstanding under a window of 10 the
    /// threshold is at most 12.5, but the window falls, to 5, and with a loss in the next window
    /// of data once more. With 8 outstanding it is 4.
    #[test]
    fn a_loss_lowers_the_window_whatever_is_outstanding() {
        let at = |flight| CongestionEvent { flight, window: 10.0, ..CongestionEvent::default() };
        let mut reno = Reno::new(&Tcp { recovery: Recovery::Sack, ..Profile::Rfc.tcp() });
        assert_eq!(reno.cwnd(), 10.0);
        let mut other = reno;
        reno.on_congestion(Signal::Loss, &at(25));
        assert_eq!(reno.cwnd(), 5.0);
        reno.on_congestion(Signal::Loss, &at(25));
        assert_eq!(reno.cwnd(), 2.5);
        other.on_congestion(Signal::Loss, &at(8));
        assert_eq!(other.cwnd(), 4.0);
    }
}
