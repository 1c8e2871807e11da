//! What quinn would draw at random, drawn from a seed.

use std::time::Duration;

use quinn_proto::crypto::{AeadKey, CryptoError, HandshakeTokenKey, HmacKey};
use quinn_proto::{ConnectionId, ConnectionIdGenerator};

/// Bytes of a connection ID, as quinn has them.
const ID: usize = 8;

/// A sequence of numbers: SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Clone)]
pub(super) struct Ids(u64);

impl Ids {
    pub(super) fn new(seed: u64) -> Ids {
        Ids(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mixed(self.0)
    }

    /// A sequence of its own.
    pub(super) fn split(&mut self) -> Ids {
        Ids(self.next())
    }

    pub(super) fn id(&mut self) -> ConnectionId {
        ConnectionId::new(&self.next().to_be_bytes())
    }

    /// The seed of a generator.
    pub(super) fn seed(&mut self) -> [u8; 32] {
        let mut seed = [0; 32];
        self.fill(&mut seed);
        seed
    }

    pub(super) fn fill(&mut self, bytes: &mut [u8]) {
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&self.next().to_le_bytes()[..part.len()]);
        }
    }
}

fn mixed(state: u64) -> u64 {
    let state = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let state = (state ^ state >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ state >> 31
}

impl ConnectionIdGenerator for Ids {
    fn generate_cid(&mut self) -> ConnectionId {
        self.id()
    }

    fn cid_len(&self) -> usize {
        ID
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// Keys of an endpoint: reset tokens are a hash of connection IDs, and there are no other tokens.
pub(super) struct Keys;

impl HmacKey for Keys {
    fn sign(&self, data: &[u8], signature: &mut [u8]) {
        let fold = |state: u64, &byte: &u8| mixed(state ^ u64::from(byte)).wrapping_add(1);
        Ids(data.iter().fold(data.len() as u64, fold)).fill(signature);
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut expected = vec![0; signature.len()];
        self.sign(data, &mut expected);
        if expected == signature { Ok(()) } else { Err(CryptoError) }
    }
}

impl HandshakeTokenKey for Keys {
    fn aead_from_hkdf(&self, _: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Keys)
    }
}

impl AeadKey for Keys {
    fn seal(&self, _: &mut Vec<u8>, _: &[u8]) -> Result<(), CryptoError> {
        Err(CryptoError)
    }

    fn open<'a>(&self, _: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        Err(CryptoError)
    }
}
