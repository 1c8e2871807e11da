//! HyStart++ (RFC 9406): slow start ends by longer round trips, after a slower phase.
//!
//! | symbol (4.2, 4.3)    | here         | value | meaning                                    | unit |
//! |----------------------|--------------|-------|--------------------------------------------|------|
//! | MIN_RTT_THRESH       | `LEAST`      | 4     | least rise of the round trip that counts   | ms   |
//! | MAX_RTT_THRESH       | `MOST`       | 16    | the rise that counts whatever the round trip is | ms |
//! | MIN_RTT_DIVISOR      | `DIVISOR`    | 8     | share of the round trip in between         | 1    |
//! | N_RTT_SAMPLE         | `SAMPLES`    | 8     | samples in a round before it is judged     | 1    |
//! | CSS_GROWTH_DIVISOR   | `GROWTH`     | 4     | growth of the window is divided by this    | 1    |
//! | CSS_ROUNDS           | `ROUNDS`     | 5     | rounds of conservative slow start          | 1    |
//! | L                    | `BURST`      | 8     | most segments that an ACK adds; no limit for a sender that paces | segments |
//! | windowEnd            | `end`        |       | the round ends when this is acknowledged   | segments |
//! | rttSampleCount       | `samples`    |       | samples of this round                      | 1    |
//! | currentRoundMinRTT   | `current`    |       | least round trip of this round             | s    |
//! | lastRoundMinRTT      | `last`       |       | least round trip of the round before       | s    |
//! | cssBaselineMinRtt    | `css`        |       | `current` where conservative slow start began | s |

use tidegate_core::units::Time;

use super::super::RateSample;
use super::verdict::StartVerdict;

const LEAST: Time = Time::from_ms(4);
const MOST: Time = Time::from_ms(16);
const DIVISOR: u64 = 8;
const SAMPLES: u32 = 8;
const GROWTH: f64 = 4.0;
const ROUNDS: u32 = 5;
const BURST: f64 = 8.0;

/// The state of HyStart++.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlusPlus {
    burst: f64,
    end: u64,
    samples: u32,
    current: Time,
    last: Time,
    /// The baseline of conservative slow start, and its remaining rounds; none outside of it.
    css: Option<(Time, u32)>,
}

/// RttThresh (4.2).
fn threshold(rtt: Time) -> Time {
    (rtt / DIVISOR).clamp(LEAST, MOST)
}

impl PlusPlus {
    /// A new connection; `paced`: its sender paces, so that a large ACK makes no burst.
    pub(super) fn new(paced: bool) -> PlusPlus {
        PlusPlus {
            burst: if paced { f64::INFINITY } else { BURST },
            end: 0,
            samples: 0,
            current: Time::NEVER,
            last: Time::NEVER,
            css: None,
        }
    }

    /// A round ends when everything is acknowledged that was sent at its start; returns whether.
    fn end_round(&mut self, sample: &RateSample<'_>) -> bool {
        let turned = sample.una > self.end;
        if turned {
            self.end = sample.sent;
            self.last = self.current;
            self.current = Time::NEVER;
            self.samples = 0;
        }
        turned
    }

    /// An acknowledgement in the first slow start; `grown` is what it would add to `cwnd`.
    pub(super) fn on_ack(&mut self, sample: &RateSample<'_>, grown: f64) -> StartVerdict {
        if self.end_round(sample)
            && let Some((_, rounds)) = &mut self.css
        {
            *rounds -= 1;
            if *rounds == 0 {
                return StartVerdict::Leave;
            }
        }
        if sample.rtt > Time::ZERO {
            self.current = self.current.min(sample.rtt);
            self.samples += 1;
        }
        let known = self.samples >= SAMPLES && self.current < Time::NEVER;
        if let Some((baseline, _)) = self.css {
            if known && self.current < baseline {
                // the rise was none of a queue: slow start goes on
                self.css = None;
            } else {
                return StartVerdict::Grow(grown.min(self.burst) / GROWTH);
            }
        } else if known
            && self.last < Time::NEVER
            && self.current >= self.last.saturating_add(threshold(self.last))
        {
            self.css = Some((self.current, ROUNDS));
        }
        StartVerdict::Grow(grown.min(self.burst))
    }
}

#[cfg(test)]
mod tests {
    use super::super::verdict::ack;
    use super::*;

    /// Ten acknowledgements of one round with ten segments always out; what the last one says.
    fn round(plus: &mut PlusPlus, una: &mut u64, rtt: u64) -> StartVerdict {
        let mut last = StartVerdict::Grow(0.0);
        for _ in 0..10 {
            last = plus.on_ack(&ack(*una, rtt, *una, *una + 9), 2.0);
            *una += 1;
        }
        last
    }

    /// RFC 9406, 4.2, by hand: round trips of 40 ms, then of 45 ms, which is 5 ms more
    /// (an eighth of 40): growth is a quarter for five rounds, and then slow start is over.
    #[test]
    fn it_slows_down_for_five_rounds() {
        let (mut plus, mut una) = (PlusPlus::new(false), 1);
        assert_eq!(round(&mut plus, &mut una, 40), StartVerdict::Grow(2.0));
        assert_eq!(round(&mut plus, &mut una, 40), StartVerdict::Grow(2.0));
        for _ in 0..5 {
            assert_eq!(round(&mut plus, &mut una, 45), StartVerdict::Grow(0.5));
        }
        assert_eq!(plus.on_ack(&ack(una, 45, una, una + 9), 2.0), StartVerdict::Leave);
    }

    /// 4.2, by hand: the rise that counts is an eighth within 4 and 16 ms. So 43 ms after 40 (less
    /// than 5), 13 after 10 (less than 4) and 215 after 200 (less than 16) go on; one more does not.
    #[test]
    fn the_rise_that_counts_has_bounds() {
        for (first, second) in [(40, 44), (10, 13), (200, 215)] {
            for (rtt, slow) in [(second, false), (second + 1, true)] {
                let (mut plus, mut una) = (PlusPlus::new(false), 1);
                round(&mut plus, &mut una, first);
                round(&mut plus, &mut una, rtt);
                assert_eq!(plus.css.is_some(), slow, "{first}, then {rtt}");
            }
        }
    }

    /// The same, but the round trips get short again: slow start goes on at its full pace.
    #[test]
    fn a_spurious_rise_is_forgotten() {
        let (mut plus, mut una) = (PlusPlus::new(false), 1);
        round(&mut plus, &mut una, 40);
        assert_eq!(round(&mut plus, &mut una, 46), StartVerdict::Grow(0.5));
        assert_eq!(round(&mut plus, &mut una, 41), StartVerdict::Grow(2.0));
    }

    /// 4.2 and 4.3: an ACK of 20 segments adds 8, and 20 where the sender paces.
    #[test]
    fn a_large_ack_adds_eight_segments_unless_the_sender_paces() {
        for (paced, adds) in [(false, 8.0), (true, 20.0)] {
            let verdict = PlusPlus::new(paced).on_ack(&ack(0, 40, 1, 9), 20.0);
            assert_eq!(verdict, StartVerdict::Grow(adds));
        }
    }
}
