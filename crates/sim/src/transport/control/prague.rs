//! Prague: a scalable window for L4S (draft-briscoe-iccrg-prague-congestion-control; Linux's
//! `tcp_prague` of the L4S team, read for behaviour).
//!
//! | symbol         | here           | value | meaning                                             |
//! |----------------|----------------|-------|-----------------------------------------------------|
//! | alpha, g       | `Marks`        | 1 at first, 1/16 | smoothed share of marked packets, as DCTCP's |
//! | RTT target     | `TARGET`       | 25 ms | round trip that shorter ones are made like          |
//! | transition     | `TRANSITION`   | 500   | round trips after slow start until that counts      |
//! | cwnd, ssthresh | `cwnd`, `ssthresh` |   | segments                                            |
//!
//! 1. Its packets are ECT(1), and the receiver counts marks (AccECN, RFC 9768).
//! 2. Once a round trip, from the first mark on: `alpha = (1 - g) alpha + g M`.
//! 3. Marks cut the window once a round trip: `cwnd (1 - alpha / 2)`. The first one
//!    ends slow start. A loss halves the window.
//! 4. Each packet acknowledged without a mark adds `1 / cwnd`, after a cut as before.
//! 5. RTT independence, once it has run for 500 round trips: below 25 ms that is
//!    `(srtt / 25 ms)^2 / cwnd`, and rules 2 and 3 apply once in 25 ms.
//! 6. Packets are paced over the smoothed round trip, in the first half of slow start
//!    twice as fast.
//!
//! Departures: no fallback where the queue is a Classic one that marks (Linux has it off); the window
//! changes at once, where Linux moves it by a segment an acknowledgement.

use tidegate_core::units::Time;
use tidegate_model::profile::Tcp;

use super::dctcp::Marks;
use super::{CongestionEvent, Control, Feedback, RateSample, Signal};

/// Round trip that shorter ones are made like.
const TARGET: Time = Time::from_ms(25);

/// Round trips after slow start until the round trip's length stops to count.
const TRANSITION: u32 = 500;

/// Window of a Prague sender.
#[derive(Clone, Copy, Debug)]
pub struct Prague {
    cwnd: f64,
    ssthresh: f64,
    /// Largest useful window.
    cap: f64,
    marks: Marks,
    srtt: Time,
    /// Round trips since slow start.
    rounds: u32,
    /// When alpha was updated last, and when marks cut the window last.
    updated: Time,
    cut: Time,
}

impl Prague {
    /// A new connection under a class's settings.
    pub fn new(tcp: &Tcp) -> Prague {
        Prague {
            cwnd: f64::from(tcp.initial_window),
            ssthresh: f64::from(tcp.initial_ssthresh),
            cap: f64::from(tcp.window),
            marks: Marks::new(),
            srtt: Time::ZERO,
            rounds: 0,
            updated: Time::ZERO,
            cut: Time::ZERO,
        }
    }

    fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Whether shorter round trips are made like the target.
    fn independent(&self) -> bool {
        self.rounds >= TRANSITION && !self.in_slow_start()
    }

    /// Whether what happens once a round trip may happen again.
    fn again(&self, last: Time, now: Time) -> bool {
        !self.independent() || now.saturating_sub(last) >= TARGET
    }

    /// Segments that a round trip without marks adds.
    fn increase(&self) -> f64 {
        if !self.independent() || self.srtt >= TARGET {
            return 1.0;
        }
        let share = self.srtt.secs() / TARGET.secs();
        share * share
    }

    fn grow(&mut self, segments: u32) {
        let mut left = f64::from(segments);
        if self.in_slow_start() {
            let opened = left.min((self.ssthresh - self.cwnd).max(1.0));
            self.cwnd += opened;
            left -= opened;
        }
        if left > 0.0 {
            self.cwnd += left * self.increase() / self.cwnd;
        }
        self.cwnd = self.cwnd.min(self.cap);
    }

    fn reduce(&mut self, share: f64) {
        self.cwnd = (self.cwnd * (1.0 - share / 2.0)).max(2.0);
        self.ssthresh = self.cwnd;
    }

    /// A round trip is over.
    fn next_round(&mut self, sample: &RateSample<'_>) {
        if self.marks.seen {
            self.marks.next_round(sample.sent);
        } else {
            self.marks.restart_round(sample.sent);
        }
        self.updated = sample.now;
        self.rounds += u32::from(!self.in_slow_start());
    }
}

impl Control for Prague {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn gap(&self) -> Option<Time> {
        if self.srtt == Time::ZERO {
            return None;
        }
        let faster = if self.cwnd < self.ssthresh / 2.0 { 2.0 } else { 1.0 };
        Some(Time::from_secs_f64(self.srtt.secs() / (faster * self.cwnd)))
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.srtt = feedback.srtt;
        self.marks.heard(feedback);
    }

    fn on_ack(&mut self, sample: &RateSample<'_>) {
        let marked = self.marks.count(sample);
        if !sample.recovering {
            let due = marked > 0 && self.again(self.cut, sample.now);
            if due && self.marks.may_cut(sample.una, sample.sent) {
                self.cut = sample.now;
                self.reduce(self.marks.alpha);
            }
            if !sample.unused {
                self.grow(sample.segments.saturating_sub(marked));
            }
        }
        if self.marks.round_over(sample.una) && self.again(self.updated, sample.now) {
            self.next_round(sample);
        }
    }

    fn on_congestion(&mut self, signal: Signal, _: &CongestionEvent) {
        if signal == Signal::Loss {
            self.reduce(1.0);
        }
    }

    fn on_recovered(&mut self, _: f64) {
        self.cwnd = self.ssthresh;
    }

    fn on_timeout(&mut self, _: &CongestionEvent, again: bool) {
        if !again {
            self.reduce(1.0);
        }
        self.cwnd = 1.0;
    }

    fn ssthresh(&self) -> Option<f64> {
        Some(self.ssthresh)
    }

    fn window_and_threshold(&mut self) -> Option<[&mut f64; 2]> {
        Some([&mut self.cwnd, &mut self.ssthresh])
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::profile::Profile;

    use super::super::dctcp::tests::acknowledge;
    use super::*;

    fn prague(window: u32) -> Prague {
        let mut tcp = Profile::Linux.tcp();
        (tcp.initial_window, tcp.initial_ssthresh) = (window, window);
        Prague::new(&tcp)
    }

    /// By hand: alpha is 1 until the first mark, which halves the window; the next round trip
    /// without marks makes it 15/16.
    #[test]
    fn the_first_mark_halves_the_window() {
        let mut prague = prague(100);
        let srtt = Time::from_ms(30);
        acknowledge(&mut prague, 1, 1, 0, srtt);
        acknowledge(&mut prague, 102, 1, 0, srtt);
        assert_eq!(prague.marks.alpha, 1.0, "no queue on the path has marked yet");
        let before = prague.cwnd;
        acknowledge(&mut prague, 103, 1, 1, srtt);
        assert!((prague.cwnd - before / 2.0).abs() < 1e-9);
        acknowledge(&mut prague, 203, 100, 1, srtt);
        let share = 1.0 / 101.0;
        assert!((prague.marks.alpha - (15.0 + share) / 16.0).abs() < 1e-9);
        acknowledge(&mut prague, 304, 101, 1, srtt);
        assert!((prague.marks.alpha - (15.0 + share) / 16.0 * 15.0 / 16.0).abs() < 1e-9);
    }

    /// Rule 5, by hand: at 5 ms a round trip adds 1 segment at first, and (5 / 25)^2 = 0.04
    /// after 500 round trips.
    #[test]
    fn short_round_trips_are_made_like_25_ms() {
        let mut prague = prague(100);
        let srtt = Time::from_ms(5);
        acknowledge(&mut prague, 1, 1, 0, srtt);
        assert_eq!(prague.increase(), 1.0);
        prague.rounds = TRANSITION;
        assert!((prague.increase() - 0.04).abs() < 1e-12);
        assert!(!prague.again(Time::from_ms(80), Time::from_ms(104)));
        assert!(prague.again(Time::from_ms(80), Time::from_ms(105)));
    }

    /// Rule 6, by hand: 100 segments over 30 ms are 300 us apart.
    #[test]
    fn packets_are_paced_over_the_round_trip() {
        let mut prague = prague(100);
        assert_eq!(prague.gap(), None);
        acknowledge(&mut prague, 1, 0, 0, Time::from_ms(30));
        assert_eq!(prague.gap(), Some(Time::from_ns(300_000)));
        prague.ssthresh = 201.0;
        assert_eq!(prague.gap(), Some(Time::from_ns(150_000)));
    }
}
