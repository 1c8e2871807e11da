//! quinn-proto, a stack of QUIC.
//!
//! Each end has an endpoint and one connection of its own. An upload is one stream of the client's;
//! a download is the answer to a short request. The client closes the connection when the transfer
//! is complete. A connection of a user's carries any number of objects ([`objects`]).
//!
//! Packets carry no secrets and are as long as with TLS 1.3 ([`plain`]), or are protected by
//! it ([`tls`]). The path is known to carry full packets, so none are sent to find that out.
//! Everything else is as quinn sets it.

mod end;
mod estimator;
mod ids;
mod objects;
mod plain;
mod proto;
mod tls;

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use quinn_proto::congestion::Controller;
use quinn_proto::crypto::{
    AeadKey, ClientConfig, CryptoError, HandshakeTokenKey, Keys, PacketKey, ServerConfig, Session,
    UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, RttEstimator};

pub(crate) use end::instant;
pub use end::stack;
pub(crate) use estimator::Estimator;
use estimator::Listener;
use ids::Keys as Tokens;
use plain::{Handshake, Plain, PlainKey, TAG, keys};
use proto::{ConnectionId, Side};

impl Controller for Listener {
    fn on_ack(&mut self, _: Instant, _: Instant, _: u64, _: bool, rtt: &RttEstimator) {
        self.hear(rtt);
    }

    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}

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
        self: Arc<Self>,
        _: u32,
        _: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(Handshake::new(Side::Client, parameters)))
    }
}

impl ServerConfig for Plain {
    fn initial_keys(&self, _: u32, _: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(
        self: Arc<Self>,
        _: u32,
        parameters: &TransportParameters,
    ) -> Box<dyn Session> {
        Box::new(Handshake::new(Side::Server, parameters))
    }
}

impl PacketKey for PlainKey {
    fn encrypt(&self, _: u64, packet: &mut [u8], _: usize) {
        let tag = packet.len().saturating_sub(TAG);
        packet[tag..].fill(0);
    }

    fn decrypt(&self, _: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
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
    fn aead_from_hkdf(&self, _: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Tokens)
    }
}

impl AeadKey for Tokens {
    fn seal(&self, _: &mut Vec<u8>, _: &[u8]) -> Result<(), CryptoError> {
        Err(CryptoError)
    }

    fn open<'a>(&self, _: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        Err(CryptoError)
    }
}
