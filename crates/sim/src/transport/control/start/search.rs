//! SEARCH (draft-chung-ccwg-search-09): slow start ends when less is delivered than was sent a round
//! trip before. Then the window falls to what the path carries without a queue.
//!
//! | symbol       | here        | value | meaning                                              | unit |
//! |--------------|-------------|-------|------------------------------------------------------|------|
//! | WINDOW_SIZE  | `WINDOW`    | 3.5   | time over which deliveries are summed                | first round trips |
//! | W            | `W`         | 10    | bins of the window                                   | 1    |
//! | EXTRA_BINS   | `EXTRA`     | 15    | bins by which one can look back                      | 1    |
//! | THRESH       | `THRESH`    | 0.26  | share that is missing where slow start ends          | 1    |
//! | BIN_DURATION | `bin`       |       | WINDOW_SIZE / W                                      | s    |
//! | bin_end      | `end`       |       | end of the present bin                               | s    |
//! | drain target | `target`    |       | window in which the drain phase ends                 | segments |
//! | ACKed segments | `PER`     | 16    | so many let one more segment leave in the drain phase | segments |
//! | curr_idx     | `sums`      |       | its number is that of the last sums                  | 1    |
//! | norm_diff    | `missing`   |       | 1 - delivered / sent a round trip before             | 1    |
//!
//! Bins hold sums since the start of the connection, in segments. The sum at a time between two ends
//! of bins is interpolated. Where more than W bins pass without an acknowledgement, what is known is
//! too old, and SEARCH starts again (the draft has this as an option).
//!
//! The drain phase: the target is what was delivered in the last bins that cover one first round
//! trip. With each acknowledgement the window is what is in flight, and one more for each 16 segments
//! that were acknowledged, until it is the target.
//!
//! Sources. The draft has the target; how the window gets there is as in the code of its authors,
//! version 4.0, for Linux. It has 16 segments, and the page beside it 3. Where the draft interpolates
//! towards the next bin, this goes towards the one before, as that code and the one of neqo do.
//!
//! Limits. Sums of bytes that are shortened to 16 bits are not needed.

use tidegate_core::units::Time;

use super::super::RateSample;
use super::verdict::StartVerdict;

const WINDOW: f64 = 3.5;
const W: usize = 10;
const EXTRA: usize = 15;
const THRESH: f64 = 0.26;
const PER: u32 = 16;
/// Bins of one first round trip: W / WINDOW, rounded up.
const OF_FIRST: usize = 3;
/// What has to be kept: the window a round trip ago begins so many bins before the present one, and
/// one more for the interpolation.
const KEPT: usize = W + EXTRA + 1;

/// What was sent and delivered up to the end of a bin, in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sums {
    sent: u64,
    delivered: u64,
}

/// The drain phase.
#[derive(Clone, Copy, Debug)]
struct Drain {
    target: f64,
    acked: u32,
}

impl Drain {
    fn on_ack(&mut self, sample: &RateSample<'_>) -> StartVerdict {
        self.acked += sample.delivered;
        let more = self.acked / PER;
        self.acked %= PER;
        let window = f64::from(sample.flight + more);
        if window > self.target {
            StartVerdict::Window(window)
        } else {
            StartVerdict::LeaveAt(self.target)
        }
    }
}

/// The state of SEARCH.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    /// Zero before the first round trip is known.
    bin: Time,
    end: Time,
    /// Newest last.
    sums: Vec<Sums>,
    delivered: u64,
    drain: Option<Drain>,
    /// The initial window, below which the target is not.
    initial: f64,
}

impl Search {
    /// A new connection with this initial window.
    pub(super) fn new(initial: u32) -> Search {
        Search { initial: f64::from(initial), ..Search::default() }
    }

    /// An acknowledgement in the first slow start; `grown` is what it would add to `cwnd`.
    pub(super) fn on_ack(&mut self, sample: &RateSample<'_>, grown: f64) -> StartVerdict {
        if let Some(drain) = &mut self.drain {
            return drain.on_ack(sample);
        }
        self.delivered += u64::from(sample.delivered);
        let now = Sums { sent: sample.sent, delivered: self.delivered };
        if sample.rtt == Time::ZERO {
            return StartVerdict::Grow(grown);
        }
        if self.bin == Time::ZERO {
            self.bin = Time::from_secs_f64(sample.rtt.secs() * WINDOW / W as f64);
            self.end = sample.now + self.bin;
            self.sums = vec![now];
        } else if sample.now > self.end && self.pass(sample.now, now) {
            let missing = self.missing(sample.rtt);
            if missing.is_some_and(|missing| missing >= THRESH) {
                let target = self.carried().max(self.initial);
                self.drain = Some(Drain { target, acked: 0 });
                return StartVerdict::Grow(0.0);
            }
        }
        StartVerdict::Grow(grown)
    }

    /// What was delivered in the last bins that cover one first round trip.
    fn carried(&self) -> f64 {
        let now = self.sums.len() - 1;
        let before = self.sums[now.saturating_sub(OF_FIRST)];
        (self.sums[now].delivered - before.delivered) as f64
    }

    /// The ends of one or more bins have passed (`update_bins`); returns whether enough is known.
    fn pass(&mut self, now: Time, sums: Sums) -> bool {
        let passed = 1 + (now.saturating_sub(self.end).secs() / self.bin.secs()) as usize;
        if passed > W {
            *self =
                Search { delivered: self.delivered, initial: self.initial, ..Search::default() };
            return false;
        }
        let before = self.sums.last().copied().unwrap_or(sums);
        self.sums.extend(std::iter::repeat_n(before, passed - 1));
        self.sums.push(sums);
        self.sums.drain(..self.sums.len().saturating_sub(KEPT));
        self.end += self.bin * passed as u64;
        true
    }

    /// The share of what was sent in the window a round trip ago that is missing in what was
    /// delivered in the present one; none where one cannot look back so far.
    fn missing(&self, rtt: Time) -> Option<f64> {
        let bins = rtt.secs() / self.bin.secs();
        let back = bins as usize;
        let now = self.sums.len() - 1;
        // one more bin for the interpolation
        let first = now.checked_sub(back + W + 1)?;
        if back >= EXTRA {
            return None;
        }
        let sent = |end: usize| (self.sums[end].sent - self.sums[end - W].sent) as f64;
        let part = bins.fract();
        let sent = sent(first + W) * part + sent(first + W + 1) * (1.0 - part);
        let delivered = (self.sums[now].delivered - self.sums[now - W].delivered) as f64;
        (sent > 0.0).then(|| 1.0 - delivered / sent)
    }
}

#[cfg(test)]
mod tests {
    use super::super::verdict::ack;
    use super::*;

    /// A sender in whose bins of 35 ms (3.5 * 100 / 10) so many segments are sent and delivered.
    fn after(bins: &[(u64, u32)]) -> (Search, StartVerdict) {
        let mut search = Search::new(10);
        let mut verdict = search.on_ack(&ack(0, 100, 0, 0), 1.0);
        let mut sent = 0;
        for (k, &(more, delivered)) in bins.iter().enumerate() {
            sent += more;
            let now = 36 + 35 * k as u64;
            let sample = RateSample { delivered, ..ack(now, 100, 0, sent) };
            verdict = search.on_ack(&sample, 1.0);
            if search.drain.is_some() {
                break;
            }
        }
        (search, verdict)
    }

    /// By hand. 100 ms are 2 bins of 35 ms and 6/7 of one. Where each bin sends 10, 100 were sent
    /// in ten bins. 73 delivered of 100 are 0.27 less, and 75 are 0.25 less.
    #[test]
    fn a_quarter_that_is_missing_is_borne_and_a_little_more_is_not() {
        for (last, leaves) in [(2, true), (4, false)] {
            let mut bins = vec![(10, 10); 4];
            // nine bins of the window deliver 71 and the tenth `last`
            bins.extend([(10, 8); 8]);
            bins.push((10, 7));
            bins.push((10, last));
            let (search, _) = after(&bins);
            let delivered = 8 * 8 + 7 + last;
            assert_eq!(search.drain.is_some(), leaves, "{delivered} of 100");
        }
    }

    /// By hand: the last three bins, 105 ms, delivered 8, 7 and 2, or 17 in all. With 60 in flight and 16
    /// acknowledged since, the window is 61; with 59 and one more acknowledged it is 59. Where no more
    /// than the target is in flight, the window is that, and slow start is over.
    #[test]
    fn the_window_drains_to_what_a_first_round_trip_delivered() {
        let mut bins = vec![(10, 10); 4];
        bins.extend([(10, 8); 8]);
        bins.extend([(10, 7), (10, 2)]);
        let (mut search, verdict) = after(&bins);
        assert_eq!(verdict, StartVerdict::Grow(0.0));
        let more = |delivered, flight| RateSample { delivered, flight, ..ack(600, 150, 0, 200) };
        assert_eq!(search.on_ack(&more(16, 60), 1.0), StartVerdict::Window(61.0));
        assert_eq!(search.on_ack(&more(1, 59), 1.0), StartVerdict::Window(59.0));
        assert_eq!(search.on_ack(&more(1, 17), 1.0), StartVerdict::LeaveAt(17.0));
    }

    /// By hand: of ten bins with 100 segments the last three deliver one each, so 27 are missing; the
    /// target is not three but the initial window of ten.
    #[test]
    fn the_window_drains_to_the_initial_one_at_least() {
        let mut bins = vec![(10, 10); 12];
        bins.extend([(10, 1); 3]);
        let (mut search, _) = after(&bins);
        let sample = RateSample { delivered: 1, flight: 5, ..ack(600, 150, 0, 200) };
        assert_eq!(search.on_ack(&sample, 1.0), StartVerdict::LeaveAt(10.0));
    }

    /// By hand: with bins that send 1, 2, 3, ... the ten bins that end with the k-th send 10 k - 45.
    /// With all delivered at once, what was sent 2 6/7 bins before the 20th is
    /// 6/7 * (10 * 17 - 45) + 1/7 * (10 * 18 - 45) = 126 3/7, and 155 is delivered.
    #[test]
    fn what_was_sent_between_two_ends_of_bins_is_interpolated() {
        let bins: Vec<(u64, u32)> = (1..=20).map(|k| (u64::from(k), k)).collect();
        let (search, verdict) = after(&bins);
        assert_eq!(verdict, StartVerdict::Grow(1.0));
        let missing = search.missing(Time::from_ms(100)).unwrap();
        let by_hand = 1.0 - 155.0 / (126.0 + 3.0 / 7.0);
        assert!((missing - by_hand).abs() < 1e-9, "{missing}");
    }

    /// W + EXTRA bins are enough for a round trip of 14 bins, and not for one of 15.
    #[test]
    fn one_can_look_back_by_less_than_fifteen_bins() {
        let (search, _) = after(&[(10, 10); 40]);
        assert!(search.missing(Time::from_ms(14 * 35)).is_some());
        assert_eq!(search.missing(Time::from_ms(15 * 35 + 1)), None);
    }

    /// More than ten bins without an acknowledgement, 385 ms: the next round trip begins anew.
    #[test]
    fn after_a_long_silence_it_starts_again() {
        for (now, kept) in [(35 + 10 * 35 - 1, 11), (35 + 10 * 35 + 1, 0)] {
            let mut search = Search::new(10);
            search.on_ack(&ack(0, 100, 0, 0), 1.0);
            search.on_ack(&ack(now, 100, 0, 10), 1.0);
            assert_eq!(search.sums.len(), kept, "{now} ms");
        }
    }
}
