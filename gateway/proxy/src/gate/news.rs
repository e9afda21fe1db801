//! Reports of workers that lead to no action, translated into the observer's events.

use std::rc::Rc;

use sluice_catalog::snapshot::CrashSnapshot;
use sluice_observe::{Beat, RequestName, RunTotals, TailReport};
use sluice_scheduler::{Lane, RequestId, WorkerId};
use sluice_supervisor::{Crash, RoutesGrown, RunsTold, Vitals};

use super::Gate;
use crate::record::run_of;
use crate::upstream::WorkerRequest;

impl Gate {
    pub(super) fn take_vitals(&self, worker: WorkerId, vitals: Vitals) {
        let view = self.scheduler.borrow().workers().find(|view| view.worker == worker);
        let Some(view) = view else { return };
        let Vitals { pid, rss_bytes, heap_used_bytes } = vitals;
        self.observer.beats(&Beat {
            worker: worker.0,
            place: view.instance,
            generation: view.generation,
            age: self.age(view.started),
            pid,
            rss_bytes,
            heap_used_bytes,
        });
    }

    pub(super) fn take_runs(&self, worker: WorkerId, told: &RunsTold<'_>) {
        if let Some(totals) = RunTotals::told(told.counts, told.time_us)
            && self.is_there(worker)
        {
            let (observed_us, collections, collected_us) = (told.observed_us, told.collections, told.collected_us);
            self.observer.runs.counted(worker.0, RunTotals { observed_us, collections, collected_us, ..totals });
        }
        for run in &told.long {
            let exchange = run.request.and_then(|request| self.requests.exchange(request));
            let exchange = exchange.filter(|exchange| exchange.answer.worker.get() == Some(worker));
            let request = exchange.as_deref().map(name_of);
            self.observer.runs.ran_long(worker.0, &run_of(run), request.as_ref(), self.is_last_in_line(worker));
        }
    }

    pub(super) fn take_routes(&self, worker: WorkerId, told: &RoutesGrown<'_>) {
        if self.is_there(worker) {
            self.observer.routes.grown(worker.0, told.size, told.added, &told.places);
        }
    }

    pub(super) fn note_profile(&self, worker: WorkerId, told: TailReport) {
        let request = told.request;
        self.observer.tails.profiled(worker.0, told, || self.name_of_request(request));
    }

    pub(super) fn note_crash(&self, worker: WorkerId, crash: &Crash<'_>) {
        let Crash { status, exception, held, request } = *crash;
        self.observer.crashes.crashed(CrashSnapshot {
            at_unix_ms: 0,
            worker: worker.0,
            status: status.to_owned(),
            exception: exception.map(str::to_owned),
            held: held as u64,
            request: request.map(|held| held.request_id.clone()),
            method: request.map(|held| held.method.clone()),
            path: request.map(|held| held.path.clone()),
            class: request.map(|held| held.class.to_string()),
        });
    }

    /// Whether the worker still exists; its last reports may be read after its exit.
    fn is_there(&self, worker: WorkerId) -> bool {
        self.scheduler.borrow().worker_state(worker).is_some()
    }

    /// Whether the gateway gives the worker only the CPU time that others leave.
    fn is_last_in_line(&self, worker: WorkerId) -> bool {
        let scheduler = self.scheduler.borrow();
        let found = scheduler.workers().find(|view| view.worker == worker);
        found.is_some_and(|view| view.lane == Lane::Long || view.is_lowered)
    }

    fn name_of_request(&self, request: RequestId) -> Option<RequestName> {
        self.requests.exchange(request).as_deref().map(name_of)
    }
}

fn name_of(exchange: &WorkerRequest) -> RequestName {
    let (request_id, method, target) = exchange.name();
    RequestName { request_id, method, target, class: Rc::clone(&exchange.class.name) }
}
