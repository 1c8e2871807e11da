//! The queue of pending events.
//!
//! There are few events: one per port, one timer per flow, one arrival per class. They are ordered by
//! time and then by subject, never by insertion. So the order does not depend on events that an
//! optimisation saves.

mod fine;
mod foretell;
mod key;
mod parcels;
mod present;
mod rank;

use tidegate_core::packet::Packet;
use tidegate_core::units::Time;

use fine::Fine;
pub(crate) use key::ps_of;
use key::{FINE_BITS, FINE_SLOTS};
use parcels::Parcels;
use present::Present;

/// The subject of an event: its kind and a number, in 32 bits.
///
/// At equal times deliveries come before timers, and both before events of the
/// whole network.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Entity(u32);

/// The kinds of events, in their order at equal times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EventKind {
    /// A delivery at the end of a port's link.
    Port,
    /// A flow's earliest deadline.
    Flow,
    /// A paced flow may send its next packet.
    Pace,
    /// The next flow of a class starts.
    Arrival,
    /// Unlimited flows of a class stop.
    Stop,
    /// An interval law's deadline.
    Tick,
    /// A link changes.
    Change,
    /// The warm-up is over.
    Warm,
    /// A row of the `ports` table is due.
    Sample,
    /// Rows of the time series are due.
    Series,
    /// A request is to be sent again, or a server has its answer ready.
    Exchange,
    /// The queues of ports are sampled.
    Backlog,
    /// A user's timer.
    User,
}

impl Entity {
    const KIND_SHIFT: u32 = 28;
    /// Numbers are below this.
    pub(crate) const LIMIT: u32 = 1 << Self::KIND_SHIFT;

    pub(crate) const fn new(kind: EventKind, number: u32) -> Entity {
        Entity(((kind as u32) << Self::KIND_SHIFT) | number)
    }

    pub(crate) const fn kind(self) -> EventKind {
        match self.0 >> Self::KIND_SHIFT {
            0 => EventKind::Port,
            1 => EventKind::Flow,
            2 => EventKind::Pace,
            3 => EventKind::Arrival,
            4 => EventKind::Stop,
            5 => EventKind::Tick,
            6 => EventKind::Change,
            7 => EventKind::Warm,
            8 => EventKind::Sample,
            9 => EventKind::Series,
            10 => EventKind::Exchange,
            11 => EventKind::Backlog,
            _ => EventKind::User,
        }
    }

    pub(crate) const fn number(self) -> u32 {
        self.0 & (Self::LIMIT - 1)
    }
}

/// The pending events, in four groups by their distance in time.
///
/// The events of the current slot of the fine wheel are sorted once and taken from one end, so that
/// the next event is known early. Events within one turn of the wheel are in unsorted slots. (A heap
/// of all near events took 3 to 7 % longer for a packet-hop: its branches are not predictable.) Two
/// coarser wheels hold later events.
///
/// In one heap, a hundred thousand retransmission timers would cost a cache miss at every level. In
/// a slot a timer costs one append, and an acknowledgement replaces most timers before they are
/// sorted.
pub(crate) struct Events {
    /// No event is pending before this. It is the first event left in the slot taken last, if there
    /// is one.
    bound: u128,
    /// The events of the slot taken last.
    present: Present,
    /// The first fine slot that was not taken yet; earlier events are in `present`.
    next: u64,
    /// The events of a slot before they are sorted.
    fresh: Vec<u128>,
    /// The first fine slot that `foretell` has not reported.
    unseen: u64,
    /// The same of `foretell_parcels`.
    unseen_parcels: u64,
    /// The slot of the middle wheel whose events are in the fine one.
    middle: u64,
    fine: Fine,
    parcels: Parcels,
    middles: Wheel<MIDDLE_SLOTS>,
    coarse: Wheel<COARSE_SLOTS>,
    /// Events beyond the coarse wheel.
    beyond: Vec<u128>,
}

/// Bits of the picoseconds in one slot of the middle wheel.
const MIDDLE_BITS: u32 = FINE_BITS + FINE_SLOTS;
/// Bits of the number of slots of the middle wheel: 4.7 min in all.
const MIDDLE_SLOTS: u32 = 11;
/// Bits of the number of slots of the coarse wheel, each a turn of the middle
/// one: 3.3 days in all.
const COARSE_SLOTS: u32 = 10;

/// The key that orders events; the parcel is its lowest part.
// one wide integer compares without a branch between time and entity
pub(crate) const fn key(at: Time, entity: Entity, parcel: u32) -> u128 {
    (at.ps() as u128) << 64 | ((entity.0 as u64) << 32 | parcel as u64) as u128
}

/// The subject of deliveries at a port.
#[inline(always)]
pub(crate) const fn port_of(port: u32) -> Entity {
    Entity::new(EventKind::Port, port)
}

/// An event that is due.
#[derive(Clone, Copy)]
pub(crate) struct Event(u128);

impl Event {
    /// When it is due.
    #[inline(always)]
    pub(crate) const fn at(self) -> Time {
        Time::from_ps(ps_of(self.0))
    }

    /// Its subject.
    #[inline(always)]
    pub(crate) const fn entity(self) -> Entity {
        Entity((self.0 as u64 >> 32) as u32)
    }

    /// The parcel that was pushed with it.
    #[inline(always)]
    pub(crate) const fn parcel(self) -> u32 {
        self.0 as u32
    }
}

/// The highest key of an event at `at`.
pub(crate) const fn last_at(at: Time) -> u128 {
    (at.ps() as u128) << 64 | u64::MAX as u128
}

/// The lowest key of a fine slot.
const fn start(slot: u64) -> u128 {
    ((slot << FINE_BITS) as u128) << 64
}

impl Default for Events {
    fn default() -> Events {
        Events {
            bound: 0,
            present: Present::new(),
            next: 0,
            fresh: Vec::new(),
            unseen: 0,
            unseen_parcels: 0,
            middle: 0,
            fine: Fine::new(),
            parcels: Parcels::new(),
            middles: Wheel::new(),
            coarse: Wheel::new(),
            beyond: Vec::new(),
        }
    }
}

impl Events {
    /// Adds an event that is not earlier than the last one taken.
    #[inline]
    pub(crate) fn push(&mut self, at: Time, entity: Entity) {
        self.push_with(at, entity, 0);
    }

    /// Adds an event with a parcel.
    #[inline]
    fn push_with(&mut self, at: Time, entity: Entity, parcel: u32) {
        if let Some(slot) = self.fine_slot(at) {
            self.fine.put(slot, at, entity, parcel);
        } else {
            self.push_aside(key(at, entity, parcel));
        }
    }

    /// The slot of the fine wheel for an event at `at`; the caller adds it there.
    #[inline(always)]
    fn fine_slot(&mut self, at: Time) -> Option<u64> {
        let slot = at.ps() >> FINE_BITS;
        if slot.wrapping_sub(self.next) >= 1 << FINE_SLOTS {
            return None;
        }
        if at.ps() < ps_of(self.bound) {
            self.bound = self.bound.min(start(slot));
        }
        Some(slot)
    }

    /// Adds the delivery of a parcel.
    #[inline(always)]
    pub(crate) fn push_parcel(&mut self, packet: &Packet, port: u32, at: Time) {
        if let Some(slot) = self.fine_slot(at) {
            self.fine.put_parcel(slot, &mut self.parcels, packet, (port, at));
        } else {
            let place = self.parcels.put(packet, port, at, Parcels::NONE);
            self.push_aside(key(at, port_of(port), place));
        }
    }

    /// The packet at this place has just been delivered and continues over the link of `port`.
    #[inline(always)]
    pub(crate) fn send_on(&mut self, place: u32, port: u32, at: Time) {
        if let Some(slot) = self.fine_slot(at) {
            self.fine.chain(slot, &mut self.parcels, place);
            self.parcels.readdress(place, port, at);
        } else {
            self.parcels.readdress(place, port, at);
            self.push_aside(key(at, port_of(port), place));
        }
    }

    /// The packet of an event.
    #[inline(always)]
    pub(crate) fn parcel(&self, place: u32) -> &Packet {
        self.parcels.at(place)
    }

    /// Removes the packet of an event.
    #[inline(always)]
    pub(crate) fn free_parcel(&mut self, place: u32) {
        self.parcels.free(place);
    }

    /// The parcels.
    pub(crate) fn parcels(&self) -> impl Iterator<Item = &Packet> {
        self.parcels.held()
    }

    /// Adds an event outside of the fine wheel.
    #[inline(never)]
    fn push_aside(&mut self, key: u128) {
        self.bound = self.bound.min(key);
        if ps_of(key) >> FINE_BITS >= self.next {
            return self.push_far(key);
        }
        self.present.push(key);
    }

    fn push_far(&mut self, key: u128) {
        let event = Event(key);
        let at = event.at().ps();
        let slot = at >> FINE_BITS;
        let middle = at >> MIDDLE_BITS;
        let coarse = middle >> MIDDLE_SLOTS;
        if slot - self.next < 1 << FINE_SLOTS {
            self.fine.put(slot, event.at(), event.entity(), event.parcel());
        } else if middle - self.middle <= 1 << MIDDLE_SLOTS {
            self.middles.put(middle, key);
        } else if coarse - (self.middle >> MIDDLE_SLOTS) <= 1 << COARSE_SLOTS {
            self.coarse.put(coarse, key);
        } else {
            self.beyond.push(key);
        }
    }

    /// No event is pending before this [`key`].
    #[inline(always)]
    pub(crate) fn bound(&self) -> u128 {
        self.bound
    }

    /// Takes the earliest event, if it is not after the [`key`] `until`.
    #[inline(always)]
    pub(crate) fn take(&mut self, until: u128) -> Option<Event> {
        if ps_of(self.bound) >= self.next << FINE_BITS {
            if !self.approach(ps_of(until)) {
                return None;
            }
            self.bound = self.present.first();
        }
        if self.bound > until {
            return None;
        }
        let event = Event(self.bound);
        self.bound = self.present.pop();
        Some(event)
    }

    /// Moves on to the next slot with events, if it begins by `until` (in picoseconds); returns
    /// whether there is one. Events added before `until` still have their slot ahead.
    #[inline]
    fn approach(&mut self, until: u64) -> bool {
        loop {
            let slot = self.fine.first_used(self.next);
            if let Some(slot) = slot
                && slot >> FINE_SLOTS == self.middle
            {
                if slot > until >> FINE_BITS {
                    self.bound = start(slot);
                    return false;
                }
                self.next = slot + 1;
                self.fine.drain(slot, &self.parcels, &mut self.fresh);
                self.present.fill(&mut self.fresh, start(self.next));
                return true;
            }
            if self.middle >= until >> MIDDLE_BITS {
                self.bound = start((self.middle + 1) << FINE_SLOTS);
                return false;
            }
            if !self.enter_next_middle(slot) {
                return false;
            }
        }
    }

    /// Moves the events of the next used middle slot into the fine wheel, which already has those of
    /// `slot`; returns whether there are any.
    #[inline(never)]
    fn enter_next_middle(&mut self, slot: Option<u64>) -> bool {
        let present = self.middle >> MIDDLE_SLOTS;
        let found = [
            slot.map(|slot| slot >> FINE_SLOTS),
            self.middles.next_used(self.middle),
            self.coarse.next_used(present).map(|coarse| coarse << MIDDLE_SLOTS),
            self.beyond.iter().map(|key| ps_of(*key) >> MIDDLE_BITS).min(),
        ];
        let Some(next) = found.into_iter().flatten().min() else { return false };
        self.middle = next;
        self.next = next << FINE_SLOTS;
        self.present.end_at(start(self.next));
        if next >> MIDDLE_SLOTS != present {
            // events that were too far ahead may now fit the wheels
            for key in std::mem::take(&mut self.beyond) {
                self.push_far(key);
            }
            for key in std::mem::take(self.coarse.take(next >> MIDDLE_SLOTS)) {
                self.push_far(key);
            }
        }
        let mut keys = std::mem::take(self.middles.take(next));
        for key in keys.drain(..) {
            self.push_far(key);
        }
        // keep the allocation for the next turn
        *self.middles.slot(next) = keys;
        true
    }
}

/// Unsorted slots, addressed by their number modulo the size of the wheel.
struct Wheel<const BITS: u32> {
    slots: Vec<Vec<u128>>,
    /// A bit for every used slot.
    used: Vec<u64>,
}

impl<const BITS: u32> Wheel<BITS> {
    fn new() -> Wheel<BITS> {
        Wheel { slots: vec![Vec::new(); 1 << BITS], used: vec![0; 1 << (BITS - 6)] }
    }

    const fn place(slot: u64) -> usize {
        (slot & ((1 << BITS) - 1)) as usize
    }

    fn slot(&mut self, slot: u64) -> &mut Vec<u128> {
        &mut self.slots[Self::place(slot)]
    }

    #[inline]
    fn put(&mut self, slot: u64, key: u128) {
        let place = Self::place(slot);
        self.slots[place].push(key);
        self.used[place >> 6] |= 1 << (place & 63);
    }

    /// The events of a slot; the caller drains them.
    fn take(&mut self, slot: u64) -> &mut Vec<u128> {
        let place = Self::place(slot);
        self.used[place >> 6] &= !(1 << (place & 63));
        &mut self.slots[place]
    }

    /// The first used slot after `slot`, at most a turn away.
    fn next_used(&self, slot: u64) -> Option<u64> {
        let start = Self::place(slot) + 1;
        let size = 1 << BITS;
        let mut step = 0;
        while step < size {
            let place = (start + step) & (size - 1);
            let rest = self.used[place >> 6] >> (place & 63);
            if rest != 0 {
                let ahead = step + rest.trailing_zeros() as usize;
                return (ahead < size).then_some(slot + 1 + ahead as u64);
            }
            step += 64 - (place & 63);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::foretell::NOTICE;
    use super::key::NO_EVENT;
    use super::*;
    use crate::draws::draws;

    /// Order is by time, then kind, then number, whatever the order of insertion.
    #[test]
    fn order_does_not_depend_on_insertion() {
        let mut events = Events::default();
        for (ns, kind, number) in [
            (2, EventKind::Port, 9),
            (1, EventKind::Sample, 0),
            (1, EventKind::Flow, 3),
            (1, EventKind::Port, 7),
        ] {
            events.push(Time::from_ns(ns), Entity::new(kind, number));
        }
        let mut order = Vec::new();
        while let Some(event) = events.take(NO_EVENT) {
            let entity = event.entity();
            order.push((entity.kind(), entity.number()));
        }
        let expected = [
            (EventKind::Port, 7),
            (EventKind::Flow, 3),
            (EventKind::Sample, 0),
            (EventKind::Port, 9),
        ];
        assert_eq!(order, expected);
    }

    /// Every event of the slots ahead is told once, before it comes up: here one in each of
    /// so many slots, each told as soon as it is less than [`NOTICE`] slots away.
    #[test]
    fn what_is_to_come_is_told_once() {
        let mut events = Events::default();
        let count = 3 * NOTICE as u32;
        for number in 0..count {
            let at = Time::from_ps(u64::from(number) << FINE_BITS);
            events.push(at, Entity::new(EventKind::Flow, number));
        }
        let mut told = Vec::new();
        for number in 0..count {
            events.foretell(|entity| told.push(entity.number()));
            let event = events.take(NO_EVENT).map(|event| event.entity().number());
            assert_eq!(event, Some(number));
            let ahead = (number + NOTICE as u32).min(count);
            assert_eq!(told, (0..ahead).collect::<Vec<_>>());
        }
    }

    /// However many events fall into one slot, and at however few instants, they
    /// come out by time and then by what they are about.
    #[test]
    fn events_of_one_slot_are_in_order() {
        for count in 1..40u32 {
            for instants in [1, 2, 3, 40] {
                let mut events = Events::default();
                let mut expected = Vec::new();
                for step in 0..count {
                    // 29 and 40 have no common factor: a permutation
                    let number = step * 29 % 40;
                    let at = Time::from_ps(u64::from(number * 7 % instants));
                    events.push(at, Entity::new(EventKind::Flow, number));
                    expected.push((at, number));
                }
                expected.sort_unstable();
                let found: Vec<_> = std::iter::from_fn(|| events.take(NO_EVENT))
                    .map(|event| (event.at(), event.entity().number()))
                    .collect();
                assert_eq!(found, expected);
            }
        }
    }

    /// Any sequence of pushes comes out sorted, and nothing after what is asked for: against
    /// a plain sorted list; over spans from picoseconds to days, and with thousands in one slot.
    #[test]
    fn wheels_keep_the_order_of_a_sorted_list() {
        against_a_sorted_list(41);
        against_a_sorted_list(4);
    }

    /// Events are up to 2^20 ps ahead, doubled fewer than `doublings` times.
    fn against_a_sorted_list(doublings: u64) {
        let mut draw = draws();
        for _ in 0..50 {
            let mut events = Events::default();
            let mut sorted = std::collections::BTreeSet::new();
            let mut now = 0;
            for number in 0..3000 {
                for _ in 0..draw(4) {
                    let at = now + draw(1 << 20) * (1 << draw(doublings));
                    let entity = Entity::new(EventKind::Flow, number % 7);
                    if sorted.insert(key(Time::from_ps(at), entity, number)) {
                        events.push_with(Time::from_ps(at), entity, number);
                    }
                }
                let mut until = NO_EVENT;
                if draw(2) == 0 {
                    until = last_at(Time::from_ps(now + draw(1 << 20) * (1 << draw(doublings))));
                }
                let found = events.take(until).map(|event| event.0);
                assert_eq!(found, sorted.first().copied().filter(|first| *first <= until));
                let Some(event) = found.map(Event) else {
                    // time has gone on, or not as far
                    now = if until < NO_EVENT && draw(2) == 0 { ps_of(until) } else { now };
                    continue;
                };
                sorted.pop_first();
                let entity = event.entity();
                now = event.at().ps();
                let again = now + 1 + draw(1 << 20) * (1 << draw(doublings));
                if draw(2) == 0 && sorted.insert(key(Time::from_ps(again), entity, 0)) {
                    events.push(Time::from_ps(again), entity);
                }
            }
        }
    }
}
