//! HyStart: leaves slow start when round trips get longer, before the queue is full.
//!
//! `classic` is that of S. Ha and I. Rhee, "Taming the elephants: New TCP slow start", 2011, with
//! the constants of Linux's `tcp_cubic.c`; `linux` is Linux's version since 6.14; `plus-plus` is
//! HyStart++ (RFC 9406).
//!
//! | symbol             | here           | classic  | RFC 9406, 4.3 |
//! |--------------------|----------------|----------|---------------|
//! | N_RTT_SAMPLE       | `SAMPLES`      | 8        | 8             |
//! | MIN_RTT_THRESH     | `LEAST`        | 4 ms     | 4 ms          |
//! | MAX_RTT_THRESH     | `MOST`         | 16 ms    | 16 ms         |
//! | MIN_RTT_DIVISOR    | `DIVISOR`      | 8        | 8             |
//! | CSS_GROWTH_DIVISOR | `GROWTH`       | -        | 4             |
//! | CSS_ROUNDS         | `ROUNDS`       | -        | 5             |
//! | L                  | `BURST`        | -        | 8             |
//! | low window         | `LOW_WINDOW`   | 16       | -             |
//! | spacing in a train | `TRAIN`        | 2 ms     | -             |
//!
//! Departure: the classic version does not allow for the time of segmentation offload
//! (`hystart_ack_delay`), as segments are not sent in batches here.

use tidegate_core::units::Time;
use tidegate_model::profile::HyStart as Kind;

use super::RateSample;

const SAMPLES: u32 = 8;
const LEAST: Time = Time::from_ms(4);
const MOST: Time = Time::from_ms(16);
const DIVISOR: u64 = 8;
const GROWTH: f64 = 4.0;
const ROUNDS: u32 = 5;
const BURST: f64 = 8.0;
const LOW_WINDOW: f64 = 16.0;
const TRAIN: Time = Time::from_ms(2);

/// The response of slow start to an acknowledgement.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Verdict {
    /// The window grows by this many segments.
    Grow(f64),
    /// Slow start ends.
    Leave,
}

/// The state of any version.
#[derive(Clone, Copy, Debug)]
pub(super) struct HyStart {
    kind: Kind,
    /// The round ends when this segment is acknowledged (`windowEnd`).
    end: u64,
    samples: u32,
    /// Minimum round trip of this round and of the previous one (RFC 9406, 4.2).
    current: Time,
    last: Time,
    /// Minimum round trip of the connection (classic).
    least: Time,
    round_start: Time,
    last_ack: Time,
    /// Minimum round trip at the start of the slower phase, and its remaining rounds; none outside.
    css: Option<(Time, u32)>,
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
            last: Time::NEVER,
            least: Time::NEVER,
            round_start: Time::ZERO,
            last_ack: Time::ZERO,
            css: None,
        }
    }

    /// Starts again after a timeout, as in Linux (`cubictcp_state`).
    pub(super) fn begin_anew(&mut self) {
        *self = HyStart::new(self.kind);
    }

    /// An acknowledgement in slow start; `grown` is what it would add to `cwnd`.
    pub(super) fn on_ack(&mut self, sample: &RateSample<'_>, cwnd: f64, grown: f64) -> Verdict {
        match self.kind {
            Kind::None => Verdict::Grow(grown),
            Kind::Classic | Kind::Linux => self.classic(sample, cwnd, grown),
            Kind::PlusPlus => self.plus_plus(sample, grown),
        }
    }

    /// Starts a round if the last one is acknowledged; returns whether it did.
    fn turn(&mut self, sample: &RateSample<'_>) -> bool {
        let turned = sample.una > self.end;
        if turned {
            self.end = sample.sent;
            self.last = self.current;
            self.current = Time::NEVER;
            self.samples = 0;
            self.round_start = sample.now;
            self.last_ack = sample.now;
        }
        turned
    }

    fn classic(&mut self, sample: &RateSample<'_>, cwnd: f64, grown: f64) -> Verdict {
        if sample.rtt == Time::ZERO {
            return Verdict::Grow(grown);
        }
        self.least = self.least.min(sample.rtt);
        // since 6.14 Linux starts a round whatever the window is
        let small = cwnd < LOW_WINDOW;
        if !small || self.kind == Kind::Linux {
            self.turn(sample);
        }
        if small {
            return Verdict::Grow(grown);
        }
        // a train of acknowledgements as long as half of the minimum round trip
        if sample.now.saturating_sub(self.last_ack) <= TRAIN {
            self.last_ack = sample.now;
            if sample.now.saturating_sub(self.round_start) > self.least / 2 {
                return Verdict::Leave;
            }
        }
        // round trips longer than the minimum
        self.current = self.current.min(sample.rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
        } else if self.current > self.least.saturating_add(threshold(self.least)) {
            return Verdict::Leave;
        }
        Verdict::Grow(grown)
    }

    /// RFC 9406, 4.2.
    fn plus_plus(&mut self, sample: &RateSample<'_>, grown: f64) -> Verdict {
        if self.turn(sample)
            && let Some((_, rounds)) = &mut self.css
        {
            *rounds -= 1;
            if *rounds == 0 {
                return Verdict::Leave;
            }
        }
        if sample.rtt > Time::ZERO {
            self.current = self.current.min(sample.rtt);
            self.samples += 1;
        }
        let known = self.samples >= SAMPLES && self.current < Time::NEVER;
        if let Some((baseline, _)) = self.css {
            if known && self.current < baseline {
                // the increase was spurious
                self.css = None;
            } else {
                return Verdict::Grow(grown.min(BURST) / GROWTH);
            }
        } else if known
            && self.last < Time::NEVER
            && self.current >= self.last.saturating_add(threshold(self.last))
        {
            self.css = Some((self.current, ROUNDS));
        }
        Verdict::Grow(grown.min(BURST))
    }
}

#[cfg(test)]
mod tests {
    use tidegate_core::packet::Ext;

    use super::*;

    fn ack(now: u64, rtt: u64, una: u32, sent: u32) -> RateSample<'static> {
        RateSample {
            now: Time::from_ms(now),
            segments: 1,
            delivered: 1,
            una: una.into(),
            sent: sent.into(),
            flight: 100,
            srtt: Time::from_ms(rtt),
            rtt: Time::from_ms(rtt),
            recovering: false,
            marked: false,
            unused: false,
            any_order: false,
            ext: &Ext::None,
            rate: None,
        }
    }

    /// Classic: the threshold for a round trip of 80 ms is 10 ms. Round trips of 90 ms are within
    /// it, 91 ms are not; eight samples are needed. Spaced by 5 ms they do not form a train.
    #[test]
    fn longer_round_trips_end_the_classic_one() {
        for (rtt, leaves) in [(90, false), (91, true)] {
            let mut hystart = HyStart::new(Kind::Classic);
            assert_eq!(hystart.on_ack(&ack(0, 80, 1, 50), 20.0, 1.0), Verdict::Grow(1.0));
            let mut verdicts = Vec::new();
            for k in 1..=10_u32 {
                // all in one round, which begins with the first of these
                let now = 100 + 5 * u64::from(k);
                verdicts.push(hystart.on_ack(&ack(now, rtt, 50 + k, 90), 20.0, 1.0));
            }
            let first = verdicts.iter().position(|&verdict| verdict == Verdict::Leave);
            assert_eq!(first, leaves.then_some(8), "{rtt}");
        }
    }

    /// Linux since 6.14 (`hystart_update`): a round starts below the low window too, and lasts
    /// until more than 99 is acknowledged; reaching a window of 16 does not start another one.
    #[test]
    fn a_round_begins_whatever_the_window_is() {
        let mut hystart = HyStart::new(Kind::Linux);
        hystart.on_ack(&ack(0, 80, 1, 50), 10.0, 1.0);
        for (now, una, cwnd) in [(100, 51, 10.0), (105, 52, 15.0), (110, 53, 16.0), (115, 99, 20.0)]
        {
            assert_eq!(hystart.on_ack(&ack(now, 80, una, 99), cwnd, 1.0), Verdict::Grow(1.0));
            assert_eq!((hystart.round_start, hystart.end), (Time::from_ms(100), 99), "{now}");
        }
        hystart.on_ack(&ack(180, 80, 100, 150), 20.0, 1.0);
        assert_eq!((hystart.round_start, hystart.end), (Time::from_ms(180), 150));
    }

    /// Classic: a train, an acknowledgement every 2 ms, as long as half of 80 ms.
    #[test]
    fn a_long_train_ends_the_classic_one() {
        let mut hystart = HyStart::new(Kind::Classic);
        hystart.on_ack(&ack(0, 80, 1, 50), 20.0, 1.0);
        let leaves = (0..40_u32).find(|&k| {
            let now = 100 + 2 * u64::from(k);
            hystart.on_ack(&ack(now, 80, 51 + k, 99), 20.0, 1.0) == Verdict::Leave
        });
        // 42 ms after the first of the round is the first beyond 40
        assert_eq!(leaves, Some(21));
    }

    /// RFC 9406, 4.2, by hand: round trips of 40 ms, then of 45 ms, which is 5 ms more
    /// (an eighth of 40): growth is a quarter for five rounds, and then slow start is over.
    #[test]
    fn hystart_plus_plus_slows_down_for_five_rounds() {
        let mut hystart = HyStart::new(Kind::PlusPlus);
        let (mut una, mut now) = (1, 0);
        let mut round = |hystart: &mut HyStart, rtt: u64| {
            let mut last = Verdict::Grow(0.0);
            for _ in 0..10 {
                // ten acknowledgements a round, with ten segments always out
                now += 5;
                last = hystart.on_ack(&ack(now, rtt, una, una + 9), 20.0, 2.0);
                una += 1;
            }
            last
        };
        assert_eq!(round(&mut hystart, 40), Verdict::Grow(2.0));
        assert_eq!(round(&mut hystart, 40), Verdict::Grow(2.0));
        let slow: Vec<Verdict> = (0..5).map(|_| round(&mut hystart, 45)).collect();
        assert_eq!(slow, [Verdict::Grow(0.5); 5]);
        assert_eq!(hystart.on_ack(&ack(1000, 45, una, una + 9), 20.0, 2.0), Verdict::Leave);
    }

    /// The same, but the round trips get short again: the increase was spurious.
    #[test]
    fn a_spurious_rise_is_forgotten() {
        let mut hystart = HyStart::new(Kind::PlusPlus);
        hystart.last = Time::from_ms(40);
        hystart.css = Some((Time::from_ms(46), 3));
        let verdicts: Vec<Verdict> =
            (0..9).map(|k| hystart.on_ack(&ack(k, 41, 0, 90), 20.0, 2.0)).collect();
        assert_eq!(verdicts[6], Verdict::Grow(0.5));
        assert_eq!(verdicts[8], Verdict::Grow(2.0));
    }
}
