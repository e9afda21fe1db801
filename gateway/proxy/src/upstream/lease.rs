//! Slot of a worker, held by the task that carries a request out. Only returning the lease frees the slot. That consumes the lease, so no
//! task frees a slot twice or uses one that is another request's (I1).

use std::rc::Rc;
use std::sync::mpsc::Sender;

use sluice_journal::tasks;
use sluice_scheduler::{RequestId, WorkerId};

/// Right to a worker's slot, from a dispatch. It holds numbers alone, so that it can cross threads.
#[must_use]
pub(crate) struct Lease {
    pub(crate) worker: WorkerId,
    pub(crate) request: RequestId,
    lost: Option<Sender<LostLease>>,
}

/// A lease that was never returned: a fault of the gateway's own has ended its task.
pub(crate) struct LostLease {
    pub(crate) worker: WorkerId,
    pub(crate) request: RequestId,
    /// Source location of the fault.
    pub(crate) place: String,
}

impl Lease {
    pub(crate) fn new(worker: WorkerId, request: RequestId, lost: &Sender<LostLease>) -> Self {
        Lease { worker, request, lost: Some(lost.clone()) }
    }

    /// Ends the lease, because the slot is returned or went with its worker.
    pub(crate) fn end(mut self) -> (WorkerId, RequestId) {
        self.lost = None;
        (self.worker, self.request)
    }

    /// Passes the slot to another request of the same worker.
    pub(crate) fn pass_to(&mut self, request: RequestId) {
        self.request = request;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(lost) = self.lost.take() {
            // Whatever the task was at, the app may still hold the request: the gate sees to the worker. There is no gate only
            // while the gateway is torn down.
            let _ = lost.send(LostLease { worker: self.worker, request: self.request, place: tasks::place() });
        }
    }
}

/// Counts of workers' streams.
pub(crate) trait StreamCounts {
    fn stream_ended(&self, worker: WorkerId, request: RequestId);
}

/// A stream that has left its slot, in the worker's count. It is counted until its connection ends, in whatever way.
pub(crate) struct StreamLease {
    counts: Rc<dyn StreamCounts>,
    worker: WorkerId,
    request: RequestId,
}

impl StreamLease {
    pub(crate) fn new(counts: Rc<dyn StreamCounts>, worker: WorkerId, request: RequestId) -> Self {
        StreamLease { counts, worker, request }
    }
}

impl Drop for StreamLease {
    fn drop(&mut self) {
        self.counts.stream_ended(self.worker, self.request);
    }
}
