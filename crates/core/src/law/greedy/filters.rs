//! The filters of a node: soft state, limited in number, each with an expiry time.

use std::collections::BTreeMap;

use crate::units::Time;

use super::Key;

/// Which packets a node filters, and until when.
///
/// An expired filter has no effect even before it is removed. No message is needed to remove one,
/// so neither a lost message nor a failed node can leave a filter behind.
#[derive(Clone, Debug)]
pub struct Filters {
    /// The expiry of each filter: it no longer drops at that instant.
    until: BTreeMap<Key, Time>,
    most: usize,
}

impl Filters {
    /// An empty table for at most `most` filters.
    pub fn new(most: usize) -> Filters {
        Filters { until: BTreeMap::new(), most }
    }

    /// Whether a packet that arrives now is dropped.
    #[inline]
    pub fn takes(&self, key: Key, now: Time) -> bool {
        // most nodes have no filter most of the time
        !self.until.is_empty() && self.until.get(&key).is_some_and(|until| now < *until)
    }

    /// Filters `key` from `now` to `until`. An existing filter is extended, never shortened, so
    /// repeated messages do no harm.
    ///
    /// Returns false if the table is full.
    pub fn install(&mut self, key: Key, until: Time, now: Time) -> bool {
        if let Some(end) = self.until.get_mut(&key) {
            *end = until.max(*end);
            return true;
        }
        if self.until.len() >= self.most {
            self.until.retain(|_, end| now < *end);
        }
        let place = self.until.len() < self.most;
        if place {
            self.until.insert(key, until);
        }
        place
    }

    /// The active filters with their expiry, in the order of their keys.
    pub fn active(&self, now: Time) -> impl Iterator<Item = (Key, Time)> + '_ {
        self.until.iter().map(|(key, end)| (*key, *end)).filter(move |(_, end)| now < *end)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Node;
    use super::*;

    fn key(origin: u64) -> Key {
        Key { from: Node(9), origin: Node(origin) }
    }

    fn s(secs: u64) -> Time {
        Time::from_secs(secs)
    }

    // A filter is keyed by neighbour and origin: packets of the origin from another neighbour pass
    // (lgc, 4.2).
    #[test]
    fn takes_only_its_origin_and_only_over_its_link() {
        let mut filters = Filters::new(4);
        assert!(filters.install(key(1), s(5), s(0)));
        assert!(filters.takes(key(1), s(0)));
        assert!(!filters.takes(key(2), s(0)));
        assert!(!filters.takes(Key { from: Node(8), origin: Node(1) }, s(0)));
    }

    // ITime is a span: a filter of 5 s that was installed at 0 s drops at 4.999... s and not at 5 s.
    #[test]
    fn ends_on_time() {
        let mut filters = Filters::new(4);
        filters.install(key(1), s(5), s(0));
        assert!(filters.takes(key(1), Time::from_ps(s(5).ps() - 1)));
        assert!(!filters.takes(key(1), s(5)));
        assert_eq!(filters.active(s(5)).count(), 0);
    }

    // Soft state: the same message twice, or in the wrong order, changes nothing but the end.
    #[test]
    fn a_repeated_one_extends_and_never_shortens() {
        let mut filters = Filters::new(1);
        filters.install(key(1), s(100), s(0));
        assert!(filters.install(key(1), s(5), s(1)));
        assert!(filters.takes(key(1), s(99)));
        assert!(filters.install(key(1), s(200), s(2)));
        assert!(filters.takes(key(1), s(199)));
    }

    // A full table refuses; an expired filter makes room.
    #[test]
    fn is_limited_in_number() {
        let mut filters = Filters::new(2);
        assert!(filters.install(key(1), s(5), s(0)));
        assert!(filters.install(key(2), s(9), s(0)));
        assert!(!filters.install(key(3), s(9), s(4)));
        assert!(!filters.takes(key(3), s(4)));
        assert!(filters.install(key(3), s(9), s(5)));
        assert_eq!(filters.active(s(6)).map(|(key, _)| key.origin.0).collect::<Vec<_>>(), [2, 3]);
    }
}
