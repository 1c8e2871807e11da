//! A moving average of the length of a queue.

use crate::law::settings::Link;
use crate::units::Size;

/// An exponentially weighted average of the length of a queue
/// (Floyd and Jacobson 1993).
///
/// It is in packets: a law that measures in bytes divides by the mean packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Average {
    w: f64,
    value: f64,
}

impl Average {
    /// Of an empty queue, with weight `w` of the newest sample, above 0 and up to 1.
    pub fn new(w: f64) -> Average {
        Average { w, value: 0.0 }
    }

    /// The weight that ns-2 gives a link by itself: with `ptc` mean packets a
    /// second and `rtt = max(0.1 s, 3 (delay + 1 / ptc))`, it is
    /// `1 - exp(-1 / (10 rtt ptc))`.
    pub fn automatic_weight(mean_packet: Size, link: Link) -> f64 {
        let mean_packet_s = (mean_packet / link.rate).secs();
        let rtt = (3.0 * (link.delay.secs() + mean_packet_s)).max(0.1);
        1.0 - libm::exp(-1.0 / (10.0 * rtt * (1.0 / mean_packet_s)))
    }

    /// The average as of the last arrival.
    #[inline]
    pub fn value(&self) -> f64 {
        self.value
    }

    /// The weight of the newest sample.
    pub fn weight(&self) -> f64 {
        self.w
    }

    /// An arrival found so long a queue while the link was sending.
    #[inline]
    pub fn sample(&mut self, queue: f64) {
        self.value = (1.0 - self.w) * self.value + self.w * queue;
    }

    /// An arrival found the link idle, for as long as `packets` mean packets take.
    ///
    /// The queue was empty all the time, but no arrival was there to see it:
    /// the average falls as if so many had been.
    #[inline]
    pub fn decay(&mut self, packets: f64) {
        self.value = self.decayed(packets);
    }

    /// What [`Average::decay`] would make of it.
    #[inline]
    pub fn decayed(&self, packets: f64) -> f64 {
        // most arrivals at an idle link find nothing left to decay
        if self.value == 0.0 { 0.0 } else { self.value * libm::pow(1.0 - self.w, packets) }
    }
}
