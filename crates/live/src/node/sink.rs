//! What has arrived at a node for itself, by origin.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tidegate_core::active::Address;

use super::ranges::Ranges;

/// What arrived of one origin.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Delivered {
    /// Numbers of the packets that arrived.
    pub numbers: Ranges,
    /// Packets that had arrived before.
    pub again: u64,
}

/// The account of a node's own arrivals, limited in number.
#[derive(Debug)]
pub struct Sink {
    by_origin: BTreeMap<Address, Delivered>,
    most: usize,
}

impl Sink {
    /// Nothing yet; `most` origins are told apart.
    pub fn new(most: usize) -> Sink {
        Sink { by_origin: BTreeMap::new(), most }
    }

    /// A packet has arrived: the next number that is missing from its origin.
    /// None: there is no place for another origin.
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

    /// What arrived, by origin.
    pub fn delivered(&self) -> &BTreeMap<Address, Delivered> {
        &self.by_origin
    }
}
