//! Interface of the scheduler: events, actions, numbers and time.

use crate::costs::ClassId;
use crate::reasons::{AbandonReason, KillReason, RecycleReason, Refusal};

/// A point in time, in microseconds since a start that the caller chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub u64);

impl Time {
    /// Returns this time plus `ms` milliseconds.
    pub fn plus_ms(self, ms: u64) -> Time {
        Time(self.0.saturating_add(ms.saturating_mul(1000)))
    }

    /// Returns this time plus `us` microseconds.
    pub fn plus_us(self, us: u64) -> Time {
        Time(self.0.saturating_add(us))
    }

    /// Returns the microseconds from `earlier` to this time; 0 if `earlier` is later.
    pub fn since_us(self, earlier: Time) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// A request's number, in order of arrival, which is the order of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// A worker's number, never reused for another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerId(pub u64);

/// Requirements of a request for its worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Need {
    /// Class of the request, for its expected cost; 0 is "other".
    pub class: ClassId,
    /// Priority; higher goes first, 0 by default.
    pub priority: i8,
    /// Deadline of the answer in milliseconds after arrival, if the route has one.
    pub deadline_ms: Option<u32>,
    /// Whether the request needs an empty worker, which gets no other request meanwhile: a worker may die with it.
    pub alone: Alone,
    /// Whether the request may be handed to a worker that still has another ([`Action::Hand`]), if both are known to be
    /// cheap.
    pub ahead: bool,
    /// Whether a request in a worker waits for this one. It then goes first, and finds room where other requests that
    /// wait find none.
    pub inner: bool,
    /// Worker that keeps the session of the request's client.
    pub home: Home,
    /// Whether the home keeps no session, and was drawn for a version on trial. Rather than wait for long, such a request gets the
    /// present version.
    pub drawn: bool,
}

impl Need {
    /// Whether the request needs an empty worker.
    pub const fn is_alone(self) -> bool {
        !matches!(self.alone, Alone::Never)
    }

    /// Needs of a request that is tried again after its worker's death. A suspect may have been what the worker died of.
    pub const fn suspected(self, is_suspect: bool) -> Self {
        if self.is_alone() || !is_suspect { self } else { Self { alone: Alone::UntilItWaits, ..self } }
    }
}

/// Time for which a request keeps others from its worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Alone {
    /// None.
    #[default]
    Never,
    /// Time from its start until it is seen to wait, where requests are parked.
    UntilItWaits,
    /// All of its time in the worker.
    Always,
}

/// The worker that keeps the session of a request's client. Last in [`Need`], so that a class's needs are adjacent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Home {
    /// No session, or one that every worker can read.
    #[default]
    Any,
    /// The worker that answers will keep the session. It is of the short lane, because workers of the long lane come
    /// and go.
    New,
    /// Only this worker, while it serves. After that, like [`Home::New`].
    At(WorkerId),
}

/// Point at which a reload stops until it is told how its generation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Workers of the new generation run besides the present ones, and take only requests whose [`Home`] they are.
    Beside {
        /// Number of workers, at least one.
        workers: u32,
    },
    /// The first batches have taken their places over, and take requests like any worker.
    Batches {
        /// Number of batches, at least one.
        batches: u32,
    },
}

/// Workers that share an operating-system priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// Takes all requests, but keeps its last free worker for short ones.
    #[default]
    Short,
    /// Takes long requests, with the CPU time that the short lane leaves.
    Long,
}

/// Kind of memory that requests use while they wait in a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The JavaScript heap, up to its limit.
    Heap,
    /// Resident memory, up to the worker's share of the machine or cgroup.
    Resident,
}

/// Events that the caller reports, each once, in the order in which it learned of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A complete request was received and needs a worker.
    Arrived {
        /// Number of the request, above all earlier ones.
        request: RequestId,
        /// Requirements of the request.
        need: Need,
    },
    /// The client of a queued request has gone. If a worker already holds the request, this frees nothing (I1).
    Left {
        /// The request whose client has gone.
        request: RequestId,
    },
    /// The worker has finished its response, complete or truncated by itself: the slot is free.
    Finished {
        /// The worker that held it.
        worker: WorkerId,
        /// The request it held.
        request: RequestId,
    },
    /// The worker could not get the request and has seen no byte of it: the request returns to its place in the queue.
    Undelivered {
        /// The worker that could not be reached.
        worker: WorkerId,
        /// The request that it never saw.
        request: RequestId,
    },
    /// The worker returned the request unseen by the app, because the app still works on one whose response had been
    /// read in full. That one has the slot again until it is finished, and the returned request goes back to its place
    /// in the queue.
    Occupied {
        /// The worker that is not free after all.
        worker: WorkerId,
        /// The request that it gave back.
        request: RequestId,
        /// The request that it still works on.
        by: RequestId,
    },
    /// The worker died with this request, which may be retried once (I5): it returns to its old place.
    Retried {
        /// The request that its worker died with.
        request: RequestId,
        /// Arrival time, as in [`Action::Orphaned`].
        arrived: Time,
        /// Requirements on arrival.
        need: Need,
    },
    /// The worker's app restores state of its process after each request, so the worker gets no further request while
    /// one waits.
    HoldsOne {
        /// The worker.
        worker: WorkerId,
    },
    /// The worker starts or stops taking requests ahead of time, to begin later and to give back if not begun.
    TakesAhead {
        /// The worker.
        worker: WorkerId,
        /// Whether it takes them.
        takes: bool,
    },
    /// A handed request cannot be taken back any more, because the app has it.
    Begun {
        /// The worker that has begun it.
        worker: WorkerId,
        /// The request.
        request: RequestId,
    },
    /// Measured cost of a request of this class: CPU time in its worker or, if workers report none, service time.
    Measured {
        /// Class of the request.
        class: ClassId,
        /// Cost in microseconds.
        cost_us: u64,
    },
    /// The worker's event loop is blocked and uses CPU, but not yet for long enough to be stuck. Sent once, until
    /// [`Event::Turned`].
    Overdue {
        /// The worker.
        worker: WorkerId,
    },
    /// The event loop of a worker that was overdue turns again.
    Turned {
        /// The worker.
        worker: WorkerId,
    },
    /// The worker is about to be paused for an inspection, or runs again. It gets no requests in between.
    Paused {
        /// The worker.
        worker: WorkerId,
        /// Whether it is paused.
        is_paused: bool,
    },
    /// Everything that the worker holds waits for something else than the CPU: it may hold one more, up to
    /// [`Limits::concurrency_max`](crate::Limits::concurrency_max).
    Waits {
        /// The worker.
        worker: WorkerId,
    },
    /// The main thread of a worker was checked. If it sleeps, requests that it has had for a while wait for something
    /// else than the CPU: they are parked, and take no slot until they end.
    Looked {
        /// The worker.
        worker: WorkerId,
        /// Whether the thread sleeps, other than because the app blocks it.
        sleeps: bool,
        /// Share of the latest time in which the thread wanted the CPU, thousandths.
        load: u32,
    },
    /// The worker does not pick up requests although its main thread sleeps, so none of its requests counts as parked.
    Blocked {
        /// The worker.
        worker: WorkerId,
    },
    /// The memory that the worker uses was measured.
    Weighed {
        /// The worker.
        worker: WorkerId,
        /// Kind of memory.
        memory: Memory,
        /// Bytes in use.
        used_bytes: u64,
        /// Bytes beyond which the worker or others are killed.
        limit_bytes: u64,
    },
    /// The worker holds too much beyond [`Limits::concurrency`](crate::Limits::concurrency), or no request waits for a
    /// worker: it should hold fewer.
    Crowded {
        /// The worker.
        worker: WorkerId,
        /// Number by which its room shrinks.
        by: u32,
    },
    /// The response turned out to be an upgrade or an event stream: it leaves the slot at its headers.
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
    /// No new connection can reach the worker; open ones continue.
    Unreachable {
        /// The worker.
        worker: WorkerId,
    },
    /// The worker's server listens.
    Listening {
        /// The worker that is ready now.
        worker: WorkerId,
    },
    /// A request of the gateway's own is about to go to a worker that is being warmed. It holds a slot like any other,
    /// and must not be sent where [`Scheduler::is_warming`](crate::Scheduler::is_warming) is false.
    WarmingWith {
        /// The worker that is being warmed.
        worker: WorkerId,
        /// The gateway's request.
        request: RequestId,
    },
    /// The worker is warm, or as warm as it will get.
    Warmed {
        /// The worker that may take requests.
        worker: WorkerId,
    },
    /// A warm-up request failed. A new generation is abandoned for that; a worker of the present one serves anyway.
    WarmUpFailed {
        /// The worker whose warm-up failed.
        worker: WorkerId,
    },
    /// The workers should be replaced by those of a new generation. A reload under way is superseded.
    ReloadAsked {
        /// Number of the new generation, above all earlier ones.
        generation: u64,
    },
    /// A reload as by [`Event::ReloadAsked`], which stops on its way until [`Event::TrialPassed`] or [`Event::TrialFailed`].
    TrialAsked {
        /// Number of the new generation, above all earlier ones.
        generation: u64,
        /// Point at which the reload stops.
        hold: Hold,
    },
    /// The generation on trial takes the other places over.
    TrialPassed {
        /// The generation; nothing happens unless it is on trial.
        generation: u64,
    },
    /// The generation on trial is turned back: its workers finish the requests that they hold and stop.
    TrialFailed {
        /// The generation; nothing happens unless it is on trial.
        generation: u64,
    },
    /// The worker uses more memory than allowed: it is replaced when its turn comes.
    Overweight {
        /// The worker to replace.
        worker: WorkerId,
    },
    /// The worker's event loop has not turned for too long: it gets no more requests (I4), is examined and then killed.
    Stuck {
        /// The worker.
        worker: WorkerId,
    },
    /// The examination of a stuck worker is over.
    Examined {
        /// The worker.
        worker: WorkerId,
    },
    /// The app closes its server: the worker finishes the requests that it holds and takes no more.
    Closing {
        /// The worker that leaves by itself.
        worker: WorkerId,
    },
    /// The worker must be replaced: it has a slot that will never be freed, cannot be reached, or is dying.
    Faulted {
        /// The worker to replace.
        worker: WorkerId,
    },
    /// The worker's process has exited, or could not be started at all.
    Exited {
        /// The worker that is no more.
        worker: WorkerId,
    },
    /// The pool should have this many workers.
    Scaled {
        /// Number of workers wanted.
        workers: u32,
    },
    /// The files of an app under development have changed. Its workers end at once and places start the next, also
    /// those that wait for this ([`Limits::holds_failed`](crate::Limits::holds_failed)).
    Changed,
    /// The gateway shuts down: every worker stops, none is started, and queued requests are refused.
    Stopping,
    /// Time has passed without another event.
    Tick,
}

/// Actions that the caller must carry out, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Give the request to the worker.
    Dispatch {
        /// The request to give.
        request: RequestId,
        /// The worker that gets it.
        worker: WorkerId,
    },
    /// Give the request to the worker ahead of time. The worker begins it when the one before has ended, and not while
    /// it can still be taken back.
    Hand {
        /// The request to give.
        request: RequestId,
        /// The worker that gets it.
        worker: WorkerId,
    },
    /// No other request of the worker is before this handed request any more: its service time begins.
    Begins {
        /// The request.
        request: RequestId,
        /// The worker that has it.
        worker: WorkerId,
    },
    /// Take back handed requests that the worker has not begun: [`Event::Undelivered`] for each that the app has not
    /// seen, [`Event::Begun`] for each other.
    TakeBack {
        /// The worker.
        worker: WorkerId,
    },
    /// Answer the request with an error now.
    Refuse {
        /// The request to answer.
        request: RequestId,
        /// Reason for the refusal.
        reason: Refusal,
        /// Time after which a retry makes sense, in seconds.
        retry_after_s: u32,
    },
    /// The worker died while it held this request.
    Orphaned {
        /// Whether the worker held other requests too.
        is_shared: bool,
        /// Whether the request was parked.
        is_parked: bool,
        /// The request it held.
        request: RequestId,
        /// The worker that died.
        worker: WorkerId,
        /// Arrival time of the request.
        arrived: Time,
    },
    /// Start a process.
    Start {
        /// Number of the worker.
        worker: WorkerId,
        /// Place in the pool, from 0. While a worker is replaced, two have the same place.
        instance: u32,
        /// The version of the app that it runs.
        generation: u64,
        /// Lane, which decides the operating-system priority to start the worker with.
        lane: Lane,
    },
    /// Give the worker the lowest operating-system priority, now.
    Lower {
        /// The worker.
        worker: WorkerId,
    },
    /// Give the worker its lane's priority again. Only where [`Limits::may_raise`](crate::Limits::may_raise) is set.
    Raise {
        /// The worker.
        worker: WorkerId,
    },
    /// Warm the worker: [`Event::WarmingWith`] for each request, then [`Event::Warmed`] or [`Event::WarmUpFailed`].
    WarmUp {
        /// The worker, which listens.
        worker: WorkerId,
    },
    /// Take the stack and a profile of a stuck worker, then report [`Event::Examined`].
    Examine {
        /// The worker.
        worker: WorkerId,
    },
    /// Report that a successor is being started for a healthy worker, which serves until then.
    Recycling {
        /// The worker that is replaced.
        worker: WorkerId,
        /// Reason for the replacement.
        reason: RecycleReason,
    },
    /// Report that new workers exceed their memory bound one after the other, so the bound is below what the app needs.
    /// They are still replaced, less and less often. Sent once, and again after a reload.
    Bloated {
        /// The latest of them.
        worker: WorkerId,
    },
    /// Report that every place has a worker of this generation that takes requests.
    Reloaded {
        /// The generation in force.
        generation: u64,
    },
    /// Report that the generation is abandoned; workers of the one before stay in the places that it has not taken.
    ReloadAbandoned {
        /// The generation that is given up.
        generation: u64,
        /// Reason for abandoning it.
        reason: AbandonReason,
    },
    /// Ask the worker to exit (`'shutdown'`, then SIGTERM). It holds no request, or the time for that is over.
    Stop {
        /// The worker to stop.
        worker: WorkerId,
    },
    /// Kill the worker and all its children.
    Kill {
        /// The worker to kill.
        worker: WorkerId,
        /// Reason for the kill.
        reason: KillReason,
    },
    /// Report that a worker failed and its place waits before it starts the next.
    BackOff {
        /// The worker that failed.
        worker: WorkerId,
        /// The place in the pool.
        instance: u32,
        /// Length of the wait, in milliseconds.
        delay_ms: u64,
    },
    /// Report that a worker has ended, and its place starts the next only at [`Event::Changed`].
    Hold {
        /// The worker.
        worker: WorkerId,
    },
    /// Exit, because no worker has ever listened and every place has failed.
    GiveUp,
    /// End this stream, because its worker has too many.
    CloseStream {
        /// The request that opened the stream.
        request: RequestId,
        /// The worker that serves it.
        worker: WorkerId,
    },
}
