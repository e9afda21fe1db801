//! What can be said of the gateway: one variant of [`Event`] for each thing worth a log line and a metric.
//!
//! Everything is borrowed, so that telling the journal of a request allocates nothing. This module must not know how an
//! event is written or counted.

mod worker;

use std::net::IpAddr;

use sluice_catalog::errors::Code;

pub use worker::{ExitReason, HeldRequest, Recycled, StuckPlace};

/// One thing that happened. [`crate::Journal::emit`] writes its log line and moves its metrics in one call.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// A request has ended, however it ended.
    Access(AccessRecord<'a>),
    /// A worker's process was started.
    WorkerStarted {
        /// Unique id of the worker, never reused.
        worker: u64,
        /// Its process id.
        pid: u32,
        /// Version of the app that it runs.
        generation: u64,
    },
    /// A worker listens and takes requests.
    WorkerReady {
        /// Unique id of the worker.
        worker: u64,
        /// Time from its start, milliseconds.
        after_ms: u64,
    },
    /// A worker's process is gone.
    WorkerExited {
        /// Unique id of the worker.
        worker: u64,
        /// How it ended, in words: `exit code 1`, `signal 9 (SIGKILL)`.
        status: &'a str,
        /// Why, in one word.
        reason: ExitReason,
        /// Whether the gateway had asked it to leave.
        expected: bool,
    },
    /// A worker's event loop does not turn, and its main thread burns CPU.
    WorkerStuck {
        /// Unique id of the worker.
        worker: u64,
        /// How long nothing was heard of it, milliseconds.
        silent_ms: u64,
        /// Where it is, or why that is not known.
        place: Result<StuckPlace<'a>, &'a str>,
        /// The functions in which a short profile spent most of its time.
        hottest: Option<&'a str>,
        /// The request that it was given last.
        request: Option<HeldRequest<'a>>,
        /// The file of the CPU profile.
        profile: Option<&'a str>,
    },
    /// A worker's event loop does not turn, and its main thread waits.
    WorkerBlocked {
        /// Unique id of the worker.
        worker: u64,
        /// How long nothing was heard of it, milliseconds.
        silent_ms: u64,
        /// What it waits in, as the kernel tells.
        waits_in: &'a str,
        /// The request that it was given last.
        request: Option<HeldRequest<'a>>,
    },
    /// A worker is started again only after a pause.
    WorkerBackoff {
        /// Unique id of the worker that exited.
        worker: u64,
        /// The pause, milliseconds.
        delay_ms: u64,
    },
    /// A worker never came to listen.
    WorkerStartFailed {
        /// Unique id of the worker.
        worker: u64,
        /// Why, from the catalogue.
        code: Code,
        /// The end of what it wrote to stderr; may hold several lines.
        stderr_tail: &'a str,
    },
    /// A successor is started for a healthy worker.
    WorkerRecycled {
        /// Unique id of the worker that is replaced.
        worker: u64,
        /// What it has had enough of.
        reason: Recycled,
    },
    /// Workers of a new generation are started.
    ReloadStarted {
        /// The new generation.
        generation: u64,
        /// Who asked.
        by: &'a str,
    },
    /// Every place has a worker of the new generation.
    ReloadFinished {
        /// The generation in force.
        generation: u64,
        /// Time since it was asked for, milliseconds.
        after_ms: u64,
    },
    /// A generation was given up.
    ReloadAbandoned {
        /// The generation.
        generation: u64,
        /// Why, in words.
        reason: &'a str,
        /// Whether a later reload, or an upgrade, took its place.
        superseded: bool,
        /// The end of what its worker wrote to stderr; may hold several lines.
        stderr_tail: &'a str,
    },
    /// A reload did not begin.
    ReloadRefused {
        /// Why, in words.
        reason: &'a str,
    },
    /// A minute after a reload.
    ReloadCompared {
        /// The generation in force.
        generation: u64,
        /// 95th percentile of service time of the generation before, milliseconds.
        before_ms: Option<f64>,
        /// The same of this one.
        after_ms: Option<f64>,
    },
    /// A line that the app itself wrote.
    AppLine {
        /// Unique id of the worker that wrote it.
        worker: u64,
        /// Where it wrote it.
        stream: Stream,
        /// The line, without its line feed.
        line: &'a str,
    },
    /// The gateway accepts connections.
    Listening {
        /// Where, as a URL to click on.
        url: &'a str,
    },
    /// The gateway finishes what it has and takes no more.
    Draining {
        /// Why: a signal's name, `stop` and the like.
        reason: &'a str,
    },
    /// The gateway is about to be gone.
    Stopped,
    /// The number of workers wanted was changed.
    Scaled {
        /// Workers wanted before.
        from: u32,
        /// Workers wanted from now on.
        to: u32,
    },
    /// A worker held more requests at once than it may: an invariant was broken.
    OverlapSeen {
        /// Unique id of the worker.
        worker: u64,
        /// How many more overlaps than were told before.
        count: u64,
    },
    /// Anything else that an operator should read.
    Note {
        /// How much it matters.
        level: Level,
        /// One sentence.
        text: &'a str,
    },
}

/// Which of a worker's outputs a line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// File descriptor 1.
    Stdout,
    /// File descriptor 2.
    Stderr,
}

impl Stream {
    /// The name in the log.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// How much an event matters to an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Normal life.
    Info,
    /// Somebody should look at it some day.
    Warn,
    /// Somebody should look at it now.
    Error,
}

impl Level {
    /// The name in the log.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// How a request ended and who ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Outcome {
    /// The app answered and the client has the answer, or as much of an event stream as it wanted.
    Answered,
    /// The app answered with a 5xx status of its own.
    AppError,
    /// The gateway answered by itself: ping, readiness, a file.
    Edge,
    /// The request was malformed or too large.
    Rejected,
    /// Refused for lack of room, at once.
    Shed,
    /// The gateway waited as long as it may: for the client, in the queue, or for the worker.
    TimedOut,
    /// The worker died while it held the request.
    WorkerDied,
    /// The worker's answer was malformed or cut short.
    WorkerFault,
    /// The client left before its request was whole.
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
    pub const ALL: [Self; 13] = [
        Self::Answered,
        Self::AppError,
        Self::Edge,
        Self::Rejected,
        Self::Shed,
        Self::TimedOut,
        Self::WorkerDied,
        Self::WorkerFault,
        Self::ClientGoneReceiving,
        Self::ClientGoneQueued,
        Self::ClientGoneInService,
        Self::Upgraded,
        Self::StreamIdle,
    ];

    /// The name in logs, metrics and `status --json`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::AppError => "app_error",
            Self::Edge => "edge",
            Self::Rejected => "rejected",
            Self::Shed => "shed",
            Self::TimedOut => "timed_out",
            Self::WorkerDied => "worker_died",
            Self::WorkerFault => "worker_fault",
            Self::ClientGoneReceiving => "client_gone_receiving",
            Self::ClientGoneQueued => "client_gone_queued",
            Self::ClientGoneInService => "client_gone_in_service",
            Self::Upgraded => "upgraded",
            Self::StreamIdle => "stream_idle",
        }
    }

    /// Whether a worker's answer went to the client as the worker meant it.
    #[must_use]
    pub const fn is_answered(self) -> bool {
        matches!(self, Self::Answered | Self::AppError | Self::Upgraded | Self::StreamIdle)
    }

    /// Whether the gateway itself turned the request down.
    #[must_use]
    pub const fn is_refused(self) -> bool {
        matches!(self, Self::Rejected | Self::Shed)
    }
}

/// What the access log says of one request. Times are milliseconds; they are parts of `total_ms`, not to be added up under
/// one name.
#[derive(Debug, Clone, Copy)]
pub struct AccessRecord<'a> {
    /// When the request's first byte came, Unix time in milliseconds.
    pub time_unix_ms: u64,
    /// The id that goes to the app as `X-Request-Id`.
    pub request_id: &'a str,
    /// The method; empty if none could be read.
    pub method: &'a str,
    /// Path and query as the client sent them; the log keeps the first 2,048 bytes.
    pub target: &'a str,
    /// The Host; empty if none could be read.
    pub host: &'a str,
    /// The class; empty where none was found. The caller bounds how many there are.
    pub class: &'a str,
    /// The worker that got the request, if any did.
    pub worker: Option<u64>,
    /// Workers that got it.
    pub tries: u32,
    /// The status the client got; 0 if it got none.
    pub status: u16,
    /// The catalogue's code where the gateway answered with an error.
    pub error: Option<Code>,
    /// Bytes of the request's body.
    pub bytes_in: u64,
    /// Bytes of the response's body that went to the client.
    pub bytes_out: u64,
    /// From the first byte to the whole request.
    pub receive_ms: f64,
    /// From the whole request to a worker, or to giving up; `None` if it was never queued.
    pub queue_ms: Option<f64>,
    /// From the worker getting it to the end of the worker's answer; `None` if no worker got it.
    pub service_ms: Option<f64>,
    /// From the first byte to the end.
    pub total_ms: f64,
    /// CPU time that the worker reports for it.
    pub cpu_ms: Option<f64>,
    /// How it ended.
    pub outcome: Outcome,
    /// The client's address, or what a trusted peer said it was.
    pub peer: IpAddr,
}

#[cfg(test)]
pub(crate) mod tests_support {
    use super::{AccessRecord, Outcome};

    /// A request in which nothing is remarkable.
    pub(crate) fn record() -> AccessRecord<'static> {
        AccessRecord {
            time_unix_ms: 1_767_225_599_500,
            request_id: "0198c0de-7e57-4a11-8000-00000000002a",
            method: "GET",
            target: "/product/12?colour=red",
            host: "shop.example",
            class: "shop.example GET /product/:id",
            worker: Some(3),
            tries: 1,
            status: 200,
            error: None,
            bytes_in: 0,
            bytes_out: 18_222,
            receive_ms: 0.041,
            queue_ms: Some(1.5),
            service_ms: Some(12.25),
            total_ms: 13.9,
            cpu_ms: Some(11.75),
            outcome: Outcome::Answered,
            peer: std::net::IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 9)),
        }
    }
}
