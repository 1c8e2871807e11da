//! The window of an XCP sender (Katabi, Handley and Rohrs 2002, 3.3; with rates in place of
//! windows, as in draft-falk-xcp-spec-03, section 3.1).
//!
//! | symbol  | meaning                                   | unit     |
//! |---------|-------------------------------------------|----------|
//! | `cwnd`  | congestion window                         | segments |
//! | `delta` | returned change of rate                   | B/s      |
//! | `X`     | `srtt / cwnd`: time between two packets   | s        |
//!
//! `cwnd += delta * srtt / packet` with each new acknowledgement, never below one. It responds to
//! losses and timeouts as Reno does.

use tidegate_core::packet::{Ext, XcpHeader};
use tidegate_core::units::Time;
use tidegate_model::control;
use tidegate_model::profile::{LossRule, Tcp};

use super::{CongestionEvent, Control, Feedback, RateSample, Signal};

/// Window of an XCP sender.
#[derive(Clone, Copy, Debug)]
pub struct Xcp {
    cwnd: f64,
    /// Largest useful window.
    cap: f64,
    srtt: Time,
    /// Size of a full packet, in bytes.
    packet: f64,
    pacing: bool,
    rule: LossRule,
}

/// The returned change of rate, in bytes per second; none: no port has set it.
fn returned(ext: &Ext) -> Option<f64> {
    let delta = match ext {
        Ext::Xcp(header) => header.reverse,
        Ext::SackWith { word, .. } => f32::from_bits(*word),
        _ => return None,
    };
    (delta.is_finite() && delta < f32::MAX).then_some(f64::from(delta))
}

impl Xcp {
    /// A new connection under a class's settings.
    pub fn new(options: &control::Xcp, tcp: &Tcp) -> Xcp {
        Xcp {
            cwnd: f64::from(tcp.initial_window),
            cap: f64::from(tcp.window),
            srtt: Time::ZERO,
            packet: f64::from(tcp.mss + tcp.header),
            pacing: options.pacing,
            rule: tcp.loss_rule,
        }
    }

    fn halve(&mut self, flight: u32) {
        self.cwnd = match self.rule {
            LossRule::Rfc | LossRule::Linux => f64::from(flight) / 2.0,
            LossRule::FullTcp | LossRule::FullTcp2006 => (self.cwnd / 2.0).floor(),
            LossRule::OneWay => self.cwnd / 2.0,
        };
        self.cwnd = self.cwnd.max(2.0);
    }
}

impl Control for Xcp {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn gap(&self) -> Option<Time> {
        let spaced = self.pacing && self.srtt > Time::ZERO;
        spaced.then(|| Time::from_secs_f64(self.srtt.secs() / self.cwnd))
    }

    fn header(&mut self, _now: Time) -> Ext {
        let rtt_us = (self.srtt.ps() / 1_000_000).min(u64::from(u32::MAX)) as u32;
        let spacing_s = (self.srtt.secs() / self.cwnd) as f32;
        Ext::Xcp(XcpHeader { rtt_us, spacing_s, delta: f32::MAX, reverse: 0.0 })
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.srtt = feedback.srtt;
        if feedback.new
            && let Some(delta) = returned(feedback.ext)
        {
            let change = delta * self.srtt.secs() / self.packet;
            self.cwnd = (self.cwnd + change).clamp(1.0, self.cap);
        }
    }

    fn on_ack(&mut self, _: &RateSample<'_>) {}

    fn on_congestion(&mut self, signal: Signal, at: &CongestionEvent) {
        if signal != Signal::Mark {
            self.halve(at.flight);
        }
    }

    fn on_timeout(&mut self, _: &CongestionEvent, _: bool) {
        self.cwnd = 1.0;
    }

    fn on_idle(&mut self, window: f64, _: f64) {
        self.cwnd = window;
    }
}
