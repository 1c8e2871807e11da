//! The status of a node: JSON over HTTP, and input of a testbed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tidegate_core::active::Address;

use super::ranges::Ranges;
use super::sink::Delivered;

/// The state of a node at one moment.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
pub struct Status {
    /// Its name.
    pub name: String,
    /// Its address, which identifies it.
    pub address: Address,
    /// Seconds since it started.
    pub up_s: f64,
    /// Datagrams that arrived.
    pub received: u64,
    /// Datagrams passed to a neighbour, including the node's own.
    pub sent: u64,
    /// Datagrams for this node.
    pub delivered: u64,
    /// Dropped datagrams and requests, by reason.
    pub drops: BTreeMap<String, u64>,
    /// Its links.
    pub links: Vec<LinkStatus>,
    /// Active filters.
    pub filters: Vec<FilterStatus>,
    /// Numbers of the packets that filters dropped, by origin.
    pub filtered: BTreeMap<Address, Ranges>,
    /// Its own traffic, if it has a source.
    pub source: Option<SourceStatus>,
    /// Arrivals at its sink, by origin.
    pub arrived: BTreeMap<Address, Delivered>,
    /// Decisions of LGC, the last 1024.
    pub events: Vec<Event>,
}

/// A link of a node.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
pub struct LinkStatus {
    /// Its name.
    pub name: String,
    /// The neighbour.
    pub peer: Address,
    /// Waiting packets.
    pub queue_packets: u32,
    /// The average queue, if LGC watches it.
    pub avg_queue_packets: Option<f64>,
    /// The recorded first arrivals at its queue.
    pub record: Vec<Arrival>,
}

/// An arrival at a queue.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Arrival {
    /// When, in seconds since the node started.
    pub time_s: f64,
    /// Its origin.
    pub origin: Address,
    /// Its number.
    pub number: u32,
    /// Packets waiting before it.
    pub queue_packets: u32,
    /// The average queue, including it.
    pub avg_queue_packets: f64,
}

/// An active filter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FilterStatus {
    /// The origin whose packets it drops.
    pub origin: Address,
    /// The incoming link.
    pub from: Address,
    /// Remaining time in seconds.
    pub rest_s: f64,
}

/// The traffic of the node's source.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
pub struct SourceStatus {
    /// Packets to send.
    pub packets: u32,
    /// Datagrams sent, with retransmissions.
    pub sent: u64,
    /// Whether all packets are sent and, if responsive, acknowledged.
    pub done: bool,
}

/// A decision of LGC.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Event {
    /// When, in seconds since the node started.
    pub time_s: f64,
    /// When, in microseconds since 1970.
    pub clock_us: u64,
    /// Its kind: `trigger`, `filter`, `ask`, `asked`, `refused`.
    pub phase: String,
    /// The origin that it is about, if any.
    pub origin: Option<Address>,
    /// The neighbour that it concerns, if any.
    pub neighbour: Option<Address>,
    /// For a trigger: the state of the queue.
    pub seen: Option<QueueAtTrigger>,
    /// For a refusal: the reason; otherwise empty.
    pub reason: String,
}

/// The queue at a trigger.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
pub struct QueueAtTrigger {
    /// Waiting packets (`p`).
    pub packets: u32,
    /// What a responsive connection may hold (`r`).
    pub share: u32,
    /// Packets of each origin.
    pub held: BTreeMap<Address, u32>,
    /// The average queue.
    pub avg_queue_packets: f64,
    /// All arrivals of each origin at this queue so far, if arrivals are recorded.
    pub came: BTreeMap<Address, u64>,
}
