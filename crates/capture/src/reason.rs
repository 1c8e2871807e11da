//! Why a packet or a connection of a capture is not among its flows.

use std::fmt;

/// Most connections that are tracked; bounds the memory.
pub const MAX_CONNECTIONS: usize = 1_000_000;

/// Why a connection, or a packet, was left out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reason {
    /// A connection without data: refused, unanswered or idle.
    NoData,
    /// A packet of a new connection when the limit of tracked connections was reached.
    TooMany,
    /// A packet outside of any window of its connection.
    OutsideWindow,
    /// A packet that is neither IPv4 nor IPv6.
    NotIp,
    /// A UDP packet that is not of QUIC.
    Udp,
    /// An IP packet of another protocol.
    NotTcp,
    /// A fragment of an IP packet.
    Fragment,
    /// A packet of which too few bytes were captured.
    CutShort,
    /// A packet with contradictory headers.
    Malformed,
    /// A packet with an unsupported link type.
    Link(u32),
    /// A packet of an interface that the capture does not describe.
    NoInterface,
    /// A packet without a time (a simple packet block).
    NoTime,
    /// The file is damaged or truncated from here on.
    Broken,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::NoData => f.write_str("connection without data"),
            Reason::TooMany => {
                write!(f, "packet of a connection beyond the first {MAX_CONNECTIONS}")
            }
            Reason::OutsideWindow => f.write_str("packet outside the window of its connection"),
            Reason::NotIp => f.write_str("packet not IP"),
            Reason::Udp => f.write_str("packet of UDP"),
            Reason::NotTcp => f.write_str("packet neither TCP nor UDP"),
            Reason::Fragment => f.write_str("fragment of an IP packet"),
            Reason::CutShort => f.write_str("packet cut short before the end of its headers"),
            Reason::Malformed => f.write_str("packet with contradicting headers"),
            Reason::Link(number) => write!(f, "packet of a link of type {number}"),
            Reason::NoInterface => f.write_str("packet of an interface that is not described"),
            Reason::NoTime => f.write_str("packet without a time"),
            Reason::Broken => f.write_str("record damaged or cut off"),
        }
    }
}
