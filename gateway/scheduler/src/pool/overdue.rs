//! Stand-ins: what is done about a worker whose event loop stands still while it burns CPU, before it counts as stuck.
//!
//! It may be in a loop, or it may render something large. So nothing is taken from it: it gets the lowest priority and
//! goes on, and a successor is started for its place at once, so that capacity is back after a boot instead of after a
//! kill. There is one such worker more than the pool has places at most, however many are overdue. Without the privilege to
//! raise a priority a lowered worker is lost for good and is replaced even if its event loop turns again; a stand-in
//! that turns out to have been needless makes the next one wait, longer each time, for an app whose renders are that long.
//! A worker of the long lane has the lowest priority anyway and is meant for what takes long: nothing stands in for it.

use super::{Place, Pool, WorkerState};
use crate::{Action, Lane, Limits, RecycleReason, Time, WorkerId};

/// Stand-ins that were started for workers whose event loop turned again by itself.
#[derive(Debug, Default)]
pub(super) struct Needless {
    count: u32,
    not_before: Time,
}

impl Needless {
    fn add(&mut self, now: Time, limits: &Limits) {
        let (min_ms, max_ms) = (limits.needless_wait_ms_min, limits.needless_wait_ms_max);
        if self.not_before.plus_ms(max_ms) <= now {
            self.count = 0;
        }
        let wait_ms = min_ms.saturating_mul(1 << self.count.min(32)).min(max_ms);
        self.count += 1;
        self.not_before = now.plus_ms(wait_ms);
    }
}

impl Pool {
    /// The worker's event loop stands still and it burns CPU. Until that ends it gets nothing more.
    pub(crate) fn overdue(&mut self, worker: WorkerId) {
        if let Some(w) = self.workers.get_mut(&worker)
            && matches!(w.state, WorkerState::Ready | WorkerState::Leaving)
        {
            w.is_overdue = true;
        }
    }

    /// Somebody looks into it: it is as good as before afterwards, so that nothing stands in for it.
    pub(crate) fn paused(&mut self, worker: WorkerId, is_paused: bool) {
        if let Some(w) = self.workers.get_mut(&worker) {
            w.is_paused = is_paused;
        }
    }

    /// Its event loop turns again.
    pub(crate) fn turned(&mut self, now: Time, worker: WorkerId, limits: &Limits, actions: &mut Vec<Action>) {
        let Some(w) = self.workers.get_mut(&worker) else { return };
        if !std::mem::take(&mut w.is_overdue) || !matches!(w.state, WorkerState::Ready | WorkerState::Leaving) {
            return;
        }
        if w.has_stand_in {
            self.needless.add(now, limits);
        }
        if w.is_lowered && limits.may_raise {
            (w.is_lowered, w.has_stand_in) = (false, false);
            actions.push(Action::Raise { worker });
            self.dismiss_stand_in_of(now, worker);
        }
        self.unsettle();
    }

    /// It is as good as before, and what was to replace it is not needed if it has not done so yet.
    fn dismiss_stand_in_of(&mut self, now: Time, worker: WorkerId) {
        let Some(place) = self.places.iter_mut().find(|place| place.worker == Some(worker)) else { return };
        let Some(successor) = place.successor else { return };
        if let Some(w) = self.workers.get_mut(&successor).filter(|w| w.is_stand_in) {
            w.dismiss(now);
            place.successor = None;
        }
    }

    /// The worker is stuck: its stand-in was needed.
    pub(super) fn was_needed(&mut self) {
        self.needless = Needless::default();
    }

    /// Lowers those that are overdue and on their way out or about to be replaced, and starts the stand-in that is due.
    pub(super) fn stand_in(&mut self, now: Time, actions: &mut Vec<Action>) {
        if let Some((worker, instance, at)) = self.stand_in_wanted()
            && at <= now
            && !self.is_closed()
        {
            if let Some(w) = self.workers.get_mut(&worker) {
                w.has_stand_in = true;
                if !std::mem::replace(&mut w.is_lowered, true) {
                    actions.push(Action::Lower { worker });
                }
            }
            actions.push(Action::Recycling { worker, reason: RecycleReason::Overdue });
            let successor = self.start(now, instance as usize, self.generation, actions);
            self.places[instance as usize].successor = Some(successor);
            if let Some(w) = self.workers.get_mut(&successor) {
                w.is_stand_in = true;
            }
        }
        for (id, w) in self.workers.iter_mut() {
            let place = &self.places[w.instance as usize];
            let is_replaced = w.state == WorkerState::Leaving
                || w.state == WorkerState::Ready && place.worker == Some(*id) && place.successor.is_some();
            if w.is_overdue && !w.is_lowered && is_replaced {
                w.is_lowered = true;
                actions.push(Action::Lower { worker: *id });
            }
        }
    }

    /// The worker that gets the next stand-in, its place, and when.
    fn stand_in_wanted(&self) -> Option<(WorkerId, u32, Time)> {
        if self.is_on_trial() {
            return None;
        }
        let wanted = self.wanted_places().filter_map(|(instance, place)| {
            let at = self.stand_in_time(place)?;
            Some((at, place.worker?, instance))
        });
        wanted.min().map(|(at, worker, instance)| (worker, instance, at))
    }

    /// From when on the place may get a stand-in, if it is to have one.
    fn stand_in_time(&self, place: &Place) -> Option<Time> {
        let worker = place.worker.filter(|_| place.successor.is_none())?;
        let w = self.workers.get(&worker).filter(|w| w.state == WorkerState::Ready && w.lane == Lane::Short)?;
        let is_one_too_many = self.workers.iter().any(|(id, other)| other.has_stand_in && *id != worker);
        // A reload replaces those of the generation before by itself.
        if !(w.is_overdue || w.is_lowered) || w.generation != self.generation || is_one_too_many {
            return None;
        }
        let not_before = if w.is_lowered { Time(0) } else { self.needless.not_before };
        Some(not_before.max(self.successors.not_before))
    }

    pub(super) fn stand_in_due(&self) -> Option<Time> {
        self.stand_in_wanted().map(|(_, _, at)| at)
    }
}
