//! The ring buffer of a port's packets, by value.

use crate::packet::Packet;
use crate::units::Time;

/// Packets in flight, then packets waiting; grows by doubling.
///
/// Positions only count up, and a mask wraps them. So `tail - head` is always the number of packets.
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

    /// How many packets wait.
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

    /// Moves the oldest waiting packet to those in flight.
    #[inline]
    pub(super) fn depart(&mut self) {
        self.departed = self.departed.wrapping_add(1);
    }

    /// Copies a packet into the ring and returns it there. Edit it afterwards, not before: narrow
    /// stores before a 64-byte copy would stall the store forwarding.
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

    /// Inserts a packet among those in flight, by delivery time, after others of the same time. No
    /// packet may wait.
    pub(super) fn insert(&mut self, packet: &Packet, cargo: C) {
        let (at, before) = (packet.at, self.tail.wrapping_sub(self.head));
        self.push(packet, cargo);
        self.depart();
        let after = |step: u32| self.packets[self.place(self.head.wrapping_add(step))].at > at;
        // nearly always the newest is the last
        if before == 0 || !after(before - 1) {
            return;
        }
        let (mut low, mut high) = (0, before - 1);
        while low < high {
            let middle = low.midpoint(high);
            if after(middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        let from = self.place(self.head.wrapping_add(low));
        let to = self.place(self.tail.wrapping_sub(1));
        move_back(&mut self.packets, from, to);
        move_back(&mut self.cargo, from, to);
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
        // an empty ring has no packet to read
        let cargo = match size_of::<C>() {
            0 => C::default(),
            _ => std::mem::take(&mut self.cargo[place]),
        };
        Some((&self.packets[place], cargo))
    }

    /// The packet popped last, until the next push.
    #[inline]
    pub(super) fn last_popped(&self) -> &Packet {
        &self.packets[self.place(self.head.wrapping_sub(1))]
    }

    /// Takes the newest waiting packet, with its cargo.
    pub(super) fn pop_newest(&mut self) -> Option<(Packet, C)> {
        if self.waiting() == 0 {
            return None;
        }
        self.tail = self.tail.wrapping_sub(1);
        let place = self.place(self.tail);
        Some((self.packets[place], std::mem::take(&mut self.cargo[place])))
    }

    /// The waiting packets, the oldest first.
    pub(super) fn all_waiting(&self) -> impl Iterator<Item = &Packet> {
        (0..self.waiting()).map(|step| &self.packets[self.place(self.departed.wrapping_add(step))])
    }

    /// The packets in transmission or propagation, the oldest first.
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

/// Moves what is at `to` of a ring back to `from`, and all between by one place on.
fn move_back<T>(ring: &mut [T], from: usize, to: usize) {
    if from <= to {
        return ring[from..=to].rotate_right(1);
    }
    ring[..=to].rotate_right(1);
    ring.swap(0, ring.len() - 1);
    ring[from..].rotate_right(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rule of `insert`: by delivery time, after others of the same time. Beside it a list that
    /// is sorted anew, by a stable sort, for each packet. Of every three packets two are popped, so
    /// that the ring wraps at every place; each keeps its cargo.
    #[test]
    fn packets_in_flight_are_in_the_order_of_delivery() {
        let (mut ring, mut list) = (Ring::new(), Vec::new());
        let mut number = 0;
        for round in 0..600_u64 {
            for step in 0..3 {
                // multiples of two primes: early and late ones, and some at the same time
                let at = Time::from_ms(round + (round * 7 + step * 5) % 11);
                let packet = Packet { flow: number, at, ..Packet::default() };
                ring.insert(&packet, number);
                list.push((at, number));
                list.sort_by_key(|(at, _)| *at);
                number += 1;
            }
            let flight: Vec<_> = ring.all_in_flight().map(|one| (one.at, one.flow)).collect();
            assert_eq!(flight, list);
            let most = if round % 10 == 9 { 12 } else { 2 };
            for (at, flow) in list.drain(..most.min(list.len())) {
                let popped = ring.pop_delivered(Time::NEVER).map(|(one, cargo)| (one.at, cargo));
                assert_eq!(popped, Some((at, flow)));
            }
        }
    }
}
