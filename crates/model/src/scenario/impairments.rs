//! What a link does to packets besides carrying them at a rate and after a delay.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_core::keys;
use tidegate_core::port::{Batching, Opportunities};
use tidegate_core::units::{Rate, Time};

use super::course::Course;

/// What the link of a port does; by default nothing.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Impairments {
    /// Whether its rate or its delay changes during the run.
    pub changes: bool,
    /// Whether its rate follows a trace.
    pub traced: bool,
    /// The time in seconds of the first row of its trace: the run begins with that row.
    pub trace_from: f64,
    /// What share of its packets it loses over time, besides the link's own loss.
    pub loss: Option<Course>,
    /// How the delay differs from packet to packet.
    pub jitter: Option<Jitter>,
    /// Which packets are held back.
    pub reorder: Option<Reorder>,
    /// What share of its packets it damages.
    pub corrupt: f64,
    /// What share of its packets it delivers twice.
    pub duplicate: f64,
    /// When it delivers, if it gathers packets first.
    pub batching: Option<Batching>,
    /// How old packets with payload may be when they arrive.
    pub lifetime: Option<Time>,
    /// What the policer before its port lets pass.
    pub police: Option<Policing>,
    /// When it sends, in place of its rate.
    pub opportunities: Option<Opportunities>,
    /// The medium that it shares with other links.
    pub medium: Option<Shared>,
}

keys! {
    /// A medium that links share, as the two directions of Wi-Fi or of a half-duplex line do.
    "MediumDoc" as pub Shared = "a table, as in { name = \"air\", gap = \"100us\" }":
    name: String = required "Its name: of the ports that give the same one, only one sends at a time" + "They take turns, packet by packet.";
    gap: Time = "0s" ["0s" to "1s"] "How long it stays taken after a packet (contention, preamble, acknowledgement)";
}

/// Delays drawn around the link's.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Jitter {
    /// Distribution of the difference from the link's delay.
    pub spread: Spread,
    /// Whether packets keep their order.
    pub order: PacketOrder,
}

/// The distribution of a difference of mean zero.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Spread {
    /// Even, from minus to plus this.
    Uniform(Time),
    /// Normal, with this standard deviation.
    Normal(Time),
}

/// Whether packets keep their order on a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Order")]
pub enum PacketOrder {
    /// A packet waits for those sent before it.
    #[default]
    Kept,
    /// A packet may overtake those sent before it.
    Free,
}

/// A bucket of tokens at a port, without a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policing {
    /// Tokens come at this rate.
    pub rate: Rate,
    /// What the bucket holds, in bytes.
    pub burst: u64,
}

keys! {
    /// Packets that are held back, so that others overtake them.
    #[derive(Copy)]
    "ReorderDoc" as pub Reorder = "a table, as in { share = 0.01, by = \"5ms\" }":
    share: f64 = required [0 to 1] "Share of the packets that are held back, each independently of the others";
    by: Time = required [above "0s" to "1h"] "For how long";
}
