//! CAKE's shaper: a virtual clock tells when the next packet may be sent (CAKE, III-A).
//!
//! 1. A packet of adjusted length `L` advances the clock by `L / bandwidth`.
//! 2. Nothing is sent before the clock. An arrival at an empty queue sets a clock in the past to
//!    now, so that idle time does not allow a burst.
//! 3. The adjusted length is that on the next link: plus `overhead` bytes, at least `mpu`, in ATM
//!    cells of 53 bytes for every 48, or with one more byte for every 64 (PTM).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Pace, Rate, Time};

/// How the link after the port frames packets (CAKE, III-A).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// Frames without padding.
    #[default]
    None,
    /// ATM cells: 53 bytes for every 48, the last cell padded.
    Atm,
    /// PTM, 64b/65b: one more byte for every 64 bytes started.
    Ptm,
}

/// Length of a packet on the next link, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wire {
    /// Bytes added to each packet; may be negative.
    pub overhead: i64,
    /// Least length of a packet, before framing.
    pub mpu: u64,
    /// The framing.
    pub framing: Framing,
}

impl Wire {
    /// The adjusted length of a packet of `size` bytes.
    #[inline]
    pub fn length(&self, size: u16) -> u64 {
        let length = (i64::from(size) + self.overhead).max(1).unsigned_abs().max(self.mpu);
        match self.framing {
            Framing::None => length,
            Framing::Atm => length.div_ceil(48) * 53,
            Framing::Ptm => length + length.div_ceil(64),
        }
    }
}

/// What is measured of a shaper.
#[derive(Clone, Copy, Debug)]
pub struct Shaping {
    /// Its rate.
    pub rate: Rate,
    /// What counts as the length of a packet.
    pub wire: Wire,
    /// The time that it has given to all packets sent so far.
    given: Time,
    next_packet: Time,
}

impl Shaping {
    /// The time that it gives to a packet of `size` bytes.
    pub fn time_of(&self, size: u16) -> Time {
        self.rate.pace().of(self.wire.length(size))
    }

    /// The time up to `now` that it has given to packets.
    pub fn taken(&self, now: Time) -> Time {
        self.given - self.next_packet.saturating_sub(now)
    }
}

/// The virtual clock.
#[derive(Clone, Debug)]
pub struct Shaper {
    /// None: unlimited.
    bandwidth: Option<Rate>,
    pace: Option<Pace>,
    /// When the next packet may be sent.
    next_packet: Time,
    /// How far packets have advanced the clock.
    given: Time,
}

impl Shaper {
    /// A clock of this rate; none: unlimited.
    pub fn new(bandwidth: Option<Rate>) -> Shaper {
        let pace = bandwidth.map(Rate::pace);
        Shaper { bandwidth, pace, next_packet: Time::ZERO, given: Time::ZERO }
    }

    /// What is measured of it; none: unlimited.
    pub fn measured(&self, wire: Wire) -> Option<Shaping> {
        let Shaper { given, next_packet, .. } = *self;
        self.bandwidth.map(|rate| Shaping { rate, wire, given, next_packet })
    }

    /// Transmission time of this many bytes (zero if unlimited).
    pub fn time_of(&self, bytes: u64) -> Time {
        self.pace.map_or(Time::ZERO, |pace| pace.of(bytes))
    }

    /// A packet arrives at an empty queue.
    #[inline]
    pub fn wake(&mut self, now: Time) {
        self.next_packet = self.next_packet.max(now);
    }

    /// The clock, if it is later than now.
    #[inline]
    pub fn holds_until(&self, now: Time) -> Option<Time> {
        (self.pace.is_some() && self.next_packet > now).then_some(self.next_packet)
    }

    /// A packet of this adjusted length is sent.
    #[inline]
    pub fn sent(&mut self, length: u64) {
        let spent = self.time_of(length);
        self.next_packet += spent;
        self.given += spent;
    }
}
