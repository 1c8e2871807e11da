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
/// The certificate of the simulator's servers and its key, so that handshakes are as long as there.
static CERTIFICATE: &[u8] =
    include_bytes!("../../../crates/stacks/src/quinn/certificate/certificate.der");
static KEY: &[u8] = include_bytes!("../../../crates/stacks/src/quinn/certificate/key.der");
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
pub(crate) fn server_config(control: &str) -> Result<(ServerConfig, &'static [u8]), Failed> {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(KEY));
    let mut config = ServerConfig::with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)?;
    config.transport_config(transport(control));
    Ok((config, CERTIFICATE))
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
