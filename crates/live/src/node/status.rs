//! What a node says of itself: over HTTP as JSON, and to a testbed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tidegate_core::active::Address;

use super::ranges::Ranges;
use super::sink::Delivered;

/// A node at one moment.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
pub struct Status {
    /// What it is called.
    pub name: String,
    /// What it is known by.
    pub address: Address,
    /// Seconds since it started.
    pub up_s: f64,
    /// Datagrams that came.
    pub received: u64,
    /// Datagrams that were sent on to a neighbour, its own included.
    pub sent: u64,
    /// Datagrams that were for this node.
    pub delivered: u64,
    /// Dropped datagrams and requests, by reason.
    pub drops: BTreeMap<String, u64>,
    /// Its links.
    pub links: Vec<LinkStatus>,
    /// Filters at work.
    pub filters: Vec<FilterStatus>,
    /// Numbers of the packets that filters took, by origin.
    pub filtered: BTreeMap<Address, Ranges>,
    /// Its own traffic, if it has any.
    pub source: Option<SourceStatus>,
    /// What arrived for it, by origin.
    pub arrived: BTreeMap<Address, Delivered>,
    /// What LGC did, the last 1024 rows.
    pub events: Vec<Event>,
}

/// A link of a node.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
pub struct LinkStatus {
    /// What it is called.
    pub name: String,
    /// The neighbour.
    pub peer: Address,
    /// Packets that wait.
    pub queue_packets: u32,
    /// Their average, where LGC keeps one.
    pub avg_queue_packets: Option<f64>,
    /// The first arrivals at its queue, as many as are to be kept.
    pub record: Vec<Arrival>,
}

/// An arrival at a queue.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Arrival {
    /// When, in seconds since the node started.
    pub time_s: f64,
    /// Whose packet it is.
    pub origin: Address,
    /// Its number.
    pub number: u32,
    /// Packets that waited before it.
    pub queue_packets: u32,
    /// The average with it.
    pub avg_queue_packets: f64,
}

/// A filter at work.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FilterStatus {
    /// Whose packets it takes.
    pub origin: Address,
    /// Over which link.
    pub from: Address,
    /// For how many seconds yet.
    pub rest_s: f64,
}

/// The traffic of a node's own.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
pub struct SourceStatus {
    /// Packets that it is to send.
    pub packets: u32,
    /// Datagrams that it has sent, those sent again included.
    pub sent: u64,
    /// Whether all is sent and, where it waits for that, acknowledged.
    pub done: bool,
}

/// Something that LGC did.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Event {
    /// When, in seconds since the node started.
    pub time_s: f64,
    /// When, in microseconds since 1970.
    pub clock_us: u64,
    /// What: `trigger`, `filter`, `ask`, `asked`, `refused`.
    pub phase: String,
    /// Whose packets it is about, if anyone's.
    pub origin: Option<Address>,
    /// The neighbour that it concerns, if any.
    pub neighbour: Option<Address>,
    /// At a trigger: what was seen.
    pub seen: Option<Seen>,
    /// The reason of a refusal; otherwise empty.
    pub reason: String,
}

/// What a trigger saw in its queue.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
pub struct Seen {
    /// Packets that waited (`p`).
    pub packets: u32,
    /// What a responsive connection may hold (`r`).
    pub share: u32,
    /// Packets of each origin.
    pub held: BTreeMap<Address, u32>,
    /// The average queue.
    pub avg_queue_packets: f64,
    /// Packets of each origin that have come to this queue, where arrivals are recorded.
    pub came: BTreeMap<Address, u64>,
}
