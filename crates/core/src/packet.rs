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
    /// Offset of the first received segment from the cumulative acknowledgement,
    /// at most [`SackBlock::MAX_START`].
    pub start: u32,
    /// Number of segments in the block; zero marks an unused block.
    pub len: u16,
}

impl SackBlock {
    /// Greatest offset that a packet has room for: 22 bits. 100 Gbit/s and 200 ms
    /// need 1.7 million segments of 1500 bytes.
    pub const MAX_START: u32 = (1 << 22) - 1;
}

/// Blocks as a packet carries them: 38 bits each, so that four fit beside the tag
/// of [`Ext`]. Only [`Ext::with_blocks`] writes one, and [`Ext::blocks`] reads it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LowBlock {
    /// The lower 16 bits of the offset.
    start: u16,
    /// Number of segments.
    len: u16,
}

/// The upper six bits of the offsets of up to four blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HighBits([u8; 3]);

/// Splits blocks into what [`Ext`] holds of them.
fn pack<const N: usize>(blocks: &[SackBlock]) -> ([LowBlock; N], HighBits) {
    let mut low = [LowBlock { start: 0, len: 0 }; N];
    let mut high = 0;
    for (place, (low, block)) in low.iter_mut().zip(blocks).enumerate() {
        debug_assert!(block.start <= SackBlock::MAX_START, "{block:?}");
        *low = LowBlock { start: block.start as u16, len: block.len };
        high |= (block.start >> 16 & 0x3F) << (6 * place);
    }
    let [one, two, three, _] = high.to_le_bytes();
    (low, HighBits([one, two, three]))
}

/// Puts together again what `pack` has split.
fn unpack(low: &[LowBlock], high: HighBits) -> impl Iterator<Item = SackBlock> {
    let [one, two, three] = high.0;
    let mut high = u32::from_le_bytes([one, two, three, 0]);
    low.iter().map(move |low| {
        let start = (high & 0x3F) << 16 | u32::from(low.start);
        high >>= 6;
        SackBlock { start, len: low.len }
    })
}

/// What a sender asks for and what the ports on its way leave of it (qfcp, 2.1).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RateHeader {
    /// Rate that the sender asks for and the path grants so far, in bytes per
    /// second; zero: nothing is asked, as on an acknowledgement.
    pub request: u32,
    /// What the receiver hands back of the request, in bytes per second; zero: nothing.
    pub feedback: u32,
    /// The sender's smoothed round-trip time, in microseconds; zero: not measured.
    pub rtt_us: u32,
}

/// The congestion header of XCP (draft-falk-xcp-spec-03, section 3).
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct XcpHeader {
    /// The sender's smoothed round-trip time, in microseconds; zero: not measured.
    pub rtt_us: u32,
    /// Time between two packets of the sender at its present rate (X), in seconds.
    pub spacing_s: f32,
    /// Change of rate that the sender wants and the path grants so far, in bytes per second.
    pub delta: f32,
    /// What the receiver hands back of it, in bytes per second.
    pub reverse: f32,
}

/// The one extension header that a packet may carry.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub enum Ext {
    /// No extension.
    #[default]
    None,
    /// Selective acknowledgements (RFC 2018), the most recent block first.
    Sack {
        /// Upper bits of the offsets.
        high: HighBits,
        /// The rest of each block.
        low: [LowBlock; 4],
    },
    /// An explicit rate.
    Rate(RateHeader),
    /// XCP.
    Xcp(XcpHeader),
    /// How busy the busiest port of the way is, in two bits, and what the
    /// receiver hands back of it (VCP); zero: not said.
    Load {
        /// What the ports have written.
        code: u8,
        /// What came back.
        echo: u8,
    },
    /// Selective acknowledgements besides what a receiver echoes: the
    /// `feedback`, `reverse` (its bits), `echo` or `burst` of the other headers.
    SackWith {
        /// What is handed back.
        word: u32,
        /// Upper bits of the offsets.
        high: HighBits,
        /// The rest of each block.
        low: [LowBlock; 3],
    },
    /// How readily the packet may be given up (blitz, 2.1).
    Priority {
        /// Place in its burst: 0 is given up last.
        level: u32,
        /// Number of the burst, for the receiver to hand back.
        burst: u32,
    },
    /// A message for the node that the packet is addressed to.
    Active {
        /// Which of the node's services it asks for.
        service: u16,
        /// What it says to that.
        words: [u32; 3],
    },
    /// Sixteen bytes that a control of the user's own gives a meaning to.
    Custom([u32; 4]),
}

impl Ext {
    /// What a receiver hands back of this header on its acknowledgement.
    pub fn echoed(self) -> Ext {
        match self {
            Ext::Rate(header) => {
                Ext::Rate(RateHeader { request: 0, feedback: header.request, rtt_us: 0 })
            }
            Ext::Xcp(header) => {
                Ext::Xcp(XcpHeader { reverse: header.delta, ..XcpHeader::default() })
            }
            Ext::Load { code, .. } => Ext::Load { code: 0, echo: code },
            other => other,
        }
    }

    /// The same with blocks of selective acknowledgement, as many as fit.
    pub fn with_blocks(self, blocks: [SackBlock; 4]) -> Ext {
        let word = match self {
            Ext::Rate(header) => header.feedback,
            Ext::Xcp(header) => header.reverse.to_bits(),
            Ext::Load { echo, .. } => u32::from(echo),
            Ext::Priority { burst, .. } => burst,
            Ext::Custom(_) => return self,
            Ext::Active { .. } => return self,
            Ext::None | Ext::Sack { .. } | Ext::SackWith { .. } => {
                let (low, high) = pack(&blocks);
                return Ext::Sack { high, low };
            }
        };
        let (low, high) = pack(&blocks);
        Ext::SackWith { word, high, low }
    }

    /// The blocks of selective acknowledgement, the most recent first.
    #[inline]
    pub fn blocks(&self) -> Option<impl Iterator<Item = SackBlock>> {
        match self {
            Ext::Sack { high, low } => Some(unpack(low, *high)),
            Ext::SackWith { high, low, .. } => Some(unpack(low, *high)),
            _ => None,
        }
    }
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

impl Packet {
    /// A number by which packets of one flow and one direction are known
    /// together: source, destination and flow, mixed with a salt.
    #[inline]
    pub fn flow_hash(&self, salt: u32) -> u64 {
        self.mixed(u64::from(salt))
    }

    /// The same, with later owners of the flow's slot distinguished.
    #[inline]
    pub fn session_hash(&self, salt: u32) -> u64 {
        self.mixed(u64::from(self.generation) << 32 | u64::from(salt))
    }

    #[inline]
    fn mixed(&self, salt: u64) -> u64 {
        let ends = u64::from(self.src) << 48 | u64::from(self.dst) << 32 | u64::from(self.flow);
        // the finisher of SplitMix64 (Steele, Lea and Flood 2014)
        let mut mixed = ends.wrapping_add(salt.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }
}

const _: () = assert!(size_of::<Packet>() == 64);

#[cfg(test)]
mod tests {
    use super::*;

    /// Offsets up to 100 Gbit/s and 200 ms (1,666,667 segments of 1500 bytes) and up to the
    /// greatest, at each place, alone and with what else a receiver hands back.
    #[test]
    fn blocks_far_from_the_acknowledgement_are_read_as_written() {
        let starts = [1, 65_535, 65_536, 130_357, 1_666_667, SackBlock::MAX_START];
        for (first, second) in starts.into_iter().flat_map(|a| starts.map(|b| (a, b))) {
            let block = |start, len| SackBlock { start, len };
            let blocks =
                [block(first, 1), block(second, u16::MAX), block(7, 2), block(second, 40_000)];
            let plain = Ext::None.with_blocks(blocks).blocks().map(Vec::from_iter);
            assert_eq!(plain.as_deref(), Some(&blocks[..]));
            let load = Ext::Load { code: 0, echo: 3 }.with_blocks(blocks);
            assert!(matches!(load, Ext::SackWith { word: 3, .. }));
            assert_eq!(load.blocks().map(Vec::from_iter).as_deref(), Some(&blocks[..3]));
        }
    }
}
