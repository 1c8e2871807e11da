//! Fairness among hosts: a host's flows share what one flow would get (CAKE, III-B).
//!
//! A flow's quantum is that of a lone flow over its host load, the number of
//! bulk flows of its source or destination, or of whichever has more.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sets::{Place, Sets};

/// Between what the link is shared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// All packets are in one queue.
    None,
    /// Flows.
    Flows,
    /// Sources, and the flows of each.
    DualSrchost,
    /// Destinations, and the flows of each.
    DualDsthost,
    /// Sources, destinations, and flows.
    #[default]
    TripleIsolate,
}

impl Isolation {
    fn by_source(self) -> bool {
        matches!(self, Isolation::DualSrchost | Isolation::TripleIsolate)
    }

    fn by_destination(self) -> bool {
        matches!(self, Isolation::DualDsthost | Isolation::TripleIsolate)
    }
}

/// The bulk flows of each host on one side.
#[derive(Clone, Debug)]
struct Side {
    sets: Sets,
    bulk: Box<[u32]>,
}

impl Side {
    fn new(places: usize, ways: usize) -> Side {
        Side { sets: Sets::new(places, ways), bulk: vec![0; places].into() }
    }

    fn find(&mut self, host: u16) -> u32 {
        let (Place::Known(place) | Place::Free(place) | Place::Shared(place)) =
            self.sets.find(u32::from(host), |place| self.bulk[place] > 0);
        place as u32
    }
}

/// Both hosts of a flow, by their places.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pair {
    source: u32,
    destination: u32,
}

/// The hosts whose flows wait.
#[derive(Clone, Debug)]
pub struct Hosts {
    isolation: Isolation,
    sources: Side,
    destinations: Side,
}

impl Hosts {
    /// Of so many places, a multiple of `ways`, on either side.
    pub fn new(isolation: Isolation, places: usize, ways: usize) -> Hosts {
        let side = || Side::new(places, ways);
        Hosts { isolation, sources: side(), destinations: side() }
    }

    /// The places of two hosts.
    pub fn find(&mut self, source: u16, destination: u16) -> Pair {
        Pair { source: self.sources.find(source), destination: self.destinations.find(destination) }
    }

    /// The two have one bulk flow more.
    pub fn begin(&mut self, pair: Pair) {
        self.sources.bulk[pair.source as usize] += 1;
        self.destinations.bulk[pair.destination as usize] += 1;
    }

    /// The two have one bulk flow less.
    pub fn end(&mut self, pair: Pair) {
        self.sources.bulk[pair.source as usize] -= 1;
        self.destinations.bulk[pair.destination as usize] -= 1;
    }

    /// Among how many a flow of the two shares a lone flow's quantum.
    #[inline]
    pub fn load(&self, pair: Pair) -> u32 {
        let source = self.sources.bulk[pair.source as usize];
        let destination = self.destinations.bulk[pair.destination as usize];
        let of = |counts: bool, bulk: u32| if counts { bulk } else { 0 };
        of(self.isolation.by_source(), source)
            .max(of(self.isolation.by_destination(), destination))
            .max(1)
    }
}
