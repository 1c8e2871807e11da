//! A policer: a token bucket without a queue.
//!
//! A token stands for a byte. The bucket fills at a constant rate. A packet passes if the bucket has
//! a token for each of its bytes, and takes these tokens; otherwise it is dropped and takes none
//! (RFC 2697 with one colour, as `tc police ... drop`).

use crate::units::{Rate, Time};

/// The bucket, which is full at first.
#[derive(Clone, PartialEq, Debug)]
pub struct Policer {
    rate: Rate,
    /// The size of the bucket and its content, in units of 1e-12 bit: a rate in bit/s times a time
    /// in ps needs no rounding.
    depth: u128,
    level: u128,
    at: Time,
}

/// Units per byte.
const WORK: u128 = 8_000_000_000_000;

impl Policer {
    /// A full bucket of `burst` bytes that fills at this rate.
    pub fn new(rate: Rate, burst: u64) -> Policer {
        let depth = u128::from(burst) * WORK;
        Policer { rate, depth, level: depth, at: Time::ZERO }
    }

    /// Whether a packet of this size may pass at `now`; if so, takes its tokens.
    pub fn passes(&mut self, size: u16, now: Time) -> bool {
        let came = u128::from(now.saturating_sub(self.at).ps()) * u128::from(self.rate.bps());
        self.level = self.level.saturating_add(came).min(self.depth);
        self.at = now;
        let cost = u128::from(size) * WORK;
        let passes = cost <= self.level;
        if passes {
            self.level -= cost;
        }
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, at 8 Mbit/s (1000 B in 1 ms) with a burst of 3000 B: three packets of 1000 B pass
    /// at once and the fourth is lost. After 0.5 ms there are 500 B, after 1 ms 1000: one passes.
    /// After ten more the bucket is full, and not fuller.
    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let mut policer = Policer::new(Rate::from_bps(8_000_000), 3000);
        let now = Time::from_ms(1000);
        let passed = [(); 4].map(|()| policer.passes(1000, now));
        assert_eq!(passed, [true, true, true, false]);
        assert!(!policer.passes(1000, now + Time::from_ns(500_000)));
        assert!(policer.passes(1000, now + Time::from_ms(1)));
        let passed = [(); 4].map(|()| policer.passes(1000, now + Time::from_ms(11)));
        assert_eq!(passed, [true, true, true, false]);
    }

    /// A smaller packet passes after a dropped one if there are tokens for it.
    #[test]
    fn what_is_lost_takes_no_tokens() {
        let mut policer = Policer::new(Rate::from_bps(8_000_000), 1500);
        let passed = [1000, 1000, 500, 1].map(|size| policer.passes(size, Time::ZERO));
        assert_eq!(passed, [true, false, true, false]);
    }
}
