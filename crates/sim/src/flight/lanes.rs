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

use crate::engine::{NO_EVENT, key, port_of};

/// Number of lanes. Each costs one comparison for a delivery.
const LANES: usize = 4;

/// The lanes, and which of them delivers next.
pub(super) struct Lanes {
    /// When the next packet of each lane is delivered, in picoseconds
    /// ([`EMPTY`] or later: there is none), and at which port.
    times: [u64; LANES],
    ports: [u32; LANES],
    /// The same for the second packet of each lane, so that the choice of the next
    /// delivery does not wait for memory.
    times_behind: [u64; LANES],
    ports_behind: [u32; LANES],
    /// The earliest of these, and its lane.
    first: u128,
    lane: usize,
    lanes: [Lane; LANES],
    /// The next lane to be reassigned for a packet that found no lane.
    hand: usize,
}

/// A lane is empty from this time on; no two empty lanes have the same time.
const EMPTY: u64 = u64::MAX - LANES as u64;
/// So many packets of a port become parcels before it searches for a lane again.
const PATIENCE: u16 = 64;

/// Packets with the same time to delivery, the next to be delivered first.
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

    /// Whether a packet for `port` at `at`, never before the last one's time,
    /// is delivered behind the last one.
    #[inline(always)]
    fn takes(&self, at: Time, port: u32) -> bool {
        at != self.last || port >= self.last_port
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
            times: std::array::from_fn(|place| EMPTY + place as u64),
            ports: [0; LANES],
            times_behind: std::array::from_fn(|place| EMPTY + place as u64),
            ports_behind: [0; LANES],
            first: NO_EVENT,
            lane: 0,
            lanes: std::array::from_fn(|_| Lane::new()),
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
        if self.fits(place, port, (at, span)) {
            return Some(place);
        }
        if place > LANES {
            *hint -= 1;
            return None;
        }
        self.other_place(port, (at, span), hint)
    }

    /// Whether there is such a lane, and it takes packets of this time.
    #[inline(always)]
    fn fits(&self, place: usize, port: u32, (at, span): (Time, Time)) -> bool {
        self.lanes.get(place).is_some_and(|lane| lane.span == span && lane.takes(at, port))
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
        if self.times_behind[place] < EMPTY {
            return;
        }
        if self.times[place] < EMPTY {
            self.times_behind[place] = at.ps();
            self.ports_behind[place] = port;
            return;
        }
        self.times[place] = at.ps();
        self.ports[place] = port;
        let due = key(at, port_of(port), 0);
        if due < self.first {
            self.first = due;
            self.lane = place;
        }
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
        self.hand = (place + 1) % LANES;
        let lane = &mut self.lanes[place];
        let used = lane.seen != lane.tail || lane.head != lane.tail;
        lane.seen = lane.tail;
        if used {
            return None;
        }
        lane.span = span;
        Some(place)
    }

    /// A packet of the next one's lane, some deliveries behind it.
    #[inline(always)]
    pub(super) fn ahead(&self) -> Option<&Packet> {
        let lane = &self.lanes[self.lane];
        let held = lane.tail.wrapping_sub(lane.head);
        (held > AHEAD).then(|| &lane.packets[lane.place(lane.head.wrapping_add(AHEAD))])
    }

    /// The next packet to be delivered; there must be one.
    #[inline(always)]
    pub(super) fn head(&self) -> &Packet {
        let lane = &self.lanes[self.lane];
        &lane.packets[lane.place(lane.head)]
    }

    /// It is delivered.
    #[inline(always)]
    pub(super) fn pop(&mut self) {
        self.leave(self.lane);
        self.choose();
    }

    /// The next packet to be delivered sets out anew, as in [`Lanes::take`]: whether it stays
    /// in the lanes; if not, it is still the next.
    #[inline(always)]
    pub(super) fn pass_on(&mut self, port: u32, (at, span): (Time, Time), hint: &mut u16) -> bool {
        let Some(place) = self.place(port, (at, span), hint) else { return false };
        let packet = *self.head();
        self.leave(self.lane);
        self.join(place, &packet, port, at);
        self.choose();
        true
    }

    /// The next packet leaves its lane.
    #[inline(always)]
    fn leave(&mut self, place: usize) {
        let lane = &mut self.lanes[place];
        lane.head = lane.head.wrapping_add(1);
        self.times[place] = self.times_behind[place];
        self.ports[place] = self.ports_behind[place];
        if lane.tail.wrapping_sub(lane.head) > 1 {
            let behind = &lane.packets[lane.place(lane.head.wrapping_add(1))];
            self.times_behind[place] = behind.at.ps();
            self.ports_behind[place] = behind.prev_port;
        } else {
            self.times_behind[place] = EMPTY + place as u64;
        }
    }

    /// Finds the earliest delivery anew, by rounds of pairs.
    #[inline(always)]
    fn choose(&mut self) {
        let at = |place: usize| (self.times[place], place);
        let earlier = |one: (u64, usize), two: (u64, usize)| if two.0 < one.0 { two } else { one };
        let (one, two) = (earlier(at(0), at(1)), earlier(at(2), at(3)));
        let tied = (at(0).0 == at(1).0) | (at(2).0 == at(3).0) | (one.0 == two.0);
        self.settle(earlier(one, two), tied);
    }

    #[inline(always)]
    fn settle(&mut self, (time, place): (u64, usize), tied: bool) {
        if tied {
            return self.choose_by_port();
        }
        self.lane = place;
        self.first = key(Time::from_ps(time), port_of(self.ports[place]), 0);
    }

    /// The same where two lanes deliver at one instant: the lower port comes first.
    #[cold]
    #[inline(never)]
    fn choose_by_port(&mut self) {
        let due = |place: &usize| (self.times[*place], self.ports[*place]);
        let first = (0..LANES).min_by_key(due).unwrap_or(0);
        self.settle((self.times[first], first), false);
    }
}

const _: () = assert!(LANES == 4, "two rounds of pairs");
