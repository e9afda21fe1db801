//! Workers that report what requests cost them, and until when each is known to have done so. A worker that renders for
//! seconds can report nothing meanwhile, also not what it finished before. It must not know requests.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use sluice_scheduler::WorkerId;

use crate::ids::WorkerMap;

/// How long a report may take after the response, if the worker's event loop turns: hooks and late ends take their time.
const WAIT: Duration = Duration::from_secs(1);
/// How long it may take at most.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// When each was last heard of, of those that report.
#[derive(Default)]
pub(crate) struct Reporters {
    heard: RefCell<WorkerMap<Instant>>,
}

impl Reporters {
    /// The worker has reported all that there was to report.
    pub(crate) fn heard(&self, worker: WorkerId, now: Instant) {
        self.heard.borrow_mut().insert(worker, now);
    }

    /// The worker is gone.
    pub(crate) fn forget(&self, worker: WorkerId) {
        self.heard.borrow_mut().remove(&worker);
    }

    /// Whether the worker is one that reports, and is there.
    pub(crate) fn has(&self, worker: WorkerId) -> bool {
        self.heard.borrow().contains_key(&worker)
    }

    /// Whether it may still report a request that it answered then.
    pub(crate) fn may_report(&self, worker: WorkerId, answered: Instant, now: Instant) -> bool {
        let waited = now.saturating_duration_since(answered);
        let is_silent = || self.heard.borrow().get(&worker).is_some_and(|heard| *heard < answered + WAIT);
        waited < WAIT || waited < WAIT_MAX && is_silent()
    }
}
