//! Scalable TCP: the window grows by a fixed share, whatever its size.
//!
//! | symbol | here           | unit     | source                                           |
//! |--------|----------------|----------|--------------------------------------------------|
//! | `cwnd` | `cwnd`         | segments | congestion window                                |
//! | `a`    | `A`            | segments | T. Kelly 2003: 0.01 for each segment acknowledged |
//! | `b`    | `B`            | 1        | T. Kelly 2003: an eighth is taken off at a loss  |
//! | `lwnd` | `LOW_WINDOW`   | segments | T. Kelly 2003: up to 16 it is Reno               |
//!
//! T. Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area
//! Networks", 2003. A loss costs as many round trips at any window: ln(8/7) / ln(1.01) = 13.4.
//!
//! Limits: two flows do not come to share a link alike, as both shrink and grow in proportion.

use tidegate_model::profile::Tcp;
use tidegate_sim::transport::control::{CongestionEvent, Control, RateSample, Signal};

const A: f64 = 0.01;
const B: f64 = 0.125;
const LOW_WINDOW: f64 = 16.0;

/// The window of a Scalable TCP sender.
#[derive(Clone, Copy, Debug)]
pub struct Scalable {
    cwnd: f64,
    ssthresh: f64,
}

impl Scalable {
    /// A new connection under a class's settings.
    pub fn new(tcp: &Tcp) -> Scalable {
        Scalable { cwnd: f64::from(tcp.initial_window), ssthresh: f64::from(tcp.initial_ssthresh) }
    }
}

impl Control for Scalable {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn on_ack(&mut self, sample: &RateSample<'_>) {
        let segments = f64::from(sample.opens());
        self.cwnd += if self.cwnd < self.ssthresh {
            segments
        } else if self.cwnd <= LOW_WINDOW {
            segments / self.cwnd
        } else {
            A * segments
        };
    }

    fn on_congestion(&mut self, signal: Signal, _: &CongestionEvent) {
        if signal != Signal::LossAfterMark {
            let left = if self.cwnd <= LOW_WINDOW { 0.5 } else { 1.0 - B };
            self.ssthresh = (self.cwnd * left).max(2.0);
        }
        self.cwnd = self.ssthresh;
    }

    fn on_timeout(&mut self, at: &CongestionEvent, _: bool) {
        self.ssthresh = (f64::from(at.flight) / 2.0).max(2.0);
        self.cwnd = 1.0;
    }
}
