//! What is due about places: who may be recycled when, what has to be said, and that nothing was left undone.

use sluice_scheduler::{RecycleReason, Scheduler, Time, WorkerId, WorkerState};

use super::Due;
use crate::model::promise;
use crate::workers::{Post, Worker, Workers};

impl Workers {
    pub fn recycle(&mut self, now: Time, worker: WorkerId, reason: RecycleReason) -> Result<(), String> {
        if reason == RecycleReason::Overdue {
            return self.stand_in_for(now, worker);
        }
        promise!(self.places.reload.is_none(), "{worker:?} is recycled during a reload");
        promise!(!self.is_replacing(), "{worker:?} is recycled while another is, or leaves");
        promise!(self.places.not_before <= now, "{worker:?} is recycled during the back-off");
        let Some(w) = self.live.get(&worker) else { return Err(format!("{worker:?} is gone and was recycled")) };
        promise!(w.serves() && w.post == Post::Holder, "{worker:?} is recycled and not healthy: {w:?}");
        let requests_max = self.limits.recycle_requests_max;
        let enough = match reason {
            RecycleReason::Memory => w.overweight.is_some_and(|(early, _)| early <= now),
            RecycleReason::Overdue => w.overdue || w.lowered,
            // Nobody deletes sockets on these days; see `rules/recycle.rs`.
            RecycleReason::Socket => false,
            RecycleReason::Requests => requests_max > 0 && w.finished * 10 >= requests_max * 9,
        };
        promise!(enough, "{worker:?} has not had enough ({reason:?}): {w:?}");
        let older = self.recyclings().find(|(w2, (_, must))| *must <= now && w2.started < w.started);
        promise!(older.is_none(), "{worker:?} is recycled before {older:?}");
        self.places.recycling = Some(worker);
        Ok(())
    }

    /// Replaced at once, unless young ones were too large in this place before: then after a back-off.
    pub fn grow_heavy(&mut self, now: Time, worker: WorkerId) {
        let Some(w) = self.live.get_mut(&worker).filter(|w| w.overweight.is_none()) else { return };
        let is_young = w.listened.is_some_and(|at| now.since_us(at) < self.limits.healthy_after_ms * 1000);
        let place = &mut self.places.places[w.instance as usize];
        place.bloated = if is_young { place.bloated + 1 } else { 0 };
        let (min, max) = (self.limits.backoff_ms_min, self.limits.backoff_ms_max);
        let least_ms = match place.bloated {
            0 | 1 => return w.overweight = Some((now, now)),
            in_a_row => min.saturating_mul(1 << (in_a_row - 2).min(20)).min(max) * 3 / 4,
        };
        w.overweight = Some((now.plus_ms(least_ms), now.plus_ms(max)));
    }

    /// A worker that is not needed any more is still there, or another is on its way.
    fn is_replacing(&self) -> bool {
        let leaves = |w: &Worker| w.dismissed && matches!(w.state(), WorkerState::Leaving | WorkerState::Stopping);
        !self.successors().is_empty() || self.live.values().any(leaves)
    }

    /// Workers that may be recycled, each with the earliest and the latest time.
    fn recyclings(&self) -> impl Iterator<Item = (&Worker, (Time, Time))> {
        let never = Time(u64::MAX);
        let requests_max = self.limits.recycle_requests_max;
        self.live.values().filter(|w| w.serves() && w.post == Post::Holder).filter_map(move |w| {
            let has_finished = |percent| requests_max > 0 && w.finished * 100 >= requests_max * percent;
            let (large_early, large_late) = w.overweight.unwrap_or((never, never));
            let early = if has_finished(90) { Time(0) } else { large_early };
            let late = if has_finished(100) { Time(0) } else { large_late };
            (early < never).then_some((w, (early, late)))
        })
    }

    /// When something about workers or places is due. The second is the time from which the third may be brought
    /// forward to, because how much earlier a worker has had enough is its own.
    pub fn next_deadline(&self, now: Time) -> (Option<Time>, Option<Time>) {
        let workers = self.live.values().filter_map(|w| w.deadline(&self.limits));
        if self.places.is_closed() {
            return (workers.min(), None);
        }
        let mut due: Vec<Time> = workers.collect();
        let places = self.places.all_wanted();
        due.extend(places.iter().filter(|at| self.is_vacant(**at)).filter_map(|at| {
            let not_before = self.places.places[*at as usize].not_before;
            // Whatever is due already waits for a boot.
            if not_before > now { Some(not_before) } else { self.boot_patience_ends(now) }
        }));
        if places.into_iter().any(|at| self.is_trial_open() && self.may_start_successor(at)) {
            due.push(self.waits_until().unwrap_or(self.places.not_before));
        }
        due.extend(self.stand_in_due());
        let mut early = None;
        if self.places.reload.is_none() && !self.is_replacing() {
            let not_before = self.places.not_before;
            early = self.recyclings().map(|(_, (early, _))| early.max(not_before)).min();
            let late = self.recyclings().map(|(_, (_, late))| late.max(not_before)).min();
            due.extend(late.filter(|late| *late < Time(u64::MAX)));
        }
        (due.into_iter().min(), early)
    }

    /// After the step in which it was chosen, the first batch gets no more.
    pub(super) fn is_trial_open(&self) -> bool {
        !self.is_trial() || self.successors().is_empty()
    }

    pub fn check_places(&self, now: Time, scheduler: &Scheduler) -> Result<(), String> {
        let places = &self.places;
        promise!(places.due.is_empty(), "left unsaid: {:?}", places.due);
        promise!(places.recycling.is_none(), "{:?} is recycled and has no successor", places.recycling);
        promise!(scheduler.generation() == self.generation(), "generation {}", scheduler.generation());
        if !places.is_closed() {
            let unfilled = places.all_wanted().into_iter().find(|at| self.is_unfilled(*at, now));
            promise!(unfilled.is_none() || self.boots(now) > 0, "place {unfilled:?} was not filled");
            let may = places.not_before <= now && self.is_trial_open() && self.waits_until().is_none();
            let unreplaced = places.all_wanted().into_iter().find(|at| may && self.may_start_successor(*at));
            promise!(unreplaced.is_none(), "place {unreplaced:?} got no successor");
            self.check_stand_ins(now)?;
            if places.reload.is_none() && !self.is_replacing() && places.not_before <= now {
                let overdue = self.recyclings().find(|(_, (_, late))| *late <= now);
                promise!(overdue.is_none(), "not recycled: {overdue:?}");
            }
        }
        let told = scheduler.reload_progress().map(|told| (told.generation, told.wanted, told.taken_over));
        let reload = places.reload.as_ref();
        let known = reload.map(|reload| (reload.generation, self.wanted(), self.taken(reload.generation)));
        let waits = scheduler.reload_progress().is_some_and(|told| told.is_held_back);
        promise!(waits == self.waits_until().is_some(), "the reload waits for the queue: {waits}");
        promise!(told == known, "progress is {told:?}, not {known:?}");
        Ok(())
    }

    /// Ticks off what had to be said.
    pub fn say(&mut self, said: Due) -> Result<(), String> {
        let Some(at) = self.places.due.iter().position(|due| *due == said) else {
            return Err(format!("{said:?} was said, due was {:?}", self.places.due));
        };
        self.places.due.swap_remove(at);
        if let Due::Abandoned { .. } = said {
            let spared = self.live.iter().find(|(_, w)| w.condemned && !w.killed);
            promise!(spared.is_none(), "{spared:?} lives when its generation is given up");
        }
        self.places.gave_up |= said == Due::GiveUp;
        Ok(())
    }

    pub fn back_off(&mut self, now: Time, worker: WorkerId, instance: u32, delay_ms: u64) -> Result<(), String> {
        let due = self.places.due.iter().find(|due| matches!(due, Due::BackOff { worker: of, .. } if *of == worker));
        let Some(Due::BackOff { post, failures, .. }) = due.copied() else {
            return Err(format!("back-off of {instance} after {worker:?}, but due was {:?}", self.places.due));
        };
        self.say(Due::BackOff { worker, post, failures })?;
        let (min, max) = (self.limits.backoff_ms_min, self.limits.backoff_ms_max);
        promise!((min..=max).contains(&delay_ms), "I6: a back-off of {delay_ms} ms");
        let least_ms = min.saturating_mul(1 << (failures - 1).min(20)).min(max) * 3 / 4;
        promise!(delay_ms >= least_ms, "failure {failures} waits {delay_ms} ms");
        let not_before = now.plus_ms(delay_ms);
        if post == Post::Successor {
            // A failure that ended the reload says nothing about what comes after it.
            if self.places.failures > 0 {
                self.places.not_before = not_before;
            }
            return Ok(());
        }
        let place = &mut self.places.places[instance as usize];
        let grows = delay_ms > place.delay_ms || delay_ms >= max * 3 / 4;
        promise!(grows, "back-off does not grow: {} ms, then {delay_ms} ms", place.delay_ms);
        place.delay_ms = delay_ms;
        place.not_before = not_before;
        Ok(())
    }
}
