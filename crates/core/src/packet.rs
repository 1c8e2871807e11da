//! What a port may look at: a 64-byte record of one packet.

use crate::units::Time;

/// Header flags, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Flags(u16);

impl Flags {
    /// No flag at all.
    pub const NONE: Flags = Flags(0);
    /// Opens a connection.
    pub const SYN: Flags = Flags(1);
    /// The acknowledgement number is valid.
    pub const ACK: Flags = Flags(1 << 1);
    /// The sender has no more data.
    pub const FIN: Flags = Flags(1 << 2);
    /// The connection is refused or broken off.
    pub const RST: Flags = Flags(1 << 3);
    /// Carries payload.
    pub const DATA: Flags = Flags(1 << 4);
    /// The transport header cannot be read (encrypted or tunnelled).
    pub const OPAQUE: Flags = Flags(1 << 5);
    /// A transmission of a segment that was sent before.
    pub const RETRANSMIT: Flags = Flags(1 << 6);
    /// The last segment of its flow's data (PSH on the wire).
    pub const PUSH: Flags = Flags(1 << 7);
    /// Travels towards the end that sends the data.
    pub const TO_SOURCE: Flags = Flags(1 << 8);
    /// Passed a gate as the opener of a session, at the time in `sent`.
    pub const ADMITTED: Flags = Flags(1 << 9);
    /// Its transport understands a mark in place of a loss (RFC 3168, ECT).
    pub const ECT: Flags = Flags(1 << 10);
    /// A queue on its way was congested and marked it (RFC 3168, CE).
    pub const CE: Flags = Flags(1 << 11);
    /// Echoes a mark to the sender (RFC 3168, ECE).
    pub const ECE: Flags = Flags(1 << 12);
    /// The sender has reduced its window (RFC 3168, CWR).
    pub const CWR: Flags = Flags(1 << 13);
    /// Taken out of its queue by the discipline; a port never sends it.
    pub(crate) const EVICTED: Flags = Flags(1 << 15);

    /// Whether all of `other`'s bits are set.
    #[inline]
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets together.
    #[inline]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// One selective acknowledgement: segments `ack + start .. ack + start + len`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SackBlock {
    /// Offset of the first received segment from the cumulative acknowledgement.
    pub start: u16,
    /// Number of segments in the block; zero marks an unused block.
    pub len: u16,
}

/// The one extension header that a packet may carry.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Ext {
    /// No extension.
    #[default]
    None,
    /// Selective acknowledgements (RFC 2018), the most recent block first.
    Sack([SackBlock; 4]),
    /// How readily the packet may be given up: 0 last (blitz, 2.1).
    Priority(u32),
    /// Sixteen bytes that a control of the user's own gives a meaning to.
    Custom([u32; 4]),
}

/// A packet as the network sees it.
///
/// `at` is the arrival time at the port that holds the packet and, once its
/// transmission has started, the time of its delivery at the far end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub struct Packet {
    /// Arrival at this port; from the start of service on, delivery at the next node.
    pub at: Time,
    /// When the sender sent it; an acknowledgement echoes what it acknowledges.
    pub sent: Time,
    /// Slot of the flow in its table, with the table's number in the top bits.
    pub flow: u32,
    /// Sequence number of the data segment.
    pub seq: u32,
    /// Next segment that the receiver expects.
    pub ack: u32,
    /// The port that the packet came through last.
    pub prev_port: u32,
    /// Extension header.
    pub ext: Ext,
    /// Source node.
    pub src: u16,
    /// Destination node.
    pub dst: u16,
    /// Bytes on the wire, headers included.
    pub size: u16,
    /// Header flags.
    pub flags: Flags,
    /// Generation of the flow's slot, to know packets of an earlier owner.
    pub generation: u16,
}

const _: () = assert!(size_of::<Packet>() == 64);
