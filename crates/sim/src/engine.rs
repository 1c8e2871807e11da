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
            2 => Kind::Arrival,
            3 => Kind::Stop,
            4 => Kind::Tick,
            5 => Kind::Change,
            6 => Kind::Warm,
            _ => Kind::Sample,
        }
    }

    pub(crate) const fn number(self) -> u32 {
        self.0 & (Self::LIMIT - 1)
    }
}

/// The pending events.
#[derive(Default)]
pub(crate) struct Events {
    // one wide integer compares without a branch between time and entity
    heap: BinaryHeap<Reverse<u128>>,
}

const fn key(at: Time, entity: Entity) -> u128 {
    (at.ps() as u128) << 64 | entity.0 as u128
}

impl Events {
    /// Adds an event.
    #[inline]
    pub(crate) fn push(&mut self, at: Time, entity: Entity) {
        self.heap.push(Reverse(key(at, entity)));
    }

    /// The earliest event, if it is not after `until`; it stays.
    #[inline]
    pub(crate) fn next(&self, until: Time) -> Option<(Time, Entity)> {
        let Reverse(key) = self.heap.peek()?;
        let at = Time::from_ps((key >> 64) as u64);
        (at <= until).then_some((at, Entity(*key as u32)))
    }

    /// Takes the earliest event out.
    #[inline]
    pub(crate) fn remove(&mut self) {
        self.heap.pop();
    }

    /// Puts the earliest event's entity back at its next instant: one sift
    /// instead of two. [`Time::NEVER`] takes it out.
    #[inline]
    pub(crate) fn replace(&mut self, entity: Entity, at: Time) {
        if at == Time::NEVER {
            self.heap.pop();
        } else if let Some(mut top) = self.heap.peek_mut() {
            *top = Reverse(key(at, entity));
        }
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
        let expected =
            [(Kind::Port, 7), (Kind::Flow, 3), (Kind::Sample, 0), (Kind::Port, 9)];
        assert_eq!(order, expected);
    }
}
