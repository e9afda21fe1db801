//! What goes into the scheduler and what comes out: events, actions, limits, numbers and time.

use crate::choice::Choice;

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
    /// The worker cannot go on (it keeps a slot that nothing will free, cannot be reached, or is dying): replace it.
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
