//! Laws against greedy flows: they find the flow that takes too much of a queue, and have it
//! filtered close to its source.
//!
//! Such a law runs at a node and sends requests ([`Ask`]) to other nodes. The carrier delivers
//! them: as packets in the simulator, as signed messages between real nodes.

mod filters;
pub mod lgc;

use crate::units::Time;

pub use filters::Filters;

/// A node, as its carrier identifies it: by its number in a simulation, by address and port on real
/// links. Sources are nodes too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Node(pub u64);

/// What a filter drops: packets of one origin that arrive from one neighbour.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Key {
    /// The neighbour at the other end of the incoming link (the PHI of lgc, 4.2).
    pub from: Node,
    /// The node that sent them first (the GCI of lgc, 4.2).
    pub origin: Node,
}

impl Key {
    /// Whether the neighbour is the source itself.
    pub fn first_hop(self) -> bool {
        self.from == self.origin
    }
}

/// What a law requests from another node; the carrier of packets delivers it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ask {
    /// Filter the packets of `origin`, whichever link they arrive on.
    Filter {
        /// The node that is asked.
        to: Node,
        /// The origin to filter.
        origin: Node,
        /// When the filter of the requesting node ends; the request is void after that.
        until: Time,
    },
}
