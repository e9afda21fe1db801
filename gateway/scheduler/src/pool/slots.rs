//! Slots: the requests that each worker holds, the choice of its next one, and the end of each.

use super::seats::WHOLE;
use super::worker::{SlotEntry, Warmth, Worker};
use super::{Ask, Pool, WorkerState};
use crate::{Action, ClassId, Lane, Limits, Need, RequestId, Time, WorkerId};

/// A request that goes to a worker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Assignment {
    pub request: RequestId,
    pub arrived: Time,
    pub need: Need,
    /// Side of the queue that it came from.
    pub side: Lane,
    /// Demand of the request on the worker.
    pub ask: Ask,
    /// Known time that requests of its class stay, microseconds; 0 while unknown.
    pub stay_us: u64,
    /// Mean service time of its class, microseconds, if the class is cheap.
    pub cheap_us: Option<u64>,
    /// Time at which it is handed ahead; `None` for a normal dispatch.
    pub handed: Option<Time>,
}

/// A request that a worker has finished.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completion {
    pub side: Lane,
    /// Lane of the worker.
    pub lane: Lane,
    pub class: ClassId,
    pub service_us: u64,
    /// Whether it never shared its worker, and had the CPU whenever it needed it.
    pub is_undisturbed: bool,
    /// Lower bound of its wait if it was parked, microseconds.
    pub waited_us: Option<u64>,
}

impl Pool {
    /// An empty worker, for a request that needs one to itself. It may be of any lane; one of the long lane is missed
    /// least.
    pub(crate) fn empty_worker(&self) -> Option<WorkerId> {
        let empty = self.workers.iter().filter(|(_, w)| w.takes_requests() && w.held.is_empty());
        empty.min_by_key(|(_, w)| (!w.is_reserved, w.lane != Lane::Long, w.idle_since, w.instance)).map(|(id, _)| *id)
    }

    /// Reserves a worker if a request waits for one to itself, and ends the reservation otherwise. The one that holds
    /// least gets nothing more until it has that request.
    pub(crate) fn reserve(&mut self, is_wanted: bool) {
        let is_reserved = self.workers.values().any(|w| w.is_reserved && w.takes_requests());
        if is_wanted == is_reserved {
            return;
        }
        let least = self.workers.values_mut().filter(|w| w.takes_requests());
        match least.min_by_key(|w| (w.lane != Lane::Long, w.held.len(), w.instance)).filter(|_| is_wanted) {
            Some(w) => w.is_reserved = true,
            None => self.workers.values_mut().for_each(|w| w.is_reserved = false),
        }
    }

    /// Whether the worker takes requests and has room for this demand.
    pub(crate) fn has_room(&self, worker: WorkerId, ask: &Ask, limits: &Limits) -> bool {
        self.workers.get(&worker).is_some_and(|w| w.is_open() && w.has_seat(ask, limits))
    }

    /// Number of requests that the worker may hold; 0 if it does not serve.
    pub(crate) fn slots_of(&self, worker: WorkerId, concurrency: u32) -> u32 {
        self.workers.get(&worker).filter(|w| w.serves()).map_or(0, |w| w.slots(concurrency))
    }

    /// Whether the worker keeps its sessions. A blocked one may recover; one that leaves will not.
    pub(crate) fn keeps_sessions(&self, worker: WorkerId) -> bool {
        self.workers.get(&worker).is_some_and(Worker::serves)
    }

    /// Whether a request that comes now gets the slot of a worker that is being warmed, because no other serves.
    pub(crate) fn may_rush_one(&self, concurrency: u32) -> bool {
        self.short_taking == 0 && self.workers.iter().any(|(id, w)| self.may_rush(*id, w, concurrency))
    }

    pub(crate) fn assign(&mut self, now: Time, worker: WorkerId, given: Assignment, held_max: u32) {
        let Some(w) = self.workers.get_mut(&worker) else { return };
        self.given = Some(now);
        w.is_reserved = false;
        let Assignment { request, arrived, need, side, ask, stay_us, cheap_us, handed } = given;
        let is_undisturbed = handed.is_none();
        let held = SlotEntry {
            request,
            arrived,
            dispatched: now,
            handed,
            need,
            side,
            part: ask.part,
            cost_us: ask.cost_us,
            stay_us,
            is_parked: false,
            is_late: false,
            waited_us: 0,
            is_own: false,
            is_undisturbed,
            cheap_us,
        };
        if handed.is_some() {
            w.held.push(held);
            self.handing.insert(worker);
            return;
        }
        w.join(held);
        if std::mem::take(&mut w.is_granted) {
            w.room = w.room.max(u32::try_from(w.begun()).unwrap_or(u32::MAX));
        }
        if w.begun() > held_max as usize {
            self.overlaps_total += 1;
        }
    }

    /// Lets the worker take one request more in this step only, because all that it holds waits for something else than
    /// the CPU. If it takes one, it keeps that room.
    pub(crate) fn grant(&mut self, worker: WorkerId, held_max: u32) {
        if let Some(w) = self.workers.get_mut(&worker) {
            w.is_granted = w.is_open() && !w.holds_one && w.held.len() < held_max as usize;
        }
    }

    /// Withdraws an unused grant: by the next step the worker may compute.
    pub(crate) fn end_grant(&mut self, worker: WorkerId) {
        if let Some(w) = self.workers.get_mut(&worker) {
            w.is_granted = false;
        }
    }

    /// Reduces the room of a worker that computes all the time, or that no request waits for.
    pub(crate) fn lessen_room(&mut self, worker: WorkerId, by: u32, concurrency: u32) {
        if let Some(w) = self.workers.get_mut(&worker) {
            w.room = Some(w.room.saturating_sub(by)).filter(|room| *room > concurrency).unwrap_or(0);
        }
    }

    /// Resets the room of all workers, because the rule has changed.
    pub(crate) fn forget_rooms(&mut self) {
        for w in self.workers.values_mut() {
            w.room = 0;
        }
    }

    pub(crate) fn is_warming(&self, worker: WorkerId, concurrency: u32) -> bool {
        self.workers.get(&worker).is_some_and(|w| {
            w.state == WorkerState::Warming && w.warmth == Warmth::Warming && w.has_free_slot(concurrency)
        })
    }

    /// Lets a warm-up request take a slot.
    pub(crate) fn warm_with(&mut self, now: Time, worker: WorkerId, request: RequestId, concurrency: u32) {
        if self.is_warming(worker, concurrency)
            && let Some(w) = self.workers.get_mut(&worker)
        {
            let (need, side, part, cost_us) = (Need::default(), Lane::Short, WHOLE, u64::MAX);
            w.join(SlotEntry {
                request,
                arrived: now,
                dispatched: now,
                handed: None,
                need,
                side,
                part,
                cost_us,
                stay_us: 0,
                is_parked: false,
                is_late: false,
                waited_us: 0,
                is_own: true,
                is_undisturbed: true,
                cheap_us: None,
            });
        }
    }

    /// Frees the slot and returns figures about the served request.
    ///
    /// `None` if it says nothing about other requests: the worker did not hold it, it was the gateway's own, or the
    /// worker's first. At the first request many apps load and connect what they need.
    pub(crate) fn release(
        &mut self,
        now: Time,
        worker: WorkerId,
        request: RequestId,
        limits: &Limits,
    ) -> Option<Completion> {
        let held = self.free_slot(now, worker, request)?;
        let w = self.workers.get_mut(&worker)?;
        if held.is_own {
            return None;
        }
        w.finished += 1;
        // One that the gateway never saw begin waited for others meanwhile.
        let is_no_measure = w.finished == 1 || held.handed.is_some();
        // In the long lane it waits for the CPU as well.
        let lane = w.lane;
        let is_undisturbed = held.is_undisturbed && lane == Lane::Short;
        if w.recycle_due(worker, limits).is_some_and(|(at, _)| at <= now) {
            self.unsettle();
        }
        let SlotEntry { side, dispatched, need: Need { class, .. }, .. } = held;
        let service_us = now.since_us(dispatched);
        // A worker that was too busy to be seen asleep tells little of how long its requests waited.
        let waited_us = (held.is_parked && held.waited_us >= service_us / 2).then_some(held.waited_us);
        let is_undisturbed = is_undisturbed && !held.is_parked;
        let served = Completion { side, lane, class, service_us, is_undisturbed, waited_us };
        (!is_no_measure).then_some(served)
    }

    fn free_slot(&mut self, now: Time, worker: WorkerId, request: RequestId) -> Option<SlotEntry> {
        let w = self.workers.get_mut(&worker)?;
        let at = w.held.iter().position(|held| held.request == request)?;
        w.idle_since = now;
        let held = w.held.remove(at);
        if !w.serves() {
            self.unsettle();
        }
        self.forget_late(&held);
        Some(held)
    }

    /// Frees the slot of a request that the worker never saw. Returns its arrival time and requirements if it should
    /// wait again.
    pub(crate) fn take_back(&mut self, worker: WorkerId, request: RequestId) -> Option<(Time, Need)> {
        let w = self.workers.get_mut(&worker)?;
        let at = w.held.iter().position(|held| held.request == request)?;
        let held = w.held.remove(at);
        self.forget_late(&held);
        (!held.is_own).then_some((held.arrived, held.need))
    }

    /// Returns the slot to a request that had seemed finished. Returns the arrival time and requirements of the other
    /// request if it should wait again.
    pub(crate) fn occupied(&mut self, worker: WorkerId, request: RequestId, by: RequestId) -> Option<(Time, Need)> {
        let w = self.workers.get_mut(&worker)?;
        let held = w.held.iter_mut().find(|held| held.request == request)?;
        // What takes so long is not cheap.
        (held.request, held.handed, held.cheap_us) = (by, None, None);
        (!held.is_own).then_some((held.arrived, held.need))
    }

    /// Frees the slot of a stream at its headers, or where the app waits with them: the named exception of I1. The
    /// stream counts against a limit of its own.
    pub(crate) fn detach(
        &mut self,
        now: Time,
        worker: WorkerId,
        request: RequestId,
        limits: &Limits,
        actions: &mut Vec<Action>,
    ) {
        let Some(held) = self.free_slot(now, worker, request) else { return };
        let Some(w) = self.workers.get_mut(&worker) else { return };
        w.finished += u64::from(!held.is_own);
        w.streams += 1;
        if w.streams > limits.streams_per_worker_max || w.footprint.is_over() {
            actions.push(Action::CloseStream { request, worker });
        }
        self.unsettle();
    }

    pub(crate) fn end_stream(&mut self, worker: WorkerId) {
        if let Some(w) = self.workers.get_mut(&worker) {
            w.streams = w.streams.saturating_sub(1);
        }
    }
}
