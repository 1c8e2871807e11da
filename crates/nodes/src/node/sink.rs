//! The packets that arrived for this node, by origin.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tidegate_core::active::Address;

use super::ranges::Ranges;

/// The arrivals of one origin.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Delivered {
    /// Numbers of the packets that arrived.
    pub numbers: Ranges,
    /// Duplicates.
    pub again: u64,
}

/// The arrivals of all origins, limited in number.
#[derive(Debug)]
pub struct Sink {
    by_origin: BTreeMap<Address, Delivered>,
    most: usize,
}

impl Sink {
    /// No arrivals; at most `most` origins are counted separately.
    pub fn new(most: usize) -> Sink {
        Sink { by_origin: BTreeMap::new(), most }
    }

    /// Records a packet and returns the next missing number of its origin. None: there are too many
    /// origins.
    pub fn take(&mut self, origin: Address, number: u32) -> Option<u32> {
        if self.by_origin.len() >= self.most && !self.by_origin.contains_key(&origin) {
            return None;
        }
        let delivered = self.by_origin.entry(origin).or_default();
        if !delivered.numbers.add(number) {
            delivered.again += 1;
        }
        Some(delivered.numbers.next())
    }

    /// The arrivals by origin.
    pub fn delivered(&self) -> &BTreeMap<Address, Delivered> {
        &self.by_origin
    }
}
