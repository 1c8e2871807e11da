//! Fairness among hosts: the flows of a host share the quantum of one flow (CAKE, III-B).
//!
//! A flow's quantum is that of a lone flow divided by the host load: the number of bulk flows of
//! its source or its destination, whichever is larger.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sets::{Sets, TagPlace};

/// Among whom the link is divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// One queue for all packets.
    None,
    /// Flows.
    Flows,
    /// Among sources, then among the flows of each.
    DualSrchost,
    /// Among destinations, then among the flows of each.
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

/// The bulk flows of each host, sources or destinations.
#[derive(Clone, Debug)]
struct HostSide {
    sets: Sets,
    bulk: Box<[u32]>,
}

impl HostSide {
    fn new(places: usize, ways: usize) -> HostSide {
        HostSide { sets: Sets::new(places, ways), bulk: vec![0; places].into() }
    }

    fn find(&mut self, host: u16) -> u32 {
        let (TagPlace::Known(place) | TagPlace::Free(place) | TagPlace::Shared(place)) =
            self.sets.find(u32::from(host), |place| self.bulk[place] > 0);
        place as u32
    }
}

/// The source and the destination of a flow, as indices.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pair {
    source: u32,
    destination: u32,
}

/// The hosts with waiting flows.
#[derive(Clone, Debug)]
pub struct Hosts {
    isolation: Isolation,
    sources: HostSide,
    destinations: HostSide,
}

impl Hosts {
    /// A table for `places` hosts, a multiple of `ways`, of each kind.
    pub fn new(isolation: Isolation, places: usize, ways: usize) -> Hosts {
        let side = || HostSide::new(places, ways);
        Hosts { isolation, sources: side(), destinations: side() }
    }

    /// The indices of two hosts.
    pub fn find(&mut self, source: u16, destination: u16) -> Pair {
        Pair { source: self.sources.find(source), destination: self.destinations.find(destination) }
    }

    /// The two hosts have one more bulk flow.
    pub fn begin(&mut self, pair: Pair) {
        self.sources.bulk[pair.source as usize] += 1;
        self.destinations.bulk[pair.destination as usize] += 1;
    }

    /// The two hosts have one bulk flow less.
    pub fn end(&mut self, pair: Pair) {
        self.sources.bulk[pair.source as usize] -= 1;
        self.destinations.bulk[pair.destination as usize] -= 1;
    }

    /// How many flows share the quantum of a lone flow.
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
