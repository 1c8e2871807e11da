//! CUBIC (RFC 9438): after a loss the window returns to its earlier size along a cubic function of
//! time, and then grows beyond it.
//!
//! | symbol       | here         | value | meaning                                      | unit     |
//! |--------------|--------------|-------|----------------------------------------------|----------|
//! | C            | `C`          | 0.4   | steepness of the curve (5.1)                 | segments/s^3 |
//! | beta_cubic   | `BETA`       | 0.7   | factor on the window at a loss (4.6)         | 1        |
//! | alpha_cubic  | `ALPHA`      | 9/17  | growth in the Reno-friendly region (4.3)     | segments/RTT |
//! | cwnd         | `cwnd`       |       | congestion window                            | segments |
//! | ssthresh     | `ssthresh`   |       | slow-start threshold                         | segments |
//! | W_max        | `w_max`      |       | window before the last reduction             | segments |
//! | cwnd_prior   | `cwnd_prior` |       | the same, without fast convergence           | segments |
//! | K            | `k`          |       | time from the start of the epoch to W_max (eq. 2) | s   |
//! | epoch_start  | `epoch`      |       | start of congestion avoidance, plus the time that does not count (5.8) | |
//! | W_est        | `w_est`      |       | the window that Reno would have (eq. 4)      | segments |
//! | -            | `BLIND`      | 1/20  | least growth while W_max is unknown (Linux)  | 1/RTT    |
//! | -            | `least`      |       | least round trip (Linux's `delay_min`)       | s        |
//! | -            | `SETTLES`    | 1 s   | of an epoch, in which round trips do not count for it (Linux) | |
//!
//! By the loss rule `linux` it is that of `tcp_cubic.c` in three more points. Slow start may end long
//! before the queue is full: until a loss sets W_max, at first or again after a timeout, the window
//! grows by at least 1/20 per round trip. HyStart also applies to the slow start after a timeout. The
//! curve is looked up the least round trip ahead, not the smoothed one. And windows are whole: so many
//! acknowledged segments (`cnt`) make it one larger.
//!
//! Limits: a loss that turns out not to have been one (4.9) gives back the window and the threshold,
//! and leaves W_max, K and the epoch as the loss set them. Departure: where more than the window is
//! outstanding, `flight_size` of 4.6 is the window, because here recovery begins only after SACK
//! blocks have let new segments out.

use tidegate_core::units::Time;
use tidegate_model::profile::{LossRule, Tcp};

use super::hystart::HyStart;
use super::{CongestionEvent, Control, RateSample, Signal};

const C: f64 = 0.4;
const BETA: f64 = 0.7;
/// The same in Linux, which counts in 1024ths.
const LINUX_BETA: f64 = 717.0 / 1024.0;
/// 3 (1 - beta) / (1 + beta): the growth in segments per round trip with which the mean window
/// equals Reno's (4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

const BLIND: f64 = 0.05;
/// Growth of its Reno, which counts in eighths: one segment for 15/8 windows.
const LINUX_ALPHA: f64 = 8.0 / 15.0;
/// How long a rate of growth holds in it while the window stays the same (`bictcp_update`).
const HOLDS: Time = Time::from_ms(28);
/// Round trips of the first second of an epoch may still have the queue of the loss in them (Linux:
/// `cubictcp_acked`).
const SETTLES: Time = Time::from_secs(1);

/// Window of a CUBIC sender.
#[derive(Clone, Copy, Debug)]
pub struct Cubic {
    cwnd: f64,
    /// Segments acknowledged since congestion avoidance last opened the window (Linux's
    /// `snd_cwnd_cnt`).
    credit: f64,
    /// How many of them open it (`cnt`), since when, and the window then.
    needs: f64,
    judged: (Time, f64),
    ssthresh: f64,
    w_max: f64,
    cwnd_prior: f64,
    w_est: f64,
    k: f64,
    /// None before the first acknowledgement of this congestion avoidance.
    epoch: Option<Time>,
    /// Until when time counts in the epoch so far.
    run: Time,
    /// The least round trip since the connection or its last timeout began ([`Time::NEVER`]: none).
    least: Time,
    rule: LossRule,
    /// Largest useful window.
    cap: f64,
    /// Limit on the segments by which one ACK grows the window in slow start; zero: every segment
    /// counts as one in both phases.
    most: u32,
    hystart: HyStart,
    /// Whether the first slow start is over.
    searched: bool,
    /// Whether this congestion avoidance follows a timeout, or a slow start that ended without a
    /// loss.
    afresh: bool,
    /// Whether no loss has set W_max, so that the window has to search as Linux's does.
    blind: bool,
}

impl Cubic {
    /// A new connection under a class's settings.
    pub fn new(tcp: &Tcp) -> Cubic {
        Cubic {
            cwnd: f64::from(tcp.initial_window),
            credit: 0.0,
            needs: f64::INFINITY,
            judged: (Time::ZERO, 0.0),
            ssthresh: f64::from(tcp.initial_ssthresh),
            w_max: 0.0,
            cwnd_prior: 0.0,
            w_est: 0.0,
            k: 0.0,
            epoch: None,
            run: Time::ZERO,
            least: Time::NEVER,
            rule: tcp.loss_rule,
            cap: f64::from(tcp.window),
            most: tcp.byte_counting,
            hystart: HyStart::new(tcp.hystart),
            searched: false,
            afresh: true,
            blind: tcp.loss_rule == LossRule::Linux,
        }
    }

    /// Slow start (4.10), the first one with HyStart. Returns how many segments are left for congestion
    /// avoidance, where slow start ends (Linux: `cubictcp_cong_avoid`).
    fn slow_start(&mut self, sample: &RateSample<'_>, segments: u32) -> u32 {
        let room = (self.ssthresh - self.cwnd).max(1.0);
        let step = if self.most == 0 { 1 } else { segments.min(self.most) };
        let grown = f64::from(step).min(room);
        let ends = !self.searched && self.hystart.ends_at(sample, self.cwnd);
        if ends {
            self.ssthresh = self.cwnd;
        }
        let grown = if ends { 0.0 } else { grown };
        self.cwnd += grown;
        if self.cwnd < self.ssthresh { 0 } else { step.saturating_sub(grown as u32) }
    }

    /// The round trip of an acknowledgement counts where Linux counts it (`cubictcp_acked`): for the
    /// least one, and for HyStart also where the window is not used.
    fn measure(&mut self, sample: &RateSample<'_>) {
        let settles = self.epoch.is_some_and(|epoch| sample.now.saturating_sub(epoch) < SETTLES);
        if sample.rtt == Time::ZERO || settles {
            return;
        }
        self.least = self.least.min(sample.rtt);
        let searches = self.cwnd < self.ssthresh && !self.searched;
        if sample.opens() == 0 && searches && self.hystart.ends_at(sample, self.cwnd) {
            self.ssthresh = self.cwnd;
        }
    }

    /// Starts a new congestion avoidance: the origin of its curve.
    fn begin(&mut self, now: Time) {
        self.epoch = Some(now);
        self.w_est = self.cwnd;
        if self.cwnd_prior == 0.0 {
            // 4.1.2: there was no congestion event yet
            self.cwnd_prior = self.cwnd;
        }
        if self.afresh || self.cwnd >= self.w_max {
            // 4.8: after a timeout, and where no loss has set W_max
            self.w_max = self.cwnd;
            self.k = 0.0;
        } else {
            // eq. 2
            self.k = libm::cbrt((self.w_max - self.cwnd) / C);
        }
        self.afresh = false;
    }

    /// Eq. 1.
    fn w_cubic(&self, t: f64) -> f64 {
        let from = t - self.k;
        C * from * from * from + self.w_max
    }

    /// The window was not fully used until now: this time does not count (5.8).
    fn pause(&mut self, now: Time) {
        self.epoch = self.epoch.map(|epoch| epoch + now.saturating_sub(self.run));
        self.run = now;
    }

    /// Congestion avoidance (4.2 to 4.5).
    fn avoid(&mut self, sample: &RateSample<'_>, segments: f64) {
        if self.epoch.is_none() {
            self.begin(sample.now);
        }
        let t = sample.now.saturating_sub(self.epoch.unwrap_or(sample.now)).secs();
        if self.rule == LossRule::Linux {
            self.count(sample, t, segments);
        } else {
            self.follow(sample, t, segments);
        }
    }

    /// Follows the curve, or Reno where that is faster.
    fn follow(&mut self, sample: &RateSample<'_>, t: f64, segments: f64) {
        // eq. 4: alpha is 1 once the window at the last loss is reached
        let alpha = if self.w_est >= self.cwnd_prior { 1.0 } else { ALPHA };
        self.w_est += alpha * segments / self.cwnd;
        if self.w_cubic(t) < self.w_est {
            // 4.3: the Reno-friendly region
            self.cwnd = self.cwnd.max(self.w_est);
            return;
        }
        // 4.2: the curve one round trip ahead, within bounds; 4.4 and 4.5
        let target = self.w_cubic(t + sample.srtt.secs()).clamp(self.cwnd, 1.5 * self.cwnd);
        self.cwnd += segments * (target - self.cwnd) / self.cwnd;
    }

    /// The same in whole segments (Linux: `bictcp_update`, `tcp_cong_avoid_ai`). Its Reno gains as
    /// much beyond the window of the last loss as before.
    fn count(&mut self, sample: &RateSample<'_>, t: f64, segments: f64) {
        self.w_est += LINUX_ALPHA * segments / self.cwnd;
        let (since, window) = self.judged;
        if window != self.cwnd || sample.now.saturating_sub(since) > HOLDS {
            self.needs = self.judge(sample, t);
            self.judged = (sample.now, self.cwnd);
        }
        let needs = self.needs;
        if self.credit >= needs {
            (self.credit, self.cwnd) = (0.0, self.cwnd + 1.0);
        }
        self.credit += segments;
        if self.credit >= needs {
            self.cwnd += (self.credit / needs).floor();
            self.credit %= needs;
        }
    }

    /// How many acknowledged segments make the window one larger.
    fn judge(&self, sample: &RateSample<'_>, t: f64) -> f64 {
        let cwnd = self.cwnd;
        let ahead = if self.least < Time::NEVER { self.least } else { sample.srtt };
        // below W_max and beyond it the distance is rounded down
        let target = self.w_max + (self.w_cubic(t + ahead.secs()) - self.w_max).trunc();
        let for_one =
            |beyond: f64| if beyond > 0.0 { (cwnd / beyond).floor() } else { 100.0 * cwnd };
        let most = if self.blind { 1.0 / BLIND } else { f64::INFINITY };
        let reno = for_one(self.w_est.floor() - cwnd);
        for_one(target - cwnd).min(most).min(reno).max(2.0)
    }

    /// 4.6 and 4.7.
    fn reduce(&mut self, at: &CongestionEvent) {
        // Linux (`cubictcp_recalc_ssthresh`) takes the window, as 4.6 allows
        let linux = self.rule == LossRule::Linux;
        let flight = if linux { self.cwnd } else { f64::from(at.flight).min(self.cwnd) };
        let whole = |window: f64| if linux { window.floor() } else { window };
        let beta = if linux { LINUX_BETA } else { BETA };
        self.cwnd_prior = self.cwnd;
        // 4.7: a flow that lost before it was back at W_max leaves room for newer flows
        let lost_early = self.cwnd < self.w_max;
        self.w_max = if lost_early { whole(self.cwnd * (1.0 + beta) / 2.0) } else { self.cwnd };
        self.ssthresh = whole(flight * beta).max(2.0);
        self.epoch = None;
        self.credit = 0.0;
        self.searched = true;
    }
}

impl Control for Cubic {
    #[inline]
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn on_ack(&mut self, sample: &RateSample<'_>) {
        let segments = sample.opens();
        if self.rule == LossRule::Linux {
            self.measure(sample);
        }
        if sample.unused {
            return self.pause(sample.now);
        }
        self.run = sample.now;
        if segments == 0 {
            return;
        }
        let mut left = if self.most == 0 { 1 } else { segments };
        if self.cwnd < self.ssthresh {
            left = self.slow_start(sample, segments);
            if self.rule != LossRule::Linux {
                left = 0;
            }
        }
        if left > 0 {
            self.searched = true;
            self.avoid(sample, f64::from(left));
        }
        self.cwnd = self.cwnd.min(self.cap);
    }

    fn on_sent(&mut self, now: Time, flight: u32) {
        // 5.8: nothing else is in flight
        if flight <= 1 {
            self.pause(now);
        }
    }

    fn on_part(&mut self, sample: &RateSample<'_>) {
        if self.most == 0 {
            self.on_ack(&RateSample { segments: 1, delivered: 1, ..*sample });
        }
    }

    fn on_congestion(&mut self, signal: Signal, at: &CongestionEvent) {
        if signal != Signal::LossAfterMark {
            self.reduce(at);
            self.afresh = false;
            self.blind = false;
        }
        self.cwnd = self.ssthresh;
    }

    fn on_timeout(&mut self, at: &CongestionEvent, again: bool) {
        // RFC 5681, 3.1: unchanged when the same segment is lost again
        if !again {
            self.reduce(at);
        }
        self.afresh = true;
        self.epoch = None;
        (self.cwnd, self.credit) = (1.0, 0.0);
        if self.rule == LossRule::Linux {
            // `bictcp_reset`
            (self.blind, self.searched, self.least) = (true, false, Time::NEVER);
            self.hystart.begin_anew();
        }
    }

    fn on_recovered(&mut self, _: f64) {
        self.cwnd = self.ssthresh;
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
    use tidegate_model::profile::{HyStart as Kind, Profile};

    use super::*;

    fn sample(now_s: f64, segments: u32, flight: u32) -> RateSample<'static> {
        let of_one = RateSample::of_one(Time::from_secs_f64(now_s), Time::from_ms(100), 0, 0);
        RateSample { segments, delivered: segments, flight, ..of_one }
    }

    fn at(flight: u32) -> CongestionEvent {
        CongestionEvent { flight, window: f64::from(flight), ..CongestionEvent::default() }
    }

    /// A sender in congestion avoidance after a loss at this window.
    fn after_loss(window: u32) -> Cubic {
        after_loss_in(Profile::Rfc, window)
    }

    fn after_loss_in(profile: Profile, window: u32) -> Cubic {
        let tcp = Tcp { hystart: Kind::None, initial_window: window, ..profile.tcp() };
        let mut cubic = Cubic::new(&Tcp { byte_counting: u32::MAX, ..tcp });
        cubic.on_congestion(Signal::Loss, &at(window));
        cubic.on_recovered(0.0);
        cubic
    }

    /// RFC 9438, 4.6 and eqs. 1 and 2, by hand for a loss at 1000 segments: cwnd is
    /// 700, W_max 1000, K = (300 / 0.4)^(1/3) = 9.0856 s. W_cubic(0) = 1000 - 0.4 * 750 = 700,
    /// W_cubic(K / 2) = 1000 - 300 / 8 = 962.5, W_cubic(K) = 1000, W_cubic(2 K) = 1300.
    #[test]
    fn the_curve_by_hand() {
        let mut cubic = after_loss(1000);
        assert_eq!((cubic.cwnd(), cubic.w_max), (700.0, 1000.0));
        cubic.begin(Time::ZERO);
        let k = 9.085_603;
        assert!((cubic.k - k).abs() < 1e-6, "{}", cubic.k);
        for (t, window) in [(0.0, 700.0), (k / 2.0, 962.5), (k, 1000.0), (2.0 * k, 1300.0)] {
            assert!((cubic.w_cubic(t) - window).abs() < 1e-4, "{t}: {}", cubic.w_cubic(t));
        }
    }

    /// Linux (`bictcp_update`: `cnt` is at most 20 while `last_max_cwnd` is 0), by hand: without a
    /// W_max a window of 100 grows by one for 20 that are acknowledged, where the curve asks for
    /// 20 x 0.4 (0.1 s)^3 / 100 and Reno for 20 x 8/15 / 100. A loss shows a W_max; a timeout resets it.
    #[test]
    fn without_a_loss_linux_grows_by_a_twentieth() {
        let tcp = Tcp { initial_window: 100, initial_ssthresh: 100, ..Profile::Linux.tcp() };
        let grown = |cubic: &mut Cubic| {
            let before = cubic.cwnd();
            (0..10).for_each(|_| cubic.on_ack(&sample(1.0, 2, 200)));
            cubic.cwnd() - before
        };
        let mut cubic = Cubic::new(&tcp);
        assert_eq!(grown(&mut cubic), 1.0);
        let mut plain = Cubic::new(&Tcp { loss_rule: LossRule::Rfc, ..tcp });
        assert!(grown(&mut plain) < 0.2);
        cubic.on_congestion(Signal::Loss, &at(100));
        cubic.on_recovered(0.0);
        assert_eq!(grown(&mut cubic), 0.0);
        cubic.on_timeout(&at(70), false);
        cubic.cwnd = cubic.ssthresh;
        assert_eq!(grown(&mut cubic), 1.0);
    }

    /// 4.2 to 4.4, by hand: an ACK of one segment a second into the epoch, with an RTT of
    /// 100 ms, aims at W_cubic(1.1) = 1000 + 0.4 (1.1 - 9.085603)^3 = 796.3037.
    #[test]
    fn an_acknowledgement_moves_towards_the_target() {
        let mut cubic = after_loss(1000);
        cubic.begin(Time::from_secs(50));
        cubic.on_ack(&sample(51.0, 1, 699));
        let expected = 700.0 + (796.3037 - 700.0) / 700.0;
        assert!((cubic.cwnd() - expected).abs() < 1e-6, "{}", cubic.cwnd());
    }

    /// 5.8, by hand: an ACK at 50 s begins the epoch, in which Reno's window is at first ahead
    /// of the curve, by 9/17 / 700. Up to 60 s only a tenth of the window is in flight, or
    /// nothing at all. Then the ACK at 61 s is one second into the epoch, where it aims at
    /// 796.3037 (as above). With the ten seconds in it, W_cubic(11.1) would be 1003.
    #[test]
    fn time_without_use_of_the_window_does_not_count() {
        let first = 700.0 + 9.0 / 17.0 / 700.0;
        let second = first + (796.3037 - first) / first;
        for idle in [false, true] {
            let mut cubic = after_loss(1000);
            cubic.on_ack(&sample(50.0, 1, 699));
            assert!((cubic.cwnd() - first).abs() < 1e-6, "{}", cubic.cwnd());
            if idle {
                cubic.on_sent(Time::from_secs(60), 1);
            } else {
                cubic.on_ack(&RateSample { unused: true, ..sample(60.0, 1, 99) });
            }
            cubic.on_ack(&sample(61.0, 1, 699));
            assert!((cubic.cwnd() - second).abs() < 1e-6, "{idle}: {}", cubic.cwnd());
        }
    }

    /// Ideal acknowledgements, a window each round trip of 100 ms, for 18 s: the target is
    /// W_cubic(18.1) = 1293.0. A round trip of steps of (target - cwnd) / cwnd leaves a part 1/e of
    /// the distance, so the window lags by 1 / (e - 1) of what the curve gains in one, 9.75.
    #[test]
    fn the_window_follows_the_curve() {
        let mut cubic = after_loss(1000);
        for round in 0..=180 {
            let segments = cubic.cwnd() as u32;
            for _ in 0..segments {
                cubic.on_ack(&sample(f64::from(round) / 10.0, 1, segments));
            }
        }
        let expected = 1293.0 - 9.75 / (std::f64::consts::E - 1.0);
        assert!((cubic.cwnd() - expected).abs() < 1.0, "{}", cubic.cwnd());
    }

    /// 4.7, by hand: the second loss comes at 800, below W_max = 1000, so W_max
    /// becomes 800 * 1.7 / 2 = 680; a loss at 900 after one at 680 leaves it at 900.
    #[test]
    fn fast_convergence_makes_room() {
        let mut cubic = after_loss(1000);
        cubic.cwnd = 800.0;
        cubic.on_congestion(Signal::Loss, &at(800));
        assert_eq!((cubic.w_max, cubic.ssthresh), (680.0, 560.0));
        cubic.cwnd = 900.0;
        cubic.on_congestion(Signal::Mark, &at(900));
        assert_eq!((cubic.w_max, cubic.ssthresh), (900.0, 630.0));
    }

    /// Linux (`bictcp_update`), by hand: its Reno gains 8/15 a round trip beyond the last window too,
    /// so 9 in 17 of them, and the one after Reno does as much: `cnt` is the window where Reno is one
    /// ahead.
    #[test]
    fn linux_grows_as_slowly_beyond_the_last_window() {
        for (profile, gain) in [(Profile::Rfc, 17.0), (Profile::Linux, 9.0)] {
            let mut cubic = after_loss_in(profile, 20);
            (cubic.cwnd, cubic.w_max) = (20.0, 20.0);
            for round in 0..17 {
                for _ in 0..cubic.cwnd() as u32 {
                    let mut ack = sample(f64::from(round) * 0.03, 1, 20);
                    (ack.srtt, ack.rtt) = (Time::from_ms(10), Time::from_ms(10));
                    cubic.on_ack(&ack);
                }
            }
            assert!((cubic.cwnd() - 20.0 - gain).abs() < 1.1, "{profile:?}: {}", cubic.cwnd());
        }
    }

    /// 4.3 and eq. 4, by hand: after a loss at 20 with an RTT of 10 ms the curve needs
    /// K = 15^(1/3) = 2.47 s, and Reno gains 9/17 a round trip: it is at 14 + 6 after
    /// 11.3 round trips, and then gains 1. CUBIC must be as far.
    #[test]
    fn it_is_no_slower_than_reno() {
        let mut cubic = after_loss(20);
        let mut rounds = 0.0;
        while cubic.cwnd() < 20.0 {
            let segments = cubic.cwnd() as u32;
            for _ in 0..segments {
                let mut ack = sample(rounds / 100.0, 1, segments);
                ack.srtt = Time::from_ms(10);
                cubic.on_ack(&ack);
            }
            rounds += 1.0;
        }
        assert!((11.0..=14.0).contains(&rounds), "{rounds}");
        let window = cubic.cwnd();
        for _ in 0..20 {
            let mut ack = sample(rounds / 100.0, 1, 20);
            ack.srtt = Time::from_ms(10);
            cubic.on_ack(&ack);
        }
        assert!((cubic.cwnd() - window - 1.0).abs() < 0.06, "alpha is 1 from W_max on");
    }

    /// 4.8: after a timeout the threshold is 0.7 of the window, slow start begins
    /// at one, and the next epoch starts with K = 0 and W_max = cwnd.
    #[test]
    fn a_timeout_starts_anew() {
        let mut cubic = after_loss(1000);
        cubic.cwnd = 100.0;
        cubic.on_timeout(&at(100), false);
        assert_eq!((cubic.cwnd(), cubic.ssthresh), (1.0, 70.0));
        cubic.on_timeout(&at(1), true);
        assert_eq!(cubic.ssthresh, 70.0, "RFC 5681, 3.1: the same segment again");
        cubic.cwnd = 70.0;
        cubic.begin(Time::ZERO);
        assert_eq!((cubic.k, cubic.w_max), (0.0, 70.0));
    }
}
