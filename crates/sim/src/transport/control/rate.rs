//! Pacing at a rate granted by the ports on the path (QFCP: qfcp, 2.1 and 2.3; RCP).
//!
//! | symbol    | meaning                                          | unit     |
//! |-----------|--------------------------------------------------|----------|
//! | `rate`    | rate granted by the last acknowledgement         | B/s      |
//! | `cwnd`    | `rate * srtt` over the packet size (eq. 1), plus one if paced | segments |
//!
//! Losses do not change the window: the ports decide (qfcp, 3.4). Only a timeout does, and any
//! acknowledgement after it restores the rate. If no port on the path grants a rate, the initial
//! window stays.

use tidegate_core::packet::{Ext, RateHeader};
use tidegate_core::units::{Rate, Time};
use tidegate_model::control;
use tidegate_model::profile::Tcp;

use super::{CongestionEvent, Control, Feedback, RateSample, Signal};

/// The largest request that the header can hold.
const ANY: u32 = u32::MAX;
/// However little is granted, a packet leaves each second, so that its sender hears when the rate
/// has risen: as often as where a timer of RFC 6298 (2.4) expires that is not backed off.
const LONGEST_GAP: Time = Time::from_secs(1);

/// How a rate is requested in a header; none: the largest request.
pub(super) fn asked(request: Option<Rate>) -> u32 {
    request.map_or(ANY, |rate| (rate.bps() / 8).clamp(1, u64::from(ANY)) as u32)
}

/// The returned rate, if a port or the request limits it, in bytes per second.
pub(super) fn granted(ext: &Ext) -> Option<u32> {
    let word = match ext {
        Ext::Rate(header) => header.feedback,
        Ext::SackWith { word, .. } => *word,
        _ => return None,
    };
    (word > 0 && word < ANY).then_some(word)
}

/// Window and pace of a sender that uses granted rates.
#[derive(Clone, Copy, Debug)]
pub struct Granted {
    /// In bytes per second; none before the first grant.
    rate: Option<f64>,
    srtt: Time,
    gap: Time,
    /// Size of a full packet, in bytes.
    packet: f64,
    initial_window: f64,
    /// The window of a paced sender must not limit its pace: `cwnd` is rounded down to whole
    /// packets, and one more packet is due when the oldest is acknowledged.
    spare: f64,
    request: u32,
    pacing: bool,
    timed_out: bool,
    late: bool,
}

impl Granted {
    fn new(tcp: &Tcp, request: Option<Rate>, pacing: bool, late: bool) -> Granted {
        Granted {
            rate: None,
            srtt: Time::ZERO,
            gap: Time::ZERO,
            packet: f64::from(tcp.mss + tcp.header),
            initial_window: f64::from(tcp.initial_window),
            spare: if pacing { 1.0 } else { 0.0 },
            request: asked(request),
            pacing,
            timed_out: false,
            late,
        }
    }

    /// QFCP's sender.
    pub fn qfcp(options: &control::Qfcp, tcp: &Tcp) -> Granted {
        Granted::new(tcp, options.request, options.pacing, false)
    }

    /// RCP's sender.
    pub fn rcp(options: &control::Rcp, tcp: &Tcp) -> Granted {
        let late = options.reliability == control::Reliability::Own;
        Granted::new(tcp, options.request, options.pacing, late)
    }
}

impl Control for Granted {
    fn cwnd(&self) -> f64 {
        match self.rate {
            _ if self.timed_out => 1.0,
            // only its pace decides when a packet is sent
            Some(_) if self.late => f64::from(u32::MAX),
            // qfcp, eq. 1
            Some(rate) => (rate * self.srtt.secs() / self.packet).max(1.0) + self.spare,
            None => self.initial_window,
        }
    }

    fn gap(&self) -> Option<Time> {
        (self.pacing && self.rate.is_some()).then_some(self.gap)
    }

    fn header(&mut self, _now: Time) -> Ext {
        let rtt_us = (self.srtt.ps() / 1_000_000).min(u64::from(u32::MAX)) as u32;
        Ext::Rate(RateHeader { request: self.request, feedback: 0, rtt_us })
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.srtt = feedback.srtt;
        if let Some(rate) = granted(feedback.ext) {
            self.timed_out = false;
            let rate = f64::from(rate);
            if self.rate != Some(rate) {
                self.rate = Some(rate);
                self.gap = Time::from_secs_f64(self.packet / rate).min(LONGEST_GAP);
            }
        }
    }

    fn on_ack(&mut self, _: &RateSample<'_>) {}

    fn on_congestion(&mut self, _: Signal, _: &CongestionEvent) {}

    fn on_timeout(&mut self, _: &CongestionEvent, _: bool) {
        self.timed_out = !self.late;
    }

    /// What was granted before a long silence is not known to be free still.
    fn on_idle(&mut self, _: f64, _: f64) {
        self.rate = None;
    }

    fn limited_transmit(&self) -> bool {
        true
    }
}
