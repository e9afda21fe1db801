//! Trials: a reload that stops on its way, until its generation has passed or failed.
//!
//! Workers beside the present ones are successors that take only requests whose home they are. They take their places over when
//! the generation passes, and leave when it fails. Where the first batches have taken over instead, a failed generation is
//! replaced by the one before it, as by a reload. Until it passes, the one before it stays in force: whatever has to be started
//! meanwhile runs that, except in as many places as the batches may take.

use super::replace::Patience;
use super::worker::{Warmth, Worker};
use super::{Pool, WorkerState};
use crate::{AbandonReason, Action, Hold, KillReason, Time, WorkerId};

impl Pool {
    /// Point at which the reload under way stops, if it does.
    pub(super) fn hold(&self) -> Option<Hold> {
        self.reload.as_ref().and_then(|reload| reload.hold)
    }

    /// Workers that the generation under way may have beside the present ones, while it may have no more.
    pub(super) fn beside(&self) -> Option<u32> {
        match self.hold()? {
            Hold::Beside { workers } => Some(workers),
            Hold::Batches { .. } => None,
        }
    }

    /// Whether the worker is a successor of the generation that the reload under way brings, which has not taken over.
    pub(crate) fn is_on_trial_itself(&self, worker: WorkerId) -> bool {
        self.is_on_trial() && self.is_successor(worker) && self.is_of_reload(worker)
    }

    fn is_of_reload(&self, worker: WorkerId) -> bool {
        let generation = self.workers.get(&worker).map(|w| w.generation);
        generation.is_some() && generation == self.reload.as_ref().map(|reload| reload.generation)
    }

    /// Workers that take only requests whose home they are.
    pub(crate) fn tried(&self) -> impl Iterator<Item = WorkerId> + '_ {
        self.workers.iter().filter(|(_, w)| w.state == WorkerState::Trial && !w.is_overdue).map(|(id, _)| *id)
    }

    fn tried_at_all(&self) -> bool {
        self.workers.values().any(|w| w.state == WorkerState::Trial)
    }

    /// Whether the worker takes only requests whose home it is.
    pub(crate) fn is_tried(&self, worker: WorkerId) -> bool {
        self.workers.get(&worker).is_some_and(|w| w.state == WorkerState::Trial)
    }

    /// Whether the worker is on trial and its event loop is blocked.
    pub(crate) fn is_shut(&self, worker: WorkerId) -> bool {
        self.workers.get(&worker).is_some_and(|w| w.state == WorkerState::Trial && w.is_overdue)
    }

    /// Places that the generation may take over before it passes. One at least stays with the generation that it is compared with.
    pub(super) fn places_until_stop(&self, at_once: u32, batches: u32) -> u32 {
        let wanted = u32::try_from(self.wanted_places().count()).unwrap_or(u32::MAX);
        at_once.saturating_mul(batches).min(wanted.saturating_sub(1)).max(1)
    }

    /// Generation that an empty place starts.
    pub(super) fn generation_of_vacancy(&self, at_once: u32) -> u64 {
        match &self.reload {
            Some(reload) if reload.has_taken_over => match reload.hold {
                Some(Hold::Batches { batches })
                    if self.places_of(reload.generation) < self.places_until_stop(at_once, batches) =>
                {
                    reload.generation
                }
                _ => self.generation,
            },
            _ => self.generation,
        }
    }

    /// Whether the reload has stopped: as many workers as it may have serve.
    pub(super) fn has_stopped(&self, at_once: u32) -> bool {
        let Some(reload) = &self.reload else { return false };
        match reload.hold {
            None => false,
            Some(Hold::Beside { .. }) => self.tried_at_all(),
            Some(Hold::Batches { batches }) => {
                let is_ready = |w: &Worker| w.generation == reload.generation && w.state == WorkerState::Ready;
                reload.has_taken_over && self.count(is_ready) >= self.places_until_stop(at_once, batches)
            }
        }
    }

    /// Places that have a worker of this generation, or get one.
    pub(super) fn places_of(&self, generation: u64) -> u32 {
        let is_of =
            |id: Option<WorkerId>| id.and_then(|id| self.workers.get(&id)).is_some_and(|w| w.generation == generation);
        let places = self.wanted_places().filter(|(_, place)| is_of(place.worker) || is_of(place.successor));
        u32::try_from(places.count()).unwrap_or(u32::MAX)
    }

    /// Lets the generation on trial take the other places over.
    pub(crate) fn trial_passed(&mut self, now: Time, generation: u64) {
        let Some(reload) = self.reload.as_mut().filter(|reload| reload.generation == generation) else { return };
        if reload.hold.take().is_none() {
            return;
        }
        if reload.has_taken_over {
            self.generation = generation;
        }
        if self.tried_at_all() {
            // One that waits for others of its batch waits no more.
            let is_warm = |w: &Worker| w.state == WorkerState::Warming && w.warmth == Warmth::Warm;
            let is_due = |w: &Worker| w.generation == generation && (w.state == WorkerState::Trial || is_warm(w));
            let due: Vec<WorkerId> = self.workers.iter().filter(|(_, w)| is_due(w)).map(|(id, _)| *id).collect();
            for worker in due {
                self.make_ready(now, worker);
            }
        }
    }

    /// Turns the generation on trial back. Where it has taken places over, the one before it returns to them.
    pub(crate) fn trial_failed(&mut self, now: Time, generation: u64, actions: &mut Vec<Action>) {
        let Some(reload) = self.reload.as_mut().filter(|reload| reload.generation == generation) else { return };
        if reload.hold.is_none() {
            return;
        }
        if !reload.has_taken_over {
            self.abandon(now, AbandonReason::TurnedBack, actions);
            return;
        }
        reload.hold = None;
        (reload.gives_up, reload.generation, reload.failures) = (Some(generation), reload.before, 0);
        self.generation = reload.before;
        self.successors = Patience::default();
        let successors: Vec<WorkerId> = self.places.iter_mut().filter_map(|place| place.successor.take()).collect();
        for worker in successors {
            self.discard(now, worker, actions);
        }
    }

    /// Ends a successor that is not to take its place over. One that serves finishes the requests that it holds.
    pub(super) fn discard(&mut self, now: Time, worker: WorkerId, actions: &mut Vec<Action>) {
        let Some(w) = self.workers.get_mut(&worker) else { return };
        if w.state == WorkerState::Trial {
            w.dismiss(now);
        } else if w.stays() || w.state == WorkerState::Leaving {
            // A stuck one is killed when it has been looked into.
            w.enter(WorkerState::Killed, now);
            actions.push(Action::Kill { worker, reason: KillReason::Abandoned });
        }
    }
}
