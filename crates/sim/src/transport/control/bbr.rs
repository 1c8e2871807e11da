//! BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00), as Linux runs it.
//!
//! BBR keeps a model of the path: the maximum delivery rate of ten rounds and the minimum round
//! trip of ten seconds. It paces at that rate, with about the product of the two in flight. Losses
//! are not a signal, but a timeout is; and in Linux a fifth of losses is taken for a policer.
//!
//! | symbol (draft)     | here                       | value        | meaning                         |
//! |--------------------|----------------------------|--------------|---------------------------------|
//! | BBRHighGain        | [`HIGH_GAIN`]              | 2/ln 2       | doubles the rate in a round     |
//! | BtlBwFilterLen     | [`bandwidth::ROUNDS`]      | 10 rounds    | window of the bandwidth filter (in Linux the round and ten more) |
//! | RTpropFilterLen    | [`min_rtt::WINDOW`]        | 10 s         | window of the round-trip filter |
//! | ProbeRTTDuration   | [`min_rtt::DURATION`]      | 200 ms       | how long PROBE_RTT lasts        |
//! | BBRMinPipeCwnd     | [`MIN_WINDOW`]             | 4 segments   | window in PROBE_RTT             |
//! | BBRGainCycleLen    | [`cycle::GAINS`]           | 8            | 1.25, 0.75, and six times 1     |
//! | cwnd_gain          | [`WINDOW_GAIN`]            | 2            | in PROBE_BW, for delayed ACKs   |
//! | send_quantum       | `quantum`                  | 1 to 127 segments | what is handed over at once (draft, 4.2.2); its limits are Linux's |
//! | -                  | [`MARGIN`]                 | 1 %          | pacing below the estimated rate (Linux) |
//! | -                  | `unpaced`                  | 10 segments  | sent at once at the start (Linux 6.18; 0 in other profiles) |
//! | pacing_rate        | `pace`                     | segments/s   |                                 |
//! | cwnd               | `cwnd`                     | segments     |                                 |
//!
//! The parts have a file each: [`bandwidth`], [`round`], [`full`] (is the pipe full?), [`cycle`],
//! [`min_rtt`], [`aggregation`], [`repair`] (the window in recovery), [`long_term`] (the bandwidth
//! behind a policer, which Linux adds).
//!
//! Departures: segments are paced one by one, not in batches of segmentation offload; the window has
//! room for such batches all the same, as in Linux, where it does not depend on whether the device
//! takes them. The first phase of the gain cycle is derived from the simulated time instead of a
//! random number. The maximum is exact, where Linux keeps three samples; the times of long-term
//! intervals are exact, where Linux has milliseconds.

mod aggregation;
mod bandwidth;
mod cycle;
mod full;
mod long_term;
mod min_rtt;
mod repair;
mod round;

use tidegate_core::units::Time;
use tidegate_model::profile::{LossRule, LostSyn, Tcp};

use super::{CongestionEvent, Control, Counts, DeliveryRate, Feedback, RateSample, Signal};
use aggregation::Aggregation;
use bandwidth::{Bandwidth, ROUNDS};
use cycle::Cycle;
use full::Full;
use long_term::{Event, LongTerm};
use min_rtt::MinRtt;
use repair::{Repair, State};
use round::Round;

/// 2/ln 2 (draft, 4.1.1.4).
const HIGH_GAIN: f64 = 2.0 / std::f64::consts::LN_2;
const WINDOW_GAIN: f64 = 2.0;
const MIN_WINDOW: f64 = 4.0;
const MARGIN: f64 = 0.99;
/// Below this rate a batch is one segment, from it on at least two (draft, 4.2.2), bit/s of payload.
const LOW_RATE: f64 = 1.2e6;
/// A batch takes the time of 2^-10 s at most (Linux: `sk_pacing_shift`; the draft has 1 ms), ...
const BATCHES_PER_S: f64 = 1024.0;
/// ... and has so many bytes at most: 64 KiB with 320 for the headers (Linux: `bbr_tso_segs_goal`).
const BATCH_BYTES: f64 = 65_215.0;

/// As `f64::ceil`, which calls a function of the mathematical library on processors without SSE 4.1.
fn ceil(value: f64) -> f64 {
    // above this every number is whole; what is no number is not below it
    if value.abs() < (1_u64 << 52) as f64 {
        let whole = (value as i64) as f64;
        return if whole < value { whole + 1.0 } else { whole };
    }
    value
}

/// The state of the connection (draft, 4.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// STARTUP: the rate doubles each round.
    Startup,
    /// DRAIN: the queue that startup built is drained.
    Drain,
    /// PROBE_BW: around the bandwidth, in a cycle of gains.
    ProbeBw,
    /// PROBE_RTT: almost nothing is in flight, to measure the minimum round trip.
    ProbeRtt,
}

/// A BBR sender.
#[derive(Clone, Debug)]
pub struct Bbr {
    mode: Mode,
    cwnd: f64,
    /// Largest useful window.
    cap: f64,
    initial_window: f64,
    /// Bytes of a full segment.
    mss: f64,
    /// Data segments sent at once, before pacing starts.
    unpaced: u8,
    /// Segments per second; zero: unknown.
    pace: f64,
    pacing_gain: f64,
    gap: Option<Time>,
    /// When the last segment was sent.
    sent: Time,
    bandwidth: Bandwidth,
    long_term: LongTerm,
    round: Round,
    full: Full,
    cycle: Cycle,
    min_rtt: MinRtt,
    aggregation: Aggregation,
    repair: Repair,
    /// The last acknowledgement found it in PROBE_RTT.
    held_back: bool,
    /// Data is sent again after a time without any, and none of it is acknowledged yet.
    idle_restart: bool,
}

impl Bbr {
    /// A new connection under a class's settings.
    pub fn new(tcp: &Tcp) -> Bbr {
        let initial_window = f64::from(tcp.initial_window);
        let linux = tcp.loss_rule == LossRule::Linux;
        Bbr {
            mode: Mode::Startup,
            cwnd: initial_window,
            cap: f64::from(tcp.window),
            initial_window,
            mss: f64::from(tcp.mss),
            unpaced: tcp.unpaced,
            pace: 0.0,
            pacing_gain: HIGH_GAIN,
            gap: None,
            sent: Time::ZERO,
            bandwidth: Bandwidth::new(if linux { ROUNDS + 1 } else { ROUNDS }),
            long_term: LongTerm::new(linux, f64::from(tcp.mss)),
            round: Round::default(),
            full: Full::default(),
            cycle: Cycle::default(),
            min_rtt: MinRtt::default(),
            aggregation: Aggregation::default(),
            repair: Repair::default(),
            held_back: false,
            idle_restart: false,
        }
    }

    /// The bandwidth that pace and window follow (Linux: `bbr_bw`).
    fn used_bandwidth(&self) -> f64 {
        self.long_term.get().unwrap_or_else(|| self.bandwidth.get())
    }

    /// What a gain is worth in flight at the maximum bandwidth (draft, 4.2.3.2).
    fn inflight(&self, gain: f64) -> f64 {
        self.quantised(self.product(self.bandwidth.get(), gain))
    }

    /// A bandwidth times the minimum round trip, times a gain, in whole segments.
    fn product(&self, bandwidth: f64, gain: f64) -> f64 {
        match self.min_rtt.get() {
            Some(rtt) => ceil(gain * bandwidth * rtt.secs()),
            None => self.initial_window,
        }
    }

    /// What will be in flight when the next batch leaves, of what is in flight now (Linux:
    /// `bbr_packets_in_net_at_edt`): some is delivered until then, and with a gain above 1 that batch
    /// comes on top.
    fn at_departure(&self, now: Time, flight: u32) -> f64 {
        let batch = if self.pacing_gain > 1.0 { self.quantum() } else { 0.0 };
        let wait = self.sent.saturating_add(self.gap.unwrap_or(Time::ZERO)).saturating_sub(now);
        let delivered = (self.used_bandwidth() * wait.secs()) as u32;
        (f64::from(flight) + batch - f64::from(delivered)).max(0.0)
    }

    /// Segments of a batch at the pacing rate (draft, 4.2.2; Linux: `bbr_tso_segs_goal`).
    fn quantum(&self) -> f64 {
        let least = if self.pace * self.mss * 8.0 < LOW_RATE { 1.0 } else { 2.0 };
        let most = (BATCH_BYTES / self.mss).min(127.0);
        let whole = (self.pace / BATCHES_PER_S).min(most) as u32;
        f64::from(whole).max(least)
    }

    /// What is on its way within the hosts: three batches (draft, 4.2.3.2). Linux rounds up to an
    /// even number, and adds two segments in the probing phase of the cycle.
    fn quantised(&self, window: f64) -> f64 {
        let even = ceil((window + 3.0 * self.quantum()) / 2.0) * 2.0;
        let probing = self.mode == Mode::ProbeBw && self.cycle.is_probing();
        if probing { even + 2.0 } else { even }
    }

    fn update_pacing_gain(&mut self) {
        self.pacing_gain = match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => 1.0 / HIGH_GAIN,
            Mode::ProbeBw if self.long_term.get().is_some() => 1.0,
            Mode::ProbeBw => self.cycle.gain(),
            Mode::ProbeRtt => 1.0,
        };
    }

    fn window_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => HIGH_GAIN,
            Mode::ProbeBw => WINDOW_GAIN,
            Mode::ProbeRtt => 1.0,
        }
    }

    /// Updates the model with an acknowledgement (draft, 4.1).
    fn update_model(&mut self, sample: &RateSample<'_>, rate: &DeliveryRate) {
        let valid = rate.interval > Time::ZERO;
        self.round.start = false;
        if valid {
            self.round.update(rate);
            if self.round.start {
                self.repair.round_is_over();
            }
            self.sample_long_term(sample.now, rate);
            let measured = f64::from(rate.delivered) / rate.interval.secs();
            if !rate.limited || measured >= self.bandwidth.get() {
                self.bandwidth.update(self.round.count, measured);
            }
            self.aggregation.update(sample, self.round.start, self.used_bandwidth(), self.cwnd);
        }
        if self.mode == Mode::ProbeBw {
            let mut cycle = self.cycle;
            let before = self.at_departure(sample.now, rate.flight.0);
            let gains = (self.pacing_gain, |gain| self.inflight(gain));
            cycle.update(sample.now, before, rate.losses, self.min_rtt.get(), gains);
            self.cycle = cycle;
        }
        if self.round.start && !rate.limited {
            self.full.update(self.bandwidth.get());
        }
        self.check_drain(sample.now, rate);
        self.check_probe_rtt(sample, rate);
        self.update_pacing_gain();
    }

    /// An acknowledgement, for the long-term bandwidth.
    fn sample_long_term(&mut self, now: Time, rate: &DeliveryRate) {
        let at = Counts { delivered: rate.total, delivered_at: now, lost: rate.lost };
        let event = Event {
            lost: rate.losses > 0,
            limited: rate.limited,
            round: self.round.start,
            probe_bw: self.mode == Mode::ProbeBw,
        };
        self.note_long_term(now, at, event);
    }

    #[inline]
    fn note_long_term(&mut self, now: Time, at: Counts, event: Event) {
        let was_used = self.long_term.get().is_some();
        self.long_term.update(at, event);
        match self.long_term.get() {
            Some(_) if !was_used => self.pacing_gain = 1.0,
            None if was_used => self.enter_probe_bw(now),
            _ => {}
        }
    }

    /// Draft, 4.3.3.
    fn check_drain(&mut self, now: Time, rate: &DeliveryRate) {
        if self.mode == Mode::Startup && self.full.reached() {
            self.mode = Mode::Drain;
        }
        let left = self.at_departure(now, rate.flight.1);
        if self.mode == Mode::Drain && left <= self.inflight(1.0) {
            self.enter_probe_bw(now);
        }
    }

    fn enter_probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        self.cycle = Cycle::begin(now);
    }

    /// Draft, 4.3.5. After an idle time the path is empty: a round trip is measured without a pause
    /// (Linux: `bbr_update_min_rtt`).
    fn check_probe_rtt(&mut self, sample: &RateSample<'_>, rate: &DeliveryRate) {
        let now = sample.now;
        let expired = self.min_rtt.update(sample.rtt, now);
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.repair.save(self.cwnd, true);
            self.mode = Mode::ProbeRtt;
            self.min_rtt.probe();
        }
        self.idle_restart &= sample.delivered == 0;
        self.held_back = self.mode == Mode::ProbeRtt;
        if self.mode != Mode::ProbeRtt {
            return;
        }
        let low = f64::from(rate.flight.1) <= MIN_WINDOW;
        if self.min_rtt.is_waiting() && low {
            self.round.restart(rate.total);
            self.round.start = false;
        }
        if self.min_rtt.probe_is_over(now, low, self.round.start) {
            self.leave_probe_rtt(now);
        }
    }

    fn leave_probe_rtt(&mut self, now: Time) {
        self.cwnd = self.cwnd.max(self.repair.saved());
        if self.full.reached() {
            self.enter_probe_bw(now);
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// Draft, 4.2.1: until the pipe was full, the rate is never lowered.
    fn set_pace(&mut self, gain: f64) {
        let pace = self.used_bandwidth() * gain * MARGIN;
        let new = pace != self.pace || self.gap.is_none();
        if new && pace > 0.0 && (self.full.reached() || pace > self.pace) {
            self.pace = pace;
            self.gap = Some(Time::from_secs_f64(1.0 / pace));
        }
    }

    /// Draft, 4.2.3.
    fn set_window(&mut self, sample: &RateSample<'_>, rate: &DeliveryRate) {
        let delivered = f64::from(sample.delivered);
        let (mut cwnd, bandwidth) = (self.cwnd, self.used_bandwidth());
        if sample.delivered > 0 {
            if self.repair.begins() {
                self.round.restart(rate.total);
            }
            let conserving = self.repair.window(&mut cwnd, sample, rate);
            if !conserving {
                let extra =
                    if self.full.reached() { self.aggregation.get(bandwidth).floor() } else { 0.0 };
                let target = self.quantised(self.product(bandwidth, self.window_gain()) + extra);
                if self.full.reached() {
                    cwnd = (cwnd + delivered).min(target);
                } else if cwnd < target || (rate.total as f64) < self.initial_window {
                    cwnd += delivered;
                }
                cwnd = cwnd.max(MIN_WINDOW);
            }
        }
        self.cwnd = cwnd.min(self.cap);
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(MIN_WINDOW);
        }
    }
}

impl Control for Bbr {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn gap(&self) -> Option<Time> {
        self.gap.filter(|_| self.unpaced == 0)
    }

    fn on_sent(&mut self, now: Time, _: u32) {
        self.unpaced = self.unpaced.saturating_sub(1);
        self.sent = now;
    }

    /// At the bandwidth of the path, and what was acknowledged before is no part of a burst of
    /// acknowledgements (Linux: `bbr_cwnd_event`).
    fn on_restart(&mut self, now: Time) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        match self.mode {
            Mode::ProbeBw => self.set_pace(1.0),
            Mode::ProbeRtt if self.min_rtt.pause_has_ended(now) => self.leave_probe_rtt(now),
            _ => {}
        }
    }

    fn holds_back(&self) -> bool {
        self.held_back
    }

    fn samples_rate(&self) -> bool {
        true
    }

    fn linux_paces(&self) -> bool {
        true
    }

    fn keeps_window(&self) -> bool {
        true
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        // the round trip of the handshake sets the first pacing rate (draft, 4.2.1), and is the
        // first estimate (4.1.2.3; Linux: `bbr_init`)
        if self.gap.is_none() && feedback.srtt > Time::ZERO {
            self.min_rtt.update(feedback.srtt, feedback.now);
            self.pace = HIGH_GAIN * self.cwnd / feedback.srtt.secs() * MARGIN;
            self.gap = Some(Time::from_secs_f64(1.0 / self.pace));
        }
    }

    fn on_ack(&mut self, sample: &RateSample<'_>) {
        let Some(rate) = &sample.rate else { return };
        self.repair.end_timeout(sample.una);
        self.update_model(sample, rate);
        self.set_pace(self.pacing_gain);
        self.set_window(sample, rate);
    }

    fn on_congestion(&mut self, signal: Signal, _: &CongestionEvent) {
        // version 1 ignores marks
        if signal != Signal::Mark {
            self.repair.save(self.cwnd, self.mode == Mode::ProbeRtt);
            self.repair.enter(State::Recovery);
        }
    }

    fn on_recovered(&mut self, _: f64) {
        self.repair.enter(State::Open);
    }

    fn on_timeout(&mut self, at: &CongestionEvent, again: bool) {
        if !again {
            self.repair.save(self.cwnd, self.mode == Mode::ProbeRtt);
        }
        self.repair.enter(State::Loss { until: at.sent });
        self.full.forget();
        // which ends a round, and tells of a loss (Linux: `bbr_set_state`)
        let probe_bw = self.mode == Mode::ProbeBw;
        let event = Event { lost: true, limited: false, round: true, probe_bw };
        self.note_long_term(at.now, at.counts, event);
        self.cwnd = 1.0;
    }

    fn on_spared(&mut self, segments: u32) {
        self.cwnd += f64::from(segments);
    }

    fn undoes(&self) -> bool {
        true
    }

    /// The window of before is restored at this acknowledgement (Linux: `bbr_undo_cwnd`).
    fn on_undone(&mut self, _: [f64; 2]) {
        self.repair.enter(State::Open);
        self.full.begin_again();
        self.long_term.reset();
    }

    fn on_lost_syn(&mut self, rule: LostSyn) {
        if matches!(rule, LostSyn::Rfc | LostSyn::Linux) {
            self.cwnd = 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use tidegate_core::packet::{Ext, Flags};
    use tidegate_model::profile::Profile;

    use super::*;

    /// Beside the standard library's, around whole numbers, and above those that have a fraction.
    #[test]
    fn what_is_rounded_up_is_as_the_library_rounds_it() {
        let far = (1_u64 << 52) as f64;
        for whole in [0.0, 1.0, 2.0, 1e6, 4e15, far, 2.0 * far, 1e300, f64::INFINITY] {
            for value in [whole, f64::next_up(whole), f64::next_down(whole), whole + 0.5] {
                assert_eq!(ceil(value), value.ceil(), "{value}");
                assert_eq!(ceil(-value), (-value).ceil(), "-{value}");
            }
        }
        assert!(ceil(f64::NAN).is_nan());
    }

    /// Linux (`tcp_update_skb_after_send`): the first ten data segments are sent at once, and the
    /// eleventh waits for the gap after the tenth. By hand: 0.99 x 2/ln 2 windows of 10 in a round
    /// trip of 100 ms.
    #[test]
    fn the_first_ten_segments_are_not_paced() {
        let mut bbr = Bbr::new(&Profile::Linux.tcp());
        let now = Time::from_ms(100);
        bbr.on_feedback(&Feedback {
            ext: &Ext::None,
            now,
            srtt: now,
            new: true,
            flags: Flags::ACK,
        });
        for sent in 0..10 {
            assert_eq!(bbr.gap(), None, "{sent}");
            bbr.on_sent(now, sent + 1);
        }
        let gap = bbr.gap().expect("the eleventh is paced").secs();
        assert!((gap - 0.1 * std::f64::consts::LN_2 / 20.0 / 0.99).abs() < 1e-9, "{gap}");
        let mut other = Bbr::new(&Profile::Rfc.tcp());
        other.on_feedback(&Feedback {
            ext: &Ext::None,
            now,
            srtt: now,
            new: true,
            flags: Flags::ACK,
        });
        assert!(other.gap().is_some(), "the draft paces from the first on");
    }

    /// Linux (`bbr_init`): the handshake has measured the path without data. A segment that takes
    /// longer, as on a slow link, does not replace that.
    #[test]
    fn the_handshake_measures_the_round_trip() {
        let mut bbr = Bbr::new(&Profile::Linux.tcp());
        let (now, srtt) = (Time::from_ms(40), Time::from_ms(40));
        bbr.on_feedback(&Feedback { ext: &Ext::None, now, srtt, new: true, flags: Flags::ACK });
        assert_eq!(bbr.min_rtt.get(), Some(srtt));
        bbr.min_rtt.update(Time::from_ms(52), Time::from_ms(92));
        assert_eq!(bbr.min_rtt.get(), Some(srtt));
    }

    /// Draft, 4.2.2, with Linux's limits (`bbr_tso_segs_goal`). By hand with segments of 1448 bytes:
    /// 1.2 Mbit/s are 103.6/s; 100 Mbit/s are 8632/s, and 8.4 of them fit 1/1024 s; 65,215 bytes are
    /// 45 segments.
    #[test]
    fn a_batch_grows_with_the_rate() {
        let mut bbr = Bbr::new(&Profile::Linux.tcp());
        bbr.mss = 1448.0;
        let batches = [(103.0, 1.0), (104.0, 2.0), (2_000.0, 2.0), (8_632.0, 8.0), (1e6, 45.0)];
        for (pace, batch) in batches {
            bbr.pace = pace;
            assert_eq!(bbr.quantum(), batch, "{pace} segments a second");
        }
        // three batches of 8 above 101, and the next even number; the probe has two more
        bbr.pace = 8_632.0;
        assert_eq!(bbr.quantised(101.0), 126.0);
        bbr.mode = Mode::ProbeBw;
        assert_eq!(bbr.quantised(101.0), 128.0);
    }

    /// Linux (`bbr_packets_in_net_at_edt`). By hand at 1000 segments/s: the next leaves 4 ms behind
    /// the last, and 3 ms from now; until then 3 of 50 are delivered. Where the gain is above 1, a
    /// batch of two comes on top.
    #[test]
    fn in_flight_is_counted_when_the_next_batch_leaves() {
        let mut bbr = Bbr::new(&Profile::Linux.tcp());
        bbr.bandwidth.update(1, 1000.0);
        (bbr.sent, bbr.gap, bbr.pace) = (Time::from_ms(10), Some(Time::from_ms(4)), 250.0);
        bbr.pacing_gain = 1.0;
        assert_eq!(bbr.at_departure(Time::from_ms(11), 50), 47.0);
        assert_eq!(bbr.at_departure(Time::from_ms(20), 50), 50.0, "it is overdue");
        assert_eq!(bbr.at_departure(Time::from_ms(11), 2), 0.0);
        bbr.pacing_gain = 1.25;
        assert_eq!(bbr.at_departure(Time::from_ms(11), 50), 49.0);
    }

    /// Linux (`bbr_bw`, `bbr_update_gains`), by hand: behind a policer 10 segments come through in
    /// each round of 100 ms, and 3 are lost. With the eighth loss two intervals are alike, and for 48
    /// rounds 100 a second are used, without probing, in place of a maximum of 1000.
    #[test]
    fn behind_a_policer_the_long_term_bandwidth_is_used() {
        let mut bbr = Bbr::new(&Profile::Linux.tcp());
        bbr.bandwidth.update(1, 1000.0);
        (bbr.mode, bbr.pacing_gain) = (Mode::ProbeBw, 1.25);
        let mut at = Counts::default();
        let mut after = |rounds: u32| {
            for _ in 0..rounds {
                (at.delivered, at.lost) = (at.delivered + 10, at.lost + 3);
                at.delivered_at += Time::from_ms(100);
                let event = Event { lost: true, limited: false, round: true, probe_bw: true };
                bbr.note_long_term(at.delivered_at, at, event);
            }
            (bbr.used_bandwidth(), bbr.pacing_gain)
        };
        assert_eq!(after(7), (1000.0, 1.25));
        assert_eq!(after(1), (100.0, 1.0));
        assert_eq!(after(47), (100.0, 1.0));
        assert_eq!(after(1).0, 1000.0);
    }

    /// Linux (`tcp_enter_loss`): the window is a segment, and what may be in the network.
    #[test]
    fn a_timeout_spares_what_is_in_the_network() {
        let mut bbr = Bbr::new(&Profile::Linux.tcp());
        bbr.on_timeout(&CongestionEvent::default(), false);
        bbr.on_spared(3);
        assert_eq!(bbr.cwnd(), 4.0);
    }
}
