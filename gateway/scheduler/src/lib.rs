//! The queue, the choice of worker and the worker's life cycle, as one pure machine.
//!
//! Events and a clock go in, actions come out (I9). Nothing in here knows of sockets, processes, tasks or the time of
//! day, so one seed replays a simulated day, and a decision taken in production can be taken again in a test.
//!
//! Reading order: [`Event`] and [`Action`] are the whole interface, [`Scheduler::step`] is the only door.

mod choice;
mod interface;
mod pool;
mod predict;
mod queue;

pub use choice::Choice;
pub use interface::{
    AbandonReason, Action, Event, KillReason, Limits, RecycleReason, Recycling, Refusal, RequestId, Time, WorkerId,
};
pub use pool::{ReloadProgress, WorkerState, WorkerView};

use pool::Pool;
use predict::ServiceMean;
use queue::Queue;

/// The machine. See the module's text.
#[derive(Debug)]
pub struct Scheduler {
    limits: Limits,
    queue: Queue,
    pool: Pool,
    service: ServiceMean,
    stopping: bool,
}

impl Scheduler {
    /// An empty machine; the first [`Event::Scaled`] starts the workers.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Scheduler {
            limits,
            queue: Queue::default(),
            pool: Pool::new(),
            service: ServiceMean::default(),
            stopping: false,
        }
    }

    /// Takes one event and appends what is to be done to `actions`. `now` must not run backwards.
    pub fn step(&mut self, now: Time, event: Event, actions: &mut Vec<Action>) {
        let limits = &self.limits;
        match event {
            Event::Arrived { request } => self.arrive(now, request, actions),
            Event::Left { request } => {
                self.queue.remove(request);
            }
            Event::Finished { worker, request } => {
                if let Some(service_us) = self.pool.release(now, worker, request, limits) {
                    self.service.record(service_us);
                }
            }
            Event::Detached { worker, request } => self.pool.detach(now, worker, request, limits, actions),
            Event::StreamEnded { worker } => self.pool.end_stream(worker),
            Event::WarmingWith { worker, request } => self.pool.warm_with(now, worker, request, limits.concurrency),
            Event::Tick => {}
            _ => {
                self.pool.unsettle();
                self.take_rarer(now, event, actions);
            }
        }
        self.expire(now, actions);
        self.pool.settle(now, &self.limits, !self.queue.is_empty(), actions);
        self.dispatch(now, actions);
    }

    /// The events after which every worker is looked at.
    fn take_rarer(&mut self, now: Time, event: Event, actions: &mut Vec<Action>) {
        let limits = &self.limits;
        match event {
            Event::Undelivered { worker, request } => {
                let arrived = self.pool.take_back(worker, request);
                self.put_back(now, request, arrived, actions);
            }
            Event::Occupied { worker, request, by } => {
                let arrived = self.pool.occupied(worker, request, by);
                self.put_back(now, request, arrived, actions);
            }
            Event::Retried { request, arrived } => self.put_back(now, request, Some(arrived), actions),
            Event::Listening { worker } => self.pool.listening(now, worker, limits),
            Event::Warmed { worker } => self.pool.warmed(now, worker, false, limits, actions),
            Event::WarmUpFailed { worker } => self.pool.warmed(now, worker, true, limits, actions),
            Event::ReloadAsked { generation } => self.pool.reload_asked(now, generation, actions),
            Event::Overweight { worker } => self.pool.overweight(now, worker, limits, actions),
            Event::Stuck { worker } => self.pool.stuck(now, worker, limits, actions),
            Event::Examined { worker } => self.pool.examined(now, worker, actions),
            Event::Closing { worker } => self.pool.closing(now, worker, limits, actions),
            Event::Faulted { worker } => self.pool.faulted(now, worker, limits, actions),
            Event::Exited { worker } => self.pool.exited(now, worker, limits, actions),
            Event::Scaled { workers } => self.pool.scale(workers),
            Event::Stopping => self.stop(now, actions),
            Event::Arrived { .. }
            | Event::Left { .. }
            | Event::Finished { .. }
            | Event::Detached { .. }
            | Event::StreamEnded { .. }
            | Event::WarmingWith { .. }
            | Event::Tick => {}
        }
    }

    /// Other limits, from a reload of the config. What is due by them is due at the next step.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
        self.pool.note_settled(&self.limits);
    }

    /// When [`Event::Tick`] is due at the latest, if nothing else happens before.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        let queue = self.queue.oldest().map(|arrived| arrived.plus_ms(self.limits.queue_wait_ms_max));
        let pool = self.pool.next_deadline();
        [queue, pool].into_iter().flatten().min()
    }

    fn arrive(&mut self, now: Time, request: RequestId, actions: &mut Vec<Action>) {
        if self.stopping {
            actions.push(Action::Refuse { request, reason: Refusal::Stopping, retry_after_s: 1 });
            return;
        }
        if self.pool.ready_count() == 0 {
            // One that is being warmed may have to serve.
            self.pool.unsettle();
        }
        if self.queue.is_empty() && self.has_free_slot() {
            // The common case: a free worker and nobody in front; `dispatch` gives it away in this very step.
            self.queue.push(request, now);
            return;
        }
        let wait_ms = self.predicted_wait_ms();
        let reason = if self.queue.len() >= self.limits.queue_length_max {
            Refusal::Full
        } else if wait_ms.is_some_and(|wait| wait > self.limits.queue_wait_ms_max) {
            Refusal::Predicted
        } else {
            self.queue.push(request, now);
            return;
        };
        actions.push(Action::Refuse { request, reason, retry_after_s: self.retry_after_s(wait_ms) });
    }

    /// A request that no app has seen, or that may be tried again, waits where it stood.
    fn put_back(&mut self, now: Time, request: RequestId, arrived: Option<Time>, actions: &mut Vec<Action>) {
        let Some(arrived) = arrived else { return };
        self.queue.put_back(request, arrived);
        // Before its time is looked at: of that it may have spent much with the worker, not in the queue.
        self.dispatch(now, actions);
        if self.stopping {
            self.refuse_all(actions);
        }
    }

    fn expire(&mut self, now: Time, actions: &mut Vec<Action>) {
        while let Some(arrived) = self.queue.oldest() {
            if arrived.plus_ms(self.limits.queue_wait_ms_max) > now {
                break;
            }
            let Some((request, _)) = self.queue.pop() else { break };
            let retry_after_s = self.retry_after_s(self.predicted_wait_ms());
            actions.push(Action::Refuse { request, reason: Refusal::Deadline, retry_after_s });
        }
    }

    fn dispatch(&mut self, now: Time, actions: &mut Vec<Action>) {
        while !self.queue.is_empty() {
            let Some(worker) = self.pool.choose(self.limits.choice, self.limits.concurrency) else { break };
            let Some((request, arrived)) = self.queue.pop() else { break };
            self.pool.assign(now, worker, request, arrived, self.limits.concurrency);
            actions.push(Action::Dispatch { request, worker });
        }
    }

    fn stop(&mut self, now: Time, actions: &mut Vec<Action>) {
        self.stopping = true;
        self.refuse_all(actions);
        self.pool.stop_all(now, actions);
    }

    /// No worker will come any more, so nothing is left to wait for.
    fn refuse_all(&mut self, actions: &mut Vec<Action>) {
        while let Some((request, _)) = self.queue.pop() {
            actions.push(Action::Refuse { request, reason: Refusal::Stopping, retry_after_s: 1 });
        }
    }

    /// Half the predicted wait is a fair time to try again: by then half the queue has gone. 1 s at least, 60 s at most.
    fn retry_after_s(&self, wait_ms: Option<u64>) -> u32 {
        let wait_ms = wait_ms.unwrap_or(self.limits.queue_wait_ms_max);
        u32::try_from((wait_ms / 2000).clamp(1, 60)).unwrap_or(60)
    }

    /// What a request that arrives now would wait, in milliseconds: the work in front of it, shared by all slots.
    /// `None` while that cannot be known: no worker is ready, or none has finished a request yet.
    #[must_use]
    pub fn predicted_wait_ms(&self) -> Option<u64> {
        let slots = u64::from(self.pool.ready_count()) * u64::from(self.limits.concurrency.max(1));
        if slots == 0 {
            return None;
        }
        if self.queue.is_empty() && self.has_free_slot() {
            return Some(0);
        }
        let ahead = self.queue.len() as u64 + 1;
        self.service.mean_us().map(|mean_us| ahead * mean_us / slots / 1000)
    }

    /// Whether a request that arrived now would go to a worker at once.
    #[must_use]
    pub fn has_free_slot(&self) -> bool {
        self.pool.has_free_slot(self.limits.choice, self.limits.concurrency)
    }

    /// Requests that wait.
    #[must_use]
    pub fn queue_length(&self) -> usize {
        self.queue.len()
    }

    /// When the request that waits longest arrived.
    #[must_use]
    pub fn oldest_arrival(&self) -> Option<Time> {
        self.queue.oldest()
    }

    /// Every worker that has not exited.
    pub fn workers(&self) -> impl Iterator<Item = WorkerView> + '_ {
        self.pool.views()
    }

    /// The state of one worker.
    #[must_use]
    pub fn worker_state(&self, worker: WorkerId) -> Option<WorkerState> {
        self.pool.state(worker)
    }

    /// Whether [`Event::WarmingWith`] may be said of this worker now: it is to be warmed and has a free slot.
    #[must_use]
    pub fn is_warming(&self, worker: WorkerId) -> bool {
        self.pool.is_warming(worker, self.limits.concurrency)
    }

    /// The version of the app that new workers run: the one that took a place over last.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.pool.generation()
    }

    /// How far the reload under way is.
    #[must_use]
    pub fn reload_progress(&self) -> Option<ReloadProgress> {
        self.pool.reload_progress()
    }

    /// Requests in workers' slots.
    #[must_use]
    pub fn in_service(&self) -> usize {
        self.pool.in_service()
    }

    /// Workers that may take requests.
    #[must_use]
    pub fn ready_count(&self) -> u32 {
        self.pool.ready_count()
    }

    /// Whether every worker has gone after [`Event::Stopping`].
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopping && self.pool.is_empty()
    }

    /// Times a worker was found to hold more than its share; always 0 unless the caller reports events that never were.
    #[must_use]
    pub fn overlaps_total(&self) -> u64 {
        self.pool.overlaps_total()
    }
}
