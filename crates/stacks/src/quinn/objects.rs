//! Objects over one connection, each on a stream of its own: asked for and answered on it, or in an
//! upload sent on it.
//!
//! Streams share the connection by turns, as quinn has them.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use tidegate_core::host::Heard;

use super::proto::{self, Connection, Dir, ReadError, StreamEvent, StreamId};

/// What data is made of.
pub(super) static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// What is under way on one stream.
struct Stream {
    /// Bytes that are still to be handed in.
    left: u64,
    /// Whether all was handed in: the request, or the answer.
    finished: bool,
    /// Whether something of the answer has come.
    begun: bool,
}

/// The streams of one end.
pub(super) struct Objects {
    client: bool,
    /// Whether the client sends them.
    upload: bool,
    /// Bytes of requests, or of an upload's objects, that wait for a stream.
    waiting: VecDeque<u64>,
    /// By number, which is that of the request too.
    streams: BTreeMap<u64, (StreamId, Stream)>,
    heard: VecDeque<Heard>,
    /// Bytes of answers that the client has read, or of an upload's objects that the server has.
    pub(super) delivered: u64,
}

impl Objects {
    pub(super) fn new(client: bool, upload: bool) -> Objects {
        let (waiting, heard) = (VecDeque::new(), VecDeque::new());
        Objects { client, upload, waiting, streams: BTreeMap::new(), heard, delivered: 0 }
    }

    /// What streams there are.
    fn direction(&self) -> Dir {
        if self.upload { Dir::Uni } else { Dir::Bi }
    }

    /// Whether nothing is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.streams.is_empty()
    }

    pub(super) fn heard(&mut self) -> Option<Heard> {
        self.heard.pop_front()
    }

    /// The client sends so many bytes: a request, or an object.
    pub(super) fn send(&mut self, bytes: u64, connection: &mut Connection) {
        self.waiting.push_back(bytes);
        self.open(connection);
    }

    /// The server answers the request of this number.
    pub(super) fn answer(&mut self, number: u32, bytes: u64, connection: &mut Connection) {
        if let Some((_, stream)) = self.streams.get_mut(&number.into()) {
            (stream.left, stream.finished) = (bytes, false);
            self.write(number.into(), connection);
        }
    }

    /// Something has happened to a stream.
    pub(super) fn hear(&mut self, event: &StreamEvent, connection: &mut Connection) {
        match *event {
            StreamEvent::Opened { .. } => {
                while let Some(id) = connection.streams().accept(self.direction()) {
                    let stream = Stream { left: 0, finished: true, begun: false };
                    self.streams.insert(id.index(), (id, stream));
                    self.read(id, connection);
                }
            }
            StreamEvent::Readable { id } => self.read(id, connection),
            StreamEvent::Writable { id } => self.write(id.index(), connection),
            StreamEvent::Available { .. } => self.open(connection),
            // all of an object is acknowledged
            StreamEvent::Finished { id } if self.upload => {
                self.streams.remove(&id.index());
                self.heard.push_back(Heard::Whole(id.index() as u32));
            }
            StreamEvent::Finished { .. } | StreamEvent::Stopped { .. } => {}
        }
    }

    /// Opens streams for the requests that wait, as far as the server allows.
    fn open(&mut self, connection: &mut Connection) {
        while let Some(&bytes) = self.waiting.front() {
            let Some(id) = connection.streams().open(self.direction()) else { return };
            self.waiting.pop_front();
            let stream = Stream { left: bytes, finished: false, begun: false };
            self.streams.insert(id.index(), (id, stream));
            self.write(id.index(), connection);
        }
    }

    /// Hands in as much as the stack takes. The server is done with the stream then.
    fn write(&mut self, number: u64, connection: &mut Connection) {
        let Some((id, stream)) = self.streams.get_mut(&number) else { return };
        if stream.finished {
            return;
        }
        let mut end = connection.send_stream(*id);
        while stream.left > 0 {
            let length = stream.left.min(ZEROS.len() as u64) as usize;
            let data = Bytes::from_static(&ZEROS[..length]);
            let Some(written) = proto::write(&mut end, data) else { return };
            stream.left -= written as u64;
        }
        stream.finished = end.finish().is_ok();
        if !self.client {
            self.streams.remove(&number);
        }
    }

    /// Reads what has come on a stream.
    fn read(&mut self, id: StreamId, connection: &mut Connection) {
        let Some((_, stream)) = self.streams.get_mut(&id.index()) else { return };
        let number = id.index() as u32;
        let mut end = connection.recv_stream(id);
        let Ok(mut chunks) = end.read(true) else { return };
        let mut whole = false;
        let mut bytes = 0;
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => bytes += chunk.bytes.len() as u64,
                Ok(None) => {
                    whole = true;
                    break;
                }
                Err(ReadError::Blocked | ReadError::Reset(_)) => break,
            }
        }
        let _ = chunks.finalize();
        if !self.client && !self.upload {
            self.heard.extend(whole.then_some(Heard::Asked(number)));
            return;
        }
        self.delivered += bytes;
        if self.upload {
            if whole {
                self.streams.remove(&id.index());
            }
            return;
        }
        if bytes > 0 && !stream.begun {
            stream.begun = true;
            self.heard.push_back(Heard::Begins(number));
        }
        if whole {
            self.streams.remove(&id.index());
            self.heard.push_back(Heard::Whole(number));
        }
    }
}
