//! A config that is well formed and cannot be served: a file or value that it names is missing or unusable. Each
//! message follows the name of the key and says what to do.

use std::io;

use sluice_catalog::config::{HashFault, NotARate, USERS_MAX};
use tokio_rustls::rustls;
use tokio_rustls::rustls::pki_types::pem;

/// A value of the config that cannot be used.
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
    #[error("names {}, which cannot be used: it holds no certificate. {NAME_CERT}", files.cert)]
    NoCert {
        /// Paths of its files.
        files: Box<PairOfFiles>,
    },
    /// The certificate names no host, so no client can ask for it.
    #[error("names {}, which is for no DNS name. Name the hosts that it is for with hosts", files.cert)]
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
    #[error("names {}, which does not go with {}: {source}. Name the key of that certificate", files.key, files.cert)]
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
    #[error("holds {entry:?}, which is neither an address nor a network such as 10.0.0.0/8")]
    Network {
        /// Key of the list.
        key: &'static str,
        /// The entry.
        entry: String,
    },
    /// A value is not a rate.
    #[error("holds {text:?} for {path:?}, which must be {source}")]
    Rate {
        /// Path to which the rate applies.
        path: String,
        /// Value from the config.
        text: String,
        /// Reason why it is not a rate.
        source: NotARate,
    },
    /// A user's password hash is not a hash.
    #[error("holds for {name:?} {source}")]
    User {
        /// Name of the user.
        name: String,
        /// Fault of the hash.
        source: HashFault,
    },
    /// The file of users cannot be read.
    #[error("names {file}, which cannot be used: {source}. Name a file of lines name:hash that this user may read")]
    Users {
        /// The file.
        file: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A line of the file of users is not a user.
    #[error("names {file}:{line}, which is {}", HashOrLine(*fault))]
    UsersLine {
        /// The file.
        file: String,
        /// Number of the line, from 1.
        line: usize,
        /// Fault of the hash; `None` if the line has none.
        fault: Option<HashFault>,
    },
    /// The file of users has too many users.
    #[error("names {file}, which has more than {USERS_MAX} users")]
    UsersCount {
        /// The file.
        file: String,
    },
    /// The file of users has no users.
    #[error("names {file}, which has no user. Add one with `sluice access hash NAME`")]
    NoUsers {
        /// The file.
        file: String,
    },
    /// The URL of the shared cache is invalid. It is not shown: it may hold a password.
    #[error("{0}")]
    SharedUrl(#[from] sluice_tier::NoAddress),
    /// The password of the shared cache cannot be read.
    #[error("names {file}, which cannot be used: {source}. Name a file with the password that this user may read")]
    SharedPassword {
        /// The file.
        file: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// No thread for the shared cache is available.
    #[error("cannot be used: {0}. Raise the limit on processes (pids.max of the cgroup, ulimit -u)")]
    SharedThread(#[source] io::Error),
    /// Traces cannot be exported.
    #[error("cannot be followed: {0}")]
    Traces(#[from] sluice_traces::Unusable),
    /// A shell cannot be used.
    #[error(
        "names {file} for {prefix}, which cannot be used: {source}. Name an HTML file of at most 1 MiB that this user may read"
    )]
    Shell {
        /// Path to which the shell applies.
        prefix: String,
        /// The file.
        file: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// An error page cannot be used.
    #[error(
        "names {file} for {status}, which cannot be used: {source}. Name an HTML file in UTF-8 of at most 256 KiB that this user may read"
    )]
    ErrorPage {
        /// Status for which the page is.
        status: String,
        /// The file.
        file: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A directory of files cannot be used.
    #[error("names {dir} for {prefix}, which cannot be used: {source}. Build the files, or mend the path")]
    Dir {
        /// Path to which the directory applies.
        prefix: String,
        /// The directory.
        dir: String,
        /// Error of the operating system.
        source: io::Error,
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

/// Fault of a line in the file of users: its hash, or the line itself.
struct HashOrLine(Option<HashFault>);

impl std::fmt::Display for HashOrLine {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(fault) => fault.fmt(out),
            None => out.write_str("no line name:hash. Make one with `sluice access hash NAME`"),
        }
    }
}

impl Unusable {
    /// Key of the config that the error is about.
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
            Self::Acme(sluice_certificates::acme::Unusable::NoDir) => "acme.dir",
            Self::Acme(sluice_certificates::acme::Unusable::Binding) => "acme.eab_hmac_key",
            Self::Network { key, .. } => key,
            Self::Rate { .. } => "rate.limits",
            Self::User { .. } => "access.basic_auth",
            Self::Users { .. } | Self::UsersLine { .. } | Self::UsersCount { .. } | Self::NoUsers { .. } => {
                "access.basic_auth_file"
            }
            Self::SharedUrl(_) | Self::SharedThread(_) => "cache.shared_url",
            Self::SharedPassword { .. } => "cache.shared_password_file",
            Self::Traces(_) => "traces.enabled",
            Self::Dir { .. } => "files.paths",
            Self::Shell { .. } => "shell.files",
            Self::ErrorPage { .. } => "errors.pages",
        }
    }
}
