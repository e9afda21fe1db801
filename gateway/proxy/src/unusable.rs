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
    #[error("names {file}, which cannot be used: {source}. {NAME_CERT}")]
    Cert {
        /// Its file.
        file: String,
        /// What the operating system or the reader of PEM says.
        source: pem::Error,
    },
    /// The file of the certificate holds none.
    #[error("names {file}, which cannot be used: it holds no certificate. {NAME_CERT}")]
    NoCert {
        /// The file.
        file: String,
    },
    /// The private key cannot be read.
    #[error(
        "names {file}, which cannot be used: {source}. Name a PEM file with the private key, without a passphrase, that this \
         user may read"
    )]
    Key {
        /// Its file.
        file: String,
        /// What the operating system or the reader of PEM says.
        source: pem::Error,
    },
    /// Certificate and key do not belong together.
    #[error("names {key}, which does not go with {cert}: {source}. Name the key of that certificate")]
    Pair {
        /// The certificate's file.
        cert: String,
        /// The key's file.
        key: String,
        /// What is wrong with the two.
        source: rustls::Error,
    },
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

const NAME_CERT: &str = "Name a PEM file with the certificate and its chain that this user may read";

impl Unusable {
    /// The key that it is about.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            Self::Cert { .. } | Self::NoCert { .. } => "server.tls_cert",
            Self::Key { .. } | Self::Pair { .. } => "server.tls_key",
            Self::Network { key, .. } => key,
            Self::Rate { .. } => "rate.limits",
            Self::Traces(_) => "traces.enabled",
            Self::Dir { .. } => "files.paths",
        }
    }
}
