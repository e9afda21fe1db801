//! Requests that are for a worker, in one table: each from its arrival until its worker has nothing left to say of it, nor
//! anybody its log line to write.

use std::cell::RefCell;
use std::rc::Rc;

use sluice_scheduler::{RequestId, WorkerId};
use tokio::time::Instant;

use crate::ids::{RequestMap, WorkerMap};
use crate::upstream::WorkerRequest;

/// All of them.
#[derive(Default)]
pub(crate) struct Requests {
    all: RefCell<RequestMap<Rc<WorkerRequest>>>,
    /// Workers that report what requests cost, with when each was last known to have done so for all that had ended.
    reporters: RefCell<WorkerMap<Instant>>,
}

impl Requests {
    /// The worker has reported all that had ended for it by now.
    pub(super) fn heard(&self, worker: WorkerId, now: Instant) {
        self.reporters.borrow_mut().insert(worker, now);
    }

    /// Time of the worker's last report; `None` if it does not report, or is gone.
    pub(crate) fn heard_of(&self, worker: WorkerId) -> Option<Instant> {
        self.reporters.borrow().get(&worker).copied()
    }

    /// The worker is gone: it reports no more.
    pub(super) fn gone(&self, worker: WorkerId) {
        self.reporters.borrow_mut().remove(&worker);
    }

    /// The request waits for a worker, for the first time or again; or a worker is warmed with it.
    pub(super) fn add(&self, request: &Rc<WorkerRequest>) {
        self.all.borrow_mut().insert(request.request, Rc::clone(request));
    }

    /// The request, if it waits.
    pub(super) fn queued(&self, request: RequestId) -> Option<Rc<WorkerRequest>> {
        self.exchange(request).filter(|request| request.is_queued())
    }

    /// Takes a request out that waits.
    pub(super) fn take_queued(&self, request: RequestId) -> Option<Rc<WorkerRequest>> {
        let request = self.queued(request)?;
        self.all.borrow_mut().remove(&request.request);
        Some(request)
    }

    /// Looks at all that wait.
    pub(super) fn all_queued<T>(&self, look: impl FnMut(&Rc<WorkerRequest>) -> Option<T>) -> Vec<T> {
        self.all.borrow().values().filter(|request| request.is_queued()).filter_map(look).collect()
    }

    /// Takes a request out.
    pub(super) fn remove(&self, request: RequestId) -> Option<Rc<WorkerRequest>> {
        self.all.borrow_mut().remove(&request)
    }

    /// The request, if a worker has it.
    pub(crate) fn held(&self, request: RequestId) -> Option<Rc<WorkerRequest>> {
        self.exchange(request).filter(|request| is_held(request))
    }

    /// The request, if this worker has it.
    pub(super) fn held_by(&self, worker: WorkerId, request: RequestId) -> Option<Rc<WorkerRequest>> {
        self.held(request).filter(|request| request.answer.worker.get() == Some(worker))
    }

    /// The request, if a worker has it or has answered it.
    pub(crate) fn exchange(&self, request: RequestId) -> Option<Rc<WorkerRequest>> {
        self.all.borrow().get(&request).map(Rc::clone)
    }

    /// The request, if this worker has answered it and may still be at it.
    pub(crate) fn unreported(&self, worker: WorkerId, request: RequestId) -> Option<Rc<WorkerRequest>> {
        let request = self.exchange(request).filter(|request| request.is_answered.get() && !request.is_reported())?;
        (request.answer.worker.get() == Some(worker)).then_some(request)
    }

    /// Requests that workers have.
    pub(crate) fn all_held(&self) -> Vec<Rc<WorkerRequest>> {
        self.of_all(is_held)
    }

    /// Requests that this worker has or has answered.
    pub(super) fn of(&self, worker: WorkerId) -> Vec<Rc<WorkerRequest>> {
        self.of_all(|request| !request.is_queued() && request.answer.worker.get() == Some(worker))
    }

    fn of_all(&self, is_meant: impl Fn(&WorkerRequest) -> bool) -> Vec<Rc<WorkerRequest>> {
        self.all.borrow().values().filter(|request| is_meant(request)).map(Rc::clone).collect()
    }

    /// No worker works on the request's answer any more.
    pub(super) fn answered(&self, request: RequestId, now: Instant) {
        let Some(request) = self.exchange(request) else { return };
        request.account.finish(now);
        request.is_answered.set(true);
        self.forget_settled(&request);
    }

    /// Forgets a request that was answered, if nothing of it is to come.
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

    /// Looks at each that a worker has or has answered, and forgets those of which nothing is to come. `look` is told whether a
    /// worker has it, and how many were answered up to this one. It must not lead to another request.
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
