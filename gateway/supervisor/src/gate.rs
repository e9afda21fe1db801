//! The gate as the supervisor sees it: it gives requests to workers, receives reports about them, and decides about
//! their processes. The other side is in `sluice_proxy`, which the supervisor does not know.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use sluice_catalog::config::Config;
use sluice_catalog::refusals::WarmUpError;
use sluice_catalog::snapshot::Purge;
use sluice_observe::{CutRun, RequestName, TailReport};
use sluice_scheduler::{Action, Event, RequestId, Scheduler, WorkerId};
use sluice_vitals::{CallsReport, ComponentReport, GraphCounts, GraphPathReport, GraphRouteReport, SettingReport};
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use crate::parts::PartsPurger;

/// A worker's report about a request that the app has finished or released.
#[derive(Clone, Debug, Default)]
pub struct CpuReport<'a> {
    /// CPU time of the request itself, microseconds, if known: other requests may have shared the worker.
    pub cpu_us: Option<u64>,
    /// Number of requests of its class that the CPU time stands for; one if the worker does not say. Only a sample of a
    /// light class is measured. 0 means that the request took long outside the sample.
    pub weight: Option<u32>,
    /// Template of the app's router, if not reported before.
    pub route: Option<&'a str>,
    /// Number of its uninterrupted runs of 1 to 10 ms, 10 to 100 ms, 100 ms to 1 s, and longer.
    pub runs: &'a [u64],
    /// Longest of its runs, if at least 10 ms.
    pub longest: Option<LongRun>,
    /// Time in the handler of its route, microseconds, reported for some requests.
    pub handler_us: Option<u64>,
}

/// A worker's use of memory, reported every second.
#[derive(Clone, Copy, Debug)]
pub struct Vitals {
    /// Process that listens.
    pub pid: u32,
    /// Resident memory, bytes.
    pub rss_bytes: u64,
    /// JavaScript heap in use, bytes.
    pub heap_used_bytes: u64,
}

/// An uninterrupted run of a worker's main thread.
#[derive(Clone, Copy, Debug)]
pub struct LongRun {
    /// Duration, microseconds.
    pub us: u64,
    /// Time that the garbage collector took of it, microseconds.
    pub collected_us: u64,
    /// CPU time of the main thread during it, microseconds, if known.
    pub cpu_us: Option<u64>,
    /// Time that the main thread was ready to run but got no CPU, microseconds, if the system reports it.
    pub queued_us: Option<u64>,
    /// Time since its end, milliseconds.
    pub ago_ms: u64,
    /// Request that the run belonged to, if known.
    pub request: Option<RequestId>,
}

/// A request that a worker holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InflightRequest {
    /// Number of the request.
    pub request: RequestId,
    /// Value of `X-Request-Id`.
    pub request_id: String,
    /// Method of the request.
    pub method: String,
    /// Path of the request, without the query, which may contain secrets.
    pub path: String,
    /// Class of the request.
    pub class: Rc<str>,
}

/// The unexpected end of a worker that served.
#[derive(Clone, Copy, Debug)]
pub struct Crash<'a> {
    /// End of its process, in words.
    pub status: &'a str,
    /// First line of the exception that ended it.
    pub exception: Option<&'a str>,
    /// Number of requests that it held.
    pub held: usize,
    /// Request that ended it, if known.
    pub request: Option<&'a InflightRequest>,
    /// Place of the run in which it ended, if known.
    pub place: Option<&'a str>,
    /// Evidence that is left, in words.
    pub evidence: Option<&'a str>,
}

/// A worker's report about the runs of its main thread.
#[derive(Clone, Debug)]
pub struct RunsReport<'a> {
    /// Number of runs by duration since it began to serve.
    pub counts: &'a [u64],
    /// Time in these runs, microseconds.
    pub time_us: &'a [u64],
    /// Time over which it has observed runs, microseconds.
    pub observed_us: u64,
    /// Number of pauses of the garbage collector.
    pub collections: u64,
    /// Time in these pauses, microseconds.
    pub collected_us: u64,
    /// Long runs since the last report.
    pub long: Vec<LongRun>,
}

/// A worker's report about the tables of its app's routers.
#[derive(Clone, Debug)]
pub struct RoutesReport<'a> {
    /// Number of entries in all tables.
    pub size: u64,
    /// Increase since the worker had served for one second.
    pub added: u64,
    /// Code that has added most entries: file, line, entries.
    pub places: Vec<(&'a str, u64, u64)>,
}

/// Settings of rendering that are sent to workers.
#[derive(Clone, Debug, PartialEq)]
pub struct DialInForce {
    /// Number of changes, from 1.
    pub version: u64,
    /// Shares of visitors for whom the server renders, 0 to 1, by entry of `render.server`.
    pub server: BTreeMap<String, f64>,
}

/// A worker's report about components and pages since its last one.
#[derive(Clone, Debug)]
pub struct RenderReport<'a> {
    /// The worker.
    pub worker: WorkerId,
    /// Renders by component and outcome.
    pub components: Vec<ComponentReport<'a>>,
    /// Pages by setting of the dial.
    pub settings: Vec<SettingReport<'a>>,
    /// Variants on pages.
    pub variants: Vec<&'a str>,
}

/// A worker's report about its graphs since its last one.
#[derive(Clone, Debug)]
pub struct GraphReport<'a> {
    /// Calls by route and method.
    pub routes: Vec<GraphRouteReport<'a>>,
    /// Paths by pattern.
    pub paths: Vec<GraphPathReport<'a>>,
    /// Pages and requests.
    pub counts: GraphCounts,
}

/// Function that carries out actions on processes.
pub type Host = Rc<dyn Fn(Action)>;

/// Interface to the gate. See the module's text. No method calls back into the supervisor before it returns, except for
/// actions through the host from [`Gate::set_host`].
pub trait Gate {
    /// The config in force.
    fn config(&self) -> Rc<Config>;
    /// Share of pages that workers should render.
    fn dial(&self) -> Rc<DialInForce>;
    /// Passes the scheduler's state to `read`, which must not call the gate.
    fn read_scheduler(&self, read: &mut dyn FnMut(&Scheduler));
    /// Sets the function that carries out actions on processes; nothing is started before. The actions of a step are
    /// carried out after it, so the host may call the gate.
    fn set_host(&self, host: Host);
    /// Sets the function that makes workers purge their cached parts of pages.
    fn set_parts_purger(&self, purger: PartsPurger);
    /// Sets whether priorities of workers can be raised again; false by default.
    fn set_may_raise(&self, may_raise: bool);
    /// Purges pages for an app. The receiver gets the number of purged variants of pages.
    fn purge(&self, purge: &Purge, is_soft: bool) -> oneshot::Receiver<u64>;
    /// Passes an event that concerns only the scheduler.
    fn tell(&self, event: Event);
    /// Whether the gateway is shutting down.
    fn is_leaving(&self) -> bool;
    /// The workers' life, as the gate follows it.
    fn workers(&self) -> &dyn Workers;
    /// Receiver of workers' reports.
    fn reports(&self) -> &dyn Reports;
}

/// Life of workers as the gate follows it, from their server's start to their exit.
pub trait Workers {
    /// Reports that the worker's server listens on this socket. `marks` says whether heads of its answers carry tokens.
    fn listening(&self, worker: WorkerId, socket: PathBuf, marks: bool);
    /// Reports that the worker's preload has opened this pipe, so that it may get requests ahead of time.
    fn takes_ahead(&self, worker: WorkerId, pipe: &Path);
    /// Reports that the worker's main thread is in a loop that lets others in until then. Each request given to it
    /// increments the byte in this file.
    fn breathes(&self, worker: WorkerId, counter: &Path, until: Instant);
    /// Reports that a library keeps its clients' state in the worker. Clients that ask below `mount` come back by their address,
    /// upgrades by its `name` in their path.
    fn keeps_clients(&self, worker: WorkerId, mount: Option<&str>, name: Option<&str>);
    /// Reports that the app has connected to the gateway from this local port, or has closed that connection.
    fn asks_itself(&self, worker: WorkerId, port: u16, is_over: bool);
    /// Reports that the app writes to connections itself, past its responses, and how many bytes of that were dropped.
    fn writes_raw(&self, worker: WorkerId, dropped_bytes: u64);
    /// Reports that the worker is dying without having been asked to exit. It gets nothing more (I4) and is replaced.
    fn faulted(&self, worker: WorkerId);
    /// Reports that an app in development has exited by itself, with its status and the end of its stderr.
    fn app_is_down(&self, status: &str, stderr_tail: &str);
    /// Reports that the worker's process has exited.
    fn exited(&self, worker: WorkerId);
    /// Reports CPU time of the worker that no report attributed to a request. Called directly before [`Workers::exited`],
    /// while the requests that it held are known.
    fn left_untold(&self, worker: WorkerId, cpu: Duration);
    /// Reports a run that the worker's main thread is in, and how many requests the worker holds.
    fn runs_on(&self, worker: WorkerId, silent_ms: u64, request: Option<&RequestName>, held: usize);
    /// Reports the run in which the gateway kills the worker, and the request of that run.
    fn cut_off(&self, worker: WorkerId, run: &CutRun<'_>, request: Option<&RequestName>);
    /// Reports the unexpected end of a worker that served.
    fn crashed(&self, worker: WorkerId, crash: &Crash<'_>);

    // Questions of the supervisor.

    /// Notification that requests wait for a worker, where waiting workers may get further ones.
    fn queue_waits(&self) -> &Notify;
    /// Whether the supervisor should check main threads of workers: a request waits, or a worker holds requests that
    /// may only wait.
    fn wants_looks(&self) -> bool;
    /// Number of requests that this worker has finished.
    fn requests_total(&self, worker: WorkerId) -> u64;
    /// Latest request given to the worker that it still holds.
    fn latest_request(&self, worker: WorkerId) -> Option<RequestName>;
    /// Requests that the worker holds, in the order in which it began them, without the gateway's own.
    fn held(&self, worker: WorkerId) -> Vec<InflightRequest>;
    /// Time at which the worker got the latest of the requests that it holds. `None` while one of them is unwritten.
    fn latest_given(&self, worker: WorkerId) -> Option<Instant>;
    /// Error of this worker's warm-up, if it was the latest that failed.
    fn warm_up_failure(&self, worker: WorkerId) -> Option<WarmUpError>;
}

/// Receiver of the workers' reports on requests and on themselves.
pub trait Reports {
    /// Reports the time for which the worker's main thread was awake since the last such report.
    fn was_awake(&self, worker: WorkerId, elapsed: Duration, awake: Duration);
    /// Reports a beat of the worker.
    fn beats(&self, worker: WorkerId, vitals: Vitals);
    /// Reports the worker's counts of uninterrupted runs.
    fn runs(&self, worker: WorkerId, told: &RunsReport<'_>);
    /// Reports that the tables of the app's routers have grown or shrunk.
    fn routes_grown(&self, worker: WorkerId, told: &RoutesReport<'_>);
    /// Reports rendered components and pages.
    fn rendered(&self, told: &RenderReport<'_>);
    /// Reports what routes and pages of graphs did.
    fn used_graph(&self, told: &GraphReport<'_>);
    /// Reports the app's HTTP calls to other hosts.
    fn called(&self, worker: WorkerId, told: &[CallsReport<'_>]);

    // Of single requests.

    /// Reports that the request's response has ended for good.
    fn reported(&self, worker: WorkerId, request: RequestId, reported: &CpuReport<'_>);
    /// Reports that the worker has profiled a request.
    fn has_profiled(&self, worker: WorkerId, told: TailReport);
    /// Reports that the worker has reported all requests that had ended by now.
    fn has_reported_all(&self, worker: WorkerId, now: Instant);
    /// Reports that the app alone handles the upgrade or event stream from now on, and takes other requests.
    fn app_took(&self, worker: WorkerId, request: RequestId);
    /// Reports that the app delays the answer of a long poll, so that the request leaves its slot.
    fn waits_on(&self, worker: WorkerId, request: RequestId);
    /// Reports that the app has not seen the request, because it has not finished the other one (`by`).
    fn busy(&self, worker: WorkerId, request: RequestId, by: RequestId);
    /// Reports that the app holds no request, so all requests that it broke off have ended.
    fn idle(&self, worker: WorkerId);
}

impl dyn Gate {
    /// Reads the scheduler's state.
    pub(crate) fn scheduler<T>(&self, read: impl FnOnce(&Scheduler) -> T) -> T {
        let (mut read, mut found) = (Some(read), None);
        self.read_scheduler(&mut |scheduler| found = read.take().map(|read| read(scheduler)));
        found.expect("the gate shows the scheduler before it returns")
    }
}
