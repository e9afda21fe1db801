//! What happens to one worker: it listens, gets warm, closes, faults, sticks, exits.

use super::worker::{Warmth, Worker, backoff_ms};
use super::{Place, Pool, WorkerState};
use crate::{AbandonReason, Action, KillReason, Limits, Time, WorkerId};

/// When a place starts its next worker that waits for a change of the app's files: no time leads there.
pub(super) const HELD: Time = Time(u64::MAX);

impl Pool {
    pub(crate) fn listening(&mut self, now: Time, worker: WorkerId, limits: &Limits) {
        let on_trial = self.is_on_trial() && self.is_successor(worker);
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

    /// The worker is warm, or its warm-up failed, which only a generation on trial has to answer for.
    pub(crate) fn warmed(&mut self, now: Time, worker: WorkerId, failed: bool, limits: &Limits, out: &mut Vec<Action>) {
        let on_trial = self.is_on_trial() && self.is_successor(worker);
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

    /// Asks for the warm-up of those that listen now and are not needed at once.
    pub(super) fn begin_warm_ups(&mut self, actions: &mut Vec<Action>) {
        for (id, w) in self.workers.iter_mut() {
            if w.state == WorkerState::Warming && w.warmth == Warmth::Cold {
                w.warmth = Warmth::Warming;
                actions.push(Action::WarmUp { worker: *id });
            }
        }
    }

    /// Serving beats warming: whoever listens and has a free slot serves.
    pub(super) fn rush(&mut self, now: Time, concurrency: u32) {
        let may = |(id, w): &(&WorkerId, &Worker)| self.may_rush(**id, w, concurrency);
        let rushed: Vec<_> = self.workers.iter().filter(may).map(|(id, _)| *id).collect();
        for worker in rushed {
            self.make_ready(now, worker);
        }
    }

    /// Not one of a generation that has not proved itself. One whose slot a warm-up request has could take nothing yet, and
    /// would only keep the long lane from taking it meanwhile.
    pub(super) fn may_rush(&self, id: WorkerId, w: &Worker, concurrency: u32) -> bool {
        w.state == WorkerState::Warming
            && w.has_free_slot(concurrency)
            && !(self.is_on_trial() && self.is_successor(id))
    }

    /// From now on the worker takes requests, and where it is a successor, the other one does not.
    pub(super) fn make_ready(&mut self, now: Time, worker: WorkerId) {
        let Some(w) = self.workers.get_mut(&worker) else { return };
        w.enter(WorkerState::Ready, now);
        w.was_ready = true;
        w.idle_since = now;
        if self.is_successor(worker) {
            self.take_over(now, worker);
        }
    }

    /// From now on the worker gets nothing; it is stopped when it holds nothing. How long that takes nobody knows, and it may
    /// wait for a request that it will never answer, so its place goes to another meanwhile.
    pub(crate) fn closing(&mut self, now: Time, worker: WorkerId, limits: &Limits, actions: &mut Vec<Action>) {
        let Some(w) = self.workers.get_mut(&worker) else { return };
        if !matches!(w.state, WorkerState::Ready | WorkerState::Warming) {
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

    /// From now on the worker gets nothing. One of its slots will never be freed by itself, so it is not waited for.
    pub(crate) fn faulted(&mut self, now: Time, worker: WorkerId, limits: &Limits, actions: &mut Vec<Action>) {
        let Some(w) = self.workers.get_mut(&worker) else { return };
        if w.faulted || !(w.stays() || w.state == WorkerState::Leaving) {
            return;
        }
        w.enter(WorkerState::Leaving, now);
        w.faulted = true;
        self.successor_failed(now, worker, AbandonReason::Exited { worker }, limits, actions);
    }

    /// From now on the worker gets nothing, whatever it does; it is killed when it has been looked into. One that does
    /// not listen yet or was asked to stop has a deadline of its own.
    pub(crate) fn stuck(&mut self, now: Time, worker: WorkerId, limits: &Limits, actions: &mut Vec<Action>) {
        let Some(w) = self.workers.get_mut(&worker) else { return };
        if !matches!(w.state, WorkerState::Ready | WorkerState::Warming | WorkerState::Leaving) {
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

    /// One that has grown for long is replaced at once. Where even fresh workers are over the bound one after the other,
    /// replacing them mends nothing, so that happens more and more seldom.
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

    /// It serves on the connections that it has, and is replaced.
    pub(crate) fn unreachable(&mut self, now: Time, worker: WorkerId) {
        if let Some(w) = self.workers.get_mut(&worker) {
            w.unreachable_since.get_or_insert(now);
        }
    }

    /// Kills those whose time is over. For a successor that is the end of its try; the worker of a place has failed
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
        self.successor_failed(now, worker, AbandonReason::Exited { worker }, limits, actions);
        self.vacate(now, worker, &dead, limits, actions);
    }

    /// The place has lost its worker, if this was it.
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
        if !self.is_on_trial()
            && let Some(successor) = self.places[instance].successor.take()
        {
            // It was on its way for this place; nothing has to be waited for, nor started.
            self.places[instance].worker = Some(successor);
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

    /// Notes in the place how its worker ended; true when that looks like a crash loop.
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

    /// Ends every worker, and starts the next in each place as soon as the one before has gone.
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

    /// Whether no worker is there or will come before the app's files change.
    pub(crate) fn is_held(&self) -> bool {
        let is_held = |place: &Place| place.worker.is_none() && place.not_before == HELD;
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
