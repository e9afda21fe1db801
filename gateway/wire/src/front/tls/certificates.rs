//! Certificates that the config names, and their selection by the name that a client asks for (SNI, RFC 6066 §3).

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use sluice_catalog::config::Config;
use sluice_certificates::Validity;
use sluice_certificates::acme::{Store, folder};
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;

use crate::unusable::{PairOfFiles, Unusable};

/// All certificates of one config, read from their files.
pub struct Certificates {
    /// Certificates by host in lower case; `*.example.com` for every name with one label more than `example.com`.
    by_host: HashMap<String, Arc<CertifiedKey>>,
    /// Certificate for clients that ask for no name or another one.
    fallback: Option<Arc<CertifiedKey>>,
    asked: Option<AcmeNames>,
    known: Vec<CertificateValidity>,
    stamps: Vec<Option<Stamp>>,
}

/// Names for which a CA is asked for certificates (`acme.names`).
struct AcmeNames {
    store: Store,
    /// Names in lower case.
    names: HashSet<String>,
    /// Certificate for the names that have none yet.
    stand_in: Option<Arc<CertifiedKey>>,
}

/// A certificate that is served, with its validity for reports.
#[derive(Clone, Debug)]
pub struct CertificateValidity {
    /// First name in the certificate, else its file.
    pub name: String,
    /// Path of its file.
    pub file: String,
    /// Config key that names it.
    pub key: &'static str,
    /// Period in which it is valid, if that is known.
    pub validity: Option<Validity>,
}

/// Metadata that distinguishes one state of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    modified: Option<SystemTime>,
    bytes: u64,
    device: u64,
    inode: u64,
}

impl Certificates {
    /// Reads the certificates that the config names; `None` if clients speak no TLS. Those that a CA has not issued yet are missing.
    ///
    /// # Errors
    /// Fails if a file cannot be read or is invalid, a key belongs to another certificate, or a certificate is for no name.
    pub fn read(config: &Config) -> Result<Option<Self>, Unusable> {
        // Before the files are read, so that what changes meanwhile is noticed.
        let stamps = stamps(config);
        let (mut by_host, mut known) = (HashMap::new(), Vec::new());
        let mut fallback = None;
        for files in pairs(config) {
            let certificate = Arc::new(read_pair(&files)?);
            let named = if files.hosts.is_empty() { names(&certificate) } else { files.hosts.clone() };
            // The default certificate is for everybody else, whatever it says.
            if named.is_empty() && fallback.is_some() {
                return Err(Unusable::NoHost { files: Box::new(files) });
            }
            let key = if files.is_default { "server.tls_cert" } else { "server.certificates" };
            known.push(CertificateValidity::of(&certificate, named.first(), &files.cert, key));
            for host in named {
                by_host.entry(host.to_ascii_lowercase()).or_insert_with(|| Arc::clone(&certificate));
            }
            fallback.get_or_insert(certificate);
        }
        let asked = folder(config)?.map(|folder| AcmeNames {
            store: Store::new(folder),
            names: config.acme.names.iter().map(|name| name.to_ascii_lowercase()).collect(),
            stand_in: fallback.clone(),
        });
        for (name, files) in asked_pairs(config) {
            // There is none yet, or one that cannot be used, for which the CA is asked again.
            let Ok(certificate) = read_pair(&files).map(Arc::new) else { continue };
            known.push(CertificateValidity::of(&certificate, Some(&name), &files.cert, "acme.names"));
            by_host.entry(name).or_insert_with(|| Arc::clone(&certificate));
            fallback.get_or_insert(certificate);
        }
        Ok(config.is_tls().then_some(Self { by_host, fallback, asked, known, stamps }))
    }

    /// State of each file when it was read.
    pub fn stamps(&self) -> &[Option<Stamp>] {
        &self.stamps
    }

    /// All certificates that were read.
    pub fn known(&self) -> &[CertificateValidity] {
        &self.known
    }

    /// Store from which the CA's challenges are answered.
    pub fn store(&self) -> Option<&Store> {
        self.asked.as_ref().map(|asked| &asked.store)
    }

    fn of(&self, host: Option<&str>) -> Option<&Arc<CertifiedKey>> {
        let host = host.map(str::to_ascii_lowercase);
        let found = host.as_ref().and_then(|host| {
            // RFC 6125 §6.4.3: a wildcard stands for one label.
            self.by_host.get(host).or_else(|| self.by_host.get(&format!("*.{}", host.split_once('.')?.1)))
        });
        let awaited = self.asked.as_ref().filter(|asked| host.is_some_and(|host| asked.names.contains(&host)));
        match (found, awaited) {
            (Some(found), _) => Some(found),
            // The certificate of another name would look like an attack.
            (None, Some(asked)) => asked.stand_in.as_ref(),
            (None, None) => self.fallback.as_ref(),
        }
    }

    /// Certificate that the CA expects when it verifies this name (RFC 8737). Reads a file, which no other client makes it do.
    fn challenge(&self, host: &str) -> Option<Arc<CertifiedKey>> {
        let host = host.to_ascii_lowercase();
        let asked = self.asked.as_ref().filter(|asked| asked.names.contains(&host))?;
        let (chain, key) = read_files(&one_file(&asked.store.challenge_certificate(&host))).ok()?;
        // Not compared with its key: the parser of certificates refuses the extension, which it must not ignore.
        let key = default_provider().key_provider.load_private_key(key).ok()?;
        Some(Arc::new(CertifiedKey::new(chain, key)))
    }
}

impl CertificateValidity {
    fn of(certificate: &CertifiedKey, name: Option<&String>, file: &str, key: &'static str) -> Self {
        let validity = certificate.cert.first().and_then(|der| Validity::of(der));
        CertificateValidity { name: name.map_or(file, String::as_str).to_owned(), file: file.to_owned(), key, validity }
    }
}

/// Name and file of each certificate that a CA is asked for.
fn asked_pairs(config: &Config) -> impl Iterator<Item = (String, PairOfFiles)> {
    let store = folder(config).ok().flatten().map(Store::new);
    let names = config.acme.names.iter().map(|name| name.to_ascii_lowercase());
    names
        .filter_map(move |name| Some((one_file(&store.as_ref()?.certificate(&name)), name)))
        .map(|(files, name)| (name, files))
}

/// Key and certificate in one file, so that both are replaced in one step.
fn one_file(path: &Path) -> PairOfFiles {
    let file = path.to_string_lossy().into_owned();
    PairOfFiles { cert: file.clone(), key: file, hosts: Vec::new(), is_default: false }
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

/// State of each file that the config names; `None` for one that cannot be read.
pub fn stamps(config: &Config) -> Vec<Option<Stamp>> {
    let stamp = |file: &String| {
        let found = std::fs::metadata(file).ok()?;
        let (modified, bytes) = (found.modified().ok(), found.len());
        Some(Stamp { modified, bytes, device: found.dev(), inode: found.ino() })
    };
    let files = pairs(config).chain(asked_pairs(config).map(|(_, files)| files));
    files.flat_map(|files| [stamp(&files.cert), stamp(&files.key)]).collect()
}

fn read_pair(files: &PairOfFiles) -> Result<CertifiedKey, Unusable> {
    let (chain, key) = read_files(files)?;
    CertifiedKey::from_der(chain, key, &default_provider())
        .map_err(|source| Unusable::Pair { files: Box::new(files.clone()), source })
}

type ChainAndKey = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn read_files(files: &PairOfFiles) -> Result<ChainAndKey, Unusable> {
    let chain = CertificateDer::pem_file_iter(&files.cert)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|source| Unusable::Cert { files: Box::new(files.clone()), source })?;
    if chain.is_empty() {
        return Err(Unusable::NoCert { files: Box::new(files.clone()) });
    }
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|source| Unusable::Key { files: Box::new(files.clone()), source })?;
    Ok((chain, key))
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
pub(crate) struct CertificateStore(RwLock<Arc<Certificates>>);

impl CertificateStore {
    pub(crate) fn new(certificates: Arc<Certificates>) -> Self {
        CertificateStore(RwLock::new(certificates))
    }

    pub(crate) fn replace(&self, certificates: Arc<Certificates>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = certificates;
    }
}

impl ResolvesServerCert for CertificateStore {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let certificates = Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner));
        if is_challenge(&hello) {
            return certificates.challenge(hello.server_name()?);
        }
        certificates.of(hello.server_name()).cloned()
    }
}

/// Whether the client is a CA that looks for the answer to a challenge: it speaks no other protocol (RFC 8737 §3).
fn is_challenge(hello: &ClientHello<'_>) -> bool {
    hello.alpn().is_some_and(|mut protocols| protocols.next() == Some(super::ACME) && protocols.next().is_none())
}
