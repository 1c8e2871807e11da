//! The payloads of an active network.
//!
//! A passive packet between a source and a sink carries a [`FlowMessage`]:
//!
//! | byte | data                 | acknowledgement                       |
//! |------|----------------------|---------------------------------------|
//! | 0    | 0; 2: no answer wanted | 1                                   |
//! | 1-4  | number from 1 on     | next expected number                  |
//! | 5-   | padding              |                                       |
//!
//! A request for a filter ([`FilterRequest`], service 1) carries
//!
//! | byte  | content                                                                   |
//! |-------|---------------------------------------------------------------------------|
//! | 0-5   | address and port of the greedy source (GCI)                               |
//! | 6-9   | how long the requesting node filters, in ms                               |
//! | 10-17 | sequence number: microseconds since 1970 by the requester's clock, always increasing |
//! | 18-33 | the first 16 bytes of HMAC-SHA256 over [`signed_part`](super::signed_part) |
//!
//! A packet that records its route ([`Trace`], service 2 outbound, 3 on its return) carries
//!
//! | byte    | content                                                                |
//! |---------|------------------------------------------------------------------------|
//! | 0       | 0: only the destination answers; 1: every hop answers                  |
//! | 1       | number of hops that follow, 14 bytes each                              |
//! | 0-5     | address and port of the node                                           |
//! | 6-11    | arrival time, in microseconds since 1970 by the clock of the node      |
//! | 12-13   | packets waiting in the queue towards the next hop                      |

use super::{Address, FormatError, MOST_PAYLOAD, take};

/// Length of an authentication code in bytes.
pub const TAG: usize = 16;
/// Most hops that one packet can record.
pub const MOST_HOPS: usize = (MOST_PAYLOAD - 2) / HOP;

const HOP: usize = 14;
const FILTER: usize = 18;

/// Types of service (TOS) that are built in.
pub mod service {
    /// Filter packets of an origin.
    pub const FILTER: u16 = 1;
    /// Record the route, outbound.
    pub const TRACE: u16 = 2;
    /// The recorded route, on its return.
    pub const TRACED: u16 = 3;
}

/// A message between a source and its sink.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlowMessage {
    /// Data. Numbers start at 1; the sink acknowledges it if the source asks for it.
    Data {
        /// Its number.
        number: u32,
        /// Whether the source wants an acknowledgement.
        answer: bool,
    },
    /// Everything below `next` has arrived.
    Ack {
        /// The next number that is expected.
        next: u32,
    },
}

impl FlowMessage {
    /// Encodes the payload, padded to `bytes` (never fewer than it takes).
    pub fn encode(self, bytes: usize) -> Vec<u8> {
        let (kind, number) = match self {
            FlowMessage::Data { number, answer } => (if answer { 0 } else { 2 }, number),
            FlowMessage::Ack { next } => (1, next),
        };
        let mut payload = vec![0; bytes.max(5)];
        payload[0] = kind;
        payload[1..5].copy_from_slice(&number.to_be_bytes());
        payload
    }

    /// Decodes a payload.
    ///
    /// # Errors
    /// Why it cannot be decoded.
    pub fn decode(payload: &[u8]) -> Result<FlowMessage, FormatError> {
        let number = u32::from_be_bytes(take(payload, 1)?);
        match payload[0] {
            kind @ (0 | 2) => Ok(FlowMessage::Data { number, answer: kind == 0 }),
            1 => Ok(FlowMessage::Ack { next: number }),
            _ => Err(FormatError::Field),
        }
    }
}

/// A request to filter, without its authentication code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FilterRequest {
    /// The origin whose packets are to be filtered.
    pub origin: Address,
    /// How long the requesting node filters, in ms.
    pub lasts_ms: u32,
    /// Later requests have higher numbers.
    pub sequence: u64,
}

impl FilterRequest {
    /// The payload up to the authentication code, which follows it.
    pub fn encode(self) -> Vec<u8> {
        let mut payload = Vec::with_capacity(FILTER + TAG);
        payload.extend_from_slice(&self.origin.bytes());
        payload.extend_from_slice(&self.lasts_ms.to_be_bytes());
        payload.extend_from_slice(&self.sequence.to_be_bytes());
        payload
    }

    /// Decodes a payload into the request, the signed part and the code.
    ///
    /// # Errors
    /// Why it cannot be decoded.
    pub fn decode(payload: &[u8]) -> Result<(FilterRequest, &[u8], [u8; TAG]), FormatError> {
        let tag = take(payload, FILTER)?;
        if payload.len() != FILTER + TAG {
            return Err(FormatError::Length { said: FILTER + TAG, have: payload.len() });
        }
        let filter = FilterRequest {
            origin: Address::of(take(payload, 0)?),
            lasts_ms: u32::from_be_bytes(take(payload, 6)?),
            sequence: u64::from_be_bytes(take(payload, 10)?),
        };
        Ok((filter, &payload[..FILTER], tag))
    }
}

/// A hop of a [`Trace`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Hop {
    /// The node.
    pub node: Address,
    /// Arrival time, in microseconds since 1970 by the node's clock; 48 bits.
    pub at_us: u64,
    /// Packets waiting in the queue towards the next hop.
    pub queue_packets: u16,
}

/// A packet that records its route.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// Whether every hop answers, or the destination alone.
    pub every_hop: bool,
    /// The hops so far, in order; at most [`MOST_HOPS`].
    pub hops: Vec<Hop>,
}

impl Trace {
    /// The payload; hops beyond [`MOST_HOPS`] are left out.
    pub fn encode(&self) -> Vec<u8> {
        let hops = &self.hops[..self.hops.len().min(MOST_HOPS)];
        let mut payload = Vec::with_capacity(2 + HOP * hops.len());
        payload.extend_from_slice(&[u8::from(self.every_hop), hops.len() as u8]);
        for hop in hops {
            payload.extend_from_slice(&hop.node.bytes());
            payload.extend_from_slice(&hop.at_us.to_be_bytes()[2..]);
            payload.extend_from_slice(&hop.queue_packets.to_be_bytes());
        }
        payload
    }

    /// Decodes a payload.
    ///
    /// # Errors
    /// Why it cannot be decoded.
    pub fn decode(payload: &[u8]) -> Result<Trace, FormatError> {
        let [mode, count] = take(payload, 0)?;
        let said = 2 + HOP * usize::from(count);
        if mode > 1 || usize::from(count) > MOST_HOPS {
            return Err(FormatError::Field);
        }
        if payload.len() != said {
            return Err(FormatError::Length { said, have: payload.len() });
        }
        let hop = |at: usize| -> Result<Hop, FormatError> {
            let [a, b, c, d, e, f] = take(payload, at + 6)?;
            Ok(Hop {
                node: Address::of(take(payload, at)?),
                at_us: u64::from_be_bytes([0, 0, a, b, c, d, e, f]),
                queue_packets: u16::from_be_bytes(take(payload, at + 12)?),
            })
        };
        let hops = (0..usize::from(count)).map(|i| hop(2 + HOP * i)).collect::<Result<_, _>>()?;
        Ok(Trace { every_hop: mode == 1, hops })
    }
}
