//! HyStart: leaves slow start when round trips get longer, before the queue is full.
//!
//! S. Ha and I. Rhee, "Taming the elephants: New TCP slow start", 2011, as Linux's `tcp_cubic.c` has
//! it since 6.14. HyStart++ is in `start/plus_plus.rs`.
//!
//! | symbol             | here         | value |
//! |--------------------|--------------|-------|
//! | MIN_SAMPLES        | `SAMPLES`    | 8     |
//! | DELAY_MIN          | `LEAST`      | 4 ms  |
//! | DELAY_MAX          | `MOST`       | 16 ms |
//! | divisor of the round trip | `DIVISOR` | 8  |
//! | low window         | `LOW_WINDOW` | 16    |
//! | spacing in a train | `TRAIN`      | 2 ms  |
//!
//! Departure: the time of segmentation offload is not allowed for (`hystart_ack_delay`), as segments
//! are not sent in batches here.

use tidegate_core::units::Time;
use tidegate_model::profile::HyStart as Kind;

use super::RateSample;

const SAMPLES: u32 = 8;
const LEAST: Time = Time::from_ms(4);
const MOST: Time = Time::from_ms(16);
const DIVISOR: u64 = 8;
const LOW_WINDOW: f64 = 16.0;
const TRAIN: Time = Time::from_ms(2);

/// Its state.
#[derive(Clone, Copy, Debug)]
pub(super) struct HyStart {
    kind: Kind,
    /// The round ends when this segment is acknowledged (`windowEnd`).
    end: u64,
    samples: u32,
    /// Minimum round trip of this round.
    current: Time,
    /// Minimum round trip of the connection.
    least: Time,
    round_start: Time,
    last_ack: Time,
}

/// An eighth of a round trip, within bounds.
fn threshold(rtt: Time) -> Time {
    (rtt / DIVISOR).clamp(LEAST, MOST)
}

impl HyStart {
    pub(super) fn new(kind: Kind) -> HyStart {
        HyStart {
            kind,
            end: 0,
            samples: 0,
            current: Time::NEVER,
            least: Time::NEVER,
            round_start: Time::ZERO,
            last_ack: Time::ZERO,
        }
    }

    /// Starts again after a timeout, as in Linux (`cubictcp_state`).
    pub(super) fn begin_anew(&mut self) {
        *self = HyStart::new(self.kind);
    }

    /// An acknowledgement in slow start. Returns whether slow start ends with it.
    pub(super) fn ends_at(&mut self, sample: &RateSample<'_>, cwnd: f64) -> bool {
        match self.kind {
            // HyStart++ stands before the control
            Kind::None | Kind::PlusPlus => false,
            Kind::Linux => self.linux(sample, cwnd),
        }
    }

    /// Starts a round if the last one is acknowledged.
    fn start_round(&mut self, sample: &RateSample<'_>) {
        if sample.una > self.end {
            self.end = sample.sent;
            self.current = Time::NEVER;
            self.samples = 0;
            self.round_start = sample.now;
            self.last_ack = sample.now;
        }
    }

    fn linux(&mut self, sample: &RateSample<'_>, cwnd: f64) -> bool {
        if sample.rtt == Time::ZERO {
            return false;
        }
        self.least = self.least.min(sample.rtt);
        self.start_round(sample);
        if cwnd < LOW_WINDOW {
            return false;
        }
        // a train of acknowledgements as long as half of the minimum round trip
        if sample.now.saturating_sub(self.last_ack) <= TRAIN {
            self.last_ack = sample.now;
            if sample.now.saturating_sub(self.round_start) > self.least / 2 {
                return true;
            }
        }
        // round trips longer than the minimum
        self.current = self.current.min(sample.rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
        } else if self.current > self.least.saturating_add(threshold(self.least)) {
            return true;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(now: u64, rtt: u64, una: u32, sent: u32) -> RateSample<'static> {
        RateSample::of_one(Time::from_ms(now), Time::from_ms(rtt), una.into(), sent.into())
    }

    /// The threshold for a round trip of 80 ms is 10 ms. Round trips of 90 ms are within
    /// it, 91 ms are not; eight samples are needed. Spaced by 5 ms they do not form a train.
    #[test]
    fn longer_round_trips_end_slow_start() {
        for (rtt, leaves) in [(90, false), (91, true)] {
            let mut hystart = HyStart::new(Kind::Linux);
            assert!(!hystart.ends_at(&ack(0, 80, 1, 50), 20.0));
            let mut ends = Vec::new();
            for k in 1..=10_u32 {
                // all in one round, which begins with the first of these
                let now = 100 + 5 * u64::from(k);
                ends.push(hystart.ends_at(&ack(now, rtt, 50 + k, 90), 20.0));
            }
            let first = ends.iter().position(|&ends| ends);
            assert_eq!(first, leaves.then_some(8), "{rtt}");
        }
    }

    /// Linux since 6.14 (`hystart_update`): a round starts below the low window too, and lasts
    /// until more than 99 is acknowledged; reaching a window of 16 does not start another one.
    #[test]
    fn a_round_begins_whatever_the_window_is() {
        let mut hystart = HyStart::new(Kind::Linux);
        hystart.ends_at(&ack(0, 80, 1, 50), 10.0);
        for (now, una, cwnd) in [(100, 51, 10.0), (105, 52, 15.0), (110, 53, 16.0), (115, 99, 20.0)]
        {
            assert!(!hystart.ends_at(&ack(now, 80, una, 99), cwnd));
            assert_eq!((hystart.round_start, hystart.end), (Time::from_ms(100), 99), "{now}");
        }
        hystart.ends_at(&ack(180, 80, 100, 150), 20.0);
        assert_eq!((hystart.round_start, hystart.end), (Time::from_ms(180), 150));
    }

    /// A train, an acknowledgement every 2 ms, as long as half of 80 ms.
    #[test]
    fn a_long_train_ends_slow_start() {
        let mut hystart = HyStart::new(Kind::Linux);
        hystart.ends_at(&ack(0, 80, 1, 50), 20.0);
        let leaves = (0..40_u32).find(|&k| {
            let now = 100 + 2 * u64::from(k);
            hystart.ends_at(&ack(now, 80, 51 + k, 99), 20.0)
        });
        // 42 ms after the first of the round is the first beyond 40
        assert_eq!(leaves, Some(21));
    }
}
