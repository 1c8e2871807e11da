//! Rate adaptation of video: the rate at which a player requests its next segment.
//!
//! | symbol            | here          | unit  | meaning, and the source's value                                  |
//! |-------------------|---------------|-------|------------------------------------------------------------------|
//! | `R_1 .. R_m`      | `ladder`      | bit/s | available rates, ascending; `R_min` is the first, `R_max` the last |
//! | `Rate_prev`       | `level`       |       | rate of the previous segment |
//! | `Rate+`, `Rate-`  |               | bit/s | its neighbours in the ladder                                     |
//! | `B(t)`, `Buf_now` | `buffered`    | s     | playing time in the buffer |
//! | `B_max`           | `buffer`      | s     | size of the buffer; BBA: 240 s |
//! | `r`               | `reservoir`   | s     | up to here the lowest rate; BBA: 90 s |
//! | `cu`              | `cushion`     | s     | over this range the rate rises to the highest; BBA: 126 s        |
//! | `f(B)`            | `rate_map`    | bit/s | linear from `R_min` at `r` to `R_max` at `r + cu`                |
//! | `w`               | `estimate`    | bit/s | harmonic mean of the throughput of the last segments; FESTIVE: of 20 |
//! | `p`               | `safety`      | 1     | share of `w` that may be requested; FESTIVE: 0.85 |
//!
//! [`Bba`] is BBA-0 of T.-Y. Huang, R. Johari, N. McKeown, M. Trunnell and
//! M. Watson, "A Buffer-Based Approach to Rate Adaptation", SIGCOMM 2014,
//! section 4 and Algorithm 1. For each segment:
//! 1. In the reservoir: `R_min`.
//! 2. Beyond reservoir and cushion: `R_max`.
//! 3. `f(B)` has reached `Rate+`: the highest rate below `f(B)`.
//! 4. `f(B)` has fallen to `Rate-`: the lowest rate above `f(B)`.
//! 5. Otherwise the rate stays.
//!
//! [`Throughput`] is the estimator of J. Jiang, V. Sekar and H. Zhang, FESTIVE,
//! CoNEXT 2012: the highest rate up to `p w`. Before the first segment there is
//! no estimate, and the rate is `R_min`.
//!
//! Departures:
//! - the paper gives BBA's reservoir and cushion for a buffer of 240 s. For another buffer they are
//!   the same shares of it, 90/240 and 126/240. But the cushion ends where one more segment just
//!   fits: no request is made above that, and the highest rate must be reachable.
//! - of FESTIVE only the estimator is implemented: no increase by one rate at a time, no stability
//!   score, no randomised request times. The estimate is used from the first segment on;
//!   implementations of FESTIVE keep the lowest rate until there are 20 segments.
//!
//! Limits: all segments of one rate have the same size, so there is no look-ahead at sizes (BBA-1
//! and BBA-2 have one).

use std::collections::VecDeque;

use crate::units::{Rate, Time};
use crate::{laws, settings};

use super::settings::Refused;

laws! {
    /// How a player chooses rates, with its settings: `{ law = "throughput", safety = 0.9 }`.
    "VideoRule", "How a player of video chooses rates.", "a table, as in { law = \"bba\" }";
    pub enum Rule {
        /// By the playing time in the buffer.
        Bba(Bba) = "bba",
        /// By the throughput of the last segments.
        Throughput(Throughput) = "throughput",
        /// Always the same rate.
        Fixed(Fixed) = "fixed",
    }
}

settings! {
    /// Settings of BBA-0.
    "Bba" as pub Bba:
    reservoir: Option<Time> = none "Playing time in the buffer up to which the lowest rate is asked for; default 90/240 of the buffer, 0s up to the buffer" ("Huang et al., 4: 90 s of 240 s");
    cushion: Option<Time> = none "Playing time over which the rate rises from the lowest to the highest; default 126/240 of the buffer, from 1ms; both together up to the buffer less a segment, where the default ends too" ("Huang et al., 4: 126 s of 240 s");
}

settings! {
    /// Settings of the choice by throughput.
    "Throughput" as pub Throughput:
    safety: f64 = 0.85 [0.01 to 1] "Share of the estimate that may be asked for" ("FESTIVE: p");
    segments: u32 = 20 [1 to 1000] "Segments that the harmonic mean is over, fewer at the beginning" ("FESTIVE: 20");
}

settings! {
    /// Settings of a fixed rate.
    "Fixed" as pub Fixed:
    rate: Option<Rate> = none "The rate, one of the ladder; default the highest of it";
}

impl Rule {
    /// Fills in the defaults that follow from the ladder and from the buffer.
    pub fn fill_in_defaults(&mut self, ladder: &[Rate], buffer: Time, segment: Time) {
        let part = |of_240: u64| Time::from_ps(buffer.ps() / 240 * of_240);
        match self {
            Rule::Bba(bba) => {
                let reservoir = *bba.reservoir.get_or_insert(part(90));
                let room = buffer.saturating_sub(segment).saturating_sub(reservoir);
                bba.cushion.get_or_insert(part(126).min(room));
            }
            Rule::Throughput(_) => {}
            Rule::Fixed(fixed) => fixed.rate = fixed.rate.or(ladder.last().copied()),
        }
    }

    /// Whether every value is in range, once defaults are filled in.
    ///
    /// # Errors
    /// The field that is not, and what would be right.
    pub fn check(&self, ladder: &[Rate], buffer: Time, segment: Time) -> Result<(), Refused> {
        match self {
            Rule::Bba(bba) => {
                let (reservoir, cushion) = bba.bounds();
                if cushion < Time::from_ms(1) {
                    let what = format!("{cushion} is out of range: write a time from 1ms");
                    return Err(("cushion".into(), what));
                }
                let both = reservoir.saturating_add(cushion);
                let room = buffer.saturating_sub(segment);
                if both > room {
                    let what = format!(
                        "reservoir and cushion are {both} together, longer than the buffer less a \
                         segment, {room}: write shorter ones, or leave both out"
                    );
                    return Err(("reservoir".into(), what));
                }
                Ok(())
            }
            Rule::Throughput(settings) => settings.in_range(),
            Rule::Fixed(fixed) => {
                let Some(rate) = fixed.rate.filter(|rate| !ladder.contains(rate)) else {
                    return Ok(());
                };
                let rungs: Vec<String> = ladder.iter().map(ToString::to_string).collect();
                let rungs = rungs.join(", ");
                Err(("rate".into(), format!("{rate} is not in the ladder: write one of {rungs}")))
            }
        }
    }
}

impl Bba {
    /// r and cu.
    fn bounds(&self) -> (Time, Time) {
        (self.reservoir.unwrap_or_default(), self.cushion.unwrap_or_default())
    }

    /// f(B), in bit/s; constant outside of the cushion.
    fn rate_map(&self, ladder: &[Rate], buffered: Time) -> f64 {
        let (reservoir, cushion) = self.bounds();
        let into = buffered.saturating_sub(reservoir).min(cushion);
        let bps = |rate: Option<&Rate>| rate.map_or(0.0, |rate| rate.bps() as f64);
        let (least, most) = (bps(ladder.first()), bps(ladder.last()));
        least + (most - least) * (into.secs() / cushion.secs())
    }

    /// Algorithm 1: the index in the ladder of the next rate.
    fn choose(&self, ladder: &[Rate], level: usize, buffered: Time) -> usize {
        let (reservoir, cushion) = self.bounds();
        let highest = ladder.len().saturating_sub(1);
        if buffered <= reservoir {
            return 0;
        }
        if buffered >= reservoir + cushion {
            return highest;
        }
        let map = self.rate_map(ladder, buffered);
        let rate = |place: usize| ladder.get(place).map_or(0.0, |rate| rate.bps() as f64);
        if level < highest && map >= rate(level + 1) {
            let below = (0..=highest).rev().find(|&place| rate(place) < map);
            // an f(B) of exactly Rate+ is above every lower rate
            return below.unwrap_or(level).max(level);
        }
        if level > 0 && map <= rate(level - 1) {
            return (0..=highest).find(|&place| rate(place) > map).unwrap_or(level).min(level);
        }
        level
    }
}

/// The choice of rates of one player.
#[derive(Clone, Debug, Default)]
pub struct Adaptation {
    /// Index in the ladder of the previous rate.
    level: usize,
    /// Throughput of the last segments, in bit/s.
    samples: VecDeque<f64>,
}

impl Adaptation {
    /// A segment of so many bytes has arrived, this long after its request.
    pub fn fetched(&mut self, rule: &Rule, bytes: u64, took: Time) {
        let Rule::Throughput(settings) = rule else { return };
        if took == Time::ZERO {
            return;
        }
        self.samples.push_back(bytes as f64 * 8.0 / took.secs());
        while self.samples.len() > settings.segments as usize {
            self.samples.pop_front();
        }
    }

    /// w, in bit/s; none before the first segment.
    fn estimate(&self) -> Option<f64> {
        let sum: f64 = self.samples.iter().map(|rate| 1.0 / rate).sum();
        (sum > 0.0).then(|| self.samples.len() as f64 / sum)
    }

    /// Index in the ladder of the next segment's rate, with this much in the buffer.
    pub fn choose(&mut self, rule: &Rule, ladder: &[Rate], buffered: Time) -> usize {
        self.level = match rule {
            Rule::Bba(bba) => bba.choose(ladder, self.level, buffered),
            Rule::Throughput(settings) => {
                let most = self.estimate().map_or(0.0, |estimate| estimate * settings.safety);
                ladder.iter().rposition(|rate| rate.bps() as f64 <= most).unwrap_or(0)
            }
            Rule::Fixed(fixed) => {
                ladder.iter().position(|&rate| Some(rate) == fixed.rate).unwrap_or(0)
            }
        };
        self.level
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ladder(mbit: &[u64]) -> Vec<Rate> {
        mbit.iter().map(|&rate| Rate::from_bps(rate * 1_000_000)).collect()
    }

    /// The rates chosen in sequence with these seconds in the buffer.
    fn chosen(rule: &Rule, ladder: &[Rate], buffered: &[u64]) -> Vec<usize> {
        let mut player = Adaptation::default();
        let each = buffered.iter().map(|&s| player.choose(rule, ladder, Time::from_secs(s)));
        each.collect()
    }

    fn settled(mut rule: Rule, ladder: &[Rate], buffer_s: u64) -> Rule {
        let (buffer, segment) = (Time::from_secs(buffer_s), Time::from_secs(4));
        rule.fill_in_defaults(ladder, buffer, segment);
        rule.check(ladder, buffer, segment).unwrap();
        rule
    }

    /// Huang et al., section 4: of a buffer of 240 s the reservoir is 90 s and the cushion
    /// 126 s, so that the highest rate comes at 216 s, nine tenths of it.
    #[test]
    fn reservoir_and_cushion_are_those_of_the_paper() {
        let rule = settled(Rule::default(), &ladder(&[1, 5]), 240);
        let Rule::Bba(bba) = &rule else { panic!("{rule:?}") };
        assert_eq!(bba.bounds(), (Time::from_secs(90), Time::from_secs(126)));
        assert_eq!(chosen(&rule, &ladder(&[1, 5]), &[90, 215, 216]), [0, 0, 1]);
    }

    /// By hand: of 30 s the shares are 11.25 and 15.75 s; a segment of 4 s is asked for with up to
    /// 26 s in the buffer, so the cushion is 26 - 11.25 = 14.75 s, and the highest rate is reached.
    #[test]
    fn the_highest_rate_is_within_reach_of_a_short_buffer() {
        let rule = settled(Rule::default(), &ladder(&[1, 5]), 30);
        let Rule::Bba(bba) = &rule else { panic!("{rule:?}") };
        assert_eq!(bba.bounds(), (Time::from_ms(11_250), Time::from_ms(14_750)));
        assert_eq!(chosen(&rule, &ladder(&[1, 5]), &[26]), [1]);
    }

    /// Algorithm 1 by hand: rates 1, 2, 3, 4, 5 Mbit/s, r = 10 s, cu = 40 s, so that
    /// f(B) = 1 + (B - 10)/10. At 25 s f = 2.5 is past Rate+ = 2: the highest below 2.5 is 2.
    /// At 45 s f = 4.5: 4. At 35 s f = 3.5 is above Rate- = 3: it stays 4. At 30 s f = 3 is at
    /// Rate-: the lowest above 3 is 4, so it stays. At 22 s f = 2.2: the lowest above is 3.
    /// At 50 s the highest, at 10 s the lowest.
    #[test]
    fn the_buffer_chooses_as_in_algorithm_1() {
        let rates = ladder(&[1, 2, 3, 4, 5]);
        let seconds = |s| Some(Time::from_secs(s));
        let rule = Rule::Bba(Bba { reservoir: seconds(10), cushion: seconds(40) });
        let buffered = [0, 25, 45, 35, 30, 22, 50, 10];
        assert_eq!(chosen(&rule, &rates, &buffered), [0, 1, 3, 3, 3, 2, 4, 0]);
    }

    /// By hand: 2, 4 and 4 Mbit/s have the harmonic mean 3 / (1/2 + 1/4 + 1/4) = 3, of which
    /// 0.85 is 2.55; over the last two it is 4, and 3.4.
    #[test]
    fn the_throughput_is_a_harmonic_mean() {
        let rates = ladder(&[1, 2, 3]);
        let choose = |segments, fetched: &[u64]| {
            let rule = Rule::Throughput(Throughput { safety: 0.85, segments });
            let mut player = Adaptation::default();
            for mbit in fetched {
                player.fetched(&rule, mbit * 125_000, Time::from_secs(1));
            }
            let estimate = player.estimate().map(|bps| bps / 1e6);
            (estimate, player.choose(&rule, &rates, Time::ZERO))
        };
        assert_eq!(choose(20, &[]), (None, 0));
        assert_eq!(choose(20, &[2, 4, 4]), (Some(3.0), 1));
        assert_eq!(choose(2, &[2, 4, 4]), (Some(4.0), 2));
    }

    #[test]
    fn a_fixed_rate_is_the_one_that_was_named_or_the_highest() {
        let rates = ladder(&[1, 2, 3]);
        let highest = settled(Rule::Fixed(Fixed::default()), &rates, 30);
        assert_eq!(chosen(&highest, &rates, &[0, 30]), [2, 2]);
        let named = Rule::Fixed(Fixed { rate: Some(rates[1]) });
        assert_eq!(chosen(&named, &rates, &[0, 30]), [1, 1]);
    }

    #[test]
    fn what_is_out_of_range_is_refused_with_its_field() {
        let rates = ladder(&[1, 2]);
        let seconds = |s| Some(Time::from_secs(s));
        let wrong = [
            ("reservoir", Rule::Bba(Bba { reservoir: seconds(20), cushion: seconds(7) })),
            ("cushion", Rule::Bba(Bba { reservoir: seconds(20), cushion: seconds(0) })),
            ("safety", Rule::Throughput(Throughput { safety: 1.1, segments: 20 })),
            ("segments", Rule::Throughput(Throughput { safety: 1.0, segments: 0 })),
            ("rate", Rule::Fixed(Fixed { rate: Some(Rate::from_bps(1_500_000)) })),
        ];
        for (field, rule) in wrong {
            let refused = rule.check(&rates, Time::from_secs(30), Time::from_secs(4)).unwrap_err();
            assert_eq!(refused.0, field);
        }
    }
}
