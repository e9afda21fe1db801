//! Workers that report what requests cost.

use std::cell::RefCell;

use sluice_scheduler::WorkerId;
use sluice_wire::ids::WorkerMap;
use tokio::time::Instant;

/// Workers that report the cost of requests, with the time up to which all ended requests are known to be reported.
#[derive(Default)]
pub(crate) struct Reporters(RefCell<WorkerMap<Instant>>);

impl Reporters {
    /// Records that the worker has reported all requests that had ended by now.
    pub(crate) fn heard(&self, worker: WorkerId, now: Instant) {
        self.0.borrow_mut().insert(worker, now);
    }

    /// Time of the worker's last report; `None` if it does not report, or is gone.
    pub(super) fn heard_of(&self, worker: WorkerId) -> Option<Instant> {
        self.0.borrow().get(&worker).copied()
    }

    /// Whether the worker exists, and is one that reports.
    pub(crate) fn reports(&self, worker: WorkerId) -> bool {
        self.0.borrow().contains_key(&worker)
    }

    /// Removes a worker that is gone, and reports no more.
    pub(crate) fn gone(&self, worker: WorkerId) {
        self.0.borrow_mut().remove(&worker);
    }
}
