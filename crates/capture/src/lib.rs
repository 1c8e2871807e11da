//! TCP connections of a packet capture: when each began, how much it carried, and which way.
//!
//! A [`Reader`] is fed with the bytes of a capture (pcap or pcapng, as tcpdump
//! and Wireshark write them), in pieces of any size, and ends in [`Flows`].
//! It opens no file, and its memory is bounded whatever it is fed with.
//!
//! Bytes are told by sequence numbers, not by lengths of packets: a segment
//! that is sent twice counts once, and neither a snap length that cuts packets
//! short nor a packet that the capture missed changes the sum.

mod connection;
mod file;
mod packet;
mod reason;

use std::net::SocketAddr;

use connection::Connections;
use file::{Format, Item, Step};
pub use reason::Reason;

/// Most connections that are followed: it bounds the memory that reading takes.
pub const MAX_CONNECTIONS: usize = 1_000_000;

/// Why a file gives no flows.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// It begins like no capture.
    #[error("this is not a packet capture: it begins with {}", shown(.0))]
    NotACapture(Vec<u8>),
    /// There is nothing in it.
    #[error("this is not a packet capture: it is empty")]
    Empty,
    /// It ends before the first packet could begin.
    #[error("the capture ends within its header")]
    NoHeader,
    /// There are no TCP segments in it; what there is instead.
    #[error("there is no TCP in this capture: {0}")]
    NoTcp(String),
}

/// The first bytes of a file, as numbers and, where they can be read, as text.
fn shown(bytes: &[u8]) -> String {
    let numbers: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let numbers = numbers.join(" ");
    if bytes.iter().all(|byte| (b' '..=b'~').contains(byte)) {
        return format!("{numbers} ({:?})", String::from_utf8_lossy(bytes));
    }
    numbers
}

/// Which end of a connection sent more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Direction {
    /// The client.
    Upload,
    /// The server.
    Download,
}

/// One TCP connection that carried data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flow {
    /// Its first packet, in nanoseconds after the first packet of the capture.
    pub start_ns: u64,
    /// Bytes that the end which sent more has sent, each counted once.
    pub size_bytes: u64,
    /// Bytes that the other end has sent.
    pub other_bytes: u64,
    /// Which end sent more.
    pub direction: Direction,
    /// The end that sent the SYN; where none was seen, the one with the higher port.
    pub client: SocketAddr,
    /// The other end.
    pub server: SocketAddr,
    /// Whether the end of the transfer is in the capture: the FIN of the end
    /// that sent more, or a reset.
    pub closed: bool,
}

/// What a capture holds.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Flows {
    /// Connections with data, by start.
    pub flows: Vec<Flow>,
    /// What was left out: how much of it, and why.
    pub skipped: Vec<(Reason, u64)>,
    /// Packets that were read.
    pub packets: u64,
    /// From the first packet to the last, in nanoseconds.
    pub span_ns: u64,
    /// Why reading ended before the end of the file, if it did.
    pub broken: Option<String>,
}

/// Reads a capture that comes in pieces.
#[derive(Debug, Default)]
pub struct Reader {
    format: Format,
    /// What does not make a whole record yet.
    buffer: Vec<u8>,
    /// Place of the buffer's first byte in the file.
    at: u64,
    packets: u64,
    segments: u64,
    /// Times of the first and of the latest packet.
    span: Option<(u64, u64)>,
    connections: Connections,
    broken: Option<String>,
}

impl Reader {
    /// A reader at the beginning of a file.
    pub fn new() -> Reader {
        Reader::default()
    }

    /// Takes the next bytes of the file; whether more are wanted.
    ///
    /// # Errors
    /// [`Error::NotACapture`].
    pub fn feed(&mut self, bytes: &[u8]) -> Result<bool, Error> {
        if self.broken.is_some() {
            return Ok(false);
        }
        self.buffer.extend_from_slice(bytes);
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut rest = buffer.as_slice();
        loop {
            match self.format.step(rest)? {
                Step::More => break,
                Step::Took(length, item) => {
                    let length = length.min(rest.len());
                    rest = &rest[length..];
                    self.at += length as u64;
                    self.take(&item);
                }
                Step::Broken(why) => {
                    self.stop(why);
                    return Ok(false);
                }
            }
        }
        let used = buffer.len() - rest.len();
        buffer.drain(..used);
        self.buffer = buffer;
        Ok(true)
    }

    fn stop(&mut self, why: &str) {
        let (packets, at) = (self.packets, self.at);
        self.broken = Some(format!("{why} at byte {at}, after {packets} packets"));
        self.connections.skip(Reason::Broken);
    }

    fn take(&mut self, item: &Item<'_>) {
        let record = match item {
            Item::Packet(record) => record,
            Item::Nothing => return,
            Item::Skipped(reason) => {
                self.packets += 1;
                return self.connections.skip(*reason);
            }
        };
        self.packets += 1;
        let (first, last) = self.span.unwrap_or((record.ns, record.ns));
        self.span = Some((first, last.max(record.ns)));
        match packet::segment(record) {
            Ok(segment) => {
                self.segments += 1;
                self.connections.take(&segment, record.ns.saturating_sub(first));
            }
            Err(reason) => self.connections.skip(reason),
        }
    }

    /// The file has no more bytes: what was found in it.
    ///
    /// # Errors
    /// There was nothing to be found; see [`Error`].
    pub fn finish(mut self) -> Result<Flows, Error> {
        if !self.format.is_known() {
            return Err(match self.buffer.as_slice() {
                [] => Error::Empty,
                begun if Format::could_begin(begun) => Error::NoHeader,
                other => Error::NotACapture(other.to_vec()),
            });
        }
        if self.broken.is_none() && !self.buffer.is_empty() {
            self.stop("the file is cut off in the middle of a record");
        }
        let span_ns = self.span.map_or(0, |(first, last)| last - first);
        let (flows, skipped) = self.connections.finish();
        if self.segments == 0 {
            let mut found = format!("{} packets", self.packets);
            for (reason, count) in &skipped {
                found.push_str(&format!("; {reason}: {count}"));
            }
            return Err(Error::NoTcp(found));
        }
        let packets = self.packets;
        Ok(Flows { flows, skipped, packets, span_ns, broken: self.broken })
    }
}

/// The flows of a capture that is at hand as a whole.
///
/// # Errors
/// See [`Error`].
pub fn read(capture: &[u8]) -> Result<Flows, Error> {
    let mut reader = Reader::new();
    // in pieces, so that no second copy of the whole is made
    for piece in capture.chunks(1 << 20) {
        if !reader.feed(piece)? {
            break;
        }
    }
    reader.finish()
}
