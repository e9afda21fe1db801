//! The model's half that follows the workers: what each is, holds and may be told. Who replaces whom is in `places`.

mod worker;

use std::collections::BTreeMap;

use sluice_scheduler::{
    AbandonReason, Event, KillReason, Lane, Limits, RequestId, Scheduler, Time, WorkerId, WorkerState,
};

use crate::model::promise;
use crate::places::{Due, Places};
pub use worker::{Post, SlotRequest, Worker};

pub struct Workers {
    pub limits: Limits,
    pub live: BTreeMap<WorkerId, Worker>,
    pub places: Places,
}

impl Workers {
    pub fn new(limits: Limits) -> Workers {
        Workers { limits, live: BTreeMap::new(), places: Places::default() }
    }

    pub fn stopping(&self) -> bool {
        self.places.stopping
    }

    /// Takes in what happened to one worker or to all.
    pub fn take_event(&mut self, now: Time, event: Event) {
        match event {
            Event::Listening { worker } => {
                let warm = !self.limits.warm_up;
                if let Some(w) = self.in_state(worker, &[WorkerState::Starting]) {
                    (w.listened, w.warm) = (Some(now), warm);
                    let boot_us = now.since_us(w.started);
                    self.places.note_boot(boot_us);
                    self.serve_if_warm(now, worker);
                }
            }
            Event::Warmed { worker } => {
                if let Some(w) = self.in_state(worker, &[WorkerState::Warming]) {
                    w.warm = true;
                    self.serve_if_warm(now, worker);
                }
            }
            Event::WarmUpFailed { worker } => {
                let on_trial = self.on_trial(worker);
                if let Some(w) = self.in_state(worker, &[WorkerState::Warming]).filter(|w| !w.warm) {
                    w.warm = true;
                    if on_trial {
                        self.fail(worker, AbandonReason::WarmUpFailed { worker });
                    }
                    self.serve_if_warm(now, worker);
                }
            }
            Event::Closing { worker } => {
                if let Some(w) = self.in_state(worker, &[WorkerState::Warming, WorkerState::Ready]) {
                    w.leaves = true;
                    let holds_something = !w.held.is_empty() || !w.handed.is_empty();
                    self.fail(worker, AbandonReason::Exited { worker });
                    if holds_something {
                        self.give_place_up(now, worker);
                    }
                }
            }
            Event::Faulted { worker } => {
                use WorkerState::{Leaving, Ready, Starting, Warming};
                let w = self.in_state(worker, &[Starting, Warming, Ready, Leaving]);
                if let Some(w) = w.filter(|w| w.faulted.is_none()) {
                    w.faulted = Some(now);
                    self.fail(worker, AbandonReason::Exited { worker });
                }
            }
            Event::Stuck { worker } => {
                use WorkerState::{Leaving, Ready, Warming};
                if let Some(w) = self.in_state(worker, &[Warming, Ready, Leaving]) {
                    w.stuck = Some(now);
                    if w.has_stand_in {
                        self.places.forget_needless();
                    }
                    self.places.due.push(Due::Examine(worker));
                    self.fail(worker, AbandonReason::WarmUpFailed { worker });
                }
            }
            Event::Examined { worker } => {
                if let Some(w) = self.in_state(worker, &[WorkerState::Stuck]) {
                    w.examined = true;
                }
            }
            Event::Overweight { worker } => self.grow_heavy(now, worker),
            Event::Overdue { worker } => {
                if let Some(w) = self.in_state(worker, &[WorkerState::Ready, WorkerState::Leaving]) {
                    w.overdue = true;
                }
            }
            Event::Waits { worker } => {
                let held_max = self.limits.concurrency_max as usize;
                if let Some(w) = self.live.get_mut(&worker) {
                    w.granted = w.takes_requests() && w.held.len() + w.handed.len() < held_max;
                }
            }
            Event::Crowded { worker, by } => {
                let concurrency = self.limits.concurrency as usize;
                if let Some(w) = self.live.get_mut(&worker) {
                    w.room = w.room.saturating_sub(by as usize);
                    w.room *= usize::from(w.room > concurrency);
                }
            }
            Event::TakesAhead { worker, takes } => {
                if let Some(w) = self.live.get_mut(&worker) {
                    w.takes_ahead = takes;
                }
            }
            Event::Turned { worker } => self.turn_again(now, worker),
            Event::StreamEnded { worker } => {
                if let Some(w) = self.live.get_mut(&worker) {
                    w.streams = w.streams.saturating_sub(1);
                }
            }
            Event::WarmingWith { worker, request } => {
                if let Some(w) = self.live.get_mut(&worker) {
                    w.held.push(SlotRequest { request, is_own: true, side: Lane::Short, part: 1_000 });
                }
            }
            Event::ReloadAsked { generation } => self.ask_reload(now, generation),
            Event::Scaled { workers } => self.scale(workers),
            Event::Stopping => self.begin_to_stop(),
            _ => {}
        }
    }

    fn in_state(&mut self, worker: WorkerId, states: &[WorkerState]) -> Option<&mut Worker> {
        self.live.get_mut(&worker).filter(|w| states.contains(&w.state()))
    }

    /// The worker's slot is free again; tells what was in it, if the request was held.
    pub fn release(&mut self, worker: WorkerId, request: RequestId) -> Option<SlotRequest> {
        let w = self.live.get_mut(&worker)?;
        if let Some(at) = w.handed.iter().position(|(handed, _)| handed.request == request) {
            let (held, _) = w.handed.remove(at);
            w.asked_back &= !w.handed.is_empty();
            return Some(held);
        }
        let at = w.held.iter().position(|held| held.request == request)?;
        Some(w.held.swap_remove(at))
    }

    /// A request was served to its end, or to its headers.
    pub fn count_finished(&mut self, worker: WorkerId) {
        if let Some(w) = self.live.get_mut(&worker) {
            w.finished += 1;
        }
    }

    /// A request that seemed finished is not.
    pub fn hold_on(&mut self, worker: WorkerId, held: SlotRequest) {
        if let Some(w) = self.live.get_mut(&worker) {
            w.held.push(held);
        }
    }

    pub fn open_stream(&mut self, worker: WorkerId) {
        if let Some(w) = self.live.get_mut(&worker) {
            w.streams += 1;
        }
    }

    /// What a worker has room for is known anew.
    pub fn set_limits(&mut self, limits: &Limits) {
        self.limits = limits.clone();
        self.live.values_mut().for_each(|w| w.room = 0);
    }

    pub fn has_too_many_streams(&self, worker: WorkerId) -> bool {
        self.live.get(&worker).is_some_and(|w| w.streams > self.limits.streams_per_worker_max)
    }

    pub fn hold(&mut self, worker: WorkerId, held: SlotRequest) -> Result<(), String> {
        let request = held.request;
        let Some(w) = self.live.get_mut(&worker) else { return Err(format!("I4: {request:?} given to a dead worker")) };
        promise!(
            w.takes_requests() && w.post == Post::Holder,
            "I4: {request:?} given to a worker that is not ready: {w:?}"
        );
        let may_take = w.may_take(held.part, &self.limits);
        promise!(may_take, "I1: {worker:?} has no room for {held:?}: {w:?}");
        w.held.push(held);
        let had_room = (self.limits.concurrency as usize).max(w.room);
        let is_granted = std::mem::take(&mut w.granted);
        if w.held.len() > had_room && is_granted {
            self.places.reached.push("granted one more");
        } else if w.held.len() > had_room {
            self.places.reached.push("in room that is known");
        } else if w.held.len() > self.limits.concurrency as usize {
            self.places.reached.push("in the room of a grant before");
        }
        promise!(w.held.len() <= self.limits.concurrency.max(self.limits.concurrency_max) as usize, "I1: {w:?}");
        if is_granted {
            w.room = w.room.max(w.held.len());
        }
        Ok(())
    }

    /// It gets a request ahead of time.
    pub fn hand(&mut self, now: Time, worker: WorkerId, held: SlotRequest) -> Result<(), String> {
        let (free, request) = (self.free_workers_in(Lane::Short), held.request);
        let Some(w) = self.live.get_mut(&worker) else {
            return Err(format!("I4: {request:?} handed to a dead worker"));
        };
        let serves = w.takes_requests() && w.post == Post::Holder && w.takes_ahead && !w.asked_back;
        promise!(serves, "I4: {request:?} handed to a worker that does not take it: {w:?}");
        promise!(free == 0, "{request:?} handed to {worker:?} while a worker is free");
        let max = (self.limits.concurrency as usize).max(w.room) + self.limits.ahead_max as usize;
        w.handed.push((held, now));
        promise!(w.held.len() + w.handed.len() <= max, "I1: {request:?} handed to a worker that has enough: {w:?}");
        Ok(())
    }

    /// It begins what it was handed. `may_overlap`: the app has it whatever was thought of it.
    pub fn begin(&mut self, worker: WorkerId, request: RequestId, may_overlap: bool) -> Result<(), String> {
        let Some(w) = self.live.get_mut(&worker) else {
            return Err(format!("I4: {request:?} begins in a dead worker"));
        };
        let at = w.handed.iter().position(|(handed, _)| handed.request == request);
        let Some(at) = at else { return Err(format!("{request:?} begins and was not handed: {w:?}")) };
        promise!(at == 0 || may_overlap, "order: {request:?} begins before {:?}", w.handed);
        let (held, _) = w.handed.remove(at);
        w.asked_back &= !w.handed.is_empty();
        w.held.push(held);
        let room = (self.limits.concurrency as usize).max(w.room);
        promise!(w.held.len() <= room || may_overlap, "I1: {request:?} begins beside others: {w:?}");
        Ok(())
    }

    /// It is asked for what it has not begun; `for_others`: one waits that may be dearer, and may not pass.
    pub fn ask_back(&mut self, now: Time, worker: WorkerId, for_others: bool) -> Result<(), String> {
        let free = self.free_workers_in(Lane::Short);
        let Some(w) = self.live.get_mut(&worker) else { return Err(format!("{worker:?} is gone and asked")) };
        promise!(!w.handed.is_empty() && !w.asked_back, "{worker:?} is asked for nothing: {w:?}");
        let is_late = free > 0 && w.handed_late().is_some_and(|late| late <= now);
        promise!(!w.takes_requests() || is_late || for_others, "{worker:?} is asked without need: {w:?}");
        w.asked_back = true;
        Ok(())
    }

    fn free_workers_in(&self, lane: Lane) -> usize {
        let has_slot = |w: &Worker| w.held.len() < (self.limits.concurrency as usize).max(w.room) || w.granted;
        let is_free = |w: &Worker| w.takes_requests() && w.lane == lane && !w.asked_back && has_slot(w);
        self.live.values().filter(|w| is_free(w)).count()
    }

    pub fn is_asked_back(&self) -> bool {
        self.live.values().any(|w| w.asked_back)
    }

    /// When the first of what was handed should have another worker, where one is free.
    pub fn handed_late(&self) -> Option<Time> {
        self.live.values().filter_map(Worker::handed_late).min().filter(|_| self.free_workers_in(Lane::Short) > 0)
    }

    fn check_handed(&self, now: Time) -> Result<(), String> {
        let is_free = self.free_workers_in(Lane::Short) > 0;
        for (worker, w) in self.live.iter().filter(|(_, w)| !w.handed.is_empty() && !w.asked_back) {
            promise!(w.takes_requests(), "I4: {worker:?} is not asked for what it will not begin: {w:?}");
            let room = (self.limits.concurrency as usize).max(w.room);
            promise!(w.held.len() >= room, "{worker:?} does not begin what it was handed: {w:?}");
            let is_late = is_free && w.handed_late().is_some_and(|late| late <= now);
            promise!(!is_late, "what {worker:?} was handed waits beside a free worker: {w:?}");
        }
        Ok(())
    }

    pub fn warm_up(&mut self, worker: WorkerId) -> Result<(), String> {
        let Some(w) = self.live.get_mut(&worker) else { return Err(format!("{worker:?} is gone and to be warmed")) };
        promise!(w.warms() && !w.warm && !w.asked_to_warm, "{worker:?} is to be warmed for nothing: {w:?}");
        w.asked_to_warm = true;
        Ok(())
    }

    pub fn stop(&mut self, now: Time, worker: WorkerId) -> Result<(), String> {
        let stopping = self.stopping();
        let Some(w) = self.live.get_mut(&worker) else { return Err(format!("{worker:?} is gone and was stopped")) };
        promise!(w.stopped.is_none() && !w.killed, "{worker:?} was stopped twice");
        let is_due = w.is_to_be_stopped(now, &self.limits, stopping) || stopping && w.state() == WorkerState::Leaving;
        promise!(is_due, "{worker:?} stopped without need: {w:?}");
        w.stopped = Some(now);
        Ok(())
    }

    pub fn kill(&mut self, now: Time, worker: WorkerId, reason: KillReason) -> Result<(), String> {
        let Some(w) = self.live.get_mut(&worker) else { return Err(format!("{worker:?} is gone and was killed")) };
        promise!(!w.killed, "{worker:?} was killed twice");
        let state = w.state();
        let is_late = w.deadline(&self.limits).is_some_and(|due| due <= now);
        let has_cause = match reason {
            KillReason::StartTimeout => state == WorkerState::Starting && is_late,
            KillReason::StopTimeout => state == WorkerState::Stopping && is_late,
            KillReason::Stuck => state == WorkerState::Stuck && (is_late || w.examined),
            KillReason::Abandoned => w.condemned,
            // The gateway itself kills for these: no app is developed here, and no client is looked at.
            KillReason::Changed | KillReason::ClientGone => false,
        };
        promise!(has_cause, "{worker:?} was killed for {reason:?} without cause: {w:?}");
        if reason == KillReason::Stuck && !w.examined {
            self.places.reached.push("stuck too long");
        }
        w.killed = true;
        if reason == KillReason::StartTimeout {
            self.fail(worker, AbandonReason::StartTimeout { worker });
        }
        Ok(())
    }

    /// Whether it would take any request at all.
    pub fn is_free(&self, w: &Worker) -> bool {
        let has_slot = w.held.len() < (self.limits.concurrency as usize).max(w.room) || w.granted;
        let is_left_alone = !w.asked_back && w.handed.is_empty();
        has_slot && is_left_alone && (0..=1_000).step_by(100).all(|part| w.may_take(part, &self.limits))
    }

    pub fn may_take(&self, worker: WorkerId, part: u32) -> bool {
        self.live.get(&worker).is_some_and(|w| w.may_take(part, &self.limits))
    }

    /// Whether one besides this would take a request now.
    pub fn is_other_free(&self, worker: WorkerId) -> bool {
        self.live.iter().any(|(id, w)| *id != worker && w.takes_requests() && self.is_free(w))
    }

    /// Whether a request that comes now is served at once, by one that is being warmed if need be.
    pub fn has_free_slot(&self) -> bool {
        let is_free = |w: &Worker| self.is_free(w);
        let serving = if self.ready_in(Lane::Short) > 0 { Lane::Short } else { Lane::Long };
        let is_serving = self.live.values().any(|w| w.takes_requests() && w.lane == serving && is_free(w));
        if is_serving || serving == Lane::Short {
            return is_serving;
        }
        self.live.iter().any(|(id, w)| w.warms() && is_free(w) && !self.on_trial(*id))
    }

    /// What was granted is used while somebody waits, and is not kept.
    pub fn check_grant(&mut self, event: Event, is_queue_empty: bool) -> Result<(), String> {
        let Event::Waits { worker } = event else { return Ok(()) };
        let is_for_all = self.ready_in(Lane::Short) == 0;
        let is_asked_back = self.is_asked_back();
        let Some(w) = self.live.get_mut(&worker) else { return Ok(()) };
        let is_wanted = w.takes_requests() && (is_for_all || w.lane == Lane::Short);
        // What one more may be given to depends on its lane where slots are free; only beyond these it is anybody's.
        let is_beyond = w.held.len() >= (self.limits.concurrency as usize).max(w.room);
        promise!(
            !std::mem::take(&mut w.granted) || is_queue_empty || !is_beyond || !is_wanted || is_asked_back,
            "{worker:?} could take one more: {w:?}"
        );
        Ok(())
    }

    pub fn ready(&self) -> u32 {
        u32::try_from(self.live.values().filter(|w| w.serves()).count()).expect("few")
    }

    pub fn ready_in(&self, lane: Lane) -> u32 {
        u32::try_from(self.live.values().filter(|w| w.takes_requests() && w.lane == lane).count()).expect("few")
    }

    /// Other workers of the short lane that take requests and hold no long one.
    pub fn without_long(&self, but: WorkerId) -> usize {
        let is_open = |(id, w): &(&WorkerId, &Worker)| {
            **id != but && w.lane == Lane::Short && w.takes_requests() && !w.holds(Lane::Long)
        };
        self.live.iter().filter(is_open).count()
    }

    /// Whether the lane has somebody, who may stand still.
    pub fn has_in(&self, lane: Lane) -> bool {
        self.live.values().any(|w| w.serves() && w.lane == lane)
    }

    /// Workers of this lane that serve and hold nothing.
    pub fn free_in(&self, lane: Lane) -> u32 {
        let is_free = |w: &&Worker| w.takes_requests() && w.lane == lane && w.held.is_empty() && !w.asked_back;
        u32::try_from(self.live.values().filter(is_free).count()).expect("few")
    }

    /// Nothing that is due is left undone, and the scheduler sees every worker as the model does.
    pub fn check(&self, now: Time, scheduler: &Scheduler) -> Result<(), String> {
        self.check_places(now, scheduler)?;
        self.check_handed(now)?;
        let (mut held, mut handed) = (0, 0);
        for (worker, w) in &self.live {
            promise!(!w.is_to_be_stopped(now, &self.limits, self.stopping()), "{worker:?} was not stopped: {w:?}");
            let is_overdue = w.deadline(&self.limits).is_some_and(|due| due <= now) && w.stopped != Some(now);
            promise!(!is_overdue, "I6: {worker:?} is overdue: {w:?}");
            promise!(w.killed || !w.condemned, "{worker:?} of an abandoned generation lives: {w:?}");
            promise!(w.killed || !w.examined, "{worker:?} is stuck, was examined and lives: {w:?}");
            promise!(!w.warms() || w.warm || w.asked_to_warm, "{worker:?} is not warmed: {w:?}");
            promise!(w.post != Post::None || !w.stays(), "I6: {worker:?} stays for nothing: {w:?}");
            promise!(scheduler.worker_state(*worker) == Some(w.state()), "{worker:?} is not {:?}: {w:?}", w.state());
            let may_warm = w.warms() && !w.warm && w.held.len() < self.limits.concurrency as usize;
            promise!(scheduler.is_warming(*worker) == may_warm, "{worker:?} may be warmed: {may_warm}");
            held += w.held.len() + w.handed.len();
            handed += w.handed.len();
        }
        promise!(scheduler.in_service() == held, "I1: {} slots taken, not {held}", scheduler.in_service());
        promise!(scheduler.handed() == handed, "{} handed, not {handed}", scheduler.handed());
        let ready = self.ready();
        promise!(scheduler.ready_count() == ready, "{} ready, not {ready}", scheduler.ready_count());
        promise!(scheduler.overlaps_total() == 0, "I1: overlaps were counted");
        promise!(scheduler.idle_refusals_total() == 0, "a request was refused while a worker ran nothing");
        let mut views = 0;
        for view in scheduler.workers() {
            let w = self.live.get(&view.worker);
            let is_same = w.is_some_and(|w| {
                let has = (w.held.len(), w.handed.len(), w.streams);
                has == (view.in_service, view.handed, view.streams)
                    && (w.generation, w.lane, w.lowered) == (view.generation, view.lane, view.is_lowered)
            });
            promise!(is_same, "seen as {view:?}, is {w:?}");
            views += 1;
        }
        promise!(views == self.live.len(), "{views} workers seen, {} live", self.live.len());
        promise!(scheduler.is_stopped() == (self.stopping() && self.live.is_empty()), "stopped or not?");
        Ok(())
    }
}
