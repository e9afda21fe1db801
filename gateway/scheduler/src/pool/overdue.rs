//! Stand-ins for workers whose event loop is blocked and uses CPU, before they count as stuck.
//!
//! Such a worker may be in an infinite loop, or render something large. So it keeps its requests, gets the lowest
//! priority and continues. Its place starts a successor at once, so that capacity is back after a boot and not only
//! after a kill.
//!
//! At most one stand-in exists at a time, however many workers are overdue. Without the privilege to raise a priority,
//! a lowered worker stays slow, so it is replaced even if its event loop turns again. After a needless stand-in the
//! next one waits, longer each time, because the app's renders may be that long. A worker of the long lane has the
//! lowest priority anyway and is meant for long renders: it gets no stand-in.

use super::needless::Needless;
use super::{Pool, WorkerSlot, WorkerState};
use crate::{Action, Lane, Limits, RecycleReason, Time, WorkerId};

impl Pool {
    /// Stops giving requests to the worker while its event loop is blocked and uses CPU.
    pub(crate) fn overdue(&mut self, worker: WorkerId) {
        if let Some(w) = self.workers.get_mut(&worker)
            && matches!(w.state, WorkerState::Ready | WorkerState::Trial | WorkerState::Leaving)
        {
            w.is_overdue = true;
        }
    }

    /// Marks the worker as paused or not. A paused worker gets no stand-in, because it continues after the inspection.
    pub(crate) fn paused(&mut self, worker: WorkerId, is_paused: bool) {
        if let Some(w) = self.workers.get_mut(&worker) {
            w.is_paused = is_paused;
        }
    }

    /// Records that the worker's event loop turns again.
    pub(crate) fn turned(&mut self, now: Time, worker: WorkerId, limits: &Limits, actions: &mut Vec<Action>) {
        let Some(w) = self.workers.get_mut(&worker) else { return };
        if !std::mem::take(&mut w.is_overdue)
            || !matches!(w.state, WorkerState::Ready | WorkerState::Trial | WorkerState::Leaving)
        {
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

    /// Dismisses the stand-in of a worker that has recovered, if it has not taken over yet.
    fn dismiss_stand_in_of(&mut self, now: Time, worker: WorkerId) {
        let Some(place) = self.places.iter_mut().find(|place| place.worker == Some(worker)) else { return };
        let Some(successor) = place.successor else { return };
        if let Some(w) = self.workers.get_mut(&successor).filter(|w| w.is_stand_in) {
            w.dismiss(now);
            place.successor = None;
        }
    }

    /// Records that a stand-in was needed, because its worker is stuck.
    pub(super) fn was_needed(&mut self) {
        self.needless = Needless::default();
    }

    /// Lowers overdue workers that are leaving or about to be replaced, and starts the stand-in that is due.
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
        let tried: Vec<WorkerId> = self.tried().collect();
        for (id, w) in self.workers.iter_mut() {
            let place = &self.places[w.instance as usize];
            let is_replaced = w.state == WorkerState::Leaving
                || w.state == WorkerState::Ready
                    && place.worker == Some(*id)
                    && place.successor.is_some_and(|successor| !tried.contains(&successor));
            if w.is_overdue && !w.is_lowered && is_replaced {
                w.is_lowered = true;
                actions.push(Action::Lower { worker: *id });
            }
        }
    }

    /// Worker that gets the next stand-in, its place, and the time.
    fn stand_in_wanted(&self) -> Option<(WorkerId, u32, Time)> {
        if self.is_on_trial() && self.beside().is_none() {
            return None;
        }
        let wanted = self.wanted_places().filter_map(|(instance, place)| {
            let at = self.stand_in_time(place)?;
            Some((at, place.worker?, instance))
        });
        wanted.min().map(|(at, worker, instance)| (worker, instance, at))
    }

    /// Time from which the place may get a stand-in; `None` if it should not have one.
    fn stand_in_time(&self, place: &WorkerSlot) -> Option<Time> {
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
