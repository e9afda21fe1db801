//! The model's part that follows the places: who holds them, who is to take them over, and what a failure has to bring.

mod boots;
mod dues;
mod reload;
mod stand_in;

use reload::Reload;
use sluice_scheduler::{AbandonReason, Lane, RequestId, Time, WorkerId};

use crate::model::promise;
use crate::workers::{Post, Worker, Workers};

/// What the scheduler has to say in this step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Of a place's worker or of a successor, with its failures so far.
    BackOff {
        worker: WorkerId,
        post: Post,
        failures: u32,
    },
    GiveUp,
    Examine(WorkerId),
    Raise(WorkerId),
    Abandoned {
        generation: u64,
        reason: AbandonReason,
    },
    Reloaded(u64),
}

#[derive(Debug, Default)]
pub struct PoolSlot {
    lane: Lane,
    /// Its place among those of its lane.
    rank: u32,
    failures: u32,
    delay_ms: u64,
    not_before: Time,
    /// What the back-off is for.
    failed: Option<u64>,
    /// Workers in a row that were too large while they were young.
    bloated: u32,
}

#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // What was said of them, as it was said.
pub struct Places {
    /// Workers that the short and the long lane are to have.
    pub wanted: u32,
    pub long_wanted: u32,
    pub stopping: bool,
    gave_up: bool,
    /// Of all workers that have listened.
    longest_boot_us: Option<u64>,
    last_started: u64,
    /// In force, from 0 for the first.
    generations: u64,
    reload: Option<Reload>,
    /// Of successors.
    failures: u32,
    not_before: Time,
    recycling: Option<WorkerId>,
    /// And whether that is because it is overdue.
    is_standing_in: bool,
    needless: stand_in::Needless,
    /// Lowered in this step.
    pub lowered: Vec<WorkerId>,
    places: Vec<PoolSlot>,
    pub due: Vec<Due>,
    /// What this step came to that no action names, to see that the days reach it.
    pub reached: Vec<&'static str>,
}

impl Places {
    fn forget_failures(&mut self) {
        (self.failures, self.not_before) = (0, Time(0));
    }

    /// Places never change their lane, and new ones come after all others.
    fn add(&mut self, lane: Lane, wanted: u32) {
        let has = u32::try_from(self.places.iter().filter(|place| place.lane == lane).count()).expect("few");
        for rank in has..wanted {
            self.places.push(PoolSlot { lane, rank, ..PoolSlot::default() });
        }
    }

    pub fn is_wanted(&self, instance: u32) -> bool {
        self.places.get(instance as usize).is_some_and(|place| match place.lane {
            Lane::Short => place.rank < self.wanted,
            Lane::Long => place.rank < self.long_wanted,
        })
    }

    fn all_wanted(&self) -> Vec<u32> {
        (0..u32::try_from(self.places.len()).expect("few")).filter(|at| self.is_wanted(*at)).collect()
    }

    fn is_closed(&self) -> bool {
        self.stopping || self.gave_up
    }
}

impl Workers {
    fn find(&self, instance: u32, post: Post) -> Option<WorkerId> {
        self.live.iter().find(|(_, w)| w.instance == instance && w.post == post).map(|(id, _)| *id)
    }

    fn successors(&self) -> Vec<WorkerId> {
        self.live.iter().filter(|(_, w)| w.post == Post::Successor).map(|(id, _)| *id).collect()
    }

    pub fn generation(&self) -> u64 {
        self.places.generations + 1
    }

    pub fn scale(&mut self, wanted: u32) {
        self.places.wanted = wanted;
        self.places.add(Lane::Short, wanted);
        self.dismiss_surplus();
    }

    pub fn long_wanted(&self) -> u32 {
        self.places.long_wanted
    }

    /// How many workers the long lane has is the policy's to say; no more than two, and none is let go within a day unless
    /// the config leaves no room for lanes any more. Returns how many serve no longer for that.
    pub fn scale_long(&mut self, wanted: u32, may_be: bool, is_mixed: bool) -> Result<u32, String> {
        let (before, serving) = (self.places.long_wanted, self.ready());
        promise!(wanted <= 2, "the long lane is to have {wanted} workers");
        if wanted < before {
            promise!(!may_be && wanted == 0, "the long lane is to have {wanted} workers, and had {before}");
            promise!(self.ready_in(Lane::Short) > 0, "the long lane goes while nobody else serves");
            self.places.reached.push("the long lane is switched off");
        }
        promise!(wanted <= before || is_mixed, "a long lane without long requests");
        self.places.long_wanted = wanted;
        self.places.add(Lane::Long, wanted);
        self.dismiss_surplus();
        Ok(serving - self.ready())
    }

    fn dismiss_surplus(&mut self) {
        let places = &self.places;
        for w in self.live.values_mut().filter(|w| !places.is_wanted(w.instance) && w.post != Post::None) {
            w.dismiss();
            w.post = Post::None;
        }
    }

    pub fn begin_to_stop(&mut self) {
        self.places.stopping = true;
        if let Some(reload) = self.places.reload.take() {
            let reason = AbandonReason::Stopping;
            self.places.due.push(Due::Abandoned { generation: reload.generation, reason });
        }
        for w in self.live.values_mut() {
            w.post = Post::None;
        }
    }

    /// The worker is gone; returns what it held.
    pub fn exit(&mut self, now: Time, worker: WorkerId) -> Vec<RequestId> {
        if let Some(w) = self.live.get_mut(&worker) {
            // There is nothing left to kill.
            w.leaves = true;
        }
        self.fail(worker, AbandonReason::Exited { worker });
        let Some(dead) = self.live.remove(&worker) else { return Vec::new() };
        if dead.post == Post::Holder && self.places.is_wanted(dead.instance) {
            self.lose_holder(now, worker, &dead);
        }
        let handed = dead.handed.into_iter().map(|(held, _)| held.request);
        dead.held.into_iter().map(|held| held.request).chain(handed).collect()
    }

    /// The worker goes on without a place.
    pub fn give_place_up(&mut self, now: Time, worker: WorkerId) {
        if let Some(w) = self.live.get_mut(&worker).filter(|w| w.post == Post::Holder) {
            w.post = Post::None;
            let lost = w.clone();
            self.places.reached.push("place given up by one that closes");
            self.lose_holder(now, worker, &lost);
        }
    }

    fn lose_holder(&mut self, now: Time, worker: WorkerId, dead: &Worker) {
        let healthy_after_us = self.limits.healthy_after_ms * 1000;
        let is_healthy = dead.listened.is_some_and(|listened| now.since_us(listened) >= healthy_after_us);
        let place = &mut self.places.places[dead.instance as usize];
        place.not_before = now;
        let (had_failed, has_worked) = (place.failures > 0, dead.finished > 0);
        if is_healthy {
            (place.failures, place.delay_ms) = (0, 0);
        } else if !dead.dismissed {
            if has_worked {
                // As if the earlier ones had been long ago, but for the wait.
                (place.failures, place.delay_ms) = (0, 0);
            }
            place.failures += 1;
            place.failed = Some(dead.generation);
        }
        let is_first = !had_failed && dead.listened.is_some();
        let is_accident = is_healthy || dead.dismissed || is_first;
        let failures = place.failures;
        if !self.is_trial()
            && let Some(successor) = self.find(dead.instance, Post::Successor)
        {
            self.places.reached.push("successor promoted");
            self.live.get_mut(&successor).expect("was just found").post = Post::Holder;
            return;
        }
        if is_accident {
        } else if self.has_failed_to_start(dead.killed) {
            if !self.places.gave_up {
                self.places.due.push(Due::GiveUp);
            }
        } else {
            self.places.due.push(Due::BackOff { worker, post: Post::Holder, failures });
        }
        if let Some(reload) = &mut self.places.reload
            && (reload.generation == dead.generation && dead.serving.is_none() && !dead.dismissed)
        {
            reload.failures += 1;
            if reload.failures == 3 {
                let is_late = dead.killed && dead.listened.is_none();
                let late = AbandonReason::StartTimeout { worker };
                self.places.reached.push("abandoned by its place's own worker");
                self.abandon(if is_late { late } else { AbandonReason::Exited { worker } });
            }
        }
    }

    /// Whoever is warm takes requests, and the place if it is a successor, before anything that time alone brings about in
    /// the same step. Those of a generation on trial wait for each other.
    pub fn serve_if_warm(&mut self, now: Time, worker: WorkerId) {
        if !self.on_trial(worker) && self.live.get(&worker).is_some_and(|w| w.warms() && w.warm) {
            self.serve(now, worker);
        }
    }

    /// What follows without an action: who else takes requests from now on, and whose place it takes.
    pub fn turn(&mut self, now: Time, someone_waits: bool) {
        let is_next = |(id, w): (&WorkerId, &Worker)| w.warms().then_some((*id, w.warm));
        let warming: Vec<_> = self.live.iter().filter_map(is_next).collect();
        let (batch, rest): (Vec<_>, Vec<_>) = warming.into_iter().partition(|(id, _)| self.on_trial(*id));
        if someone_waits && self.ready_in(Lane::Short) == 0 {
            // One whose slot a warm-up request has can take nothing yet.
            let rushed: Vec<_> = rest.into_iter().filter(|(id, _)| self.is_free(&self.live[id])).collect();
            if !rushed.is_empty() {
                self.places.reached.push("served instead of warmed");
            }
            for (id, _) in rushed {
                self.serve(now, id);
            }
        }
        if self.is_trial() && batch.len() == self.successors().len() && batch.iter().all(|(_, warm)| *warm) {
            if batch.len() > 1 {
                self.places.reached.push("batch took over together");
            }
            for (id, _) in batch {
                self.serve(now, id);
            }
        }
        let Some(generation) = self.places.reload.as_ref().map(|reload| reload.generation) else { return };
        if self.taken(generation) == self.wanted() && !self.places.is_closed() {
            self.places.reload = None;
            self.places.generations = generation - 1;
            self.places.forget_failures();
            self.places.due.push(Due::Reloaded(generation));
        }
    }

    pub fn wanted(&self) -> u32 {
        u32::try_from(self.places.all_wanted().len()).expect("few")
    }

    fn serve(&mut self, now: Time, worker: WorkerId) {
        let Some(w) = self.live.get_mut(&worker).filter(|w| w.serving.is_none()) else { return };
        w.serving = Some(now);
        if w.post != Post::Successor {
            return;
        }
        let (instance, generation) = (w.instance, w.generation);
        let before = self.find(instance, Post::Holder);
        if let Some(w) = before.and_then(|before| self.live.get_mut(&before)) {
            w.post = Post::None;
            w.dismiss();
        }
        self.live.get_mut(&worker).expect("was just found").post = Post::Holder;
        let PoolSlot { lane, rank, bloated, .. } = self.places.places[instance as usize];
        self.places.places[instance as usize] = PoolSlot { lane, rank, bloated, ..PoolSlot::default() };
        self.places.generations = generation - 1;
        match &mut self.places.reload {
            Some(reload) => {
                if std::mem::take(&mut reload.on_trial) {
                    self.retry_empty_places(now);
                }
            }
            None => self.places.forget_failures(),
        }
    }

    pub fn start(
        &mut self,
        now: Time,
        worker: WorkerId,
        (instance, lane): (u32, Lane),
        generation: u64,
    ) -> Result<(), String> {
        promise!(worker.0 > self.places.last_started, "{worker:?} was used before");
        promise!(!self.places.is_closed(), "{worker:?} started while leaving");
        promise!(self.places.is_wanted(instance), "I6: {worker:?} is more than is wanted");
        let place = &self.places.places[instance as usize];
        promise!(place.lane == lane, "{worker:?} of the lane {lane:?} in a place of the other");
        let backs_off = place.failed == Some(generation) && place.not_before > now;
        let is_empty = self.find(instance, Post::Holder).is_none();
        promise!(!backs_off || !is_empty, "place {instance} started {generation} again during its back-off");
        let recycled = self.places.recycling.take();
        let post = if recycled.is_some_and(|of| self.live.get(&of).is_some_and(|w| w.instance == instance)) {
            promise!(generation == self.generation(), "recycled to {generation}");
            Post::Successor
        } else if generation == self.generation() && self.is_unfilled(instance, now) {
            self.may_boot(now)?;
            Post::Holder
        } else {
            promise!(
                self.may_start_successor(instance),
                "I6: place {instance} got {worker:?}: {:?}",
                self.places.reload
            );
            promise!(self.places.not_before <= now, "a successor started during the back-off");
            let is_first = self.successors().is_empty();
            let reload = self.places.reload.as_mut().expect("checked before");
            promise!(generation == reload.generation, "{worker:?} runs {generation} in {reload:?}");
            reload.batch = if is_first { Some(now) } else { reload.batch };
            Post::Successor
        };
        self.places.last_started = worker.0;
        let is_stand_in = std::mem::take(&mut self.places.is_standing_in);
        self.live.insert(worker, Worker { is_stand_in, ..Worker::new(instance, generation, lane, post, now) });
        let stand_ins = self.successors().iter().filter(|id| self.live[id].is_stand_in).count();
        let (allowed, count) = (self.at_once() as usize, self.successors().len() - stand_ins);
        promise!(stand_ins <= 1, "I6: {stand_ins} stand-ins");
        promise!(post == Post::Holder || is_stand_in || count <= allowed, "I6: {count} successors, allowed {allowed}");
        Ok(())
    }

    /// It has no worker, nor one on the way that may be relied on.
    fn is_vacant(&self, instance: u32) -> bool {
        let has_successor = !self.is_trial() && self.find(instance, Post::Successor).is_some();
        self.find(instance, Post::Holder).is_none() && !has_successor
    }

    fn is_unfilled(&self, instance: u32, now: Time) -> bool {
        self.is_vacant(instance) && self.places.places[instance as usize].not_before <= now
    }
}
