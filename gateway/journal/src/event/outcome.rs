//! Words for how requests end.

/// Way in which a request ended, and the party that ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Outcome {
    /// The app answered and the client has the answer, or as much of an event stream as it wanted.
    Answered,
    /// The app answered with a 5xx status of its own.
    AppError,
    /// The gateway answered by itself: ping, readiness, a file, a shell.
    Edge,
    /// The request was malformed, too large, or not allowed.
    Rejected,
    /// Workers died with requests like it, so it got none.
    Quarantined,
    /// Refused for lack of room, at once.
    Shed,
    /// The gateway waited as long as it may: for the client, in the queue, or for the worker.
    TimedOut,
    /// The worker died while it held the request.
    WorkerDied,
    /// The worker's answer was malformed or cut short.
    WorkerFault,
    /// An upstream could not be reached, or its answer was malformed or cut short.
    UpstreamFault,
    /// A fault of the gateway itself.
    GatewayFault,
    /// The client left before its request was complete.
    ClientGoneReceiving,
    /// The client left while the request was queued; no worker saw it.
    ClientGoneQueued,
    /// The client left while a worker had the request.
    ClientGoneInService,
    /// The connection became another protocol.
    Upgraded,
    /// Nothing moved on an event stream or upgraded connection for too long.
    StreamIdle,
}

impl Outcome {
    /// Every outcome, in the order of their discriminants.
    pub const ALL: [Self; 16] = [
        Self::Answered,
        Self::AppError,
        Self::Edge,
        Self::Rejected,
        Self::Quarantined,
        Self::Shed,
        Self::TimedOut,
        Self::WorkerDied,
        Self::WorkerFault,
        Self::UpstreamFault,
        Self::GatewayFault,
        Self::ClientGoneReceiving,
        Self::ClientGoneQueued,
        Self::ClientGoneInService,
        Self::Upgraded,
        Self::StreamIdle,
    ];

    /// The name in logs, metrics and `status --json`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::AppError => "app_error",
            Self::Edge => "edge",
            Self::Rejected => "rejected",
            Self::Quarantined => "quarantined",
            Self::Shed => "shed",
            Self::TimedOut => "timed_out",
            Self::WorkerDied => "worker_died",
            Self::WorkerFault => "worker_fault",
            Self::UpstreamFault => "upstream_fault",
            Self::GatewayFault => "gateway_fault",
            Self::ClientGoneReceiving => "client_gone_receiving",
            Self::ClientGoneQueued => "client_gone_queued",
            Self::ClientGoneInService => "client_gone_in_service",
            Self::Upgraded => "upgraded",
            Self::StreamIdle => "stream_idle",
        }
    }

    /// Whether a worker's answer went to the client as the worker meant it.
    pub const fn is_answered(self) -> bool {
        matches!(self, Self::Answered | Self::AppError | Self::Upgraded | Self::StreamIdle)
    }

    /// Whether the request failed through no fault of the client. The only definition behind error rates, monitors and
    /// traces.
    pub const fn is_failure(self) -> bool {
        match self {
            Self::AppError
            | Self::Quarantined
            | Self::Shed
            | Self::TimedOut
            | Self::WorkerDied
            | Self::WorkerFault
            | Self::UpstreamFault
            | Self::GatewayFault => true,
            Self::Answered
            | Self::Edge
            | Self::Rejected
            | Self::ClientGoneReceiving
            | Self::ClientGoneQueued
            | Self::ClientGoneInService
            | Self::Upgraded
            | Self::StreamIdle => false,
        }
    }

    /// Whether the gateway itself turned the request down.
    pub const fn is_refused(self) -> bool {
        matches!(self, Self::Rejected | Self::Quarantined | Self::Shed)
    }
}
