//! One worker: its state, the requests that it holds, and its deadlines. It knows nothing of other workers.

use super::parked::Footprint;
use crate::{KillReason, Lane, Limits, Need, RecycleReason, RequestId, Time, WorkerId};

/// State of a worker in its life cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerState {
    /// The process runs and does not listen yet.
    Starting,
    /// The worker listens and is being warmed, or waits for the others of a new generation's first batch.
    Warming,
    /// The worker takes requests.
    Ready,
    /// The worker takes only requests whose home it is, because its generation is tried beside the present one.
    Trial,
    /// The event loop has not turned for too long; the worker is examined and then killed.
    Stuck,
    /// The worker finishes the requests that it holds, then it is stopped.
    Leaving,
    /// The worker was asked to stop.
    Stopping,
    /// The worker was killed and has not exited yet.
    Killed,
}

/// One worker as the operator sees it.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools)] // As of `Worker`.
pub struct WorkerView {
    /// Number of the worker.
    pub worker: WorkerId,
    /// Place in the pool.
    pub instance: u32,
    /// Generation of the app that it runs.
    pub generation: u64,
    /// Lane of the worker.
    pub lane: Lane,
    /// State in its life cycle.
    pub state: WorkerState,
    /// Requests that it has begun.
    pub in_service: usize,
    /// Begun requests that only wait.
    pub parked: usize,
    /// Requests that it was handed ahead of time and has not begun.
    pub handed: usize,
    /// Whether it has no memory for further waiting requests.
    pub is_full: bool,
    /// Whether it may hold more requests than the configured number, because it was seen to wait.
    pub has_more_room: bool,
    /// Whether its app cannot have a second request while the first one waits, so that checks of its main thread are
    /// useless.
    pub holds_one: bool,
    /// Streams that have left their slot and continue.
    pub streams: u32,
    /// Start time.
    pub started: Time,
    /// Whether it has the lowest operating-system priority, because its event loop was blocked.
    pub is_lowered: bool,
    /// Whether it gets no requests because it is paused for an inspection.
    pub is_paused: bool,
}

/// Progress of a worker's warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Warmth {
    /// The warm-up has not been asked for.
    Cold,
    /// The caller warms the worker.
    Warming,
    /// The warm-up has ended.
    Warm,
}

#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // Each is a fact by itself.
pub(super) struct SlotEntry {
    pub request: RequestId,
    pub arrived: Time,
    /// Start of its service time.
    pub dispatched: Time,
    /// Time at which it was handed ahead, until the app begins it.
    pub handed: Option<Time>,
    pub need: Need,
    /// Side that it counted as when it was dispatched.
    pub side: Lane,
    /// Whether it is a warm-up request: it never waits in the queue and says nothing about service times.
    pub is_own: bool,
    /// Part of its worker that it takes, in millionths.
    pub part: u32,
    /// Expected CPU time, and known time that its class stays, microseconds.
    pub cost_us: u64,
    pub stay_us: u64,
    /// Whether it only waits, and takes no slot.
    pub is_parked: bool,
    /// Whether it has stayed for longer than brief requests do.
    pub is_late: bool,
    /// Time between its dispatch and the last check that found the main thread asleep, microseconds.
    pub waited_us: u64,
    /// Whether it has never shared its worker.
    pub is_undisturbed: bool,
    /// Mean service time of its class, microseconds, if the class was known to be cheap.
    pub cheap_us: Option<u64>,
}

#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // Each is a fact by itself; what excludes another is a state.
pub(super) struct Worker {
    pub instance: u32,
    pub generation: u64,
    pub lane: Lane,
    pub state: WorkerState,
    pub started: Time,
    /// Start of the present state.
    pub since: Time,
    pub listened: Option<Time>,
    /// Time for which its boot leaves the CPU to serving workers, microseconds; 0 for a boot that does not.
    pub aside_us: u64,
    pub warmth: Warmth,
    /// Whether it has ever been able to take requests.
    pub was_ready: bool,
    pub idle_since: Time,
    pub held: Vec<SlotEntry>,
    pub streams: u32,
    /// Requests that it has finished, without warm-up.
    pub finished: u64,
    /// Time from which it is to be replaced for exceeding its memory bound.
    pub overweight_due: Option<Time>,
    /// Time since which no new connection can reach it.
    pub unreachable_since: Option<Time>,
    /// Whether its event loop is blocked.
    pub is_overdue: bool,
    /// Whether it is paused for an inspection.
    pub is_paused: bool,
    /// Whether it has the lowest operating-system priority.
    pub is_lowered: bool,
    /// Whether a stand-in was started for it.
    pub has_stand_in: bool,
    /// Whether it was started as a stand-in.
    pub is_stand_in: bool,
    /// Whether it gets nothing more until it is empty, because a request waits for a worker to itself.
    pub is_reserved: bool,
    /// Whether it takes requests ahead of time.
    pub takes_ahead: bool,
    /// Whether its app cannot have a second request while the first one waits.
    pub holds_one: bool,
    /// Whether it was asked for its handed requests and has not answered yet.
    pub is_asked_back: bool,
    /// Whether it may take one request more in this step, because all that it holds waits.
    pub is_granted: bool,
    /// Number of requests that it was seen to wait with, if above the configured number; else 0.
    pub room: u32,
    /// Share of its main thread's latest time that was not sleep, thousandths, by the latest check.
    pub load: u32,
    /// Time at which its main thread was last seen asleep, and microseconds that it has been awake since, by the latest
    /// check.
    pub slept: Option<Time>,
    pub awake_us: u64,
    pub footprint: Footprint,
    /// Whether it holds a request that it will never finish.
    pub faulted: bool,
    /// Whether it leaves because it is no longer wanted, not because of a fault.
    pub dismissed: bool,
}

impl Worker {
    pub fn starting(instance: u32, generation: u64, lane: Lane, now: Time) -> Self {
        Worker {
            instance,
            generation,
            lane,
            state: WorkerState::Starting,
            started: now,
            since: now,
            listened: None,
            aside_us: 0,
            warmth: Warmth::Cold,
            was_ready: false,
            idle_since: now,
            held: Vec::new(),
            streams: 0,
            finished: 0,
            overweight_due: None,
            unreachable_since: None,
            is_overdue: false,
            is_paused: false,
            is_lowered: false,
            has_stand_in: false,
            is_stand_in: false,
            is_reserved: false,
            takes_ahead: false,
            holds_one: false,
            is_asked_back: false,
            is_granted: false,
            room: 0,
            load: 0,
            slept: None,
            awake_us: 0,
            footprint: Footprint::default(),
            faulted: false,
            dismissed: false,
        }
    }

    pub fn enter(&mut self, state: WorkerState, now: Time) {
        self.state = state;
        self.since = now;
    }

    /// Whether it serves or will serve, and was not told to leave.
    pub fn stays(&self) -> bool {
        matches!(self.state, WorkerState::Starting | WorkerState::Warming | WorkerState::Ready | WorkerState::Trial)
    }

    /// Makes a worker leave that is no longer needed.
    pub fn dismiss(&mut self, now: Time) {
        if self.stays() {
            self.enter(WorkerState::Leaving, now);
            self.dismissed = true;
        }
    }

    /// Whether it takes requests. A blocked worker would only delay them.
    pub fn takes_requests(&self) -> bool {
        self.state == WorkerState::Ready && !self.is_overdue && !self.is_paused
    }

    /// Whether it takes requests whose home it is.
    pub fn is_open(&self) -> bool {
        self.serves() && !self.is_overdue && !self.is_paused
    }

    /// Whether it serves some requests at least.
    pub fn serves(&self) -> bool {
        matches!(self.state, WorkerState::Ready | WorkerState::Trial)
    }

    /// Whether it takes requests and is of the short lane.
    pub fn takes_short_requests(&self) -> bool {
        self.takes_requests() && self.lane == Lane::Short
    }

    /// Number of requests that it may hold.
    pub fn slots(&self, concurrency: u32) -> u32 {
        concurrency.max(self.room)
    }

    /// Whether it is not reserved for, or held by, a request that needs it alone.
    pub fn may_share(&self) -> bool {
        !self.is_reserved && !self.held.iter().any(|held| held.need.is_alone())
    }

    /// Whether it may be shared and has room, or is granted one request more.
    pub fn has_free_slot(&self, concurrency: u32) -> bool {
        let has_room = self.begun() < self.slots(concurrency) as usize;
        self.may_share() && !self.is_asked_back && (has_room || self.is_granted)
    }

    /// Adds a request to those that the worker holds.
    pub fn join(&mut self, mut held: SlotEntry) {
        if !self.held.is_empty() {
            held.is_undisturbed = false;
            self.held.iter_mut().for_each(|other| other.is_undisturbed = false);
        }
        self.held.push(held);
    }

    /// Time at which it is killed if nothing else happens, and the reason.
    pub fn kill_due(&self, limits: &Limits) -> Option<(Time, KillReason)> {
        match self.state {
            WorkerState::Starting => Some((self.since.plus_ms(limits.start_timeout_ms), KillReason::StartTimeout)),
            WorkerState::Stopping => Some((self.since.plus_ms(limits.stop_timeout_ms), KillReason::StopTimeout)),
            WorkerState::Stuck => Some((self.since.plus_ms(limits.examine_timeout_ms), KillReason::Stuck)),
            _ => None,
        }
    }

    /// Time at which a leaving worker is stopped though it holds requests; `None` if the pool waits for them.
    pub fn patience_ends(&self, limits: &Limits) -> Option<Time> {
        (self.state == WorkerState::Leaving && self.faulted).then(|| self.since.plus_ms(limits.stop_timeout_ms))
    }

    /// Whether a leaving worker may stop: it holds nothing, or only requests that will never finish, or their time is
    /// over.
    pub fn may_stop(&self, now: Time, limits: &Limits) -> bool {
        self.state == WorkerState::Leaving
            && (self.held.is_empty()
                || (self.faulted && self.held.len() <= 1)
                || self.patience_ends(limits).is_some_and(|end| end <= now))
    }

    /// Time from which it is due for recycling, and the reason; `None` if only more requests or memory can make it due.
    pub fn recycle_due(&self, id: WorkerId, limits: &Limits) -> Option<(Time, RecycleReason)> {
        let requests_max = limits.recycle_requests_max;
        if requests_max > 0 && self.finished >= lowered(requests_max, id) {
            return Some((Time(0), RecycleReason::Requests));
        }
        let large = self.overweight_due.map(|due| (due, RecycleReason::Memory));
        let unreachable = self.unreachable_since.map(|since| (since, RecycleReason::Socket));
        [unreachable, large].into_iter().flatten().min_by_key(|(at, _)| *at)
    }
}

/// Bound of this worker: up to a tenth below the configured one.
fn lowered(bound: u64, worker: WorkerId) -> u64 {
    bound - u64::try_from(u128::from(bound) * u128::from(spread(worker)) / 2560).unwrap_or(0)
}

/// A number from 0 to 255 that differs between workers, so that their deadlines do not coincide.
fn spread(worker: WorkerId) -> u64 {
    worker.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56
}

/// Back-off before the next start, milliseconds. It doubles with each failure in a row up to the maximum, spread by up
/// to a quarter so that places do not start in step. The spread goes upwards where there is room, else downwards, so
/// that the maximum holds.
pub(super) fn backoff_ms(limits: &Limits, failures: u32, worker: WorkerId) -> u64 {
    let exponent = failures.saturating_sub(1).min(32);
    let delay_ms = limits.backoff_ms_min.saturating_mul(1 << exponent).min(limits.backoff_ms_max);
    let spread_ms = delay_ms.saturating_mul(spread(worker)) / 1024;
    if delay_ms + spread_ms <= limits.backoff_ms_max {
        delay_ms + spread_ms
    } else {
        limits.backoff_ms_max.saturating_sub(spread_ms).max(limits.backoff_ms_min)
    }
}
