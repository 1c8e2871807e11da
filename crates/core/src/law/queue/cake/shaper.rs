//! CAKE's shaper: a virtual clock that says when the next packet may go (CAKE, III-A).
//!
//! 1. A packet of adjusted length `L` moves the clock on by `L / bandwidth`.
//! 2. Nothing is sent before the clock; what comes to an empty queue sets a
//!    clock that lies behind to now, so that idle time earns no burst.
//! 3. The length is what the link behind puts on its wire: `overhead` bytes
//!    more, `mpu` at least, in ATM cells of 53 bytes for every 48, or with one
//!    byte more for every 64 (PTM).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Pace, Rate, Time};

/// How the link after the port frames packets (CAKE, III-A).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// Frames of the packet's own length.
    #[default]
    None,
    /// ATM cells: 53 bytes for every 48, the last one filled up.
    Atm,
    /// PTM, 64b/65b: one more byte for each 64 bytes or part of them.
    Ptm,
}

/// Length of a packet on the wire of the link behind, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wire {
    /// Bytes that each packet has more, or less.
    pub overhead: i64,
    /// Least length of a packet, before cells.
    pub mpu: u64,
    /// What it goes into.
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

/// The virtual clock.
#[derive(Clone, Debug)]
pub struct Shaper {
    /// None: unlimited.
    pace: Option<Pace>,
    /// When the next packet may go.
    next_packet: Time,
}

impl Shaper {
    /// At this rate; none: unlimited.
    pub fn new(bandwidth: Option<Rate>) -> Shaper {
        Shaper { pace: bandwidth.map(Rate::pace), next_packet: Time::ZERO }
    }

    /// How long the shaper takes for so many bytes (unlimited: no time).
    pub fn time_of(&self, bytes: u64) -> Time {
        self.pace.map_or(Time::ZERO, |pace| pace.of(bytes))
    }

    /// A packet comes to an empty queue.
    #[inline]
    pub fn wake(&mut self, now: Time) {
        self.next_packet = self.next_packet.max(now);
    }

    /// Until when nothing may go, if that is later than now.
    #[inline]
    pub fn holds_until(&self, now: Time) -> Option<Time> {
        (self.pace.is_some() && self.next_packet > now).then_some(self.next_packet)
    }

    /// A packet of this adjusted length goes.
    #[inline]
    pub fn sent(&mut self, length: u64) {
        self.next_packet += self.time_of(length);
    }
}
