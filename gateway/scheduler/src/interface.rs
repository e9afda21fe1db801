//! What goes into the scheduler and what comes out: events, actions, numbers and time.

use crate::costs::ClassId;
use crate::reasons::{AbandonReason, KillReason, RecycleReason, Refusal};

/// A point in time, in microseconds since a start that the caller chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub u64);

impl Time {
    /// This time plus `ms` milliseconds.
    #[must_use]
    pub fn plus_ms(self, ms: u64) -> Time {
        Time(self.0.saturating_add(ms.saturating_mul(1000)))
    }

    /// This time plus `us` microseconds.
    #[must_use]
    pub fn plus_us(self, us: u64) -> Time {
        Time(self.0.saturating_add(us))
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

/// What a request asks for besides a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Need {
    /// What it is expected to cost alike with; 0 is "other".
    pub class: ClassId,
    /// Higher goes first; 0 by default.
    pub priority: i8,
    /// How long after its arrival an answer is of no use any more, if its route says so.
    pub deadline_ms: Option<u32>,
    /// It gets a worker that holds nothing, which gets nothing else meanwhile: a worker may die with it.
    pub alone: bool,
    /// It may be handed to a worker that still has another ([`Action::Hand`]), where both are known to be cheap.
    pub ahead: bool,
    /// A request of a worker waits for it, so it goes first, and finds room where others that wait find none.
    pub inner: bool,
    /// Where its client's session is kept.
    pub home: Home,
}

/// The worker that keeps the session of a request's client. Last in [`Need`], so that a class's needs stand side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Home {
    /// No session, or one that every worker can read.
    #[default]
    Any,
    /// The worker that answers will keep the session: one of the short lane, because workers of the long lane come and go.
    New,
    /// This worker. While it serves, the request waits for it alone; else it is [`Home::New`].
    At(WorkerId),
}

/// Workers that share an operating-system priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// Takes everything, but its last free worker is kept for what is short.
    #[default]
    Short,
    /// Takes what is long, with the CPU time that the others leave.
    Long,
}

/// Memory of a worker that requests take while they wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The JavaScript heap, up to its limit.
    Heap,
    /// Resident memory, up to the worker's share of the machine or cgroup.
    Resident,
}

/// What happened. The caller reports each once, in the order in which it learnt of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A whole request was received and asks for a worker.
    Arrived {
        /// A number above all that came before.
        request: RequestId,
        /// What it asks for.
        need: Need,
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
    /// The worker gave the request back unseen by the app, because the app goes on with one whose response had been read
    /// whole: the slot is that one's again until it is finished, and the request goes back to its place in the queue.
    Occupied {
        /// The worker that is not free after all.
        worker: WorkerId,
        /// The request that it gave back.
        request: RequestId,
        /// The request that it still works on.
        by: RequestId,
    },
    /// The worker died with this request, which may be given to another once more (I5): it goes back to its old place.
    Retried {
        /// The request that its worker died with.
        request: RequestId,
        /// When it arrived, as [`Action::Orphaned`] said.
        arrived: Time,
        /// What it asked for when it arrived.
        need: Need,
    },
    /// The worker's app puts back state of its process after each request, so it gets no further one while it waits.
    HoldsOne {
        /// The worker.
        worker: WorkerId,
    },
    /// The worker takes requests that it is to begin only later, and gives back what it has not begun. Or it does not any more.
    TakesAhead {
        /// The worker.
        worker: WorkerId,
        /// Whether it does.
        takes: bool,
    },
    /// A request that was handed to its worker can not be taken back, because the app has it.
    Begun {
        /// The worker that has begun it.
        worker: WorkerId,
        /// The request.
        request: RequestId,
    },
    /// What a request of this class has cost: CPU time in its worker or, where workers report none, service time.
    Measured {
        /// Its class.
        class: ClassId,
        /// In microseconds.
        cost_us: u64,
    },
    /// The worker's event loop stands still and burns CPU, for less long than one that is stuck. To be said once, until
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
    /// The worker is about to stand still for somebody who looks into it, or does so no more: until then it gets nothing.
    Paused {
        /// The worker.
        worker: WorkerId,
        /// Whether it is.
        is_paused: bool,
    },
    /// Everything that the worker holds waits on something else than the CPU: it may hold one more, up to
    /// [`Limits::concurrency_max`](crate::Limits::concurrency_max).
    Waits {
        /// The worker.
        worker: WorkerId,
    },
    /// The main thread of a worker was looked at. If it sleeps, requests that it has had for a while wait for something else than the
    /// CPU: they are parked, and take no slot until they end.
    Looked {
        /// The worker.
        worker: WorkerId,
        /// Whether the thread sleeps, and not because the app blocks it.
        sleeps: bool,
        /// Share of the latest time in which it wanted the CPU, thousandths.
        load: u32,
    },
    /// The worker does not pick up requests although its main thread sleeps, so none of its requests counts as parked.
    Blocked {
        /// The worker.
        worker: WorkerId,
    },
    /// Memory that the worker uses.
    Weighed {
        /// The worker.
        worker: WorkerId,
        /// What was measured.
        memory: Memory,
        /// Bytes in use.
        used_bytes: u64,
        /// Bytes beyond which the worker dies, or others do.
        limit_bytes: u64,
    },
    /// What the worker holds beyond [`Limits::concurrency`](crate::Limits::concurrency) is too much for it, or nobody waits for a
    /// worker: it is to hold fewer.
    Crowded {
        /// The worker.
        worker: WorkerId,
        /// How many fewer.
        by: u32,
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
    /// No new connection can reach the worker; those that are open go on.
    Unreachable {
        /// The worker.
        worker: WorkerId,
    },
    /// The worker's server listens.
    Listening {
        /// The worker that is ready now.
        worker: WorkerId,
    },
    /// A request of the gateway's own is about to go to a worker that is being warmed. It holds the slot like any other;
    /// where [`Scheduler::is_warming`](crate::Scheduler::is_warming) says no, it must not be sent.
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
    /// A warm-up request failed: a new generation is abandoned for that, a worker of the present one serves all the same.
    WarmUpFailed {
        /// The worker whose warm-up failed.
        worker: WorkerId,
    },
    /// The workers are to be replaced by those of a new generation, whatever becomes of a reload under way.
    ReloadAsked {
        /// The new generation; above all that came before.
        generation: u64,
    },
    /// The worker uses more memory than allowed: it is replaced when its turn comes.
    Overweight {
        /// The worker to replace.
        worker: WorkerId,
    },
    /// The worker's event loop has not turned for too long: it gets nothing more (I4) and is killed after a look into it.
    Stuck {
        /// The worker.
        worker: WorkerId,
    },
    /// The look into a stuck worker is over.
    Examined {
        /// The worker.
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
    /// The app's files have changed while it is being developed: its workers end at once, and places start the next, also those that
    /// wait for this ([`Limits::holds_failed`](crate::Limits::holds_failed)).
    Changed,
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
    /// Give the request to the worker ahead of time: it begins it when it has ended what it has, and not while this can
    /// still be taken back.
    Hand {
        /// The request to give.
        request: RequestId,
        /// The worker that gets it.
        worker: WorkerId,
    },
    /// Nothing of the worker's stands before this request any more, which was handed to it: its service time begins.
    Begins {
        /// The request.
        request: RequestId,
        /// The worker that has it.
        worker: WorkerId,
    },
    /// Take back what was handed to the worker and not begun: [`Event::Undelivered`] for each that the app has not seen,
    /// [`Event::Begun`] for each other.
    TakeBack {
        /// The worker.
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
        /// The worker held others too.
        is_shared: bool,
        /// It was parked.
        is_parked: bool,
        /// The request it held.
        request: RequestId,
        /// The worker that died.
        worker: WorkerId,
        /// When the request arrived.
        arrived: Time,
    },
    /// Start a process.
    Start {
        /// Its number.
        worker: WorkerId,
        /// Its place in the pool, from 0. While a worker is replaced, two have the same place.
        instance: u32,
        /// The version of the app that it runs.
        generation: u64,
        /// What it may count on of the CPU: the operating-system priority to start it with.
        lane: Lane,
    },
    /// Give the worker the lowest operating-system priority, now.
    Lower {
        /// The worker.
        worker: WorkerId,
    },
    /// Give the worker its lane's priority again. Said only where [`Limits::may_raise`](crate::Limits::may_raise).
    Raise {
        /// The worker.
        worker: WorkerId,
    },
    /// Warm the worker: [`Event::WarmingWith`] for each request, then [`Event::Warmed`] or [`Event::WarmUpFailed`].
    WarmUp {
        /// The worker, which listens.
        worker: WorkerId,
    },
    /// Take the stack and a profile of a stuck worker, then say [`Event::Examined`].
    Examine {
        /// The worker.
        worker: WorkerId,
    },
    /// A successor is being started for a healthy worker, which serves until then.
    Recycling {
        /// The worker that is replaced.
        worker: WorkerId,
        /// What it has had enough of.
        reason: RecycleReason,
    },
    /// Fresh workers are over their memory bound one after the other, so the bound is below what the app needs. They are
    /// still replaced, less and less often. Said once, and again after a reload.
    Bloated {
        /// The latest of them.
        worker: WorkerId,
    },
    /// Every place has a worker of this generation that takes requests.
    Reloaded {
        /// The generation in force.
        generation: u64,
    },
    /// The generation is given up; workers of the one before stay in the places that it has not taken.
    ReloadAbandoned {
        /// The generation that is given up.
        generation: u64,
        /// Why.
        reason: AbandonReason,
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
    /// A worker has ended, and its place starts the next at [`Event::Changed`] alone.
    Hold {
        /// The worker.
        worker: WorkerId,
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
