//! State that all connections and workers share: the scheduler, the requests it decides about, and the config.
//!
//! Everything runs on one thread, so a decision is one borrow of the scheduler and never a lock. The gate carries out
//! what the scheduler decides; it decides nothing itself. What an operator asks of it is in `view`.

mod ahead;
mod costs;
mod crashes;
mod dispatch;
mod look;
mod news;
mod own_calls;
mod quarantined;
pub mod readiness;
mod requests;
mod retry;
mod road_end;
mod submit;
#[cfg(test)]
pub(crate) mod tests;
mod view;
mod workers;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};
use std::sync::mpsc;
use std::time::Duration;

use sluice_catalog::config::Concurrency;
use sluice_catalog::errors::Code;
use sluice_catalog::refusals::WarmUpError;
use sluice_dispatch::Cause;
use sluice_journal::{Event as Happening, Level};
use sluice_observe::Observer;
use sluice_scheduler::{Action, Event, RequestId, Scheduler, Time, WorkerId};
use sluice_supervisor::Host;
use tokio::sync::Notify;

use crate::record::account::ANSWERED_MAX;
use crate::upstream::token::Tokens;
use crate::upstream::{Lease, Lost, Slots, StreamCounts, StreamLease, Wire, WorkerRequest};
pub(crate) use costs::{LIGHT_WEIGHT, in_ms};
use sluice_classes::Classes;
use sluice_road::Road;
use sluice_road::sessions::Sessions;
use sluice_road::workers::Workers;
use sluice_wire::ids::WorkerMap;
use sluice_wire::respond::answer::Times;

pub(crate) use quarantined::Pass;
use requests::Requests;
pub(crate) use retry::Orphan;
use retry::Retries;
use tokio::time::Instant;

/// The shared state of the gateway.
pub struct Gate {
    /// Reference to itself, for tasks that outlast a call.
    me: Weak<Gate>,
    /// Way of requests to their answers, which leads here.
    pub road: Rc<Road>,
    /// Observer, which gets all events for the operator.
    pub observer: Rc<Observer>,
    pub(crate) classes: Classes,
    pub(crate) sessions: Sessions,
    pub(crate) tokens: Tokens,
    /// Error of the latest warm-up that failed, and its worker.
    warm_up_failure: RefCell<Option<(WorkerId, WarmUpError)>>,
    deaths: Retries,
    scheduler: RefCell<Scheduler>,
    may_raise: Cell<bool>,
    /// Workers may get further requests while theirs wait; the task that grants them is woken when the queue waits.
    looks_for_waits: bool,
    own_calls: RefCell<own_calls::OwnCalls>,
    queue_waits: Notify,
    /// Events that the scheduler has not had yet, with the time of each.
    events: RefCell<VecDeque<(Instant, Event)>>,
    is_stepping: Cell<bool>,
    /// List of a step's actions, stored for its memory, and for the actions that a panic has left.
    actions: Cell<Vec<Action>>,
    pub(crate) epoch: Instant,
    /// The scheduler's clock as of the latest step.
    stepped: Cell<Time>,
    /// Carries out actions on processes.
    host: RefCell<Option<Host>>,
    pub(crate) requests: Requests,
    /// Leases that were dropped without being returned.
    lost: (mpsc::Sender<Lost>, mpsc::Receiver<Lost>),
    slots: RefCell<WorkerMap<Rc<Slots>>>,
    next_request: Cell<u64>,
    service: Service,
}

/// State of the service: streams, last progress, and whether it is ending.
#[derive(Default)]
struct Service {
    streams: Cell<u64>,
    streams_total: Cell<u64>,
    last_progress: Cell<Option<Instant>>,
    leaving: Cell<bool>,
    /// Requests that workers were handed ahead, and those that were taken back.
    handed_total: Cell<u64>,
    taken_back_total: Cell<u64>,
    /// A clock runs that takes requests back.
    watches_handed: Cell<bool>,
}

impl Gate {
    pub(crate) fn new(road: Rc<Road>, scheduler: Scheduler) -> Rc<Self> {
        let config = road.config();
        let classes = Classes::new(&config);
        let observer = Rc::clone(&road.observer);
        observer.journal().reserve_classes(classes.route_names().iter().map(String::as_str));
        let gate = Rc::new_cyclic(|me| Gate {
            me: Weak::clone(me),
            deaths: Retries::new(&config),
            classes,
            sessions: Sessions::new(&config),
            observer,
            tokens: Tokens::default(),
            warm_up_failure: RefCell::default(),
            scheduler: RefCell::new(scheduler),
            may_raise: Cell::new(false),
            looks_for_waits: config.workers.concurrency == Concurrency::WhileWaiting,
            own_calls: RefCell::default(),
            queue_waits: Notify::new(),
            events: RefCell::default(),
            is_stepping: Cell::new(false),
            actions: Cell::default(),
            epoch: road.epoch,
            stepped: Cell::new(Time(0)),
            host: RefCell::default(),
            requests: Requests::default(),
            lost: mpsc::channel(),
            slots: RefCell::default(),
            next_request: Cell::default(),
            service: Service::default(),
            road,
        });
        let workers: Rc<dyn Workers> = Rc::clone(&gate) as _;
        gate.road.lead_to(Rc::downgrade(&workers));
        gate
    }

    /// Weak reference, for values that may outlast the gate.
    pub(crate) fn weak(&self) -> Weak<Self> {
        Weak::clone(&self.me)
    }

    /// Strong reference, for a task that outlasts the call.
    pub(crate) fn rc(&self) -> Rc<Self> {
        self.me.upgrade().expect("whoever calls the gate holds it")
    }

    // Queue and dispatch: called for requests.

    pub(crate) fn next_request_id(&self) -> RequestId {
        let id = self.next_request.get() + 1;
        self.next_request.set(id);
        RequestId(id)
    }

    /// Ends a request whose client has gone. Returns whether it was still queued, so that no worker will ever see it.
    pub(crate) fn leave(&self, request: RequestId) -> bool {
        let was_queued = self.requests.take_queued(request).is_some();
        if was_queued {
            self.tell(Event::Left { request });
        }
        was_queued
    }

    pub(crate) fn is_queued(&self, request: RequestId) -> bool {
        self.requests.queued(request).is_some()
    }

    // What becomes of a request that a worker was given: each way gives its lease back.

    /// Puts a request that the worker never saw back into its old place in the queue.
    pub(crate) fn undelivered(&self, lease: Lease, request: &Rc<WorkerRequest>) {
        self.tell(Event::Faulted { worker: lease.worker });
        self.returned(lease, request);
    }

    /// Puts a request that the app never saw back into its old place in the queue, and frees its slot.
    pub(crate) fn returned(&self, lease: Lease, returned: &Rc<WorkerRequest>) {
        let (worker, request) = lease.end();
        let need = returned.need.get();
        let is_queued = self.put_back(returned);
        if is_queued && self.scheduler.borrow().worker_state(worker).is_none() {
            // The worker has exited meanwhile, and its slots with it.
            let arrived = returned.orphaned.get().map_or_else(|| self.now(), |orphan| orphan.arrived);
            self.tell(Event::Retried { request, arrived, need });
        } else if is_queued {
            self.tell(Event::Undelivered { worker, request });
        } else {
            self.tell(Event::Finished { worker, request });
        }
    }

    /// Gives the slot of `passed`, which the worker returned before the app saw it, to the request `by`.
    pub(crate) fn pass_to(
        &self,
        slots: &Rc<Slots>,
        mut lease: Lease,
        passed: &Rc<WorkerRequest>,
        by: RequestId,
        wire: Option<Wire>,
    ) {
        let (worker, request) = (lease.worker, passed.request);
        if self.scheduler.borrow().worker_state(worker).is_none() {
            // It has exited meanwhile, and its slots with it.
            return self.returned(lease, passed);
        }
        let Some(unended) = self.requests.unreported(worker, by) else {
            // It has ended meanwhile.
            return self.returned(lease, passed);
        };
        let is_queued = self.put_back(passed);
        lease.pass_to(by);
        self.tell(Event::Occupied { worker, request, by });
        if !is_queued {
            self.tell(Event::Left { request });
        }
        slots.give_again(lease, unended, wire);
    }

    /// Makes a request that no app has seen wait again. Returns false if no client wants it any more.
    pub(super) fn put_back(&self, request: &Rc<WorkerRequest>) -> bool {
        let is_wanted = request.answer.is_wanted() && !request.is_own;
        if is_wanted {
            request.answer.times.set(Times::default());
            request.answer.worker.set(None);
            request.account.reopen();
        } else if let Some(request) = self.requests.remove(request.request) {
            request.account.give(&self.observer);
        }
        is_wanted
    }

    /// Frees the slot of a request that the worker has finished. The lease ends last, so that a fault on the way loses no slot.
    pub(crate) fn finished(&self, lease: Lease, now: Instant) {
        let (worker, request) = (lease.worker, lease.request);
        self.service.last_progress.set(Some(now));
        self.requests.answered(request, now);
        self.tell_at(now, Event::Finished { worker, request });
        lease.end();
    }

    /// Frees the slot of an upgrade or event stream. The lease ends last, as in [`Gate::finished`].
    pub(crate) fn detached(&self, lease: Lease) -> StreamLease {
        let (worker, request) = (lease.worker, lease.request);
        let now = Instant::now();
        self.service.last_progress.set(Some(now));
        self.service.streams.set(self.service.streams.get() + 1);
        self.service.streams_total.set(self.service.streams_total.get() + 1);
        if let Some(exchange) = self.requests.held(request) {
            exchange.account.finish(now);
        }
        self.tell_at(now, Event::Detached { worker, request });
        lease.end();
        StreamLease::new(self.rc(), worker, request)
    }

    /// Handles a panic of the task that carried a request out. Its slot ends with the worker.
    fn lost(&self, Lost { worker, request, place }: Lost) {
        let text = format!(
            "a slot of worker {} was lost to a fault in the gateway, at {place}; the worker is replaced",
            worker.0
        );
        self.observer.emit(Happening::Note { level: Level::Error, text: &text });
        if let Some(exchange) = self.requests.held(request) {
            exchange.answer.fail(Code::GatewayFailed);
            self.requests.answered(request, Instant::now());
        }
        self.ends(worker, Cause::Gateway);
        self.give_up_worker(worker);
    }

    // Time.

    /// Checks all timeouts; called often. It is coarse on purpose, so that requests pay for no timers of their own.
    pub fn tick(&self) {
        let due = self.scheduler.borrow().next_deadline();
        if due.is_some_and(|due| due <= self.now()) || self.has_left_actions() {
            self.tell(Event::Tick);
        }
        let now = Instant::now();
        self.slots.borrow().values().for_each(|slots| slots.look_after_idle());
        self.sweep(now);
        while let Ok(lost) = self.lost.1.try_recv() {
            self.lost(lost);
        }
        self.deaths.expire(now);
        if self.wants_looks() {
            self.queue_waits.notify_one();
        }
        self.show(now);
        let (version, is_ready) =
            self.scheduler(|scheduler| (Scheduler::generation(scheduler), scheduler.ready_count() > 0));
        self.road.look_for_shells(now, version, is_ready);
    }

    /// Checks each request that a worker has or has answered.
    fn sweep(&self, now: Instant) {
        let config = self.config();
        let idle_ms = config.streams.idle_timeout_ms;
        let idle_max = (idle_ms > 0).then(|| Duration::from_millis(idle_ms));
        let mut unreported = Vec::new();
        self.requests.sweep(|exchange, is_held, answered| {
            if is_held {
                exchange.check(now, idle_max);
            }
            if self.expire(exchange, now, answered > ANSWERED_MAX) {
                unreported.push(Rc::clone(exchange));
            }
        });
        for exchange in &unreported {
            self.measure_by_service(exchange);
        }
    }

    fn now(&self) -> Time {
        self.time_of(Instant::now())
    }

    fn time_of(&self, at: Instant) -> Time {
        Time(u64::try_from(at.saturating_duration_since(self.epoch).as_micros()).unwrap_or(u64::MAX))
    }
}

impl StreamCounts for Gate {
    fn stream_ended(&self, worker: WorkerId, request: RequestId) {
        self.service.streams.set(self.service.streams.get().saturating_sub(1));
        self.requests.answered(request, Instant::now());
        self.tell(Event::StreamEnded { worker });
    }
}
