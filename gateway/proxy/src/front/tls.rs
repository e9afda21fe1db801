//! The certificate, read from the files that the config names.

use std::sync::Arc;

use sluice_catalog::config::Config;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// A value of the config that cannot be used.
#[derive(Debug)]
pub struct Unusable {
    /// Its key.
    pub key: &'static str,
    /// What is wrong with it and what to do, following the key.
    pub message: String,
}

/// TLS from the config, if it names a certificate.
///
/// # Errors
/// When a file cannot be read, is not what it should be, or the two do not belong together.
pub(crate) fn read(config: &Config) -> Result<Option<TlsAcceptor>, Unusable> {
    let (Some(cert), Some(key)) = (&config.server.tls_cert, &config.server.tls_key) else { return Ok(None) };
    let no_cert = |why: &dyn std::fmt::Display| Unusable {
        key: "server.tls_cert",
        message: format!(
            "names {cert}, which cannot be used: {why}. Name a PEM file with the certificate and its chain that this user may read"
        ),
    };
    let chain = CertificateDer::pem_file_iter(cert)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| no_cert(&error))?;
    if chain.is_empty() {
        return Err(no_cert(&"it holds no certificate"));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| Unusable {
        key: "server.tls_key",
        message: format!(
            "names {key}, which cannot be used: {error}. Name a PEM file with the private key, without a passphrase, that this user may read"
        ),
    })?;
    let mut tls =
        ServerConfig::builder().with_no_client_auth().with_single_cert(chain, private).map_err(|error| Unusable {
            key: "server.tls_key",
            message: format!("names {key}, which does not go with {cert}: {error}. Name the key of that certificate"),
        })?;
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Some(TlsAcceptor::from(Arc::new(tls))))
}
