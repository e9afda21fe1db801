//! The promises about order and lanes: who goes next, to which lane, and that nobody waits for nothing.
//!
//! What a class costs and what is long is the cost model's to say; everything that follows from it is said again here.

use sluice_scheduler::{Event, Home, Lane, Need, Order, RequestId, Scheduler, Time, WorkerId, WorkerState};

use super::{Model, promise};

/// A request that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitingRequest {
    pub arrived: Time,
    pub need: Need,
    /// From when on its deadline cannot be met.
    latest: Option<Time>,
    /// Before that it cannot have waited for too long.
    overdue_min: Time,
    /// It has been with a worker before.
    pub is_back: bool,
    /// Of a class that is not known, which may be let in to get it known.
    is_new: bool,
}

impl WaitingRequest {
    pub fn new(arrived: Time, need: Need, returned: bool, scheduler: &Scheduler) -> WaitingRequest {
        let cost_us = scheduler.costs().expected_us(need.class);
        let latest = need.deadline_ms.map(|ms| {
            let deadline = arrived.plus_ms(u64::from(ms));
            Time(deadline.0.saturating_sub(scheduler.expected_service_us(need.class)).max(arrived.0 + 1))
        });
        let is_new = !scheduler.costs().is_known(need.class);
        // One that comes back has had its turn once.
        let overdue_min = if returned || is_new { arrived } else { Time(arrived.0 + cost_us * 4) };
        WaitingRequest { arrived, need, latest, overdue_min, is_back: returned, is_new }
    }

    /// What waited in the order of arrival goes before what comes later.
    pub fn grow_old(&mut self) {
        self.overdue_min = self.arrived;
    }
}

impl Model {
    pub(super) fn join(&mut self, request: RequestId, queued: WaitingRequest) {
        // Nobody comes to a worker that does not serve yet; once it serves no more, it never will again.
        let need = self.settled(queued.need);
        self.queue.insert(request, WaitingRequest { need, ..queued });
    }

    /// The worker that a request must have, as long as it serves, even if it stands still.
    pub(super) fn home_of(&self, need: Need) -> Option<WorkerId> {
        let Home::At(worker) = need.home else { return None };
        self.workers.live.get(&worker).filter(|w| w.state() == WorkerState::Ready).map(|_| worker)
    }

    pub(super) fn settled(&self, need: Need) -> Need {
        let is_lost = matches!(need.home, Home::At(_)) && self.home_of(need).is_none();
        Need { home: if is_lost { Home::New } else { need.home }, ..need }
    }

    pub(super) fn waiting_at(&self, home: Home) -> usize {
        self.queue.values().filter(|queued| self.settled(queued.need).home == home).count()
    }

    /// Requests that may have any worker.
    fn shared(&self) -> impl Iterator<Item = (&RequestId, &WaitingRequest)> {
        self.queue.iter().filter(|(_, queued)| self.home_of(queued.need).is_none())
    }

    /// When it must be refused, if it still waits.
    pub(super) fn due(&self, queued: &WaitingRequest) -> Time {
        let longest = queued.arrived.plus_ms(self.limits.queue_wait_ms_max);
        queued.latest.map_or(longest, |latest| latest.min(longest))
    }

    pub(super) fn side(&self, need: Need, scheduler: &Scheduler) -> Lane {
        let is_long =
            self.limits.order == Order::Shortest && need.home == Home::Any && scheduler.costs().is_long(need.class);
        if is_long { Lane::Long } else { Lane::Short }
    }

    pub(super) fn waiting_of(&self, side: Lane, scheduler: &Scheduler) -> usize {
        self.shared().filter(|(_, queued)| self.side(queued.need, scheduler) == side).count()
    }

    pub(super) fn may_have_lanes(&self) -> bool {
        self.limits.lanes && self.limits.order == Order::Shortest && self.limits.concurrency == 1
    }

    /// Whether a worker may hold more than its concurrency.
    fn shares(&self) -> bool {
        self.limits.concurrency_max > self.limits.concurrency
    }

    pub(super) fn is_mixed(&self, scheduler: &Scheduler) -> bool {
        self.may_have_lanes() && scheduler.costs().cut_us().is_some()
    }

    fn has_lanes(&self, scheduler: &Scheduler) -> bool {
        self.is_mixed(scheduler) && self.workers.ready_in(Lane::Short) > 0 && self.workers.has_in(Lane::Long)
    }

    /// Whether a request of this side need not wait, lanes being in force. With a second worker in the long lane it may
    /// have to leave the short lane to the short ones.
    fn has_room(&self, side: Lane) -> bool {
        let (short, long) = (self.workers.free_in(Lane::Short), self.workers.free_in(Lane::Long));
        match side {
            Lane::Short => short > 0,
            Lane::Long => {
                let ready = self.workers.ready_in(Lane::Long);
                long > 0 && long == ready || short > 1 && ready < 2
            }
        }
    }

    pub(super) fn goes_at_once(&self, need: Need, scheduler: &Scheduler) -> bool {
        if let Some(home) = self.home_of(need) {
            return self.waiting_at(need.home) == 0 && self.is_free(home);
        }
        let side = self.side(self.settled(need), scheduler);
        if !self.has_lanes(scheduler) {
            // One that is called from its warm-up brings lanes into force, and is kept for short ones then.
            let is_kept = side == Lane::Long && self.is_mixed(scheduler) && self.workers.ready_in(Lane::Long) > 0;
            return self.shared().next().is_none() && !is_kept && self.workers.has_free_slot();
        }
        self.waiting_of(side, scheduler) == 0 && self.has_room(side)
    }

    /// A request is about to be given to a worker.
    pub(super) fn check_choice(
        &mut self,
        request: RequestId,
        worker: WorkerId,
        scheduler: &Scheduler,
    ) -> Result<(), String> {
        self.is_undecided(request)?;
        let need = self.settled(self.queue[&request].need);
        let home = self.home_of(need);
        promise!(home.is_none_or(|home| home == worker), "sessions: {request:?} of {home:?} went to {worker:?}");
        let mut line = self.queue.iter().filter(|(_, other)| self.settled(other.need) == need);
        let first = line.clone().next().map(|(first, _)| *first);
        promise!(first == Some(request), "order: {request:?} of {need:?} passed {first:?}");
        let may_age = |other: &super::WaitingRequest| other.overdue_min <= self.now;
        let is_old = line.any(|(_, other)| may_age(other) && (self.limits.ageing > 0 || other.is_back || other.is_new));
        let (has_lanes, side) = (self.has_lanes(scheduler), self.side(need, scheduler));
        if self.limits.order == Order::Fifo {
            let is_rival = |other: &super::WaitingRequest| self.home_of(other.need) == home;
            let next = self.queue.iter().find(|(_, other)| is_rival(other)).map(|(next, _)| *next);
            promise!(next == Some(request), "order: {request:?} came before {next:?}");
            self.check_rivals(request, worker, home, scheduler)?;
        } else if !is_old {
            let cost_us = |need: Need| scheduler.costs().expected_us(need.class);
            let is_known = |need: Need| scheduler.costs().is_known(need.class);
            for (id, other) in self.queue.iter().filter(|(_, other)| self.home_of(other.need) == home) {
                if has_lanes && self.side(other.need, scheduler) != side {
                    continue;
                }
                let is_above = other.need.priority > need.priority;
                // What is expected of a class that nobody knows changes with all others, and waits for its own to be looked at.
                let is_cheaper = is_known(need) && is_known(other.need) && cost_us(other.need) * 3 < cost_us(need) * 2;
                let is_cheaper = is_cheaper && other.need.priority == need.priority;
                promise!(!is_above && !is_cheaper, "order: {request:?} of {need:?} passed {id:?}: {other:?}");
            }
        }
        let chosen = self.workers.live.get(&worker);
        let lane = chosen.map(|w| w.lane);
        let (short_ready, short_free) = (self.workers.ready_in(Lane::Short), self.workers.free_in(Lane::Short));
        let [beside_short, beside_long] = [Lane::Short, Lane::Long].map(|side| chosen.is_some_and(|w| w.holds(side)));
        let is_right = match (lane, side) {
            _ if home.is_some() || !has_lanes && lane == Some(Lane::Short) => true,
            // Never the last that short ones may have, nor with them, unless it has waited for too long.
            (Some(Lane::Short), Lane::Long) => {
                is_old || !beside_short && self.workers.without_long(worker) > 0 && (self.shares() || short_free > 1)
            }
            // Never beside a long one, unless long ones are everywhere.
            (Some(Lane::Short), Lane::Short) => !beside_long || self.workers.without_long(worker) == 0,
            (Some(Lane::Long), Lane::Long) if has_lanes => true,
            _ => short_ready == 0,
        };
        promise!(is_right, "lanes: {request:?} ({side:?}) went to {worker:?} ({lane:?}), {short_free} short ones free");
        if home.is_some() {
            self.note("Home");
            if lane == Some(Lane::Long) {
                self.note("Home in Long");
            }
        } else if has_lanes {
            self.note(&format!("{side:?} in {:?}", lane.unwrap_or_default()));
        }
        Ok(())
    }

    /// In the order of arrival, between those that must have this worker and those that may have any. Where another is free,
    /// or this one has no time for who may have any, who must have it may go first.
    fn check_rivals(
        &self,
        request: RequestId,
        worker: WorkerId,
        home: Option<WorkerId>,
        scheduler: &Scheduler,
    ) -> Result<(), String> {
        let before = self.queue.range(..request);
        let passed = match home {
            None => before.map(|(id, other)| (*id, other)).find(|(_, other)| self.home_of(other.need) == Some(worker)),
            // Nobody of those that may have any passes the first of them.
            Some(_) => before
                .map(|(id, other)| (*id, other))
                .find(|(_, other)| self.home_of(other.need).is_none())
                .filter(|(_, other)| {
                    let part = scheduler.part_of(other.need.class);
                    !self.workers.is_other_free(worker) && self.workers.may_take(worker, part)
                }),
        };
        let passed = passed.map(|(id, _)| id);
        promise!(passed.is_none(), "order: {request:?} was given {worker:?} before {passed:?}");
        Ok(())
    }

    /// Whether no request waits that the worker which is granted one may have.
    pub(super) fn wants_nobody(&self, event: Event, scheduler: &Scheduler) -> bool {
        let Event::Waits { worker } = event else { return true };
        // Lanes may want it for nobody who waits, and what is known of those that do may forbid it.
        let is_choosy =
            self.shares() && self.queue.values().any(|queued| scheduler.part_of(queued.need.class) < 1_000_000);
        is_choosy
            || self.has_lanes(scheduler)
            || self.queue.values().all(|queued| self.home_of(queued.need).is_some_and(|home| home != worker))
    }

    fn is_free(&self, worker: WorkerId) -> bool {
        self.workers.live.get(&worker).is_some_and(|w| w.takes_requests() && self.workers.is_free(w))
    }

    /// No worker that may take a request idles while one waits.
    pub(super) fn check_conservation(&self, scheduler: &Scheduler) -> Result<(), String> {
        // What was handed to one may come back first, and goes before what is dearer.
        if self.workers.is_asked_back() {
            return Ok(());
        }
        for (request, queued) in &self.queue {
            let idle = self.home_of(queued.need).filter(|home| self.is_free(*home));
            promise!(idle.is_none(), "work conservation: {request:?} waits for {idle:?}, which is free");
        }
        if !self.has_lanes(scheduler) {
            let waits = self.shared().next().is_some();
            promise!(
                !waits || !self.workers.has_free_slot(),
                "work conservation: a request waits while a slot is free"
            );
            return Ok(());
        }
        for side in [Lane::Short, Lane::Long] {
            let waiting = self.waiting_of(side, scheduler);
            promise!(
                waiting == 0 || !self.has_room(side),
                "work conservation: {waiting} wait ({side:?}) beside the idle"
            );
        }
        Ok(())
    }
}
