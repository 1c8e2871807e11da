//! How quinn is set up at either end.

use std::sync::Arc;

use quinn::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use quinn::rustls::{self, RootCertStore};
use quinn::{ClientConfig, EndpointConfig, ServerConfig, TransportConfig};

use crate::Failed;

/// The name in the certificate.
pub(crate) const NAME: &str = "server.example";
/// Further names make it as long as a chain of two usual certificates.
const FURTHER_NAMES: usize = 32;
/// Bytes of a datagram.
pub(crate) const DATAGRAM: u16 = 1472;

fn transport(control: &str) -> Arc<TransportConfig> {
    let factory: Arc<dyn ControllerFactory + Send + Sync> = match control {
        "new-reno" => Arc::new(NewRenoConfig::default()),
        _ => Arc::new(CubicConfig::default()),
    };
    let mut transport = TransportConfig::default();
    transport
        .congestion_controller_factory(factory)
        .initial_mtu(DATAGRAM)
        .mtu_discovery_config(None)
        .enable_segmentation_offload(false);
    Arc::new(transport)
}

pub(crate) fn endpoint() -> EndpointConfig {
    let mut endpoint = EndpointConfig::default();
    // the range holds
    let _ = endpoint.max_udp_payload_size(DATAGRAM);
    endpoint
}

/// The server's settings, and its certificate.
pub(crate) fn server_config(control: &str) -> Result<(ServerConfig, Vec<u8>), Failed> {
    let further = |number| format!("{number:02}.one-of-many-names-that-make-this-longer.example");
    let names = std::iter::once(NAME.to_owned()).chain((0..FURTHER_NAMES).map(further));
    let own = rcgen::generate_simple_self_signed(names.collect::<Vec<_>>())?;
    let certificate = own.cert.der().to_vec();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
    let chain = vec![CertificateDer::from(certificate.clone())];
    let mut config = ServerConfig::with_single_cert(chain, key)?;
    config.transport_config(transport(control));
    Ok((config, certificate))
}

/// A client's settings: it trusts this certificate.
pub(crate) fn client_config(certificate: &[u8], control: &str) -> Result<ClientConfig, Failed> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(certificate.to_vec()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    // every handshake is a whole one
    tls.resumption = rustls::client::Resumption::disabled();
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    config.transport_config(transport(control));
    Ok(config)
}
