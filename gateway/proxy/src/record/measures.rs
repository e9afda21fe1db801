//! Requests whose cost is still to be heard of: from when a worker gets one until it reports what that took.
//!
//! A worker that never reports (it runs without the preload) is measured by its service time, which is all that is seen
//! of it from outside. It must not know what becomes of a cost.

use std::cell::{Cell, RefCell};
use std::collections::hash_map::Entry;
use std::rc::Rc;
use std::time::{Duration, Instant};

use sluice_scheduler::{RequestId, WorkerId};

use crate::ids::RequestMap;
use crate::record::reporters::Reporters;
use crate::upstream::{Job, method_and_target};
use sluice_classes::Class;

/// Requests that are waited for; further ones are not measured.
const WAITING_MAX: usize = 20_000;
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// One such request.
pub(crate) struct Measure {
    pub(crate) class: Class,
    pub(crate) worker: WorkerId,
    /// As the worker got it.
    head: Rc<Vec<u8>>,
    given: Instant,
    finished: Option<Instant>,
}

impl Measure {
    /// Path and query.
    pub(crate) fn target(&self) -> &str {
        method_and_target(&self.head).1
    }

    /// How long the worker had it, µs.
    pub(crate) fn service_us(&self) -> u64 {
        let ended = self.finished.unwrap_or(self.given);
        u64::try_from(ended.saturating_duration_since(self.given).as_micros()).unwrap_or(u64::MAX)
    }
}

/// All of them.
#[derive(Default)]
pub(crate) struct Measures {
    waiting: RefCell<RequestMap<Measure>>,
    looked: Cell<Option<Instant>>,
}

impl Measures {
    /// The worker gets the request. The gateway's own ones say nothing: they are there because the worker is cold.
    pub(crate) fn expect(&self, job: &Job, worker: WorkerId, given: Instant) {
        let mut waiting = self.waiting.borrow_mut();
        if job.is_own || waiting.len() >= WAITING_MAX {
            return;
        }
        let (class, head) = (job.class.clone(), Rc::clone(&job.head));
        waiting.insert(job.request, Measure { class, worker, head, given, finished: None });
    }

    /// The worker has answered.
    pub(crate) fn finished(&self, request: RequestId, now: Instant) {
        if let Some(measure) = self.waiting.borrow_mut().get_mut(&request) {
            measure.finished = Some(now);
        }
    }

    /// The worker did not see it after all.
    pub(crate) fn remove(&self, request: RequestId) {
        self.waiting.borrow_mut().remove(&request);
    }

    /// This worker reports no more.
    pub(crate) fn forget(&self, worker: WorkerId) {
        self.waiting.borrow_mut().retain(|_, measure| measure.worker != worker);
    }

    /// The report has come.
    pub(crate) fn take(&self, worker: WorkerId, request: RequestId) -> Option<Measure> {
        let mut waiting = self.waiting.borrow_mut();
        let Entry::Occupied(entry) = waiting.entry(request) else { return None };
        (entry.get().worker == worker).then(|| entry.remove())
    }

    /// Requests that were answered and will not be reported any more. Looks only now and then.
    pub(crate) fn overdue(&self, now: Instant, reporters: &Reporters) -> Vec<Measure> {
        if self.looked.get().is_some_and(|looked| now.saturating_duration_since(looked) < LOOK_EVERY) {
            return Vec::new();
        }
        self.looked.set(Some(now));
        let is_overdue = |_: &RequestId, measure: &mut Measure| {
            measure.finished.is_some_and(|finished| !reporters.may_report(measure.worker, finished, now))
        };
        self.waiting.borrow_mut().extract_if(is_overdue).map(|(_, measure)| measure).collect()
    }
}
