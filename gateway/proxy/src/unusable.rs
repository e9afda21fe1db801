//! A config that is well formed and cannot be served: what it names is not there, or not what it should be. Each sentence
//! follows the name of the key and says what to do.

use std::io;

use sluice_catalog::config::NotARate;
use tokio_rustls::rustls;
use tokio_rustls::rustls::pki_types::pem;

/// A value of the config that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// The certificate cannot be read.
    #[error("names {}, which cannot be used: {source}. {NAME_CERT}", files.cert)]
    Cert {
        /// Its files.
        files: Box<PairOfFiles>,
        /// What the operating system or the reader of PEM says.
        source: pem::Error,
    },
    /// The file of the certificate holds none.
    #[error("names {}, which cannot be used: it holds no certificate. {NAME_CERT}", files.cert)]
    NoCert {
        /// Its files.
        files: Box<PairOfFiles>,
    },
    /// Nobody can ask for the certificate.
    #[error("names {}, which is for no DNS name. Name the hosts that it is for with hosts", files.cert)]
    NoHost {
        /// Its files.
        files: Box<PairOfFiles>,
    },
    /// The private key cannot be read.
    #[error(
        "names {}, which cannot be used: {source}. Name a PEM file with the private key, without a passphrase, that this \
         user may read", files.key
    )]
    Key {
        /// Its files.
        files: Box<PairOfFiles>,
        /// What the operating system or the reader of PEM says.
        source: pem::Error,
    },
    /// Certificate and key do not belong together.
    #[error("names {}, which does not go with {}: {source}. Name the key of that certificate", files.key, files.cert)]
    Pair {
        /// The two.
        files: Box<PairOfFiles>,
        /// What is wrong with them.
        source: rustls::Error,
    },
    /// There is no thread for handshakes, or no randomness.
    #[error("cannot be served: {0}. Raise the limit on processes (pids.max of the cgroup, ulimit -u)")]
    Tls(#[source] io::Error),
    /// An entry of a list of networks is none.
    #[error("holds {entry:?}, which is neither an address nor a network such as 10.0.0.0/8")]
    Network {
        /// The list.
        key: &'static str,
        /// The entry.
        entry: String,
    },
    /// A rate is none.
    #[error("holds {text:?} for {path:?}, which must be {source}")]
    Rate {
        /// The path that it is for.
        path: String,
        /// The rate.
        text: String,
        /// What is allowed.
        source: NotARate,
    },
    /// Traces cannot be exported.
    #[error("cannot be followed: {0}")]
    Traces(#[from] sluice_traces::Unusable),
    /// A directory of files cannot be used.
    #[error("names {dir} for {prefix}, which cannot be used: {source}. Build the files, or mend the path")]
    Dir {
        /// The path that it is for.
        prefix: String,
        /// The directory.
        dir: String,
        /// What the operating system says.
        source: io::Error,
    },
}

/// Where a certificate comes from.
#[derive(Clone, Debug)]
pub struct PairOfFiles {
    /// File of the certificate.
    pub cert: String,
    /// File of its private key.
    pub key: String,
    /// Hosts that it is for as the config says; none for those in the certificate.
    pub hosts: Vec<String>,
    /// It is the one of `server.tls_cert`.
    pub is_default: bool,
}

const NAME_CERT: &str = "Name a PEM file with the certificate and its chain that this user may read";

impl Unusable {
    /// The key that it is about.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            Self::Cert { files, .. } | Self::NoCert { files } | Self::Key { files, .. } | Self::Pair { files, .. }
                if !files.is_default =>
            {
                "server.certificates"
            }
            Self::NoHost { .. } => "server.certificates",
            Self::Cert { .. } | Self::NoCert { .. } | Self::Tls(_) => "server.tls_cert",
            Self::Key { .. } | Self::Pair { .. } => "server.tls_key",
            Self::Network { key, .. } => key,
            Self::Rate { .. } => "rate.limits",
            Self::Traces(_) => "traces.enabled",
            Self::Dir { .. } => "files.paths",
        }
    }
}
