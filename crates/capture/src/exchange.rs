//! Connections of QUIC, as far as their headers tell.
//!
//! All but ports, lengths and the kind of the header is encrypted (RFC 9001). So the bytes of an end
//! are estimated: of each packet with a short header that is more than an acknowledgement, what is
//! left without [`OVERHEAD`]. What was sent again counts again, and the handshake does not count.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::flow::{CapturedFlow, Direction, Transport};
use crate::packet::{Datagram, HTTPS};
use crate::reason::MAX_CONNECTIONS;

/// What is no data in a packet of data: flags, a connection ID of 4 bytes on average, a packet number
/// of 2 (RFC 9000, 17.3.1), 16 bytes of authentication (RFC 9001, 5.3), and 7 of a STREAM frame
/// (RFC 9000, 19.8).
const OVERHEAD: u64 = 30;
/// The longest packet that only acknowledges: [`OVERHEAD`], and an ACK frame of several ranges.
const LONGEST_ACK: u64 = 60;
/// Silence that ends a connection, ns: the idle timeout that stacks commonly offer (RFC 9000, 10.1).
const IDLE_NS: u64 = 30_000_000_000;

/// A connection so far. An end is identified by its index in the key.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    first_ns: u64,
    last_ns: u64,
    /// The end that sent the first packet seen.
    speaker: usize,
    /// Bytes of each end.
    data: [u64; 2],
}

impl Exchange {
    fn new(ns: u64, speaker: usize) -> Exchange {
        Exchange { first_ns: ns, last_ns: ns, speaker, data: [0; 2] }
    }

    /// The result for the connection; none if no data was sent.
    fn flow(&self, ends: &[SocketAddr; 2], latest_ns: u64) -> Option<CapturedFlow> {
        let client = match (ends[0].port() == HTTPS, ends[1].port() == HTTPS) {
            (true, false) => 1,
            (false, true) => 0,
            _ => self.speaker,
        };
        let (up, down) = (self.data[client], self.data[1 - client]);
        let direction = if up > down { Direction::Upload } else { Direction::Download };
        (up.max(down) > 0).then_some(CapturedFlow {
            start_ns: self.first_ns,
            size_bytes: up.max(down),
            other_bytes: up.min(down),
            direction,
            client: ends[client],
            server: ends[1 - client],
            closed: latest_ns - self.last_ns > IDLE_NS,
            transport: Transport::Quic,
        })
    }
}

/// The connections of QUIC in a capture.
#[derive(Debug, Default)]
pub(crate) struct Exchanges {
    open: BTreeMap<[SocketAddr; 2], Exchange>,
    over: Vec<([SocketAddr; 2], Exchange)>,
}

impl Exchanges {
    /// Adds a datagram that was captured at this time; returns whether there is room for it.
    pub fn take(&mut self, datagram: &Datagram, ns: u64) -> bool {
        let turned = datagram.from > datagram.to;
        let ends = if turned { [datagram.to, datagram.from] } else { [datagram.from, datagram.to] };
        let from = usize::from(turned);
        let silent = |exchange: &Exchange| ns > exchange.last_ns.saturating_add(IDLE_NS);
        let known = self.open.get(&ends).copied();
        if known.is_none_or(|exchange| silent(&exchange)) {
            if self.open.len() + self.over.len() >= MAX_CONNECTIONS {
                return false;
            }
            self.over.extend(known.map(|exchange| (ends, exchange)));
            self.open.insert(ends, Exchange::new(ns, from));
        }
        if let Some(exchange) = self.open.get_mut(&ends) {
            exchange.first_ns = exchange.first_ns.min(ns);
            exchange.last_ns = exchange.last_ns.max(ns);
            if !datagram.long && datagram.payload > LONGEST_ACK {
                exchange.data[from] += datagram.payload - OVERHEAD;
            }
        }
        true
    }

    /// All connections with data, and how many have none.
    pub fn finish(self, latest_ns: u64) -> (Vec<CapturedFlow>, usize) {
        let all = self.over.into_iter().chain(self.open);
        let found: Vec<Option<CapturedFlow>> =
            all.map(|(ends, exchange)| exchange.flow(&ends, latest_ns)).collect();
        let without = found.iter().filter(|flow| flow.is_none()).count();
        (found.into_iter().flatten().collect(), without)
    }
}
