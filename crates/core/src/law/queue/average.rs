//! A moving average of the length of a queue.

use crate::law::settings::Link;
use crate::units::Size;

/// An exponentially weighted average of the length of a queue
/// (Floyd and Jacobson 1993).
///
/// The unit is packets; a law that measures in bytes divides by the mean packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Average {
    w: f64,
    value: f64,
}

impl Average {
    /// The average of an empty queue. `w` is the weight of the newest sample, above 0, up to 1.
    pub fn new(w: f64) -> Average {
        Average { w, value: 0.0 }
    }

    /// The weight that ns-2 chooses for a link. With `ptc` mean packets per second and `rtt =
    /// max(0.1 s, 3 (delay + 1 / ptc))` it is `1 - exp(-1 / (10 rtt ptc))`.
    pub fn automatic_weight(mean_packet: Size, link: Link) -> f64 {
        let mean_packet_s = (mean_packet / link.rate).secs();
        let rtt = (3.0 * (link.delay.secs() + mean_packet_s)).max(0.1);
        1.0 - libm::exp(-1.0 / (10.0 * rtt * (1.0 / mean_packet_s)))
    }

    /// The average at the last arrival.
    #[inline]
    pub fn value(&self) -> f64 {
        self.value
    }

    /// The weight of the newest sample.
    pub fn weight(&self) -> f64 {
        self.w
    }

    /// An arrival found a queue of this length, while the link was sending.
    #[inline]
    pub fn sample(&mut self, queue: f64) {
        self.value = (1.0 - self.w) * self.value + self.w * queue;
    }

    /// An arrival found the link idle for as long as `packets` mean packets take.
    ///
    /// The average decays as if that many arrivals had found an empty queue.
    #[inline]
    pub fn decay(&mut self, packets: f64) {
        self.value = self.decayed(packets);
    }

    /// The value after [`Average::decay`].
    #[inline]
    pub fn decayed(&self, packets: f64) -> f64 {
        // most arrivals at an idle link find an average of zero
        if self.value == 0.0 { 0.0 } else { self.value * libm::pow(1.0 - self.w, packets) }
    }
}
