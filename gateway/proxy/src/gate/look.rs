//! Snapshot that the gate gives its observer with every tick, and the facts from which alarms are judged.

use sluice_observe::{Look, ShortLane};
use sluice_scheduler::{Lane, WorkerState, WorkerView};
use tokio::time::Instant;

use super::Gate;
use crate::upstream::WorkerRequest;

impl Gate {
    /// Reports that a request which has waited begins in a worker.
    pub(super) fn tell_dispatched(&self, now: Instant, request: &WorkerRequest) {
        // What was with another worker before has not waited all of its time.
        if let Some(arrived) = request.arrived.get().filter(|_| !request.answer.was_retried.get()) {
            self.observer.alarms.waited(now.saturating_duration_since(arrived));
        }
    }

    /// Shows the state to the observer; called with every tick.
    pub(super) fn show(&self, now: Instant) {
        let scheduler = self.scheduler.borrow();
        self.observer.trouble.idle_refusals(scheduler.idle_refusals_total());
        if let Some(error) = self.road.store.take_failure() {
            self.observer.trouble.temp_failed(now, &error);
        }
        let occupied = scheduler.workers().filter(is_short).map(|view| (view.worker, view.in_service > 0));
        self.observer.tick(now, scheduler.queue_length(), occupied, || self.look());
    }

    fn look(&self) -> Look {
        let scheduler = self.scheduler.borrow();
        let workers = scheduler.workers().filter(|view| view.lane == Lane::Short).count();
        let mut are_full = scheduler.workers().filter(is_short).map(|view| view.is_full).peekable();
        let lane = ShortLane {
            workers: u32::try_from(workers).unwrap_or(u32::MAX),
            is_full: are_full.peek().is_some() && are_full.all(|is_full| is_full),
        };
        Look {
            drifts: self.class_drifts(),
            lane,
            certificates: self.road.certificates_in_need(),
            quarantine: self.quarantine_text(),
        }
    }
}

/// Whether a ready worker is of the short lane. Workers of the long lane have only the CPU time that others leave: one
/// that does not run is not asleep.
fn is_short(view: &WorkerView) -> bool {
    view.state == WorkerState::Ready && view.lane == Lane::Short
}
