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

use super::MARGIN;

const LEAST_ROUNDS: u32 = 4;
const LOSSES: f64 = 50.0 / 256.0;
const RATIO: f64 = 1.0 / 8.0;
const BYTES_PER_S: f64 = 500.0;
const MOST_ROUNDS: u32 = 48;
/// An interval is not shorter than this, whatever its rounds.
const LEAST: Time = Time::from_ms(1);

/// What the connection has counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// When something was acknowledged last.
    pub now: Time,
    /// Segments delivered.
    pub delivered: u64,
    /// Segments marked lost, of those too that had been sent again.
    pub lost: u32,
}

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
    latest: Counts,
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
            latest: Counts::default(),
        }
    }

    /// The bandwidth, in segments per second, while it is used.
    pub(super) fn get(&self) -> Option<f64> {
        self.used.then_some(self.bandwidth)
    }

    /// Nothing is known.
    pub(super) fn reset(&mut self) {
        (self.bandwidth, self.used, self.sampling) = (0.0, false, false);
        self.begin_interval();
    }

    fn begin_interval(&mut self) {
        (self.since, self.rounds) = (self.latest, 0);
    }

    /// The timer has expired, which ends a round; `lost` segments were marked lost so far.
    pub(super) fn time_out(&mut self, lost: u32, probe_bw: bool) {
        let at = Counts { lost, ..self.latest };
        self.update(at, Event { lost: true, limited: false, round: true, probe_bw });
    }

    /// An acknowledgement.
    pub(super) fn update(&mut self, at: Counts, event: Event) {
        if !self.present {
            return;
        }
        self.latest = at;
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
            self.begin_interval();
            self.sampling = true;
        }
        self.rounds += u32::from(event.round);
        if event.limited || self.rounds > 4 * LEAST_ROUNDS {
            return self.reset();
        }
        if self.rounds >= LEAST_ROUNDS && event.lost {
            self.end_interval();
        }
    }

    /// The interval may end with a loss.
    fn end_interval(&mut self) {
        let lost = self.latest.lost.wrapping_sub(self.since.lost);
        let delivered = (self.latest.delivered - self.since.delivered) as f64;
        let time = self.latest.now.saturating_sub(self.since.now);
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
        self.begin_interval();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An interval of 100 segments a second.
    const FIRST: [(u64, u32); 5] = [(10, 0), (10, 2), (10, 2), (10, 2), (10, 2)];

    /// Rounds of 100 ms in PROBE_BW, each of which delivers and loses so many segments. Returns the
    /// bandwidth that is used after each.
    fn rounds(estimate: &mut LongTerm, each: &[(u64, u32)]) -> Vec<Option<f64>> {
        let at = |latest: &Counts, &(delivered, lost): &(u64, u32)| Counts {
            now: latest.now + Time::from_ms(100),
            delivered: latest.delivered + delivered,
            lost: latest.lost + lost,
        };
        let round = |one: &(u64, u32)| {
            let counts = at(&estimate.latest, one);
            let event = Event { lost: one.1 > 0, limited: false, round: true, probe_bw: true };
            estimate.update(counts, event);
            estimate.get()
        };
        each.iter().map(round).collect()
    }

    /// Linux, `bbr_lt_bw_sampling`, by hand. The first loss begins an interval, in that very round.
    /// So the third round behind it is the fourth: 30 segments in 300 ms are 100/s, with 6 lost, and
    /// 6 are 0.2 of 30. The second interval has four rounds behind its beginning, of 44 segments in
    /// 400 ms with 9 lost: 110/s. The mean is 105/s.
    #[test]
    fn two_intervals_alike_are_a_policer() {
        let mut estimate = LongTerm::new(true, 1448.0);
        let second = [(11, 2), (11, 2), (11, 2), (11, 3)];
        assert_eq!(rounds(&mut estimate, &FIRST), [None; 5]);
        assert_eq!(rounds(&mut estimate, &second), [None, None, None, Some(105.0)]);
        // the 48th round is the first that probes again
        let used = rounds(&mut estimate, &[(10, 2); 48]);
        assert!(used[..47].iter().all(|&bandwidth| bandwidth == Some(105.0)));
        assert_eq!(used[47], None);
    }

    /// By hand: 45 segments in 400 ms are an eighth above 100/s, 46 are more. They take the place of
    /// the first interval, and the next is compared with them.
    #[test]
    fn more_than_an_eighth_apart_is_another_rate() {
        let mut estimate = LongTerm::new(true, 1448.0);
        rounds(&mut estimate, &FIRST);
        let alike = rounds(&mut estimate.clone(), &[(0, 0), (0, 0), (0, 0), (45, 9)]);
        assert_eq!(alike[3], Some(106.25));
        let apart = rounds(&mut estimate, &[(0, 0), (0, 0), (0, 0), (46, 9)]);
        assert_eq!(apart[3], None);
        let again = rounds(&mut estimate, &[(0, 0), (0, 0), (0, 0), (46, 9)]);
        assert_eq!(again[3], Some(115.0));
    }

    /// By hand: 3.3/s and 2.5/s are a quarter apart. Of segments of 500 bytes that is 413 B/s with
    /// the margin, of 1448 it is 1195.
    #[test]
    fn little_differs_little() {
        let used = |mss: f64| {
            let mut estimate = LongTerm::new(true, mss);
            rounds(&mut estimate, &[(0, 1), (0, 0), (0, 0), (1, 1), (0, 0), (0, 0), (0, 0), (1, 1)])
                [7]
        };
        assert_eq!(used(500.0).map(|bandwidth| (bandwidth * 12.0).round()), Some(35.0));
        assert_eq!(used(1448.0), None);
    }

    /// By hand: 8 of 45 is less than 50 of 256, and so is 8 of 41; 9 of 45 is more. Behind sixteen
    /// rounds without the losses of a fifth it begins anew, as where there was too little to send.
    #[test]
    fn few_losses_are_no_policer() {
        let mut estimate = LongTerm::new(true, 1448.0);
        rounds(&mut estimate, &FIRST);
        let few = rounds(&mut estimate, &[(0, 0), (0, 0), (0, 0), (45, 8)]);
        assert_eq!((few[3], estimate.rounds), (None, 4), "the interval goes on");
        let (mut long, mut limited) = (estimate, estimate);
        rounds(&mut long, &[(10, 1); 13]);
        assert!(!long.sampling);
        let event = Event { lost: true, limited: true, round: true, probe_bw: true };
        limited.update(limited.latest, event);
        assert!(!limited.sampling);
        assert_eq!(rounds(&mut estimate, &[(0, 1)]), [Some(100.0 + 0.5 * (90.0 - 100.0))]);
    }

    /// The drafts know of no policers.
    #[test]
    fn only_linux_has_it() {
        let mut estimate = LongTerm::new(false, 1448.0);
        assert_eq!(rounds(&mut estimate, &[(10, 5); 30]), [None; 30]);
    }

    /// Linux (`bbr_set_state`): a timeout ends a round, and is a loss.
    #[test]
    fn a_timeout_ends_an_interval() {
        let mut estimate = LongTerm::new(true, 1448.0);
        rounds(&mut estimate, &[(10, 1), (10, 0), (20, 0)]);
        assert_eq!((estimate.rounds, estimate.bandwidth), (3, 0.0));
        estimate.time_out(7, true);
        // 30 segments in 200 ms, as nothing was acknowledged since
        assert_eq!((estimate.rounds, estimate.bandwidth), (0, 150.0));
    }
}
