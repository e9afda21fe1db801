//! Events of the gateway: one variant of [`Event`] for each thing worth a log line and a metric.
//!
//! Everything is borrowed, so that an event of a request allocates nothing. This module must not know how an event is written
//! or counted.

mod level;
mod load;
mod outcome;
mod target;
mod worker;

use std::net::IpAddr;
use std::rc::Rc;

use sluice_catalog::errors::Code;
use sluice_catalog::snapshot::Lane;

use crate::app_text::AppText;
pub use level::{Level, Stream};
pub use load::{Alarm, CacheUse, IncludeEnd, Includes, Session, Step};
pub use outcome::Outcome;
pub use worker::{ExitReason, HeldRequest, RecycleCause, RunTime, StuckPlace};

/// One thing that happened. [`crate::Journal::emit`] writes its log line and moves its metrics in one call.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// A request has ended, however it ended.
    Access(AccessRecord<'a>),
    /// A worker's process was started.
    WorkerStarted {
        /// Unique id of the worker, never reused.
        worker: u64,
        /// Process ID of the worker.
        pid: u32,
        /// Version of the app that it runs.
        generation: u64,
        /// Lane that the worker belongs to.
        lane: Lane,
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
        /// Exit status in words: `exit code 1`, `signal 9 (SIGKILL)`.
        status: &'a str,
        /// Reason for the exit, in one word.
        reason: ExitReason,
        /// Whether the gateway had asked it to leave.
        expected: bool,
        /// First line of the exception that ended it.
        exception: Option<&'a str>,
        /// Requests that it held.
        held: u64,
        /// The request that it ended with, without its query, where that is known.
        request: Option<HeldRequest<'a>>,
        /// Class of that request.
        class: Option<&'a str>,
        /// Function, file, line and column of the run in which it ended, if that is known.
        place: Option<&'a str>,
        /// Evidence that is left, in words.
        evidence: Option<&'a str>,
    },
    /// A worker's event loop has not turned for a while, and its main thread burns CPU.
    WorkerOverdue {
        /// Unique id of the worker.
        worker: u64,
        /// Time since the worker's last report, milliseconds.
        silent_ms: u64,
        /// The request that it was given last.
        request: Option<HeldRequest<'a>>,
    },
    /// A worker's event loop does not turn, and its main thread burns CPU.
    WorkerStuck {
        /// Unique id of the worker.
        worker: u64,
        /// Time since the worker's last report, milliseconds.
        silent_ms: u64,
        /// CPU time of its main thread in that time, milliseconds, if the system reports it.
        cpu_ms: Option<u64>,
        /// Code that the worker runs, or the reason that it is unknown.
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
        /// Time since the worker's last report, milliseconds.
        silent_ms: u64,
        /// Kernel's description of the worker's wait.
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
        /// Reason from the catalogue.
        code: Code,
        /// The end of what it wrote to stderr; may hold several lines.
        stderr_tail: &'a str,
    },
    /// A successor is started for a worker that lives.
    WorkerRecycled {
        /// Unique id of the worker that is replaced.
        worker: u64,
        /// Reason for the replacement.
        reason: RecycleCause,
    },
    /// Workers of a new generation are started.
    ReloadStarted {
        /// The new generation.
        generation: u64,
        /// Origin of the reload.
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
        /// Reason in words.
        reason: &'a str,
        /// True if a later reload or an upgrade replaced this one.
        superseded: bool,
        /// The end of what its worker wrote to stderr; may hold several lines.
        stderr_tail: &'a str,
    },
    /// A reload did not begin.
    ReloadRefused {
        /// Reason in words.
        reason: &'a str,
    },
    /// Comparison of a version on trial with the present one: at its begin, and when it changes something.
    ReloadCompared {
        /// The generation on trial.
        generation: u64,
        /// State of the trial in a word.
        state: &'a str,
        /// Reason in words.
        reason: &'a str,
        /// Requests that ended in workers of the version.
        requests: u64,
        /// Requests that ended in workers of the present version meanwhile.
        requests_present: u64,
    },
    /// Record of the app's output: a line, and the lines that continue it.
    AppLine {
        /// Unique id of the worker that wrote it.
        worker: u64,
        /// Stream that the worker wrote to.
        stream: Stream,
        /// Text that the worker wrote.
        said: AppText<'a>,
    },
    /// The gateway accepts connections.
    Listening {
        /// Address as a URL to click on.
        url: &'a str,
    },
    /// The gateway finishes accepted requests and takes no more.
    Draining {
        /// Reason: a signal's name, `stop` and the like.
        reason: &'a str,
    },
    /// The gateway is about to exit.
    Stopped,
    /// A task that runs as long as the gateway has panicked, so the gateway leaves.
    TaskLost {
        /// Name of the task.
        task: &'a str,
        /// Place of the panic: file, line and column of the gateway's code.
        place: &'a str,
    },
    /// The number of workers wanted was changed.
    Scaled {
        /// Workers wanted before.
        from: u32,
        /// Workers wanted from now on.
        to: u32,
    },
    /// Another share of visitors gets pages that the server has rendered.
    DialChanged {
        /// The shares in force, as one reads them.
        shares: &'a str,
    },
    /// A worker held more requests at once than it may: an invariant was broken.
    OverlapSeen {
        /// Unique id of the worker.
        worker: u64,
        /// Overlaps since the last report.
        count: u64,
    },
    /// A worker's main thread ran for longer than a second without a break.
    LongRun {
        /// Unique id of the worker.
        worker: u64,
        /// Duration of the run, milliseconds.
        ms: f64,
        /// Time that the garbage collector took of the run, milliseconds, if the worker has reported it.
        collected_ms: Option<f64>,
        /// CPU time of the thread during the run, milliseconds, if known.
        cpu_ms: Option<f64>,
        /// Time for which the thread was runnable but got no CPU, milliseconds, if the system reports it.
        queued_ms: Option<f64>,
        /// Main cause of the run's duration, if known.
        spent: Option<RunTime>,
        /// Function, file and line that ran when the gateway looked, before it killed the worker in the run.
        place: Option<&'a str>,
        /// Request that caused the run, if known.
        request: Option<HeldRequest<'a>>,
        /// Class of that request.
        class: Option<&'a str>,
    },
    /// A condition that lasts, and that an operator has to act on.
    AlarmRaised {
        /// Kind of the alarm.
        alarm: Alarm,
        /// Class that the alarm is about, if any.
        class: Option<&'a str>,
        /// Observation, and advice to the operator.
        text: &'a str,
    },
    /// An alarm is over.
    AlarmCleared {
        /// Kind of the alarm.
        alarm: Alarm,
        /// Class that the alarm was about, if any.
        class: Option<&'a str>,
        /// Duration of the alarm, milliseconds.
        after_ms: u64,
    },
    /// A request has crashed a second worker, and is answered without one from then on.
    Quarantined {
        /// ID of the request in the access log.
        request_id: &'a str,
        /// Request, duration of the quarantine, and the way to release the request.
        text: &'a str,
    },
    /// Other information for an operator.
    Note {
        /// Severity of the note.
        level: Level,
        /// One sentence.
        text: &'a str,
    },
}

/// Access log data of one request. Times are in milliseconds. They are parts of `total_ms`, and must not be added up under one
/// name.
#[derive(Debug, Clone, Copy)]
pub struct AccessRecord<'a> {
    /// Arrival of the request's first byte, Unix time in milliseconds.
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
    /// Upstream that got the request, if one did.
    pub upstream: Option<&'a UpstreamUse<'a>>,
    /// Step that the request was served at, if it was for a worker.
    pub step: Option<Step>,
    /// Relation of the worker to the client's session, if it has one.
    pub session: Option<Session>,
    /// Result of the page cache, if it is on.
    pub cache: Option<CacheUse>,
    /// Results of the page's includes, if it was composed.
    pub includes: Option<Includes>,
    /// The status the client got; 0 if it got none.
    pub status: u16,
    /// The catalogue's code where the gateway answered with an error.
    pub error: Option<Code>,
    /// Bytes of the request's body.
    pub bytes_in: u64,
    /// Bytes of the response's body that went to the client.
    pub bytes_out: u64,
    /// Time from the first byte to the whole request.
    pub receive_ms: f64,
    /// Time from the whole request to its dispatch to a worker; `None` if no worker got it.
    pub queue_ms: Option<f64>,
    /// Time from the whole request to its refusal or its client's leaving; `None` if a worker got it, or it was for none.
    pub unserved_ms: Option<f64>,
    /// Time from its dispatch to the end of the worker's answer; `None` if no worker got it.
    pub service_ms: Option<f64>,
    /// Time from the first byte to the end.
    pub total_ms: f64,
    /// CPU time that the worker reports for the request.
    pub cpu_ms: Option<f64>,
    /// Number of requests of the class that `cpu_ms` stands for in metrics, as only a sample of light requests is measured.
    pub cpu_weight: u32,
    /// Time from the beginning of the route's handler to the worker's report, milliseconds, if the router shows it; at most `service_ms`.
    pub handler_ms: Option<f64>,
    /// Way in which the request ended.
    pub outcome: Outcome,
    /// The client's address, or what a trusted peer said it was.
    pub peer: IpAddr,
    /// The trace id that the app got, where it got one.
    pub trace_id: Option<u128>,
    /// Headers that the log is to have, in the order of `log.headers`.
    pub headers: &'a [LoggedHeader],
    /// True if the request's spans are exported, so that a trace can be found by `trace_id`.
    pub is_traced: bool,
}

/// Work of a request's upstream.
#[derive(Debug, Clone, Copy)]
pub struct UpstreamUse<'a> {
    /// Name of the upstream.
    pub name: &'a str,
    /// Address of the last attempt; empty if no target was chosen.
    pub target: &'a str,
    /// Attempts.
    pub tries: u32,
    /// Time from the first attempt until the answer began; `None` if none did.
    pub first_byte_ms: Option<f64>,
    /// Time from the first attempt until the answer was complete, or given up.
    pub ms: f64,
}

/// A header of a request for the access log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedHeader {
    /// Name of the header, in lower case.
    pub name: Rc<str>,
    /// Value of the header, or the placeholder of a secret.
    pub value: String,
}

#[cfg(test)]
pub(crate) mod tests_support {
    use super::{AccessRecord, Outcome, Step};

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
            upstream: None,
            step: Some(Step::Render),
            session: None,
            cache: None,
            includes: None,
            status: 200,
            error: None,
            bytes_in: 0,
            bytes_out: 18_222,
            receive_ms: 0.041,
            queue_ms: Some(1.5),
            unserved_ms: None,
            service_ms: Some(12.25),
            total_ms: 13.9,
            cpu_ms: Some(11.75),
            cpu_weight: 1,
            handler_ms: Some(10.5),
            outcome: Outcome::Answered,
            peer: std::net::IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 9)),
            trace_id: Some(0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c),
            headers: &[],
            is_traced: true,
        }
    }
}
