//! The ring that holds a port's packets by value.

use crate::packet::Packet;
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

    /// Packets that wait.
    #[inline]
    pub(super) fn waiting(&self) -> u32 {
        self.tail.wrapping_sub(self.departed)
    }

    /// The packet that is delivered next.
    #[inline]
    pub(super) fn in_flight_head(&self) -> Option<&Packet> {
        (self.head != self.departed).then(|| &self.packets[self.place(self.head)])
    }

    /// The oldest waiting packet.
    #[inline]
    pub(super) fn first_waiting(&self) -> Option<&Packet> {
        (self.departed != self.tail).then(|| &self.packets[self.place(self.departed)])
    }

    /// The oldest waiting packet; there must be one.
    #[inline]
    pub(super) fn first_waiting_mut(&mut self) -> &mut Packet {
        &mut self.packets[self.place(self.departed)]
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

    /// Puts a packet, which nothing waits behind, among those in flight by its time of
    /// delivery, behind others of the same time.
    pub(super) fn insert(&mut self, packet: &Packet, cargo: C) {
        self.push(packet, cargo);
        self.depart();
        let mut count = self.tail.wrapping_sub(1);
        while count != self.head {
            let (place, before) = (self.place(count), self.place(count.wrapping_sub(1)));
            if self.packets[before].at <= self.packets[place].at {
                break;
            }
            self.packets.swap(place, before);
            self.cargo.swap(place, before);
            count = count.wrapping_sub(1);
        }
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

    /// Takes the packet that was pushed last, which waits, with what it carries.
    pub(super) fn pop_newest(&mut self) -> Option<(Packet, C)> {
        if self.waiting() == 0 {
            return None;
        }
        self.tail = self.tail.wrapping_sub(1);
        let place = self.place(self.tail);
        Some((self.packets[place], std::mem::take(&mut self.cargo[place])))
    }

    /// All packets that wait, the oldest first.
    pub(super) fn all_waiting(&self) -> impl Iterator<Item = &Packet> {
        (0..self.waiting()).map(|step| &self.packets[self.place(self.departed.wrapping_add(step))])
    }

    /// All packets in transmission or propagation, the oldest first.
    pub(super) fn all_in_flight(&self) -> impl Iterator<Item = &Packet> {
        let count = self.departed.wrapping_sub(self.head);
        (0..count).map(|step| &self.packets[self.place(self.head.wrapping_add(step))])
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
