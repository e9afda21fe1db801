//! The gate as the supervisor knows it: what gives requests to workers, is told what happens to them, and says what is to be
//! done with their processes. Its other side is in `sluice_proxy`, of which the supervisor knows nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use sluice_catalog::config::Config;
use sluice_catalog::refusals::WarmUpError;
use sluice_catalog::snapshot::Purge;
use sluice_observe::Profiled;
use sluice_scheduler::{Action, Event, RequestId, Scheduler, WorkerId};
use sluice_vitals::{Rendered, Spent};
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use crate::parts::PartsPurger;

/// What a worker says of a request that the app has let go.
#[derive(Clone, Debug, Default)]
pub struct Reported<'a> {
    /// The request's own CPU time, microseconds, where that is known: others may have shared the worker.
    pub cpu_us: Option<u64>,
    /// Requests of its class for which that time stands; one where the worker does not say. Of a light class only a sample is
    /// measured. 0: the request was not in the sample and took long.
    pub weight: Option<u32>,
    /// The template of the app's router, if that is news.
    pub route: Option<&'a str>,
    /// Its uninterrupted runs of 1 to 10 ms, 10 to 100 ms, 100 ms to 1 s, and longer.
    pub runs: &'a [u64],
    /// The longest of them, from 10 ms.
    pub longest: Option<LongRun>,
    /// Time in the handler of its route, microseconds, of some requests.
    pub handler_us: Option<u64>,
}

/// What a worker needs, as it says every second.
#[derive(Clone, Copy, Debug)]
pub struct Vitals {
    /// Its listening process.
    pub pid: u32,
    /// Resident memory, bytes.
    pub rss_bytes: u64,
    /// JavaScript heap in use, bytes.
    pub heap_used_bytes: u64,
}

/// An uninterrupted run of a worker's main thread.
#[derive(Clone, Copy, Debug)]
pub struct LongRun {
    /// How long it was, microseconds.
    pub us: u64,
    /// How much of that the garbage collector took, microseconds.
    pub collected_us: u64,
    /// CPU time of the main thread meanwhile, microseconds, where that is known.
    pub cpu_us: Option<u64>,
    /// How long the main thread could have run and got no CPU, microseconds, where the system tells.
    pub queued_us: Option<u64>,
    /// How long ago it ended, milliseconds.
    pub ago_ms: u64,
    /// The request whose run it was, where that is known.
    pub request: Option<RequestId>,
}

/// A request that a worker holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its number.
    pub request: RequestId,
    /// `X-Request-Id`.
    pub request_id: String,
    /// Its method.
    pub method: String,
    /// Its path, without the query, which may hold secrets.
    pub path: String,
    /// Its class.
    pub class: Rc<str>,
}

/// The unexpected end of a worker that served.
#[derive(Clone, Copy, Debug)]
pub struct Crash<'a> {
    /// How its process ended, in words.
    pub status: &'a str,
    /// First line of the exception that ended it.
    pub exception: Option<&'a str>,
    /// How many requests it held.
    pub held: usize,
    /// The one that it ended with, where that is known.
    pub request: Option<&'a Held>,
}

/// What a worker says of the runs of its main thread.
#[derive(Clone, Debug)]
pub struct RunsTold<'a> {
    /// Runs by duration since it serves.
    pub counts: &'a [u64],
    /// Time in them, microseconds.
    pub time_us: &'a [u64],
    /// For how long it has watched, microseconds.
    pub observed_us: u64,
    /// Pauses of the garbage collector.
    pub collections: u64,
    /// Time in them, microseconds.
    pub collected_us: u64,
    /// Long runs since it said so last.
    pub long: Vec<LongRun>,
}

/// What a worker says of the tables of its app's routers.
#[derive(Clone, Debug)]
pub struct RoutesGrown<'a> {
    /// Entries of all tables.
    pub size: u64,
    /// How many of them are more than when the worker had served for a second.
    pub added: u64,
    /// Code that has added most: file, line, entries.
    pub places: Vec<(&'a str, u64, u64)>,
}

/// What workers are told of rendering.
#[derive(Clone, Debug, PartialEq)]
pub struct DialInForce {
    /// Counts changes, from 1.
    pub version: u64,
    /// Shares of visitors for whom the server renders, 0 to 1, by entry of `render.server`.
    pub server: BTreeMap<String, f64>,
}

/// What a worker says of components and pages since it said so last.
#[derive(Clone, Debug)]
pub struct RenderedTold<'a> {
    /// By component and outcome.
    pub components: Vec<Rendered<'a>>,
    /// By setting of the dial.
    pub settings: Vec<Spent<'a>>,
    /// Variants that pages had.
    pub variants: Vec<&'a str>,
}

/// Who carries out actions on processes.
pub type Host = Rc<dyn Fn(Action)>;

/// See the module's text. No method calls back into the supervisor before it returns, but for the actions that
/// [`Gate::set_host`] names somebody for.
pub trait Gate {
    /// The config in force.
    fn config(&self) -> Rc<Config>;
    /// How much of pages workers are to render.
    fn dial(&self) -> Rc<DialInForce>;
    /// Shows the scheduler's state; `read` must not call the gate.
    fn read_scheduler(&self, read: &mut dyn FnMut(&Scheduler));
    /// Names who carries out the actions on processes; before this nothing is started. The actions of a step are carried
    /// out after it, so the host may call the gate.
    fn set_host(&self, host: Host);
    /// Names who has workers purge the parts of pages that they keep.
    fn set_parts_purger(&self, purger: PartsPurger);
    /// Whether priorities of workers can be raised again; no, unless this is said.
    fn set_may_raise(&self, may_raise: bool);

    // What happened to a worker.

    /// What concerns nobody but the scheduler.
    fn tell(&self, event: Event);
    /// The worker's server listens on this socket. `marks` says whether heads of its answers carry tokens.
    fn listening(&self, worker: WorkerId, socket: PathBuf, marks: bool);
    /// The worker's preload has opened this pipe, so that it may get requests ahead of time.
    fn takes_ahead(&self, worker: WorkerId, pipe: &Path);
    /// The worker's main thread is in a loop that lets others in: until then, what it is given counts up the byte in this file.
    fn breathes(&self, worker: WorkerId, counter: &Path, until: Instant);
    /// The worker cannot go on: it dies without having been asked to leave. Nothing more goes to it (I4), and it is replaced.
    fn faulted(&self, worker: WorkerId);
    /// The app, which is being developed, has ended by itself: how, and the end of its stderr.
    fn app_is_down(&self, status: &str, stderr_tail: &str);
    /// The worker's process is gone.
    fn exited(&self, worker: WorkerId);
    /// The worker has used so much CPU time of which no request was told. Said just before [`Gate::exited`], while the requests
    /// that it held are known.
    fn left_untold(&self, worker: WorkerId, cpu: Duration);
    /// The worker, which served, has ended unexpectedly.
    fn crashed(&self, worker: WorkerId, crash: &Crash<'_>);
    /// The worker's main thread was awake for so much of the time since it said so last.
    fn was_awake(&self, worker: WorkerId, elapsed: Duration, awake: Duration);
    /// The worker beats.
    fn beats(&self, worker: WorkerId, vitals: Vitals);
    /// The app writes to connections itself, past its responses; so many bytes of that were dropped.
    fn writes_raw(&self, worker: WorkerId, dropped_bytes: u64);

    /// The worker has counted the uninterrupted runs of its main thread.
    fn runs(&self, worker: WorkerId, told: &RunsTold<'_>);

    /// The tables of the app's routers have grown or shrunk.
    fn routes_grown(&self, worker: WorkerId, told: &RoutesGrown<'_>);

    /// The worker has rendered components and pages.
    fn rendered(&self, told: &RenderedTold<'_>);

    // What a worker says of requests.

    /// The request's response has ended for good.
    fn reported(&self, worker: WorkerId, request: RequestId, reported: &Reported<'_>);
    /// The worker has profiled a request.
    fn has_profiled(&self, worker: WorkerId, told: Profiled);
    /// The worker has reported all that had ended for it by now.
    fn has_reported_all(&self, worker: WorkerId, now: Instant);
    /// The app has the upgrade or the event stream to itself, and goes on to other requests.
    fn app_took(&self, worker: WorkerId, request: RequestId);
    /// The app waits with the answer to a long poll: it leaves its slot.
    fn waits_on(&self, worker: WorkerId, request: RequestId);
    /// The app has not seen the request, because it has not ended the other.
    fn busy(&self, worker: WorkerId, request: RequestId, by: RequestId);
    /// The app has connected to the gateway from this local port, or has closed that connection.
    fn asks_itself(&self, worker: WorkerId, port: u16, is_over: bool);
    /// The app holds no request at all, so whatever it broke off has ended.
    fn idle(&self, worker: WorkerId);

    // What the supervisor asks.

    /// Woken when requests wait for a worker; where further ones are granted to workers that wait themselves.
    fn queue_waits(&self) -> &Notify;
    /// Whether main threads of workers are to be looked at: somebody waits, or a worker holds what may only wait.
    fn wants_looks(&self) -> bool;
    /// Whether the gateway is on its way out.
    fn is_leaving(&self) -> bool;
    /// Requests that this worker has finished.
    fn requests_total(&self, worker: WorkerId) -> u64;
    /// The request that the worker was given last of those it holds: request id, method, target.
    fn latest_request(&self, worker: WorkerId) -> Option<(String, String, String)>;
    /// Requests that the worker holds, in the order in which it began them. The gateway's own are left out.
    fn held(&self, worker: WorkerId) -> Vec<Held>;
    /// When the worker was given the latest of the requests that it holds.
    fn latest_given(&self, worker: WorkerId) -> Option<Instant>;
    /// Purges pages for an app. The receiver gets how many variants of pages that were.
    fn purge(&self, purge: &Purge, is_soft: bool) -> oneshot::Receiver<u64>;
    /// Why the warm-up of this worker failed, if it was the latest that did.
    fn warm_up_failure(&self, worker: WorkerId) -> Option<WarmUpError>;
}

impl dyn Gate {
    /// Reads the scheduler's state.
    pub(crate) fn scheduler<T>(&self, read: impl FnOnce(&Scheduler) -> T) -> T {
        let (mut read, mut found) = (Some(read), None);
        self.read_scheduler(&mut |scheduler| found = read.take().map(|read| read(scheduler)));
        found.expect("the gate shows the scheduler before it returns")
    }
}
