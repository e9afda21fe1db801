//! A config that is well formed and cannot be served: a file or value that it names is missing or unusable. Each
//! message follows the name of the key and says what to do.

use std::io;

use sluice_catalog::config::{HashFault, NotARate, USERS_MAX};

/// A value of the config that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// Connections cannot use a value.
    #[error(transparent)]
    Wire(#[from] sluice_wire::Unusable),
    /// A value is not a rate.
    #[error("contains {text:?} for {path:?}, which must be {source}")]
    Rate {
        /// Path to which the rate applies.
        path: String,
        /// Value from the config.
        text: String,
        /// Reason why it is not a rate.
        source: NotARate,
    },
    /// A user's password hash is not a hash.
    #[error("has for {name:?} {source}")]
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
    /// A file of an upstream cannot be used.
    #[error(transparent)]
    Upstream(#[from] sluice_upstreams::Unusable),
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
    #[error("names {dir} for {prefix}, which cannot be used: {source}. Build the files, or fix the path")]
    Dir {
        /// Path to which the directory applies.
        prefix: String,
        /// The directory.
        dir: String,
        /// Error of the operating system.
        source: io::Error,
    },
}

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
    pub fn key(&self) -> &'static str {
        match self {
            Self::Wire(unusable) => unusable.key(),
            Self::Rate { .. } => "rate.limits",
            Self::User { .. } => "access.basic_auth",
            Self::Users { .. } | Self::UsersLine { .. } | Self::UsersCount { .. } | Self::NoUsers { .. } => {
                "access.basic_auth_file"
            }
            Self::SharedUrl(_) | Self::SharedThread(_) => "cache.shared_url",
            Self::SharedPassword { .. } => "cache.shared_password_file",
            Self::Upstream(_) => "upstreams.routes",
            Self::Traces(_) => "traces.enabled",
            Self::Dir { .. } => "files.paths",
            Self::Shell { .. } => "shell.files",
            Self::ErrorPage { .. } => "errors.pages",
        }
    }
}
