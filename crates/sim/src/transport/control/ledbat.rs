//! LEDBAT++: takes what others leave, with little queueing (draft-irtf-iccrg-ledbat-plus-plus-01,
//! on the base of RFC 6817).
//!
//! | symbol         | here        | value | meaning                                                |
//! |----------------|-------------|-------|--------------------------------------------------------|
//! | TARGET         | `TARGET`    | 60 ms | queueing delay that it aims at                         |
//! | base           | [`Delays`]  |       | least round trip of the last ten minutes (RFC 6817)    |
//! | delay          | [`Delays`]  |       | least of the last four round trips, less `base`        |
//! | GAIN           | [`gain`]    | 1/16 to 1 | 1 / min(16, ceil(2 TARGET / base))                 |
//! | Constant       | `CONSTANT`  | 1     | weight of a delay above the target                     |
//! | cwnd, ssthresh | `cwnd`, `ssthresh` | | segments; at least 2                                   |
//!
//! 1. Slow start adds GAIN for each segment acknowledged. The first one ends where the delay is
//!    above three quarters of TARGET.
//! 2. Below TARGET the window grows by GAIN in a round trip. Above it changes by GAIN less
//!    `Constant cwnd (delay / TARGET - 1)`, and by no more than half of it.
//! 3. A loss or a mark halves it.
//! 4. Slowdowns show the base delay: two round trips after the first slow start the window is 2
//!    for two round trips; then slow start brings it back to what it was. The next slowdown comes
//!    after nine times as long as this took.
//!
//! Departure: after a loss within a slowdown the threshold is what the loss left.

use std::collections::VecDeque;

use tidegate_core::units::Time;
use tidegate_model::profile::Tcp;

use super::{CongestionEvent, Control, RateSample, Signal};

const TARGET: Time = Time::from_ms(60);
const CONSTANT: f64 = 1.0;
const MIN_WINDOW: f64 = 2.0;
/// Minutes of base delays that are kept, and round trips of which the least counts (RFC 6817, 3.4.2).
const BASE_HISTORY: usize = 10;
const CURRENT_FILTER: usize = 4;
const MINUTE: Time = Time::from_secs(60);
/// Round trips before the first slowdown, and in each.
const ROUNDS: u64 = 2;
/// From one slowdown to the next, in lengths of the former.
const PERIOD: u64 = 9;

/// GAIN: less than Reno's growth where round trips are short.
fn gain(base: Time) -> f64 {
    1.0 / (2.0 * TARGET.secs() / base.secs()).ceil().clamp(1.0, 16.0)
}

/// The round trips of a connection.
#[derive(Clone, Debug, Default)]
struct Delays {
    /// The least of each minute, the newest last.
    minutes: VecDeque<Time>,
    minute: Time,
    current: VecDeque<Time>,
}

impl Delays {
    fn add(&mut self, rtt: Time, now: Time) {
        if self.minutes.is_empty() || now >= self.minute + MINUTE {
            self.minute = now;
            self.minutes.push_back(rtt);
            if self.minutes.len() > BASE_HISTORY {
                self.minutes.pop_front();
            }
        }
        if let Some(least) = self.minutes.back_mut() {
            *least = rtt.min(*least);
        }
        self.current.push_back(rtt);
        if self.current.len() > CURRENT_FILTER {
            self.current.pop_front();
        }
    }

    fn base(&self) -> Option<Time> {
        self.minutes.iter().min().copied()
    }

    /// The queueing delay.
    fn queueing(&self) -> Time {
        let current = self.current.iter().min().copied().unwrap_or(Time::ZERO);
        current.saturating_sub(self.base().unwrap_or(Time::ZERO))
    }
}

/// Where the sender stands in its slowdowns.
#[derive(Clone, Copy, PartialEq, Debug)]
enum SlowdownPhase {
    /// The first slow start.
    First,
    /// The window follows the delay, until the next slowdown.
    Steady { until: Time },
    /// Two segments in flight; since when, and until when.
    Slow { since: Time, until: Time },
    /// Back to the window of before the slowdown that began then.
    Back { since: Time },
}

/// Window of a LEDBAT++ sender.
#[derive(Clone, Debug)]
pub struct Ledbat {
    cwnd: f64,
    ssthresh: f64,
    /// Largest useful window.
    cap: f64,
    phase: SlowdownPhase,
    delays: Delays,
}

impl Ledbat {
    /// A new connection under a class's settings.
    pub fn new(tcp: &Tcp) -> Ledbat {
        Ledbat {
            cwnd: f64::from(tcp.initial_window.max(MIN_WINDOW as u32)),
            ssthresh: f64::from(tcp.initial_ssthresh),
            cap: f64::from(tcp.window),
            phase: SlowdownPhase::First,
            delays: Delays::default(),
        }
    }

    /// The first slow start is over: the first slowdown comes two round trips later.
    fn end_first(&mut self, now: Time, srtt: Time) {
        self.phase = SlowdownPhase::Steady { until: now + srtt * ROUNDS };
    }

    /// Begins and ends slowdowns (rule 4).
    fn slow_down(&mut self, now: Time, srtt: Time) {
        match self.phase {
            SlowdownPhase::First if self.cwnd >= self.ssthresh => self.end_first(now, srtt),
            SlowdownPhase::First if self.delays.queueing() > TARGET * 3 / 4 => {
                self.ssthresh = self.cwnd;
                self.end_first(now, srtt);
            }
            SlowdownPhase::Steady { until } if now >= until => {
                self.ssthresh = self.cwnd;
                self.cwnd = MIN_WINDOW;
                self.phase = SlowdownPhase::Slow { since: now, until: now + srtt * ROUNDS };
            }
            SlowdownPhase::Slow { since, until } if now >= until => {
                self.phase = SlowdownPhase::Back { since }
            }
            SlowdownPhase::Back { since } if self.cwnd >= self.ssthresh => {
                self.phase =
                    SlowdownPhase::Steady { until: now + now.saturating_sub(since) * PERIOD };
            }
            _ => {}
        }
    }

    fn grow(&mut self, segments: f64) {
        let gain = gain(self.delays.base().unwrap_or(TARGET));
        match self.phase {
            SlowdownPhase::Slow { .. } => {}
            SlowdownPhase::First | SlowdownPhase::Back { .. } => {
                self.cwnd += (gain * segments).min((self.ssthresh - self.cwnd).max(0.0));
            }
            SlowdownPhase::Steady { .. } => {
                let over = self.delays.queueing().secs() / TARGET.secs() - 1.0;
                let change = gain - CONSTANT * self.cwnd * over.max(0.0);
                self.cwnd += change.max(-self.cwnd / 2.0) * segments / self.cwnd;
            }
        }
        self.cwnd = self.cwnd.clamp(MIN_WINDOW, self.cap);
    }

    fn halve(&mut self, now: Time) {
        self.cwnd = (self.cwnd / 2.0).max(MIN_WINDOW);
        self.ssthresh = self.cwnd;
        if self.phase == SlowdownPhase::First {
            self.end_first(now, self.delays.current.back().copied().unwrap_or(TARGET));
        }
    }
}

impl Control for Ledbat {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn on_ack(&mut self, sample: &RateSample<'_>) {
        if sample.rtt > Time::ZERO {
            self.delays.add(sample.rtt, sample.now);
        }
        self.slow_down(sample.now, sample.srtt);
        self.grow(f64::from(sample.opens()));
    }

    fn on_congestion(&mut self, signal: Signal, at: &CongestionEvent) {
        if signal != Signal::LossAfterMark {
            self.halve(at.now);
        }
    }

    fn on_recovered(&mut self, _: f64) {
        self.cwnd = self.cwnd.min(self.ssthresh.max(MIN_WINDOW));
    }

    fn on_timeout(&mut self, at: &CongestionEvent, again: bool) {
        if !again {
            self.halve(at.now);
        }
        // slow start leads back to half the window
        self.cwnd = 1.0;
        self.phase = SlowdownPhase::Back { since: at.now };
    }

    fn window_and_threshold(&mut self) -> Option<[&mut f64; 2]> {
        Some([&mut self.cwnd, &mut self.ssthresh])
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::profile::Profile;

    use super::*;

    fn ledbat() -> Ledbat {
        Ledbat::new(&Profile::Linux.tcp())
    }

    fn acknowledge(ledbat: &mut Ledbat, at_ms: u64, rtt_ms: u64, segments: u32) {
        let of_one = RateSample::of_one(Time::from_ms(at_ms), Time::from_ms(rtt_ms), 0, 0);
        ledbat.on_ack(&RateSample { segments, delivered: segments, flight: 0, ..of_one });
    }

    /// By hand: 2 * 60 / 100 rounds up to 2, 120 / 40 is 3, 120 / 5 is above 16, 120 / 300 is 1.
    #[test]
    fn short_round_trips_grow_slower() {
        for (base_ms, expected) in [(100, 0.5), (40, 1.0 / 3.0), (5, 1.0 / 16.0), (300, 1.0)] {
            assert_eq!(gain(Time::from_ms(base_ms)), expected, "{base_ms} ms");
        }
    }

    /// Rules 1 and 4, by hand with a base of 100 ms: slow start adds half of what is
    /// acknowledged, and ends above 45 ms of queue. 2 round trips of 146 ms later two segments are
    /// in flight, for 2 round trips; slow start leads back.
    #[test]
    fn the_first_slowdown() {
        let mut ledbat = ledbat();
        acknowledge(&mut ledbat, 100, 100, 10);
        assert_eq!(ledbat.cwnd, 15.0);
        for at in [200, 201, 202] {
            acknowledge(&mut ledbat, at, 146, 0);
        }
        assert_eq!(ledbat.phase, SlowdownPhase::First, "the least of four counts");
        acknowledge(&mut ledbat, 203, 146, 0);
        assert_eq!(ledbat.phase, SlowdownPhase::Steady { until: Time::from_ms(203 + 292) });
        acknowledge(&mut ledbat, 495, 146, 0);
        assert_eq!((ledbat.cwnd, ledbat.ssthresh), (2.0, 15.0));
        acknowledge(&mut ledbat, 600, 100, 2);
        assert_eq!(ledbat.cwnd, 2.0);
        acknowledge(&mut ledbat, 787, 100, 2);
        acknowledge(&mut ledbat, 900, 100, 24);
        assert_eq!(ledbat.cwnd, 15.0);
        acknowledge(&mut ledbat, 995, 100, 0);
        // 500 ms in all, and nine times as long
        assert_eq!(ledbat.phase, SlowdownPhase::Steady { until: Time::from_ms(995 + 4500) });
    }

    /// Rule 2, by hand: a window of 30 at a base of 100 ms grows by 1/2 in a round trip below the
    /// target. At a delay of 90 ms it changes by 1/2 - 30 (1.5 - 1) = -14.5; at 180 ms it would by
    /// -59.5, and does by half.
    #[test]
    fn the_delay_decides() {
        for (rtt_ms, expected) in [(150, 30.5), (190, 15.5), (280, 15.0)] {
            let mut ledbat = ledbat();
            acknowledge(&mut ledbat, 1, 100, 0);
            ledbat.phase = SlowdownPhase::Steady { until: Time::NEVER };
            (0..4).for_each(|at| acknowledge(&mut ledbat, 200 + at, rtt_ms, 0));
            ledbat.cwnd = 30.0;
            acknowledge(&mut ledbat, 300, rtt_ms, 30);
            assert!((ledbat.cwnd - expected).abs() < 1e-9, "{rtt_ms}: {}", ledbat.cwnd);
        }
    }

    /// RFC 6817, 3.4.2: a base delay is forgotten after ten minutes.
    #[test]
    fn the_base_delay_of_ten_minutes() {
        let mut delays = Delays::default();
        delays.add(Time::from_ms(50), Time::ZERO);
        for minute in 1..10 {
            delays.add(Time::from_ms(80), MINUTE * minute);
        }
        assert_eq!(delays.base(), Some(Time::from_ms(50)));
        delays.add(Time::from_ms(80), MINUTE * 10);
        assert_eq!(delays.base(), Some(Time::from_ms(80)));
    }
}
