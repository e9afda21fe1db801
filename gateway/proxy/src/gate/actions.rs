//! Carries out what the scheduler decides.

use std::rc::Rc;
use std::time::Instant;

use sluice_catalog::errors::Code;
use sluice_scheduler::{Action, Event, KillReason, RequestId, WorkerId};

use super::{Cause, Gate, WorkerHost};
use crate::respond::answer::Times;
use crate::upstream::{Ahead, Exchange, Job};
use crate::warm_up;

impl Gate {
    pub(super) fn step(self: &Rc<Self>, event: Event) {
        self.step_at(Instant::now(), event);
    }

    /// The same, by a look at the clock that the caller has taken within this turn.
    pub(super) fn step_at(self: &Rc<Self>, at: Instant, event: Event) {
        // Something else may have been decided since.
        let now = self.time_of(at).max(self.stepped.get());
        self.stepped.set(now);
        // Taken and put back, so that the list's memory is used again; an action that leads to another step gets a new one.
        let mut actions = self.actions.take();
        self.scheduler.borrow_mut().step(now, event, &mut actions);
        for action in actions.drain(..) {
            self.carry_out(at, action);
        }
        self.actions.set(actions);
        self.watch_handed();
        if self.looks_for_waits && self.scheduler.borrow().queue_length() > 0 {
            self.queue_waits.notify_one();
        }
    }

    fn carry_out(self: &Rc<Self>, at: Instant, action: Action) {
        match action {
            Action::Dispatch { request, worker } => self.dispatch(at, request, worker, Ahead::No),
            Action::Hand { request, worker } => self.dispatch(at, request, worker, Ahead::Handed),
            Action::Begins { request, .. } => self.begins(at, request),
            Action::TakeBack { worker } => self.take_back(worker),
            Action::Refuse { request, reason, retry_after_s } => self.refuse(request, reason, retry_after_s),
            Action::Orphaned { request, worker, arrived } => self.orphan(request, worker, arrived),
            Action::CloseStream { request, .. } => {
                if let Some(exchange) = self.exchanges.borrow().get(&request) {
                    exchange.answer.fail(Code::StreamsFull);
                    exchange.answer.closing.set();
                }
            }
            Action::Start { worker, instance, generation, lane } => {
                self.with_host(|host| host.start(worker, instance, generation, lane));
            }
            Action::Lower { worker } => self.with_host(|host| host.lower(worker)),
            Action::Raise { worker } => self.with_host(|host| host.raise(worker)),
            Action::Stop { worker } => self.with_host(|host| host.stop(worker)),
            Action::Kill { worker, reason } => {
                let cause = if reason == KillReason::Stuck { Cause::Stuck } else { Cause::Gateway };
                self.ends(worker, cause);
                self.with_host(|host| host.kill(worker, reason));
            }
            Action::Examine { worker } => {
                self.ends(worker, Cause::Stuck);
                self.with_host(|host| host.examine(worker));
            }
            Action::BackOff { worker, instance, delay_ms } => {
                self.with_host(|host| host.backs_off(worker, instance, delay_ms));
            }
            Action::WarmUp { worker } => warm_up::start(self, worker),
            Action::Recycling { worker, reason } => self.with_host(|host| host.recycles(worker, reason)),
            Action::Bloated { worker } => self.with_host(|host| host.is_bloated(worker)),
            Action::Reloaded { generation } => {
                // What the version before died with, this one may survive.
                self.forget_deaths();
                self.with_host(|host| host.reload_ended(generation, None));
            }
            Action::ReloadAbandoned { generation, reason } => {
                self.with_host(|host| host.reload_ended(generation, Some(reason)));
            }
            Action::GiveUp => self.with_host(|host| host.gives_up()),
        }
    }

    /// The gateway is about to end this worker.
    pub(super) fn ends(&self, worker: WorkerId, cause: Cause) {
        if let Some(slots) = self.slots.borrow().get(&worker) {
            slots.ends_for(cause);
        }
    }

    pub(super) fn dispatch(self: &Rc<Self>, at: Instant, request: RequestId, worker: WorkerId, ahead: Ahead) {
        let Some(job) = self.queued.borrow_mut().remove(&request) else {
            return self.step_later(Event::Finished { worker, request });
        };
        if ahead == Ahead::No {
            self.tell_dispatched(at, &job.answer);
        }
        if let Some(job) = self.give(at, worker, job, ahead) {
            self.undelivered_later(worker, job);
        }
    }

    /// Gives the request to the worker's slot; gives it back where that worker is not known.
    pub(super) fn give(&self, at: Instant, worker: WorkerId, job: Job, ahead: Ahead) -> Option<Job> {
        let slots = self.slots.borrow().get(&worker).cloned();
        let Some(slots) = slots else { return Some(job) };
        let request = job.request;
        job.answer.worker.set(Some(worker));
        job.answer.times.update(|times| Times { dispatched: Some(at), ..times });
        self.measures.expect(&job, worker, at);
        let exchange = Rc::new(Exchange::new(&job, at));
        if ahead == Ahead::Handed {
            self.hand(&slots, &exchange);
        }
        self.exchanges.borrow_mut().insert(request, Rc::clone(&exchange));
        slots.give(job, exchange, self.config.borrow().workers.held_max());
        None
    }

    /// The scheduler knows a worker whose socket is not known here; it is on its way out. Never from within a step.
    fn undelivered_later(self: &Rc<Self>, worker: WorkerId, job: Job) {
        let gate = Rc::clone(self);
        tokio::task::spawn_local(async move { gate.undelivered(worker, job) });
    }

    /// There is nothing to give to the worker, and its slot must not stay taken. Never from within a step.
    pub(super) fn step_later(self: &Rc<Self>, event: Event) {
        let gate = Rc::clone(self);
        tokio::task::spawn_local(async move { gate.step(event) });
    }

    pub(super) fn with_host(&self, act: impl FnOnce(&dyn WorkerHost)) {
        let host = self.host.borrow().clone();
        if let Some(host) = host {
            act(&*host);
        }
    }
}
