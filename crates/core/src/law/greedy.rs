//! Laws against greedy flows: they find the flow that takes too much of a queue, and have it
//! filtered close to its source.
//!
//! Such a law runs at a node and sends requests ([`Ask`]) to other nodes. The carrier delivers
//! them: as packets in the simulator, as signed messages between real nodes.

mod filters;
pub mod lgc;

use crate::packet::Packet;
use crate::units::{Pace, Time};

use super::queue::ArrivalContext;
use super::{Decision, PerPacket};

pub use filters::Filters;

/// Returns a packet's neighbour and origin, in the carrier's names for nodes; none: no filter
/// applies to it, as to messages between nodes.
pub type Names = Box<dyn Fn(&Packet) -> Option<Key> + Send>;

/// The filter of a port. Its [`PerPacket::arrive`] decides before the gate; it may watch the queue
/// and decide outside of intervals.
pub trait Filter: PerPacket {
    /// The packet is offered to the queue. Returns whether [`Filter::see_queue`] is to be called once
    /// the queue has accepted or dropped it.
    fn offered(&mut self, _packet: &Packet, _found: &ArrivalContext) -> bool {
        false
    }
    /// Looks at the packets that wait.
    fn see_queue(&mut self, _now: Time, _queued: &mut dyn Iterator<Item = &Packet>) {}
    /// A neighbour asks to filter what comes from an origin.
    fn asked(&mut self, _key: Key, _now: Time) {}
    /// Whether [`Filter::take_acts`] has something to return.
    fn has_acted(&self) -> bool {
        false
    }
    /// The decisions since the last call.
    fn take_acts(&mut self) -> Vec<Act> {
        Vec::new()
    }
    /// The average queue that it goes by, in packets, after the link has been idle for `idle`.
    fn average(&self, _idle: Option<Time>, _pace: Pace) -> Option<f64> {
        None
    }
}

/// A decision of a filter's law, and its request to another node.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Act {
    /// The decision: `set` is the origin, `from` the number of its packets in the queue.
    pub decision: Decision,
    /// The request that the carrier delivers.
    pub ask: Option<Ask>,
}

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
