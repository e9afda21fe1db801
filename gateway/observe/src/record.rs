//! The record of a request that has ended: everything that is known of it, in one piece.
//!
//! The road fills it in and gives it away once. A request that no client waits for has no line; one that no worker
//! has finished has no work.

use std::rc::Rc;

use sluice_catalog::snapshot::RUN_CLASSES;
use sluice_journal::{AccessRecord, LoggedHeader};
use sluice_message::{Method, Scheme};
use sluice_scheduler::ClassId;
use sluice_traces::Context;

/// Counts of runs by class, without the class of the shortest.
pub type RunCounts = [u64; RUN_CLASSES.len() - 1];

/// See the module's text.
pub struct RequestRecord {
    /// The id that goes to the app as `X-Request-Id`.
    pub request_id: Rc<str>,
    /// Its class, as operators see it.
    pub class: Rc<str>,
    /// What becomes its line in the access log.
    pub line: Option<Line>,
    /// What it took of its worker.
    pub work: Option<Work>,
}

/// An [`AccessRecord`], and the words that it borrows.
pub struct Line {
    /// The method; `None` if none could be read.
    pub method: Option<Method>,
    /// Path and query as the client sent them.
    pub target: String,
    /// The Host; empty if none could be read.
    pub host: String,
    /// How the client came.
    pub scheme: Scheme,
    /// Headers that the log is to have.
    pub headers: Vec<LoggedHeader>,
    /// Its trace, where that is kept.
    pub traced: Option<Context>,
    /// CPU time of workers that died with it and reported none, microseconds.
    pub untold_cpu_us: u64,
    /// The rest. Its CPU time and the words above are filled in when the line is written.
    pub rest: AccessRecord<'static>,
}

/// What a request took of its worker.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// The worker.
    pub worker: u64,
    /// Version of the app that the worker runs; `None` where the worker was gone before it was known.
    pub generation: Option<u64>,
    /// The number of its class.
    pub class: ClassId,
    /// Time in the worker, microseconds; `None` for a stream, which lasts for as long as its client likes.
    pub service_us: Option<u64>,
    /// Its own CPU time, microseconds, where that is known.
    pub cpu_us: Option<u64>,
    /// Number of requests of its class for which that stands. 0 if it was not in the sample of a light class, and took long.
    pub cpu_weight: u32,
    /// Time in the handler of its route, microseconds, where that is known.
    pub handler_us: Option<u64>,
    /// Its uninterrupted runs; `None` where its worker reports nothing.
    pub runs: Option<RunCounts>,
    /// The longest of them, where that is worth remembering and was not told at once.
    pub longest: Option<Run>,
}

/// An uninterrupted run of a worker's main thread.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Duration, microseconds.
    pub us: u64,
    /// How much of it the garbage collector took, microseconds.
    pub collected_us: u64,
    /// CPU time of the main thread meanwhile, microseconds, where that is known.
    pub cpu_us: Option<u64>,
    /// How long the main thread could have run and got no CPU, microseconds, where the system tells.
    pub queued_us: Option<u64>,
    /// How long ago it ended when the worker said so, milliseconds.
    pub ago_ms: u64,
}

/// A request as those name it who tell of something that went wrong with it.
#[derive(Clone, Debug)]
pub struct RequestName {
    /// `X-Request-Id`.
    pub request_id: String,
    /// Its method.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Its class.
    pub class: Rc<str>,
}
