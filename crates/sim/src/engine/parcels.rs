//! Packets on links without a lane, by value.

use tidegate_core::packet::Packet;
use tidegate_core::units::Time;

/// A slab of packets; place 0 stands for none.
///
/// The packets that are delivered in one slot of the wheel form a linked list.
pub(super) struct Parcels {
    packets: Vec<Packet>,
    /// The next place of the same list; free places are a list too.
    links: Vec<u32>,
    /// The first free place.
    free: u32,
}

impl Parcels {
    /// No place.
    pub(super) const NONE: u32 = 0;

    pub(super) fn new() -> Parcels {
        Parcels { packets: vec![Packet::default()], links: vec![Self::NONE], free: Self::NONE }
    }

    /// Stores a packet for `port` that is delivered at `at`, as the first of a list; returns its
    /// place.
    #[inline(always)]
    pub(super) fn put(&mut self, packet: &Packet, port: u32, at: Time, chain: u32) -> u32 {
        if self.free == Self::NONE {
            self.make_room();
        }
        let place = self.free;
        self.free = std::mem::replace(&mut self.links[place as usize], chain);
        // edited in place: a copy would wait for narrow stores before it
        let parcel = &mut self.packets[place as usize];
        *parcel = *packet;
        parcel.at = at;
        parcel.prev_port = port;
        place
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        self.free = self.packets.len() as u32;
        self.packets.push(Packet::default());
        self.links.push(Self::NONE);
    }

    /// The packet at a place continues over another link.
    #[inline(always)]
    pub(super) fn readdress(&mut self, place: u32, port: u32, at: Time) {
        let parcel = &mut self.packets[place as usize];
        parcel.at = at;
        parcel.prev_port = port;
    }

    /// Makes the packet at a place the first of a list.
    #[inline(always)]
    pub(super) fn link(&mut self, place: u32, chain: u32) {
        self.links[place as usize] = chain;
    }

    /// The packet at a place.
    #[inline(always)]
    pub(super) fn at(&self, place: u32) -> &Packet {
        &self.packets[place as usize]
    }

    /// Frees a place.
    #[inline(always)]
    pub(super) fn free(&mut self, place: u32) {
        self.links[place as usize] = self.free;
        self.free = place;
    }

    /// The packets of the list that begins at a place, each with its place.
    #[inline(always)]
    pub(super) fn list(&self, mut place: u32) -> impl Iterator<Item = (u32, &Packet)> {
        std::iter::from_fn(move || {
            let here = (place != Self::NONE).then_some(place)?;
            place = self.links[here as usize];
            Some((here, &self.packets[here as usize]))
        })
    }

    /// All stored packets.
    pub(super) fn held(&self) -> impl Iterator<Item = &Packet> {
        let mut holds = vec![true; self.packets.len()];
        holds[0] = false;
        let mut place = self.free;
        while place != Self::NONE {
            holds[place as usize] = false;
            place = self.links[place as usize];
        }
        self.packets.iter().zip(holds).filter(|(_, holds)| *holds).map(|(packet, _)| packet)
    }
}
