//! The reset that tells the initiator of a session that it was refused.
//!
//! A refused SYN is answered as if no process listened (RFC 9293, 3.5.2 and 3.10.7.1): `SEQ = 0,
//! ACK = SEG.SEQ + SEG.LEN`, where the SYN counts as one, and so does a FIN. A refused SYN+ACK is
//! answered towards the initiator, its destination. The initiator accepts a reset that acknowledges
//! its SYN (3.10.7.3), as the SYN+ACK did, so the reset has the same `SEQ` and `ACK`. In both cases
//! the reset goes to the initiator, with the other end as its source.

use std::net::IpAddr;

use etherparse::PacketBuilder;
use thiserror::Error;

use crate::packet::Flags;

use super::ip::Headers;

/// TTL of the reset.
const HOPS: u8 = 64;

/// Why a packet gets no reset.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Unanswered {
    /// It does not open a session.
    #[error("it does not open a TCP connection: only a SYN or a SYN+ACK is answered")]
    NotOpening,
    /// Its source or destination is not a single host (RFC 1122, 4.2.3.10).
    #[error("one of its addresses is not that of one host")]
    NotOneHost,
}

/// The reset for the packet that opens a session, as a whole IP packet.
///
/// # Errors
/// If the packet must not be answered.
pub fn reset(refused: &Headers) -> Result<Vec<u8>, Unanswered> {
    let record = &refused.record;
    let (true, false, Some((from, to))) =
        (record.flags.has(Flags::SYN), record.flags.has(Flags::RST), refused.ports)
    else {
        return Err(Unanswered::NotOpening);
    };
    let answers = record.flags.has(Flags::ACK);
    let (source, destination, ports, seq, ack) = if answers {
        (refused.source, refused.destination, (from, to), record.seq, record.ack)
    } else {
        let fin = u32::from(record.flags.has(Flags::FIN));
        let next = record.seq.wrapping_add(1 + fin + refused.data_bytes);
        (refused.destination, refused.source, (to, from), 0, next)
    };
    if !one_host(source) || !one_host(destination) {
        return Err(Unanswered::NotOneHost);
    }
    let ip = match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            PacketBuilder::ipv4(source.octets(), destination.octets(), HOPS)
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            PacketBuilder::ipv6(source.octets(), destination.octets(), HOPS)
        }
        // both addresses of a packet have the same version
        _ => return Err(Unanswered::NotOneHost),
    };
    let segment = ip.tcp(ports.0, ports.1, seq, 0).rst().ack(ack);
    let mut bytes = Vec::with_capacity(segment.size(0));
    // writing to memory cannot fail, and the payload is short enough
    let written = segment.write(&mut bytes, &[]);
    debug_assert!(written.is_ok(), "{written:?}");
    Ok(bytes)
}

fn one_host(address: IpAddr) -> bool {
    let broadcast = matches!(address, IpAddr::V4(v4) if v4.is_broadcast());
    !(address.is_unspecified() || address.is_multicast() || broadcast)
}
