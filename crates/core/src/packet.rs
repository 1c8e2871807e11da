//! A packet as ports see it: a record of 64 bytes.

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
    /// The connection is refused or reset.
    pub const RST: Flags = Flags(1 << 3);
    /// Carries payload.
    pub const DATA: Flags = Flags(1 << 4);
    /// The transport header cannot be read (encrypted or tunnelled).
    pub const OPAQUE: Flags = Flags(1 << 5);
    /// A retransmission.
    pub const RETRANSMIT: Flags = Flags(1 << 6);
    /// The last segment of its flow's data (PSH on the wire).
    pub const PUSH: Flags = Flags(1 << 7);
    /// Travels towards the data sender.
    pub const TO_SOURCE: Flags = Flags(1 << 8);
    /// The SYN or SYN+ACK by which a gate admitted the session; `sent` holds the time.
    pub const ADMITTED: Flags = Flags(1 << 9);
    /// ECN-capable transport (RFC 3168, ECT): may be marked instead of dropped.
    pub const ECT: Flags = Flags(1 << 10);
    /// Marked by a congested queue (RFC 3168, CE).
    pub const CE: Flags = Flags(1 << 11);
    /// Echoes a mark to the sender (RFC 3168, ECE).
    pub const ECE: Flags = Flags(1 << 12);
    /// The sender has reduced its window (RFC 3168, CWR).
    pub const CWR: Flags = Flags(1 << 13);
    /// With `ECT`: it is of a scalable control, for which a mark says less (RFC 9331, ECT(1)).
    pub const L4S: Flags = Flags(1 << 14);
    /// With `CWR` and `ECE`: the count of marked packets, modulo 8 (RFC 9768, AE).
    pub const AE: Flags = Flags(1 << 15);

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
    /// Largest offset that fits: 22 bits. A path of 100 Gbit/s and 200 ms needs offsets up to 1.7
    /// million (segments of 1500 bytes).
    pub const MAX_START: u32 = (1 << 22) - 1;
}

/// SACK blocks as a packet carries them. A block takes 38 bits, so four fit into [`Ext`]. Written
/// by [`Ext::with_blocks`], read by [`Ext::blocks`].
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

/// The inverse of `pack`.
fn unpack(low: &[LowBlock], high: HighBits) -> impl Iterator<Item = SackBlock> {
    let [one, two, three] = high.0;
    let mut high = u32::from_le_bytes([one, two, three, 0]);
    low.iter().map(move |low| {
        let start = (high & 0x3F) << 16 | u32::from(low.start);
        high >>= 6;
        SackBlock { start, len: low.len }
    })
}

/// The explicit-rate header: what the sender requests and the ports reduce (qfcp, 2.1).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RateHeader {
    /// Requested rate, as reduced by the ports so far, in bytes per second; zero: no request, as on
    /// an acknowledgement.
    pub request: u32,
    /// The granted rate, returned by the receiver, in bytes per second; zero: none.
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
    /// Requested change of rate, as reduced by the ports so far, in bytes per second.
    pub delta: f32,
    /// The granted change, returned by the receiver, in bytes per second.
    pub reverse: f32,
}

/// The extension header of a packet; at most one.
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
    /// VCP: the load of the busiest port on the path as a two-bit code, and the code that the
    /// receiver returns; zero: none.
    Load {
        /// Code on the forward path.
        code: u8,
        /// Code returned.
        echo: u8,
    },
    /// Selective acknowledgements together with the field that the receiver returns from another
    /// header: `feedback`, `reverse` (its bits), `echo` or `burst`.
    SackWith {
        /// The returned field.
        word: u32,
        /// Upper bits of the offsets.
        high: HighBits,
        /// The rest of each block.
        low: [LowBlock; 3],
    },
    /// Blitz: the drop priority (blitz, 2.1).
    Priority {
        /// Position in its burst: 0 is dropped last.
        level: u32,
        /// Number of the burst, which the receiver returns.
        burst: u32,
    },
    /// A message for the node that the packet is addressed to.
    Active {
        /// The service that it requests (TOS).
        service: u16,
        /// The argument of the request.
        words: [u32; 3],
    },
    /// Sixteen bytes for a user's own control.
    Custom([u32; 4]),
    /// The bytes of a datagram, which the carrier keeps for it.
    Datagram {
        /// Where they lie.
        payload: u32,
        /// What a router can read of them.
        form: Form,
    },
}

/// What a router can read of a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// An Initial of QUIC, sent by the end that opens the connection.
    ClientInitial,
    /// An Initial of QUIC, sent by the end that answers.
    ServerInitial,
    /// Anything else.
    Other,
}

impl Ext {
    /// The header of the acknowledgement: what a receiver returns of this header.
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

    /// The same with SACK blocks, as many as fit.
    pub fn with_blocks(self, blocks: [SackBlock; 4]) -> Ext {
        let word = match self {
            Ext::Rate(header) => header.feedback,
            Ext::Xcp(header) => header.reverse.to_bits(),
            Ext::Load { echo, .. } => u32::from(echo),
            Ext::Priority { burst, .. } => burst,
            Ext::Custom(_) | Ext::Active { .. } | Ext::Datagram { .. } => return self,
            Ext::None | Ext::Sack { .. } | Ext::SackWith { .. } => {
                let (low, high) = pack(&blocks);
                return Ext::Sack { high, low };
            }
        };
        let (low, high) = pack(&blocks);
        Ext::SackWith { word, high, low }
    }

    /// The SACK blocks, the most recent first.
    #[inline]
    pub fn blocks(&self) -> Option<impl Iterator<Item = SackBlock>> {
        match self {
            Ext::Sack { high, low } => Some(unpack(low, *high)),
            Ext::SackWith { high, low, .. } => Some(unpack(low, *high)),
            _ => None,
        }
    }
}

/// A packet in the network.
///
/// `at` is first the arrival time at the port that holds the packet. From the start of its
/// transmission on it is the delivery time at the far end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub struct Packet {
    /// Arrival at this port; from the start of transmission on, delivery at the next node.
    pub at: Time,
    /// When the sender sent it. An acknowledgement repeats the time of the acknowledged packet.
    pub sent: Time,
    /// Slot of the flow in its table; the top bits are the number of the table.
    pub flow: u32,
    /// Sequence number of the data segment; of an acknowledgement how many tenths of the segment `ack`
    /// it covers, or the window that it tells of ([`Packet::window`]).
    pub seq: u32,
    /// Next segment that the receiver expects.
    pub ack: u32,
    /// The port that sent the packet last.
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
    /// Generation of the slot: distinguishes the packets of flows that used it earlier.
    pub generation: u16,
    /// Number of the client that opens the flow, in the packets that open it; zero: the client is
    /// the node.
    pub client: u16,
}

impl Packet {
    /// A hash of source, destination, flow and salt: the same for all packets of a flow in one
    /// direction, and another one for each flow that uses the slot, as it has other ports.
    #[inline]
    pub fn flow_hash(&self, salt: u32) -> u64 {
        self.mixed(u64::from(self.generation) << 32 | u64::from(salt))
    }

    /// A hash of the client that opens the flow, and of the salt, by a packet that opens one: the
    /// sender of a SYN, the receiver of a SYN+ACK.
    #[inline]
    pub fn client_hash(&self, salt: u32) -> u64 {
        let node = if self.flags.has(Flags::ACK) { self.dst } else { self.src };
        let client = match self.client {
            0 => u64::from(node),
            number => 1 << 16 | u64::from(number),
        };
        finish(client, salt.into())
    }

    /// Set in the number of an acknowledgement that tells of a window; the rest is the window.
    const TELLS: u32 = 1 << 31;

    /// The number of an acknowledgement that offers so many segments behind `ack`.
    #[inline]
    pub fn number_of_window(segments: u32) -> u32 {
        Packet::TELLS | segments
    }

    /// Segments behind `ack` that an acknowledgement offers; none: it does not tell.
    #[inline]
    pub fn window(&self) -> Option<u32> {
        let tells = self.flags.has(Flags::TO_SOURCE) && self.seq & Packet::TELLS != 0;
        tells.then_some(self.seq & !Packet::TELLS)
    }

    /// Its number, if that is not a window: of a data segment, or of parts of one; else 0.
    #[inline]
    pub fn number(&self) -> u32 {
        if self.window().is_some() { 0 } else { self.seq }
    }

    /// Where the carrier keeps the bytes of this packet; none: it has none of its own.
    #[inline]
    pub fn payload(&self) -> Option<u32> {
        match self.ext {
            Ext::Datagram { payload, .. } => Some(payload),
            _ => None,
        }
    }

    #[inline]
    fn mixed(&self, salt: u64) -> u64 {
        let ends = u64::from(self.src) << 48 | u64::from(self.dst) << 32 | u64::from(self.flow);
        finish(ends, salt)
    }
}

/// The finisher of SplitMix64 (Steele, Lea and Flood 2014).
#[inline]
fn finish(of: u64, salt: u64) -> u64 {
    let mut mixed = of.wrapping_add(salt.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

const _: () = assert!(size_of::<Packet>() == 64);

#[cfg(test)]
mod tests {
    use super::*;

    /// Offsets up to 100 Gbit/s and 200 ms (1,666,667 segments of 1500 bytes) and up to the
    /// largest, in each of the four positions, with and without a returned field.
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
