//! A handshake of the shape of TLS 1.3, without secrets.
//!
//! Messages go in the flights of TLS 1.3 (RFC 8446, 2) and are as long as those of rustls with the
//! certificate of this crate, so that the handshake needs as many packets; packets carry a tag of
//! 16 bytes, as with AES-GCM. Nothing is encrypted.

use std::any::Any;
use std::sync::Arc;

use super::proto::crypto::{
    ClientConfig, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, ServerConfig,
    Session,
};
use super::proto::transport_parameters::TransportParameters;
use super::proto::{Id, Side, TransportError, malformed};

/// Bytes of the messages, the transport parameters included.
const CLIENT_HELLO: usize = 300;
const SERVER_HELLO: usize = 90;
/// From EncryptedExtensions to Finished.
const SERVER_REST: usize = 2_487;
const CLIENT_FINISHED: usize = 52;
/// Two tickets, as those of rustls.
const TICKETS: usize = 178;
/// Bytes of a packet's tag, and of what header protection would sample.
pub(super) const TAG: usize = 16;

/// What makes the handshakes of clients, and of servers.
pub(super) type Sides = (Arc<dyn ClientConfig>, Arc<dyn ServerConfig>);

/// The configuration of either side.
pub(super) struct Plain;

/// A handshake at one side.
pub(super) struct Handshake {
    side: Side,
    /// What this side tells of itself.
    own: Vec<u8>,
    /// Bytes that have come of the peer's messages.
    come: Vec<u8>,
    /// Flights of this side that were written.
    written: u32,
}

impl Handshake {
    pub(super) fn new(side: Side, parameters: &TransportParameters) -> Handshake {
        let mut own = vec![0; 2];
        parameters.write(&mut own);
        let length = own.len() as u16 - 2;
        own[..2].copy_from_slice(&length.to_be_bytes());
        Handshake { side, own, come: Vec::new(), written: 0 }
    }

    /// A message of so many bytes that begins with this side's parameters.
    fn write_parameters(&self, length: usize, buf: &mut Vec<u8>) {
        let start = buf.len();
        buf.extend_from_slice(&self.own);
        buf.resize(start + length.max(self.own.len()), 0);
    }

    /// Where the peer's parameters are, and how long its message with them is.
    fn expected(&self) -> (usize, usize) {
        match self.side {
            Side::Client => (SERVER_HELLO, SERVER_REST),
            Side::Server => (0, CLIENT_HELLO),
        }
    }

    /// Bytes of the peer's parameters, once they have come.
    fn parameters(&self) -> Option<&[u8]> {
        let rest = self.come.get(self.expected().0..)?;
        let (length, rest) = rest.split_first_chunk::<2>()?;
        rest.get(..usize::from(u16::from_be_bytes(*length)))
    }

    /// Whether the whole flight with the peer's parameters has come.
    fn has_flight(&self) -> bool {
        let (before, length) = self.expected();
        let least = self.parameters().map_or(length, |own| length.max(own.len() + 2));
        self.come.len() >= before + least
    }
}

impl Session for Handshake {
    fn initial_keys(&self, _: Id<'_>, _: Side) -> Keys {
        keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        match self.side {
            Side::Client => self.written < 3,
            Side::Server => {
                let hello = self.parameters().map_or(0, |own| CLIENT_HELLO.max(own.len() + 2));
                self.written < 2 || self.come.len() < hello + CLIENT_FINISHED
            }
        }
    }

    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        self.come.extend_from_slice(bytes);
        Ok(false)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let Some(mut bytes) = self.parameters() else { return Ok(None) };
        let read = TransportParameters::read(self.side, &mut bytes);
        read.map(Some).map_err(|error| malformed(error.to_string()))
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        let (flight, new_keys) = match (self.side, self.written) {
            (Side::Client, 0) => (Some(CLIENT_HELLO), false),
            (Side::Client, 1) if self.come.len() >= SERVER_HELLO => (None, true),
            (Side::Client, 2) if self.has_flight() => {
                buf.resize(buf.len() + CLIENT_FINISHED, 0);
                (None, true)
            }
            (Side::Server, 0) if self.has_flight() => {
                buf.resize(buf.len() + SERVER_HELLO, 0);
                (None, true)
            }
            (Side::Server, 1) => (Some(SERVER_REST), true),
            (Side::Server, 2) if !self.is_handshaking() => {
                buf.resize(buf.len() + TICKETS, 0);
                (None, false)
            }
            _ => return None,
        };
        if let Some(length) = flight {
            self.write_parameters(length, buf);
        }
        self.written += 1;
        new_keys.then(keys)
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(KeyPair { local: Box::new(PlainKey), remote: Box::new(PlainKey) })
    }

    fn is_valid_retry(&self, _: Id<'_>, _: &[u8], _: &[u8]) -> bool {
        false
    }

    fn export_keying_material(
        &self,
        _: &mut [u8],
        _: &[u8],
        _: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}

pub(super) fn keys() -> Keys {
    Keys {
        header: KeyPair { local: Box::new(PlainKey), remote: Box::new(PlainKey) },
        packet: KeyPair { local: Box::new(PlainKey), remote: Box::new(PlainKey) },
    }
}

/// A key that changes nothing.
pub(super) struct PlainKey;

impl HeaderKey for PlainKey {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}

    fn encrypt(&self, _: usize, _: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        TAG
    }
}
