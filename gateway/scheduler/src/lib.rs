//! The queue, the choice of worker and the worker's life cycle, as one pure machine.
//!
//! Events and a clock go in, actions come out (I9). Nothing in here knows of sockets, processes, tasks or the time of
//! day, so one seed replays a simulated day, and a decision taken in production can be taken again in a test.
//!
//! Reading order: [`Event`] and [`Action`] are the whole interface, [`Scheduler::step`] is the only door.

mod choice;
mod pool;
mod predict;
mod queue;

pub use choice::Choice;
pub use pool::{WorkerState, WorkerView};

use pool::Pool;
use predict::ServiceMean;
use queue::Queue;

/// A point in time, in microseconds since a start that the caller chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub u64);

impl Time {
    /// This time plus `ms` milliseconds.
    #[must_use]
    pub fn plus_ms(self, ms: u64) -> Time {
        Time(self.0.saturating_add(ms.saturating_mul(1000)))
    }

    /// Microseconds from `earlier` to this time; 0 when `earlier` is later.
    #[must_use]
    pub fn since_us(self, earlier: Time) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// A request's number, given in order of arrival; the order of arrival is the order of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// A worker's number; never used again for another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerId(pub u64);

/// What the scheduler must know from the config. All times in milliseconds.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Requests that may wait at once.
    pub queue_length_max: usize,
    /// The longest a request may wait, both predicted on arrival and as it turns out.
    pub queue_wait_ms_max: u64,
    /// Requests a worker may hold at once; 1 is strict mode.
    pub concurrency: u32,
    /// Which of the free workers gets the next request.
    pub choice: Choice,
    /// How long a worker may take from its start until it listens.
    pub start_timeout_ms: u64,
    /// How long a worker that was asked to stop may take before it is killed.
    pub stop_timeout_ms: u64,
    /// The first delay before a worker that failed again is started again; doubles each time.
    pub backoff_ms_min: u64,
    /// The longest such delay.
    pub backoff_ms_max: u64,
    /// A worker that was ready for this long counts as healthy: its next death is not part of a crash loop.
    pub healthy_after_ms: u64,
    /// Upgraded connections and event streams that one worker may hold.
    pub streams_per_worker_max: u32,
}

/// What happened. The caller reports each once, in the order in which it learnt of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A whole request was received and asks for a worker.
    Arrived {
        /// A number above all that came before.
        request: RequestId,
    },
    /// The client of a queued request has gone. Of a request in a worker's slot this frees nothing (I1).
    Left {
        /// The request whose client went.
        request: RequestId,
    },
    /// The worker has finished its response, whole or cut short by itself: the slot is free.
    Finished {
        /// The worker that held it.
        worker: WorkerId,
        /// The request it held.
        request: RequestId,
    },
    /// The worker could not be given the request and has seen no byte of it: it goes back to its place in the queue.
    Undelivered {
        /// The worker that could not be reached.
        worker: WorkerId,
        /// The request that it never saw.
        request: RequestId,
    },
    /// The response turned out to be an upgrade or event stream: it leaves the slot at its headers.
    Detached {
        /// The worker that serves the stream.
        worker: WorkerId,
        /// The request that opened it.
        request: RequestId,
    },
    /// A detached stream has ended.
    StreamEnded {
        /// The worker that served it.
        worker: WorkerId,
    },
    /// The worker's server listens.
    Listening {
        /// The worker that is ready now.
        worker: WorkerId,
    },
    /// The app closes its server: it finishes what it holds and takes no more.
    Closing {
        /// The worker that leaves by itself.
        worker: WorkerId,
    },
    /// The worker cannot go on (it keeps a slot that nothing will free): replace it.
    Faulted {
        /// The worker to replace.
        worker: WorkerId,
    },
    /// The worker's process has exited, or could not be started at all.
    Exited {
        /// The worker that is no more.
        worker: WorkerId,
    },
    /// The pool is to hold so many workers.
    Scaled {
        /// The wanted number of workers.
        workers: u32,
    },
    /// The gateway leaves: every worker is to stop and none is started; what is queued is refused.
    Stopping,
    /// Nothing but time has passed.
    Tick,
}

/// What the caller has to do, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Give the request to the worker.
    Dispatch {
        /// The request to give.
        request: RequestId,
        /// The worker that gets it.
        worker: WorkerId,
    },
    /// Answer the request with an error now.
    Refuse {
        /// The request to answer.
        request: RequestId,
        /// Why.
        reason: Refusal,
        /// When a new try makes sense, in seconds from now.
        retry_after_s: u32,
    },
    /// The worker died while it held this request.
    Orphaned {
        /// The request it held.
        request: RequestId,
        /// The worker that died.
        worker: WorkerId,
    },
    /// Start a process.
    Start {
        /// Its number.
        worker: WorkerId,
        /// Its place in the pool, from 0; a place has one worker at a time.
        instance: u32,
    },
    /// Ask the worker to leave (`'shutdown'`, then SIGTERM). It holds no request, or the time for that is over.
    Stop {
        /// The worker to stop.
        worker: WorkerId,
    },
    /// Kill the worker and all its children.
    Kill {
        /// The worker to kill.
        worker: WorkerId,
        /// Why.
        reason: KillReason,
    },
    /// A worker failed and its place waits before it starts the next.
    BackOff {
        /// The worker that failed.
        worker: WorkerId,
        /// The place in the pool.
        instance: u32,
        /// For how long.
        delay_ms: u64,
    },
    /// No worker has ever listened and every place has failed: there is no point in going on.
    GiveUp,
    /// End this stream: its worker has too many.
    CloseStream {
        /// The request that opened the stream.
        request: RequestId,
        /// The worker that serves it.
        worker: WorkerId,
    },
}

/// Why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The queue has reached its length.
    Full,
    /// It would wait longer than allowed.
    Predicted,
    /// It has waited as long as allowed.
    Deadline,
    /// The gateway is leaving.
    Stopping,
}

/// Why a worker was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillReason {
    /// It did not listen in time.
    StartTimeout,
    /// It did not leave in time.
    StopTimeout,
}

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
            pool: Pool::default(),
            service: ServiceMean::default(),
            stopping: false,
        }
    }

    /// Takes one event and appends what is to be done to `actions`. `now` must not run backwards.
    pub fn step(&mut self, now: Time, event: Event, actions: &mut Vec<Action>) {
        match event {
            Event::Arrived { request } => self.arrive(now, request, actions),
            Event::Left { request } => {
                self.queue.remove(request);
            }
            Event::Finished { worker, request } => {
                if let Some(service_us) = self.pool.release(now, worker, request) {
                    self.service.record(service_us);
                }
            }
            Event::Undelivered { worker, request } => {
                if let Some(arrived) = self.pool.take_back(worker, request) {
                    self.queue.put_back(request, arrived);
                    if self.stopping {
                        self.refuse_all(actions);
                    }
                }
            }
            Event::Detached { worker, request } => self.pool.detach(now, worker, request, &self.limits, actions),
            Event::StreamEnded { worker } => self.pool.end_stream(worker),
            Event::Listening { worker } => self.pool.listening(now, worker),
            Event::Closing { worker } => self.pool.closing(now, worker),
            Event::Faulted { worker } => self.pool.faulted(now, worker),
            Event::Exited { worker } => self.pool.exited(now, worker, &self.limits, actions),
            Event::Scaled { workers } => self.pool.scale(workers),
            Event::Stopping => self.stop(now, actions),
            Event::Tick => {}
        }
        self.expire(now, actions);
        self.pool.advance(now, &self.limits, actions);
        self.dispatch(now, actions);
    }

    /// When [`Event::Tick`] is due at the latest, if nothing else happens before.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        let queue = self.queue.oldest().map(|arrived| arrived.plus_ms(self.limits.queue_wait_ms_max));
        let pool = self.pool.next_deadline(&self.limits);
        [queue, pool].into_iter().flatten().min()
    }

    fn arrive(&mut self, now: Time, request: RequestId, actions: &mut Vec<Action>) {
        if self.stopping {
            actions.push(Action::Refuse { request, reason: Refusal::Stopping, retry_after_s: 1 });
            return;
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
        self.pool.choose(self.limits.choice, self.limits.concurrency).is_some()
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
