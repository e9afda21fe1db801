//! The model of boots: who may boot beside whom, and when the first start has failed.

use sluice_scheduler::{Time, WorkerId, WorkerState};

use super::Places;
use crate::model::promise;
use crate::workers::{Post, Worker, Workers};

impl Places {
    pub fn note_boot(&mut self, boot_us: u64) {
        self.longest_boot_us = self.longest_boot_us.max(Some(boot_us));
    }
}

impl Workers {
    /// Whether one more worker may boot now in a place that has none.
    pub(super) fn may_boot(&self, now: Time) -> Result<(), String> {
        let boots = self.boots(now);
        let serves = self.live.values().any(|w| matches!(w.state(), WorkerState::Ready | WorkerState::Warming));
        promise!(serves || boots == 0, "nobody serves, {boots} boot, and one more starts");
        Ok(())
    }

    /// A boot that leaves the CPU to others has a bound for that, and there are others.
    pub fn boots_aside(&mut self, worker: WorkerId, aside_us: u64) -> Result<(), String> {
        let bound_us = self.places.longest_boot_us.map_or(0, |us| us * 4).max(2_000_000);
        promise!(aside_us == bound_us, "{worker:?} boots aside for {aside_us} us");
        promise!(self.places.longest_boot_us.is_some(), "{worker:?} boots aside before any has listened");
        if let Some(w) = self.live.get_mut(&worker) {
            w.aside_us = aside_us;
        }
        Ok(())
    }

    /// When the boots of holders have had more than enough time.
    fn boot_ends(&self) -> impl Iterator<Item = Time> {
        let enough_us = self.places.longest_boot_us.map(|us| (us * 2).max(1_000_000));
        let is_booting = |w: &Worker| matches!(w.state(), WorkerState::Starting | WorkerState::Killed);
        let boots = move |w: &&Worker| w.post == Post::Holder && w.listened.is_none() && is_booting(w);
        let end = move |w: &Worker| enough_us.map_or(Time(u64::MAX), |us| Time(w.started.0 + us + w.aside_us));
        self.live.values().filter(boots).map(end)
    }

    pub(super) fn boots(&self, now: Time) -> usize {
        self.boot_ends().filter(|end| *end > now).count()
    }

    pub(super) fn boot_patience_ends(&self, now: Time) -> Option<Time> {
        self.boot_ends().filter(|end| *end > now && *end < Time(u64::MAX)).min()
    }

    /// After a failure that is no accident: the first of all, and there is no hope for another.
    pub(super) fn has_failed_to_start(&self, was_late: bool) -> bool {
        if self.places.longest_boot_us.is_some() || self.places.reload.is_some() {
            return false;
        }
        let places = self.places.all_wanted();
        let has_failed = |at: &&u32| self.places.places[**at as usize].failures > 0;
        let failed = places.iter().filter(has_failed).count();
        let mut untried = places.iter().filter(|at| !has_failed(at));
        let is_enough = was_late || failed >= 2 || failed == places.len();
        is_enough && untried.all(|at| self.find(*at, Post::Holder).is_none())
    }
}
