//! The clock's queue of pending events.
//!
//! A port has one live event, a flow one live timer, a class one pending
//! arrival: the set stays tiny. Events are ordered by (time, entity), never by
//! insertion, so that the order does not depend on how many events an
//! optimisation saves.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tidegate_core::units::Time;

/// What an event is about: a kind and a number, in 32 bits.
///
/// At equal times deliveries come before timers, and both before everything
/// that looks at the whole network.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Entity(u32);

/// The kinds of events, in their order at equal times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A delivery at the end of a port's link.
    Port,
    /// A flow's earliest deadline.
    Flow,
    /// A packet that a flow's pace held back may go.
    Pace,
    /// The next flow of a class starts.
    Arrival,
    /// Unlimited flows of a class stop.
    Stop,
    /// An interval law's deadline.
    Tick,
    /// A change of capacity.
    Change,
    /// The warm-up is over.
    Warm,
    /// A row of the `ports` table is due.
    Sample,
}

impl Entity {
    const KIND_SHIFT: u32 = 28;
    /// Numbers are below this.
    pub(crate) const LIMIT: u32 = 1 << Self::KIND_SHIFT;

    pub(crate) const fn new(kind: Kind, number: u32) -> Entity {
        Entity(((kind as u32) << Self::KIND_SHIFT) | number)
    }

    pub(crate) const fn kind(self) -> Kind {
        match self.0 >> Self::KIND_SHIFT {
            0 => Kind::Port,
            1 => Kind::Flow,
            2 => Kind::Pace,
            3 => Kind::Arrival,
            4 => Kind::Stop,
            5 => Kind::Tick,
            6 => Kind::Change,
            7 => Kind::Warm,
            _ => Kind::Sample,
        }
    }

    pub(crate) const fn number(self) -> u32 {
        self.0 & (Self::LIMIT - 1)
    }
}

/// The pending events: a small heap of those that are near, and a wheel of
/// unsorted slots, in two grades, for those that are not.
///
/// A hundred thousand retransmission timers in one heap would cost a cache
/// miss at every level of every sift; in a slot they cost one append, and most
/// of them are overtaken by an acknowledgement before they are ever sorted.
pub(crate) struct Events {
    // one wide integer compares without a branch between time and entity
    near: BinaryHeap<Reverse<u128>>,
    /// Everything in `near` lies in this slot of the fine wheel or before it.
    slot: u64,
    fine: Wheel<FINE_SLOTS>,
    coarse: Wheel<COARSE_SLOTS>,
    /// Beyond the coarse wheel.
    beyond: Vec<u128>,
}

/// Bits of the picoseconds in one slot of the fine wheel: 134 us.
const FINE_BITS: u32 = 27;
/// Bits of the number of slots of the fine wheel: 0.55 s in all.
const FINE_SLOTS: u32 = 12;
/// Bits of the picoseconds in one slot of the coarse wheel.
const COARSE_BITS: u32 = FINE_BITS + FINE_SLOTS;
/// Bits of the number of slots of the coarse wheel: 19 min in all.
const COARSE_SLOTS: u32 = 11;

const fn key(at: Time, entity: Entity) -> u128 {
    (at.ps() as u128) << 64 | entity.0 as u128
}

const fn ps_of(key: u128) -> u64 {
    (key >> 64) as u64
}

impl Default for Events {
    fn default() -> Events {
        Events {
            near: BinaryHeap::new(),
            slot: 0,
            fine: Wheel::new(),
            coarse: Wheel::new(),
            beyond: Vec::new(),
        }
    }
}

impl Events {
    /// Adds an event, not earlier than the last one taken.
    #[inline]
    pub(crate) fn push(&mut self, at: Time, entity: Entity) {
        self.insert(key(at, entity));
    }

    #[inline]
    fn insert(&mut self, key: u128) {
        if ps_of(key) >> FINE_BITS <= self.slot {
            self.near.push(Reverse(key));
        } else {
            self.insert_far(key);
        }
    }

    fn insert_far(&mut self, key: u128) {
        let fine = ps_of(key) >> FINE_BITS;
        let coarse = ps_of(key) >> COARSE_BITS;
        let present = self.slot >> FINE_SLOTS;
        if fine <= self.slot {
            self.near.push(Reverse(key));
        } else if coarse == present {
            self.fine.put(fine, key);
        } else if coarse - present < 1 << COARSE_SLOTS {
            self.coarse.put(coarse, key);
        } else {
            self.beyond.push(key);
        }
    }

    /// The earliest event, if it is not after `until`; it stays.
    #[inline]
    pub(crate) fn next(&mut self, until: Time) -> Option<(Time, Entity)> {
        if self.near.is_empty() && !self.approach() {
            return None;
        }
        let Reverse(key) = self.near.peek()?;
        let at = Time::from_ps(ps_of(*key));
        (at <= until).then_some((at, Entity(*key as u32)))
    }

    /// Moves on to the next slot that holds something; whether there is one.
    fn approach(&mut self) -> bool {
        loop {
            // the fine wheel holds slots of the present coarse slot only
            if let Some(slot) = self.fine.next_used(self.slot) {
                self.slot = slot;
                self.near.extend(self.fine.take(slot).drain(..).map(Reverse));
                return true;
            }
            let present = self.slot >> FINE_SLOTS;
            let beyond = self.beyond.iter().map(|key| ps_of(*key) >> COARSE_BITS).min();
            let next = match (self.coarse.next_used(present), beyond) {
                (Some(coarse), Some(beyond)) => coarse.min(beyond),
                (Some(only), None) | (None, Some(only)) => only,
                (None, None) => return false,
            };
            self.slot = next << FINE_SLOTS;
            // what was too far may now have come within the wheel
            for key in std::mem::take(&mut self.beyond) {
                self.insert_far(key);
            }
            for key in std::mem::take(self.coarse.take(next)) {
                self.insert_far(key);
            }
            if !self.near.is_empty() {
                return true;
            }
        }
    }

    /// Takes the earliest event out.
    #[inline]
    pub(crate) fn remove(&mut self) {
        self.near.pop();
    }

    /// Puts the earliest event's entity back at its next instant: one sift
    /// instead of two. [`Time::NEVER`] takes it out.
    #[inline]
    pub(crate) fn replace(&mut self, entity: Entity, at: Time) {
        if at.ps() >> FINE_BITS > self.slot {
            self.near.pop();
            if at != Time::NEVER {
                self.insert_far(key(at, entity));
            }
        } else if let Some(mut top) = self.near.peek_mut() {
            *top = Reverse(key(at, entity));
        }
    }
}

/// Unsorted slots, addressed by their number modulo the size of the wheel.
struct Wheel<const BITS: u32> {
    slots: Vec<Vec<u128>>,
    /// A bit for every slot that holds something.
    used: Vec<u64>,
}

impl<const BITS: u32> Wheel<BITS> {
    fn new() -> Wheel<BITS> {
        Wheel { slots: vec![Vec::new(); 1 << BITS], used: vec![0; 1 << (BITS - 6)] }
    }

    const fn place(slot: u64) -> usize {
        (slot & ((1 << BITS) - 1)) as usize
    }

    #[inline]
    fn put(&mut self, slot: u64, key: u128) {
        let place = Self::place(slot);
        self.slots[place].push(key);
        self.used[place >> 6] |= 1 << (place & 63);
    }

    /// The contents of a slot, to be drained.
    fn take(&mut self, slot: u64) -> &mut Vec<u128> {
        let place = Self::place(slot);
        self.used[place >> 6] &= !(1 << (place & 63));
        &mut self.slots[place]
    }

    /// The first used slot after `slot`, less than a turn away.
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
    use super::*;

    /// Order is by time, then kind, then number, whatever the order of insertion.
    #[test]
    fn order_does_not_depend_on_insertion() {
        let mut events = Events::default();
        for (ns, kind, number) in
            [(2, Kind::Port, 9), (1, Kind::Sample, 0), (1, Kind::Flow, 3), (1, Kind::Port, 7)]
        {
            events.push(Time::from_ns(ns), Entity::new(kind, number));
        }
        let mut order = Vec::new();
        while let Some((_, entity)) = events.next(Time::NEVER) {
            order.push((entity.kind(), entity.number()));
            events.remove();
        }
        let expected = [(Kind::Port, 7), (Kind::Flow, 3), (Kind::Sample, 0), (Kind::Port, 9)];
        assert_eq!(order, expected);
    }

    /// Any sequence of pushes and replacements comes out sorted, over spans
    /// from picoseconds to days: against a plain sorted list.
    #[test]
    fn wheels_keep_the_order_of_a_sorted_list() {
        let mut state = 1u64;
        let mut draw = |below: u64| {
            // Numerical Recipes' linear congruence; any scrambling will do here
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        for _ in 0..50 {
            let mut events = Events::default();
            let mut sorted = std::collections::BTreeSet::new();
            let mut now = 0;
            for number in 0..3000 {
                for _ in 0..draw(4) {
                    let at = now + draw(1 << 20) * (1 << draw(37));
                    let entity = Entity::new(Kind::Flow, number % 7);
                    if sorted.insert(key(Time::from_ps(at), entity)) {
                        events.push(Time::from_ps(at), entity);
                    }
                }
                let Some((at, entity)) = events.next(Time::NEVER) else {
                    assert!(sorted.is_empty());
                    continue;
                };
                assert_eq!(sorted.pop_first(), Some(key(at, entity)));
                now = at.ps();
                let again = now + 1 + draw(1 << 20) * (1 << draw(30));
                if draw(2) == 0 && sorted.insert(key(Time::from_ps(again), entity)) {
                    events.replace(entity, Time::from_ps(again));
                } else {
                    events.remove();
                }
            }
        }
    }
}
