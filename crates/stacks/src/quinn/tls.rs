//! TLS 1.3 by rustls: the whole handshake, and packets that are protected.
//!
//! Everything that it draws at random comes from the end whose turn it is: rustls asks
//! [`Drawn`], and its key exchange is [`X25519`], as that of its provider draws from the machine.
//! Nothing else of the machine enters: the certificate is a file, its signatures need no
//! randomness, and the calendar stands still.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use rustls::client::Resumption;
use rustls::crypto::{
    ActiveKeyExchange, CryptoProvider, GetRandomFailed, SecureRandom, SharedSecret,
    SupportedKxGroup, ring,
};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, UnixTime};
use rustls::time_provider::TimeProvider;
use rustls::version::TLS13;
use rustls::{ClientConfig, Error, NamedGroup, PeerMisbehaved, RootCertStore, ServerConfig};
use tidegate_core::host::{Heard, Host, Mark, Order, Report};
use tidegate_core::units::Time;
use x25519_dalek::{X25519_BASEPOINT_BYTES, x25519};

use super::plain::Sides;
use super::proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use crate::draws::Draws;

static CERTIFICATE: &[u8] = include_bytes!("certificate/certificate.der");
static KEY: &[u8] = include_bytes!("certificate/key.der");
/// What the calendar says, in seconds since 1970: a day of 2033, at which the certificate holds.
const TODAY: u64 = 2_000_000_000;

/// Both sides' configuration.
pub(super) fn sides() -> Result<Sides, Box<dyn std::error::Error>> {
    let (kx_groups, secure_random) = (vec![&X25519 as _], &Drawn as _);
    let own = CryptoProvider { kx_groups, secure_random, ..ring::default_provider() };
    let (provider, calendar) = (Arc::new(own), Arc::new(FixedTime));
    let certificate = CertificateDer::from(CERTIFICATE);
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone())?;
    let mut client = ClientConfig::builder_with_details(provider.clone(), calendar.clone())
        .with_protocol_versions(&[&TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    // every handshake is a whole one
    client.resumption = Resumption::disabled();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(KEY));
    let mut server = ServerConfig::builder_with_details(provider, calendar)
        .with_protocol_versions(&[&TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)?;
    // what quinn sets; tickets say so, and are longer for it
    server.max_early_data_size = u32::MAX;
    let client = QuicClientConfig::try_from(client)?;
    Ok((Arc::new(client), Arc::new(QuicServerConfig::try_from(server)?)))
}

thread_local! {
    /// What the end whose turn it is draws from; none: nobody has a turn.
    static DRAWS: RefCell<Option<Draws>> = const { RefCell::new(None) };
}

/// An end that draws from its own seed what rustls asks for.
pub(super) struct Seeded<H> {
    end: H,
    draws: Option<Draws>,
}

impl<H> Seeded<H> {
    pub(super) fn new(end: H, draws: Draws) -> Seeded<H> {
        Seeded { end, draws: Some(draws) }
    }

    /// Gives it its turn.
    pub(super) fn with_turn<R>(&mut self, act: impl FnOnce(&mut H) -> R) -> R {
        let mut exchange = || DRAWS.with_borrow_mut(|drawn| std::mem::swap(drawn, &mut self.draws));
        exchange();
        let result = act(&mut self.end);
        exchange();
        result
    }
}

impl<H: Host> Host for Seeded<H> {
    fn receive(&mut self, now: Time, datagram: &[u8], mark: Mark) {
        self.with_turn(|end| end.receive(now, datagram, mark));
    }

    fn transmit(&mut self, now: Time, datagram: &mut Vec<u8>) -> Option<Mark> {
        self.with_turn(|end| end.transmit(now, datagram))
    }

    fn wake(&mut self) -> Time {
        self.end.wake()
    }

    fn slack(&self) -> Time {
        self.end.slack()
    }

    fn poll(&mut self, now: Time, order: Order) -> Report {
        self.with_turn(|end| end.poll(now, order))
    }

    fn carries_objects(&self) -> bool {
        self.end.carries_objects()
    }

    fn heard(&mut self) -> Option<Heard> {
        self.end.heard()
    }
}

/// Numbers of the end whose turn it is. Outside of a turn there are none, and rustls fails.
#[derive(Debug)]
struct Drawn;

impl SecureRandom for Drawn {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
        DRAWS.with_borrow_mut(|drawn| {
            drawn.as_mut().ok_or(GetRandomFailed)?.fill(bytes);
            Ok(())
        })
    }
}

/// X25519 (RFC 7748) with a secret that is drawn from the seed.
#[derive(Debug)]
struct X25519;

impl SupportedKxGroup for X25519 {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let mut secret = [0; 32];
        Drawn.fill(&mut secret)?;
        let public = x25519(secret, X25519_BASEPOINT_BYTES);
        Ok(Box::new(Exchange { secret, public }))
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

/// An exchange that has begun.
struct Exchange {
    secret: [u8; 32],
    public: [u8; 32],
}

impl ActiveKeyExchange for Exchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let peer = peer.try_into().map_err(|_| PeerMisbehaved::InvalidKeyShare)?;
        Ok(SharedSecret::from(&x25519(self.secret, peer)[..]))
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

/// A calendar that stands still.
#[derive(Debug)]
struct FixedTime;

impl TimeProvider for FixedTime {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::from_secs(TODAY)))
    }
}
