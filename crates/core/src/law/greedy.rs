//! Laws against greedy flows: they find the one that takes too much of a queue
//! and have it filtered, close to its source.
//!
//! Such a law runs at a node and asks its neighbours for help. What it wants
//! done elsewhere is an [`Ask`], which the carrier takes: a packet to a router
//! in the simulator, a signed message between real nodes.

mod filters;
pub mod lgc;

use crate::units::Time;

pub use filters::Filters;

/// A node as its carrier names it: its number in a simulation, address and
/// port on real links. Sources are nodes too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Node(pub u64);

/// What a filter takes out: packets of one origin that come from one neighbour.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Key {
    /// The node at the other end of the link that they come over (the PHI of lgc, 4.2).
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
    /// Filter packets of `origin`, on whichever link they come over.
    Filter {
        /// The node that is asked.
        to: Node,
        /// Whose packets.
        origin: Node,
        /// When the filter of the asker ends: later the ask has lost its sense.
        until: Time,
    },
}
