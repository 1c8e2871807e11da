//! The crate, and where it is not as quinn's.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
pub(super) use noq_proto::*;

use crate::draws::Draws;

pub(super) type Id<'a> = ConnectionId;

pub(super) fn endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(config, server, false)
}

pub(super) fn draw_ids(config: &mut EndpointConfig, ids: Draws) {
    config.cid_generator(Arc::new(move || Box::new(ids.clone())));
}

/// Hands in data; returns how much of it was taken.
pub(super) fn write(stream: &mut SendStream<'_>, data: Bytes) -> Option<usize> {
    stream.write_chunks(&mut &mut [data][..]).ok()
}

pub(super) fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    remote: SocketAddr,
    codepoint: Option<EcnCodepoint>,
    bytes: BytesMut,
    answer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, FourTuple::new(remote, None), codepoint, bytes, answer)
}

pub(super) fn transmit(
    connection: &mut Connection,
    now: Instant,
    datagram: &mut Vec<u8>,
) -> Option<Transmit> {
    connection.poll_transmit(now, NonZeroUsize::MIN, datagram)
}

pub(super) fn window(connection: &Connection) -> Option<u64> {
    Some(connection.congestion_state(PathId::ZERO)?.window())
}

pub(super) fn srtt(connection: &Connection) -> Option<Duration> {
    connection.rtt(PathId::ZERO)
}

pub(super) fn lost(connection: &mut Connection) -> u64 {
    connection.path_stats(PathId::ZERO).map_or(0, |path| path.lost_packets)
}

pub(super) fn malformed(reason: String) -> TransportError {
    TransportError::new(TransportErrorCode::TRANSPORT_PARAMETER_ERROR, reason)
}
