//! The model's half that follows the workers: who may be started, given something, stopped, killed, started again.

use std::collections::BTreeMap;

use sluice_scheduler::{Event, KillReason, Limits, RequestId, Scheduler, Time, WorkerId, WorkerState};

use crate::model::promise;

#[derive(Debug)]
struct Worker {
    instance: u32,
    started: Time,
    listened: Option<Time>,
    /// The operator wants fewer workers, and this one is too many.
    dismissed: bool,
    faulted: Option<Time>,
    stopped: Option<Time>,
    killed: bool,
    held: Vec<RequestId>,
    streams: u32,
}

#[derive(Debug, Default)]
struct Place {
    worker: Option<WorkerId>,
    failures: u32,
    delay_ms: u64,
    not_before: Time,
}

/// What the scheduler has to say about a death, in the step in which it learns of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    Nothing,
    BackOff { instance: u32 },
    GiveUp,
}

pub struct Workers {
    limits: Limits,
    wanted: u32,
    pub stopping: bool,
    gave_up: bool,
    ever_ready: bool,
    last_started: u64,
    live: BTreeMap<WorkerId, Worker>,
    places: Vec<Place>,
    pub due: Due,
}

impl Worker {
    /// Not on its way out for any reason.
    fn stays(&self) -> bool {
        !self.dismissed && self.faulted.is_none() && self.stopped.is_none() && !self.killed
    }

    fn serves(&self) -> bool {
        self.listened.is_some() && self.stays()
    }

    /// It leaves and holds nothing that is worth waiting for.
    fn may_be_stopped(&self, now: Time, limits: &Limits) -> bool {
        match self.faulted {
            Some(at) => self.held.len() <= 1 || at.plus_ms(limits.stop_timeout_ms) <= now,
            None => self.dismissed && self.held.is_empty(),
        }
    }

    fn deadline(&self, limits: &Limits) -> Option<Time> {
        if self.killed {
            None
        } else if let Some(at) = self.stopped.or(self.faulted) {
            Some(at.plus_ms(limits.stop_timeout_ms))
        } else if self.listened.is_none() {
            Some(self.started.plus_ms(limits.start_timeout_ms))
        } else {
            None
        }
    }

    fn state(&self) -> WorkerState {
        if self.killed {
            WorkerState::Killed
        } else if self.stopped.is_some() {
            WorkerState::Stopping
        } else if !self.stays() {
            WorkerState::Leaving
        } else if self.listened.is_some() {
            WorkerState::Ready
        } else {
            WorkerState::Starting
        }
    }
}

impl Workers {
    pub fn new(limits: Limits) -> Workers {
        Workers {
            limits,
            wanted: 0,
            stopping: false,
            gave_up: false,
            ever_ready: false,
            last_started: 0,
            live: BTreeMap::new(),
            places: Vec::new(),
            due: Due::Nothing,
        }
    }

    pub fn take_event(&mut self, now: Time, event: Event) {
        match event {
            Event::Listening { worker } => {
                if let Some(w) = self.live.get_mut(&worker).filter(|w| w.stays() && w.listened.is_none()) {
                    w.listened = Some(now);
                    self.ever_ready = true;
                }
            }
            Event::Faulted { worker } => {
                if let Some(w) = self.live.get_mut(&worker).filter(|w| w.stopped.is_none() && !w.killed) {
                    w.faulted.get_or_insert(now);
                }
            }
            Event::StreamEnded { worker } => {
                if let Some(w) = self.live.get_mut(&worker) {
                    w.streams = w.streams.saturating_sub(1);
                }
            }
            Event::Scaled { workers } => {
                self.wanted = workers;
                while self.places.len() < workers as usize {
                    self.places.push(Place::default());
                }
                for w in self.live.values_mut().filter(|w| w.instance >= workers && w.stays()) {
                    w.dismissed = true;
                }
            }
            Event::Stopping => self.stopping = true,
            _ => {}
        }
    }

    /// The worker's slot is free again; false when it did not hold the request.
    pub fn release(&mut self, worker: WorkerId, request: RequestId) -> bool {
        let Some(w) = self.live.get_mut(&worker) else { return false };
        let before = w.held.len();
        w.held.retain(|held| *held != request);
        w.held.len() < before
    }

    pub fn open_stream(&mut self, worker: WorkerId) {
        if let Some(w) = self.live.get_mut(&worker) {
            w.streams += 1;
        }
    }

    pub fn has_too_many_streams(&self, worker: WorkerId) -> bool {
        self.live.get(&worker).is_some_and(|w| w.streams > self.limits.streams_per_worker_max)
    }

    /// The worker is gone; returns what it held.
    pub fn exit(&mut self, now: Time, worker: WorkerId) -> Vec<RequestId> {
        let Some(dead) = self.live.remove(&worker) else { return Vec::new() };
        let wanted = self.wanted;
        let place = &mut self.places[dead.instance as usize];
        place.worker = None;
        if self.stopping || dead.instance >= wanted {
            return dead.held;
        }
        let healthy_after_us = self.limits.healthy_after_ms * 1000;
        if dead.listened.is_some_and(|listened| now.since_us(listened) >= healthy_after_us) {
            (place.failures, place.delay_ms, place.not_before) = (0, 0, now);
            return dead.held;
        }
        if dead.dismissed {
            place.not_before = now;
            return dead.held;
        }
        place.failures += 1;
        if dead.listened.is_some() && place.failures == 1 {
            place.not_before = now;
        } else if !self.ever_ready && self.places.iter().take(wanted as usize).all(|place| place.failures > 0) {
            self.due = if self.gave_up { Due::Nothing } else { Due::GiveUp };
        } else {
            self.due = Due::BackOff { instance: dead.instance };
        }
        dead.held
    }

    pub fn hold(&mut self, worker: WorkerId, request: RequestId) -> Result<(), String> {
        let Some(w) = self.live.get_mut(&worker) else { return Err(format!("I4: {request:?} given to a dead worker")) };
        promise!(w.serves(), "I4: {request:?} given to a worker that is not ready: {w:?}");
        w.held.push(request);
        promise!(w.held.len() <= self.limits.concurrency as usize, "I1: {worker:?} holds {:?}", w.held);
        Ok(())
    }

    pub fn start(&mut self, now: Time, worker: WorkerId, instance: u32) -> Result<(), String> {
        promise!(worker.0 > self.last_started, "{worker:?} was used before");
        promise!(!self.stopping && !self.gave_up, "{worker:?} started while leaving");
        promise!(instance < self.wanted, "I6: {worker:?} is more than is wanted");
        let place = &mut self.places[instance as usize];
        promise!(place.worker.is_none(), "I6: place {instance} has {:?} and got {worker:?}", place.worker);
        promise!(place.not_before <= now, "place {instance} started during its back-off");
        place.worker = Some(worker);
        self.last_started = worker.0;
        let started = Worker {
            instance,
            started: now,
            listened: None,
            dismissed: false,
            faulted: None,
            stopped: None,
            killed: false,
            held: Vec::new(),
            streams: 0,
        };
        self.live.insert(worker, started);
        Ok(())
    }

    pub fn stop(&mut self, now: Time, worker: WorkerId) -> Result<(), String> {
        let Some(w) = self.live.get_mut(&worker) else { return Err(format!("{worker:?} is gone and was stopped")) };
        promise!(w.stopped.is_none() && !w.killed, "{worker:?} was stopped twice");
        promise!(self.stopping || w.may_be_stopped(now, &self.limits), "{worker:?} stopped without need: {w:?}");
        w.stopped = Some(now);
        Ok(())
    }

    pub fn kill(&mut self, now: Time, worker: WorkerId, reason: KillReason) -> Result<(), String> {
        let Some(w) = self.live.get_mut(&worker) else { return Err(format!("{worker:?} is gone and was killed")) };
        promise!(!w.killed, "{worker:?} was killed twice");
        let due = match reason {
            KillReason::StartTimeout if w.stays() && w.listened.is_none() => w.deadline(&self.limits),
            KillReason::StopTimeout if w.stopped.is_some() => w.deadline(&self.limits),
            _ => None,
        };
        promise!(due.is_some_and(|due| due <= now), "{worker:?} was killed for {reason:?} without cause: {w:?}");
        w.killed = true;
        Ok(())
    }

    pub fn back_off(&mut self, now: Time, instance: u32, delay_ms: u64) -> Result<(), String> {
        promise!(self.due == Due::BackOff { instance }, "back-off of {instance}, but due was {:?}", self.due);
        self.due = Due::Nothing;
        let (min, max) = (self.limits.backoff_ms_min, self.limits.backoff_ms_max);
        let place = &mut self.places[instance as usize];
        promise!((min..=max).contains(&delay_ms), "I6: a back-off of {delay_ms} ms");
        let least_ms = min.saturating_mul(1 << (place.failures - 1).min(20)).min(max) * 3 / 4;
        promise!(delay_ms >= least_ms, "failure {} waits {delay_ms} ms", place.failures);
        let grows = delay_ms > place.delay_ms || delay_ms >= max * 3 / 4;
        promise!(grows, "back-off does not grow: {} ms, then {delay_ms} ms", place.delay_ms);
        place.delay_ms = delay_ms;
        place.not_before = now.plus_ms(delay_ms);
        Ok(())
    }

    pub fn give_up(&mut self) -> Result<(), String> {
        promise!(!self.ever_ready, "gave up though a worker was ready before");
        promise!(self.due == Due::GiveUp, "gave up, but due was {:?}", self.due);
        self.due = Due::Nothing;
        self.gave_up = true;
        Ok(())
    }

    pub fn has_free_slot(&self) -> bool {
        self.live.values().any(|w| w.serves() && w.held.len() < self.limits.concurrency as usize)
    }

    fn waiting_places(&self) -> impl Iterator<Item = &Place> {
        let idle = self.stopping || self.gave_up;
        self.places.iter().take(self.wanted as usize).filter(move |place| place.worker.is_none() && !idle)
    }

    pub fn next_deadline(&self) -> Option<Time> {
        let workers = self.live.values().filter_map(|w| w.deadline(&self.limits));
        workers.chain(self.waiting_places().map(|place| place.not_before)).min()
    }

    /// Nothing that is due is left undone, and the scheduler sees every worker as the model does.
    pub fn check(&self, now: Time, scheduler: &Scheduler) -> Result<(), String> {
        promise!(self.due == Due::Nothing, "a death was passed over: {:?}", self.due);
        promise!(self.waiting_places().all(|place| place.not_before > now), "a place was not filled");
        let (mut held, mut ready, mut staying) = (0, 0, 0);
        for (worker, w) in &self.live {
            let must_stop = w.stopped.is_none() && !w.killed && (self.stopping || w.may_be_stopped(now, &self.limits));
            promise!(!must_stop, "{worker:?} was not stopped: {w:?}");
            let is_overdue = w.deadline(&self.limits).is_some_and(|due| due <= now) && w.stopped != Some(now);
            promise!(!is_overdue, "I6: {worker:?} is overdue: {w:?}");
            promise!(scheduler.worker_state(*worker) == Some(w.state()), "{worker:?} is not {:?}", w.state());
            held += w.held.len();
            ready += u32::from(w.serves());
            staying += u32::from(w.stays());
        }
        promise!(staying <= self.wanted, "I6: {staying} workers stay and {} are wanted", self.wanted);
        promise!(scheduler.in_service() == held, "I1: {} slots taken, not {held}", scheduler.in_service());
        promise!(scheduler.ready_count() == ready, "{} ready, not {ready}", scheduler.ready_count());
        promise!(scheduler.overlaps_total() == 0, "I1: overlaps were counted");
        let mut views = 0;
        for view in scheduler.workers() {
            let w = self.live.get(&view.worker);
            let is_same = w.is_some_and(|w| w.held.len() == view.in_service && w.streams == view.streams);
            promise!(is_same, "seen as {view:?}, is {w:?}");
            views += 1;
        }
        promise!(views == self.live.len(), "{views} workers seen, {} live", self.live.len());
        promise!(scheduler.is_stopped() == (self.stopping && self.live.is_empty()), "stopped or not?");
        Ok(())
    }
}
