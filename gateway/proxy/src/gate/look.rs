//! Snapshot that the gate gives its observer with every tick, and the facts from which alarms are judged.

use sluice_observe::{Look, ShortLane};
use sluice_scheduler::{Lane, Scheduler, WorkerState, WorkerView};
use tokio::time::Instant;

use super::Gate;

impl Gate {
    /// Shows the state to the observer; called with every tick.
    pub(super) fn show(&self, now: Instant) {
        let observer = &self.road.observer;
        if let Some(error) = self.road.store.take_failure() {
            observer.trouble.temp_failed(now, &error);
        }
        self.scheduler.read(|scheduler| {
            observer.trouble.idle_refusals(scheduler.idle_refusals_total());
            let occupied = scheduler.workers().filter(is_short).map(|view| (view.worker, view.in_service > 0));
            observer.tick(now, scheduler.queue_length(), occupied, || self.look(scheduler));
        });
    }

    fn look(&self, scheduler: &Scheduler) -> Look {
        let workers = scheduler.workers().filter(|view| view.lane == Lane::Short).count();
        let mut are_full = scheduler.workers().filter(is_short).map(|view| view.is_full).peekable();
        let lane = ShortLane {
            workers: u32::try_from(workers).unwrap_or(u32::MAX),
            is_full: are_full.peek().is_some() && are_full.all(|is_full| is_full),
        };
        Look {
            drifts: self.costs.drifts(),
            lane,
            certificates: self.road.certificates_in_need(),
            quarantine: self.quarantine.alarm_text(),
        }
    }
}

/// Whether a ready worker is of the short lane. Workers of the long lane have only the CPU time that others leave: one
/// that does not run is not asleep.
fn is_short(view: &WorkerView) -> bool {
    view.state == WorkerState::Ready && view.lane == Lane::Short
}
