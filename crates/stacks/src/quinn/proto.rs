//! The crate, and where it is not as noq's.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
pub(super) use quinn_proto::*;

use crate::draws::Draws;

pub(super) type Id<'a> = &'a ConnectionId;

pub(super) fn endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(config, server, false, None)
}

pub(super) fn draw_ids(config: &mut EndpointConfig, ids: Draws) {
    config.cid_generator(move || Box::new(ids.clone()));
}

/// Hands in data; returns how much of it was taken.
pub(super) fn write(stream: &mut SendStream<'_>, data: Bytes) -> Option<usize> {
    stream.write_chunks(&mut [data]).ok().map(|written| written.bytes)
}

pub(super) fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    remote: SocketAddr,
    codepoint: Option<EcnCodepoint>,
    bytes: BytesMut,
    answer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, remote, None, codepoint, bytes, answer)
}

pub(super) fn transmit(
    connection: &mut Connection,
    now: Instant,
    datagram: &mut Vec<u8>,
) -> Option<Transmit> {
    connection.poll_transmit(now, 1, datagram)
}

pub(super) fn window(connection: &Connection) -> Option<u64> {
    Some(connection.congestion_state().window())
}

pub(super) fn srtt(connection: &Connection) -> Option<Duration> {
    Some(connection.rtt())
}

pub(super) fn lost(connection: &mut Connection) -> u64 {
    connection.stats().path.lost_packets
}

pub(super) fn malformed(reason: String) -> TransportError {
    let code = TransportErrorCode::TRANSPORT_PARAMETER_ERROR;
    TransportError { code, frame: None, reason }
}
