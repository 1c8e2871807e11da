//! The retransmission timeout of one sender (RFC 6298).
//!
//! | symbol | meaning                          |
//! |--------|----------------------------------|
//! | SRTT   | smoothed round-trip time         |
//! | RTTVAR | its mean deviation               |
//! | RTO    | SRTT + 4 RTTVAR, at least a bound |
//!
//! Linux (`tcp_rtt_estimator`) bounds the margin above SRTT, not the sum. It does not let it fall as
//! fast as RTTVAR either: it is the largest 4 RTTVAR of a round trip,
//! and comes down once a round trip by a quarter of the way. A round trip that is shorter than
//! expected, by more than RTTVAR, counts an eighth of what a longer one does.
//!
//! | symbol (Linux) | here              | meaning                                     | unit |
//! |----------------|-------------------|---------------------------------------------|------|
//! | `mdev_us`      | 4 `rttvar`        | four times the mean deviation               | us   |
//! | `mdev_max_us`  | `peak`            | the largest of them in this round trip      | us   |
//! | `rttvar_us`    | `base` - `srtt`   | the margin                                  | us   |
//! | `rtt_seq`      | `end`             | behind what was sent when the round began   | segments |
//!
//! A clock with ticks counts whole ticks and keeps SRTT in eighths and RTTVAR
//! in quarters of one, rounded down (Jacobson 1988, appendix A; BSD and ns-2).
//! What is lost in rounding keeps RTTVAR up at three quarters of a tick.

use tidegate_core::units::Time;
use tidegate_model::profile::TimerRule;

use super::ClassParams;

/// Round-trip estimate, what is being measured for it, and the timeout that follows.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Rto {
    /// Zero: no sample yet.
    srtt: Time,
    rttvar: Time,
    /// The timeout before any back-off; zero: no sample yet.
    base: Time,
    /// When the timed segment was sent.
    pub(super) timed_at: Time,
    /// The segment that is being timed.
    pub(super) timed: u32,
    pub(super) timing: bool,
    /// How often the SYN or its answer was sent again.
    pub(super) syn_again: u8,
    backoff: u8,
}

/// Additional state of Linux for the current round trip; part of the record of outstanding
/// segments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Round {
    /// The largest 4 RTTVAR of it.
    peak: Time,
    /// It is over once more than this is acknowledged.
    end: u32,
}

impl Round {
    /// All numbers become less by a lap.
    pub(super) fn renumber(&mut self, lap: u32) {
        self.end = self.end.saturating_sub(lap);
    }
}

/// A sample's round trip, with what has been acknowledged and what has been sent: behind the last
/// segment of either.
pub(crate) struct Progress<'a> {
    pub(super) round: &'a mut Round,
    pub(super) acked: u32,
    pub(super) sent: u32,
}

/// Most back-offs of one packet: beyond any bound of the timeout.
const MOST: u8 = 40;
/// After so many in a row its SRTT counts as wrong (a factor of 16).
const FORGETS: u8 = 4;

impl Rto {
    pub(crate) const NEW: Rto = Rto {
        srtt: Time::ZERO,
        rttvar: Time::ZERO,
        base: Time::ZERO,
        timed_at: Time::ZERO,
        timed: 0,
        timing: false,
        syn_again: 0,
        backoff: 0,
    };

    /// Smoothed round-trip time; zero: not measured.
    pub(super) fn srtt(&self) -> Time {
        self.srtt
    }

    /// Whether the timer is backed off.
    pub(super) fn backed_off(&self) -> bool {
        self.backoff > 0
    }

    /// How long to wait for an acknowledgement; `syn_lost`: of the first segments.
    #[inline]
    pub(crate) fn timeout(&self, class: &ClassParams, syn_lost: bool) -> Time {
        let base = if self.base == Time::ZERO { class.first_rto(syn_lost) } else { self.base };
        let waits = class.backed_off(base, u32::from(self.backoff));
        if class.tcp.timer_rule == TimerRule::FullTcp2001 {
            return waits.max(class.tcp.min_rto).max(class.tcp.tick * 2);
        }
        waits
    }

    /// The timer has expired (RFC 6298, 5.5).
    ///
    /// After many expiries in a row FullTcp, like BSD, starts its estimate anew
    /// with the next sample, while the timeout stays; RFC 6298, section 5 leaves it open.
    pub(crate) fn back_off(&mut self, rule: TimerRule) {
        self.backoff = self.backoff.saturating_add(1).min(MOST);
        if rule.of_full_tcp() && self.backoff >= FORGETS {
            self.srtt = Time::ZERO;
        }
    }

    /// A SYN or data was acknowledged: the back-off ends where this is enough.
    pub(super) fn reset_backoff(&mut self, rule: TimerRule) {
        if rule != TimerRule::FullTcp2001 {
            self.backoff = 0;
        }
    }

    /// A round trip from `sent` to `now` (RFC 6298, 2.2 and 2.3).
    #[inline]
    pub(crate) fn sample(
        &mut self,
        sent: Time,
        now: Time,
        progress: Option<Progress<'_>>,
        class: &ClassParams,
    ) {
        let tick = class.tcp.tick.ps();
        let base = match now.ps().checked_div(tick) {
            Some(ticks) => self.sample_ticks(ticks.saturating_sub(sent.ps() / tick), tick),
            None => match progress {
                Some(progress) if class.tcp.timer_rule == TimerRule::Linux => {
                    self.sample_by_rounds(now.saturating_sub(sent), progress, class.tcp.min_rto)
                }
                _ => self.sample_exact(now.saturating_sub(sent)),
            },
        };
        let bounded = class.tcp.timer_rule != TimerRule::FullTcp2001;
        self.base = if bounded { base.max(class.tcp.min_rto) } else { base };
        self.backoff = 0;
    }

    #[inline]
    fn sample_exact(&mut self, measured: Time) -> Time {
        if self.srtt == Time::ZERO {
            self.srtt = measured;
            self.rttvar = measured / 2;
        } else {
            let error = self.srtt.ps().abs_diff(measured.ps());
            self.rttvar = Time::from_ps((3 * self.rttvar.ps() + error) / 4);
            self.srtt = Time::from_ps((7 * self.srtt.ps() + measured.ps()) / 8);
        }
        self.srtt + self.rttvar * 4
    }

    /// `tcp_rtt_estimator` and `__tcp_set_rto` of Linux.
    fn sample_by_rounds(&mut self, measured: Time, progress: Progress<'_>, least: Time) -> Time {
        let Progress { round, acked, sent } = progress;
        if self.srtt == Time::ZERO {
            self.srtt = measured;
            self.rttvar = measured / 2;
            let margin = (self.rttvar * 4).max(least);
            *round = Round { peak: margin, end: sent };
            return self.srtt + margin;
        }
        let mut margin = self.base.saturating_sub(self.srtt);
        let (error, deviation) = (self.srtt.ps().abs_diff(measured.ps()), self.rttvar.ps());
        let shorter = measured < self.srtt && error > deviation;
        let gain = if shorter { 32 } else { 4 };
        self.rttvar = Time::from_ps(((gain - 1) * deviation + error) / gain);
        self.srtt = Time::from_ps((7 * self.srtt.ps() + measured.ps()) / 8);
        round.peak = round.peak.max(self.rttvar * 4);
        margin = margin.max(round.peak);
        if acked > round.end {
            margin = margin - (margin - round.peak) / 4;
            *round = Round { peak: least, end: sent };
        }
        self.srtt + margin
    }

    fn sample_ticks(&mut self, ticks: u64, tick: u64) -> Time {
        let ticks = ticks.max(1);
        let (eighth, quarter) = ((tick / 8).max(1), (tick / 4).max(1));
        let (mut srtt, mut rttvar) = (self.srtt.ps() / eighth, self.rttvar.ps() / quarter);
        if srtt == 0 {
            srtt = 8 * ticks;
            rttvar = 2 * ticks;
        } else {
            let error = ticks.abs_diff(srtt / 8);
            srtt = (srtt + ticks - srtt / 8).max(1);
            rttvar = (rttvar + error - rttvar / 4).max(1);
        }
        self.srtt = Time::from_ps(srtt * eighth);
        self.rttvar = Time::from_ps(rttvar * quarter);
        Time::from_ps((srtt / 8 + rttvar) * tick)
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::profile::Profile;

    use super::*;

    /// The timeouts of a profile after each of the round trips, in milliseconds.
    fn timeouts(profile: Profile, round_trips: &[u64]) -> Vec<f64> {
        let class = ClassParams::of(profile.tcp());
        let (mut rto, mut round) = (Rto::NEW, Round::default());
        let mut now = Time::from_ms(1000);
        let sampled = round_trips.iter().zip(1..).map(|(&ms, k)| {
            let sent = now;
            now += Time::from_ms(ms);
            // each round trip is a round
            let progress = Progress { round: &mut round, acked: 2 * k, sent: 2 * k + 1 };
            rto.sample(sent, now, Some(progress), &class);
            rto.timeout(&class, false).secs() * 1e3
        });
        sampled.collect()
    }

    fn close(measured: &[f64], expected: &[f64]) {
        assert_eq!(measured.len(), expected.len());
        for (one, two) in measured.iter().zip(expected) {
            assert!((one - two).abs() < 1e-6, "{measured:?}, by hand {expected:?}");
        }
    }

    /// features C6, RFC 6298, 2.2 and 2.3, by hand in ms for 1000, 2000, 1000 and 3000:
    /// (SRTT, RTTVAR) = (1000, 500), (1125, 625), (1109.375, 500), (1345.703125, 847.65625).
    #[test]
    fn the_timeout_follows_the_formula() {
        let expected = [3000.0, 3625.0, 3109.375, 4_736.328_125];
        close(&timeouts(Profile::Rfc, &[1000, 2000, 1000, 3000]), &expected);
    }

    /// RFC 6298, 2.4: at least the minimum, 1 s in the RFC; in Linux a margin of 0.2 s above the 10 ms.
    #[test]
    fn the_timeout_is_at_least_the_minimum() {
        close(&timeouts(Profile::Rfc, &[10, 10]), &[1000.0, 1000.0]);
        close(&timeouts(Profile::Linux, &[10, 10]), &[210.0, 210.0]);
    }

    /// Linux, `tcp_rtt_estimator`: the margin above the round trip is at least 200 ms; by hand,
    /// 40 + max(4 x 20, 200), and the same again.
    #[test]
    fn the_least_timeout_of_linux_is_a_margin() {
        close(&timeouts(Profile::Linux, &[40; 2]), &[240.0, 240.0]);
    }

    /// Linux, `tcp_rtt_estimator`, by hand in ms: each round trip with what it acknowledges and
    /// what has been sent by then, and (SRTT, RTTVAR, margin).
    ///
    /// The SYN's 160 gives (160, 80, 320). 160 again: 4 RTTVAR falls to 240, the margin stays, as
    /// the largest of this round is still 320; a new round begins, until more than 10 is
    /// acknowledged, whose largest counts as 200 at least. By the acknowledgement of 11 that has
    /// been no more, and the margin comes down by a quarter of 320 - 200, to 290; a round later, by
    /// that of 23, to 290 - 90 / 4 = 267.5.
    #[test]
    fn the_margin_of_linux_comes_down_once_a_round_trip() {
        let class = ClassParams::of(Profile::Linux.tcp());
        let (mut rto, mut round) = (Rto::NEW, Round::default());
        let found =
            [(0, 0), (1, 10), (2, 12), (10, 20), (11, 22), (23, 40)].map(|(acked, sent)| {
                let progress = Progress { round: &mut round, acked, sent };
                rto.sample(Time::ZERO, Time::from_ms(160), Some(progress), &class);
                rto.timeout(&class, false).secs() * 1e3
            });
        close(&found, &[480.0, 480.0, 480.0, 480.0, 450.0, 427.5]);
    }

    /// The same: a round trip of 320 where 160 (RTTVAR 80) is expected makes 4 RTTVAR
    /// (3 x 80 + 160) / 4 x 4 = 400, and the margin follows at once: SRTT 180 + 400. One of 40
    /// ms after 160 is shorter by 120, and counts an eighth: RTTVAR (31 x 80 + 120) / 32 = 81.25,
    /// SRTT 145, the margin 325.
    #[test]
    fn a_longer_round_trip_counts_more_than_a_shorter_one() {
        let class = ClassParams::of(Profile::Linux.tcp());
        for (ms, timeout) in [(320, 580.0), (40, 470.0)] {
            let (mut rto, mut round) = (Rto::NEW, Round::default());
            for ms in [160, ms] {
                let progress = Progress { round: &mut round, acked: 0, sent: 0 };
                rto.sample(Time::ZERO, Time::from_ms(ms), Some(progress), &class);
            }
            close(&[rto.timeout(&class, false).secs() * 1e3], &[timeout]);
        }
    }

    /// Jacobson 1988, appendix A, with ticks of 10 ms and SRTT in eighths, RTTVAR in quarters, by
    /// hand for four round trips of 20 ticks: (160, 40), (160, 30), (160, 23), (160, 18).
    #[test]
    fn ticks_round_the_deviation_down() {
        let expected = [600.0, 500.0, 430.0, 380.0];
        close(&timeouts(Profile::Ns2Of2006, &[200, 200, 200, 200]), &expected);
    }

    /// ns-2's change log, 8 March 2002, by hand: round trips of two ticks of 100 ms give
    /// (SRTT, RTTVAR) = (16, 4), an RTO of 600 ms, which the least RTO of 1 s lifts. Doubled it is
    /// 1.2, 2.4 and 4.8 s, where bounding came first 2, 4 and 8 s. An acknowledgement alone
    /// leaves the back-off, a sample ends it.
    #[test]
    fn before_2002_the_least_timeout_bounds_what_is_backed_off() {
        for (profile, waits, calmed) in [
            (Profile::Ns2Of2001, [1000.0, 1200.0, 2400.0, 4800.0], 4800.0),
            (Profile::Ns2Of2003, [1000.0, 2000.0, 4000.0, 8000.0], 1000.0),
        ] {
            let mut tcp = profile.tcp();
            tcp.tick = Time::from_ms(100);
            let class = ClassParams::of(tcp);
            let mut rto = Rto::NEW;
            rto.sample(Time::ZERO, Time::from_ms(200), None, &class);
            let mut found = vec![rto.timeout(&class, false).secs() * 1e3];
            for _ in 0..3 {
                rto.back_off(class.tcp.timer_rule);
                found.push(rto.timeout(&class, false).secs() * 1e3);
            }
            close(&found, &waits);
            rto.reset_backoff(class.tcp.timer_rule);
            close(&[rto.timeout(&class, false).secs() * 1e3], &[calmed]);
            rto.sample(Time::from_ms(5000), Time::from_ms(5200), None, &class);
            close(&[rto.timeout(&class, false).secs() * 1e3], &[1000.0]);
        }
    }

    /// features C6, RFC 6298, 5.5 and 5.7: each expiry doubles, up to the bound (60 s), and a
    /// sample ends the back-off (Karn: only of what was not sent again, which the sender sees to).
    #[test]
    fn expiries_double_and_a_sample_ends_them() {
        let class = ClassParams::of(Profile::Rfc.tcp());
        let mut rto = Rto::NEW;
        rto.sample(Time::ZERO, Time::from_ms(1000), None, &class);
        let waits: Vec<u64> = (0..7)
            .map(|_| {
                rto.back_off(class.tcp.timer_rule);
                (rto.timeout(&class, false).secs()) as u64
            })
            .collect();
        assert_eq!(waits, [6, 12, 24, 48, 60, 60, 60]);
        rto.sample(Time::from_ms(5000), Time::from_ms(6000), None, &class);
        // (1000, 375)
        assert_eq!(rto.timeout(&class, false), Time::from_ms(2500));
    }
}
