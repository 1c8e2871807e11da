//! The sum of waiting times of a port, beyond 64 bits.

use crate::units::Time;

/// The starts of transmission less the arrivals of the packets that had to wait, in picoseconds. It
/// is below zero while packets wait.
///
/// 64 bits would hold 213 packets for a day. They are the lower half of the sum, and are passed so
/// seldom that the upper half costs a packet one branch. (128 bits took 1.4 % more instructions for
/// a packet-hop.)
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Waited {
    /// The lower half, above [`MIDDLE`] where the sum is above zero.
    low: u64,
    /// How often the lower half was passed upwards, less downwards.
    turns: i64,
}

/// Where the lower half begins: far from both of its ends, as the sum of a port with few waiting
/// packets goes up and down around zero.
const MIDDLE: u64 = 1 << 63;

impl Default for Waited {
    fn default() -> Waited {
        Waited { low: MIDDLE, turns: 0 }
    }
}

impl Waited {
    /// A wait ends.
    #[inline(always)]
    pub(super) fn end(&mut self, at: Time) {
        let (low, passed) = self.low.overflowing_add(at.ps());
        self.low = low;
        if passed {
            carry(&mut self.turns, 1);
        }
    }

    /// A wait begins.
    #[inline(always)]
    pub(super) fn begin(&mut self, at: Time) {
        let (low, passed) = self.low.overflowing_sub(at.ps());
        self.low = low;
        if passed {
            carry(&mut self.turns, -1);
        }
    }

    /// The sum, where `waiting` packets still wait at `now`, in packet picoseconds.
    pub(super) fn until(&self, now: Time, waiting: u32) -> u128 {
        let ended = (i128::from(self.turns) << 64) + i128::from(self.low) - i128::from(MIDDLE);
        (u128::from(waiting) * u128::from(now.ps())).saturating_add_signed(ended)
    }
}

// out of line: in line, the compiler would keep both halves in registers
#[cold]
#[inline(never)]
fn carry(turns: &mut i64, by: i64) {
    *turns += by;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Beside a sum of 128 bits: packets come and go near the end of time, so that each step of the
    /// lower half is as large as any, and it is passed in both directions. First ever more of them
    /// wait, then ever fewer; and as many come as go.
    #[test]
    fn the_sum_is_that_of_128_bits() {
        let mut waited = Waited::default();
        let (mut sum, mut waiting) = (0i128, 0u32);
        let (mut turns, mut passed) = (0, [0; 2]);
        for step in 0..4_000u64 {
            let now = Time::from_secs(99 * 86_400 + step);
            let comes = match step / 1_000 {
                0 | 2 => step % 3 > 0,
                1 => step % 3 == 0 || waiting == 0,
                _ => step % 2 == 0 || waiting == 0,
            };
            if comes {
                waited.begin(now);
                (sum, waiting) = (sum - i128::from(now.ps()), waiting + 1);
            } else if waiting > 0 {
                waited.end(now);
                (sum, waiting) = (sum + i128::from(now.ps()), waiting - 1);
            }
            let expected = sum + i128::from(waiting) * i128::from(now.ps());
            assert_eq!(waited.until(now, waiting), expected as u128, "step {step}");
            passed[usize::from(waited.turns > turns)] += u32::from(waited.turns != turns);
            turns = waited.turns;
        }
        assert!(passed.iter().all(|&times| times > 100), "{passed:?} down and up");
    }
}
