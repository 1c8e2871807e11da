//! The events of the slot of the wheel that was taken last.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::key::NO_EVENT;
use super::rank::put_latest_first;

/// The events of the slot in order, and events added since.
pub(super) struct Present {
    /// The earliest is at `left`, later ones are below it; the first place has a key later than all.
    due: Vec<u128>,
    left: usize,
    /// The earliest added event: a busy port adds one.
    soon: u128,
    /// The other added events if many are due; otherwise they are in `due`.
    late: BinaryHeap<Reverse<u128>>,
}

/// Below this number an added event is inserted into `due`.
const SHORT: usize = 64;

impl Present {
    pub(super) fn new() -> Present {
        Present { due: vec![NO_EVENT], left: 0, soon: NO_EVENT, late: BinaryHeap::new() }
    }

    /// Takes the events of the next slot, all before `end`; no event of the old one is left.
    #[inline]
    pub(super) fn fill(&mut self, fresh: &mut Vec<u128>, end: u128) {
        self.left = fresh.len();
        if self.due.len() <= self.left {
            self.due.resize(self.left + 1, NO_EVENT);
        }
        self.end_at(end);
        put_latest_first(fresh, &mut self.due[1..=self.left]);
        fresh.clear();
    }

    /// Sets the end of the slot: all events here are before it.
    #[inline(always)]
    pub(super) fn end_at(&mut self, end: u128) {
        self.due[0] = end;
    }

    /// The earliest event, or the end of the slot.
    #[inline(always)]
    pub(super) fn first(&self) -> u128 {
        self.due[self.left].min(self.soon)
    }

    /// Takes the earliest event; there must be one. Returns the next, or the end of the slot.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> u128 {
        // no predictor could guess which of the two it is
        let of_due = self.due[self.left] <= self.soon;
        self.left -= usize::from(of_due);
        self.soon = if of_due { self.soon } else { NO_EVENT };
        if !self.late.is_empty() {
            self.refill();
        }
        self.first()
    }

    #[cold]
    #[inline(never)]
    fn refill(&mut self) {
        if self.soon == NO_EVENT {
            self.soon = self.late.pop().map_or(NO_EVENT, |Reverse(late)| late);
        }
    }

    /// Adds an event.
    #[inline(always)]
    pub(super) fn push(&mut self, key: u128) {
        let before = std::mem::replace(&mut self.soon, key);
        if before != NO_EVENT {
            self.soon = key.min(before);
            self.push_later(key.max(before));
        }
    }

    #[inline(never)]
    fn push_later(&mut self, key: u128) {
        if self.left >= SHORT {
            return self.late.push(Reverse(key));
        }
        self.left += 1;
        if self.due.len() == self.left {
            self.due.push(key);
        }
        let mut place = self.left;
        while self.due[place - 1] < key {
            self.due[place] = self.due[place - 1];
            place -= 1;
        }
        self.due[place] = key;
    }
}
