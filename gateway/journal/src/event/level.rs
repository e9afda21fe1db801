//! Source and severity of a log line.

/// Output of a worker that a line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// File descriptor 1.
    Stdout,
    /// File descriptor 2.
    Stderr,
}

impl Stream {
    /// The name in the log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// Severity of an event to an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Detail for finding a fault.
    Debug,
    /// Normal operation.
    Info,
    /// Problem that an operator should look at some day.
    Warn,
    /// Problem that an operator should look at now.
    Error,
}

impl Level {
    /// The number of OpenTelemetry's log data model.
    pub(crate) const fn severity_number(self) -> u64 {
        match self {
            Self::Debug => 5,
            Self::Info => 9,
            Self::Warn => 13,
            Self::Error => 17,
        }
    }

    /// The name in the log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}
