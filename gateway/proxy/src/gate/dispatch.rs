//! Carries out the scheduler's decisions about requests, and passes it the events that lead to them.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use sluice_catalog::config::{Concurrency, Config};
use sluice_catalog::errors::Code;
use sluice_dispatch::Cause;
use sluice_observe::Observer;
use sluice_road::Road;
use sluice_scheduler::{Action, Event, Hold, KillReason, Limits, RequestId, WorkerId, WorkerState, WorkerView};
use sluice_supervisor::Host;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::requests::Requests;
use super::scheduler::SchedulerSteps;
use super::slot_table::SlotTable;
use crate::limits;
use crate::upstream::{Lease, Orphan, WorkerRequest};
use sluice_wire::respond::answer::Times;

/// Time for which a worker has a request before it is checked although no request waits, microseconds.
const HELD_LONG_US: u64 = 20_000;

/// Requests on their way between the queue and the workers' slots.
pub struct Dispatch {
    /// Reference to itself, for the clock of requests that were handed ahead.
    me: Weak<Dispatch>,
    pub(crate) scheduler: Rc<SchedulerSteps>,
    pub(crate) requests: Requests,
    /// Slots of the workers.
    pub slots: SlotTable,
    pub(super) road: Rc<Road>,
    observer: Rc<Observer>,
    /// Carries out all actions that are not about requests.
    host: RefCell<Option<Host>>,
    may_raise: Cell<bool>,
    /// Workers may get further requests while theirs wait; the task that grants them is woken when the queue waits.
    looks_for_waits: bool,
    pub(super) queue_waits: Notify,
    /// A clock runs that takes requests back.
    pub(super) watches_handed: Cell<bool>,
}

impl Dispatch {
    pub(super) fn new(road: &Rc<Road>, scheduler: Rc<SchedulerSteps>) -> Rc<Self> {
        Rc::new_cyclic(|me| Dispatch {
            me: Weak::clone(me),
            scheduler,
            requests: Requests::default(),
            slots: SlotTable::default(),
            observer: Rc::clone(&road.observer),
            host: RefCell::default(),
            may_raise: Cell::new(false),
            looks_for_waits: road.config().workers.concurrency == Concurrency::WhileWaiting,
            queue_waits: Notify::new(),
            watches_handed: Cell::new(false),
            road: Rc::clone(road),
        })
    }

    /// Passes an event to the scheduler, and carries out its decisions.
    pub(super) fn tell(&self, event: Event) {
        self.tell_at(Instant::now(), event);
    }

    /// Passes an event with a time that the caller has read within this turn. If an action leads to another event, that
    /// waits until all actions of this step are carried out.
    pub(super) fn tell_at(&self, at: Instant, event: Event) {
        let Some(mut stepping) = self.scheduler.begin(at, event) else { return };
        self.carry_out_all(at, &mut stepping.actions);
        while let Some(at) = stepping.step() {
            self.carry_out_all(at, &mut stepping.actions);
        }
        drop(stepping);
        self.watch_handed();
        if self.looks_for_waits && self.scheduler.read(|scheduler| scheduler.queue_length() > 0) {
            self.queue_waits.notify_one();
        }
    }

    /// Checks the timeouts of the queue and of idle connections.
    pub(super) fn tick(&self) {
        let due = self.scheduler.read(sluice_scheduler::Scheduler::next_deadline);
        if due.is_some_and(|due| due <= self.scheduler.now()) || self.scheduler.has_left_actions() {
            self.tell(Event::Tick);
        }
        self.slots.look_after_idle();
    }

    /// Whether main threads of workers are to be checked.
    pub(super) fn wants_looks(&self) -> bool {
        let has_room =
            |view: WorkerView| view.has_more_room && matches!(view.state, WorkerState::Ready | WorkerState::Trial);
        self.looks_for_waits
            && self.scheduler.read(|scheduler| {
                scheduler.queue_length() > 0
                    || scheduler.wants_looks(self.scheduler.now(), HELD_LONG_US)
                    || scheduler.workers().any(has_room)
            })
    }

    /// Carries out the actions, the last first. Each leaves the list before it is carried out, so that a panic loses no
    /// other.
    fn carry_out_all(&self, at: Instant, actions: &mut Vec<Action>) {
        while let Some(action) = actions.pop() {
            self.carry_out(at, action);
        }
    }

    fn carry_out(&self, at: Instant, action: Action) {
        match action {
            Action::Dispatch { request, worker } => self.dispatch(at, request, worker, false),
            Action::Hand { request, worker } => self.dispatch(at, request, worker, true),
            Action::Begins { request, .. } => self.begins(at, request),
            Action::TakeBack { worker } => self.take_back(worker),
            Action::Refuse { request, reason, retry_after_s } => self.refuse(request, reason, retry_after_s),
            Action::Orphaned { request, arrived, is_shared, is_parked, .. } => {
                if let Some(request) = self.requests.exchange(request) {
                    request.orphaned.set(Some(Orphan { arrived, shared: is_shared, is_parked }));
                }
            }
            Action::CloseStream { request, .. } => {
                if let Some(request) = self.requests.held(request) {
                    request.answer.fail(Code::StreamsFull);
                    request.answer.close();
                }
            }
            Action::Kill { worker, reason } => {
                let is_stuck = reason == KillReason::Stuck;
                self.slots.ends_for(worker, if is_stuck { Cause::Stuck } else { Cause::Gateway });
                self.by_the_host(action);
            }
            Action::Examine { worker } => {
                self.slots.ends_for(worker, Cause::Stuck);
                self.by_the_host(action);
            }
            // Of processes; the host knows each.
            _ => self.by_the_host(action),
        }
    }

    fn by_the_host(&self, action: Action) {
        let host = self.host.borrow().clone();
        if let Some(host) = host {
            host(action);
        }
    }

    pub(super) fn set_host(&self, host: Host) {
        *self.host.borrow_mut() = Some(host);
    }

    fn dispatch(&self, at: Instant, number: RequestId, worker: WorkerId, is_ahead: bool) {
        let Some(request) = self.requests.queued(number) else {
            // There is nothing to give to the worker, and its slot must not stay taken.
            return self.tell(Event::Finished { worker, request: number });
        };
        if !is_ahead {
            self.tell_dispatched(at, &request);
        }
        if let Some(lease) = self.give(at, worker, &request, is_ahead) {
            // The scheduler knows a worker whose socket is not known here; it is on its way out.
            self.undelivered(lease, &request);
        }
    }

    /// Reports that a request which has waited begins in a worker.
    pub(super) fn tell_dispatched(&self, now: Instant, request: &WorkerRequest) {
        // A request that was with another worker before has not waited all of its time.
        if let Some(arrived) = request.times.arrived.get().filter(|_| !request.answer.facts.was_retried.get()) {
            self.observer.alarms.waited(now.saturating_duration_since(arrived));
        }
    }

    /// Gives the request to the worker's slot; returns the lease if that worker is not known.
    pub(super) fn give(
        &self,
        at: Instant,
        worker: WorkerId,
        request: &Rc<WorkerRequest>,
        is_ahead: bool,
    ) -> Option<Lease> {
        let lease = self.slots.lease(worker, request.request);
        let Some(slots) = self.slots.of(worker) else { return Some(lease) };
        let answer = &request.answer;
        answer.facts.worker.set(Some(worker));
        self.observer.followers.given(worker, request.request, &request.class.name);
        answer.facts.times.update(|times| Times { dispatched: Some(at), ..times });
        request.times.given.set(at);
        request.times.started.set(at);
        request.times.wrote.set(None);
        let is_ahead = is_ahead && self.slots.hand(&slots, request);
        slots.give(at, lease, Rc::clone(request), is_ahead, self.road.config().workers.held_max());
        None
    }

    /// Puts a request that the worker never saw back into its old place in the queue.
    pub(super) fn undelivered(&self, lease: Lease, request: &Rc<WorkerRequest>) {
        self.tell(Event::Faulted { worker: lease.worker });
        self.returned(lease, request);
    }

    /// Puts a request that the app never saw back into its old place in the queue, and frees its slot.
    pub(super) fn returned(&self, lease: Lease, returned: &Rc<WorkerRequest>) {
        let (worker, request) = lease.end();
        let need = returned.need.get();
        let is_queued = self.put_back(returned);
        if is_queued && !self.scheduler.is_there(worker) {
            // The worker has exited meanwhile, and its slots with it.
            let arrived = returned.orphaned.get().map_or_else(|| self.scheduler.now(), |orphan| orphan.arrived);
            self.tell(Event::Retried { request, arrived, need });
        } else if is_queued {
            self.tell(Event::Undelivered { worker, request });
        } else {
            self.tell(Event::Finished { worker, request });
        }
    }

    /// Makes a request that no app has seen wait again. Returns false if no client wants it any more.
    pub(super) fn put_back(&self, request: &Rc<WorkerRequest>) -> bool {
        let is_wanted = request.answer.is_wanted() && !request.is_own;
        if is_wanted {
            request.answer.facts.times.set(Times::default());
            request.answer.facts.worker.set(None);
            request.account.reopen();
        } else if let Some(request) = self.requests.remove(request.request) {
            request.account.give(&self.observer);
        }
        is_wanted
    }

    pub(super) fn set_may_raise(&self, may_raise: bool) {
        self.may_raise.set(may_raise);
        self.set_limits(&self.road.config());
    }

    pub(super) fn set_limits(&self, config: &Config) {
        let limits = Limits { may_raise: self.may_raise.get(), ..limits::of(config) };
        self.scheduler.change(|scheduler| scheduler.set_limits(limits));
    }

    /// Replaces every worker by one of this generation, whose app the host knows, or tries it first.
    pub fn reload(&self, generation: u64, hold: Option<Hold>) {
        self.tell(match hold {
            None => Event::ReloadAsked { generation },
            Some(hold) => Event::TrialAsked { generation, hold },
        });
    }

    /// Ends the trial of this generation, which takes the other places over or is turned back.
    pub fn end_trial(&self, generation: u64, passes: bool) {
        self.tell(if passes { Event::TrialPassed { generation } } else { Event::TrialFailed { generation } });
    }

    /// Sets the number of workers in the pool.
    pub fn scale(&self, workers: u32) {
        self.tell(Event::Scaled { workers });
    }

    /// Stops every worker, and refuses queued requests.
    pub fn stop_workers(&self) {
        self.slots.all_end();
        self.tell(Event::Stopping);
    }

    /// Strong reference, for a task that outlasts the call.
    pub(super) fn rc(&self) -> Rc<Self> {
        self.me.upgrade().expect("whoever calls it holds it")
    }
}
