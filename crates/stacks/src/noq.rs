//! noq-proto, a stack of QUIC that was forked from quinn: all that [`quinn`](crate::quinn) says
//! holds here. It uses one path, and no traversal of NAT.

#[path = "quinn/end.rs"]
mod end;
#[path = "quinn/estimator.rs"]
mod estimator;
#[path = "quinn/ids.rs"]
mod ids;
#[path = "quinn/objects.rs"]
mod objects;
#[path = "quinn/plain.rs"]
mod plain;
mod proto;
#[path = "quinn/tls.rs"]
mod tls;

use std::any::Any;
use std::time::Instant;

use bytes::BytesMut;
use noq_proto::congestion::Controller;
use noq_proto::crypto::{
    ClientConfig, CryptoError, HandshakeTokenKey, Keys, PacketKey, ServerConfig, Session,
    UnsupportedVersion,
};
use noq_proto::transport_parameters::TransportParameters;
use noq_proto::{ConnectError, RttEstimator};

pub(crate) use end::instant;
pub use end::stack;
pub(crate) use estimator::Estimator;
use estimator::Listener;
use ids::Keys as Tokens;
use plain::{Handshake, Plain, PlainKey, TAG, keys};
use proto::{ConnectionId, PathId, Side};

impl Controller for Listener {
    fn on_ack(&mut self, _: Instant, _: Instant, _: u64, _: u64, _: bool, rtt: &RttEstimator) {
        self.hear(rtt);
    }

    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: bool, _: u64, _: u64) {}

    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        u64::MAX
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        u64::MAX
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl ClientConfig for Plain {
    fn start_session(
        &self,
        _: u32,
        _: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(Handshake::new(Side::Client, parameters)))
    }
}

impl ServerConfig for Plain {
    fn initial_keys(&self, _: u32, _: ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _: u32, _: ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(&self, _: u32, parameters: &TransportParameters) -> Box<dyn Session> {
        Box::new(Handshake::new(Side::Server, parameters))
    }
}

impl PacketKey for PlainKey {
    fn encrypt(&self, _: PathId, _: u64, packet: &mut [u8], _: usize) {
        let tag = packet.len().saturating_sub(TAG);
        packet[tag..].fill(0);
    }

    fn decrypt(
        &self,
        _: PathId,
        _: u64,
        _: &[u8],
        payload: &mut BytesMut,
    ) -> Result<(), CryptoError> {
        let length = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
        payload.truncate(length);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HandshakeTokenKey for Tokens {
    fn seal(&self, _: u128, _: &mut Vec<u8>) -> Result<(), CryptoError> {
        Err(CryptoError)
    }

    fn open<'a>(&self, _: u128, _: &'a mut [u8]) -> Result<&'a [u8], CryptoError> {
        Err(CryptoError)
    }
}
