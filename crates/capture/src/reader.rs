//! Reading a capture: from its bytes to its flows.

use crate::connection::Connections;
use crate::exchange::Exchanges;
use crate::file::{Format, Item, Step};
use crate::flow::{Error, Flows, Skipped};
use crate::packet::{self, Carried};
use crate::reason::Reason;

/// Reads a capture that arrives in pieces.
#[derive(Debug, Default)]
pub struct Reader {
    format: Format,
    /// Bytes that do not form a complete record yet.
    buffer: Vec<u8>,
    /// Offset of the buffer's first byte in the file.
    at: u64,
    packets: u64,
    bytes: u64,
    /// Whether there was a packet of a connection.
    any: bool,
    /// Times of the earliest and the latest packet.
    span: Option<(u64, u64)>,
    connections: Connections,
    exchanges: Exchanges,
    broken: Option<String>,
}

impl Reader {
    /// A reader at the beginning of a file.
    pub fn new() -> Reader {
        Reader::default()
    }

    /// Adds the next bytes of the file; returns whether more are wanted.
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
        self.connections.skip(Reason::Broken, 0);
    }

    fn take(&mut self, item: &Item<'_>) {
        let record = match item {
            Item::Packet(record) => record,
            Item::Nothing => return,
            Item::Skipped(reason) => {
                self.packets += 1;
                return self.connections.skip(*reason, 0);
            }
        };
        let bytes = u64::from(record.wire_len);
        self.packets += 1;
        self.bytes += bytes;
        let (first, last) = self.span.unwrap_or((record.ns, record.ns));
        self.span = Some((first.min(record.ns), last.max(record.ns)));
        let carried = packet::carried(record);
        self.any |= carried.is_ok();
        match carried {
            Ok(Carried::Tcp(segment)) => self.connections.take(&segment, record.ns, bytes),
            Ok(Carried::Quic(datagram)) => {
                if !self.exchanges.take(&datagram, record.ns) {
                    self.connections.skip(Reason::TooMany, bytes);
                }
            }
            Err(reason) => self.connections.skip(reason, bytes),
        }
    }

    /// Ends the file and returns its flows.
    ///
    /// # Errors
    /// The capture has no flows; see [`Error`].
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
        let (first, last) = self.span.unwrap_or_default();
        let (others, without) = self.exchanges.finish(last);
        for _ in 0..without {
            self.connections.skip(Reason::NoData, 0);
        }
        let (flows, skipped) = self.connections.finish(others, first);
        if !self.any {
            let mut found = format!("{} packets", self.packets);
            for Skipped { reason, count, .. } in &skipped {
                found.push_str(&format!("; {reason}: {count}"));
            }
            return Err(Error::NoConnections(found));
        }
        let Reader { packets, bytes, broken, .. } = self;
        Ok(Flows { flows, skipped, packets, bytes, span_ns: last - first, broken })
    }
}

/// The flows of a capture in memory.
///
/// # Errors
/// See [`Error`].
pub fn read(capture: &[u8]) -> Result<Flows, Error> {
    let mut reader = Reader::new();
    // in pieces, to avoid a second copy of the whole
    for piece in capture.chunks(1 << 20) {
        if !reader.feed(piece)? {
            break;
        }
    }
    reader.finish()
}
