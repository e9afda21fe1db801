//! Settings of an upstream as its connections need them: limits, targets, and TLS with the files that the config names.

use std::cell::OnceCell;
use std::fmt;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sluice_catalog::config::{Config, HostHeader, ProxyProtocol, Route, Target, Upstream};
use sluice_http1::HeadLimits;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// A file or value of an upstream that cannot be used. Each message follows the name of the key.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// A file cannot be read, or holds no PEM of its kind.
    #[error(
        "names {file} as {entry} of {upstream:?}, which cannot be used: {source}. Name a PEM file that this user may read"
    )]
    File {
        /// Name of the upstream.
        upstream: String,
        /// Entry of its table.
        entry: &'static str,
        /// The file.
        file: String,
        /// Reason.
        source: io::Error,
    },
    /// No certificate of the system can be used.
    #[error(
        "needs certificates of the system to verify the targets of {upstream:?}, and there are none. Install ca-certificates, or name a PEM file as ca"
    )]
    Roots {
        /// Name of the upstream.
        upstream: String,
    },
    /// Certificate and key do not go together, or the key is of an unknown kind.
    #[error("names cert and key of {upstream:?}, which cannot be used together: {reason}")]
    Pair {
        /// Name of the upstream.
        upstream: String,
        /// Reason.
        reason: String,
    },
}

/// TLS to the targets of an upstream. The digests of the files tell whether they have changed.
#[derive(Clone)]
pub(crate) struct Tls {
    pub(crate) config: Arc<ClientConfig>,
    files: Vec<u64>,
}

/// Settings of one upstream.
#[derive(Clone)]
pub struct Settings {
    pub(crate) upstream: Upstream,
    pub(crate) targets: Vec<Target>,
    pub(crate) tls: Option<Tls>,
    pub(crate) limits: HeadLimits,
    pub(crate) times: Times,
    /// Bytes up to which an answer goes to its temporary file if its client is slow.
    pub(crate) file_bytes_max: u64,
}

/// Limits of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) connect: Duration,
    pub(crate) first_byte: Duration,
    pub(crate) whole: Option<Duration>,
    /// Longest time without a byte on event streams and upgraded connections; `None` for no limit.
    pub(crate) stream_idle: Option<Duration>,
}

impl PartialEq for Settings {
    fn eq(&self, other: &Self) -> bool {
        let files = |settings: &Settings| settings.tls.as_ref().map(|tls| tls.files.clone());
        let limits = |settings: &Settings| (settings.limits.headers_bytes_max, settings.limits.headers_count_max);
        self.upstream == other.upstream
            && self.times == other.times
            && self.file_bytes_max == other.file_bytes_max
            && limits(self) == limits(other)
            && files(self) == files(other)
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("upstream", &self.upstream).finish_non_exhaustive()
    }
}

impl Settings {
    /// Reads the settings of all upstreams, with the files that they name.
    ///
    /// # Errors
    /// Where a file cannot be used.
    pub fn read(config: &Config) -> Result<Vec<Self>, Unusable> {
        let system = OnceCell::new();
        config.upstreams.routes.iter().map(|upstream| Self::of(upstream, config, &system)).collect()
    }

    /// Reads the settings of one upstream. The certificates of the system are read once, into `system`.
    pub(crate) fn of(upstream: &Upstream, config: &Config, system: &OnceCell<RootCertStore>) -> Result<Self, Unusable> {
        let targets = upstream.targets();
        let tls = targets.iter().any(|target| target.is_tls).then(|| Tls::read(upstream, system)).transpose()?;
        let to_usize = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        let in_ms = Duration::from_millis;
        Ok(Settings {
            upstream: upstream.clone(),
            targets,
            tls,
            limits: HeadLimits {
                request_line_bytes_max: 8192,
                headers_bytes_max: to_usize(config.bounds.response_headers_bytes_max),
                headers_count_max: to_usize(config.bounds.response_headers_count_max),
            },
            // A few long answers must not fill the disk for all.
            file_bytes_max: config.response_file_bytes_max() / 8,
            times: Times {
                connect: in_ms(upstream.connect_timeout_ms()),
                first_byte: in_ms(upstream.first_byte_timeout_ms()),
                whole: upstream.timeout_ms().map(in_ms),
                stream_idle: Some(config.streams.idle_timeout_ms).filter(|ms| *ms > 0).map(in_ms),
            },
        })
    }

    /// Name of the upstream.
    pub fn name(&self) -> &str {
        &self.upstream.name
    }

    /// Requests that it gets, as in `classes.routes`.
    pub fn paths(&self) -> &[String] {
        &self.upstream.paths
    }

    pub(crate) fn host(&self) -> HostHeader {
        self.upstream.host_header()
    }

    pub(crate) fn proxy(&self) -> Option<ProxyProtocol> {
        self.upstream.proxy()
    }

    /// `Host` of a health check: the target, unless its requests keep the client's `Host` and all paths of the upstream are of one host.
    pub(crate) fn check_host(&self, target: &Target) -> String {
        let routes = self.paths().iter().map(|path| Route::parse(path, "").ok().and_then(|route| route.host));
        let mut hosts: Vec<Option<String>> = routes.collect();
        hosts.dedup();
        match (self.host(), &hosts[..]) {
            (HostHeader::Keep, [Some(host)]) => host.clone(),
            _ => target.authority(),
        }
    }

    /// Name that the certificate of a target must have.
    pub(crate) fn server_name(&self, target: &Target) -> Option<ServerName<'static>> {
        let name = Some(&self.upstream.server_name).filter(|name| !name.is_empty()).unwrap_or(&target.host);
        ServerName::try_from(name.clone()).ok()
    }
}

impl Tls {
    /// Reads the files. The certificates of the system are read once, into `system`.
    fn read(upstream: &Upstream, system: &OnceCell<RootCertStore>) -> Result<Self, Unusable> {
        let mut files = Vec::new();
        let mut read = |entry: &'static str, file: &str| {
            let bytes = std::fs::read(Path::new(file)).map_err(|source| unusable(upstream, entry, file, source))?;
            files.push(BuildHasherDefault::<DefaultHasher>::default().hash_one(&bytes));
            Ok(bytes)
        };
        let mut roots = RootCertStore::empty();
        if upstream.ca.is_empty() {
            roots = system.get_or_init(system_roots).clone();
            if roots.is_empty() {
                return Err(Unusable::Roots { upstream: upstream.name.clone() });
            }
        } else {
            let pem = read("ca", &upstream.ca)?;
            for certificate in certificates(&pem).map_err(|error| unusable(upstream, "ca", &upstream.ca, error))? {
                roots
                    .add(certificate)
                    .map_err(|error| unusable(upstream, "ca", &upstream.ca, io::Error::other(error)))?;
            }
        }
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring has the default versions of TLS")
            .with_root_certificates(roots);
        let mut config = if upstream.cert.is_empty() {
            config.with_no_client_auth()
        } else {
            let chain = certificates(&read("cert", &upstream.cert)?)
                .map_err(|error| unusable(upstream, "cert", &upstream.cert, error))?;
            let key = PrivateKeyDer::from_pem_slice(&read("key", &upstream.key)?)
                .map_err(|error| unusable(upstream, "key", &upstream.key, io::Error::other(error)))?;
            config
                .with_client_auth_cert(chain, key)
                .map_err(|error| Unusable::Pair { upstream: upstream.name.clone(), reason: error.to_string() })?
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Tls { config: Arc::new(config), files })
    }
}

fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

fn certificates(pem: &[u8]) -> io::Result<Vec<CertificateDer<'static>>> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let certificates = read.map_err(io::Error::other)?;
    if certificates.is_empty() { Err(io::Error::other("it contains no certificate")) } else { Ok(certificates) }
}

fn unusable(upstream: &Upstream, entry: &'static str, file: &str, source: io::Error) -> Unusable {
    Unusable::File { upstream: upstream.name.clone(), entry, file: file.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_names_the_only_host_of_the_paths_if_requests_keep_theirs() {
        let host = |paths: &[&str], host: &str| {
            let upstream = Upstream {
                paths: paths.iter().map(|path| (*path).to_owned()).collect(),
                to: vec!["http://127.0.0.1:8081".to_owned()],
                host: host.to_owned(),
                ..Upstream::default()
            };
            let settings = Settings::of(&upstream, &Config::default(), &OnceCell::new()).unwrap();
            settings.check_host(&settings.targets[0])
        };
        assert_eq!(host(&["old.example/*", "GET old.example/x"], "keep"), "old.example");
        assert_eq!(host(&["old.example/*"], "target"), "127.0.0.1:8081");
        assert_eq!(host(&["old.example/*", "new.example/*"], "keep"), "127.0.0.1:8081");
        assert_eq!(host(&["old.example/*", "/old/*"], "keep"), "127.0.0.1:8081");
    }
}
