//! The control of WebRTC, as draft-ietf-rmcat-gcc-02 has it.
//!
//! | symbol            | here              | unit  | table 1, and meaning                              |
//! |-------------------|-------------------|-------|---------------------------------------------------|
//! | `burst_time`      | `burst_time`      | ms    | 5: packets sent within it are a group             |
//! | `T(i)`, `t(i)`    |                   | ms    | when the last packet of group i was sent, and came |
//! | `d(i)`            |                   | ms    | change of the delay from group to group           |
//! | `m(i)`            | `m`               | ms    | its estimate                                      |
//! | `q`               | `q`               | ms^2  | 1e-3: variance of the noise of the state          |
//! | `e(i)`            | `e`               | ms^2  | 0.1 at first: variance of the error               |
//! | `chi`             | `chi`             | 1     | 0.1 to 0.001: weight of the measured noise        |
//! | `K`               | `groups`          | 1     | no value given: groups that `f_max` is over       |
//! | `del_var_th`      | `del_var_th`      | ms    | 12.5 at first: threshold of `m(i)`                |
//! | `overuse_time_th` | `overuse_time_th` | ms    | 10: how long `m(i)` is above it before that counts |
//! | `K_u`, `K_d`      | `k_u`, `k_d`      | 1/ms  | 0.01, 0.00018: how the threshold rises and falls  |
//! | `T`               | `window`          | s     | 0.5 to 1: window of the rate that arrives         |
//! | `beta`            | `beta`            | 1     | 0.85: factor of a decrease                        |
//! | `R_hat`, `A_hat`  |                   | bit/s | rate that arrives, estimate by delay              |
//! | `As_hat`          |                   | bit/s | estimate by losses                                |
//!
//! With every report:
//! 1. Packets are put together to groups (5.2); each new group gives a `d(i)` (5.1), which a Kalman
//!    filter smooths ([`KalmanFilter`], 5.3) and a detector compares ([`Detector`], 5.4).
//! 2. By what it finds the estimate by delay rises, stays or falls (5.5): by up to 8 % a second, or
//!    by up to half a packet a response time near the rates at which it had to fall.
//! 3. The estimate by losses rises by 5 %, stays from 2 % of losses on, and falls from 10 % on (6).
//! 4. The rate is the lower of the two.
//!
//! Departures:
//! - `m(i)` is multiplied by the number of groups so far, `gain` at most, before it is compared. The
//!   draft has no such factor (`gain = 1`); the code of WebRTC has one of 60.
//! - packets leave at `pacing` times the rate. At the rate itself (section 4) frames of different
//!   sizes would wait without end; 2.5 is the factor of WebRTC.
//! - the bound of 1.5 `R_hat` ends a rise and lowers nothing, so that a pause does not; `As_hat` is
//!   at most `A_hat`, as the estimate that the loss-based part is given.
//! - a step of the threshold is at most that of 100 ms, so that a pause does not move it far.

mod detector;
mod filter;

use crate::settings;
use crate::units::Time;

use super::recent::Recent;
use super::{Encoder, MediaControl, Reported};
use detector::{Detector, Rules, Signal};
use filter::{Groups, KalmanFilter};

settings! {
    /// Parameters of the control of WebRTC.
    "Gcc":
    burst_time: Time = "5ms" ["100us" to "100ms"] "Packets sent within this time are one group" ("draft-ietf-rmcat-gcc-02, 5.6: burst_time");
    q: f64 = 0.001 [0 to 1] "Variance of the noise of the state, in ms^2" ("5.6: q");
    e: f64 = 0.1 [0 to 100] "Variance of the error at first, in ms^2" ("5.6: e(0)");
    chi: f64 = 0.01 [0.0001 to 0.5] "Weight of the noise that was measured last" ("5.6: chi, 0.1 to 0.001");
    groups: u32 = 60 [1 to 10000] "Over how many groups the highest rate of groups is taken" ("5.3: K, without a value");
    gain: u32 = 60 [1 to 10000] "m(i) is multiplied by the number of groups so far, this at most, before it is compared" ("WebRTC; in the draft 1");
    del_var_th: f64 = 12.5 [6 to 600] "Threshold at first, in ms" ("5.6: del_var_th(0)");
    overuse_time_th: Time = "10ms" ["0s" to "10s"] "How long the threshold is exceeded before that counts" ("5.6: overuse_time_th");
    k_u: f64 = 0.01 [0 to 1] "How fast the threshold rises, per ms" ("5.6: K_u");
    k_d: f64 = 0.00018 [0 to 1] "How fast the threshold falls, per ms" ("5.6: K_d");
    window: Time = "500ms" ["50ms" to "10s"] "Window of the rate that arrives" ("5.6: T, 0.5 s to 1 s");
    beta: f64 = 0.85 [0.1 to 1] "Factor of a decrease" ("5.6: beta");
    pacing: f64 = 2.5 [1 to 100] "Rate at which packets leave, in rates of the encoder" ("WebRTC; in the draft 1");
}

/// What the rate control does (5.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Increase,
    Decrease,
    Hold,
}

impl State {
    /// The table of 5.5.
    fn after(self, signal: Signal) -> State {
        match (signal, self) {
            (Signal::Overuse, _) => State::Decrease,
            (Signal::Normal, State::Hold) => State::Increase,
            (Signal::Normal, State::Increase) => State::Increase,
            (Signal::Normal, State::Decrease) | (Signal::Underuse, _) => State::Hold,
        }
    }
}

/// The rates that arrived when the estimate had to fall: their mean and variance (5.5).
#[derive(Clone, Copy, Debug)]
struct Ceiling {
    mean: f64,
    variance: f64,
}

/// 5.5: smoothing of the ceiling.
const SMOOTHING: f64 = 0.95;

impl Ceiling {
    fn with(found: Option<Ceiling>, rate: f64) -> Ceiling {
        let Some(Ceiling { mean, variance }) = found else {
            return Ceiling { mean: rate, variance: 0.0 };
        };
        let off = rate - mean;
        let variance = SMOOTHING * (variance + (1.0 - SMOOTHING) * off * off);
        Ceiling { mean: mean + (1.0 - SMOOTHING) * off, variance }
    }

    /// How many standard deviations a rate is above it.
    fn above(&self, rate: f64) -> f64 {
        let deviation = self.variance.sqrt();
        if deviation > 0.0 { (rate - self.mean) / deviation } else { (rate - self.mean) * f64::MAX }
    }
}

/// The control of WebRTC at a sender.
#[derive(Debug)]
pub struct Gcc {
    config: Config,
    encoder: Encoder,
    groups: Groups,
    filter: KalmanFilter,
    detector: Detector,
    state: State,
    recent: Recent,
    ceiling: Option<Ceiling>,
    /// `A_hat` and `As_hat`.
    by_delay: f64,
    by_loss: f64,
    /// When the first packet came, and when the last report did.
    first: Option<Time>,
    last: Option<Time>,
}

/// 5.5: half a packet of an estimate, in bits, `elapsed` after the last update.
fn additive(estimate: f64, elapsed: Time, rtt: Time) -> f64 {
    let response_ms = 100.0 + rtt.secs() * 1e3;
    let alpha = 0.5 * (elapsed.secs() * 1e3 / response_ms).min(1.0);
    let frame = estimate / 30.0;
    let packets = (frame / (1200.0 * 8.0)).ceil().max(1.0);
    (alpha * frame / packets).max(1000.0)
}

/// 6: the estimate by losses after a report with this share of them.
fn after_losses(estimate: f64, lost: f64) -> f64 {
    if lost > 0.1 {
        estimate * (1.0 - 0.5 * lost)
    } else if lost < 0.02 {
        estimate * 1.05
    } else {
        estimate
    }
}

impl Gcc {
    /// For this encoder.
    pub fn new(config: Config, encoder: Encoder) -> Gcc {
        let start = encoder.clip(encoder.start);
        Gcc {
            groups: Groups::new(config.burst_time),
            filter: KalmanFilter::new((config.q, config.e), config.chi, config.groups as usize),
            detector: Detector::new(Rules {
                del_var_th: config.del_var_th,
                overuse_ms: config.overuse_time_th.secs() * 1e3,
                k_u: config.k_u,
                k_d: config.k_d,
                gain: config.gain,
            }),
            state: State::Increase,
            recent: Recent::new(config.window),
            ceiling: None,
            by_delay: start,
            by_loss: start,
            first: None,
            last: None,
            config,
            encoder,
        }
    }

    /// 5.1 to 5.4: what the packets of a report tell of the delay; overuse once is overuse.
    fn detect(&mut self, packets: &[Reported]) -> Signal {
        let mut found = self.detector.signal();
        let mut overuse = false;
        for packet in packets {
            self.recent.add(packet, 0.0);
            let Some(arrived) = packet.arrived else { continue };
            self.first.get_or_insert(arrived);
            if let Some(change) = self.groups.add(packet.sent, arrived) {
                let m = self.filter.update(change.delay_ms, change.departure_ms);
                found = self.detector.compare(m, change.arrival_ms);
                overuse |= found == Signal::Overuse;
            }
        }
        if overuse { Signal::Overuse } else { found }
    }

    /// 5.5: the estimate by delay.
    fn follow_delay(&mut self, signal: Signal, elapsed: Time, rtt: Time) {
        self.state = self.state.after(signal);
        let arriving = self.recent.rate();
        match self.state {
            State::Hold => {}
            State::Decrease => {
                self.by_delay = self.config.beta * arriving;
                self.ceiling = Some(Ceiling::with(self.ceiling, arriving));
            }
            State::Increase => {
                let above = self.ceiling.map(|ceiling| ceiling.above(arriving));
                if above.is_some_and(|deviations| deviations > 3.0) {
                    self.ceiling = None;
                }
                let near = above.is_some_and(|deviations| deviations.abs() <= 3.0);
                let next = if near {
                    self.by_delay + additive(self.by_delay, elapsed, rtt)
                } else {
                    self.by_delay * libm::pow(1.08, elapsed.secs().min(1.0))
                };
                let measured = self.first.is_some_and(|first| self.recent.is_full(first));
                let most = if measured { 1.5 * arriving } else { f64::INFINITY };
                self.by_delay = next.min(most).max(self.by_delay);
            }
        }
        self.by_delay = self.encoder.clip(self.by_delay);
    }
}

impl MediaControl for Gcc {
    fn on_report(&mut self, now: Time, packets: &[Reported], rtt: Time) {
        let elapsed = self.last.replace(now).map_or(Time::ZERO, |last| now - last);
        let signal = self.detect(packets);
        self.follow_delay(signal, elapsed, rtt);
        let lost = packets.iter().filter(|packet| packet.arrived.is_none()).count();
        let lost = lost as f64 / packets.len().max(1) as f64;
        let by_loss = after_losses(self.by_loss, lost).min(self.by_delay);
        self.by_loss = self.encoder.clip(by_loss);
    }

    fn encode(&self, _: u64) -> f64 {
        self.by_delay.min(self.by_loss)
    }

    fn send(&self, waiting: u64) -> f64 {
        self.encode(waiting) * self.config.pacing
    }
}

#[cfg(test)]
mod tests;
