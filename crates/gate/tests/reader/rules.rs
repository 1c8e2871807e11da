//! What must hold between the kernel's reading of a packet and the simulator's.
//!
//! The kernel's may see more: it looks at no more than it needs, and asks neither for a whole
//! packet nor for lengths that agree.

use tidegate_core::packet::{Ext, Flags};
use tidegate_core::wire::ip::Reader;
use tidegate_core::wire::quic::Initial;

/// Bytes of `struct seen` in `bpf/parse.h`.
pub const SEEN: usize = 20;
/// Kinds of packets there (`enum kind`).
const TCP: u8 = 0;
const QUIC_INITIAL: u8 = 1;
const UDP: u8 = 2;
/// The shortest datagram that opens a connection (RFC 9000, 14.1).
const LEAST: usize = 1200;
/// The longest connection ID (RFC 9000, 17.2).
const LONGEST_ID: usize = 20;
/// Bytes of a UDP header.
const UDP_HEADER: usize = 8;

/// What the kernel's code says of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    l4: usize,
    udp_bytes: usize,
    kind: u8,
    flags: u8,
    ports: (u16, u16),
}

impl Seen {
    /// From the bytes of the struct.
    pub fn new(bytes: &[u8; SEEN]) -> Seen {
        let word = |at: usize| {
            u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize
        };
        let port = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        Seen {
            l4: word(4),
            udp_bytes: word(8),
            kind: bytes[12],
            flags: bytes[13],
            ports: (port(16), port(18)),
        }
    }

    /// The same where the IP packet begins so far into the frame.
    #[must_use]
    pub fn within(self, start: usize) -> Seen {
        Seen { l4: self.l4.saturating_sub(start), ..self }
    }

    /// Whether it is an Initial of QUIC.
    pub fn is_initial(&self) -> bool {
        self.kind == QUIC_INITIAL
    }

    /// Compares it with what the simulator reads of the same IP packet.
    ///
    /// # Panics
    /// If the two do not agree.
    pub fn compare(&self, ip: &[u8]) {
        let Ok(headers) = Reader::new((1, 2)).read(ip) else { return };
        let Some(ports) = headers.ports else { return };
        assert_eq!(self.ports, ports, "{self:?}");
        if headers.protocol == 6 {
            let flags = headers.record.flags;
            let told = [(0x01, Flags::FIN), (0x02, Flags::SYN), (0x04, Flags::RST)];
            let alike = told.iter().all(|&(bit, flag)| (self.flags & bit != 0) == flags.has(flag));
            assert!(self.kind == TCP && alike, "{self:?}");
            assert!(matches!(headers.record.ext, Ext::None | Ext::Rate(_)));
            return;
        }
        // a datagram that says less than its own header has no payload here
        if self.udp_bytes == 0 {
            return assert_eq!(self.kind, UDP, "{self:?}");
        }
        let from = self.l4 + UDP_HEADER;
        let payload = &ip[from..from + headers.data_bytes as usize];
        let initial = Initial::read(payload).is_some();
        if payload.len() < LEAST {
            return;
        }
        // the kernel's does not look at the lengths of connection IDs
        let kind = if initial { QUIC_INITIAL } else { self.kind };
        assert_eq!(self.kind, kind, "{self:?}");
        if self.kind == QUIC_INITIAL && !initial {
            let first = usize::from(payload[5]);
            let second = payload.get(6 + first).map_or(usize::MAX, |&length| length.into());
            assert!(first > LONGEST_ID || second > LONGEST_ID, "{self:?}");
        }
    }
}
