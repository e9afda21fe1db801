//! What each worker holds: who gets the next request, and how a slot is freed.

use super::worker::{Held, Warmth};
use super::{Pool, WorkerState};
use crate::choice::Choice;
use crate::{Action, Limits, RequestId, Time, WorkerId};

impl Pool {
    /// The worker that gets the next request, or `None` when every slot is taken.
    pub(crate) fn choose(&self, choice: Choice, concurrency: u32) -> Option<WorkerId> {
        let free = self.workers.iter().filter(|(_, w)| w.takes_requests() && w.has_free_slot(concurrency));
        let chosen = match choice {
            Choice::First => free.min_by_key(|(_, w)| (w.held.len(), w.instance)),
            Choice::RoundRobin => {
                free.min_by_key(|(_, w)| (w.held.len(), Some(w.instance) <= self.last_chosen, w.instance))
            }
            Choice::LeastRecent => free.min_by_key(|(_, w)| (w.held.len(), w.idle_since, w.instance)),
        };
        chosen.map(|(id, _)| *id)
    }

    /// Whether a request that comes now gets a slot at once; a worker that is being warmed gives its own where nobody
    /// else serves.
    pub(crate) fn has_free_slot(&self, choice: Choice, concurrency: u32) -> bool {
        if self.taking_count > 0 {
            return self.choose(choice, concurrency).is_some();
        }
        self.workers.iter().any(|(id, w)| w.has_free_slot(concurrency) && self.may_rush(*id, w))
    }

    pub(crate) fn assign(&mut self, now: Time, worker: WorkerId, request: RequestId, arrived: Time, held_max: u32) {
        let Some(w) = self.workers.get_mut(&worker) else { return };
        self.last_chosen = Some(w.instance);
        w.held.push(Held { request, arrived, dispatched: now, is_own: false });
        w.is_granted = false;
        if w.held.len() > held_max as usize {
            self.overlaps_total += 1;
        }
    }

    /// All that the worker holds waits on something else than the CPU: it may take one request more, in this step only.
    pub(crate) fn grant(&mut self, worker: WorkerId, held_max: u32) {
        if let Some(w) = self.workers.get_mut(&worker) {
            w.is_granted = w.takes_requests() && w.held.len() < held_max as usize;
        }
    }

    /// What was not needed is not kept: by the next step it may compute.
    pub(crate) fn end_grant(&mut self, worker: WorkerId) {
        if let Some(w) = self.workers.get_mut(&worker) {
            w.is_granted = false;
        }
    }

    pub(crate) fn is_warming(&self, worker: WorkerId, concurrency: u32) -> bool {
        self.workers.get(&worker).is_some_and(|w| {
            w.state == WorkerState::Warming && w.warmth == Warmth::Warming && w.has_free_slot(concurrency)
        })
    }

    /// A warm-up request takes a slot.
    pub(crate) fn warm_with(&mut self, now: Time, worker: WorkerId, request: RequestId, concurrency: u32) {
        if self.is_warming(worker, concurrency)
            && let Some(w) = self.workers.get_mut(&worker)
        {
            w.held.push(Held { request, arrived: now, dispatched: now, is_own: true });
        }
    }

    /// Frees the slot. Returns the service time in microseconds; `None` when the worker did not hold the request, or
    /// when that was the gateway's own.
    pub(crate) fn release(&mut self, now: Time, worker: WorkerId, request: RequestId, limits: &Limits) -> Option<u64> {
        let held = self.free_slot(now, worker, request)?;
        let w = self.workers.get_mut(&worker)?;
        if held.is_own {
            return None;
        }
        w.finished += 1;
        if w.recycle_due(worker, limits).is_some_and(|(at, _)| at <= now) {
            self.unsettle();
        }
        Some(now.since_us(held.dispatched))
    }

    fn free_slot(&mut self, now: Time, worker: WorkerId, request: RequestId) -> Option<Held> {
        let w = self.workers.get_mut(&worker)?;
        let at = w.held.iter().position(|held| held.request == request)?;
        w.idle_since = now;
        let held = w.held.swap_remove(at);
        if w.state != WorkerState::Ready {
            self.unsettle();
        }
        Some(held)
    }

    /// Frees the slot of a request that the worker never saw; returns when that arrived, if it is to wait again.
    pub(crate) fn take_back(&mut self, worker: WorkerId, request: RequestId) -> Option<Time> {
        let w = self.workers.get_mut(&worker)?;
        let at = w.held.iter().position(|held| held.request == request)?;
        let held = w.held.swap_remove(at);
        (!held.is_own).then_some(held.arrived)
    }

    /// The slot is not the request's but that of one which had seemed finished; returns when the request arrived, if it
    /// is to wait again.
    pub(crate) fn occupied(&mut self, worker: WorkerId, request: RequestId, by: RequestId) -> Option<Time> {
        let w = self.workers.get_mut(&worker)?;
        let held = w.held.iter_mut().find(|held| held.request == request)?;
        held.request = by;
        (!held.is_own).then_some(held.arrived)
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
        let Some(held) = self.free_slot(now, worker, request) else { return };
        let Some(w) = self.workers.get_mut(&worker) else { return };
        w.finished += u64::from(!held.is_own);
        w.streams += 1;
        if w.streams > limits.streams_per_worker_max {
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
