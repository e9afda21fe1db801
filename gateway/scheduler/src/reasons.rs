//! Why a request was refused, and why a worker was replaced, given up or killed.

use crate::WorkerId;

/// Why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The queue has reached its length.
    Full,
    /// It would wait longer than allowed.
    Predicted,
    /// It has waited as long as allowed.
    Deadline,
    /// The gateway is leaving.
    Stopping,
    /// The app has ended while it is being developed, and nothing is started before its files change.
    Down,
}

/// Why a healthy worker is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecycleReason {
    /// It has finished as many requests as allowed.
    Requests,
    /// It uses more memory than allowed.
    Memory,
    /// No new connection can reach it.
    Socket,
    /// Its event loop stands still, or its priority was lowered and cannot be raised again.
    Overdue,
}

/// Why a generation was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbandonReason {
    /// One of its workers exited, could not be started at all, closed its server or broke before it took requests.
    Exited {
        /// Which.
        worker: WorkerId,
    },
    /// One of its workers did not listen in time.
    StartTimeout {
        /// Which.
        worker: WorkerId,
    },
    /// A warm-up request failed, or left the worker stuck.
    WarmUpFailed {
        /// At which.
        worker: WorkerId,
    },
    /// Another reload was asked for.
    Superseded,
    /// The gateway leaves.
    Stopping,
}

/// Why a worker was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillReason {
    /// Its event loop has not turned for too long.
    Stuck,
    /// It belongs to a generation that was given up.
    Abandoned,
    /// It did not listen in time.
    StartTimeout,
    /// It did not leave in time.
    StopTimeout,
    /// Its app's files have changed while it is being developed.
    Changed,
}
