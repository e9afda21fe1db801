//! Events in the life of one worker: it listens, gets warm, closes, faults, gets stuck, exits.

use super::worker::{Warmth, Worker, backoff_ms};
use super::{Pool, WorkerSlot, WorkerState};
use crate::{AbandonReason, Action, KillReason, Limits, Time, WorkerId};

/// Start time of a place that waits for a change of the app's files: time alone never starts its worker.
pub(super) const HELD: Time = Time(u64::MAX);

impl Pool {
    pub(crate) fn listening(&mut self, now: Time, worker: WorkerId, limits: &Limits) {
        let on_trial = self.is_on_trial_itself(worker);
        let Some(w) = self.workers.get_mut(&worker).filter(|w| w.state == WorkerState::Starting) else { return };
        self.ever_listened = true;
        w.listened = Some(now);
        w.enter(WorkerState::Warming, now);
        let started = w.started;
        if !limits.warm_up {
            w.warmth = Warmth::Warm;
        }
        self.note_boot(started, now);
        if !limits.warm_up && !on_trial {
            self.make_ready(now, worker);
        }
    }

    /// Marks the worker as warm, also after a failed warm-up. Only a generation on trial fails with its warm-up.
    pub(crate) fn warmed(&mut self, now: Time, worker: WorkerId, failed: bool, limits: &Limits, out: &mut Vec<Action>) {
        let on_trial = self.is_on_trial_itself(worker);
        let Some(w) = self.workers.get_mut(&worker) else { return };
        if w.state != WorkerState::Warming || w.warmth == Warmth::Warm {
            return;
        }
        w.warmth = Warmth::Warm;
        if !on_trial {
            self.make_ready(now, worker);
        } else if failed {
            self.successor_failed(now, worker, AbandonReason::WarmUpFailed { worker }, limits, out);
        }
    }

    /// Asks for the warm-up of listening workers that are not needed at once.
    pub(super) fn begin_warm_ups(&mut self, actions: &mut Vec<Action>) {
        for (id, w) in self.workers.iter_mut() {
            if w.state == WorkerState::Warming && w.warmth == Warmth::Cold {
                w.warmth = Warmth::Warming;
                actions.push(Action::WarmUp { worker: *id });
            }
        }
    }

    /// Makes listening workers with a free slot ready without a warm-up, because serving goes first.
    pub(super) fn rush(&mut self, now: Time, concurrency: u32) {
        let may = |(id, w): &(&WorkerId, &Worker)| self.may_rush(**id, w, concurrency);
        let rushed: Vec<_> = self.workers.iter().filter(may).map(|(id, _)| *id).collect();
        for worker in rushed {
            self.make_ready(now, worker);
        }
    }

    /// Whether the worker may skip its warm-up: not as a successor of a generation on trial, and only with a free slot.
    /// One whose slot a warm-up request holds could take nothing yet, and would only keep the long lane from serving.
    pub(super) fn may_rush(&self, id: WorkerId, w: &Worker, concurrency: u32) -> bool {
        w.state == WorkerState::Warming
            && w.has_free_slot(concurrency)
            && !(self.is_on_trial() && self.is_successor(id))
    }

    /// Lets the worker take requests from now on. If it is a successor, it takes its place over.
    pub(super) fn make_ready(&mut self, now: Time, worker: WorkerId) {
        let Some(w) = self.workers.get_mut(&worker) else { return };
        w.enter(WorkerState::Ready, now);
        w.was_ready = true;
        w.idle_since = now;
        if self.is_successor(worker) {
            self.take_over(now, worker);
        }
    }

    /// Stops giving requests to the worker, whose app closes its server; it is stopped when it holds none. That may
    /// take long, or forever for a request that is never answered, so its place gets another worker meanwhile.
    pub(crate) fn closing(&mut self, now: Time, worker: WorkerId, limits: &Limits, actions: &mut Vec<Action>) {
        let Some(w) = self.workers.get_mut(&worker) else { return };
        if !matches!(w.state, WorkerState::Ready | WorkerState::Trial | WorkerState::Warming) {
            return;
        }
        w.enter(WorkerState::Leaving, now);
        let holds_something = !w.held.is_empty();
        self.successor_failed(now, worker, AbandonReason::Exited { worker }, limits, actions);
        if holds_something && let Some(w) = self.workers.remove(worker) {
            self.vacate(now, worker, &w, limits, actions);
            self.workers.insert(worker, w);
        }
    }

    /// Stops giving requests to the worker. One of its slots will never be freed, so the pool does not wait for that.
    pub(crate) fn faulted(&mut self, now: Time, worker: WorkerId, limits: &Limits, actions: &mut Vec<Action>) {
        let Some(w) = self.workers.get_mut(&worker) else { return };
        if w.faulted || !(w.stays() || w.state == WorkerState::Leaving) {
            return;
        }
        w.enter(WorkerState::Leaving, now);
        w.faulted = true;
        self.successor_failed(now, worker, AbandonReason::Exited { worker }, limits, actions);
    }

    /// Stops giving requests to the worker, which is killed after its examination. A worker that does not listen yet or
    /// was asked to stop has a deadline of its own.
    pub(crate) fn stuck(&mut self, now: Time, worker: WorkerId, limits: &Limits, actions: &mut Vec<Action>) {
        let Some(w) = self.workers.get_mut(&worker) else { return };
        if !matches!(w.state, WorkerState::Ready | WorkerState::Trial | WorkerState::Warming | WorkerState::Leaving) {
            return;
        }
        w.enter(WorkerState::Stuck, now);
        let had_stand_in = w.has_stand_in;
        actions.push(Action::Examine { worker });
        if had_stand_in {
            self.was_needed();
        }
        self.successor_failed(now, worker, AbandonReason::WarmUpFailed { worker }, limits, actions);
    }

    pub(crate) fn examined(&mut self, now: Time, worker: WorkerId, actions: &mut Vec<Action>) {
        if let Some(w) = self.workers.get_mut(&worker)
            && w.state == WorkerState::Stuck
        {
            w.enter(WorkerState::Killed, now);
            actions.push(Action::Kill { worker, reason: KillReason::Stuck });
        }
    }

    /// Marks the worker for replacement, at once if it has grown for long. If new workers exceed the bound one after
    /// the other, replacing them does not help, so it happens less and less often.
    pub(crate) fn overweight(&mut self, now: Time, worker: WorkerId, limits: &Limits, actions: &mut Vec<Action>) {
        let Some(w) = self.workers.get_mut(&worker).filter(|w| w.overweight_due.is_none()) else { return };
        w.overweight_due = Some(now);
        let is_early = w.listened.is_some_and(|at| now.since_us(at) < limits.healthy_after_ms * 1000);
        let place = &mut self.places[w.instance as usize];
        place.bloated = if is_early { place.bloated.saturating_add(1) } else { 0 };
        // As with deaths, one alone is an accident.
        if place.bloated > 1 {
            w.overweight_due = Some(now.plus_ms(backoff_ms(limits, place.bloated - 1, worker)));
            if self.bloat_told.replace(self.generation_asked) != Some(self.generation_asked) {
                actions.push(Action::Bloated { worker });
            }
        }
    }

    /// Marks the worker for replacement; it serves on its open connections until then.
    pub(crate) fn unreachable(&mut self, now: Time, worker: WorkerId) {
        if let Some(w) = self.workers.get_mut(&worker) {
            w.unreachable_since.get_or_insert(now);
        }
    }

    /// Kills workers whose deadline has passed. For a successor this ends the attempt; the worker of a place has failed
    /// when it has exited.
    pub(super) fn kill_overdue(&mut self, now: Time, limits: &Limits, actions: &mut Vec<Action>) {
        let mut late = Vec::new();
        for (id, w) in self.workers.iter_mut() {
            let Some((_, reason)) = w.kill_due(limits).filter(|(at, _)| *at <= now) else { continue };
            w.enter(WorkerState::Killed, now);
            actions.push(Action::Kill { worker: *id, reason });
            if reason == KillReason::StartTimeout {
                late.push(*id);
            }
        }
        for worker in late {
            self.successor_failed(now, worker, AbandonReason::StartTimeout { worker }, limits, actions);
        }
    }

    pub(crate) fn exited(&mut self, now: Time, worker: WorkerId, limits: &Limits, actions: &mut Vec<Action>) {
        // Before it is removed, because a successor's end is told by where it stood.
        let held = self.workers.get_mut(&worker).map(|w| std::mem::take(&mut w.held)).unwrap_or_default();
        let begun = held.iter().filter(|held| held.handed.is_none()).count();
        for held in held {
            self.forget_late(&held);
            let is_shared = begun > usize::from(held.handed.is_none());
            let (request, arrived, is_parked) = (held.request, held.arrived, held.is_parked);
            actions.push(Action::Orphaned { request, worker, arrived, is_shared, is_parked });
        }
        let Some(dead) = self.workers.remove(worker) else { return };
        let lost = (worker, dead.generation, dead.was_ready);
        self.successor_lost(now, lost, AbandonReason::Exited { worker }, limits, actions);
        self.vacate(now, worker, &dead, limits, actions);
    }

    /// Vacates the place of the lost worker, if it had one.
    fn vacate(&mut self, now: Time, worker: WorkerId, lost: &Worker, limits: &Limits, actions: &mut Vec<Action>) {
        let instance = lost.instance as usize;
        if self.places[instance].worker != Some(worker) {
            return;
        }
        self.places[instance].worker = None;
        if self.stopping || !self.is_wanted(&self.places[instance]) {
            return;
        }
        if limits.holds_failed && !lost.dismissed && self.places[instance].successor.is_none() {
            self.places[instance].not_before = HELD;
            actions.push(Action::Hold { worker });
            return;
        }
        let is_loop = self.count_failure(now, lost, limits);
        let successor = self.places[instance].successor;
        if let Some(successor) = successor.filter(|successor| !self.is_on_trial_itself(*successor)) {
            // It was on its way for this place; nothing has to be waited for, nor started.
            (self.places[instance].worker, self.places[instance].successor) = (Some(successor), None);
            return;
        }
        if is_loop {
            self.back_off(now, worker, lost, limits, actions);
        }
        if !lost.was_ready && !lost.dismissed {
            let was_killed = lost.state == WorkerState::Killed;
            let reason = if was_killed && lost.listened.is_none() {
                AbandonReason::StartTimeout { worker }
            } else {
                AbandonReason::Exited { worker }
            };
            self.start_failed(lost.generation, reason, now, actions);
        }
    }

    /// Records in the place how its worker ended. Returns true if that looks like a crash loop.
    fn count_failure(&mut self, now: Time, dead: &Worker, limits: &Limits) -> bool {
        let place = &mut self.places[dead.instance as usize];
        place.not_before = now;
        if dead.listened.is_some_and(|listened| now.since_us(listened) >= limits.healthy_after_ms * 1000) {
            place.failures = 0;
            return false;
        }
        if dead.dismissed {
            // A dismissed worker says nothing about the app, even if it had not listened yet. A faulted one does: an
            // app that breaks soon after each start is a crash loop, however the gateway learnt of it.
            return false;
        }
        if dead.finished > 0 {
            // It worked before it died: another one right away answers more than none for a while does, even if all of them
            // die soon, by a leak or by a request of many.
            let is_again = place.failures > 0;
            place.failures = 1;
            return is_again;
        }
        place.failures += 1;
        // One early death is an accident and costs nothing; only the second in a row looks like a loop.
        dead.listened.is_none() || place.failures > 1
    }

    fn back_off(&mut self, now: Time, worker: WorkerId, lost: &Worker, limits: &Limits, actions: &mut Vec<Action>) {
        let instance = lost.instance;
        let place = &mut self.places[instance as usize];
        let delay_ms = backoff_ms(limits, place.failures, worker);
        place.not_before = now.plus_ms(delay_ms);
        // While a reload runs, its generation may be the one that works.
        if self.has_failed_to_start(lost.state == WorkerState::Killed) {
            if !self.gave_up {
                self.gave_up = true;
                actions.push(Action::GiveUp);
            }
            return;
        }
        actions.push(Action::BackOff { worker, instance, delay_ms });
    }

    /// Ends every worker, and starts the next in each place as soon as the one before has exited.
    pub(crate) fn changed(&mut self, now: Time, actions: &mut Vec<Action>) {
        for place in &mut self.places {
            (place.failures, place.not_before) = (0, now);
        }
        for (id, w) in self.workers.iter_mut() {
            // Of one that is killed already, the next follows as well: what it ran is out of date.
            w.dismissed = true;
            if w.state != WorkerState::Killed {
                w.enter(WorkerState::Killed, now);
                actions.push(Action::Kill { worker: *id, reason: KillReason::Changed });
            }
        }
    }

    /// Whether there is no worker, and none will start before the app's files change.
    pub(crate) fn is_held(&self) -> bool {
        let is_held = |place: &WorkerSlot| place.worker.is_none() && place.not_before == HELD;
        !self.stopping && self.workers.is_empty() && self.wanted_places().all(|(_, place)| is_held(place))
    }

    pub(crate) fn stop_all(&mut self, now: Time, actions: &mut Vec<Action>) {
        self.stopping = true;
        self.end_reload_on_stop(actions);
        for (id, w) in self.workers.iter_mut() {
            // A stuck worker would not hear of it, and is killed soon.
            if w.stays() || w.state == WorkerState::Leaving {
                w.enter(WorkerState::Stopping, now);
                actions.push(Action::Stop { worker: *id });
            }
        }
    }
}
