//! Sorts packets into connections and measures how much each end sent.
//!
//! The stream of each end is followed by its sequence numbers, unwrapped to 64 bits (RFC 9293,
//! section 3.4). An end has sent the bytes from the start of its stream (after its SYN, or at the
//! first segment seen) to the furthest byte that was seen or acknowledged, without the sequence
//! number of a FIN. A FIN that the capture missed is known by what the other end acknowledged: one
//! number after the last byte seen; or, where more is missing, all that its own FIN acknowledged or
//! one number more. (An end that closes before the other has sent all is seen to: it acknowledges
//! more later.)

use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::flow::{CapturedFlow, Direction, Skipped, Transport};
use crate::packet::Segment;
use crate::reason::{MAX_CONNECTIONS, Reason};

/// Largest window (RFC 7323, section 2.3): two packets in flight are never further apart.
const MAX_WINDOW: i64 = 1 << 30;
/// How many bytes of a SYN's data its answer may acknowledge.
const MAX_SYN_DATA: u32 = 1 << 16;

/// What one end has sent. Positions count bytes of its stream from where the capture first saw it.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    /// The furthest sequence number known, and its position.
    furthest: Option<(u32, i64)>,
    /// Sequence number of its SYN.
    syn: Option<u32>,
    /// Start of its data: after its SYN, or the lowest of its segments.
    first: Option<i64>,
    /// Whether a segment without data told it: perhaps a keep-alive, which is one number below.
    bare: bool,
    /// End of the furthest data seen.
    seen: Option<i64>,
    /// Position of segments without data: a FIN before them is included.
    stood: Option<i64>,
    /// The first and the furthest acknowledgement of its data and its FIN.
    acked: Option<(i64, i64)>,
    /// What the FIN of the other end acknowledged.
    closing: Option<i64>,
    /// Position of its FIN.
    fin: Option<i64>,
}

impl Way {
    /// The position of a sequence number; none if it is outside of any window.
    fn position(&self, sequence: u32) -> Option<i64> {
        let Some((known, position)) = self.furthest else { return Some(0) };
        let ahead = i64::from(sequence.wrapping_sub(known) as i32);
        (ahead.abs() <= MAX_WINDOW).then_some(position + ahead)
    }

    fn reached(&mut self, sequence: u32, position: i64) {
        if self.furthest.is_none_or(|(_, furthest)| position > furthest) {
            self.furthest = Some((sequence, position));
        }
    }

    /// Records a segment that this end sent; returns whether it fits the others.
    fn sent(&mut self, segment: &Segment) -> bool {
        // a SYN takes the sequence number before the first byte
        let sequence = segment.sequence.wrapping_add(u32::from(segment.syn));
        let Some(start) = self.position(sequence) else { return false };
        let end = start + i64::from(segment.data);
        if segment.syn {
            self.syn = Some(segment.sequence);
            self.first = Some(start);
            self.bare = false;
        } else if self.syn.is_none() && segment.data > 0 {
            let first = self.first.filter(|first| !(self.bare && first + 1 == start));
            self.first = Some(first.map_or(start, |first| first.min(start)));
            self.bare = false;
        } else {
            self.bare |= self.first.is_none();
        }
        self.first.get_or_insert(start);
        let latest = if segment.data > 0 { &mut self.seen } else { &mut self.stood };
        *latest = (*latest).max(Some(end));
        if segment.fin {
            self.fin = self.fin.max(Some(end));
        }
        self.reached(sequence.wrapping_add(segment.data), end);
        true
    }

    /// Records an acknowledgement by the other end; returns whether it fits.
    fn acknowledged(&mut self, ack: u32, closes: bool) -> bool {
        let Some(position) = self.position(ack) else { return false };
        if closes {
            self.closing = self.closing.max(Some(position));
        }
        let (first, last) = self.acked.unwrap_or((position, position));
        self.acked = Some((first, last.max(position)));
        self.reached(ack, position);
        true
    }

    /// Whether `ack` acknowledges the SYN of this end.
    fn answered_by(&self, ack: u32) -> bool {
        self.syn.is_some_and(|syn| ack.wrapping_sub(syn).wrapping_sub(1) <= MAX_SYN_DATA)
    }

    /// Bytes sent, and whether the end of the stream is known.
    fn total(&self) -> (u64, bool) {
        let Some(first) = self.first.or(self.acked.map(|(first, _)| first)) else {
            return (0, false);
        };
        let seen = self.seen.map_or(first, |seen| seen.max(first));
        let acked = self.acked.map(|(_, last)| last);
        let told = acked.max(self.stood).unwrap_or(seen);
        let (end, over) = match self.fin {
            Some(fin) => (seen.max(told.min(fin)), true),
            // one number after the last byte seen: a FIN that is missing in the capture
            None if told == seen + 1 => (seen, true),
            None if told > seen && self.closing.is_some_and(|at| told - at <= 1) => {
                (told - 1, true)
            }
            None => (seen.max(told), false),
        };
        let sent = u64::try_from(end - first).unwrap_or(0);
        (if self.bare && sent == 1 { 0 } else { sent }, over)
    }
}

/// The two ends of a connection, the lower address first.
type AddressPair = [SocketAddr; 2];

/// A connection so far. An end is identified by its index in [`AddressPair`].
#[derive(Clone, Copy, Debug)]
struct Connection {
    /// Time of its earliest packet.
    start_ns: u64,
    /// What each end has sent.
    ways: [Way; 2],
    /// The end that sent the SYN, if it was seen.
    opener: Option<usize>,
    /// The end that sent the first packet seen.
    speaker: usize,
    reset: bool,
}

impl Connection {
    fn new(start_ns: u64, speaker: usize) -> Connection {
        let ways = [Way::default(); 2];
        Connection { start_ns, ways, opener: None, speaker, reset: false }
    }

    /// Whether a segment with a SYN opens a new connection between the same ends.
    fn is_other(&self, segment: &Segment, from: usize) -> bool {
        let (own, other) = (&self.ways[from], &self.ways[1 - from]);
        if own.syn == Some(segment.sequence) {
            return false;
        }
        match segment.ack {
            // an answer to the current SYN, or one that is before it in the capture
            Some(ack) => !other.answered_by(ack),
            None => {
                let answered = own.acked.map(|(first, _)| first);
                let start = own.position(segment.sequence.wrapping_add(1));
                own.syn.is_some() || other.syn.is_none() || answered != start
            }
        }
    }

    /// Adds a segment from one of the ends; returns whether it fits the earlier ones.
    fn take(&mut self, segment: &Segment, from: usize) -> bool {
        if segment.rst {
            // its numbers follow other rules, and it adds nothing
            self.reset = true;
            return true;
        }
        if segment.syn {
            let own = &mut self.ways[from];
            if own.syn.is_some_and(|syn| syn != segment.sequence) {
                // a server that forgot its first answer has sent another one
                *own = Way::default();
            }
            let opener = if segment.ack.is_some() { 1 - from } else { from };
            self.opener.get_or_insert(opener);
        }
        let sent = self.ways[from].sent(segment);
        let other = &mut self.ways[1 - from];
        let fits = segment.ack.is_none_or(|ack| other.acknowledged(ack, segment.fin));
        sent && fits
    }

    /// The result for the connection; none if no data was sent.
    fn flow(&self, ends: &AddressPair) -> Option<CapturedFlow> {
        let client = self.opener.unwrap_or(match ends[0].port().cmp(&ends[1].port()) {
            std::cmp::Ordering::Greater => 0,
            std::cmp::Ordering::Less => 1,
            std::cmp::Ordering::Equal => self.speaker,
        });
        let (up, down) = (self.ways[client].total(), self.ways[1 - client].total());
        let (direction, most, least) = if up.0 > down.0 {
            (Direction::Upload, up, down)
        } else {
            (Direction::Download, down, up)
        };
        (most.0 > 0).then_some(CapturedFlow {
            start_ns: self.start_ns,
            size_bytes: most.0,
            other_bytes: least.0,
            direction,
            client: ends[client],
            server: ends[1 - client],
            closed: most.1 || self.reset,
            transport: Transport::Tcp,
        })
    }
}

/// The connections of a capture.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    open: BTreeMap<AddressPair, Connection>,
    /// Finished connections: their ends have opened another one since.
    over: Vec<CapturedFlow>,
    /// What was left out: how many, and their bytes.
    skipped: BTreeMap<Reason, (u64, u64)>,
}

impl Connections {
    /// Counts a packet or connection that is left out.
    pub fn skip(&mut self, reason: Reason, bytes: u64) {
        let so_far = self.skipped.entry(reason).or_default();
        *so_far = (so_far.0 + 1, so_far.1 + bytes);
    }

    /// Adds a segment that was captured at this time, of a packet of so many bytes.
    pub fn take(&mut self, segment: &Segment, ns: u64, bytes: u64) {
        let turned = segment.from > segment.to;
        let ends = if turned { [segment.to, segment.from] } else { [segment.from, segment.to] };
        let from = usize::from(turned);
        let full = self.open.len() + self.over.len() >= MAX_CONNECTIONS;
        let Some(connection) = self.open.get_mut(&ends) else {
            if segment.rst {
                // an end without any earlier segment has nothing to end
                return;
            }
            if full {
                return self.skip(Reason::TooMany, bytes);
            }
            let mut connection = Connection::new(ns, from);
            connection.take(segment, from);
            self.open.insert(ends, connection);
            return;
        };
        if segment.syn && !segment.rst && connection.is_other(segment, from) {
            let before = std::mem::replace(connection, Connection::new(ns, from));
            connection.take(segment, from);
            match before.flow(&ends) {
                Some(_) if full => self.skip(Reason::TooMany, bytes),
                Some(flow) => self.over.push(flow),
                None => self.skip(Reason::NoData, 0),
            }
        } else if connection.take(segment, from) {
            connection.start_ns = connection.start_ns.min(ns);
        } else {
            self.skip(Reason::OutsideWindow, bytes);
        }
    }

    /// All connections with data, with `others`, ordered by start, and what was left out. Times
    /// count from that of the earliest packet of the capture.
    pub fn finish(
        mut self,
        others: Vec<CapturedFlow>,
        earliest_ns: u64,
    ) -> (Vec<CapturedFlow>, Vec<Skipped>) {
        let mut flows = others;
        flows.append(&mut self.over);
        for (ends, connection) in std::mem::take(&mut self.open) {
            match connection.flow(&ends) {
                Some(flow) => flows.push(flow),
                None => self.skip(Reason::NoData, 0),
            }
        }
        for flow in &mut flows {
            flow.start_ns -= earliest_ns;
        }
        flows.sort_by_key(|flow| (flow.start_ns, flow.client, flow.server));
        let skipped = self.skipped.into_iter();
        (flows, skipped.map(|(reason, (count, bytes))| Skipped { reason, count, bytes }).collect())
    }
}
