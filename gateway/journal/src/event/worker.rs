//! Words for what happens to workers.

/// What a recycled worker has had enough of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recycled {
    /// Requests.
    Requests,
    /// Time.
    Age,
    /// Memory.
    Memory,
    /// Its socket has lost its name.
    Socket,
    /// Its priority was lowered and cannot be raised again.
    Overdue,
}

impl Recycled {
    /// Every reason.
    pub const ALL: [Self; 5] = [Self::Requests, Self::Age, Self::Memory, Self::Socket, Self::Overdue];

    /// The name in logs and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Age => "age",
            Self::Memory => "memory",
            Self::Socket => "socket",
            Self::Overdue => "overdue",
        }
    }
}

/// Where a stuck worker is.
#[derive(Debug, Clone, Copy)]
pub struct StuckPlace<'a> {
    /// The function; empty if it has no name.
    pub function: &'a str,
    /// Its file.
    pub file: &'a str,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// The innermost functions with their places.
    pub stack: &'a str,
}

/// A request in a worker's slot.
#[derive(Debug, Clone, Copy)]
pub struct HeldRequest<'a> {
    /// The id that went to the app as `X-Request-Id`.
    pub request_id: &'a str,
    /// The method.
    pub method: &'a str,
    /// Path and query; the log keeps the first 2,048 bytes.
    pub target: &'a str,
}

/// Why a worker's process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitReason {
    /// By itself.
    Exited,
    /// By a signal that the gateway did not send, or only to ask it to leave.
    Signalled,
    /// V8's heap was full.
    OutOfMemory,
    /// Killed: its event loop did not turn, and it burnt CPU.
    Stuck,
    /// Killed: its event loop did not turn, and it waited.
    Blocked,
    /// Killed: it did not listen in time.
    StartTimeout,
    /// Killed: it did not leave in time.
    StopTimeout,
    /// Killed: it belonged to a generation that was given up.
    Abandoned,
}

impl ExitReason {
    /// Every reason, in the order of their discriminants.
    pub const ALL: [Self; 8] = [
        Self::Exited,
        Self::Signalled,
        Self::OutOfMemory,
        Self::Stuck,
        Self::Blocked,
        Self::StartTimeout,
        Self::StopTimeout,
        Self::Abandoned,
    ];

    /// The name in logs and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exited => "exited",
            Self::Signalled => "signalled",
            Self::OutOfMemory => "out_of_memory",
            Self::Stuck => "stuck",
            Self::Blocked => "blocked",
            Self::StartTimeout => "start_timeout",
            Self::StopTimeout => "stop_timeout",
            Self::Abandoned => "abandoned",
        }
    }
}
