//! Requests for workers, in one table. Each is there from its arrival until its worker has nothing left to report on it and its log line is
//! written.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use sluice_scheduler::{RequestId, WorkerId};
use tokio::time::Instant;

use crate::upstream::WorkerRequest;
use sluice_wire::ids::RequestMap;

/// Table of all requests.
#[derive(Default)]
pub(crate) struct Requests {
    all: RefCell<RequestMap<Rc<WorkerRequest>>>,
    next: Cell<u64>,
}

impl Requests {
    /// Number of the next request.
    pub(crate) fn next_number(&self) -> RequestId {
        let number = self.next.get() + 1;
        self.next.set(number);
        RequestId(number)
    }

    /// Adds a request that waits for a worker, for the first time or again, or with which a worker is warmed.
    pub(super) fn add(&self, request: &Rc<WorkerRequest>) {
        self.all.borrow_mut().insert(request.request, Rc::clone(request));
    }

    /// The request, if it waits.
    pub(super) fn queued(&self, request: RequestId) -> Option<Rc<WorkerRequest>> {
        self.exchange(request).filter(|request| request.is_queued())
    }

    /// Removes a waiting request.
    pub(super) fn take_queued(&self, request: RequestId) -> Option<Rc<WorkerRequest>> {
        let request = self.queued(request)?;
        self.all.borrow_mut().remove(&request.request);
        Some(request)
    }

    /// Visits all waiting requests.
    pub(super) fn all_queued<T>(&self, look: impl FnMut(&Rc<WorkerRequest>) -> Option<T>) -> Vec<T> {
        self.all.borrow().values().filter(|request| request.is_queued()).filter_map(look).collect()
    }

    /// Removes a request.
    pub(super) fn remove(&self, request: RequestId) -> Option<Rc<WorkerRequest>> {
        self.all.borrow_mut().remove(&request)
    }

    /// The request, if a worker has it.
    pub(crate) fn held(&self, request: RequestId) -> Option<Rc<WorkerRequest>> {
        self.exchange(request).filter(|request| is_held(request))
    }

    /// The request, if this worker has it.
    pub(super) fn held_by(&self, worker: WorkerId, request: RequestId) -> Option<Rc<WorkerRequest>> {
        self.held(request).filter(|request| request.answer.facts.worker.get() == Some(worker))
    }

    /// The request, if a worker has it or has answered it.
    pub(crate) fn exchange(&self, request: RequestId) -> Option<Rc<WorkerRequest>> {
        self.all.borrow().get(&request).map(Rc::clone)
    }

    /// The request, if this worker has answered it and may still work on it.
    pub(crate) fn unreported(&self, worker: WorkerId, request: RequestId) -> Option<Rc<WorkerRequest>> {
        let request = self.exchange(request).filter(|request| request.is_answered.get() && !request.is_reported())?;
        (request.answer.facts.worker.get() == Some(worker)).then_some(request)
    }

    /// Requests that workers have.
    pub(crate) fn all_held(&self) -> Vec<Rc<WorkerRequest>> {
        self.of_all(is_held)
    }

    /// Requests that hold a slot, of which some may have had their answer.
    pub(super) fn in_slots(&self) -> Vec<Rc<WorkerRequest>> {
        self.of_all(|request| request.is_for_nobody().is_some())
    }

    /// Start of the request that has been in a worker's slot for longest.
    pub(crate) fn oldest_begun(&self) -> Option<Instant> {
        let held = self.all_held();
        let begun = held.iter().filter(|exchange| !exchange.answer.facts.is_stream.get() && exchange.has_begun());
        begun.map(|exchange| exchange.times.started.get()).min()
    }

    /// Requests that this worker has or has answered.
    pub(super) fn of(&self, worker: WorkerId) -> Vec<Rc<WorkerRequest>> {
        self.of_all(|request| !request.is_queued() && request.answer.facts.worker.get() == Some(worker))
    }

    fn of_all(&self, is_meant: impl Fn(&WorkerRequest) -> bool) -> Vec<Rc<WorkerRequest>> {
        self.all.borrow().values().filter(|request| is_meant(request)).map(Rc::clone).collect()
    }

    /// Records that no worker works on the request's answer any more.
    pub(super) fn answered(&self, request: RequestId, now: Instant) {
        let Some(request) = self.exchange(request) else { return };
        request.account.finish(now);
        request.is_answered.set(true);
        self.forget_settled(&request);
    }

    /// Forgets a request that was answered, if no report or record is outstanding.
    pub(crate) fn settle(&self, request: RequestId) {
        if let Some(request) = self.exchange(request) {
            self.forget_settled(&request);
        }
    }

    fn forget_settled(&self, request: &WorkerRequest) {
        if request.is_answered.get() && request.account.is_settled() {
            self.all.borrow_mut().remove(&request.request);
        }
    }

    /// Visits each request that a worker has or has answered, and forgets those with nothing outstanding. `look` gets whether a worker has
    /// it, and the number of answered ones up to this one. It must not lead to another request.
    pub(crate) fn sweep(&self, mut look: impl FnMut(&Rc<WorkerRequest>, bool, usize)) {
        let mut answered = 0;
        self.all.borrow_mut().retain(|_, request| {
            if request.is_queued() {
                return true;
            }
            answered += usize::from(request.is_answered.get());
            look(request, !request.is_answered.get(), answered);
            !request.is_answered.get() || !request.account.is_settled()
        });
    }
}

/// Whether a worker has it: in a slot, or in the stream that it became.
fn is_held(request: &WorkerRequest) -> bool {
    !request.is_queued() && !request.is_answered.get()
}
