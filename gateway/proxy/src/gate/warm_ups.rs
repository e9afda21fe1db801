//! Warm-ups of workers, as the scheduler is told of them: the requests in them, and how they end.

use std::cell::RefCell;
use std::rc::Rc;

use sluice_catalog::refusals::WarmUpError;
use sluice_journal::{Event as Happening, Level};
use sluice_scheduler::{Event, WorkerId};
use tokio::time::Instant;

use super::dispatch::Dispatch;
use crate::upstream::WorkerRequest;

/// Warm-ups in progress, and the latest that failed.
pub(crate) struct WarmUps {
    dispatch: Rc<Dispatch>,
    /// Error of the latest warm-up that failed, and its worker.
    failure: RefCell<Option<(WorkerId, WarmUpError)>>,
}

impl WarmUps {
    pub(super) fn new(dispatch: &Rc<Dispatch>) -> Self {
        WarmUps { dispatch: Rc::clone(dispatch), failure: RefCell::default() }
    }

    /// Gives a request of the gateway's own to a worker that is being warmed. Returns false if it is no longer warmed.
    pub(crate) fn give(&self, worker: WorkerId, own: &Rc<WorkerRequest>) -> bool {
        let dispatch = &self.dispatch;
        if !dispatch.scheduler.read(|scheduler| scheduler.is_warming(worker)) {
            return false;
        }
        let request = own.request;
        dispatch.tell(Event::WarmingWith { worker, request });
        dispatch.requests.add(own);
        if let Some(lease) = dispatch.give(Instant::now(), worker, own, false) {
            dispatch.requests.remove(request);
            lease.end();
            dispatch.tell(Event::Finished { worker, request });
            return false;
        }
        true
    }

    /// Whether this worker is being warmed, even if it holds no request.
    pub(crate) fn is_warming(&self, worker: WorkerId) -> bool {
        self.dispatch.scheduler.is_warming(worker)
    }

    /// Ends the warm-up of a worker, which is warm or must not take requests.
    pub(crate) fn warmed(&self, worker: WorkerId, outcome: Result<(), WarmUpError>) {
        match outcome {
            Ok(()) => self.dispatch.tell(Event::Warmed { worker }),
            Err(why) => {
                self.note_failure(worker, why);
                self.dispatch.tell(Event::WarmUpFailed { worker });
            }
        }
    }

    /// Whether the worker still holds a warm-up request after the time for that.
    pub(crate) fn is_jammed(&self, worker: WorkerId) -> bool {
        self.is_warming(worker) && self.held(worker).is_some()
    }

    /// Replaces a worker that holds a slot which only its end frees. It must not take a place in the pool: a generation on trial fails with
    /// it, and any other attempt is repeated.
    pub(crate) fn jammed(&self, worker: WorkerId, why: WarmUpError) {
        self.note_failure(worker, why);
        if self.dispatch.scheduler.read(|scheduler| scheduler.fails_with_warm_up(worker)) {
            self.dispatch.tell(Event::WarmUpFailed { worker });
        } else {
            self.dispatch.tell(Event::Faulted { worker });
        }
    }

    /// Records that a worker can serve no client any more. If it was being warmed, the request that it held is named: that may be what
    /// broke it.
    pub(super) fn note_broken(&self, worker: WorkerId) {
        if !self.is_warming(worker) {
            return;
        }
        if let Some(held) = self.held(worker) {
            self.note_failure(worker, WarmUpError::BrokeTheWorker { target: held.target().to_owned() });
        }
    }

    /// The warm-up request that the worker holds.
    fn held(&self, worker: WorkerId) -> Option<Rc<WorkerRequest>> {
        let held = self.dispatch.requests.all_held();
        held.into_iter().find(|held| held.is_own && held.answer.facts.worker.get() == Some(worker))
    }

    fn note_failure(&self, worker: WorkerId, why: WarmUpError) {
        let text = format!("the warm-up of worker {} failed: {why}", worker.0);
        self.dispatch.road.observer.emit(Happening::Note { level: Level::Warn, text: &text });
        *self.failure.borrow_mut() = Some((worker, why));
    }

    /// Error of this worker's warm-up, if it was the latest that failed.
    pub(super) fn failure_of(&self, worker: WorkerId) -> Option<WarmUpError> {
        self.failure.borrow().as_ref().filter(|(failed, _)| *failed == worker).map(|(_, why)| why.clone())
    }
}
