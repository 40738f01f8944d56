//! TLS of the device listener.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use tokio_rustls::TlsAcceptor;

use crate::leaf::LeafResolver;

/// TLS 1.2 and 1.3, no client certificates, HTTP/1.1 alone: a client that offers only `h2` is refused, one that offers
/// nothing is taken.
pub(super) fn acceptor(resolver: LeafResolver) -> Result<TlsAcceptor, rustls::Error> {
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(resolver));
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
