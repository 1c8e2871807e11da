//! The bandwidth behind a policer (Linux: `bbr_lt_bw_sampling`; the drafts have no such part).
//!
//! A policer drops what is above its rate, and lets bursts through: the maximum of ten rounds is far
//! above what it passes. So what arrives is measured from loss to loss, in intervals of at least four
//! rounds in which at least a fifth as much was lost as arrived. Two such intervals in a row with
//! about the same bandwidth are taken for a policer: for 48 rounds of PROBE_BW their mean is used in
//! place of the maximum, without probing.
//!
//! | symbol (Linux)          | here             | value     | meaning                              |
//! |-------------------------|------------------|-----------|--------------------------------------|
//! | `bbr_lt_intvl_min_rtts` | [`LEAST_ROUNDS`] | 4 rounds  | shortest interval; four times is the longest |
//! | `bbr_lt_loss_thresh`    | [`LOSSES`]       | 50/256    | lost per delivered, at least         |
//! | `bbr_lt_bw_ratio`       | [`RATIO`]        | 1/8       | what two intervals may differ by, ... |
//! | `bbr_lt_bw_diff`        | [`BYTES_PER_S`]  | 500 B/s   | ... or by so much                    |
//! | `bbr_lt_bw_max_rtts`    | [`MOST_ROUNDS`]  | 48 rounds | how long it is used                  |
//! | `lt_is_sampling`        | `sampling`       |           | a loss has begun the interval        |
//! | `lt_use_bw`             | `used`           |           |                                      |
//! | `lt_bw`                 | `bandwidth`      | segments/s | of the last interval, or of both     |
//! | `lt_last_*`             | `since`          |           | the counts when the interval began   |

use tidegate_core::units::Time;

use super::super::Counts;
use super::MARGIN;

const LEAST_ROUNDS: u32 = 4;
const LOSSES: f64 = 50.0 / 256.0;
const RATIO: f64 = 1.0 / 8.0;
const BYTES_PER_S: f64 = 500.0;
const MOST_ROUNDS: u32 = 48;
/// An interval is not shorter than this, whatever its rounds.
const LEAST: Time = Time::from_ms(1);

/// What an acknowledgement or a timeout tells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    /// Whether something is newly marked lost.
    pub lost: bool,
    /// Whether the sample is application-limited.
    pub limited: bool,
    /// Whether a round begins.
    pub round: bool,
    /// Whether the connection is in PROBE_BW.
    pub probe_bw: bool,
}

/// The estimate.
#[derive(Clone, Copy, Debug)]
pub(super) struct LongTerm {
    /// Linux has it.
    present: bool,
    /// Bytes of a segment.
    mss: f64,
    sampling: bool,
    used: bool,
    /// Rounds in this interval, or since it is used.
    rounds: u32,
    /// Zero: none yet.
    bandwidth: f64,
    since: Counts,
}

impl LongTerm {
    /// No estimate, of segments of `mss` bytes; `present`: whether there is to be one.
    pub(super) fn new(present: bool, mss: f64) -> LongTerm {
        LongTerm {
            present,
            mss,
            sampling: false,
            used: false,
            rounds: 0,
            bandwidth: 0.0,
            since: Counts::default(),
        }
    }

    /// The bandwidth, in segments per second, while it is used.
    pub(super) fn get(&self) -> Option<f64> {
        self.used.then_some(self.bandwidth)
    }

    /// Nothing is known: the next loss begins an interval.
    pub(super) fn reset(&mut self) {
        (self.bandwidth, self.used, self.sampling) = (0.0, false, false);
    }

    fn begin_interval(&mut self, at: Counts) {
        (self.since, self.rounds) = (at, 0);
    }

    /// An acknowledgement, or a timeout.
    pub(super) fn update(&mut self, at: Counts, event: Event) {
        if !self.present {
            return;
        }
        if self.used {
            self.rounds += u32::from(event.probe_bw && event.round);
            if self.rounds >= MOST_ROUNDS {
                self.reset();
            }
            return;
        }
        if !self.sampling {
            if !event.lost {
                return;
            }
            // what came before the first loss may have been a burst that a policer lets through
            self.begin_interval(at);
            self.sampling = true;
        }
        self.rounds += u32::from(event.round);
        if event.limited || self.rounds > 4 * LEAST_ROUNDS {
            return self.reset();
        }
        if self.rounds >= LEAST_ROUNDS && event.lost {
            self.end_interval(at);
        }
    }

    /// A loss ends the interval, if enough was lost in it.
    fn end_interval(&mut self, at: Counts) {
        let lost = at.lost.wrapping_sub(self.since.lost);
        let delivered = (at.delivered - self.since.delivered) as f64;
        let time = at.delivered_at.saturating_sub(self.since.delivered_at);
        if delivered == 0.0 || f64::from(lost) < LOSSES * delivered || time < LEAST {
            return;
        }
        let (bandwidth, before) = (delivered / time.secs(), self.bandwidth);
        let difference = (bandwidth - before).abs();
        let alike = difference <= RATIO * before || difference * self.mss * MARGIN <= BYTES_PER_S;
        if before > 0.0 && alike {
            (self.bandwidth, self.used, self.rounds) = (0.5 * (bandwidth + before), true, 0);
            return;
        }
        self.bandwidth = bandwidth;
        self.begin_interval(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An interval of 100 segments a second.
    const FIRST: [(u64, u32); 5] = [(10, 0), (10, 2), (10, 2), (10, 2), (10, 2)];

    /// An estimate, and what its connection has counted.
    #[derive(Clone, Copy)]
    struct Flow {
        estimate: LongTerm,
        at: Counts,
    }

    impl Flow {
        fn of(mss: f64) -> Flow {
            Flow { estimate: LongTerm::new(true, mss), at: Counts::default() }
        }

        /// Rounds of 100 ms in PROBE_BW, each of which delivers and loses so many segments. Returns
        /// the bandwidth that is used after each.
        fn rounds(&mut self, each: &[(u64, u32)]) -> Vec<Option<f64>> {
            let mut used = Vec::new();
            for &(delivered, lost) in each {
                self.at.delivered += delivered;
                self.at.delivered_at += Time::from_ms(100);
                self.at.lost += lost;
                let event = Event { lost: lost > 0, limited: false, round: true, probe_bw: true };
                self.estimate.update(self.at, event);
                used.push(self.estimate.get());
            }
            used
        }
    }

    /// Linux, `bbr_lt_bw_sampling`, by hand. The first loss begins an interval, in that very round.
    /// So the third round behind it is the fourth: 30 segments in 300 ms are 100/s, with 6 lost,
    /// which is a fifth. The second interval has four rounds behind its beginning, of 44 segments in
    /// 400 ms with 9 lost: 110/s. The mean is 105/s.
    #[test]
    fn two_intervals_alike_are_a_policer() {
        let mut flow = Flow::of(1448.0);
        let second = [(11, 2), (11, 2), (11, 2), (11, 3)];
        assert_eq!(flow.rounds(&FIRST), [None; 5]);
        assert_eq!(flow.rounds(&second), [None, None, None, Some(105.0)]);
        // the 48th round is the first that probes again
        let used = flow.rounds(&[(10, 2); 48]);
        assert!(used[..47].iter().all(|&bandwidth| bandwidth == Some(105.0)));
        assert_eq!(used[47], None);
    }

    /// By hand: 45 segments in 400 ms are an eighth above 100/s, 46 are more. They take the place of
    /// the first interval, and the next is compared with them.
    #[test]
    fn more_than_an_eighth_apart_is_another_rate() {
        let mut flow = Flow::of(1448.0);
        flow.rounds(&FIRST);
        let alike = flow.clone().rounds(&[(0, 0), (0, 0), (0, 0), (45, 9)]);
        assert_eq!(alike[3], Some(106.25));
        let apart = flow.rounds(&[(0, 0), (0, 0), (0, 0), (46, 9)]);
        assert_eq!(apart[3], None);
        let again = flow.rounds(&[(0, 0), (0, 0), (0, 0), (46, 9)]);
        assert_eq!(again[3], Some(115.0));
    }

    /// By hand: one segment in 300 ms and one in 400 are 10/3 and 5/2 a second, a quarter apart. Of
    /// segments of 500 bytes that is 413 B/s with the margin, of 1448 it is 1195. The mean is 35/12.
    #[test]
    fn little_differs_little() {
        let each = [(0, 1), (0, 0), (0, 0), (1, 1), (0, 0), (0, 0), (0, 0), (1, 1)];
        let used = |mss: f64| Flow::of(mss).rounds(&each)[7];
        assert_eq!(used(500.0).map(|bandwidth| (bandwidth * 12.0).round()), Some(35.0));
        assert_eq!(used(1448.0), None);
    }

    /// By hand: 8 of 45 are less than 50 of 256, and the interval goes on. With one more in the next
    /// round they are a fifth: 45 in 500 ms are 90/s, and the mean is 95.
    #[test]
    fn few_losses_are_no_policer() {
        let mut flow = Flow::of(1448.0);
        flow.rounds(&FIRST);
        let few = flow.rounds(&[(0, 0), (0, 0), (0, 0), (45, 8)]);
        assert_eq!((few[3], flow.estimate.rounds), (None, 4));
        // sixteen rounds are too long
        let mut long = flow;
        long.rounds(&[(10, 1); 13]);
        assert!(!long.estimate.sampling);
        // so is an interval with too little to send
        let mut limited = flow;
        let event = Event { lost: true, limited: true, round: true, probe_bw: true };
        limited.estimate.update(limited.at, event);
        assert!(!limited.estimate.sampling);
        assert_eq!(flow.rounds(&[(0, 1)]), [Some(95.0)]);
    }

    /// The drafts know of no policers.
    #[test]
    fn only_linux_has_it() {
        let mut flow = Flow { estimate: LongTerm::new(false, 1448.0), ..Flow::of(1448.0) };
        assert_eq!(flow.rounds(&[(10, 5); 30]), [None; 30]);
    }
}
