//! Words for what happens to workers.

/// Reason for the replacement of a worker that lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecycleCause {
    /// Number of requests.
    Requests,
    /// Memory of the worker.
    Memory,
    /// The worker's socket has lost its name.
    Socket,
    /// The event loop is blocked, or the worker's priority was lowered and cannot be raised again.
    Overdue,
}

impl RecycleCause {
    /// Every reason.
    pub const ALL: [Self; 4] = [Self::Requests, Self::Memory, Self::Socket, Self::Overdue];

    /// The name in logs and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Memory => "memory",
            Self::Socket => "socket",
            Self::Overdue => "overdue",
        }
    }
}

/// Code that a stuck worker runs.
#[derive(Debug, Clone, Copy)]
pub struct StuckPlace<'a> {
    /// The function; empty if it has no name.
    pub function: &'a str,
    /// File of the function.
    pub file: &'a str,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// The innermost functions with their places.
    pub stack: &'a str,
}

/// Main cause of an uninterrupted run's duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunTime {
    /// Code of the run computed.
    Computing,
    /// The thread was runnable, and others had the CPU.
    Starved,
    /// The thread slept in a synchronous call.
    Waiting,
}

impl RunTime {
    /// Half of the run decides. Times are microseconds.
    pub fn of(run_us: u64, cpu_us: Option<u64>, queued_us: Option<u64>) -> Option<Self> {
        let cpu_us = cpu_us?;
        let is_half = |part_us: u64| part_us.saturating_mul(2) >= run_us;
        Some(match queued_us {
            Some(queued_us) if is_half(queued_us) => Self::Starved,
            _ if is_half(cpu_us) => Self::Computing,
            // Both together have taken most of it: the machine has more to do than CPUs, and nothing was waited for.
            Some(queued_us) if is_half(cpu_us.saturating_add(queued_us)) => Self::Starved,
            Some(_) => Self::Waiting,
            // A system that does not tell of CPUs that were missing: either may be.
            None => return None,
        })
    }

    /// The name in logs and `status --json`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Computing => "computing",
            Self::Starved => "starved",
            Self::Waiting => "waiting",
        }
    }
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

/// Reason for the end of a worker's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitReason {
    /// Exit by the process itself.
    Exited,
    /// Signal that the gateway did not send, or that only asked the worker to leave.
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
    /// Killed: the gateway stopped, and the clients of all its requests had left.
    ClientGone,
}

impl ExitReason {
    /// Every reason, in the order of their discriminants.
    pub const ALL: [Self; 9] = [
        Self::Exited,
        Self::Signalled,
        Self::OutOfMemory,
        Self::Stuck,
        Self::Blocked,
        Self::StartTimeout,
        Self::StopTimeout,
        Self::Abandoned,
        Self::ClientGone,
    ];

    /// The name in logs and metrics.
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
            Self::ClientGone => "client_gone",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_without_a_cpu_is_not_blamed_on_its_code() {
        let of = |cpu_ms: u64, queued_ms: Option<u64>| {
            RunTime::of(1_049_000, Some(cpu_ms * 1000), queued_ms.map(|ms| ms * 1000))
        };
        assert_eq!(of(62, Some(980)), Some(RunTime::Starved));
        assert_eq!(of(1_040, Some(5)), Some(RunTime::Computing));
        assert_eq!(of(400, Some(400)), Some(RunTime::Starved));
        assert_eq!(of(20, Some(10)), Some(RunTime::Waiting));
        assert_eq!(of(62, None), None, "a synchronous call would look alike");
        assert_eq!(RunTime::of(1_049_000, None, Some(1_000_000)), None);
    }
}
