//! Quantities as types: [`Time`], [`Rate`], [`Size`], [`Frequency`], [`Length`].
//!
//! `rate * time` is a size and `size / rate` is a time; adding a time to a size does not compile.
//! [`parse`] reads and prints written quantities (`10Mbit`, `20ms`, `64KiB`, `1000/s`, `2bdp`).

pub mod parse;

use std::ops::{Add, AddAssign, Div, Mul, Sub};

pub use parse::UnitError;

/// An instant or a duration, in whole picoseconds.
///
/// 64 bits hold 213 days; times above 100 days are refused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

impl Time {
    /// The origin of simulated time, and the zero duration.
    pub const ZERO: Time = Time(0);
    /// Later than every instant: a deadline that never comes.
    pub const NEVER: Time = Time(u64::MAX);

    /// From whole picoseconds.
    pub const fn from_ps(ps: u64) -> Time {
        Time(ps)
    }

    /// From whole nanoseconds; too many are [`Time::NEVER`], so that a clock stands still there.
    pub const fn from_ns(ns: u64) -> Time {
        Time(ns.saturating_mul(1_000))
    }

    /// From whole milliseconds.
    pub const fn from_ms(ms: u64) -> Time {
        Time(ms.saturating_mul(1_000_000_000))
    }

    /// From whole seconds.
    pub const fn from_secs(secs: u64) -> Time {
        Time(secs.saturating_mul(1_000_000_000_000))
    }

    /// From seconds, rounded to the nearest picosecond. Negative values and NaN become zero; a
    /// value that is too large becomes [`Time::NEVER`].
    pub fn from_secs_f64(secs: f64) -> Time {
        Time((secs * 1e12 + 0.5) as u64)
    }

    /// In whole picoseconds.
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// In seconds.
    pub fn secs(self) -> f64 {
        // a division, not a product with 1e-12, so that 0.2 s gives exactly 0.2
        self.0 as f64 / 1e12
    }

    /// `self - other`, or zero if `other` is later.
    pub const fn saturating_sub(self, other: Time) -> Time {
        Time(self.0.saturating_sub(other.0))
    }

    /// `self + other`, or [`Time::NEVER`] if that overflows.
    pub const fn saturating_add(self, other: Time) -> Time {
        Time(self.0.saturating_add(other.0))
    }
}

impl Add for Time {
    type Output = Time;
    fn add(self, other: Time) -> Time {
        Time(self.0 + other.0)
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, other: Time) {
        self.0 += other.0;
    }
}

impl Sub for Time {
    type Output = Time;
    fn sub(self, other: Time) -> Time {
        Time(self.0 - other.0)
    }
}

impl Mul<u64> for Time {
    type Output = Time;
    fn mul(self, factor: u64) -> Time {
        Time(self.0.saturating_mul(factor))
    }
}

impl Div<u64> for Time {
    type Output = Time;
    fn div(self, divisor: u64) -> Time {
        Time(self.0 / divisor)
    }
}

/// An amount of data, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Size(u64);

impl Size {
    /// From whole bytes.
    pub const fn from_bytes(bytes: u64) -> Size {
        Size(bytes)
    }

    /// In whole bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

impl Add for Size {
    type Output = Size;
    fn add(self, other: Size) -> Size {
        Size(self.0 + other.0)
    }
}

impl Div<Rate> for Size {
    type Output = Time;
    /// The time that this much data takes at that rate, rounded up to a picosecond, so that a link
    /// is never used above its capacity.
    fn div(self, rate: Rate) -> Time {
        rate.pace().of(self.0)
    }
}

/// A data rate, in bits per second; zero only as the capacity of a link in an outage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rate(u64);

impl Rate {
    /// The least rate at which anything is sent.
    pub const LEAST: Rate = Rate(1);

    /// From whole bits per second.
    pub const fn from_bps(bps: u64) -> Rate {
        Rate(bps)
    }

    /// In bits per second.
    pub const fn bps(self) -> u64 {
        self.0
    }

    /// In bytes per second.
    pub fn bytes_per_s(self) -> f64 {
        self.0 as f64 / 8.0
    }

    /// The reciprocal, which is faster to multiply with.
    pub fn pace(self) -> Pace {
        let bps = u128::from(self.0.max(1));
        let ps_per_byte = (8_000_000_000_000u128 << Pace::FRACTION_BITS).div_ceil(bps);
        Pace(ps_per_byte as u64)
    }
}

impl Mul<Time> for Rate {
    type Output = Size;
    /// The data that this rate carries in that time, rounded down to a byte and limited to 64 bits.
    fn mul(self, time: Time) -> Size {
        let bytes = u128::from(self.0) * u128::from(time.0) / 8_000_000_000_000;
        Size(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

/// Picoseconds per byte as a fixed-point number: the factor from packet size to transmission time.
///
/// Whole picoseconds per byte would be off by 0.6 % at 15 Gbit/s. Twenty fractional bits keep the
/// error below 1e-6 up to 1 Tbit/s and still represent 1 bit/s.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pace(u64);

impl Pace {
    const FRACTION_BITS: u32 = 20;

    /// The transmission time of `bytes`, rounded up to a picosecond.
    #[inline]
    pub const fn of(self, bytes: u64) -> Time {
        let exact = bytes as u128 * self.0 as u128;
        Time(((exact + ((1 << Self::FRACTION_BITS) - 1)) >> Self::FRACTION_BITS) as u64)
    }
}

/// Events per second, as in `1000/s`.
#[derive(Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Frequency(f64);

impl Frequency {
    /// From events per second.
    pub const fn per_s(per_s: f64) -> Frequency {
        Frequency(per_s)
    }

    /// In events per second.
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// The length of a buffer, in one of the possible units.
#[derive(Clone, Copy, PartialEq)]
pub enum Length {
    /// Packets of any size; does not follow a change of capacity.
    Packets(u32),
    /// Bytes; does not follow a change of capacity.
    Bytes(u64),
    /// Multiples of the capacity times the longest round-trip time through the link.
    Bdp(f64),
    /// The time in which a full buffer drains at the current capacity.
    Time(Time),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2^64 ps are 18,446,744.07 s. A whole second before, the time is exact; a second later, and
    /// later than that, it is [`Time::NEVER`]: it never begins anew.
    #[test]
    fn a_time_beyond_64_bits_is_never() {
        const LAST: u64 = 18_446_744;
        for (below, above) in [
            (Time::from_secs(LAST), Time::from_secs(LAST + 1)),
            (Time::from_ms(LAST * 1_000), Time::from_ms((LAST + 1) * 1_000)),
            (Time::from_ns(LAST * 1_000_000_000), Time::from_ns((LAST + 1) * 1_000_000_000)),
        ] {
            assert_eq!(below.ps(), LAST * 1_000_000_000_000);
            assert_eq!(above, Time::NEVER);
        }
        let last = [Time::from_secs(u64::MAX), Time::from_ms(u64::MAX), Time::from_ns(u64::MAX)];
        assert_eq!(last, [Time::NEVER; 3]);
    }
}
