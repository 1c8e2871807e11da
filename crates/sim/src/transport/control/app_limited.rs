//! The control of a sender whose application hands in data in parts.
//!
//! Each part ends in a segment of its own, which may be short. Between the parts the sender is
//! application-limited.
//!
//! A window that is not fully used is no evidence about the path, and does not grow (RFC 9438, 5.8;
//! applied here to every control that responds to losses). What counts is the most that was in
//! flight in the present window of data, not what is in flight when an acknowledgement comes: at
//! the end of a burst that is little (Linux: `tcp_is_cwnd_limited`, `tcp_cwnd_validate`).
//!
//! | symbol (Linux)    | here       | meaning                                               |
//! |-------------------|------------|-------------------------------------------------------|
//! | `max_packets_out` | `most`     | the most in flight in this window of data             |
//! | `is_cwnd_limited` | `full`     | the window has been full in it                        |
//! | `cwnd_usage_seq`  | `usage_end` | this window of data ends when this is acknowledged   |
//! | `snd_cwnd_stamp`  | `since`    | when the window was used last, or made smaller        |
//! | `snd_cwnd_used`   | `little`   | the most in flight since then                         |
//!
//! After an idle period the sender restarts from a smaller window ([`AppLimited::idle_restart`]), and
//! a window that is little used becomes smaller in Linux ([`AppLimited::shrink`]).
//! Samples of the delivery rate are marked application-limited by the sender.

use tidegate_core::packet::Ext;
use tidegate_core::units::Time;
use tidegate_model::profile::{LostSyn, Tcp};

use super::{
    Any, CongestionEvent, Control, Feedback, Leaving, Lost, Payloads, RateSample, SentOutcome,
    Signal,
};

/// A control, when its sender sent last, and which of its segments are short.
pub(crate) struct AppLimited {
    inner: Any,
    sent: Time,
    una: u64,
    usage_end: u64,
    most: u32,
    full: bool,
    little: u32,
    since: Time,
    /// Behind each short segment, and what all up to it lack together, in bytes.
    short: Vec<(u32, u64)>,
}

impl AppLimited {
    pub(crate) fn new(inner: Any) -> AppLimited {
        AppLimited {
            inner,
            sent: Time::NEVER,
            una: 0,
            usage_end: 0,
            most: 0,
            full: false,
            little: 0,
            since: Time::NEVER,
            short: Vec::new(),
        }
    }

    /// The segment before `end`, the last one so far, lacks so many bytes of a full one.
    pub(crate) fn shorten(&mut self, end: u32, bytes: u32) {
        if bytes > 0 {
            let before = self.short.last().map_or(0, |&(_, all)| all);
            self.short.push((end, before + u64::from(bytes)));
        }
    }

    /// What the segment before `end` lacks; from now on it counts as a full one.
    pub(crate) fn lengthen(&mut self, end: u32) -> u32 {
        match self.short.pop() {
            Some((last, all)) if last == end => {
                (all - self.short.last().map_or(0, |&(_, before)| before)) as u32
            }
            other => {
                self.short.extend(other);
                0
            }
        }
    }

    /// New data is available and nothing is in flight. After an idle period longer than its timeout
    /// a sender restarts from its initial window (RFC 5681, 4.1); Linux halves the window once per
    /// timeout of the period (RFC 2861, 3.1).
    pub(crate) fn idle_restart(&mut self, now: Time, rto: Time, tcp: &Tcp) {
        self.inner.on_fresh_data();
        let silent = now.saturating_sub(self.sent);
        if silent <= rto || self.inner.samples_rate() {
            return;
        }
        let cwnd = self.inner.cwnd();
        let restart = f64::from(tcp.initial_window).min(cwnd);
        if !tcp.timer_rule.of_linux() {
            return self.inner.on_idle(restart, 0.0);
        }
        let mut window = cwnd;
        let mut left = silent.saturating_sub(rto);
        while left > Time::ZERO && window > restart {
            window = (window / 2.0).floor();
            left = left.saturating_sub(rto);
        }
        self.inner.on_idle(window.max(restart), cwnd * 0.75);
        (self.little, self.since) = (0, now);
    }

    /// Data was sent outside of recovery. A window that was not used for a timeout comes half of the
    /// way down to what was, or to the initial one (RFC 2861, 3.2; Linux:
    /// `tcp_cwnd_application_limited`).
    pub(crate) fn shrink(&mut self, now: Time, rto: Time, tcp: &Tcp) {
        let soon = now.saturating_sub(self.since) < rto;
        if soon || !tcp.timer_rule.of_linux() || self.inner.samples_rate() {
            return;
        }
        let (cwnd, used) = (self.inner.cwnd(), f64::from(self.little.max(tcp.initial_window)));
        if used < cwnd {
            self.inner.on_idle(((cwnd + used) / 2.0).floor(), (cwnd * 0.75).floor());
        }
        (self.little, self.since) = (0, now);
    }
}

impl AppLimited {
    /// The same acknowledgement, by which a window that is not used does not grow.
    fn limited<'a>(&mut self, sample: &RateSample<'a>) -> RateSample<'a> {
        self.una = sample.una;
        RateSample { unused: !self.is_used() && !self.inner.samples_rate(), ..*sample }
    }

    /// Whether the window is used; in slow start it may be twice what was acknowledged.
    fn is_used(&self) -> bool {
        let cwnd = self.inner.cwnd();
        let slow_start = self.inner.ssthresh().is_none_or(|threshold| cwnd < threshold);
        self.full || (slow_start && cwnd < f64::from(self.most * 2))
    }

    /// A segment is sent; with it, `flight` segments are in flight.
    fn note_usage(&mut self, now: Time, flight: u32) {
        let full = f64::from(flight) >= self.inner.cwnd().floor();
        if self.una >= self.usage_end || full || (!self.full && flight > self.most) {
            (self.full, self.most, self.usage_end) = (full, flight, self.una + u64::from(flight));
        }
        if self.since == Time::NEVER || self.is_used() {
            (self.little, self.since) = (0, now);
        } else {
            self.little = self.little.max(flight);
        }
    }
}

impl Payloads for AppLimited {
    fn lacking(&self, segments: u32) -> u64 {
        let behind = self.short.partition_point(|&(end, _)| end <= segments);
        behind.checked_sub(1).map_or(0, |last| self.short[last].1)
    }
}

impl Control for AppLimited {
    passed_on! { to_inner }
    passed_on_but_by_a_start! { to_inner }
    fn on_ack(&mut self, sample: &RateSample<'_>) {
        let sample = self.limited(sample);
        self.inner.on_ack(&sample);
    }
    fn on_part(&mut self, sample: &RateSample<'_>) {
        let sample = self.limited(sample);
        self.inner.on_part(&sample);
    }
    fn on_sent(&mut self, now: Time, flight: u32) {
        self.sent = now;
        self.note_usage(now, flight);
        self.inner.on_sent(now, flight);
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::profile::{Profile, TimerRule};

    use super::*;

    /// A sender of a profile, in slow start, whose window has grown to 64 segments.
    fn grown(tcp: &Tcp) -> AppLimited {
        let mut control = AppLimited::new(Any::inside(tcp));
        while control.cwnd() < 64.0 {
            control.on_sent(Time::from_secs(1), control.cwnd() as u32);
            control.on_ack(&sample(0, 63));
        }
        control.on_sent(Time::from_secs(10), 1);
        control
    }

    fn sample(una: u64, flight: u32) -> RateSample<'static> {
        let of_one = RateSample::of_one(Time::from_secs(1), Time::from_ms(100), una, 0);
        RateSample { flight, ..of_one }
    }

    /// RFC 5681, 4.1: no restart after an idle time up to the timeout; then min(IW, cwnd), here 10.
    #[test]
    fn a_long_silence_starts_the_window_anew() {
        let tcp = Profile::Rfc.tcp();
        for (silent_ms, window) in [(1000, 64.0), (1001, f64::from(tcp.initial_window))] {
            let mut control = grown(&tcp);
            let now = Time::from_secs(10) + Time::from_ms(silent_ms);
            control.idle_restart(now, Time::from_secs(1), &tcp);
            assert_eq!(control.cwnd(), window, "after {silent_ms} ms");
        }
    }

    /// RFC 2861 as in Linux, calculated by hand: with a timeout of 1 s a window of 64 becomes 32
    /// after 1.5 s, 16 after 2.5 s, and never less than the initial window of 10.
    #[test]
    fn linux_halves_it_for_every_timeout() {
        let tcp = Profile::Linux.tcp();
        assert_eq!(tcp.timer_rule, TimerRule::Linux);
        for (silent_ms, window) in [(900, 64.0), (1500, 32.0), (2500, 16.0), (60_000, 10.0)] {
            let tcp = Tcp { control: tidegate_model::control::TcpControl::Reno, ..tcp.clone() };
            let mut control = grown(&tcp);
            let now = Time::from_secs(10) + Time::from_ms(silent_ms);
            control.idle_restart(now, Time::from_secs(1), &tcp);
            assert_eq!(control.cwnd(), window, "after {silent_ms} ms");
        }
    }

    /// Linux (`tcp_is_cwnd_limited`), by hand: in slow start a window of 64 grows where more than 32
    /// were in flight in this window of data, however few are left of them when they are
    /// acknowledged; and in congestion avoidance only where all 64 were.
    #[test]
    fn a_window_grows_by_what_was_in_flight_in_it() {
        for (threshold, sent, grows) in
            [(100, 32, false), (100, 33, true), (1, 63, false), (1, 64, true)]
        {
            let tcp = Tcp { initial_window: 64, initial_ssthresh: threshold, ..Profile::Rfc.tcp() };
            let mut control = AppLimited::new(Any::inside(&tcp));
            (1..=sent).for_each(|flight| control.on_sent(Time::from_secs(1), flight));
            (1..=sent).for_each(|una| control.on_ack(&sample(una.into(), sent - una)));
            assert_eq!(control.cwnd() > 64.5, grows, "{sent} of 64, threshold {threshold}");
        }
    }
}
