//! Successors: when a place gets one, when it takes the place over, and what happens to a generation that fails.
//!
//! A reload's first batch is a trial: its workers take over together, or none does and the generation is abandoned.
//! From then on the generation is in force, and the other places follow as their successors become ready. A reload
//! takes CPU that the queue needs, so for a limited time it waits until fewer requests wait. Recycling replaces one
//! worker at a time, the next when the one before has exited, and none during a reload.

use super::worker::{Worker, backoff_ms};
use super::{Demand, Pool, Warmth, WorkerSlot, WorkerState};
use crate::{AbandonReason, Action, Hold, Lane, Limits, Time, WorkerId};

/// Maximum number of failed starts of workers before a reload that is already in use is abandoned.
const LATER_FAILURES_MAX: u32 = 3;

#[derive(Debug)]
pub(super) struct Reload {
    pub(super) generation: u64,
    /// Generation in force when the reload began, and while it is on trial.
    pub(super) before: u64,
    /// Generation that this reload takes back, if it is a return to the one before.
    pub(super) gives_up: Option<u64>,
    /// Point at which the reload stops, until its generation has passed.
    pub(super) hold: Option<Hold>,
    pub(super) has_taken_over: bool,
    /// Workers that failed since the generation took over, or serves beside the present one.
    pub(super) failures: u32,
    /// Time for which the reload may still let the queue go first, microseconds.
    may_wait_us: u64,
    /// Start of the present hold, which is not subtracted from [`Reload::may_wait_us`] yet.
    held_back: Option<Time>,
}

impl Reload {
    /// Whether the next workers are to be started later.
    fn holds_back(&mut self, now: Time, is_pressed: bool) -> bool {
        if let Some(since) = self.held_back.take() {
            self.may_wait_us = self.may_wait_us.saturating_sub(now.since_us(since));
        }
        self.held_back = (is_pressed && self.may_wait_us > 0).then_some(now);
        self.held_back.is_some()
    }
}

/// Maximum total time for which a reload lets the queue go first, milliseconds, where `queue.wait_ms_max` is more.
const HELD_BACK_MS_MAX: u64 = 10_000;

/// Back-off before the next successor. The whole pool has one, because the cause of a failed start affects all.
#[derive(Debug, Default)]
pub(super) struct Patience {
    failures: u32,
    pub(super) not_before: Time,
}

/// Progress of a reload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReloadProgress {
    /// The new generation.
    pub generation: u64,
    /// Number of places that it must take.
    pub wanted: u32,
    /// Number of places where it takes requests.
    pub taken_over: u32,
    /// Number of its workers that start, are warmed, or wait for the others of their batch.
    pub starting: u32,
    /// Whether the reload starts its next workers only when fewer requests wait.
    pub is_held_back: bool,
    /// Whether the reload has stopped until its generation passes or fails.
    pub is_held: bool,
}

impl Pool {
    pub(super) fn is_on_trial(&self) -> bool {
        self.reload.as_ref().is_some_and(|reload| !reload.has_taken_over)
    }

    pub(super) fn is_successor(&self, worker: WorkerId) -> bool {
        let place = self.workers.get(&worker).and_then(|w| self.places.get(w.instance as usize));
        place.is_some_and(|place| place.successor == Some(worker))
    }

    fn successors_count(&self) -> u32 {
        let starts = |place: &&WorkerSlot| place.successor.is_some_and(|successor| !self.is_tried(successor));
        u32::try_from(self.places.iter().filter(starts).count()).unwrap_or(u32::MAX)
    }

    pub(crate) fn reload_asked(
        &mut self,
        now: Time,
        generation: u64,
        hold: Option<Hold>,
        limits: &Limits,
        actions: &mut Vec<Action>,
    ) {
        if generation <= self.generation_asked {
            return;
        }
        self.generation_asked = generation;
        if self.is_closed() {
            actions.push(Action::ReloadAbandoned { generation, reason: AbandonReason::Stopping });
            return;
        }
        // Reloads that take each other's place must not put the new version off for ever.
        let may_wait_us = match &mut self.reload {
            Some(reload) => {
                reload.holds_back(now, false);
                reload.may_wait_us
            }
            None => limits.queue_wait_ms_max.min(HELD_BACK_MS_MAX) * 1000,
        };
        if self.reload.is_some() {
            self.abandon(now, AbandonReason::Superseded, actions);
        }
        for place in &mut self.places {
            // What is about to recycle a worker would be replaced itself.
            if let Some(w) = place.successor.take().and_then(|id| self.workers.get_mut(&id)) {
                w.dismiss(now);
            }
        }
        self.successors = Patience::default();
        let (before, has_taken_over) = (self.generation, false);
        self.reload = Some(Reload {
            generation,
            before,
            gives_up: None,
            hold,
            has_taken_over,
            failures: 0,
            may_wait_us,
            held_back: None,
        });
    }

    /// Makes the successor the place's worker; the one before finishes the requests that it holds.
    pub(super) fn take_over(&mut self, now: Time, worker: WorkerId) {
        let Some((instance, generation)) = self.workers.get(&worker).map(|w| (w.instance, w.generation)) else {
            return;
        };
        let place = &mut self.places[instance as usize];
        let before = place.worker.replace(worker);
        let WorkerSlot { lane, rank, bloated, .. } = *place;
        *place = WorkerSlot { worker: place.worker, lane, rank, bloated, is_old: true, ..WorkerSlot::default() };
        if let Some(w) = before.and_then(|before| self.workers.get_mut(&before)) {
            w.dismiss(now);
        }
        // A generation that has not passed its trial is not in force.
        if self.hold().is_none() {
            self.generation = generation;
        }
        match &mut self.reload {
            // A worker that is recycled meanwhile is of the generation in force.
            Some(reload) if reload.has_taken_over || reload.generation != generation => {}
            Some(reload) => {
                reload.has_taken_over = true;
                // What an empty place has seen fail is not what it starts from now on.
                for place in self.places.iter_mut().filter(|place| place.worker.is_none()) {
                    (place.failures, place.not_before) = (0, now);
                }
            }
            None => self.successors = Patience::default(),
        }
    }

    /// Lets the first batch take over when all of it can.
    pub(super) fn finish_trial(&mut self, now: Time) {
        if !self.is_on_trial() {
            return;
        }
        let successors = self.places.iter().filter_map(|place| place.successor);
        let batch: Vec<_> = successors.filter(|id| self.is_on_trial_itself(*id)).collect();
        let is_warm = |id: &WorkerId| {
            let w = self.workers.get(id);
            w.is_some_and(|w| {
                w.state == WorkerState::Trial || w.state == WorkerState::Warming && w.warmth == Warmth::Warm
            })
        };
        if !batch.iter().all(is_warm) {
            return;
        }
        let is_beside = self.beside().is_some();
        for worker in batch {
            match self.workers.get_mut(&worker) {
                Some(w) if is_beside && w.state == WorkerState::Warming => {
                    w.enter(WorkerState::Trial, now);
                    (w.was_ready, w.idle_since) = (true, now);
                }
                Some(_) if !is_beside => self.make_ready(now, worker),
                _ => {}
            }
        }
    }

    pub(super) fn finish_reload(&mut self, actions: &mut Vec<Action>) {
        let Some(generation) = self.reload.as_ref().map(|reload| reload.generation) else { return };
        if self.hold().is_some() && self.wanted_places().next().is_some() {
            return;
        }
        if self.wanted_places().all(|(_, place)| self.is_taken(place, generation)) {
            // A pool of nothing has nothing to try it with.
            self.generation = generation;
            let gives_up = self.reload.take().and_then(|reload| reload.gives_up);
            self.successors = Patience::default();
            actions.push(match gives_up {
                Some(generation) => Action::ReloadAbandoned { generation, reason: AbandonReason::TurnedBack },
                None => Action::Reloaded { generation },
            });
        }
    }

    fn is_taken(&self, place: &WorkerSlot, generation: u64) -> bool {
        let worker = place.worker.and_then(|id| self.workers.get(&id));
        worker.is_some_and(|w| w.generation == generation && w.state == WorkerState::Ready)
    }

    /// Ends an attempt to replace a worker if the failed worker was a successor, and removes it from its place.
    pub(super) fn successor_failed(
        &mut self,
        now: Time,
        worker: WorkerId,
        reason: AbandonReason,
        limits: &Limits,
        actions: &mut Vec<Action>,
    ) {
        if let Some((of, was_ready)) = self.workers.get(&worker).map(|w| (w.generation, w.was_ready)) {
            self.successor_lost(now, (worker, of, was_ready), reason, limits, actions);
        }
    }

    /// The same for a worker of this generation, which served before it failed or not.
    pub(super) fn successor_lost(
        &mut self,
        now: Time,
        (worker, of, has_served): (WorkerId, u64, bool),
        reason: AbandonReason,
        limits: &Limits,
        actions: &mut Vec<Action>,
    ) {
        let Some(at) = self.places.iter().position(|place| place.successor == Some(worker)) else { return };
        if self.stopping {
            self.places[at].successor = None;
            return;
        }
        if let Some(reload) = self.reload.as_mut().filter(|reload| reload.generation == of) {
            // The death of one that has served its share may be an accident, as any worker's.
            let is_proven = matches!(reload.hold, Some(Hold::Beside { .. })) && (has_served || reload.failures > 0);
            reload.failures += 1;
            if !reload.has_taken_over && !is_proven || reload.failures >= LATER_FAILURES_MAX {
                self.abandon(now, reason, actions);
                return;
            }
        }
        self.places[at].successor = None;
        // Its warm-up has failed, and nothing else would end it.
        if self.workers.get(&worker).is_some_and(|w| w.state == WorkerState::Warming) {
            self.discard(now, worker, actions);
        }
        self.successors.failures += 1;
        let delay_ms = backoff_ms(limits, self.successors.failures, worker);
        self.successors.not_before = now.plus_ms(delay_ms);
        let instance = u32::try_from(at).unwrap_or(u32::MAX);
        actions.push(Action::BackOff { worker, instance, delay_ms });
    }

    /// Records that a place's worker failed to start, in a place that the new generation already had.
    pub(super) fn start_failed(&mut self, of: u64, reason: AbandonReason, now: Time, actions: &mut Vec<Action>) {
        let Some(reload) = self.reload.as_mut().filter(|reload| reload.generation == of) else { return };
        reload.failures += 1;
        if reload.failures >= LATER_FAILURES_MAX {
            self.abandon(now, reason, actions);
        }
    }

    /// Ends the reload. Workers of the generation that took a place over stay there, unless it was on trial.
    pub(super) fn abandon(&mut self, now: Time, reason: AbandonReason, actions: &mut Vec<Action>) {
        let Some(reload) = self.reload.take() else { return };
        self.successors = Patience::default();
        let successors: Vec<WorkerId> = self.places.iter_mut().filter_map(|place| place.successor.take()).collect();
        for worker in successors {
            self.discard(now, worker, actions);
        }
        let generation = reload.gives_up.unwrap_or(reload.generation);
        actions.push(Action::ReloadAbandoned { generation, reason });
    }

    pub(super) fn end_reload_on_stop(&mut self, actions: &mut Vec<Action>) {
        if let Some(reload) = self.reload.take() {
            let generation = reload.gives_up.unwrap_or(reload.generation);
            actions.push(Action::ReloadAbandoned { generation, reason: AbandonReason::Stopping });
        }
    }

    /// Starts as many successors as are due and allowed.
    pub(super) fn start_successors(&mut self, now: Time, limits: &Limits, demand: Demand, actions: &mut Vec<Action>) {
        let is_early = self.successors.not_before > now;
        // A place that is missing is what the queue waits for.
        let is_pressed = demand == Demand::Pressing && !is_early && self.is_reload_due(limits) && self.is_complete();
        let is_held_back = self.reload.as_mut().is_some_and(|reload| reload.holds_back(now, is_pressed));
        if is_early || is_held_back {
            return;
        }
        let Some(generation) = self.reload.as_ref().map(|reload| reload.generation) else {
            self.recycle(now, limits, actions);
            return;
        };
        if self.has_stopped(self.at_once(limits)) {
            // A trial may last for hours, in which workers grow.
            self.recycle(now, limits, actions);
        }
        let mut room = self.room_for_successors(limits);
        for at in 0..self.places.len() {
            let place = &self.places[at];
            if room > 0 && self.is_wanted(place) && self.wants_successor(place, generation) {
                let worker = self.start(now, at, generation, actions);
                self.places[at].successor = Some(worker);
                room -= 1;
            }
        }
    }

    /// Whether a reload has a successor to start, and may.
    fn is_reload_due(&self, limits: &Limits) -> bool {
        self.reload.as_ref().is_some_and(|reload| {
            let wants = |(_, place)| self.wants_successor(place, reload.generation);
            self.room_for_successors(limits) > 0 && self.wanted_places().any(wants)
        })
    }

    /// Whether every place has a worker that serves.
    fn is_complete(&self) -> bool {
        let serves = |id: WorkerId| self.workers.get(&id).is_some_and(Worker::takes_requests);
        self.wanted_places().all(|(_, place)| place.worker.is_some_and(serves))
    }

    /// Whether a reload waits until fewer requests wait.
    pub(crate) fn is_held_back(&self) -> bool {
        self.reload.as_ref().is_some_and(|reload| reload.held_back.is_some())
    }

    /// Number of successors that a reload may start now. The trial's batch is not refilled, so that it ends.
    fn room_for_successors(&self, limits: &Limits) -> u32 {
        let Some(reload) = &self.reload else { return 0 };
        let at_once = self.at_once(limits);
        let running = self.successors_count();
        match reload.hold {
            Some(Hold::Beside { workers }) => workers.saturating_sub(self.places_of(reload.generation)),
            _ if running > 0 && self.is_on_trial() => 0,
            Some(Hold::Batches { batches }) => {
                let most = self.places_until_stop(at_once, batches);
                let left = most.saturating_sub(self.places_of(reload.generation));
                left.min(at_once.saturating_sub(running))
            }
            None => at_once.saturating_sub(running),
        }
    }

    /// Number of workers that a reload replaces at a time.
    pub(super) fn at_once(&self, limits: &Limits) -> u32 {
        if limits.reload_at_once == 0 { (self.wanted / 4).max(1) } else { limits.reload_at_once }
    }

    /// Whether the place should get a successor. During the trial an empty place should too, because the new generation
    /// may fix what its back-off waits for. Later it starts the new generation by itself. A stuck worker uses CPU until
    /// it has exited, so nothing is started beside it.
    fn wants_successor(&self, place: &WorkerSlot, generation: u64) -> bool {
        let worker = place.worker.and_then(|id| self.workers.get(&id));
        place.successor.is_none()
            && (self.beside().is_none() || place.lane == Lane::Short && place.worker.is_some())
            && worker.map_or(self.is_on_trial(), |w| {
                w.generation != generation && !matches!(w.state, WorkerState::Stuck | WorkerState::Killed)
            })
    }

    /// Replaces the worker that has run for longest of those that are due, one at a time.
    fn recycle(&mut self, now: Time, limits: &Limits, actions: &mut Vec<Action>) {
        if self.is_replacing() {
            return;
        }
        let due = self.recycle_times(limits).filter(|(_, at)| *at <= now).map(|(id, _)| id);
        let Some(worker) = due.min_by_key(|id| (self.workers.get(id).map(|w| w.started), *id)) else { return };
        let Some(w) = self.workers.get(&worker) else { return };
        let at = w.instance as usize;
        let is_of_reload = self.reload.as_ref().is_some_and(|reload| reload.generation == w.generation);
        let generation = if is_of_reload { w.generation } else { self.generation };
        if let Some((_, reason)) = w.recycle_due(worker, limits) {
            actions.push(Action::Recycling { worker, reason });
        }
        let successor = self.start(now, at, generation, actions);
        self.places[at].successor = Some(successor);
    }

    /// Whether a dismissed worker still finishes its requests or shuts down, or a successor is starting. The machine
    /// must have room for the memory and the boot of one additional worker, not of two.
    fn is_replacing(&self) -> bool {
        let leaves = |w: &Worker| w.dismissed && matches!(w.state, WorkerState::Leaving | WorkerState::Stopping);
        self.successors_count() > 0 || self.workers.values().any(leaves)
    }

    /// Workers that serve, and the time from which each is due for its replacement.
    fn recycle_times(&self, limits: &Limits) -> impl Iterator<Item = (WorkerId, Time)> {
        self.wanted_places().filter_map(|(_, place)| {
            let id = place.worker.filter(|_| place.successor.is_none())?;
            let w = self.workers.get(&id).filter(|w| w.state == WorkerState::Ready)?;
            // Of a generation whose trial another reload or its deaths have ended, nothing stays.
            if w.generation > self.generation && self.reload.is_none() {
                return Some((id, Time(0)));
            }
            w.recycle_due(id, limits).map(|(at, _)| (id, at))
        })
    }

    /// Time at which the next successor is due, if that is a matter of time alone.
    pub(super) fn successor_due(&self, limits: &Limits) -> Option<Time> {
        let recycling = || if self.is_replacing() { None } else { self.recycle_times(limits).map(|(_, at)| at).min() };
        let at = match &self.reload {
            Some(_) if self.has_stopped(self.at_once(limits)) && !self.is_reload_due(limits) => recycling(),
            Some(reload) => self
                .is_reload_due(limits)
                .then(|| reload.held_back.map_or(Time(0), |since| Time(since.0.saturating_add(reload.may_wait_us)))),
            // What ends that is an event of its own.
            None => recycling(),
        };
        at.map(|at| at.max(self.successors.not_before))
    }

    pub(crate) fn reload_progress(&self, limits: &Limits) -> Option<ReloadProgress> {
        let generation = self.reload.as_ref()?.generation;
        let taken_over = self.wanted_places().filter(|(_, place)| self.is_taken(place, generation)).count();
        let starting = self
            .workers
            .values()
            .filter(|w| w.generation == generation && matches!(w.state, WorkerState::Starting | WorkerState::Warming));
        Some(ReloadProgress {
            generation,
            wanted: u32::try_from(self.wanted_places().count()).unwrap_or(u32::MAX),
            taken_over: u32::try_from(taken_over).unwrap_or(u32::MAX),
            starting: u32::try_from(starting.count()).unwrap_or(u32::MAX),
            is_held_back: self.is_held_back(),
            is_held: self.has_stopped(self.at_once(limits)),
        })
    }
}
