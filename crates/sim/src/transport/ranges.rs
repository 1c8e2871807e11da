//! Sets of segments as ranges: those that a receiver holds beyond a hole, and those
//! that a sender knows to have arrived.
//!
//! Most calls concern one end: an arrival extends the last range, and an
//! acknowledgement shortens the first. Other ranges are found by bisection, so that
//! thousands of holes cost hardly more than one.

use std::collections::VecDeque;

/// Sorted, disjoint, non-adjacent ranges `start .. end` of segments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    parts: VecDeque<(u32, u32)>,
    /// Segments in all of them.
    count: u32,
}

impl Ranges {
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// How many segments lie in ranges.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Whether a segment lies in a range.
    pub(crate) fn contains(&self, seq: u32) -> bool {
        self.first_gap(seq) != seq
    }

    /// All numbers become less by a lap.
    pub(crate) fn renumber(&mut self, lap: u32) {
        for (start, end) in &mut self.parts {
            (*start, *end) = (*start - lap, *end - lap);
        }
    }

    /// The last range.
    pub(crate) fn last(&self) -> Option<(u32, u32)> {
        self.parts.back().copied()
    }

    /// Adds `start .. end` and merges the ranges that it touches; returns whether any
    /// segment was new.
    pub(crate) fn insert(&mut self, start: u32, end: u32) -> bool {
        self.insert_telling(start, end, |_, _| {})
    }

    /// The same; calls `tell` with each new part, in order.
    pub(crate) fn insert_telling(
        &mut self,
        start: u32,
        end: u32,
        mut tell: impl FnMut(u32, u32),
    ) -> bool {
        let Ranges { parts, count } = self;
        let mut tell = |start: u32, end: u32| {
            *count += end - start;
            tell(start, end);
        };
        // the first range that ends at `start` or later
        let first = match parts.back() {
            Some(last) if last.1 >= start && last.0 > start => {
                parts.partition_point(|range| range.1 < start)
            }
            Some(last) if last.1 >= start => parts.len() - 1,
            _ => {
                parts.push_back((start, end));
                tell(start, end);
                return true;
            }
        };
        let (low, mut high) = parts[first];
        if low <= start && end <= high {
            return false;
        }
        if low > end {
            parts.insert(first, (start, end));
            tell(start, end);
            return true;
        }
        if start < low {
            tell(start, low);
        }
        // later ranges that it reaches are merged into it
        let mut behind = first + 1;
        while let Some(&next) = parts.get(behind)
            && next.0 <= end
        {
            tell(high, next.0);
            high = next.1;
            behind += 1;
        }
        if high < end {
            tell(high, end);
        }
        parts[first] = (low.min(start), high.max(end));
        if behind > first + 1 {
            parts.drain(first + 1..behind);
        }
        true
    }

    /// Removes everything below `bound`; calls `tell` with each part of it.
    pub(crate) fn prune(&mut self, bound: u32, mut tell: impl FnMut(u32, u32)) {
        while let Some(first) = self.parts.front_mut()
            && first.0 < bound
        {
            let (start, end) = (first.0, first.1.min(bound));
            self.count -= end - start;
            tell(start, end);
            if bound < first.1 {
                first.0 = bound;
                return;
            }
            self.parts.pop_front();
        }
    }

    /// Fills the first gaps, until there are only so many ranges.
    pub(crate) fn keep(&mut self, most: usize) {
        while self.parts.len() > most.max(1) {
            let gap = (self.parts[0].1, self.parts[1].0);
            self.insert(gap.0, gap.1);
        }
    }

    /// If a range starts at `next`, removes it and returns its end.
    pub(crate) fn absorb(&mut self, next: u32) -> Option<u32> {
        match self.parts.front() {
            Some(&(start, end)) if start <= next => {
                self.count -= end - start;
                self.parts.pop_front();
                Some(end.max(next))
            }
            _ => None,
        }
    }

    /// The first segment from `seq` on that lies in no range.
    pub(crate) fn first_gap(&self, seq: u32) -> u32 {
        // most calls concern the last range
        match self.parts.back() {
            None => return seq,
            Some(last) if last.0 <= seq => return last.1.max(seq),
            Some(_) => {}
        }
        match self.parts.get(self.behind(seq)) {
            Some(range) if range.0 <= seq => range.1,
            _ => seq,
        }
    }

    /// The place of the first range that ends behind `seq`. Most calls concern the first range or
    /// the last one.
    #[inline]
    fn behind(&self, seq: u32) -> usize {
        match (self.parts.front(), self.parts.back()) {
            (Some(first), _) if seq < first.1 => 0,
            (_, Some(last)) if last.0 <= seq => self.parts.len() - usize::from(seq < last.1),
            _ => self.parts.partition_point(|range| range.1 <= seq),
        }
    }

    /// How many segments of `from .. to` lie in ranges.
    pub(crate) fn covered(&self, from: u32, to: u32) -> u32 {
        if from >= to {
            return 0;
        }
        let (mut count, mut place) = (0, self.behind(from));
        while let Some(&(start, end)) = self.parts.get(place)
            && start < to
        {
            count += end.min(to) - start.max(from);
            place += 1;
        }
        count
    }

    /// Calls `tell` with each segment of `from .. to` that lies in no range, in order.
    #[inline]
    pub(crate) fn each_missing(&self, from: u32, to: u32, mut tell: impl FnMut(u32)) {
        // most calls ask for nothing
        if from >= to {
            return;
        }
        let mut at = from;
        let mut place = self.behind(from);
        while at < to {
            let (start, end) = self.parts.get(place).copied().unwrap_or((to, to));
            (at..start.min(to)).for_each(&mut tell);
            at = end;
            place += 1;
        }
    }

    /// The bound below which each segment outside of all ranges has `count` segments in
    /// ranges above it.
    pub(crate) fn below(&self, count: u32) -> u32 {
        let mut above = 0;
        for &(start, end) in self.parts.iter().rev() {
            above += end - start;
            if above >= count {
                return start + (above - count);
            }
        }
        0
    }

    /// How many ranges there are.
    pub(crate) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// All ranges, the highest first.
    pub(crate) fn highest_first(&self) -> impl Iterator<Item = (u32, u32)> {
        self.parts.iter().rev().copied()
    }

    /// The range that holds a segment.
    #[inline]
    pub(crate) fn holding(&self, seq: u32) -> Option<(u32, u32)> {
        self.parts.get(self.behind(seq)).copied().filter(|range| range.0 <= seq)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::draws::draws;

    #[test]
    fn ranges_merge_prune_and_absorb() {
        let mut ranges = Ranges::default();
        assert!(ranges.insert(5, 6) && ranges.insert(7, 8) && ranges.insert(6, 7));
        assert_eq!(ranges.parts, [(5, 8)]);
        assert!(!ranges.insert(6, 7));
        ranges.prune(6, |start, end| assert_eq!((start, end), (5, 6)));
        assert_eq!(ranges.parts, [(6, 8)]);
        assert_eq!(ranges.absorb(5), None);
        assert_eq!(ranges.absorb(6), Some(8));
        assert!(ranges.is_empty());
    }

    /// Of 1, 3, 5 and 7 the gaps at 2 and at 4 are filled, so that two ranges are left.
    #[test]
    fn the_first_gaps_are_filled_where_there_are_too_many_ranges() {
        let mut ranges = Ranges::default();
        for seq in [1, 3, 5, 7] {
            ranges.insert(seq, seq + 1);
        }
        ranges.keep(2);
        assert_eq!(ranges.parts, [(1, 6), (7, 8)]);
        assert_eq!(ranges.count(), 6);
    }

    /// Against a set of single segments: what is told is what was not there, or what
    /// is forgotten; every range is whole; and each question has the set's answer.
    #[test]
    fn ranges_are_a_set_of_segments() {
        let mut draws = draws();
        let mut draw = |below: u32| draws(below.into()) as u32;
        for _ in 0..200 {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for _ in 0..100 {
                let (start, len) = (draw(90), 1 + draw(8));
                let mut told = BTreeSet::new();
                if draw(5) == 0 {
                    let bound = start / 4;
                    ranges.prune(bound, |start, end| told.extend(start..end));
                    let kept = set.split_off(&bound);
                    assert_eq!(told, std::mem::replace(&mut set, kept));
                } else {
                    let new = ranges.insert_telling(start, start + len, |one, two| {
                        assert!(one < two && told.last().is_none_or(|last| *last < one));
                        told.extend(one..two);
                    });
                    let fresh: BTreeSet<u32> = (start..start + len).collect();
                    assert_eq!(told, fresh.difference(&set).copied().collect());
                    assert_eq!(new, !told.is_empty());
                    set.extend(fresh);
                }
                let whole: BTreeSet<u32> = ranges.parts.iter().flat_map(|&(a, b)| a..b).collect();
                assert_eq!(whole, set);
                assert_eq!(ranges.count() as usize, set.len());
                let probe = draw(100);
                assert_eq!(ranges.contains(probe), set.contains(&probe));
                let holding = ranges.holding(probe);
                assert_eq!(holding.is_some(), set.contains(&probe));
                assert!(holding.is_none_or(|(one, two)| (one..two).contains(&probe)));
                assert!(
                    ranges.parts.iter().zip(ranges.parts.iter().skip(1)).all(|(a, b)| a.1 < b.0)
                );
                let (from, to) = (draw(100), draw(100));
                let covered = set.iter().filter(|&&seq| from <= seq && seq < to).count();
                assert_eq!(ranges.covered(from, to), covered as u32);
                let mut missing = Vec::new();
                ranges.each_missing(from, to, |seq| missing.push(seq));
                let expected = (from..to).filter(|seq| !set.contains(seq));
                assert_eq!(missing, expected.collect::<Vec<u32>>());
                let gap = (from..).find(|seq| !set.contains(seq));
                assert_eq!(Some(ranges.first_gap(from)), gap);
                let third = set.iter().rev().nth(2).map_or(0, |seq| *seq);
                assert_eq!(ranges.below(3), third);
            }
        }
    }
}
