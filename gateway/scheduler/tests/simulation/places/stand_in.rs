//! The model of stand-ins: who may be lowered, who gets a successor for standing still, and when the next one may be started.

use sluice_scheduler::{Lane, Limits, Time, WorkerId, WorkerState};

use super::{Due, Places};
use crate::model::promise;
use crate::workers::{Post, Worker, Workers};

#[derive(Debug, Default)]
pub struct Needless {
    count: u32,
    not_before: Time,
}

impl Needless {
    fn add(&mut self, now: Time, limits: &Limits) {
        let is_long_ago = now.0 >= self.not_before.0 + limits.needless_wait_ms_max * 1000;
        self.count = if is_long_ago { 1 } else { self.count + 1 };
        let wait_ms = (1..self.count).fold(limits.needless_wait_ms_min, |wait_ms, _| wait_ms.saturating_mul(2));
        self.not_before = now.plus_ms(wait_ms.min(limits.needless_wait_ms_max));
    }
}

impl Places {
    pub fn forget_needless(&mut self) {
        self.reached.push("stand-in was needed");
        self.needless = Needless::default();
    }
}

impl Workers {
    /// The worker's event loop turns again.
    pub fn turn_again(&mut self, now: Time, worker: WorkerId) {
        let Some(w) = self.live.get_mut(&worker).filter(|w| w.overdue) else { return };
        w.overdue = false;
        if !matches!(w.state(), WorkerState::Ready | WorkerState::Leaving) {
            return;
        }
        if w.has_stand_in {
            self.places.reached.push("stand-in was needless");
            self.places.needless.add(now, &self.limits);
        }
        if !w.lowered || !self.limits.may_raise {
            return;
        }
        (w.lowered, w.has_stand_in) = (false, false);
        let (instance, holds) = (w.instance, w.post == Post::Holder);
        self.places.due.push(Due::Raise(worker));
        let successor = self.find(instance, Post::Successor).filter(|_| holds);
        if let Some(w) = successor.and_then(|id| self.live.get_mut(&id)).filter(|w| w.is_stand_in) {
            w.dismiss();
            w.post = Post::None;
        }
    }

    pub fn lower(&mut self, worker: WorkerId) -> Result<(), String> {
        let Some(w) = self.live.get_mut(&worker) else { return Err(format!("{worker:?} is gone and was lowered")) };
        promise!(w.overdue && !w.lowered, "{worker:?} was lowered without need: {w:?}");
        w.lowered = true;
        self.places.lowered.push(worker);
        Ok(())
    }

    pub fn stand_in_for(&mut self, now: Time, worker: WorkerId) -> Result<(), String> {
        // Whoever is lowered just now was not before this step.
        let is_new = self.places.lowered.contains(&worker);
        let due = self.live.get(&worker).and_then(|w| self.time_for(worker, &Worker { lowered: !is_new, ..w.clone() }));
        promise!(due.is_some_and(|due| due <= now), "{worker:?} gets a stand-in, due {due:?}");
        let others = self.live.iter().filter(|(id, w)| w.has_stand_in && **id != worker).count();
        promise!(others == 0, "I6: {others} other workers have a stand-in");
        if let Some(w) = self.live.get_mut(&worker) {
            w.has_stand_in = true;
        }
        self.places.recycling = Some(worker);
        self.places.is_standing_in = true;
        Ok(())
    }

    fn time_for(&self, worker: WorkerId, w: &Worker) -> Option<Time> {
        let is_candidate = w.post == Post::Holder
            && w.lane == Lane::Short
            && self.places.is_wanted(w.instance)
            && w.serves()
            && (w.overdue || w.lowered)
            && w.generation == self.generation()
            && !self.is_trial()
            && self.find(w.instance, Post::Successor).is_none()
            && !self.live.iter().any(|(id, other)| other.has_stand_in && *id != worker);
        let not_before = if w.lowered { Time(0) } else { self.places.needless.not_before };
        is_candidate.then_some(not_before.max(self.places.not_before))
    }

    pub fn stand_in_due(&self) -> Option<Time> {
        self.live.iter().filter_map(|(id, w)| self.time_for(*id, w)).min()
    }

    /// Nobody waits longer than he has to, and nobody is lowered who will not be replaced.
    pub fn check_stand_ins(&self, now: Time) -> Result<(), String> {
        let due = self.stand_in_due();
        promise!(due.is_none_or(|due| due > now), "a stand-in is due since {due:?}");
        for (id, w) in &self.live {
            let is_replaced = self.find(w.instance, Post::Successor).is_some_and(|other| other != *id);
            let has_reason = w.state() == WorkerState::Leaving || w.serves() && w.post == Post::Holder && is_replaced;
            promise!(!(w.overdue && !w.lowered && has_reason), "{id:?} was not lowered: {w:?}");
            let is_new = self.places.lowered.contains(id);
            promise!(!is_new || has_reason || !w.stays(), "{id:?} was lowered and stays: {w:?}");
        }
        Ok(())
    }
}
