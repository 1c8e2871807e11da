//! Quick-Start (RFC 4782): the ports grant a rate to the SYN. The first round trip is sent at that
//! rate; then Reno takes over.
//!
//! QFCP extends this method from the start of a flow to its whole life (qfcp, 2.1). The first
//! window is paced over a round trip (RFC 4782, 4.3). It also becomes the slow-start threshold: a
//! granted window needs no search.

use tidegate_core::packet::{Ext, RateHeader};
use tidegate_core::units::Time;
use tidegate_model::control;
use tidegate_model::profile::{LostSyn, Tcp};

use super::rate::{asked, granted};
use super::{CongestionEvent, Control, Feedback, RateSample, Reno, Signal};

/// A window that starts at the granted rate.
#[derive(Clone, Copy, Debug)]
pub struct QuickStart {
    reno: Reno,
    /// Size of a full packet, in bytes.
    packet: f64,
    request: u32,
    /// Gap between paced packets, and until when pacing lasts.
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
    forward! { in reno:
        ref cwnd() -> f64;
        ref ssthresh() -> Option<f64>;
        mut on_ack(sample: &RateSample<'_>);
        mut on_part(sample: &RateSample<'_>);
        mut on_congestion(signal: Signal, at: &CongestionEvent);
        mut on_recovered(window: f64);
        mut on_lost_syn(rule: LostSyn);
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

    fn on_timeout(&mut self, at: &CongestionEvent, again: bool) {
        self.paced = None;
        self.reno.on_timeout(at, again);
    }
}
