//! The model of reloads: the generation that is tried, what ends the trial, and how many successors there may be.

use sluice_scheduler::{AbandonReason, Time, WorkerId, WorkerState};

use super::{Due, PoolSlot};
use crate::workers::{Post, Worker, Workers};

#[derive(Debug)]
pub(super) struct Reload {
    pub(super) generation: u64,
    pub(super) on_trial: bool,
    pub(super) failures: u32,
    /// The first batch is chosen in one step.
    pub(super) batch: Option<Time>,
    /// How long it may still wait for the queue, and since when it does.
    pub(super) may_wait_us: u64,
    pub(super) waits_since: Option<Time>,
}

impl Workers {
    pub(super) fn is_trial(&self) -> bool {
        self.places.reload.as_ref().is_some_and(|reload| reload.on_trial)
    }

    /// Of a generation that has taken no place over yet.
    pub fn on_trial(&self, worker: WorkerId) -> bool {
        self.is_trial() && self.live.get(&worker).is_some_and(|w| w.post == Post::Successor)
    }

    pub fn ask_reload(&mut self, now: Time, generation: u64) {
        if self.places.is_closed() {
            self.places.due.push(Due::Abandoned { generation, reason: AbandonReason::Stopping });
            return;
        }
        let asked = self.limits.queue_wait_ms_max.min(10_000) * 1000;
        let may_wait_us = self.places.reload.as_ref().map_or(asked, |reload| {
            reload.may_wait_us.saturating_sub(reload.waits_since.map_or(0, |since| now.since_us(since)))
        });
        self.abandon(AbandonReason::Superseded);
        for w in self.live.values_mut().filter(|w| w.post == Post::Successor) {
            w.post = Post::None;
            w.dismiss();
        }
        self.places.forget_failures();
        self.places.reload =
            Some(Reload { generation, on_trial: true, failures: 0, batch: None, may_wait_us, waits_since: None });
    }

    pub(super) fn abandon(&mut self, reason: AbandonReason) {
        let Some(reload) = self.places.reload.take() else { return };
        for w in self.live.values_mut().filter(|w| w.post == Post::Successor) {
            w.post = Post::None;
            w.condemned = w.stays() || w.state() == WorkerState::Leaving;
        }
        self.places.forget_failures();
        self.places.due.push(Due::Abandoned { generation: reload.generation, reason });
    }

    /// A worker will not come up; if it was a successor, its place has none any more.
    pub fn fail(&mut self, worker: WorkerId, reason: AbandonReason) {
        if self.live.get(&worker).is_none_or(|w| w.post != Post::Successor) {
            return;
        }
        if let Some(reload) = &mut self.places.reload {
            reload.failures += 1;
            if reload.on_trial || reload.failures == 3 {
                if !reload.on_trial {
                    self.places.reached.push("abandoned after it took over");
                }
                return self.abandon(reason);
            }
        }
        self.places.reached.push("successor failed");
        if let Some(w) = self.live.get_mut(&worker) {
            w.post = Post::None;
        }
        self.places.failures += 1;
        let failures = self.places.failures;
        self.places.due.push(Due::BackOff { worker, post: Post::Successor, failures });
    }

    /// Whether the reload lets the queue go first, as things are after a step: it could go on, every place is served, and
    /// more than a tenth of those who may wait do or one has for more than a twentieth of the time.
    pub fn wait_for_queue(&mut self, now: Time, waiting: usize, oldest: Option<Time>) {
        let is_long = waiting > self.limits.queue_length_max / 10;
        let is_late = oldest.is_some_and(|at| now.since_us(at) > self.limits.queue_wait_ms_max * 1000 / 20);
        let places = self.places.all_wanted();
        let serves = |at: &u32| self.find(*at, Post::Holder).is_some_and(|id| self.live[&id].takes_requests());
        let could = places.iter().any(|at| self.may_start_successor(*at))
            && self.is_trial_open()
            && self.places.not_before <= now
            && !self.places.is_closed();
        let waits = (is_long || is_late) && could && places.iter().all(serves);
        let Some(reload) = &mut self.places.reload else { return };
        if let Some(since) = reload.waits_since.take() {
            reload.may_wait_us = reload.may_wait_us.saturating_sub(now.since_us(since));
        }
        if waits && reload.may_wait_us > 0 {
            reload.waits_since = Some(now);
            self.places.reached.push("a reload waited for the queue");
        }
    }

    /// Until when the reload waits for the queue.
    pub(super) fn waits_until(&self) -> Option<Time> {
        let reload = self.places.reload.as_ref()?;
        reload.waits_since.map(|since| Time(since.0 + reload.may_wait_us))
    }

    /// Places where the generation takes requests.
    pub(super) fn taken(&self, generation: u64) -> u32 {
        let is_taken = |w: &&Worker| w.post == Post::Holder && w.serves() && w.generation == generation;
        u32::try_from(self.live.values().filter(is_taken).count()).expect("few")
    }

    /// A generation that works is tried where the one before failed, at once.
    pub(super) fn retry_empty_places(&mut self, now: Time) {
        for instance in 0..self.places.places.len() {
            if self.find(u32::try_from(instance).expect("few"), Post::Holder).is_none() {
                let PoolSlot { lane, rank, bloated, .. } = self.places.places[instance];
                self.places.places[instance] = PoolSlot { lane, rank, bloated, not_before: now, ..PoolSlot::default() };
            }
        }
    }

    pub(super) fn at_once(&self) -> u32 {
        match self.limits.reload_at_once {
            _ if self.places.reload.is_none() => 1,
            0 => (self.places.wanted / 4).max(1),
            at_once => at_once,
        }
    }

    /// Whether the reload may and must start a successor here now, back-off aside.
    pub(super) fn may_start_successor(&self, instance: u32) -> bool {
        let Some(reload) = &self.places.reload else { return false };
        let running = self.successors();
        let is_batch_closed = || running.iter().any(|id| reload.batch != Some(self.live[id].started));
        if running.len() >= self.at_once() as usize || reload.on_trial && !running.is_empty() && is_batch_closed() {
            return false;
        }
        let holder = self.find(instance, Post::Holder).map(|id| &self.live[&id]);
        self.find(instance, Post::Successor).is_none()
            && holder.map_or(reload.on_trial, |w| {
                w.generation != reload.generation && !matches!(w.state(), WorkerState::Stuck | WorkerState::Killed)
            })
    }
}
