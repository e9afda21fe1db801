//! What all connections and workers share: the scheduler, the requests it decides about, and the config.
//!
//! Everything runs on one thread, so a decision is one borrow of the scheduler and never a lock. The gate carries out
//! what the scheduler decides; it decides nothing itself. What an operator asks of it is in `view`.

mod actions;
mod ahead;
mod alarms;
mod connections;
mod costs;
mod ladder;
mod mode;
mod quarantined;
mod second_try;
#[cfg(test)]
pub(crate) mod tests;
mod view;
mod workers;

use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use sluice_catalog::config::{Concurrency, Config};
use sluice_catalog::errors::Code;
use sluice_journal::{Event as Happening, Journal, Level};
use sluice_scheduler::{
    AbandonReason, Action, Event, KillReason, Lane, RecycleReason, RequestId, Scheduler, Time, WorkerId,
};
use tokio::sync::Notify;

use crate::admit::rate::Rates;
use crate::answers::files::Files;
use crate::front::handles::ConnectionHandles;
pub(crate) use crate::ids::to_usize;
use crate::ids::{RequestMap, WorkerMap};
use crate::receive::spool::TempStore;
use crate::receive::trust::Trust;
use crate::record::CostReports;
use crate::record::measures::Measures;
use crate::record::reporters::Reporters;
use crate::respond::answer::{Answer, Times};
use crate::sessions::Sessions;
use crate::upstream::token::Tokens;
use crate::upstream::{Exchange, Job, Patience, Slots};
use crate::warm_up::Recent;
use sluice_classes::Classes;

use ahead::Ahead;
use alarms::Alarms;
use connections::Refusals;
pub(crate) use quarantined::Pass;
use second_try::SecondTries;
pub(crate) use second_try::{Cause, Orphan, Seen};

/// How often the operator is told of the same trouble.
const NOTE_PERIOD: Duration = Duration::from_secs(10);

/// What the supervisor does for the gate.
pub trait WorkerHost {
    /// Start a process with this version of the app in this place of the pool; the result comes back as
    /// [`Gate::listening`] or [`Gate::exited`]. It gets the operating-system priority of its lane.
    fn start(&self, worker: WorkerId, instance: u32, generation: u64, lane: Lane);
    /// Give it the lowest operating-system priority.
    fn lower(&self, _worker: WorkerId) {}
    /// Give it its lane's priority again.
    fn raise(&self, _worker: WorkerId) {}
    /// Ask it to leave.
    fn stop(&self, worker: WorkerId);
    /// Look into a stuck worker; the end of that comes back as [`Gate::examined`], never from within this call.
    fn examine(&self, worker: WorkerId);
    /// Kill it and its children.
    fn kill(&self, worker: WorkerId, reason: KillReason);
    /// The place of a worker that has gone waits before its next start.
    fn backs_off(&self, worker: WorkerId, instance: u32, delay_ms: u64);
    /// No worker ever listened.
    fn gives_up(&self);
    /// A successor is on its way for a healthy worker.
    fn recycles(&self, worker: WorkerId, reason: RecycleReason);
    /// Fresh workers, this one the latest, use more memory than allowed.
    fn is_bloated(&self, worker: WorkerId);
    /// A reload is over: with nothing to say where the generation took all places over, else with why it did not.
    /// Called within a step, so it must not call the gate.
    fn reload_ended(&self, generation: u64, abandoned: Option<AbandonReason>);
}

/// The shared state of the gateway.
pub struct Gate {
    config: RefCell<Rc<Config>>,
    /// Where events are told.
    pub journal: Journal,
    pub(crate) store: Rc<TempStore>,
    pub(crate) classes: Classes,
    pub(crate) sessions: Sessions,
    pub(crate) trust: Trust,
    pub(crate) files: Files,
    pub(crate) connections: ConnectionHandles,
    pub(crate) tokens: Tokens,
    pub(crate) costs: CostReports,
    measures: Measures,
    pub(crate) reporters: Reporters,
    /// What clients have lately asked for, for warming new workers.
    pub(crate) recent: RefCell<Recent>,
    /// Why the latest warm-up failed, and whose it was.
    warm_up_failure: RefCell<Option<(WorkerId, String)>>,
    port: Cell<u16>,
    rates: Option<RefCell<Rates>>,
    alarms: Alarms,
    mode: mode::Mode,
    ahead: Ahead,
    deaths: SecondTries,
    scheduler: RefCell<Scheduler>,
    may_raise: Cell<bool>,
    /// Workers may get further requests while theirs wait; whoever grants that is woken when the queue waits.
    looks_for_waits: bool,
    queue_waits: Notify,
    actions: Cell<Vec<Action>>,
    epoch: Instant,
    /// The scheduler's clock as of the latest step.
    stepped: Cell<Time>,
    host: RefCell<Option<Rc<dyn WorkerHost>>>,
    queued: RefCell<RequestMap<Job>>,
    exchanges: RefCell<RequestMap<Rc<Exchange>>>,
    slots: RefCell<WorkerMap<Rc<Slots>>>,
    next_request: Cell<u64>,
    streams: Cell<u64>,
    streams_total: Cell<u64>,
    leaving: Cell<bool>,
    draining: Cell<bool>,
    handed_over: Cell<bool>,
    last_progress: Cell<Option<Instant>>,
    refusals: Refusals,
    temp_noted: Cell<Option<Instant>>,
}

impl Gate {
    pub(crate) fn assemble(
        config: Rc<Config>,
        journal: Journal,
        scheduler: Scheduler,
        trust: Trust,
        rates: Option<Rates>,
        files: Files,
        store: Rc<TempStore>,
    ) -> Rc<Self> {
        let port = config.server.port;
        let classes = Classes::new(&config);
        let sessions = Sessions::new(&config);
        journal.reserve_classes(classes.route_names().iter().map(String::as_str));
        Rc::new(Gate {
            deaths: SecondTries::new(&config),
            classes,
            sessions,
            journal,
            store,
            trust,
            files,
            connections: ConnectionHandles::default(),
            tokens: Tokens::default(),
            costs: CostReports::default(),
            measures: Measures::default(),
            reporters: Reporters::default(),
            recent: RefCell::default(),
            warm_up_failure: RefCell::default(),
            port: Cell::new(port),
            rates: rates.map(RefCell::new),
            alarms: Alarms::default(),
            mode: mode::Mode::default(),
            ahead: Ahead::default(),
            scheduler: RefCell::new(scheduler),
            may_raise: Cell::new(false),
            looks_for_waits: config.workers.concurrency == Concurrency::WhileWaiting,
            queue_waits: Notify::new(),
            config: RefCell::new(config),
            actions: Cell::default(),
            epoch: Instant::now(),
            stepped: Cell::new(Time(0)),
            host: RefCell::default(),
            queued: RefCell::default(),
            exchanges: RefCell::default(),
            slots: RefCell::default(),
            next_request: Cell::new(0),
            streams: Cell::new(0),
            streams_total: Cell::new(0),
            leaving: Cell::new(false),
            draining: Cell::new(false),
            handed_over: Cell::new(false),
            last_progress: Cell::new(None),
            refusals: Refusals::default(),
            temp_noted: Cell::new(None),
        })
    }

    /// Counts a request of this client. If it is over its limit: after how many seconds it may ask again.
    pub(crate) fn over_rate(&self, client: IpAddr, target: &str) -> Option<u32> {
        let now_ns = || u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.rates.as_ref()?.borrow_mut().refuses(client, target, now_ns())
    }

    // Queue and dispatch: called for requests.

    pub(crate) fn next_request_id(&self) -> RequestId {
        let id = self.next_request.get() + 1;
        self.next_request.set(id);
        RequestId(id)
    }

    pub(crate) fn new_answer(&self) -> Rc<Answer> {
        let config = self.config.borrow();
        let limits = &config.response;
        Answer::new(&self.store, to_usize(limits.memory_bytes_max), limits.file_bytes_max)
    }

    /// The client went away. Returns whether the request was still queued, so that no worker will ever see it.
    pub(crate) fn leave(self: &Rc<Self>, request: RequestId) -> bool {
        let was_queued = self.queued.borrow_mut().remove(&request).is_some();
        if was_queued {
            self.step(Event::Left { request });
        }
        was_queued
    }

    /// The task that carried this request out has panicked. Its slot goes with the worker.
    pub(crate) fn lost(&self, request: RequestId) {
        let mut exchanges = self.exchanges.borrow_mut();
        if exchanges.get(&request).is_some_and(|exchange| !exchange.answer.is_stream.get())
            && let Some(exchange) = exchanges.remove(&request)
        {
            exchange.answer.fail(Code::GatewayFailed);
        }
    }

    pub(crate) fn is_queued(&self, request: RequestId) -> bool {
        self.queued.borrow().contains_key(&request)
    }

    /// The worker never saw the request: it waits again in its old place.
    pub(crate) fn undelivered(self: &Rc<Self>, worker: WorkerId, job: Job) {
        self.step(Event::Faulted { worker });
        self.returned(worker, job);
    }

    /// The app never saw the request, and its slot is free: it waits again in its old place.
    pub(crate) fn returned(self: &Rc<Self>, worker: WorkerId, job: Job) {
        let (request, need) = (job.request, job.class.need);
        let orphan = self.exchanges.borrow().get(&request).and_then(|exchange| exchange.orphaned.get());
        let is_queued = self.put_back(job);
        if is_queued && self.scheduler.borrow().worker_state(worker).is_none() {
            // The worker has exited meanwhile, and its slots with it.
            let arrived = orphan.map_or_else(|| self.now(), |orphan| orphan.arrived);
            self.step(Event::Retried { request, arrived, need });
        } else if is_queued {
            self.step(Event::Undelivered { worker, request });
        } else {
            self.step(Event::Finished { worker, request });
        }
    }

    /// The worker gave the request back, unseen by the app, which goes on with the request `by`. Returns the one that
    /// the slot counts as held by until [`Gate::finished`].
    pub(crate) fn occupied(self: &Rc<Self>, worker: WorkerId, job: Job, by: RequestId) -> RequestId {
        let request = job.request;
        if !self.put_back(job) {
            return request;
        }
        self.step(Event::Occupied { worker, request, by });
        by
    }

    /// Makes a request that no app has seen one that waits again. Returns false when nobody wants it any more.
    fn put_back(&self, job: Job) -> bool {
        self.exchanges.borrow_mut().remove(&job.request);
        self.measures.remove(job.request);
        job.answer.times.set(Times::default());
        job.answer.worker.set(None);
        if job.is_own {
            job.answer.fail(Code::Draining);
            return false;
        }
        let is_wanted = job.answer.is_wanted();
        if is_wanted {
            self.queued.borrow_mut().insert(job.request, job);
        }
        is_wanted
    }

    /// The worker has finished with the request: its slot is free.
    pub(crate) fn finished(self: &Rc<Self>, worker: WorkerId, request: RequestId) {
        let now = Instant::now();
        self.last_progress.set(Some(now));
        self.exchanges.borrow_mut().remove(&request);
        self.measures.finished(request, now);
        self.step_at(now, Event::Finished { worker, request });
    }

    /// The response is an upgrade or event stream and leaves the slot.
    pub(crate) fn detached(self: &Rc<Self>, worker: WorkerId, request: RequestId) {
        let now = Instant::now();
        self.last_progress.set(Some(now));
        self.streams.set(self.streams.get() + 1);
        self.streams_total.set(self.streams_total.get() + 1);
        self.measures.finished(request, now);
        self.step_at(now, Event::Detached { worker, request });
    }

    pub(crate) fn stream_ended(self: &Rc<Self>, worker: WorkerId, request: RequestId) {
        self.streams.set(self.streams.get().saturating_sub(1));
        let exchange = self.exchanges.borrow_mut().remove(&request);
        drop(exchange);
        self.step(Event::StreamEnded { worker });
    }

    /// The worker cannot go on: it dies without having been asked to leave, or keeps a slot that nothing will free.
    /// Nothing more goes to it (I4), and it is replaced.
    pub fn faulted(self: &Rc<Self>, worker: WorkerId) {
        if let Some(slots) = self.slots.borrow().get(&worker) {
            slots.is_dying.set(true);
        }
        self.note_broken_warm_up(worker);
        self.step(Event::Faulted { worker });
    }

    /// A temporary file could not be written or read: the operator has to know, but not once a request.
    fn note_temp_failure(&self, now: Instant) {
        let Some(error) = self.store.take_failure() else { return };
        if self.temp_noted.get().is_none_or(|noted| now.duration_since(noted) >= NOTE_PERIOD) {
            self.temp_noted.set(Some(now));
            let text = format!(
                "temporary file: {error}; large bodies are refused and slow clients of large responses cut off until that is mended (temp.dir, temp.bytes_max)"
            );
            self.journal.emit(Happening::Note { level: Level::Error, text: &text });
        }
    }

    // Time.

    /// Called often: lets time-outs happen. Coarse on purpose, so that requests pay for no timers of their own.
    pub fn tick(self: &Rc<Self>) {
        let due = self.scheduler.borrow().next_deadline();
        if due.is_some_and(|due| due <= self.now()) {
            self.step(Event::Tick);
        }
        let now = Instant::now();
        let config = self.config();
        let idle_ms = config.streams.idle_timeout_ms;
        let patience = Patience {
            silence_max: Duration::from_millis(config.response.worker_timeout_ms),
            abandoned_max: Duration::from_millis(config.response.abandoned_timeout_ms),
            idle_max: (idle_ms > 0).then(|| Duration::from_millis(idle_ms)),
        };
        for exchange in self.exchanges.borrow().values() {
            exchange.check(now, &patience);
        }
        self.costs.expire(self, now);
        self.measure_unreported(now);
        self.deaths.expire(now);
        self.note_temp_failure(now);
        self.note_refused_connections(now);
        self.sample_sleep();
        self.look_for_alarms(now);
    }

    fn now(&self) -> Time {
        self.time_of(Instant::now())
    }

    fn time_of(&self, at: Instant) -> Time {
        Time(u64::try_from(at.saturating_duration_since(self.epoch).as_micros()).unwrap_or(u64::MAX))
    }
}
