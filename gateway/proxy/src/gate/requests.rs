//! Requests that are for a worker, in one table: each from its arrival until its worker has nothing left to say of it, nor
//! anybody its log line to write.

use std::cell::RefCell;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use sluice_scheduler::{RequestId, WorkerId};
use tokio::time::Instant;

use crate::ids::{RequestMap, WorkerMap};
use crate::upstream::{InFlight, Job};

/// Where a request is.
enum Phase {
    /// It waits for a worker.
    Queued(Box<Job>),
    /// A worker has it: in a slot, or in the stream that it became.
    Held(Rc<InFlight>),
    /// No worker works on its answer any more. The worker's report is still to come, or the log line to be written.
    Answered(Rc<InFlight>),
}

impl Phase {
    fn exchange(&self) -> Option<&Rc<InFlight>> {
        match self {
            Phase::Queued(_) => None,
            Phase::Held(exchange) | Phase::Answered(exchange) => Some(exchange),
        }
    }
}

/// All of them.
#[derive(Default)]
pub(crate) struct Requests {
    phases: RefCell<RequestMap<Phase>>,
    /// Workers that report what requests cost, with when each was last known to have done so for all that had ended.
    reporters: RefCell<WorkerMap<Instant>>,
}

impl Requests {
    /// The worker has reported all that had ended for it by now.
    pub(super) fn heard(&self, worker: WorkerId, now: Instant) {
        self.reporters.borrow_mut().insert(worker, now);
    }

    /// When it had last; `None` where it does not report, or is gone.
    pub(crate) fn heard_of(&self, worker: WorkerId) -> Option<Instant> {
        self.reporters.borrow().get(&worker).copied()
    }

    /// The worker is gone: it reports no more.
    pub(super) fn gone(&self, worker: WorkerId) {
        self.reporters.borrow_mut().remove(&worker);
    }

    /// The request waits for a worker, for the first time or again.
    pub(super) fn queue(&self, job: Box<Job>) {
        self.phases.borrow_mut().insert(job.request, Phase::Queued(job));
    }

    pub(super) fn with_queued<T>(&self, request: RequestId, look: impl FnOnce(&Job) -> T) -> Option<T> {
        match self.phases.borrow().get(&request) {
            Some(Phase::Queued(job)) => Some(look(job)),
            _ => None,
        }
    }

    /// Takes a request out that waits.
    pub(super) fn take_queued(&self, request: RequestId) -> Option<Box<Job>> {
        let mut phases = self.phases.borrow_mut();
        let Entry::Occupied(entry) = phases.entry(request) else { return None };
        if !matches!(entry.get(), Phase::Queued(_)) {
            return None;
        }
        match entry.remove() {
            Phase::Queued(job) => Some(job),
            Phase::Held(_) | Phase::Answered(_) => None,
        }
    }

    /// Looks at all that wait.
    pub(super) fn queued<T>(&self, look: impl FnMut(&Job) -> Option<T>) -> Vec<T> {
        let phases = self.phases.borrow();
        let jobs = phases.values().filter_map(|phase| if let Phase::Queued(job) = phase { Some(&**job) } else { None });
        jobs.filter_map(look).collect()
    }

    /// Takes a request out that a worker had.
    pub(super) fn remove(&self, request: RequestId) -> Option<Rc<InFlight>> {
        self.phases.borrow_mut().remove(&request).as_ref().and_then(Phase::exchange).map(Rc::clone)
    }

    /// A worker gets the request.
    pub(super) fn hold(&self, request: RequestId, exchange: Rc<InFlight>) {
        self.phases.borrow_mut().insert(request, Phase::Held(exchange));
    }

    /// The request, if a worker has it.
    pub(crate) fn held(&self, request: RequestId) -> Option<Rc<InFlight>> {
        match self.phases.borrow().get(&request) {
            Some(Phase::Held(exchange)) => Some(Rc::clone(exchange)),
            _ => None,
        }
    }

    /// The request, if this worker has it.
    pub(super) fn held_by(&self, worker: WorkerId, request: RequestId) -> Option<Rc<InFlight>> {
        self.held(request).filter(|exchange| exchange.answer.worker.get() == Some(worker))
    }

    /// The request, if a worker has it or has answered it.
    pub(crate) fn exchange(&self, request: RequestId) -> Option<Rc<InFlight>> {
        self.phases.borrow().get(&request).and_then(Phase::exchange).map(Rc::clone)
    }

    /// The request, if this worker has answered it and may still be at it.
    pub(crate) fn unreported(&self, worker: WorkerId, request: RequestId) -> Option<Rc<InFlight>> {
        match self.phases.borrow().get(&request) {
            Some(Phase::Answered(exchange)) => Some(Rc::clone(exchange)),
            _ => None,
        }
        .filter(|exchange| exchange.answer.worker.get() == Some(worker) && !exchange.is_confirmed.get())
    }

    /// Requests that workers have.
    pub(crate) fn all_held(&self) -> Vec<Rc<InFlight>> {
        self.exchanges(|phase| matches!(phase, Phase::Held(_)))
    }

    /// Requests that this worker has or has answered.
    pub(super) fn of(&self, worker: WorkerId) -> Vec<Rc<InFlight>> {
        let is_its = |exchange: &Rc<InFlight>| exchange.answer.worker.get() == Some(worker);
        self.exchanges(|phase| phase.exchange().is_some_and(is_its))
    }

    fn exchanges(&self, is_meant: impl Fn(&Phase) -> bool) -> Vec<Rc<InFlight>> {
        let phases = self.phases.borrow();
        let meant = phases.values().filter(|phase| is_meant(phase));
        meant.filter_map(Phase::exchange).map(Rc::clone).collect()
    }

    /// No worker works on the request's answer any more.
    pub(super) fn answered(&self, request: RequestId, now: Instant) {
        let mut phases = self.phases.borrow_mut();
        if let Entry::Occupied(mut entry) = phases.entry(request)
            && let Some(exchange) = entry.get().exchange().map(Rc::clone)
        {
            exchange.account.finish(now);
            if exchange.account.is_settled() {
                entry.remove();
            } else {
                entry.insert(Phase::Answered(exchange));
            }
        }
    }

    /// Forgets a request that was answered, if nothing of it is to come.
    pub(crate) fn settle(&self, request: RequestId) {
        let mut phases = self.phases.borrow_mut();
        if let Entry::Occupied(entry) = phases.entry(request)
            && matches!(entry.get(), Phase::Answered(exchange) if exchange.account.is_settled())
        {
            entry.remove();
        }
    }

    /// Looks at each that a worker has or has answered, and forgets those of which nothing is to come. `look` is told whether a
    /// worker has it, and how many were answered up to this one. It must not lead to another request.
    pub(crate) fn sweep(&self, mut look: impl FnMut(&Rc<InFlight>, bool, usize)) {
        let mut answered = 0;
        self.phases.borrow_mut().retain(|_, phase| match phase {
            Phase::Queued(_) => true,
            Phase::Held(exchange) => {
                look(exchange, true, answered);
                true
            }
            Phase::Answered(exchange) => {
                answered += 1;
                look(exchange, false, answered);
                !exchange.account.is_settled()
            }
        });
    }
}
