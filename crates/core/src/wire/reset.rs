//! The reset that tells the opener of a session that it was refused.
//!
//! A refused SYN is answered as by a host where nobody listens (RFC 9293,
//! 3.5.2 and 3.10.7.1): `SEQ = 0, ACK = SEG.SEQ + SEG.LEN`, where the SYN counts
//! as one (and a FIN with it). Of a refused SYN+ACK the opener is the end that it was going to. It
//! believes a reset that acknowledges its SYN (3.10.7.3), as the SYN+ACK did:
//! the reset has its `SEQ` and `ACK`. Either way it travels to the opener, in
//! the name of the other end.

use std::net::IpAddr;

use etherparse::PacketBuilder;
use thiserror::Error;

use crate::packet::Flags;

use super::ip::Headers;

/// Hops that the reset may go.
const HOPS: u8 = 64;

/// Why a packet is not answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Unanswered {
    /// It opens nothing.
    #[error("it does not open a TCP connection: only a SYN or a SYN+ACK is answered")]
    NotOpening,
    /// No one host sent it, or it was for no one host (RFC 1122, 4.2.3.10).
    #[error("one of its addresses is not that of one host")]
    NotOneHost,
}

/// The reset for the opener of the session that a packet opens, as a whole IP packet.
///
/// # Errors
/// If nobody is to be answered.
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
        // one packet has addresses of one kind
        _ => return Err(Unanswered::NotOneHost),
    };
    let segment = ip.tcp(ports.0, ports.1, seq, 0).rst().ack(ack);
    let mut bytes = Vec::with_capacity(segment.size(0));
    // memory takes every byte, and no payload is too long
    let written = segment.write(&mut bytes, &[]);
    debug_assert!(written.is_ok(), "{written:?}");
    Ok(bytes)
}

fn one_host(address: IpAddr) -> bool {
    let broadcast = matches!(address, IpAddr::V4(v4) if v4.is_broadcast());
    !(address.is_unspecified() || address.is_multicast() || broadcast)
}
