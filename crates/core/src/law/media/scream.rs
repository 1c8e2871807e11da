//! SCReAM, version 2, self-clocked rate adaptation (draft-ietf-ccwg-rfc8298bis-screamv2-01).
//!
//! | symbol                       | here                   | unit  | value, and meaning                        |
//! |------------------------------|------------------------|-------|-------------------------------------------|
//! | `MSS`                        | `mss`                  | byte  | 1000: largest packet                      |
//! | `MIN_REF_WND`                | `min_ref_wnd`          | byte  | 3000: smallest reference window           |
//! | `QDELAY_TARGET_LO`, `_HI`    | `qdelay_target_lo`, `_hi` | s  | 0.06, 0.4: bounds of the target of the queue's delay |
//! | `QDELAY_AVG_G`               | `qdelay_avg_g`         | 1     | 1/4: weight of a delay that rises         |
//! | `BETA_LOSS`, `BETA_ECN`      | `beta_loss`, `beta_ecn` | 1    | 0.7, 0.8: factors of the window           |
//! | `BYTES_IN_FLIGHT_HEAD_ROOM`  | `head_room`            | 1     | 1.5: window over bytes in flight, at most |
//! | `REF_WND_OVERHEAD_MAX`       | `overhead`             | 1     | 3.0: bytes in flight over the window, at most |
//! | `POST_CONGESTION_DELAY_RTT`  | `post_congestion`      | 1     | 100: round trips of careful growth        |
//! | `MUL_INCREASE_FACTOR`        | `mul_increase`         | 1     | 0.02: growth in a round trip, in windows  |
//! | `VIRTUAL_RTT`                | `virtual_rtt`          | s     | 0.025: round trip that shorter ones count as |
//! | `PACKET_PACING_HEADROOM`     | `pacing`               | 1     | 1.5: rate of packets over that of the encoder |
//! | `MAX_RELAXED_PACING_FACTOR`  | `RELAXED`              | 1     | 4.0: how much faster packets leave at the highest rate |
//! | `ref_wnd`, `ref_wnd_i`       |                        | byte  | reference window, and its last maximum    |
//! | `qdelay`, `qdelay_avg`       |                        | s     | delay of the queue, and smoothed          |
//! | `s_rtt`                      |                        | s     | smoothed round trip (RFC 6298)            |
//!
//! With every report:
//! 1. The delay of the queue is that of the last packet, less the shortest of all. Its mean falls at
//!    once and rises slowly; its target rises where a flow beside it fills the queue
//!    ([`Target`], *Competing Flows Compensation*).
//! 2. A loss, a mark, or a mean above half of the target lowers the window (*Reference Window
//!    Reduction*), by the delay the less the longer the round trip is; what was acknowledged raises
//!    it (*Reference Window Increase*), less where it was when it last had to fall, and soon after
//!    congestion.
//! 3. The rate of the encoder is the window over the round trip, less a sixth, and less while packets
//!    wait and where frames are too large ([`Frames`], *Media Rate Control*). Packets leave at 1.5 times that
//!    rate, faster near the highest one, while three windows are not yet in flight (*Sender
//!    Transmission Control*).
//!
//! Departures:
//! - a mark is that of classic ECN. The mode for L4S, with `l4s_alpha`, is not here.
//! - what the draft calls optional is not here, but for the target that rises: `REDUCE_JITTER`
//!   (`ref_wnd_delay_scale` is 1, as by default), losses that do not count, policers, and windows
//!   that fall too low.
//! - a packet is lost once a later one has come; there is no window for reordering.
//! - `loss_event_rate` has no formula in the draft: it moves by a fiftieth in each round trip, as in
//!   the code of the authors.
//! - all delays since the beginning count for the shortest one. There is no drift of clocks here.
//! - `max_bytes_in_flight` is the larger of two round trips, as in the code of the draft; a sentence
//!   of it says the smaller.

mod frames;
mod target;

use crate::settings;
use crate::units::{Size, Time};

use super::{Encoder, MediaControl, Reported};
use frames::Frames;
use target::Target;

settings! {
    /// Parameters of SCReAM.
    "Scream":
    mss: Size = "1000B" ["100B" to "9000B"] "Largest packet" ("draft-ietf-ccwg-rfc8298bis-screamv2-01: MSS");
    min_ref_wnd: Size = "3000B" ["100B" to "10MB"] "Smallest reference window" ("MIN_REF_WND");
    qdelay_target_lo: Time = "60ms" ["1ms" to "10s"] "Lowest target of the delay of the queue" ("QDELAY_TARGET_LO");
    qdelay_target_hi: Time = "400ms" ["1ms" to "10s"] "Highest target of the delay of the queue" ("QDELAY_TARGET_HI");
    qdelay_avg_g: f64 = 0.25 [0.001 to 1] "Weight of the last delay of the queue where it is longer" ("QDELAY_AVG_G");
    beta_loss: f64 = 0.7 [0.1 to 1] "Factor of the window at a loss" ("BETA_LOSS");
    beta_ecn: f64 = 0.8 [0.1 to 1] "Factor of the window at a mark" ("BETA_ECN");
    head_room: f64 = 1.5 [1 to 100] "How far the window may grow beyond the bytes in flight" ("BYTES_IN_FLIGHT_HEAD_ROOM");
    overhead: f64 = 3 [1 to 100] "Most windows in flight" ("REF_WND_OVERHEAD_MAX");
    post_congestion: f64 = 100 [1 to 10000] "For so many round trips after congestion the window grows with care" ("POST_CONGESTION_DELAY_RTT");
    mul_increase: f64 = 0.02 [0 to 1] "Growth in a round trip, in windows" ("MUL_INCREASE_FACTOR");
    virtual_rtt: Time = "25ms" ["1ms" to "1s"] "Shorter round trips count as this" ("VIRTUAL_RTT");
    pacing: f64 = 1.5 [1 to 100] "Rate at which packets leave, in rates of the encoder" ("PACKET_PACING_HEADROOM");
}

/// `PACKET_OVERHEAD` and `RATE_PACE_MIN`.
const PACKET_OVERHEAD: f64 = 20.0;
const PACE_MIN: f64 = 50e3;
/// `MAX_RELAXED_PACING_FACTOR`, and `RELAXED_PACING_LIMIT_LOW`: the share of the highest rate from which on
/// packets leave faster.
const RELAXED: f64 = 4.0;
const RELAXED_FROM: f64 = 0.8;
/// Bytes in flight: now, and the most in this round trip and in the one before.
#[derive(Clone, Copy, Debug, Default)]
struct Flight {
    now: f64,
    most: f64,
    before: f64,
    since: Time,
}

/// What reports tell of congestion.
#[derive(Clone, Copy, Debug, Default)]
struct CongestionSigns {
    lost: bool,
    marked: bool,
}

/// SCReAM at a sender.
#[derive(Debug)]
pub struct Scream {
    config: Config,
    encoder: Encoder,
    ref_wnd: f64,
    ref_wnd_i: f64,
    s_rtt: f64,
    shortest: Time,
    qdelay: f64,
    qdelay_avg: f64,
    averaged: Time,
    target: Target,
    rate: f64,
    frames: Frames,
    flight: Flight,
    /// Losses and marks since the last reaction.
    pending: CongestionSigns,
    /// When congestion was last seen, and reacted to; none: never.
    congested: Option<Time>,
    reacted: Option<Time>,
    /// `ref_wnd_i_update_allowed`: whether the window has grown since its maximum was noted.
    grown: bool,
}

/// Whether an instant is so many seconds past; it is if it never was.
fn past(now: Time, then: Option<Time>, seconds: f64) -> bool {
    then.is_none_or(|then| (now - then).secs() >= seconds)
}

impl Scream {
    /// For this encoder.
    pub fn new(config: Config, encoder: Encoder) -> Scream {
        Scream {
            ref_wnd: config.min_ref_wnd.bytes() as f64,
            ref_wnd_i: 1.0,
            s_rtt: 0.0,
            shortest: Time::NEVER,
            qdelay: 0.0,
            qdelay_avg: 0.0,
            averaged: Time::ZERO,
            target: Target::new(&config),
            rate: encoder.clip(encoder.start),
            frames: Frames::default(),
            flight: Flight::default(),
            pending: CongestionSigns::default(),
            congested: None,
            reacted: None,
            grown: true,
            config,
            encoder,
        }
    }

    fn mss(&self) -> f64 {
        self.config.mss.bytes() as f64
    }

    /// `ref_wnd_ratio`.
    fn ratio(&self) -> f64 {
        (self.mss() / self.ref_wnd).min(1.0)
    }

    /// `scl_t`: how near the window is to its last maximum, 0.1 there and 1 far from it.
    fn scale(&self) -> f64 {
        let off = (self.ref_wnd - self.ref_wnd_i) / self.ref_wnd_i * 8.0;
        (off * off).clamp(0.1, 1.0)
    }

    /// The round trip and the delay of the queue.
    fn measure(&mut self, now: Time, packets: &[Reported], rtt: Time) {
        let rtt = rtt.secs();
        // RFC 6298, 2.3
        self.s_rtt = if self.s_rtt > 0.0 { 0.875 * self.s_rtt + 0.125 * rtt } else { rtt };
        let delay = |packet: &Reported| Some(packet.arrived?.saturating_sub(packet.sent));
        for delay in packets.iter().filter_map(delay) {
            self.shortest = self.shortest.min(delay);
            self.qdelay = (delay - self.shortest).secs();
        }
        let gap = self.config.virtual_rtt.secs().min(self.s_rtt);
        if (now - self.averaged).secs() >= gap {
            let weight = if self.qdelay < self.qdelay_avg { 1.0 } else { self.config.qdelay_avg_g };
            self.qdelay_avg += weight * (self.qdelay - self.qdelay_avg);
            self.averaged = now;
        }
    }

    /// `l4s_alpha_v_t`: the share of marks that the delay stands for; none: the delay is short.
    fn virtual_marks(&self) -> Option<f64> {
        let half = self.target.get() / 2.0;
        (self.qdelay_avg > half).then(|| ((self.qdelay_avg - half) / half).min(1.0))
    }

    /// *Reference Window Reduction*.
    fn reduce(&mut self, now: Time) {
        let CongestionSigns { lost, marked } = self.pending;
        let virtual_rtt = self.config.virtual_rtt.secs();
        if lost || marked {
            self.congested = Some(now);
        }
        if !past(now, self.reacted, virtual_rtt.min(self.s_rtt)) {
            return;
        }
        let factor = if lost {
            self.config.beta_loss
        } else if marked {
            self.config.beta_ecn
        } else if let Some(marks) = self.virtual_marks() {
            // several times in a long round trip, so each time less
            1.0 - marks / 2.0 / (self.s_rtt / virtual_rtt).max(1.0)
        } else {
            return;
        };
        if self.grown {
            (self.ref_wnd_i, self.grown) = (self.ref_wnd, false);
        }
        self.ref_wnd = (self.ref_wnd * factor).max(self.config.min_ref_wnd.bytes() as f64);
        self.reacted = Some(now);
        self.pending = CongestionSigns::default();
    }

    /// *Reference Window Increase*; `scale` is that before the reduction.
    fn increase(&mut self, now: Time, acked: f64, scale: f64) {
        let Config { virtual_rtt, post_congestion, mul_increase, head_room, .. } = self.config;
        let round = virtual_rtt.secs().max(self.s_rtt);
        let post = self
            .congested
            .map_or(1.0, |then| ((now - then).secs() / (post_congestion * round)).clamp(0.0, 1.0));
        let short = (self.s_rtt / virtual_rtt.secs()).min(1.0);
        let more = mul_increase * self.ref_wnd / self.mss();
        let increment =
            acked * self.ratio() * short * scale.max(0.25) * (1.0 + more * post * scale);
        let allowed = self.mss() + self.flight.most.max(self.flight.before) * head_room;
        if self.ref_wnd + increment <= allowed && self.rate < self.encoder.most {
            self.ref_wnd += increment;
            self.grown |= increment > 0.0;
        }
    }

    /// *Media Rate Control*.
    fn adapt(&mut self) {
        let mut share = 1.0 - (self.ratio() - 0.1).clamp(0.0, 0.2);
        share *= self.mss() / (self.mss() + PACKET_OVERHEAD);
        share /= self.frames.divisor();
        self.rate = self.encoder.clip(share * 8.0 * self.ref_wnd / self.s_rtt);
    }
}

impl MediaControl for Scream {
    fn on_report(&mut self, now: Time, packets: &[Reported], rtt: Time) {
        self.measure(now, packets, rtt);
        if self.s_rtt <= 0.0 {
            return; // nothing of the report has arrived
        }
        // `bytes_newly_acked` has the lost ones too
        let acked = packets.iter().filter(|packet| !packet.marked);
        let bytes = acked.map(|packet| f64::from(packet.bytes)).sum();
        let lost = packets.iter().any(|packet| packet.arrived.is_none());
        self.pending.lost |= lost;
        self.pending.marked |= packets.iter().any(|packet| packet.marked);
        self.target.follow(now, self.qdelay, lost, self.s_rtt);
        let scale = self.scale();
        self.reduce(now);
        self.increase(now, bytes, scale);
        self.adapt();
        if (now - self.flight.since).secs() >= self.s_rtt {
            let Flight { now: bytes, most, .. } = self.flight;
            self.flight = Flight { now: bytes, most: bytes, before: most, since: now };
        }
    }

    fn frame(&mut self, bytes: u64, waited: Time) {
        let period = 1.0 / self.encoder.frames;
        self.frames.follow(period, bytes as f64 / (self.rate * period / 8.0), waited.secs());
    }

    fn flight(&mut self, bytes: u64) {
        self.flight.now = bytes as f64;
        self.flight.most = self.flight.most.max(self.flight.now);
    }

    fn window(&self) -> f64 {
        self.ref_wnd * self.config.overhead
    }

    fn encode(&self, _: u64) -> f64 {
        self.rate
    }

    fn send(&self, _: u64) -> f64 {
        let beyond = (self.rate / self.encoder.most - RELAXED_FROM) / (1.0 - RELAXED_FROM);
        let slower = (1.0 - beyond).clamp(1.0 / RELAXED, 1.0);
        self.rate.max(PACE_MIN) * self.config.pacing / slower
    }
}

#[cfg(test)]
mod tests;
