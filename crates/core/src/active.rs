//! The datagram of an active network (lgc, 4.1).
//!
//! Numbers are in network order, the most significant byte first.
//!
//! | byte  | field         | content                                                     |
//! |-------|---------------|-------------------------------------------------------------|
//! | 0-1   |               | 0x7467                                                      |
//! | 2     |               | 1: the version of this format                               |
//! | 3     | `active`      | bit 0: nodes are to process it (Act); the other bits are 0  |
//! | 4-9   | `source`      | IPv4 address and port of its first sender                   |
//! | 10-15 | `destination` | the same of its destination                                 |
//! | 16-21 | `previous`    | the same of the last node on its path (PrevNode)            |
//! | 22-23 | `service`     | the requested service (TOS); 0 if not active                |
//! | 24-27 | `number`      | packet number, counted by the source                        |
//! | 28-31 | `life_ms`     | remaining lifetime in ms (TTL)                              |
//! | 32-33 |               | length of the payload, which ends the datagram              |
//!
//! A node that forwards changes only `previous` and `life_ms`. The lifetime is a duration, so
//! clocks need not agree: each node subtracts the time that it held the packet.
//!
//! Departure: in the paper this header follows the IPv4 header and shares its addresses and ports;
//! here it is the content of a UDP datagram.

pub mod message;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::law::greedy::Node;

/// The first bytes of every datagram.
pub const MAGIC: u16 = 0x7467;
/// The version of the format.
pub const VERSION: u8 = 1;
/// Length of the header in bytes.
pub const HEADER: usize = 34;
/// Longest payload: the datagram fits an Ethernet frame with its IPv4 and UDP headers.
pub const MOST_PAYLOAD: usize = 1_472 - HEADER;

const PREVIOUS: usize = 16;
const LIFE: usize = 28;

/// An IPv4 address with a port: the name of a real node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Address {
    /// The address.
    pub ip: [u8; 4],
    /// The port.
    pub port: u16,
}

impl Address {
    /// The six bytes of the format.
    pub fn bytes(self) -> [u8; 6] {
        let [a, b, c, d] = self.ip;
        let [high, low] = self.port.to_be_bytes();
        [a, b, c, d, high, low]
    }

    fn of(bytes: [u8; 6]) -> Address {
        let [a, b, c, d, high, low] = bytes;
        Address { ip: [a, b, c, d], port: u16::from_be_bytes([high, low]) }
    }
}

impl From<Address> for Node {
    fn from(address: Address) -> Node {
        Node(u64::from(u32::from_be_bytes(address.ip)) << 16 | u64::from(address.port))
    }
}

impl From<Node> for Address {
    /// Bits above 48 belong to no address and are ignored.
    fn from(node: Node) -> Address {
        Address { ip: ((node.0 >> 16) as u32).to_be_bytes(), port: node.0 as u16 }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d] = self.ip;
        write!(f, "{a}.{b}.{c}.{d}:{}", self.port)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Address> for String {
    fn from(address: Address) -> String {
        address.to_string()
    }
}

impl TryFrom<String> for Address {
    type Error = String;

    fn try_from(text: String) -> Result<Address, String> {
        text.parse()
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Address, String> {
        let parsed: std::net::SocketAddrV4 = text
            .parse()
            .map_err(|_| format!("`{text}` is no address: write one as 127.0.0.1:4700"))?;
        Ok(Address { ip: parsed.ip().octets(), port: parsed.port() })
    }
}

/// The header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Header {
    /// Whether nodes are to process it (Act).
    pub active: bool,
    /// Its first sender.
    pub source: Address,
    /// Its destination.
    pub destination: Address,
    /// The last node on its path (PrevNode).
    pub previous: Address,
    /// The requested service (TOS); 0 if not active.
    pub service: u16,
    /// Packet number, counted by the source.
    pub number: u32,
    /// Remaining lifetime in ms (TTL).
    pub life_ms: u32,
}

/// A decoded datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datagram<'a> {
    /// Its header.
    pub header: Header,
    /// Its payload.
    pub payload: &'a [u8],
}

/// Why a datagram cannot be decoded or encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum FormatError {
    /// A field is truncated.
    #[error("{have} bytes, where at least {needed} are needed")]
    Cut {
        /// Bytes present.
        have: usize,
        /// Bytes needed.
        needed: usize,
    },
    /// The first bytes are not those of this format.
    #[error("it does not begin like a datagram of an active network")]
    Magic,
    /// An unknown version.
    #[error("version {0} of the format, where this is {VERSION}")]
    Version(u8),
    /// A reserved bit is set, or a passive packet requests a service.
    #[error("a field has a value without meaning")]
    Field,
    /// The length field does not match.
    #[error("it says {said} bytes of payload and has {have}")]
    Length {
        /// The length field.
        said: usize,
        /// Bytes after the header.
        have: usize,
    },
    /// The payload is longer than allowed.
    #[error("{0} bytes of payload, where {MOST_PAYLOAD} are the most")]
    TooLong(usize),
}

/// The `N` bytes at an offset, or how many bytes are needed.
pub(crate) fn take<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], FormatError> {
    let cut = FormatError::Cut { have: bytes.len(), needed: at + N };
    bytes.get(at..at + N).and_then(|part| part.try_into().ok()).ok_or(cut)
}

/// Appends a datagram to `out`.
///
/// # Errors
/// [`FormatError::TooLong`].
pub fn encode(header: &Header, payload: &[u8], out: &mut Vec<u8>) -> Result<(), FormatError> {
    if payload.len() > MOST_PAYLOAD {
        return Err(FormatError::TooLong(payload.len()));
    }
    out.reserve(HEADER + payload.len());
    out.extend_from_slice(&MAGIC.to_be_bytes());
    out.extend_from_slice(&[VERSION, u8::from(header.active)]);
    for address in [header.source, header.destination, header.previous] {
        out.extend_from_slice(&address.bytes());
    }
    out.extend_from_slice(&header.service.to_be_bytes());
    out.extend_from_slice(&header.number.to_be_bytes());
    out.extend_from_slice(&header.life_ms.to_be_bytes());
    out.extend_from_slice(&(payload.len() as u16).to_be_bytes());
    out.extend_from_slice(payload);
    Ok(())
}

/// Decodes a datagram. Encoding the result gives the same bytes.
///
/// # Errors
/// Why the bytes are not a datagram.
pub fn decode(bytes: &[u8]) -> Result<Datagram<'_>, FormatError> {
    let header: [u8; HEADER] = take(bytes, 0)?;
    if u16::from_be_bytes(take(&header, 0)?) != MAGIC {
        return Err(FormatError::Magic);
    }
    if header[2] != VERSION {
        return Err(FormatError::Version(header[2]));
    }
    let service = u16::from_be_bytes(take(&header, 22)?);
    if header[3] > 1 || (header[3] == 0 && service != 0) {
        return Err(FormatError::Field);
    }
    let (said, have) = (usize::from(u16::from_be_bytes(take(&header, 32)?)), bytes.len() - HEADER);
    if said != have {
        return Err(FormatError::Length { said, have });
    }
    if said > MOST_PAYLOAD {
        return Err(FormatError::TooLong(said));
    }
    let header = Header {
        active: header[3] == 1,
        source: Address::of(take(&header, 4)?),
        destination: Address::of(take(&header, 10)?),
        previous: Address::of(take(&header, PREVIOUS)?),
        service,
        number: u32::from_be_bytes(take(&header, 24)?),
        life_ms: u32::from_be_bytes(take(&header, LIFE)?),
    };
    Ok(Datagram { header, payload: &bytes[HEADER..] })
}

/// Updates the fields that a forwarding node changes, in a datagram that [`decode`] accepted.
pub fn forward(bytes: &mut [u8], previous: Address, life_ms: u32) {
    if bytes.len() >= HEADER {
        bytes[PREVIOUS..PREVIOUS + 6].copy_from_slice(&previous.bytes());
        bytes[LIFE..LIFE + 4].copy_from_slice(&life_ms.to_be_bytes());
    }
}

/// The bytes that a message authentication code covers: all that nodes on the path may not change,
/// so everything but `previous`, `life_ms` and the code itself.
pub fn signed_part(header: &Header, payload_before_tag: &[u8]) -> Vec<u8> {
    let mut part = Vec::with_capacity(HEADER + payload_before_tag.len());
    part.extend_from_slice(&MAGIC.to_be_bytes());
    part.extend_from_slice(&[VERSION, u8::from(header.active)]);
    part.extend_from_slice(&header.source.bytes());
    part.extend_from_slice(&header.destination.bytes());
    part.extend_from_slice(&header.service.to_be_bytes());
    part.extend_from_slice(&header.number.to_be_bytes());
    part.extend_from_slice(payload_before_tag);
    part
}

#[cfg(test)]
mod tests;
