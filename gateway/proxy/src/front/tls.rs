//! The certificate, read from the files that the config names.

use std::sync::Arc;

use sluice_catalog::config::Config;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::unusable::Unusable;

/// TLS from the config, if it names a certificate.
///
/// # Errors
/// When a file cannot be read, is not what it should be, or the two do not belong together.
pub(crate) fn read(config: &Config) -> Result<Option<TlsAcceptor>, Unusable> {
    let (Some(cert), Some(key)) = (&config.server.tls_cert, &config.server.tls_key) else { return Ok(None) };
    let unusable = |source| Unusable::Cert { file: cert.clone(), source };
    let chain =
        CertificateDer::pem_file_iter(cert).and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(unusable)?;
    if chain.is_empty() {
        return Err(Unusable::NoCert { file: cert.clone() });
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|source| Unusable::Key { file: key.clone(), source })?;
    let mut tls = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|source| Unusable::Pair { cert: cert.clone(), key: key.clone(), source })?;
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Some(TlsAcceptor::from(Arc::new(tls))))
}
