//! What all connections and workers share: the scheduler, the requests it decides about, and the config.
//!
//! Everything runs on one thread, so a decision is one borrow of the scheduler and never a lock. The gate carries out
//! what the scheduler decides; it decides nothing itself. What an operator asks of it is in `view`.

mod view;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use sluice_catalog::config::Config;
use sluice_catalog::errors::Code;
use sluice_journal::{Event as Happening, Journal, Level};
use sluice_scheduler::{Action, Event, KillReason, Refusal, RequestId, Scheduler, Time, WorkerId};

use crate::answer::{Answer, Times};
use crate::connection::ConnectionHandles;
use crate::ids::RequestMap;
use crate::record::CostReports;
use crate::route::Classes;
use crate::spool::TempStore;
use crate::trust::Trust;
use crate::upstream::{Exchange, Job, Patience, Slots};

/// How often the operator is told of the same trouble.
const NOTE_PERIOD: Duration = Duration::from_secs(10);

/// What the supervisor does for the gate.
pub trait WorkerHost {
    /// Start a process in this place of the pool; the result comes back as [`Gate::listening`] or [`Gate::exited`].
    fn start(&self, worker: WorkerId, instance: u32);
    /// Ask it to leave.
    fn stop(&self, worker: WorkerId);
    /// Kill it and its children.
    fn kill(&self, worker: WorkerId, reason: KillReason);
    /// The place of a worker that has gone waits before its next start.
    fn backs_off(&self, worker: WorkerId, instance: u32, delay_ms: u64);
    /// No worker ever listened.
    fn gives_up(&self);
}

/// The shared state of the gateway.
pub struct Gate {
    /// The config in force.
    pub config: Rc<Config>,
    /// Where events are told.
    pub journal: Journal,
    pub(crate) store: Rc<TempStore>,
    pub(crate) classes: Classes,
    pub(crate) trust: Trust,
    pub(crate) connections: ConnectionHandles,
    pub(crate) costs: CostReports,
    scheduler: RefCell<Scheduler>,
    actions: Cell<Vec<Action>>,
    epoch: Instant,
    host: RefCell<Option<Rc<dyn WorkerHost>>>,
    queued: RefCell<RequestMap<Job>>,
    exchanges: RefCell<RequestMap<Rc<Exchange>>>,
    slots: RefCell<HashMap<WorkerId, Rc<Slots>>>,
    next_request: Cell<u64>,
    streams: Cell<u64>,
    streams_total: Cell<u64>,
    draining: Cell<bool>,
    last_progress: Cell<Option<Instant>>,
    refused_connections: Cell<u64>,
    refusals_noted: Cell<Option<Instant>>,
    temp_noted: Cell<Option<Instant>>,
}

impl Gate {
    pub(crate) fn assemble(
        config: Rc<Config>,
        journal: Journal,
        scheduler: Scheduler,
        trust: Trust,
        store: Rc<TempStore>,
    ) -> Rc<Self> {
        Rc::new(Gate {
            config,
            journal,
            store,
            classes: Classes::default(),
            trust,
            connections: ConnectionHandles::default(),
            costs: CostReports::default(),
            scheduler: RefCell::new(scheduler),
            actions: Cell::default(),
            epoch: Instant::now(),
            host: RefCell::default(),
            queued: RefCell::default(),
            exchanges: RefCell::default(),
            slots: RefCell::default(),
            next_request: Cell::new(0),
            streams: Cell::new(0),
            streams_total: Cell::new(0),
            draining: Cell::new(false),
            last_progress: Cell::new(None),
            refused_connections: Cell::new(0),
            refusals_noted: Cell::new(None),
            temp_noted: Cell::new(None),
        })
    }

    // Queue and dispatch: called for requests.

    pub(crate) fn next_request_id(&self) -> RequestId {
        let id = self.next_request.get() + 1;
        self.next_request.set(id);
        RequestId(id)
    }

    pub(crate) fn new_answer(&self) -> Rc<Answer> {
        let limits = &self.config.response;
        Answer::new(&self.store, to_usize(limits.memory_bytes_max), limits.file_bytes_max)
    }

    /// Hands a whole request to the queue. What becomes of it shows in the job's answer.
    pub(crate) fn submit(self: &Rc<Self>, job: Job) {
        let request = job.request;
        self.queued.borrow_mut().insert(request, job);
        self.step(Event::Arrived { request });
    }

    /// The client went away. Returns whether the request was still queued, so that no worker will ever see it.
    pub(crate) fn leave(self: &Rc<Self>, request: RequestId) -> bool {
        let was_queued = self.queued.borrow_mut().remove(&request).is_some();
        if was_queued {
            self.step(Event::Left { request });
        }
        was_queued
    }

    pub(crate) fn is_queued(&self, request: RequestId) -> bool {
        self.queued.borrow().contains_key(&request)
    }

    /// The worker never saw the request: it waits again in its old place.
    pub(crate) fn undelivered(self: &Rc<Self>, worker: WorkerId, job: Job) {
        let request = job.request;
        self.exchanges.borrow_mut().remove(&request);
        job.answer.times.set(Times::default());
        job.answer.worker.set(None);
        if job.answer.is_wanted() {
            self.queued.borrow_mut().insert(request, job);
            self.step(Event::Faulted { worker });
            self.step(Event::Undelivered { worker, request });
        } else {
            self.step(Event::Faulted { worker });
            self.step(Event::Finished { worker, request });
        }
    }

    /// The worker has finished with the request: its slot is free.
    pub(crate) fn finished(self: &Rc<Self>, worker: WorkerId, request: RequestId) {
        self.last_progress.set(Some(Instant::now()));
        self.exchanges.borrow_mut().remove(&request);
        self.step(Event::Finished { worker, request });
    }

    /// The response is an upgrade or event stream and leaves the slot.
    pub(crate) fn detached(self: &Rc<Self>, worker: WorkerId, request: RequestId) {
        self.last_progress.set(Some(Instant::now()));
        self.streams.set(self.streams.get() + 1);
        self.streams_total.set(self.streams_total.get() + 1);
        self.step(Event::Detached { worker, request });
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
        self.step(Event::Faulted { worker });
    }

    // Worker life: called by the supervisor.

    /// Names who starts and stops processes; before this nothing is started.
    pub fn set_host(&self, host: Rc<dyn WorkerHost>) {
        *self.host.borrow_mut() = Some(host);
    }

    /// The worker's server listens on this socket.
    pub fn listening(self: &Rc<Self>, worker: WorkerId, socket: std::path::PathBuf) {
        if let Some(slots) = self.slots.borrow().get(&worker) {
            return slots.renew();
        }
        let slots = Slots::new(Rc::downgrade(self), worker, socket);
        self.slots.borrow_mut().insert(worker, slots);
        self.step(Event::Listening { worker });
    }

    /// The worker's process is gone.
    pub fn exited(self: &Rc<Self>, worker: WorkerId) {
        if let Some(slots) = self.slots.borrow_mut().remove(&worker) {
            slots.close();
        }
        self.step(Event::Exited { worker });
    }

    /// The app closes its server: it finishes what it has and gets no more.
    pub fn closing(self: &Rc<Self>, worker: WorkerId) {
        self.step(Event::Closing { worker });
    }

    /// The worker reports what a request cost it: CPU time in microseconds. Its response has ended for good.
    pub fn reported(&self, worker: WorkerId, request: RequestId, cpu_us: u64) {
        if let Some(exchange) = self.exchanges.borrow().get(&request) {
            exchange.is_confirmed.set(true);
        }
        if let Some(slots) = self.slots.borrow().get(&worker) {
            slots.confirm(request);
        }
        self.costs.report(self, request, cpu_us);
    }

    /// The worker says that its app holds no request at all, so whatever it broke off has ended.
    pub fn idle(&self, worker: WorkerId) {
        if let Some(slots) = self.slots.borrow().get(&worker) {
            slots.confirm_all();
        }
    }

    /// The pool is to hold so many workers.
    pub fn scale(self: &Rc<Self>, workers: u32) {
        self.step(Event::Scaled { workers });
    }

    /// Every worker is to stop; what is queued is refused.
    pub fn stop_workers(self: &Rc<Self>) {
        self.step(Event::Stopping);
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

    /// Counts a connection that is closed because there are too many; returns how many there were since the last note.
    pub(crate) fn count_refused_connection(&self) -> u64 {
        self.refused_connections.set(self.refused_connections.get() + 1);
        self.refused_connections.get()
    }

    fn note_refused_connections(&self, now: Instant) {
        let refused = self.refused_connections.get();
        let is_due = self.refusals_noted.get().is_none_or(|noted| now.duration_since(noted) >= NOTE_PERIOD);
        if refused > 0 && is_due {
            self.refusals_noted.set(Some(now));
            self.refused_connections.set(0);
            let text = format!("{refused} connections were refused: server.connections_max are open");
            self.journal.emit(Happening::Note { level: Level::Warn, text: &text });
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
        let config = &self.config;
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
        self.note_temp_failure(now);
        self.note_refused_connections(now);
    }

    fn now(&self) -> Time {
        Time(u64::try_from(self.epoch.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    fn step(self: &Rc<Self>, event: Event) {
        // Taken and put back, so that the list's memory is used again; an action that leads to another step gets a new one.
        let mut actions = self.actions.take();
        self.scheduler.borrow_mut().step(self.now(), event, &mut actions);
        for action in actions.drain(..) {
            self.carry_out(action);
        }
        self.actions.set(actions);
    }

    fn carry_out(self: &Rc<Self>, action: Action) {
        match action {
            Action::Dispatch { request, worker } => self.dispatch(request, worker),
            Action::Refuse { request, reason, retry_after_s } => self.refuse(request, reason, retry_after_s),
            Action::Orphaned { request, .. } => {
                if let Some(exchange) = self.exchanges.borrow_mut().remove(&request) {
                    exchange.answer.fail(Code::WorkerDied);
                }
            }
            Action::CloseStream { request, .. } => {
                if let Some(exchange) = self.exchanges.borrow().get(&request) {
                    exchange.answer.fail(Code::StreamsFull);
                    exchange.answer.closing.set();
                }
            }
            Action::Start { worker, instance } => self.with_host(|host| host.start(worker, instance)),
            Action::Stop { worker } => self.with_host(|host| host.stop(worker)),
            Action::Kill { worker, reason } => self.with_host(|host| host.kill(worker, reason)),
            Action::BackOff { worker, instance, delay_ms } => {
                self.with_host(|host| host.backs_off(worker, instance, delay_ms));
            }
            Action::GiveUp => self.with_host(|host| host.gives_up()),
        }
    }

    fn dispatch(self: &Rc<Self>, request: RequestId, worker: WorkerId) {
        let Some(job) = self.queued.borrow_mut().remove(&request) else { return };
        let slots = self.slots.borrow().get(&worker).cloned();
        let Some(slots) = slots else { return self.undelivered_later(worker, job) };
        job.answer.worker.set(Some(worker));
        job.answer.times.update(|times| Times { dispatched: Some(Instant::now()), ..times });
        let exchange = Rc::new(Exchange::new(&job));
        self.exchanges.borrow_mut().insert(request, Rc::clone(&exchange));
        slots.give(job, exchange, self.config.workers.concurrency);
    }

    /// The scheduler knows a worker whose socket is not known here; it is on its way out. Never from within a step.
    fn undelivered_later(self: &Rc<Self>, worker: WorkerId, job: Job) {
        let gate = Rc::clone(self);
        tokio::task::spawn_local(async move { gate.undelivered(worker, job) });
    }

    fn refuse(&self, request: RequestId, reason: Refusal, retry_after_s: u32) {
        let Some(job) = self.queued.borrow_mut().remove(&request) else { return };
        job.answer.retry_after_s.set(Some(retry_after_s));
        job.answer.fail(match reason {
            Refusal::Full => Code::QueueFull,
            Refusal::Predicted => Code::QueueWaitPredicted,
            Refusal::Deadline => Code::QueueDeadline,
            Refusal::Stopping => Code::Draining,
        });
    }

    fn with_host(&self, act: impl FnOnce(&dyn WorkerHost)) {
        let host = self.host.borrow().clone();
        if let Some(host) = host {
            act(&*host);
        }
    }
}

/// Config bounds fit the address space of any machine this runs on.
pub(crate) fn to_usize(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
