//! Explicit rates: ports tell senders how fast to send (qfcp, 2; XCP; RCP; VCP).
//!
//! A packet carries a header with its sender's request. When a port starts to transmit the packet,
//! it writes its own answer into the header. The receiver returns the result and the sender obeys.
//! No port keeps state per flow.
//!
//! QFCP, RCP and a user's own laws share the datapath [`Grant`], which uses integers only, so that
//! a kernel can run it. The datapaths of XCP and VCP are in their own files.

pub mod qfcp;
pub mod rcp;
pub mod vcp;
pub mod xcp;

use super::{Controller, Counted, Datapath, Moment};
use crate::packet::{Ext, Packet};

/// The controller of a law over [`Grant`].
pub type RateLaw = Box<dyn Controller<Knobs, Counts>>;

/// What the controller sets and [`Grant`] obeys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Knobs {
    /// The highest rate that any flow may have (R), in bytes per second.
    pub rate: u64,
}

impl Default for Knobs {
    /// No limit until the law sets one.
    fn default() -> Knobs {
        Knobs { rate: u64::MAX }
    }
}

/// What [`Grant`] has counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Counts {
    /// Packets that arrived.
    pub packets: u64,
    /// Their bytes, including packets that the queue dropped.
    pub bytes: u64,
    /// Bytes that the queue dropped.
    pub dropped_bytes: u64,
    /// Packets that carried a round-trip time.
    pub rtt_packets: u64,
    /// Sum of these times, in microseconds.
    pub rtt_us: u64,
    /// Bytes of these packets.
    pub rtt_bytes: u64,
    /// Sum of bytes times round-trip time, in byte microseconds.
    pub rtt_us_bytes: u64,
}

const _: () = assert!(size_of::<Counts>() == 56);

impl Counted for Counts {
    fn since(&self, before: &Counts) -> Counts {
        Counts {
            packets: self.packets.wrapping_sub(before.packets),
            bytes: self.bytes.wrapping_sub(before.bytes),
            dropped_bytes: self.dropped_bytes.wrapping_sub(before.dropped_bytes),
            rtt_packets: self.rtt_packets.wrapping_sub(before.rtt_packets),
            rtt_us: self.rtt_us.wrapping_sub(before.rtt_us),
            rtt_bytes: self.rtt_bytes.wrapping_sub(before.rtt_bytes),
            rtt_us_bytes: self.rtt_us_bytes.wrapping_sub(before.rtt_us_bytes),
        }
    }
}

impl Counts {
    /// Mean round-trip time over packets, in seconds.
    pub fn mean_rtt_s(&self) -> Option<f64> {
        (self.rtt_packets > 0).then(|| self.rtt_us as f64 / self.rtt_packets as f64 / 1e6)
    }

    /// Mean round-trip time over bytes, in seconds.
    pub fn mean_rtt_by_bytes_s(&self) -> Option<f64> {
        (self.rtt_bytes > 0).then(|| self.rtt_us_bytes as f64 / self.rtt_bytes as f64 / 1e6)
    }
}

/// The datapath of QFCP, RCP and a user's own laws: no flow gets more than the port's one rate
/// (qfcp, 2.1, step 2).
#[derive(Clone, Copy, Debug, Default)]
pub struct Grant;

impl Datapath for Grant {
    type Knobs = Knobs;
    type Counts = Counts;

    #[inline]
    fn offered(&mut self, packet: &Packet, _: &Moment, _: &Knobs, counts: &mut Counts) {
        let size = u64::from(packet.size);
        counts.packets += 1;
        counts.bytes += size;
        if let Ext::Rate(header) = &packet.ext
            && header.rtt_us > 0
        {
            let rtt_us = u64::from(header.rtt_us);
            counts.rtt_packets += 1;
            counts.rtt_us += rtt_us;
            counts.rtt_bytes += size;
            counts.rtt_us_bytes += size * rtt_us;
        }
    }

    fn dropped(&mut self, packet: &Packet, counts: &mut Counts) {
        counts.dropped_bytes += u64::from(packet.size);
    }

    #[inline]
    fn depart(&mut self, packet: &mut Packet, _: &Moment, knobs: &Knobs, _: &mut Counts) {
        if let Ext::Rate(header) = &mut packet.ext
            && u64::from(header.request) > knobs.rate
        {
            // it fits: it is less than a value that had 32 bits
            header.request = knobs.rate.max(1) as u32;
        }
    }
}

/// A rate in whole bytes per second, at least one.
fn whole(bytes_per_s: f64) -> u64 {
    bytes_per_s.max(1.0) as u64
}
