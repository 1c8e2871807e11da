//! Packets that travel by themselves: no event and no place at their port.
//!
//! A packet that finds a plain port idle is delivered a fixed time later, that
//! of its transmission and of the link. All packets with the same time, at
//! whichever port, are delivered in the order in which they set out, so one
//! queue holds them. A few such *lanes* carry most of the hops of a network
//! whose links are alike. What no lane takes stays at its port.
//!
//! Deliveries are ordered as those of ports are, by time and then by port: a
//! lane whose last packet is delivered at the same instant at a later port
//! takes none before it.

use tidegate_core::packet::Packet;
use tidegate_core::units::Time;

use crate::engine::{Entity, Kind, NO_EVENT, key};

/// How many lanes there are. Each more is one comparison more for a delivery.
const LANES: usize = 8;

/// The lanes, and which of them delivers next.
pub(crate) struct Lanes {
    /// The next delivery of each lane ([`NO_EVENT`]: it is empty).
    firsts: [u128; LANES],
    /// The earliest of these, and its lane.
    first: u128,
    lane: usize,
    lanes: [Lane; LANES],
    /// Whose turn it is to be worth less for a packet that found no lane.
    hand: usize,
}

/// Packets that all take the same time, the next to be delivered first.
struct Lane {
    /// Their time, from arrival at a port to delivery.
    span: Time,
    /// When and where the last one is delivered.
    last: u128,
    head: u32,
    tail: u32,
    /// What the lane is worth: one more for each packet that it took.
    worth: u32,
    packets: Box<[Packet]>,
}

/// No lane is worth more.
const MOST: u32 = 1 << 10;

impl Lane {
    /// Room for so many packets; it is doubled when it is full.
    const INITIAL: usize = 64;

    fn new() -> Lane {
        Lane {
            span: Time::NEVER,
            last: 0,
            head: 0,
            tail: 0,
            worth: 0,
            packets: vec![Packet::default(); Self::INITIAL].into(),
        }
    }

    #[inline(always)]
    fn place(&self, count: u32) -> usize {
        count as usize & (self.packets.len() - 1)
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.tail.wrapping_sub(self.head) as usize == self.packets.len()
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let held = self.packets.len();
        let (front, back) = self.packets.split_at(self.place(self.head));
        let mut packets = Vec::with_capacity(2 * held);
        packets.extend_from_slice(back);
        packets.extend_from_slice(front);
        packets.resize(2 * held, Packet::default());
        self.packets = packets.into();
        self.head = 0;
        self.tail = held as u32;
    }
}

/// What a packet's delivery is ordered by.
#[inline(always)]
fn key_of(packet: &Packet) -> u128 {
    key(packet.at, Entity::new(Kind::Port, packet.prev_port))
}

impl Lanes {
    pub(crate) fn new() -> Lanes {
        Lanes {
            firsts: [NO_EVENT; LANES],
            first: NO_EVENT,
            lane: 0,
            lanes: std::array::from_fn(|_| Lane::new()),
            hand: 0,
        }
    }

    /// The next delivery, if there is one ([`NO_EVENT`]: none).
    #[inline(always)]
    pub(crate) fn first(&self) -> u128 {
        self.first
    }

    /// A packet has set out at `port` and is delivered `span` later, at `at`:
    /// whether a lane takes it. `hint`: the lane of the port's last packet.
    #[inline(always)]
    pub(crate) fn push(
        &mut self,
        packet: &Packet,
        port: u32,
        (at, span): (Time, Time),
        hint: &mut u16,
    ) -> bool {
        let mut place = usize::from(*hint) % LANES;
        if self.lanes[place].span != span {
            let Some(other) = self.find(span) else { return false };
            place = other;
            *hint = place as u16;
        }
        let due = key(at, Entity::new(Kind::Port, port));
        let lane = &mut self.lanes[place];
        if due < lane.last {
            return false;
        }
        if lane.is_full() {
            lane.grow();
        }
        lane.last = due;
        lane.worth = (lane.worth + 1).min(MOST);
        let end = lane.place(lane.tail);
        lane.tail = lane.tail.wrapping_add(1);
        // edited in its place: narrow stores before a copy would hold it up
        let slot = &mut lane.packets[end];
        *slot = *packet;
        slot.at = at;
        slot.prev_port = port;
        if self.firsts[place] == NO_EVENT {
            self.firsts[place] = due;
            if due < self.first {
                self.first = due;
                self.lane = place;
            }
        }
        true
    }

    /// The lane for packets of another time than the port's last one, or an
    /// empty one that is worth nothing: the most frequent times keep theirs
    /// (Misra and Gries 1982).
    #[inline(never)]
    fn find(&mut self, span: Time) -> Option<usize> {
        if let Some(place) = self.lanes.iter().position(|lane| lane.span == span) {
            return Some(place);
        }
        let place = self.hand;
        self.hand = (place + 1) % LANES;
        let lane = &mut self.lanes[place];
        if lane.worth > 0 || lane.head != lane.tail {
            lane.worth = lane.worth.saturating_sub(1);
            return None;
        }
        lane.span = span;
        Some(place)
    }

    /// Takes the next packet to be delivered; there must be one.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Packet {
        let place = self.lane;
        let lane = &mut self.lanes[place];
        let packet = lane.packets[lane.place(lane.head)];
        lane.head = lane.head.wrapping_add(1);
        self.firsts[place] = match lane.head == lane.tail {
            true => NO_EVENT,
            false => key_of(&lane.packets[lane.place(lane.head)]),
        };
        self.choose();
        packet
    }

    /// Finds the earliest delivery anew.
    #[inline(always)]
    fn choose(&mut self) {
        let (mut first, mut lane) = (self.firsts[0], 0);
        for (place, &due) in self.firsts.iter().enumerate().skip(1) {
            if due < first {
                (first, lane) = (due, place);
            }
        }
        self.first = first;
        self.lane = lane;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(flow: u32) -> Packet {
        Packet { flow, ..Packet::default() }
    }

    /// Whatever the lanes take comes out by time and then by port, whoever set
    /// out first: against a sorted list. There are more times than lanes, and
    /// arrivals at equal instants in any order of ports.
    #[test]
    fn deliveries_are_in_the_order_of_time_and_port() {
        let mut state = 1u64;
        let mut draw = |below: u64| {
            // Numerical Recipes' linear congruence; any scrambling will do here
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        let (mut refused, mut taken) = (0, 0);
        for spans in [1, 3, 8, 20] {
            let mut lanes = Lanes::new();
            let mut sorted = std::collections::BTreeMap::new();
            let mut hints = [0; 50];
            let mut now = Time::ZERO;
            for flow in 0..20_000 {
                let port = draw(50) as u32;
                let span = Time::from_ns(100 * (1 + draw(spans)));
                let at = now + span;
                let pushed = !sorted.contains_key(&(at, port))
                    && lanes.push(&packet(flow), port, (at, span), &mut hints[port as usize]);
                if pushed {
                    sorted.insert((at, port), flow);
                    taken += 1;
                } else {
                    refused += 1;
                }
                // time goes on in steps that make instants coincide
                let later = now + Time::from_ns(100 * draw(3));
                while let Some((&(at, port), &flow)) = sorted.first_key_value()
                    && at < later
                {
                    assert_eq!(lanes.first(), key(at, Entity::new(Kind::Port, port)));
                    let found = lanes.pop();
                    assert_eq!((found.at, found.prev_port, found.flow), (at, port, flow));
                    sorted.pop_first();
                }
                now = later;
            }
        }
        assert!(taken > 20_000 && refused > 1_000, "{taken} taken, {refused} refused");
    }

    /// By hand: at one instant ports 4 and then 2 send over links alike; the packet
    /// of port 2 has to be delivered first, so the lane of the other does not take it.
    #[test]
    fn a_tie_in_the_wrong_order_of_ports_is_refused() {
        let mut lanes = Lanes::new();
        let (at, span) = (Time::from_ms(1), Time::from_ms(1));
        assert!(lanes.push(&packet(0), 4, (at, span), &mut 0));
        assert!(!lanes.push(&packet(1), 2, (at, span), &mut 0));
        assert!(lanes.push(&packet(2), 5, (at, span), &mut 0));
    }
}
