//! A route that replaces a shortest path, and the packets that take it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_core::packet::Flags;

/// Packet kinds for routes that depend on flags; a packet has one kind.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum PacketKind {
    /// Carries payload and no FIN.
    Data,
    /// An acknowledgement and nothing else.
    Ack,
    /// Opens a connection.
    Syn,
    /// Answers a packet that opens a connection.
    SynAck,
    /// FIN, with or without data.
    Fin,
    /// RST.
    Rst,
}

impl PacketKind {
    /// Every kind, in the order of the indices.
    pub const ALL: [PacketKind; 6] = [
        PacketKind::Data,
        PacketKind::Ack,
        PacketKind::Syn,
        PacketKind::SynAck,
        PacketKind::Fin,
        PacketKind::Rst,
    ];

    /// The kind of a packet with these flags; none if they cannot be read.
    pub fn of(flags: Flags) -> Option<PacketKind> {
        Some(match flags {
            _ if flags.has(Flags::OPAQUE) => return None,
            _ if flags.has(Flags::RST) => PacketKind::Rst,
            _ if flags.has(Flags::SYN.with(Flags::ACK)) => PacketKind::SynAck,
            _ if flags.has(Flags::SYN) => PacketKind::Syn,
            _ if flags.has(Flags::FIN) => PacketKind::Fin,
            _ if flags.has(Flags::DATA) => PacketKind::Data,
            _ => PacketKind::Ack,
        })
    }
}

/// A route that replaces the shortest path at one node for one destination.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Route {
    /// The node.
    pub at: u16,
    /// The destination.
    pub to: u16,
    /// The port that packets take from there.
    pub port: u32,
    /// Kind of packets; none: all.
    pub kinds: Option<Vec<PacketKind>>,
}
