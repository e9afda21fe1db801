//! Record of a request that has ended: all of its data in one place.
//!
//! The code that serves the request fills it in and passes it on once. A request that no client waits for has no line; one that
//! no worker has finished has no work.

use std::rc::Rc;

use sluice_catalog::snapshot::RUN_CLASSES;
use sluice_journal::{AccessRecord, HeldRequest, LoggedHeader};
use sluice_message::{Method, Scheme};
use sluice_scheduler::ClassId;
use sluice_traces::Context;

/// Counts of runs by class, without the class of the shortest.
pub type RunCounts = [u64; RUN_CLASSES.len() - 1];

/// Record of one ended request.
pub struct RequestRecord {
    /// The id that goes to the app as `X-Request-Id`.
    pub request_id: Rc<str>,
    /// Class of the request, as operators see it.
    pub class: Rc<str>,
    /// Data of the request's line in the access log.
    pub line: Option<AccessLine>,
    /// Cost of the request at its worker.
    pub work: Option<Work>,
}

/// An [`AccessRecord`], and the words that it borrows.
pub struct AccessLine {
    /// The method; `None` if none could be read.
    pub method: Option<Method>,
    /// Path and query as the client sent them.
    pub target: String,
    /// The Host; empty if none could be read.
    pub host: String,
    /// Scheme by which the client connected.
    pub scheme: Scheme,
    /// Headers that the log is to have.
    pub headers: Vec<LoggedHeader>,
    /// Trace of the request, if it is kept.
    pub traced: Option<Context>,
    /// Upstream that got the request, if one did.
    pub upstream: Option<Box<UpstreamLine>>,
    /// CPU time of workers that died with the request and reported none, microseconds.
    pub untold_cpu_us: u64,
    /// Other fields. CPU time and the fields above are filled in when the line is written.
    pub rest: AccessRecord<'static>,
}

/// Work of a request's upstream: see [`sluice_journal::UpstreamUse`].
pub struct UpstreamLine {
    /// Name of the upstream.
    pub name: Rc<str>,
    /// Address of the last attempt.
    pub target: Rc<str>,
    /// Attempts.
    pub tries: u32,
    /// Time from the first attempt until the answer began.
    pub first_byte_ms: Option<f64>,
    /// Time from the first attempt until the answer ended.
    pub ms: f64,
}

/// Cost of a request at its worker.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// The worker.
    pub worker: u64,
    /// Version of the app that the worker runs; `None` where the worker was gone before it was known.
    pub generation: Option<u64>,
    /// Number of the request's class.
    pub class: ClassId,
    /// Time in the worker, microseconds; `None` for a stream, which lasts for as long as its client likes.
    pub service_us: Option<u64>,
    /// CPU time of this request alone, microseconds, if known.
    pub cpu_us: Option<u64>,
    /// Number of requests of the class that `cpu_us` stands for. 0 for a request outside the sample of a light class that took
    /// long.
    pub cpu_weight: u32,
    /// Time in the handler of the route, microseconds, if known.
    pub handler_us: Option<u64>,
    /// Uninterrupted runs of the request; `None` if its worker reports none.
    pub runs: Option<RunCounts>,
    /// Longest of these runs, if it is long enough to keep and was not reported at once.
    pub longest: Option<Run>,
}

/// An uninterrupted run of a worker's main thread.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Duration, microseconds.
    pub us: u64,
    /// Time that the garbage collector took of the run, microseconds.
    pub collected_us: u64,
    /// CPU time of the main thread during the run, microseconds, if known.
    pub cpu_us: Option<u64>,
    /// Time for which the main thread was runnable but got no CPU, microseconds, if the system reports it.
    pub queued_us: Option<u64>,
    /// Time from the end of the run to the worker's report, milliseconds.
    pub ago_ms: u64,
}

/// Identification of a request in reports of crashes, stuck workers and slow requests.
#[derive(Clone, Debug)]
pub struct RequestName {
    /// `X-Request-Id`.
    pub request_id: String,
    /// Method of the request.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Class of the request.
    pub class: Rc<str>,
}

impl RequestName {
    /// The request as the log names it.
    pub fn held(&self) -> HeldRequest<'_> {
        HeldRequest { request_id: &self.request_id, method: &self.method, target: &self.target }
    }
}
