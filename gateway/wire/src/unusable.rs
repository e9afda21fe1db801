//! Part of a config that is well formed and cannot be used by connections: certificates, keys and lists of networks.

use std::io;

use tokio_rustls::rustls;
use tokio_rustls::rustls::pki_types::pem;

/// A value of the config that connections cannot use.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// The certificate cannot be read.
    #[error("names {}, which cannot be used: {source}. {NAME_CERT}", files.cert)]
    Cert {
        /// Paths of its files.
        files: Box<PairOfFiles>,
        /// Error of the operating system or of the reader of PEM.
        source: pem::Error,
    },
    /// The file of the certificate holds no certificate.
    #[error("names {}, which cannot be used: it contains no certificate. {NAME_CERT}", files.cert)]
    NoCert {
        /// Paths of its files.
        files: Box<PairOfFiles>,
    },
    /// The certificate names no host, so no client can ask for it.
    #[error("names {}, which contains no DNS name. Set its host names with hosts", files.cert)]
    NoHost {
        /// Paths of its files.
        files: Box<PairOfFiles>,
    },
    /// The private key cannot be read.
    #[error(
        "names {}, which cannot be used: {source}. Name a PEM file with the private key, without a passphrase, that this \
         user may read", files.key
    )]
    Key {
        /// Paths of its files.
        files: Box<PairOfFiles>,
        /// Error of the operating system or of the reader of PEM.
        source: pem::Error,
    },
    /// Certificate and key do not belong together.
    #[error("names {}, which does not match {}: {source}. Name the key of that certificate", files.key, files.cert)]
    Pair {
        /// Files of both.
        files: Box<PairOfFiles>,
        /// Fault of the pair.
        source: rustls::Error,
    },
    /// No certificate can be requested from a CA.
    #[error("{0}")]
    Acme(#[from] sluice_certificates::acme::Unusable),
    /// No thread for handshakes, or no randomness, is available.
    #[error("cannot be served: {0}. Raise the limit on processes (pids.max of the cgroup, ulimit -u)")]
    Tls(#[source] io::Error),
    /// An entry of a list of networks is not a network.
    #[error("contains {entry:?}, which is neither an address nor a network such as 10.0.0.0/8")]
    Network {
        /// Key of the list.
        key: &'static str,
        /// The entry.
        entry: String,
    },
}

/// Files of a certificate and its private key.
#[derive(Clone, Debug)]
pub struct PairOfFiles {
    /// File of the certificate.
    pub cert: String,
    /// File of its private key.
    pub key: String,
    /// Hosts of the certificate in the config; none for those in the certificate itself.
    pub hosts: Vec<String>,
    /// The files are those of `server.tls_cert`.
    pub is_default: bool,
}

const NAME_CERT: &str = "Name a PEM file with the certificate and its chain that this user may read";

impl Unusable {
    /// Key of the config that the error is about.
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
            Self::Acme(sluice_certificates::acme::Unusable::NoDir) => "acme.dir",
            Self::Acme(sluice_certificates::acme::Unusable::Binding) => "acme.eab_hmac_key",
            Self::Network { key, .. } => key,
        }
    }
}
