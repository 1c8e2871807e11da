//! The packets that wait at a port: a slab indexed by handles.
//!
//! A discipline reads them, evicts some and names the next one to send; only the port adds and
//! removes packets. A [`Chain`] is a list of handles in an order chosen by the discipline, at eight
//! bytes a packet.

use std::collections::VecDeque;

use crate::packet::Packet;

/// Identifies a waiting packet until it leaves the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handle(u32);

impl Handle {
    /// Index of the handle for tables: small, and reused.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

const NONE: u32 = u32::MAX;

/// The neighbours of a packet in the one list that holds it.
#[derive(Clone, Copy, Debug)]
struct Neighbours {
    older: u32,
    newer: u32,
}

/// The links of lists that share no packet: a table indexed by handle.
#[derive(Clone, Debug, Default)]
pub struct Links(Vec<Neighbours>);

/// A linked list of handles; every call needs the [`Links`] that it was built with.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    oldest: u32,
    newest: u32,
    packets: u32,
}

impl Default for Chain {
    fn default() -> Chain {
        Chain::EMPTY
    }
}

impl Chain {
    /// An empty list.
    pub const EMPTY: Chain = Chain { oldest: NONE, newest: NONE, packets: 0 };

    /// Number of handles.
    #[inline]
    pub fn packets(&self) -> u32 {
        self.packets
    }

    /// Whether the list is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// The first handle.
    #[inline]
    pub fn oldest(&self) -> Option<Handle> {
        (self.oldest != NONE).then_some(Handle(self.oldest))
    }

    /// The last handle.
    #[inline]
    pub fn newest(&self) -> Option<Handle> {
        (self.newest != NONE).then_some(Handle(self.newest))
    }

    /// Appends a handle.
    #[inline]
    pub fn push(&mut self, handle: Handle, links: &mut Links) {
        let link = Neighbours { older: self.newest, newer: NONE };
        links.set(handle, link);
        match self.newest {
            NONE => self.oldest = handle.0,
            newest => links.0[newest as usize].newer = handle.0,
        }
        self.newest = handle.0;
        self.packets += 1;
    }

    /// Removes a handle that is on the list.
    #[inline]
    pub fn remove(&mut self, handle: Handle, links: &mut Links) {
        let Some(&Neighbours { older, newer }) = links.0.get(handle.index()) else { return };
        match older {
            NONE => self.oldest = newer,
            older => links.0[older as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => links.0[newer as usize].older = older,
        }
        self.packets -= 1;
    }

    /// Removes the first handle.
    #[inline]
    pub fn pop(&mut self, links: &mut Links) -> Option<Handle> {
        let oldest = self.oldest()?;
        self.remove(oldest, links);
        Some(oldest)
    }

    /// The handles from first to last.
    pub fn iter<'a>(&self, links: &'a Links) -> impl Iterator<Item = Handle> + use<'a> {
        std::iter::successors(self.oldest(), |handle| links.newer(*handle))
    }
}

impl Links {
    #[inline]
    fn set(&mut self, handle: Handle, link: Neighbours) {
        match self.0.get_mut(handle.index()) {
            Some(place) => *place = link,
            None => self.grow(handle, link),
        }
    }

    #[cold]
    fn grow(&mut self, handle: Handle, link: Neighbours) {
        self.0.resize(handle.index() + 1, link);
    }

    /// The handle after this one in its list.
    #[inline]
    pub fn newer(&self, handle: Handle) -> Option<Handle> {
        self.0.get(handle.index()).filter(|link| link.newer != NONE).map(|link| Handle(link.newer))
    }

    /// The handle before this one in its list.
    #[inline]
    pub fn older(&self, handle: Handle) -> Option<Handle> {
        self.0.get(handle.index()).filter(|link| link.older != NONE).map(|link| Handle(link.older))
    }
}

/// A note on each waiting packet: a table indexed by handle.
#[derive(Clone, Debug, Default)]
pub struct Notes<T>(Vec<T>);

impl<T: Clone + Default> Notes<T> {
    /// Notes a value for a packet.
    #[inline]
    pub fn set(&mut self, handle: Handle, note: T) {
        if self.0.len() <= handle.index() {
            self.0.resize(handle.index() + 1, T::default());
        }
        self.0[handle.index()] = note;
    }

    /// The value noted last.
    #[inline]
    pub fn get(&self, handle: Handle) -> T {
        self.0.get(handle.index()).cloned().unwrap_or_default()
    }
}

/// A number of packets, and of their bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sum {
    /// Packets.
    pub packets: u32,
    /// Bytes.
    pub bytes: u64,
}

impl Sum {
    /// The sum with one more packet.
    #[inline]
    pub fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.size);
    }

    /// The sum without one packet.
    #[inline]
    pub fn subtract(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.size);
    }

    /// The total of two sums.
    #[inline]
    pub fn with(self, other: Sum) -> Sum {
        Sum { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

/// The state of a place in the slab.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PlaceState {
    /// Empty.
    Free,
    /// Holds a waiting packet, in the order of arrival.
    Listed,
    /// Holds a waiting packet, set aside.
    Aside,
    /// Holds an evicted packet that the port has yet to process.
    Evicted,
}

/// The state of a place, and the number of its packet in the order of arrival, in one word: two
/// tables, or wider places, take more instructions for each packet.
#[derive(Clone, Copy, Debug)]
struct Spot(u64);

impl Spot {
    /// Bits of the number; 32 would be used up while `dqm` holds a packet back.
    const NUMBER_BITS: u32 = 62;

    #[inline(always)]
    fn new(place: PlaceState, number: u64) -> Spot {
        Spot((place as u64) << Self::NUMBER_BITS | number)
    }

    #[inline(always)]
    fn place(self) -> PlaceState {
        match self.0 >> Self::NUMBER_BITS {
            0 => PlaceState::Free,
            1 => PlaceState::Listed,
            2 => PlaceState::Aside,
            _ => PlaceState::Evicted,
        }
    }

    #[inline(always)]
    fn number(self) -> u64 {
        self.0 & ((1 << Self::NUMBER_BITS) - 1)
    }

    #[inline(always)]
    fn set(&mut self, place: PlaceState) {
        *self = Spot::new(place, self.number());
    }
}

/// The packets that wait.
#[derive(Clone, Debug, Default)]
pub struct Waiting {
    packets: Vec<Packet>,
    places: Vec<Spot>,
    links: Links,
    /// List of the packets in the order of arrival.
    order: Chain,
    /// Sum of these.
    listed: Sum,
    /// Sum of those set aside.
    aside: Sum,
    /// First free place; free places are linked by `newer`.
    free: Option<Handle>,
    evicted: VecDeque<Handle>,
    /// Arrivals so far.
    came: u64,
}

impl Waiting {
    /// Empty.
    pub const fn new() -> Waiting {
        Waiting {
            packets: Vec::new(),
            places: Vec::new(),
            links: Links(Vec::new()),
            order: Chain::EMPTY,
            listed: Sum { packets: 0, bytes: 0 },
            aside: Sum { packets: 0, bytes: 0 },
            free: None,
            evicted: VecDeque::new(),
            came: 0,
        }
    }

    /// Number of waiting packets, without those set aside.
    #[inline]
    pub fn packets(&self) -> u32 {
        self.listed.packets
    }

    /// Their bytes.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.listed.bytes
    }

    /// Sum of all waiting packets, including those set aside.
    #[inline]
    pub fn all(&self) -> Sum {
        self.listed.with(self.aside)
    }

    /// The packet that has waited longest, without those set aside.
    #[inline]
    pub fn oldest(&self) -> Option<Handle> {
        self.order.oldest()
    }

    /// The packet that arrived last, without those set aside.
    #[inline]
    pub fn newest(&self) -> Option<Handle> {
        self.order.newest()
    }

    /// The packets in the order of arrival, without those set aside.
    pub fn iter(&self) -> impl Iterator<Item = (Handle, &Packet)> {
        self.order.iter(&self.links).map(|handle| (handle, &self.packets[handle.index()]))
    }

    /// All waiting packets: those in the order of arrival, then those set aside.
    pub fn all_packets(&self) -> impl Iterator<Item = &Packet> {
        let places = self.places.iter().zip(&self.packets);
        let aside = places.filter(|(spot, _)| spot.place() == PlaceState::Aside);
        self.iter().map(|(_, packet)| packet).chain(aside.map(|(_, packet)| packet))
    }

    /// A waiting packet; its `at` is the time of its arrival.
    #[inline]
    pub fn get(&self, handle: Handle) -> Option<&Packet> {
        match self.places.get(handle.index())?.place() {
            PlaceState::Listed | PlaceState::Aside => Some(&self.packets[handle.index()]),
            PlaceState::Free | PlaceState::Evicted => None,
        }
    }

    /// Whether the first of two waiting packets arrived before the second.
    #[inline]
    pub fn came_before(&self, first: Handle, second: Handle) -> bool {
        let number =
            |handle: Handle| self.places.get(handle.index()).map_or(0, |spot| spot.number());
        number(first) < number(second)
    }

    /// Evicts a waiting packet; returns whether it waited.
    pub fn evict(&mut self, handle: Handle) -> bool {
        if !self.unlist(handle) {
            return false;
        }
        self.places[handle.index()].set(PlaceState::Evicted);
        self.evicted.push_back(handle);
        true
    }

    /// Removes a packet from the order of arrival and from the sums, so that a discipline under
    /// another one does not see it. It stays in the queue.
    pub fn set_aside(&mut self, handle: Handle) {
        if self.unlist(handle) {
            self.places[handle.index()].set(PlaceState::Aside);
            self.aside.add(&self.packets[handle.index()]);
        }
    }

    /// Takes a waiting packet off its list; returns whether it was on one.
    #[inline]
    fn unlist(&mut self, handle: Handle) -> bool {
        let Some(spot) = self.places.get(handle.index()) else { return false };
        match spot.place() {
            PlaceState::Listed => {
                self.order.remove(handle, &mut self.links);
                self.listed.subtract(&self.packets[handle.index()]);
                true
            }
            PlaceState::Aside => {
                self.aside.subtract(&self.packets[handle.index()]);
                true
            }
            PlaceState::Free | PlaceState::Evicted => false,
        }
    }

    /// Appends a packet (for the port).
    #[inline]
    pub fn push(&mut self, packet: &Packet) -> Handle {
        self.push_for_edit(packet).0
    }

    /// Appends a packet (for the port) and returns it in its place, where `at`, `sent` and the
    /// flags may be changed. Narrow stores before a 64-byte copy would stall the store forwarding.
    #[inline]
    pub(crate) fn push_for_edit(&mut self, packet: &Packet) -> (Handle, &mut Packet) {
        let handle = match self.free {
            Some(free) => free,
            None => self.grow(),
        };
        self.free = self.links.newer(handle);
        let place = handle.index();
        self.places[place] = Spot::new(PlaceState::Listed, self.came);
        self.came += 1;
        self.order.push(handle, &mut self.links);
        self.listed.add(packet);
        let slot = &mut self.packets[place];
        *slot = *packet;
        (handle, slot)
    }

    #[cold]
    fn grow(&mut self) -> Handle {
        let handle = Handle(self.packets.len() as u32);
        self.packets.push(Packet::default());
        self.places.push(Spot::new(PlaceState::Free, 0));
        self.links.set(handle, Neighbours { older: NONE, newer: NONE });
        handle
    }

    /// Removes a waiting packet (for the port).
    #[inline]
    pub fn take(&mut self, handle: Handle) -> Option<Packet> {
        self.remove(handle).then(|| self.packets[handle.index()])
    }

    /// The same without a copy; returns whether it waited. See [`Waiting::removed`].
    #[inline]
    pub(crate) fn remove(&mut self, handle: Handle) -> bool {
        let waited = self.unlist(handle);
        if waited {
            self.release(handle);
        }
        waited
    }

    /// The packet that was removed last, until the next one is appended.
    #[inline]
    pub(crate) fn removed(&mut self, handle: Handle) -> &mut Packet {
        &mut self.packets[handle.index()]
    }

    /// Removes an evicted packet (for the port).
    #[inline]
    pub fn take_evicted(&mut self) -> Option<(Handle, Packet)> {
        let handle = self.evicted.pop_front()?;
        self.release(handle);
        Some((handle, self.packets[handle.index()]))
    }

    #[inline]
    fn release(&mut self, handle: Handle) {
        self.places[handle.index()] = Spot::new(PlaceState::Free, 0);
        let newer = self.free.map_or(NONE, |free| free.0);
        self.links.set(handle, Neighbours { older: NONE, newer });
        self.free = Some(handle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet came before those that came after it, however many came since: here one, 2^31,
    /// 3 x 2^30 and 2^32 of them.
    #[test]
    fn the_order_of_arrival_is_kept_over_any_number() {
        for passed in [0, 1 << 31, 3 << 30, (1 << 32) - 1] {
            let mut waiting = Waiting::new();
            let held = waiting.push(&Packet::default());
            waiting.came += passed;
            let newer = waiting.push(&Packet::default());
            assert!(waiting.came_before(held, newer), "{passed} later");
            assert!(!waiting.came_before(newer, held), "{passed} later");
        }
    }
}
