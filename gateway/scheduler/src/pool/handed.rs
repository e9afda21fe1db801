//! Requests handed ahead: the choice of worker, their begin, and their return.

use super::Pool;
use super::worker::{SlotEntry, Worker};
use crate::ahead::LATE_US;
use crate::{Action, Lane, Limits, RequestId, Time, WorkerId};

impl Worker {
    /// Number of slots taken: by requests that the app has, according to reports, and that are not parked.
    pub fn begun(&self) -> usize {
        self.running().count()
    }

    /// Requests that it has or was handed, without parked ones.
    fn unparked(&self) -> impl Iterator<Item = &SlotEntry> {
        self.held.iter().filter(|held| !held.is_parked)
    }

    /// Handed requests that have not begun.
    pub fn handed(&self) -> impl Iterator<Item = &SlotEntry> {
        self.held.iter().filter(|held| held.handed.is_some())
    }

    /// Time from which its first handed request should have another worker, if one is free.
    pub fn handed_late(&self) -> Time {
        let first = self.handed().filter_map(|held| held.handed).min();
        first.map_or(Time(u64::MAX), |handed| Time(handed.0.saturating_add(LATE_US)))
    }

    /// Whether it takes a request ahead now: all that it has is cheap together, and nothing has taken longer than expected.
    fn takes_ahead_now(&self, now: Time, limits: &Limits) -> bool {
        let is_prompt = |held: &SlotEntry| !held.need.is_alone() && now.since_us(held.dispatched) <= limits.cheap_us;
        let expected_us = |held: &SlotEntry| held.cheap_us.filter(|_| is_prompt(held));
        self.takes_ahead
            && self.takes_short_requests()
            && !self.is_reserved
            && !self.is_asked_back
            && self.begun() >= self.slots(limits.concurrency) as usize
            // Not by those that it was handed, as some of these may be known to have begun before it is known that others ended.
            && self.unparked().count() < self.slots(limits.concurrency).saturating_add(limits.ahead_max) as usize
            && self.unparked().map(expected_us).sum::<Option<u64>>().is_some_and(|us| us <= limits.cheap_us)
    }

    fn begin_next(&mut self, now: Time) -> Option<RequestId> {
        // They stand in the order in which they were handed over.
        let next = self.held.iter_mut().find(|held| held.handed.is_some())?;
        (next.handed, next.dispatched) = (None, now);
        Some(next.request)
    }
}

impl Pool {
    pub(crate) fn takes_ahead(&mut self, worker: WorkerId, takes: bool) {
        if let Some(w) = self.workers.get_mut(&worker) {
            w.takes_ahead = takes;
        }
    }

    /// Worker that is likely to be free next, of those that take requests ahead of time.
    pub(crate) fn worker_ahead(
        &self,
        now: Time,
        limits: &Limits,
        is_awaited: impl Fn(WorkerId) -> bool,
    ) -> Option<WorkerId> {
        let takers = self.workers.iter().filter(|(id, w)| w.takes_ahead_now(now, limits) && !is_awaited(**id));
        let began = |w: &Worker| w.unparked().map(|held| held.dispatched).min();
        takers.min_by_key(|(_, w)| (w.unparked().count(), began(w), w.instance)).map(|(id, _)| *id)
    }

    /// Begins handed requests that have no other request before them any more.
    pub(crate) fn begin_handed(&mut self, now: Time, concurrency: u32, actions: &mut Vec<Action>) {
        self.handing.retain(|worker| {
            let Some(w) = self.workers.get_mut(worker) else { return false };
            // What it is asked for may not be there any more.
            while !w.is_asked_back && w.begun() < w.slots(concurrency) as usize {
                let Some(request) = w.begin_next(now) else { break };
                actions.push(Action::Begins { request, worker: *worker });
            }
            let has_handed = w.handed().next().is_some();
            w.is_asked_back &= has_handed;
            has_handed
        });
    }

    /// Begins all requests that were handed to the worker, because all that it holds waits for something else than the
    /// CPU.
    pub(crate) fn begin_all(&mut self, now: Time, worker: WorkerId, actions: &mut Vec<Action>) {
        let Some(w) = self.workers.get_mut(&worker) else { return };
        while let Some(request) = w.begin_next(now) {
            actions.push(Action::Begins { request, worker });
        }
    }

    /// Records that the app has this request.
    pub(crate) fn has_begun(&mut self, now: Time, worker: WorkerId, request: RequestId, actions: &mut Vec<Action>) {
        let Some(w) = self.workers.get_mut(&worker) else { return };
        let held = w.held.iter_mut().find(|held| held.request == request && held.handed.is_some());
        if let Some(held) = held {
            (held.handed, held.dispatched) = (None, now);
            actions.push(Action::Begins { request, worker });
        }
    }

    /// Asks all workers to return requests that have not begun, because a costlier request of this priority is about to
    /// get a worker.
    pub(crate) fn ask_back_for(&mut self, priority: i8, actions: &mut Vec<Action>) {
        self.ask_back(|w| w.handed().any(|held| held.need.priority >= priority), actions);
    }

    /// Asks workers that serve no more for their handed requests and, if another worker is free, also those that have
    /// not begun them in time.
    pub(crate) fn ask_back_late(&mut self, now: Time, is_free: bool, actions: &mut Vec<Action>) {
        self.ask_back(|w| !w.takes_requests() || is_free && w.handed_late() <= now, actions);
    }

    /// Asks each matching worker once.
    fn ask_back(&mut self, which: impl Fn(&Worker) -> bool, actions: &mut Vec<Action>) {
        for worker in &self.handing {
            let Some(w) = self.workers.get_mut(worker) else { continue };
            if !w.is_asked_back && w.handed().next().is_some() && which(w) {
                w.is_asked_back = true;
                actions.push(Action::TakeBack { worker: *worker });
            }
        }
    }

    pub(crate) fn is_asked_back(&self) -> bool {
        self.handing_workers().any(|w| w.is_asked_back)
    }

    pub(crate) fn has_handed(&self) -> bool {
        !self.handing.is_empty()
    }

    fn handing_workers(&self) -> impl Iterator<Item = &Worker> {
        self.handing.iter().filter_map(|worker| self.workers.get(worker))
    }

    pub(crate) fn handed(&self) -> usize {
        self.handing_workers().map(|w| w.handed().count()).sum()
    }

    /// Time at which the first handed request that is not asked for yet should have another worker.
    pub(crate) fn first_late(&self) -> Option<Time> {
        let late = self.handing_workers().filter(|w| !w.is_asked_back).map(Worker::handed_late).min();
        late.filter(|late| *late < Time(u64::MAX))
    }

    pub(crate) fn is_short(&self, worker: WorkerId) -> bool {
        self.workers.get(&worker).is_some_and(|w| w.lane == Lane::Short)
    }
}
