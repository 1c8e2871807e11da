//! What a link does to packets besides carrying them at a rate and after a delay.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_core::port::{Batching, Opportunities};
use tidegate_core::units::{Rate, Time};

/// What the link of a port does; by default nothing.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Impairments {
    /// Whether its rate or its delay changes during the run.
    pub changes: bool,
    /// Whether its rate follows a trace.
    pub traced: bool,
    /// How the delay differs from packet to packet.
    pub jitter: Option<Jitter>,
    /// Which packets are held back.
    pub reorder: Option<Reorder>,
    /// When it delivers, if it gathers packets first.
    pub batching: Option<Batching>,
    /// What the policer before its port lets pass.
    pub police: Option<Policing>,
    /// When it sends, in place of its rate.
    pub opportunities: Option<Opportunities>,
    /// The medium that it shares with other links.
    pub medium: Option<Shared>,
}

/// A medium, and what a packet takes of it besides its transmission.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shared {
    /// Its name: ports that name the same one send one at a time.
    pub name: String,
    /// How long it stays taken after a packet.
    pub gap: Time,
}

/// Delays drawn around the link's.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Jitter {
    /// Distribution of the difference from the link's delay.
    pub spread: Spread,
    /// Whether packets keep their order.
    pub order: Order,
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
pub enum Order {
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

/// Packets that others overtake.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reorder {
    /// Share of the packets, 0 to 1, drawn independently.
    pub share: f64,
    /// How much longer they propagate.
    pub by: Time,
}
