//! Carries out the scheduler's decisions.

use std::rc::Rc;

use sluice_catalog::errors::Code;
use sluice_dispatch::Cause;
use sluice_scheduler::{Action, Event, KillReason, RequestId, WorkerId, WorkerState, WorkerView};
use tokio::time::Instant;

use super::Gate;
use super::retry::Orphan;
use crate::upstream::{Lease, WorkerRequest};
use crate::warm_up;
use sluice_wire::respond::answer::Times;

/// Time for which a worker has a request before it is checked although no request waits, microseconds.
const HELD_LONG_US: u64 = 20_000;

impl Gate {
    /// Passes an event to the scheduler, and carries out its decisions.
    pub(super) fn tell(&self, event: Event) {
        self.tell_at(Instant::now(), event);
    }

    /// Passes an event with a time that the caller has read within this turn. If an action leads to another event, that
    /// waits until all actions of this step are carried out.
    pub(super) fn tell_at(&self, at: Instant, event: Event) {
        self.events.borrow_mut().push_back((at, event));
        if self.is_stepping.replace(true) {
            return;
        }
        // Empty, unless a panic has left what was still to be carried out.
        let mut stepping = Stepping { gate: self, actions: self.actions.take() };
        self.carry_out_all(at, &mut stepping.actions);
        while let Some((at, event)) = self.next_event() {
            // Something else may have been decided since.
            let now = self.time_of(at).max(self.stepped.get());
            self.stepped.set(now);
            self.scheduler.borrow_mut().step(now, event, &mut stepping.actions);
            stepping.actions.reverse();
            self.carry_out_all(at, &mut stepping.actions);
        }
        drop(stepping);
        self.watch_handed();
        if self.looks_for_waits && self.scheduler.borrow().queue_length() > 0 {
            self.queue_waits.notify_one();
        }
    }

    /// Whether main threads of workers are to be checked.
    pub(super) fn wants_looks(&self) -> bool {
        let scheduler = self.scheduler.borrow();
        let has_room = |view: WorkerView| view.has_more_room && view.state == WorkerState::Ready;
        self.looks_for_waits
            && (scheduler.queue_length() > 0
                || scheduler.wants_looks(self.now(), HELD_LONG_US)
                || scheduler.workers().any(has_room))
    }

    fn next_event(&self) -> Option<(Instant, Event)> {
        self.events.borrow_mut().pop_front()
    }

    /// Whether a panic has left actions that are still to be carried out.
    pub(super) fn has_left_actions(&self) -> bool {
        let actions = self.actions.take();
        let is_left = !actions.is_empty();
        self.actions.set(actions);
        is_left
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
                self.orphan(request, Orphan { arrived, shared: is_shared, is_parked });
            }
            Action::CloseStream { request, .. } => {
                if let Some(request) = self.requests.held(request) {
                    request.answer.fail(Code::StreamsFull);
                    request.answer.close();
                }
            }
            Action::WarmUp { worker } => warm_up::start(&self.rc(), worker),
            Action::Kill { worker, reason } => {
                self.ends(worker, if reason == KillReason::Stuck { Cause::Stuck } else { Cause::Gateway });
                self.by_the_host(action);
            }
            Action::Examine { worker } => {
                self.ends(worker, Cause::Stuck);
                self.by_the_host(action);
            }
            Action::Reloaded { .. } => {
                // What the version before died with, this one may survive.
                self.forget_deaths();
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

    /// Records the cause for which the gateway is about to end this worker.
    pub(super) fn ends(&self, worker: WorkerId, cause: Cause) {
        if let Some(slots) = self.slots.borrow().get(&worker) {
            slots.ends_for(cause);
        }
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

    /// Gives the request to the worker's slot; returns the lease if that worker is not known.
    pub(super) fn give(
        &self,
        at: Instant,
        worker: WorkerId,
        request: &Rc<WorkerRequest>,
        is_ahead: bool,
    ) -> Option<Lease> {
        let lease = Lease::new(worker, request.request, &self.lost.0);
        let Some(slots) = self.slots_of(worker) else { return Some(lease) };
        let answer = &request.answer;
        answer.worker.set(Some(worker));
        self.observer.followers.given(worker, request.request, &request.class.name);
        answer.times.update(|times| Times { dispatched: Some(at), ..times });
        request.given.set(at);
        request.started.set(at);
        request.wrote.set(None);
        let is_ahead = is_ahead && self.hand(&slots, request);
        slots.give(at, lease, Rc::clone(request), is_ahead, self.config().workers.held_max());
        None
    }
}

/// A step in progress. A panic in it leaves the remaining actions and events with the gate.
struct Stepping<'g> {
    gate: &'g Gate,
    /// Actions in reverse order: the next one is last.
    actions: Vec<Action>,
}

impl Drop for Stepping<'_> {
    fn drop(&mut self) {
        self.gate.actions.set(std::mem::take(&mut self.actions));
        self.gate.is_stepping.set(false);
    }
}
