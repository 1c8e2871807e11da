//! The events of the slot of the wheel that was taken last.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::key::NO_EVENT;
use super::rank::put_latest_first;

/// Events in order, and what is added to them.
pub(super) struct Present {
    /// The earliest at `left`, and below it ever later ones; at the first place what is
    /// later than all.
    due: Vec<u128>,
    left: usize,
    /// The earliest of those that were added: one busy port has one here.
    soon: u128,
    /// The others that were added, where many are due; else they are among `due`.
    late: BinaryHeap<Reverse<u128>>,
}

/// Among fewer events than this one more is put in its place by moving others.
const SHORT: usize = 64;

impl Present {
    pub(super) fn new() -> Present {
        Present { due: vec![NO_EVENT], left: 0, soon: NO_EVENT, late: BinaryHeap::new() }
    }

    /// The events of another slot, all before `end`; of this one there are none left.
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

    /// Events to come are before `end`.
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
        // which of the two it is no predictor knows
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
