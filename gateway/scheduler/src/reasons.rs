//! Reasons for refused requests, and for replaced workers, abandoned generations and kills.

use crate::WorkerId;

/// Reason for the refusal of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The queue has reached its length.
    Full,
    /// The request would wait longer than allowed.
    Predicted,
    /// The request has waited as long as allowed.
    Deadline,
    /// The gateway is shutting down.
    Stopping,
    /// An app under development has exited, and nothing is started before its files change.
    Down,
}

/// Reason for the replacement of a healthy worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecycleReason {
    /// The worker has finished as many requests as allowed.
    Requests,
    /// The worker uses more memory than allowed.
    Memory,
    /// No new connection can reach the worker.
    Socket,
    /// The event loop is blocked, or the worker's priority was lowered and cannot be raised again.
    Overdue,
}

/// Reason for abandoning a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbandonReason {
    /// A worker of the generation exited, could not be started, closed its server or failed before it took requests.
    Exited {
        /// The worker.
        worker: WorkerId,
    },
    /// A worker of the generation did not listen in time.
    StartTimeout {
        /// The worker.
        worker: WorkerId,
    },
    /// A warm-up request failed, or left the worker stuck.
    WarmUpFailed {
        /// The worker that was being warmed.
        worker: WorkerId,
    },
    /// The generation on trial was turned back, by its figures or by hand.
    TurnedBack,
    /// Another reload was asked for.
    Superseded,
    /// The gateway is shutting down.
    Stopping,
}

/// Reason for killing a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillReason {
    /// The event loop has not turned for too long.
    Stuck,
    /// The worker belongs to an abandoned generation.
    Abandoned,
    /// The worker did not listen in time.
    StartTimeout,
    /// The worker did not exit in time.
    StopTimeout,
    /// The files of an app under development have changed.
    Changed,
    /// The gateway stops, and the clients of all requests of the worker have left.
    ClientGone,
}
