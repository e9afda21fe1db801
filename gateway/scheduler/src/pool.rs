//! The workers' life: start, ready, leaving, gone; and what each holds.
//!
//! The pool has places (`instance`, from 0). A place has at most one worker; when that dies the place starts another,
//! at once if the dead one was healthy, else after a growing delay.

use std::collections::BTreeMap;

use crate::choice::Choice;
use crate::{Action, KillReason, Limits, RequestId, Time, WorkerId};

/// Where a worker is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerState {
    /// Its process runs and does not listen yet.
    Starting,
    /// It takes requests.
    Ready,
    /// It finishes what it holds, then it is stopped.
    Leaving,
    /// It was asked to stop.
    Stopping,
    /// It was killed and has not gone yet.
    Killed,
}

/// One worker as the operator sees it.
#[derive(Clone, Copy, Debug)]
pub struct WorkerView {
    /// Its number.
    pub worker: WorkerId,
    /// Its place in the pool.
    pub instance: u32,
    /// Where it is in its life.
    pub state: WorkerState,
    /// Requests it holds.
    pub in_service: usize,
    /// Streams that have left their slot and go on.
    pub streams: u32,
    /// When it was started.
    pub started: Time,
}

#[derive(Debug)]
struct Held {
    request: RequestId,
    arrived: Time,
    dispatched: Time,
}

#[derive(Debug)]
struct Worker {
    instance: u32,
    state: WorkerState,
    started: Time,
    /// When the present state began.
    since: Time,
    ready_at: Option<Time>,
    idle_since: Time,
    held: Vec<Held>,
    streams: u32,
    /// It holds a request that it will never finish.
    faulted: bool,
    /// It leaves because fewer workers are wanted, not because of anything it did.
    dismissed: bool,
}

/// A place in the pool.
#[derive(Debug, Default)]
struct Place {
    worker: Option<WorkerId>,
    failures: u32,
    not_before: Time,
}

#[derive(Debug, Default)]
pub(crate) struct Pool {
    wanted: u32,
    places: Vec<Place>,
    workers: BTreeMap<WorkerId, Worker>,
    next_worker: u64,
    /// The place that got a request last; none yet lets a turn begin with the first place.
    last_chosen: Option<u32>,
    ever_ready: bool,
    gave_up: bool,
    stopping: bool,
    overlaps_total: u64,
}

impl Pool {
    pub(crate) fn scale(&mut self, wanted: u32) {
        self.wanted = wanted;
        while self.places.len() < wanted as usize {
            self.places.push(Place::default());
        }
    }

    pub(crate) fn listening(&mut self, now: Time, worker: WorkerId) {
        if let Some(w) = self.workers.get_mut(&worker)
            && w.state == WorkerState::Starting
        {
            w.state = WorkerState::Ready;
            w.since = now;
            w.ready_at = Some(now);
            w.idle_since = now;
            self.ever_ready = true;
        }
    }

    /// From now on the worker gets nothing; it is stopped when it holds nothing.
    pub(crate) fn closing(&mut self, now: Time, worker: WorkerId) {
        if let Some(w) = self.workers.get_mut(&worker)
            && w.state == WorkerState::Ready
        {
            w.state = WorkerState::Leaving;
            w.since = now;
        }
    }

    /// From now on the worker gets nothing. One of its slots will never be freed by itself, so it is not waited for.
    pub(crate) fn faulted(&mut self, now: Time, worker: WorkerId) {
        if let Some(w) = self.workers.get_mut(&worker)
            && matches!(w.state, WorkerState::Ready | WorkerState::Starting | WorkerState::Leaving)
        {
            if !w.faulted {
                w.since = now;
            }
            w.state = WorkerState::Leaving;
            w.faulted = true;
        }
    }

    pub(crate) fn exited(&mut self, now: Time, worker: WorkerId, limits: &Limits, actions: &mut Vec<Action>) {
        let Some(dead) = self.workers.remove(&worker) else { return };
        for held in &dead.held {
            actions.push(Action::Orphaned { request: held.request, worker });
        }
        let Some(place) = self.places.get_mut(dead.instance as usize) else { return };
        place.worker = None;
        if self.stopping || dead.instance >= self.wanted {
            return;
        }
        let was_healthy = dead.ready_at.is_some_and(|ready| now.since_us(ready) >= limits.healthy_after_ms * 1000);
        if was_healthy {
            place.failures = 0;
        }
        if was_healthy || dead.dismissed {
            // A dismissed worker says nothing about the app, even if it had not listened yet. A faulted one does: an
            // app that breaks soon after each start is a crash loop, however the gateway learnt of it.
            place.not_before = now;
            return;
        }
        place.failures += 1;
        if dead.ready_at.is_some() && place.failures == 1 {
            // One early death is an accident and costs nothing; only the second in a row looks like a loop.
            place.not_before = now;
            return;
        }
        let delay_ms = backoff_ms(limits, place.failures, worker);
        place.not_before = now.plus_ms(delay_ms);
        if !self.ever_ready && self.places.iter().take(self.wanted as usize).all(|p| p.failures > 0) {
            if !self.gave_up {
                self.gave_up = true;
                actions.push(Action::GiveUp);
            }
            return;
        }
        actions.push(Action::BackOff { worker, instance: dead.instance, delay_ms });
    }

    pub(crate) fn stop_all(&mut self, now: Time, actions: &mut Vec<Action>) {
        self.stopping = true;
        for (id, w) in &mut self.workers {
            if !matches!(w.state, WorkerState::Stopping | WorkerState::Killed) {
                w.state = WorkerState::Stopping;
                w.since = now;
                actions.push(Action::Stop { worker: *id });
            }
        }
    }

    /// Does what time and the wanted size ask for: starts, stops, kills.
    pub(crate) fn advance(&mut self, now: Time, limits: &Limits, actions: &mut Vec<Action>) {
        for (id, w) in &mut self.workers {
            if w.instance >= self.wanted && matches!(w.state, WorkerState::Ready | WorkerState::Starting) {
                w.state = WorkerState::Leaving;
                w.since = now;
                w.dismissed = true;
            }
            match w.state {
                WorkerState::Leaving if w.held.is_empty() || w.gives_up_waiting(now, limits) => {
                    w.state = WorkerState::Stopping;
                    w.since = now;
                    actions.push(Action::Stop { worker: *id });
                }
                WorkerState::Starting if w.since.plus_ms(limits.start_timeout_ms) <= now => {
                    w.state = WorkerState::Killed;
                    actions.push(Action::Kill { worker: *id, reason: KillReason::StartTimeout });
                }
                WorkerState::Stopping if w.since.plus_ms(limits.stop_timeout_ms) <= now => {
                    w.state = WorkerState::Killed;
                    actions.push(Action::Kill { worker: *id, reason: KillReason::StopTimeout });
                }
                _ => {}
            }
        }
        if self.stopping || self.gave_up {
            return;
        }
        for (instance, place) in (0_u32..).zip(self.places.iter_mut()).take(self.wanted as usize) {
            if place.worker.is_none() && place.not_before <= now {
                self.next_worker += 1;
                let worker = WorkerId(self.next_worker);
                place.worker = Some(worker);
                self.workers.insert(worker, Worker::starting(instance, now));
                actions.push(Action::Start { worker, instance });
            }
        }
    }

    pub(crate) fn next_deadline(&self, limits: &Limits) -> Option<Time> {
        let workers = self.workers.values().filter_map(|w| match w.state {
            WorkerState::Starting => Some(w.since.plus_ms(limits.start_timeout_ms)),
            WorkerState::Stopping => Some(w.since.plus_ms(limits.stop_timeout_ms)),
            WorkerState::Leaving if w.faulted => Some(w.since.plus_ms(limits.stop_timeout_ms)),
            _ => None,
        });
        let idle = self.stopping || self.gave_up;
        let places = self.places.iter().take(self.wanted as usize);
        let starts = places.filter(|p| p.worker.is_none() && !idle).map(|p| p.not_before);
        workers.chain(starts).min()
    }

    /// The worker that gets the next request, or `None` when every slot is taken.
    pub(crate) fn choose(&self, choice: Choice, concurrency: u32) -> Option<WorkerId> {
        let free =
            self.workers.iter().filter(|(_, w)| w.state == WorkerState::Ready && w.held.len() < concurrency as usize);
        let chosen = match choice {
            Choice::First => free.min_by_key(|(_, w)| (w.held.len(), w.instance)),
            Choice::RoundRobin => {
                free.min_by_key(|(_, w)| (w.held.len(), Some(w.instance) <= self.last_chosen, w.instance))
            }
            Choice::LeastRecent => free.min_by_key(|(_, w)| (w.held.len(), w.idle_since, w.instance)),
        };
        chosen.map(|(id, _)| *id)
    }

    pub(crate) fn assign(&mut self, now: Time, worker: WorkerId, request: RequestId, arrived: Time, concurrency: u32) {
        let Some(w) = self.workers.get_mut(&worker) else { return };
        self.last_chosen = Some(w.instance);
        w.held.push(Held { request, arrived, dispatched: now });
        if w.held.len() > concurrency as usize {
            self.overlaps_total += 1;
        }
    }

    /// Frees the slot. Returns the service time in microseconds, or `None` when the worker did not hold the request.
    pub(crate) fn release(&mut self, now: Time, worker: WorkerId, request: RequestId) -> Option<u64> {
        let w = self.workers.get_mut(&worker)?;
        let at = w.held.iter().position(|held| held.request == request)?;
        let held = w.held.swap_remove(at);
        w.idle_since = now;
        Some(now.since_us(held.dispatched))
    }

    /// Frees the slot of a request that the worker never saw; returns when that request arrived.
    pub(crate) fn take_back(&mut self, worker: WorkerId, request: RequestId) -> Option<Time> {
        let w = self.workers.get_mut(&worker)?;
        let at = w.held.iter().position(|held| held.request == request)?;
        Some(w.held.swap_remove(at).arrived)
    }

    /// The named exception of I1: the slot is freed at the headers, and the stream counts against a limit of its own.
    pub(crate) fn detach(
        &mut self,
        now: Time,
        worker: WorkerId,
        request: RequestId,
        limits: &Limits,
        actions: &mut Vec<Action>,
    ) {
        if self.release(now, worker, request).is_none() {
            return;
        }
        let Some(w) = self.workers.get_mut(&worker) else { return };
        w.streams += 1;
        if w.streams > limits.streams_per_worker_max {
            actions.push(Action::CloseStream { request, worker });
        }
    }

    pub(crate) fn end_stream(&mut self, worker: WorkerId) {
        if let Some(w) = self.workers.get_mut(&worker) {
            w.streams = w.streams.saturating_sub(1);
        }
    }

    pub(crate) fn views(&self) -> impl Iterator<Item = WorkerView> + '_ {
        self.workers.iter().map(|(id, w)| WorkerView {
            worker: *id,
            instance: w.instance,
            state: w.state,
            in_service: w.held.len(),
            streams: w.streams,
            started: w.started,
        })
    }

    pub(crate) fn state(&self, worker: WorkerId) -> Option<WorkerState> {
        self.workers.get(&worker).map(|w| w.state)
    }

    pub(crate) fn in_service(&self) -> usize {
        self.workers.values().map(|w| w.held.len()).sum()
    }

    pub(crate) fn ready_count(&self) -> u32 {
        u32::try_from(self.workers.values().filter(|w| w.state == WorkerState::Ready).count()).unwrap_or(u32::MAX)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.workers.is_empty()
    }

    pub(crate) fn overlaps_total(&self) -> u64 {
        self.overlaps_total
    }
}

impl Worker {
    fn starting(instance: u32, now: Time) -> Self {
        Worker {
            instance,
            state: WorkerState::Starting,
            started: now,
            since: now,
            ready_at: None,
            idle_since: now,
            held: Vec::new(),
            streams: 0,
            faulted: false,
            dismissed: false,
        }
    }

    /// Whether a leaving worker holds only what it will never finish, or its other requests have had their time.
    fn gives_up_waiting(&self, now: Time, limits: &Limits) -> bool {
        self.faulted && (self.held.len() <= 1 || self.since.plus_ms(limits.stop_timeout_ms) <= now)
    }
}

/// Doubles with each failure in a row up to the maximum, spread by up to a quarter so that places do not start in step:
/// upwards where there is room, else downwards, so that the maximum stays one.
fn backoff_ms(limits: &Limits, failures: u32, worker: WorkerId) -> u64 {
    let exponent = failures.saturating_sub(1).min(32);
    let delay_ms = limits.backoff_ms_min.saturating_mul(1 << exponent).min(limits.backoff_ms_max);
    let spread = worker.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56;
    let spread_ms = delay_ms.saturating_mul(spread) / 1024;
    if delay_ms + spread_ms <= limits.backoff_ms_max {
        delay_ms + spread_ms
    } else {
        limits.backoff_ms_max.saturating_sub(spread_ms).max(limits.backoff_ms_min)
    }
}
