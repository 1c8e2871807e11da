//! The bytes of datagrams that are under way, by the number that their packets carry.
//!
//! Only hosts that are not the simulator's own have any. A packet names its bytes
//! ([`Packet::payload`]); they are freed where it ends: when it is delivered, lost on a link,
//! dropped or evicted by a queue, or refused by a gate.

use tidegate_core::packet::{Ext, Packet};

/// The bytes of all datagrams.
#[derive(Default)]
pub(crate) struct Datagrams {
    /// A freed place keeps its memory for the next datagram.
    places: Vec<Vec<u8>>,
    free: Vec<u32>,
}

impl Datagrams {
    /// An empty place.
    pub(crate) fn place(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.places.push(Vec::new());
            self.places.len() as u32 - 1
        })
    }

    /// The bytes at a place.
    pub(crate) fn bytes(&mut self, place: u32) -> &mut Vec<u8> {
        &mut self.places[place as usize]
    }

    /// A copy of a packet, with bytes of its own.
    #[cold]
    pub(crate) fn copy(&mut self, packet: &Packet) -> Packet {
        let mut copy = *packet;
        if let Ext::Datagram { payload, .. } = &mut copy.ext {
            let place = self.place();
            let bytes = std::mem::take(self.bytes(*payload));
            self.bytes(place).extend_from_slice(&bytes);
            *self.bytes(*payload) = bytes;
            *payload = place;
        }
        copy
    }

    /// A packet ends.
    #[inline]
    pub(crate) fn end(&mut self, packet: &Packet) {
        if let Some(place) = packet.payload() {
            self.free(place);
        }
    }

    /// Frees a place.
    #[inline(never)]
    pub(crate) fn free(&mut self, place: u32) {
        debug_assert!(!self.free.contains(&place), "{place} is freed twice");
        self.places[place as usize].clear();
        self.free.push(place);
    }

    /// Datagrams that have bytes.
    pub(crate) fn held(&self) -> usize {
        self.places.len() - self.free.len()
    }
}
