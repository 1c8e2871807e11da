//! Packets on links, without an event or a place at their port.
//!
//! A packet that finds a plain port idle is delivered a fixed time later: its
//! transmission time plus the delay of the link. All packets with the same time, at
//! any port, are delivered in the order in which they are sent, so one queue holds
//! them. A few such *lanes* carry most of the hops of a network with similar links.
//!
//! Deliveries are ordered by time and then by port, as those of ports are: a lane
//! takes no packet that would come before its last one in this order.
//!
//! Where there are more times than lanes, as with many different delays, the
//! most frequent times have the lanes. Any other packet is a *parcel*: it is
//! kept with the events, in the slot of the wheel in which it is delivered.

use tidegate_core::packet::Packet;
use tidegate_core::units::Time;

use crate::engine::{key, port_of, ps_of};

/// Number of lanes. Each that is in use costs one comparison for a delivery.
const LANES: usize = 8;
/// Number of lanes in use at first: where links are alike and few flows start, few packets have
/// other times.
const FEW: usize = 4;

/// The lanes, and which of them delivers next.
pub(super) struct Lanes {
    /// The [`due`] of the next packet of each lane.
    heads: [u128; LANES],
    /// The same for the second packet of each lane, so that the choice of the next
    /// delivery does not wait for memory.
    behind: [u128; LANES],
    /// The earliest of these.
    first: u128,
    lanes: [Lane; LANES],
    /// How many lanes are in use: [`FEW`] or all.
    used: usize,
    /// Packets that become parcels, counted when their port finds no lane.
    missed: u32,
    /// The next lane to be reassigned for a packet that found no lane.
    hand: usize,
}

/// The key of a delivery, with the lane in place of a parcel: so the earliest one says where it is.
/// The lane decides nothing, as a port delivers one packet at an instant.
#[inline(always)]
fn due(at: Time, port: u32, lane: usize) -> u128 {
    key(at, port_of(port), lane as u32)
}

/// What a lane without a packet has: later than every instant.
#[inline(always)]
fn none(lane: usize) -> u128 {
    key(Time::NEVER, port_of(0), lane as u32)
}

/// Whether there is such a packet.
#[inline(always)]
fn is_some(due: u128) -> bool {
    ps_of(due) < Time::NEVER.ps()
}

/// All lanes may be used when the first ones have carried so many packets.
const ENOUGH: u32 = if cfg!(test) { 10 } else { 1_000_000 };
/// So many packets of a port become parcels before it searches for a lane again.
const PATIENCE: u16 = 64;

/// Packets with the same time to delivery, the next to be delivered first.
// aligned, so that a shift finds it in the array
#[repr(align(64))]
struct Lane {
    /// Their time, from arrival at a port to delivery.
    span: Time,
    /// When the last one is delivered, and at which port.
    last: Time,
    last_port: u32,
    head: u32,
    tail: u32,
    /// `tail` when the lane was last considered for reassignment.
    seen: u32,
    packets: Box<[Packet]>,
}

/// Packets prefetched ahead: some hundred nanoseconds, at three hops of other lanes
/// to each of one.
const AHEAD: u32 = 4;

impl Lane {
    /// Initial room in packets; doubled when it is full.
    const INITIAL: usize = 64;

    fn new() -> Lane {
        Lane {
            span: Time::NEVER,
            last: Time::ZERO,
            last_port: 0,
            head: 0,
            tail: 0,
            seen: 0,
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

    /// Whether a packet for `port` at `at` is delivered behind the last one.
    #[inline(always)]
    fn takes(&self, at: Time, port: u32) -> bool {
        at > self.last || (at == self.last && port >= self.last_port)
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

impl Lanes {
    pub(super) fn new() -> Lanes {
        Lanes {
            heads: std::array::from_fn(none),
            behind: std::array::from_fn(none),
            first: none(0),
            lanes: std::array::from_fn(|_| Lane::new()),
            used: FEW,
            missed: 0,
            hand: 0,
        }
    }

    /// The packets in lanes.
    pub(super) fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.lanes.iter().flat_map(|lane| {
            let held = lane.tail.wrapping_sub(lane.head);
            (0..held).map(|step| &lane.packets[lane.place(lane.head.wrapping_add(step))])
        })
    }

    /// The next delivery; without any it is later than every instant.
    #[inline(always)]
    pub(super) fn first(&self) -> u128 {
        self.first
    }

    /// The lane of the next delivery.
    #[inline(always)]
    fn lane(&self) -> usize {
        self.first as usize % LANES
    }

    /// A packet is sent at `port` and delivered `span` later, at `at`; returns whether a lane
    /// takes it. `hint`: the lane of the port's last packet; above the number of lanes, how
    /// many more packets become parcels.
    #[inline(always)]
    pub(super) fn take(
        &mut self,
        packet: &Packet,
        port: u32,
        (at, span): (Time, Time),
        hint: &mut u16,
    ) -> bool {
        match self.place(port, (at, span), hint) {
            Some(place) => self.join(place, packet, port, at),
            None => return false,
        }
        true
    }

    /// The lane that takes such a packet.
    #[inline(always)]
    fn place(&mut self, port: u32, (at, span): (Time, Time), hint: &mut u16) -> Option<usize> {
        let place = usize::from(*hint);
        if let Some(lane) = self.lanes.get(place)
            && lane.span == span
        {
            return lane.takes(at, port).then_some(place);
        }
        if place > LANES {
            *hint -= 1;
            return None;
        }
        self.other_place(port, (at, span), hint)
    }

    /// Puts a packet behind the others of a lane.
    #[inline(always)]
    fn join(&mut self, place: usize, packet: &Packet, port: u32, at: Time) {
        let lane = &mut self.lanes[place];
        if lane.is_full() {
            lane.grow();
        }
        lane.last = at;
        lane.last_port = port;
        let end = lane.place(lane.tail);
        lane.tail = lane.tail.wrapping_add(1);
        // edited in its place: narrow stores before a copy would hold it up
        let slot = &mut lane.packets[end];
        *slot = *packet;
        slot.at = at;
        slot.prev_port = port;
        if is_some(self.behind[place]) {
            return;
        }
        let due = due(at, port, place);
        if is_some(self.heads[place]) {
            self.behind[place] = due;
            return;
        }
        self.heads[place] = due;
        self.first = self.first.min(due);
    }

    /// The port's last packet was of another time, or found no lane.
    #[inline(never)]
    fn other_place(
        &mut self,
        port: u32,
        (at, span): (Time, Time),
        hint: &mut u16,
    ) -> Option<usize> {
        let found = self.find(span);
        *hint = found.unwrap_or(LANES + usize::from(PATIENCE)) as u16;
        found.filter(|place| self.lanes[*place].takes(at, port))
    }

    /// The lane for packets of another time than the port's last one, or an
    /// empty one that has taken none since it was last its turn: the most
    /// frequent times keep theirs (second chance, as for pages of memory).
    #[inline(never)]
    fn find(&mut self, span: Time) -> Option<usize> {
        if let Some(place) = self.lanes.iter().position(|lane| lane.span == span) {
            return Some(place);
        }
        let place = self.hand;
        self.hand = (place + 1) % self.used;
        let lane = &mut self.lanes[place];
        let busy = lane.seen != lane.tail || lane.head != lane.tail;
        lane.seen = lane.tail;
        if busy {
            self.miss();
            return None;
        }
        lane.span = span;
        Some(place)
    }

    /// A port has found no lane, so that its next packets become parcels. All lanes are used once
    /// these are a 32nd of what lanes have taken, roughly, as one that grows counts anew. Where they
    /// are most, more lanes would carry few of them.
    fn miss(&mut self) {
        self.missed = self.missed.saturating_add(PATIENCE.into());
        let carried = self.lanes.iter().fold(0, |sum: u32, lane| sum.saturating_add(lane.tail));
        if carried > ENOUGH && self.missed > carried / 32 && self.missed < carried {
            self.used = LANES;
        }
    }

    /// A packet of the next one's lane, some deliveries behind it.
    #[inline(always)]
    pub(super) fn ahead(&self) -> Option<&Packet> {
        let lane = &self.lanes[self.lane()];
        let held = lane.tail.wrapping_sub(lane.head);
        (held > AHEAD).then(|| &lane.packets[lane.place(lane.head.wrapping_add(AHEAD))])
    }

    /// Moves the next packet to be delivered, which there must be, to `place`. Then
    /// [`Lanes::choose`] finds the next one; until then no other may be asked for.
    #[inline(always)]
    pub(super) fn lift(&mut self, place: &mut Packet) {
        let number = self.lane();
        let lane = &mut self.lanes[number];
        let (head, held) = (lane.head, lane.tail.wrapping_sub(lane.head));
        *place = lane.packets[lane.place(head)];
        lane.head = head.wrapping_add(1);
        self.heads[number] = self.behind[number];
        // read without a question: a place without a packet has an old one
        let behind = &lane.packets[lane.place(head.wrapping_add(2))];
        let later = due(behind.at, behind.prev_port, number);
        self.behind[number] = if held > 2 { later } else { none(number) };
    }

    /// Whether all lanes are in use.
    #[cfg(test)]
    pub(super) fn uses_all(&self) -> bool {
        self.used == LANES
    }

    /// Finds the earliest delivery anew, by rounds of pairs.
    #[inline(always)]
    pub(super) fn choose(&mut self) {
        let earliest = |from: usize| {
            let heads = &self.heads[from..from + FEW];
            heads[0].min(heads[1]).min(heads[2].min(heads[3]))
        };
        self.first = match self.used {
            FEW => earliest(0),
            _ => earliest(0).min(earliest(FEW)),
        };
    }
}
