//! The fine wheel: the events of the next tenth of a second.

use tidegate_core::units::Time;

use tidegate_core::packet::Packet;

use super::key::FINE_SLOTS;
use super::parcels::Parcels;
use super::{Entity, key, port_of};

/// An event in a slot of the fine wheel, or a free place.
#[derive(Clone, Copy)]
struct Node {
    at: Time,
    entity: Entity,
    parcel: u32,
    /// The next one of its list.
    next: u32,
}

/// Unsorted slots, addressed by their number modulo the size of the wheel.
///
/// The events of a slot are a linked list in one array. The array has as many places as events were
/// ever pending at once, so that it fits a near cache.
pub(super) struct Fine {
    /// The first event of each slot.
    heads: Box<[u32; 1 << FINE_SLOTS]>,
    /// The first parcel of each slot.
    chains: Box<[u32; 1 << FINE_SLOTS]>,
    /// A bit for every used slot, and a bit for every word of these bits.
    used: [u64; 1 << (FINE_SLOTS - 6)],
    summary: u64,
    nodes: Vec<Node>,
    /// The first free node.
    free: u32,
}

const _: () = assert!(FINE_SLOTS == 12, "one word sums up the bits of the fine wheel");

impl Fine {
    /// No event.
    const NONE: u32 = u32::MAX;

    pub(super) fn new() -> Fine {
        Fine {
            heads: Box::new([Self::NONE; 1 << FINE_SLOTS]),
            chains: Box::new([Parcels::NONE; 1 << FINE_SLOTS]),
            used: [0; 1 << (FINE_SLOTS - 6)],
            summary: 0,
            nodes: Vec::new(),
            free: Self::NONE,
        }
    }

    const fn place(slot: u64) -> usize {
        (slot & ((1 << FINE_SLOTS) - 1)) as usize
    }

    #[inline]
    pub(super) fn put(&mut self, slot: u64, at: Time, entity: Entity, parcel: u32) {
        if self.free == Self::NONE {
            self.make_room();
        }
        let place = Self::place(slot);
        let number = self.free;
        // field by field: a copy of the whole would wait for the stores of its parts
        let node = &mut self.nodes[number as usize];
        self.free = node.next;
        node.at = at;
        node.entity = entity;
        node.parcel = parcel;
        node.next = std::mem::replace(&mut self.heads[place], number);
        self.mark_used(place);
    }

    /// Marks a slot as used.
    #[inline(always)]
    fn mark_used(&mut self, place: usize) {
        self.used[place >> 6] |= 1 << (place & 63);
        self.summary |= 1 << (place >> 6);
    }

    /// Adds the delivery of a packet at a port.
    #[inline(always)]
    pub(super) fn put_parcel(
        &mut self,
        slot: u64,
        parcels: &mut Parcels,
        packet: &Packet,
        (port, at): (u32, Time),
    ) {
        let place = Self::place(slot);
        self.chains[place] = parcels.put(packet, port, at, self.chains[place]);
        self.mark_used(place);
    }

    #[cold]
    fn make_room(&mut self) {
        self.free = self.nodes.len() as u32;
        let (at, entity) = (Time::NEVER, Entity(0));
        self.nodes.push(Node { at, entity, parcel: 0, next: Self::NONE });
    }

    /// The same for a packet that is stored already.
    #[inline(always)]
    pub(super) fn chain(&mut self, slot: u64, parcels: &mut Parcels, parcel: u32) {
        let place = Self::place(slot);
        parcels.link(parcel, std::mem::replace(&mut self.chains[place], parcel));
        self.mark_used(place);
    }

    /// Appends the events of a slot to `fresh`, and empties it.
    #[inline]
    pub(super) fn drain(&mut self, slot: u64, parcels: &Parcels, fresh: &mut Vec<u128>) {
        let place = Self::place(slot);
        let used = &mut self.used[place >> 6];
        *used &= !(1 << (place & 63));
        if *used == 0 {
            self.summary &= !(1 << (place >> 6));
        }
        let mut number = std::mem::replace(&mut self.heads[place], Self::NONE);
        while let Some(node) = self.nodes.get_mut(number as usize) {
            fresh.push(key(node.at, node.entity, node.parcel));
            let next = std::mem::replace(&mut node.next, self.free);
            self.free = number;
            number = next;
        }
        let first = std::mem::replace(&mut self.chains[place], Parcels::NONE);
        fresh.extend(
            parcels
                .list(first)
                .map(|(place, packet)| key(packet.at, port_of(packet.prev_port), place)),
        );
    }

    /// The subjects of the events of a slot.
    #[inline]
    pub(super) fn for_each(&self, slot: u64, tell: &mut impl FnMut(Entity)) {
        let mut number = self.heads[Self::place(slot)];
        while let Some(node) = self.nodes.get(number as usize) {
            tell(node.entity);
            number = node.next;
        }
    }

    /// The parcels of a slot.
    #[inline]
    pub(super) fn parcels<'a>(
        &self,
        slot: u64,
        parcels: &'a Parcels,
    ) -> impl Iterator<Item = &'a Packet> {
        parcels.list(self.chains[Self::place(slot)]).map(|(_, packet)| packet)
    }

    /// The first used slot from `slot` on, less than a turn away.
    #[inline]
    pub(super) fn first_used(&self, slot: u64) -> Option<u64> {
        let place = Self::place(slot);
        let rest = self.used[place >> 6] >> (place & 63);
        if rest != 0 {
            return Some(slot + u64::from(rest.trailing_zeros()));
        }
        if self.summary == 0 {
            return None;
        }
        // the words after this one, and at last the first bits of this one
        let word = place >> 6;
        let ahead = self.summary.rotate_right(word as u32 + 1).trailing_zeros() as usize + 1;
        let bits = self.used[(word + ahead) & (self.used.len() - 1)];
        let start = (slot & !63) + 64 * ahead as u64;
        Some(start + u64::from(bits.trailing_zeros()))
    }
}
