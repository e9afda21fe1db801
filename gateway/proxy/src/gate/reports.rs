//! Reports of workers about their requests and about themselves, for the records, the exchanges and the observer.

use std::rc::Rc;
use std::time::Duration;

use sluice_dispatch::{Event as ExchangeEvent, Phase};
use sluice_observe::{Beat, Observer, RunTotals, TailReport};
use sluice_scheduler::{Lane, RequestId, WorkerId};
use sluice_supervisor::{CpuReport, GraphReport, RenderReport, Reports, RoutesReport, RunsReport, Vitals};
use sluice_vitals::{CallsReport, is_hole};
use tokio::time::Instant;

use super::dispatch::Dispatch;
use crate::record::{Records, run_of};
use crate::upstream::WorkerRequest;

/// See the module's text.
pub(super) struct WorkerReports {
    dispatch: Rc<Dispatch>,
    records: Rc<Records>,
    observer: Rc<Observer>,
}

impl WorkerReports {
    pub(super) fn new(dispatch: &Rc<Dispatch>, records: &Rc<Records>) -> Self {
        let observer = Rc::clone(&dispatch.road.observer);
        WorkerReports { dispatch: Rc::clone(dispatch), records: Rc::clone(records), observer }
    }

    /// Whether the gateway gives the worker only the CPU time that others leave.
    fn is_last_in_line(&self, worker: WorkerId) -> bool {
        self.dispatch.scheduler.read(|scheduler| {
            let found = scheduler.workers().find(|view| view.worker == worker);
            found.is_some_and(|view| view.lane == Lane::Long || view.is_lowered)
        })
    }

    /// The request, if this worker has it or has answered it: a late word of a worker that died may come when another has it.
    fn request_of(&self, worker: WorkerId, request: RequestId) -> Option<Rc<WorkerRequest>> {
        self.dispatch.requests.exchange(request).filter(|exchange| exchange.answer.facts.worker.get() == Some(worker))
    }

    /// Passes an event to the exchange of a request that the worker holds.
    fn tell_held(&self, worker: WorkerId, request: RequestId, event: ExchangeEvent) {
        if let Some(request) = self.dispatch.requests.held_by(worker, request) {
            request.tell(event);
        }
    }
}

impl Reports for WorkerReports {
    fn was_awake(&self, worker: WorkerId, elapsed: Duration, awake: Duration) {
        self.observer.mode.was_awake(worker, elapsed, awake);
    }

    fn beats(&self, worker: WorkerId, vitals: Vitals) {
        let scheduler = &self.dispatch.scheduler;
        let view = scheduler.read(|scheduler| scheduler.workers().find(|view| view.worker == worker));
        let Some(view) = view else { return };
        let Vitals { pid, rss_bytes, heap_used_bytes } = vitals;
        self.observer.beats(&Beat {
            worker: worker.0,
            place: view.instance,
            generation: view.generation,
            age: scheduler.age(view.started),
            pid,
            rss_bytes,
            heap_used_bytes,
        });
    }

    fn runs(&self, worker: WorkerId, told: &RunsReport<'_>) {
        if let Some(totals) = RunTotals::told(told.counts, told.time_us)
            && self.dispatch.scheduler.is_there(worker)
        {
            let (observed_us, collections, collected_us) = (told.observed_us, told.collections, told.collected_us);
            self.observer.runs.counted(worker.0, RunTotals { observed_us, collections, collected_us, ..totals });
        }
        for run in &told.long {
            let exchange = run.request.and_then(|request| self.request_of(worker, request));
            let request = exchange.as_deref().map(WorkerRequest::named);
            self.observer.runs.ran_long(worker.0, &run_of(run), request.as_ref(), self.is_last_in_line(worker));
        }
    }

    fn routes_grown(&self, worker: WorkerId, told: &RoutesReport<'_>) {
        if self.dispatch.scheduler.is_there(worker) {
            self.observer.routes.grown(worker.0, told.size, told.added, &told.places);
        }
    }

    fn rendered(&self, told: &RenderReport<'_>) {
        self.observer.trials.rendered(told.worker.0, &told.components);
        if let Some(generation) = self.dispatch.scheduler.read(|scheduler| scheduler.generation_of(told.worker)) {
            for of in &told.components {
                let holes = if is_hole(of.outcome) { of.count } else { 0 };
                self.observer.spending.rendered(generation, of.component, of.count, holes);
            }
        }
        self.observer.effects.rendered(&told.components, &told.settings, &told.variants);
    }

    fn used_graph(&self, told: &GraphReport<'_>) {
        self.observer.graph.used(&told.routes, &told.paths, told.counts);
    }

    fn called(&self, worker: WorkerId, told: &[CallsReport<'_>]) {
        self.observer.calls.told(worker.0, self.dispatch.scheduler.is_there(worker), told);
    }

    fn reported(&self, worker: WorkerId, request: RequestId, reported: &CpuReport<'_>) {
        if let Some(exchange) = self.request_of(worker, request) {
            exchange.tell(ExchangeEvent::Reported);
            self.records.take_report(worker, &exchange, reported);
        }
    }

    fn has_profiled(&self, worker: WorkerId, told: TailReport) {
        let request = told.request;
        let name = || self.dispatch.requests.exchange(request).as_deref().map(WorkerRequest::named);
        self.observer.tails.profiled(worker.0, told, name);
    }

    fn has_reported_all(&self, worker: WorkerId, now: Instant) {
        // Its last words may be read after its exit.
        if self.dispatch.scheduler.is_there(worker) {
            self.records.reporters.heard(worker, now);
        }
    }

    fn app_took(&self, worker: WorkerId, request: RequestId) {
        self.tell_held(worker, request, ExchangeEvent::Taken);
    }

    fn waits_on(&self, worker: WorkerId, request: RequestId) {
        self.tell_held(worker, request, ExchangeEvent::Waits);
    }

    fn busy(&self, worker: WorkerId, request: RequestId, by: RequestId) {
        let is_open = self.dispatch.requests.unreported(worker, by).is_some();
        self.tell_held(worker, request, ExchangeEvent::Busy { by, is_open });
    }

    fn idle(&self, worker: WorkerId) {
        for request in self.dispatch.requests.of(worker) {
            let is_over = matches!(request.phase(), Phase::Settling(_)) || request.account.is_finished();
            if is_over && !request.is_reported() {
                request.tell(ExchangeEvent::Reported);
            }
        }
    }
}
