//! Active queue management: laws that lose or mark packets before the queue is full.
//!
//! Such a law looks at an average of the queue's length, which [`Average`]
//! keeps for all of them, and is asked once per arrival with what the arrival
//! finds ([`Found`]).

pub mod dual_queue;
pub mod red;

use crate::units::{Pace, Time};

/// What an arrival finds at its queue.
#[derive(Clone, Copy)]
pub struct Found {
    /// Packets waiting, the one in transmission not counted.
    pub packets: u32,
    /// Bytes waiting, the packet in transmission not counted.
    pub bytes: u64,
    /// Whether the arrival fits behind them.
    pub fits: bool,
    /// How long the link has been idle; none: it is sending.
    pub idle: Option<Time>,
    /// Present pace of the link.
    pub pace: Pace,
}

/// An exponentially weighted average of the length of a queue
/// (Floyd and Jacobson 1993).
///
/// It is in packets: whoever measures in bytes divides by the mean packet.
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
