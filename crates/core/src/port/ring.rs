//! The ring that holds a port's packets by value.

use crate::packet::{Flags, Packet};
use crate::units::Time;

/// Packets in flight, then packets waiting; grows by doubling.
///
/// Places are counted up and wrapped by a mask, so that `tail - head` is the
/// number held whatever has passed through.
#[repr(C)]
pub(super) struct Ring<C> {
    packets: Box<[Packet]>,
    head: u32,
    departed: u32,
    tail: u32,
    cargo: Box<[C]>,
}

impl<C: Default> Ring<C> {
    const INITIAL: usize = 8;

    pub(super) fn new() -> Ring<C> {
        Ring {
            packets: vec![Packet::default(); Self::INITIAL].into(),
            cargo: (0..Self::INITIAL).map(|_| C::default()).collect(),
            head: 0,
            departed: 0,
            tail: 0,
        }
    }

    #[inline]
    fn place(&self, count: u32) -> usize {
        count as usize & (self.packets.len() - 1)
    }

    /// Packets that wait, evicted ones not yet buried included.
    #[inline]
    pub(super) fn waiting(&self) -> u32 {
        self.tail.wrapping_sub(self.departed)
    }

    /// The packet that is delivered next.
    #[inline]
    pub(super) fn in_flight_head(&self) -> Option<&Packet> {
        (self.head != self.departed).then(|| &self.packets[self.place(self.head)])
    }

    /// The oldest waiting packet; there must be one.
    #[inline]
    pub(super) fn first_waiting_mut(&mut self) -> &mut Packet {
        &mut self.packets[self.place(self.departed)]
    }

    /// The packet `index` places behind the oldest waiting one.
    pub(super) fn waiting_mut(&mut self, index: u32) -> Option<&mut Packet> {
        (index < self.waiting())
            .then(|| &mut self.packets[self.place(self.departed.wrapping_add(index))])
    }

    /// The oldest waiting packet is in transmission from now on.
    #[inline]
    pub(super) fn depart(&mut self) {
        self.departed = self.departed.wrapping_add(1);
    }

    /// Copies the packet in, to be edited in place: narrow stores before a
    /// 64-byte copy would stall the store forwarding.
    #[inline(always)]
    pub(super) fn push(&mut self, packet: &Packet, cargo: C) -> &mut Packet {
        if self.tail.wrapping_sub(self.head) as usize == self.packets.len() {
            self.grow();
        }
        let place = self.place(self.tail);
        self.tail = self.tail.wrapping_add(1);
        if size_of::<C>() > 0 {
            self.cargo[place] = cargo;
        }
        let slot = &mut self.packets[place];
        *slot = *packet;
        slot
    }

    /// Puts a packet in the place of the waiting one at `index`.
    #[inline]
    pub(super) fn replace(&mut self, index: u32, packet: &Packet, cargo: C) -> &mut Packet {
        let place = self.place(self.departed.wrapping_add(index));
        if size_of::<C>() > 0 {
            self.cargo[place] = cargo;
        }
        let slot = &mut self.packets[place];
        *slot = *packet;
        slot
    }

    /// Takes the packet whose delivery is due by `now`.
    #[inline]
    pub(super) fn pop_delivered(&mut self, now: Time) -> Option<(&Packet, C)> {
        if self.head == self.departed {
            return None;
        }
        let place = self.place(self.head);
        if self.packets[place].at > now {
            return None;
        }
        self.head = self.head.wrapping_add(1);
        // the place of nothing is not looked up
        let cargo = match size_of::<C>() {
            0 => C::default(),
            _ => std::mem::take(&mut self.cargo[place]),
        };
        Some((&self.packets[place], cargo))
    }

    /// The packet popped last, until something is pushed.
    #[inline]
    pub(super) fn last_popped(&self) -> &Packet {
        &self.packets[self.place(self.head.wrapping_sub(1))]
    }

    /// Moves the waiting packet at `index` before the others, which keep their order.
    pub(super) fn bring_forward(&mut self, index: u32) {
        for step in (0..index.min(self.waiting().saturating_sub(1))).rev() {
            let here = self.place(self.departed.wrapping_add(step));
            let next = self.place(self.departed.wrapping_add(step + 1));
            self.packets.swap(here, next);
            self.cargo.swap(here, next);
        }
    }

    /// The oldest waiting packet and the one at `index` change places.
    pub(super) fn swap_forward(&mut self, index: u32) {
        let here = self.place(self.departed);
        let there = self.place(self.departed.wrapping_add(index));
        self.packets.swap(here, there);
        if size_of::<C>() > 0 {
            self.cargo.swap(here, there);
        }
    }

    /// The oldest waiting packet, which was evicted, goes in among those in
    /// flight, so that nothing has to move up; [`Ring::skip_buried`] passes over it.
    pub(super) fn bury_first_waiting(&mut self) {
        let place = self.place(self.departed);
        self.cargo[place] = C::default();
        self.departed = self.departed.wrapping_add(1);
    }

    /// The packet that is delivered next, where some of those in flight are buried.
    pub(super) fn in_flight_head_unburied(&self) -> Option<&Packet> {
        let mut place = self.head;
        while place != self.departed {
            let packet = &self.packets[self.place(place)];
            if !packet.flags.has(Flags::EVICTED) {
                return Some(packet);
            }
            place = place.wrapping_add(1);
        }
        None
    }

    /// Drops the buried packets before the one that is delivered next.
    pub(super) fn skip_buried(&mut self) {
        while self.head != self.departed
            && self.packets[self.place(self.head)].flags.has(Flags::EVICTED)
        {
            self.head = self.head.wrapping_add(1);
        }
    }

    /// The waiting packets, oldest first, as the two runs of the ring.
    pub(super) fn waiting_slices(&self) -> (&[Packet], &[Packet]) {
        let waiting = self.waiting() as usize;
        let start = self.place(self.departed);
        let first = waiting.min(self.packets.len() - start);
        (&self.packets[start..start + first], &self.packets[..waiting - first])
    }

    #[cold]
    fn grow(&mut self) {
        let held = self.packets.len();
        let mut packets = Vec::with_capacity(held * 2);
        let mut cargo = Vec::with_capacity(held * 2);
        for step in 0..held as u32 {
            let place = self.place(self.head.wrapping_add(step));
            packets.push(self.packets[place]);
            cargo.push(std::mem::take(&mut self.cargo[place]));
        }
        packets.resize(held * 2, Packet::default());
        cargo.resize_with(held * 2, C::default);
        self.departed = self.departed.wrapping_sub(self.head);
        self.head = 0;
        self.tail = held as u32;
        self.packets = packets.into();
        self.cargo = cargo.into();
    }
}

/// Marks a waiting packet as evicted: it keeps its place and is never sent.
pub(super) fn entomb(packet: &mut Packet) {
    packet.flags = packet.flags.with(Flags::EVICTED);
}
