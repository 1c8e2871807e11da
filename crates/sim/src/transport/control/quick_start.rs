//! Quick-Start (RFC 4782): the ports grant a rate to the SYN, the first round
//! trip is sent at it, and then Reno takes over.
//!
//! It is the framework that QFCP extends from the start to the whole life of a
//! flow (qfcp, 2.1). The first window is paced over a round trip (RFC 4782,
//! 4.3). It becomes the slow-start threshold: what the path has granted needs no search.

use tidegate_core::packet::{Ext, RateHeader};
use tidegate_core::units::Time;
use tidegate_model::control;
use tidegate_model::profile::{LostSyn, Tcp};

use super::rate::{asked, granted};
use super::{CongestionEvent, Control, Feedback, RateSample, Reno, Signal};

/// A window that starts with what the ports grant.
#[derive(Clone, Copy, Debug)]
pub struct QuickStart {
    reno: Reno,
    /// Bytes of a full packet.
    packet: f64,
    request: u32,
    /// Gap between packets, and until when they are paced.
    paced: Option<(Time, Time)>,
    open: bool,
}

impl QuickStart {
    /// A new connection under a class's settings.
    pub fn new(options: &control::QuickStart, tcp: &Tcp) -> QuickStart {
        QuickStart {
            reno: Reno::new(tcp),
            packet: f64::from(tcp.mss + tcp.header),
            request: asked(options.request),
            paced: None,
            open: false,
        }
    }
}

impl Control for QuickStart {
    fn cwnd(&self) -> f64 {
        self.reno.cwnd()
    }

    fn gap(&self) -> Option<Time> {
        self.paced.map(|(gap, _)| gap)
    }

    fn header(&mut self, _now: Time) -> Ext {
        if self.open {
            return Ext::None;
        }
        Ext::Rate(RateHeader { request: self.request, ..RateHeader::default() })
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        if let Some((_, until)) = self.paced
            && feedback.now >= until
        {
            self.paced = None;
        }
        if std::mem::replace(&mut self.open, true) {
            return;
        }
        if let Some(rate) = granted(feedback.ext)
            && feedback.srtt > Time::ZERO
        {
            let window = f64::from(rate) * feedback.srtt.secs() / self.packet;
            if window > self.reno.cwnd() {
                self.reno.start_with(window);
                let gap = Time::from_secs_f64(self.packet / f64::from(rate));
                self.paced = Some((gap, feedback.now + feedback.srtt));
            }
        }
    }

    fn on_ack(&mut self, sample: &RateSample<'_>) {
        self.reno.on_ack(sample);
    }

    fn on_congestion(&mut self, signal: Signal, at: &CongestionEvent) {
        self.reno.on_congestion(signal, at);
    }

    fn on_recovered(&mut self, window: f64) {
        self.reno.on_recovered(window);
    }

    fn on_timeout(&mut self, at: &CongestionEvent, again: bool) {
        self.paced = None;
        self.reno.on_timeout(at, again);
    }

    fn on_lost_syn(&mut self, rule: LostSyn) {
        self.reno.on_lost_syn(rule);
    }
}
