//! A set of packet numbers, stored as runs of consecutive numbers.

use serde::{Deserialize, Serialize};

/// Ascending runs of numbers, limited in number.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ranges {
    /// First and last number of each run.
    runs: Vec<(u32, u32)>,
}

impl Ranges {
    /// Most runs: a number that would need another run is refused.
    pub const MOST: usize = 256;

    /// The runs: first and last number of each.
    pub fn runs(&self) -> &[(u32, u32)] {
        &self.runs
    }

    /// Number of elements.
    pub fn count(&self) -> u64 {
        self.runs.iter().map(|(first, last)| u64::from(last - first) + 1).sum()
    }

    /// The smallest missing number, from 1 on.
    pub fn next(&self) -> u32 {
        self.runs
            .first()
            .map_or(1, |(first, last)| if *first <= 1 { last.saturating_add(1) } else { 1 })
    }

    /// Adds a number; false: it is already present, or there are too many runs.
    pub fn add(&mut self, number: u32) -> bool {
        // runs that end before the number and do not touch it
        let at = self.runs.partition_point(|(_, last)| last.saturating_add(1) < number);
        let touches = |run: &(u32, u32)| run.0 <= number.saturating_add(1);
        match self.runs.get(at).copied().filter(touches) {
            Some((first, last)) if (first..=last).contains(&number) => return false,
            Some((first, last)) => self.runs[at] = (first.min(number), last.max(number)),
            None if self.runs.len() >= Self::MOST => return false,
            None => self.runs.insert(at, (number, number)),
        }
        self.join(at);
        true
    }

    /// Joins two runs that now touch.
    fn join(&mut self, at: usize) {
        if let (Some((first, last)), Some((next, end))) =
            (self.runs.get(at).copied(), self.runs.get(at + 1).copied())
            && last.saturating_add(1) >= next
        {
            self.runs[at] = (first, end);
            self.runs.remove(at + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn runs_grow_and_join() {
        let mut ranges = Ranges::default();
        assert_eq!(ranges.next(), 1);
        for number in [1, 2, 5, 4, 9] {
            assert!(ranges.add(number));
        }
        assert_eq!(ranges.runs(), [(1, 2), (4, 5), (9, 9)]);
        assert!(ranges.add(3));
        assert!(!ranges.add(3));
        assert_eq!((ranges.runs(), ranges.count(), ranges.next()), (&[(1, 5), (9, 9)][..], 6, 6));
    }

    // A set of numbers is the reference; the order is scrambled by a multiplier that is prime to 97.
    #[test]
    fn equals_a_set() {
        let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
        for i in 0..400u32 {
            let number = i * 35 % 97 + i % 3;
            assert_eq!(ranges.add(number), set.insert(number), "{number}");
            assert_eq!(ranges.count(), set.len() as u64);
            assert!(ranges.runs().windows(2).all(|two| two[0].1 + 1 < two[1].0));
        }
    }

    #[test]
    fn is_limited() {
        let mut ranges = Ranges::default();
        let taken = (0..1_000).filter(|i| ranges.add(2 * i)).count();
        assert_eq!((taken, ranges.runs().len()), (Ranges::MOST, Ranges::MOST));
        assert!(ranges.add(1), "what joins two runs always has its place");
        assert!(ranges.add(u32::MAX) && !ranges.add(5_000));
    }
}
