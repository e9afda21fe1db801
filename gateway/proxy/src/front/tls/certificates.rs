//! Certificates as the config names them, and the one that a client gets by the name it asks for (SNI, RFC 6066 §3).

use std::collections::HashMap;
use std::fmt;
use std::os::unix::fs::MetadataExt as _;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use sluice_catalog::config::Config;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;

use crate::unusable::{PairOfFiles, Unusable};

/// All certificates of one config, read from their files.
pub(crate) struct Certificates {
    /// By host in lower case; `*.example.com` for every name with one label more than `example.com`.
    by_host: HashMap<String, Arc<CertifiedKey>>,
    fallback: Arc<CertifiedKey>,
    stamps: Vec<Option<Stamp>>,
}

/// What tells one state of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: Option<SystemTime>,
    bytes: u64,
    device: u64,
    inode: u64,
}

impl Certificates {
    /// The certificates that the config names, if it names any.
    ///
    /// # Errors
    /// When a file cannot be read or is not what it should be, a key belongs to another certificate, or a certificate is for no
    /// name.
    pub(crate) fn read(config: &Config) -> Result<Option<Self>, Unusable> {
        // Before the files are read, so that what changes meanwhile is noticed.
        let stamps = stamps(config);
        let mut by_host = HashMap::new();
        let mut fallback = None;
        for files in pairs(config) {
            let certificate = Arc::new(read_pair(&files)?);
            let named = if files.hosts.is_empty() { names(&certificate) } else { files.hosts.clone() };
            // The default certificate is for everybody else, whatever it says.
            if named.is_empty() && fallback.is_some() {
                return Err(Unusable::NoHost { files: Box::new(files) });
            }
            for host in named {
                by_host.entry(host.to_ascii_lowercase()).or_insert_with(|| Arc::clone(&certificate));
            }
            fallback.get_or_insert(certificate);
        }
        Ok(fallback.map(|fallback| Self { by_host, fallback, stamps }))
    }

    /// State of each file when it was read.
    pub(crate) fn stamps(&self) -> &[Option<Stamp>] {
        &self.stamps
    }

    fn of(&self, host: Option<&str>) -> &Arc<CertifiedKey> {
        let found = host.and_then(|host| {
            let host = host.to_ascii_lowercase();
            // RFC 6125 §6.4.3: a wildcard stands for one label.
            self.by_host.get(&host).or_else(|| self.by_host.get(&format!("*.{}", host.split_once('.')?.1)))
        });
        found.unwrap_or(&self.fallback)
    }
}

/// The default certificate, if there is one, and then the others.
fn pairs(config: &Config) -> impl Iterator<Item = PairOfFiles> {
    let server = &config.server;
    let first = server.tls_cert.as_ref().zip(server.tls_key.as_ref());
    let default = first.map(|(cert, key)| PairOfFiles {
        cert: cert.clone(),
        key: key.clone(),
        hosts: Vec::new(),
        is_default: true,
    });
    let others = server.certificates.iter().map(|certificate| PairOfFiles {
        cert: certificate.cert.clone(),
        key: certificate.key.clone(),
        hosts: certificate.hosts.clone(),
        is_default: false,
    });
    default.into_iter().chain(others)
}

/// State of each file that the config names; `None` for one that cannot be looked at.
pub(crate) fn stamps(config: &Config) -> Vec<Option<Stamp>> {
    let stamp = |file: &String| {
        let found = std::fs::metadata(file).ok()?;
        let (modified, bytes) = (found.modified().ok(), found.len());
        Some(Stamp { modified, bytes, device: found.dev(), inode: found.ino() })
    };
    pairs(config).flat_map(|files| [stamp(&files.cert), stamp(&files.key)]).collect()
}

fn read_pair(files: &PairOfFiles) -> Result<CertifiedKey, Unusable> {
    let chain = CertificateDer::pem_file_iter(&files.cert)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|source| Unusable::Cert { files: Box::new(files.clone()), source })?;
    if chain.is_empty() {
        return Err(Unusable::NoCert { files: Box::new(files.clone()) });
    }
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|source| Unusable::Key { files: Box::new(files.clone()), source })?;
    CertifiedKey::from_der(chain, key, &default_provider())
        .map_err(|source| Unusable::Pair { files: Box::new(files.clone()), source })
}

/// DNS names that the certificate is for (`subjectAltName`).
fn names(certificate: &CertifiedKey) -> Vec<String> {
    let Some(Ok(parsed)) = certificate.cert.first().map(webpki::EndEntityCert::try_from) else { return Vec::new() };
    parsed.valid_dns_names().map(str::to_owned).collect()
}

impl fmt::Debug for Certificates {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_set().entries(self.by_host.keys()).finish()
    }
}

/// The certificates in force.
#[derive(Debug)]
pub(super) struct Served(RwLock<Arc<Certificates>>);

impl Served {
    pub(super) fn new(certificates: Arc<Certificates>) -> Self {
        Served(RwLock::new(certificates))
    }

    pub(super) fn replace(&self, certificates: Arc<Certificates>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = certificates;
    }
}

impl ResolvesServerCert for Served {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let certificates = Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner));
        Some(Arc::clone(certificates.of(hello.server_name())))
    }
}
