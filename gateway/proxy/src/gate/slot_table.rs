//! Slots of all workers, with the requests in them and those that were handed ahead.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;
use std::sync::mpsc;

use sluice_catalog::snapshot::CurrentRequest;
use sluice_dispatch::{Ahead, Cause, Event as ExchangeEvent};
use sluice_scheduler::{RequestId, WorkerId};
use sluice_supervisor::InflightRequest;
use sluice_wire::ids::WorkerMap;

use crate::upstream::{Lease, LostLease, Slots, WorkerRequest};

/// Slots of each worker that listens.
pub struct SlotTable {
    slots: RefCell<WorkerMap<Rc<Slots>>>,
    /// Leases that were dropped without being returned.
    lost: (mpsc::Sender<LostLease>, mpsc::Receiver<LostLease>),
    handed_total: Cell<u64>,
    taken_back_total: Cell<u64>,
}

impl Default for SlotTable {
    fn default() -> Self {
        SlotTable {
            slots: RefCell::default(),
            lost: mpsc::channel(),
            handed_total: Cell::new(0),
            taken_back_total: Cell::new(0),
        }
    }
}

impl SlotTable {
    /// Slots of the worker, if it listens.
    pub(crate) fn of(&self, worker: WorkerId) -> Option<Rc<Slots>> {
        self.slots.borrow().get(&worker).cloned()
    }

    pub(super) fn insert(&self, worker: WorkerId, slots: Rc<Slots>) {
        self.slots.borrow_mut().insert(worker, slots);
    }

    pub(super) fn remove(&self, worker: WorkerId) -> Option<Rc<Slots>> {
        self.slots.borrow_mut().remove(&worker)
    }

    /// Lease of a slot that the scheduler has found to be free.
    pub(super) fn lease(&self, worker: WorkerId, request: RequestId) -> Lease {
        Lease::new(worker, request, &self.lost.0)
    }

    /// Next lease that was dropped without being returned.
    pub(super) fn next_lost(&self) -> Option<LostLease> {
        self.lost.1.try_recv().ok()
    }

    /// Closes idle connections that their workers have closed.
    pub(super) fn look_after_idle(&self) {
        self.slots.borrow().values().for_each(|slots| slots.look_after_idle());
    }

    /// Records the cause for which the gateway is about to end this worker.
    pub(super) fn ends_for(&self, worker: WorkerId, cause: Cause) {
        if let Some(slots) = self.slots.borrow().get(&worker) {
            slots.ends_for(cause);
        }
    }

    /// Records that the gateway is about to end every worker.
    pub(super) fn all_end(&self) {
        self.slots.borrow().values().for_each(|slots| slots.ends_for(Cause::Gateway));
    }

    /// Opens the worker's pipe for requests ahead of time. Returns whether it takes them.
    pub(super) fn opens_pipe(&self, worker: WorkerId, pipe: &Path) -> bool {
        self.of(worker).is_some_and(|slots| slots.open_pipe(pipe).is_ok())
    }

    /// Hands a request ahead: the worker begins it only if it takes its number out of the pipe first. Returns whether the number is in
    /// there.
    pub(super) fn hand(&self, slots: &Slots, request: &WorkerRequest) -> bool {
        let number = self.handed_total.get() + 1;
        let is_handed = slots.hand(number);
        if is_handed {
            self.handed_total.set(number);
            request.handed_as.set(number);
        }
        is_handed
    }

    /// Takes back the requests with these numbers, which the app will never see. Their tasks bring them back to the queue.
    pub(super) fn withdraw(&self, worker: WorkerId, numbers: &[u64]) {
        if numbers.is_empty() {
            return;
        }
        for request in self.handed_to(worker) {
            if numbers.contains(&request.handed_as.get()) {
                self.taken_back_total.set(self.taken_back_total.get() + 1);
                request.tell(ExchangeEvent::Withdrawn);
            }
        }
    }

    /// Requests that the worker was handed ahead.
    pub(super) fn handed_to(&self, worker: WorkerId) -> Vec<Rc<WorkerRequest>> {
        self.of(worker).map(|slots| slots.held(|request| request.ahead() != Ahead::No)).unwrap_or_default()
    }

    /// Requests that the worker holds and has begun.
    pub(super) fn begun_by(&self, worker: WorkerId) -> Vec<Rc<WorkerRequest>> {
        self.of(worker).map(|slots| slots.held(WorkerRequest::has_begun)).unwrap_or_default()
    }

    /// Requests that the worker holds, oldest first, without the gateway's own and without their queries.
    pub(super) fn held_by(&self, worker: WorkerId) -> Vec<InflightRequest> {
        let mut begun: Vec<_> = self.begun_by(worker).into_iter().filter(|exchange| !exchange.is_own).collect();
        begun.sort_by_key(|exchange| exchange.times.started.get());
        let told = begun.iter().map(|exchange| {
            let shown = exchange.describe();
            InflightRequest {
                request: exchange.request,
                request_id: shown.id,
                method: shown.method,
                path: shown.path,
                class: Rc::clone(&exchange.class.name),
            }
        });
        told.collect()
    }

    /// Requests that a worker has begun and holds now.
    pub fn current_requests(&self, worker: WorkerId) -> Vec<CurrentRequest> {
        self.begun_by(worker).iter().map(|exchange| exchange.describe()).collect()
    }

    /// Number of requests that this worker has finished.
    pub fn finished_total(&self, worker: WorkerId) -> u64 {
        self.of(worker).map_or(0, |slots| slots.finished_total.get())
    }

    /// Requests that workers were handed ahead of time.
    pub fn handed_total(&self) -> u64 {
        self.handed_total.get()
    }

    /// Requests that were handed ahead and taken back before the app saw them.
    pub fn taken_back_total(&self) -> u64 {
        self.taken_back_total.get()
    }
}
