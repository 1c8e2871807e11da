//! What a stack would draw at random, drawn from a seed.

use std::time::Duration;

use super::proto::crypto::{CryptoError, HmacKey};
use super::proto::{ConnectionId, ConnectionIdGenerator};
use crate::draws::{Draws, hashed};

/// Bytes of a connection ID, as quinn has them.
const ID: usize = 8;

pub(super) fn id(draws: &mut Draws) -> ConnectionId {
    ConnectionId::new(&draws.next().to_be_bytes())
}

impl ConnectionIdGenerator for Draws {
    fn generate_cid(&mut self) -> ConnectionId {
        id(self)
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
        hashed(data, signature);
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
