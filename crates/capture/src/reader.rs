//! Reading a capture: from its bytes to its flows.

use crate::connection::Connections;
use crate::file::{Format, Item, Step};
use crate::flow::{Error, Flows};
use crate::packet;
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
    segments: u64,
    /// Times of the first and the latest packet.
    span: Option<(u64, u64)>,
    connections: Connections,
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
