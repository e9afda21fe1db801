//! One worker: where it is in its life, what it holds, and when something about it is due. Knows nothing of the others.

use super::parked::Footprint;
use crate::{KillReason, Lane, Limits, Need, RecycleReason, RequestId, Time, WorkerId};

/// Where a worker is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerState {
    /// Its process runs and does not listen yet.
    Starting,
    /// It listens and is being warmed, or waits until the others of a new generation's first batch can take over too.
    Warming,
    /// It takes requests.
    Ready,
    /// Its event loop has not turned for too long; it is looked into and then killed.
    Stuck,
    /// It finishes what it holds, then it is stopped.
    Leaving,
    /// It was asked to stop.
    Stopping,
    /// It was killed and has not gone yet.
    Killed,
}

/// One worker as the operator sees it.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools)] // As of `Worker`.
pub struct WorkerView {
    /// Its number.
    pub worker: WorkerId,
    /// Its place in the pool.
    pub instance: u32,
    /// The version of the app that it runs.
    pub generation: u64,
    /// Its lane.
    pub lane: Lane,
    /// Where it is in its life.
    pub state: WorkerState,
    /// Requests that it has begun.
    pub in_service: usize,
    /// Those of them that only wait.
    pub parked: usize,
    /// Requests that it was handed ahead of time and has not begun.
    pub handed: usize,
    /// It has no memory for further requests that wait.
    pub is_full: bool,
    /// It may hold more of them than all workers may, because it was seen to wait.
    pub has_more_room: bool,
    /// Its app cannot have a second request while the first one waits, so no look at it is of use.
    pub holds_one: bool,
    /// Streams that have left their slot and go on.
    pub streams: u32,
    /// When it was started.
    pub started: Time,
    /// It has the lowest operating-system priority, because its event loop stood still.
    pub is_lowered: bool,
    /// It gets nothing, because somebody looks into it.
    pub is_paused: bool,
}

/// How far a worker's warm-up is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Warmth {
    /// Nobody was asked to warm it yet.
    Cold,
    /// The caller is at it.
    Warming,
    /// As warm as it will get.
    Warm,
}

#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // Each is a fact by itself.
pub(super) struct Held {
    pub request: RequestId,
    pub arrived: Time,
    /// When its service time began.
    pub dispatched: Time,
    /// When it was handed to the worker, as long as the app has not begun it.
    pub handed: Option<Time>,
    pub need: Need,
    /// What it counted as when it was dispatched.
    pub side: Lane,
    /// A warm-up request: it never waits in the queue and says nothing about service times.
    pub is_own: bool,
    /// Millionths of its worker that it takes.
    pub part: u32,
    /// CPU time that it is expected to take, and time that its class is known to stay, microseconds.
    pub cost_us: u64,
    pub stay_us: u64,
    /// It only waits, and takes no slot.
    pub is_parked: bool,
    /// It has been here for longer than brief requests stay.
    pub is_late: bool,
    /// Time that it had been here when the main thread was last seen asleep, microseconds.
    pub waited_us: u64,
    /// It has not shared its worker so far.
    pub is_undisturbed: bool,
    /// Mean service time of its class, where that was known to be cheap.
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
    /// When the present state began.
    pub since: Time,
    pub listened: Option<Time>,
    /// For how long its boot leaves the CPU to the workers that serve, in microseconds; 0 for a boot that does not.
    pub aside_us: u64,
    pub warmth: Warmth,
    /// It has taken requests, or could have.
    pub was_ready: bool,
    pub idle_since: Time,
    pub held: Vec<Held>,
    pub streams: u32,
    /// Requests that it has finished, warm-up not counted.
    pub finished: u64,
    /// It is over its memory bound, and is to be replaced from then on.
    pub overweight_due: Option<Time>,
    /// No new connection can reach it since then.
    pub unreachable_since: Option<Time>,
    /// Its event loop stands still.
    pub is_overdue: bool,
    /// It stands still for somebody who looks into it.
    pub is_paused: bool,
    /// It has the lowest operating-system priority.
    pub is_lowered: bool,
    /// A stand-in was started for it.
    pub has_stand_in: bool,
    /// It was started as one.
    pub is_stand_in: bool,
    /// It gets nothing more until it holds nothing: a request waits for a worker of its own.
    pub is_reserved: bool,
    /// It takes requests ahead of time.
    pub takes_ahead: bool,
    /// Its app cannot have a second request while the first one waits.
    pub holds_one: bool,
    /// It was asked for those that it has not begun, and has not said yet which they are.
    pub is_asked_back: bool,
    /// It may take one request more in this step, because all that it holds waits.
    pub is_granted: bool,
    /// How many it was seen to have room for, where that is more than the rule says: it held so many and waited.
    pub room: u32,
    /// Share of its main thread's latest time that was not sleep, thousandths, by the latest look.
    pub load: u32,
    /// When its main thread was last seen asleep, and time for which it has been awake since, by the latest look, microseconds.
    pub slept: Option<Time>,
    pub awake_us: u64,
    pub footprint: Footprint,
    /// It holds a request that it will never finish.
    pub faulted: bool,
    /// It leaves because it is not wanted any more, not because of anything it did.
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

    /// It serves, or will: nothing has told it to leave yet.
    pub fn stays(&self) -> bool {
        matches!(self.state, WorkerState::Starting | WorkerState::Warming | WorkerState::Ready)
    }

    /// It is not needed any more.
    pub fn dismiss(&mut self, now: Time) {
        if self.stays() {
            self.enter(WorkerState::Leaving, now);
            self.dismissed = true;
        }
    }

    /// One that stands still would only keep them.
    pub fn takes_requests(&self) -> bool {
        self.state == WorkerState::Ready && !self.is_overdue && !self.is_paused
    }

    /// And does so for short requests too.
    pub fn takes_short_requests(&self) -> bool {
        self.takes_requests() && self.lane == Lane::Short
    }

    /// Requests that it may hold.
    pub fn slots(&self, concurrency: u32) -> u32 {
        concurrency.max(self.room)
    }

    /// Is not, nor is to be, a single request's own.
    pub fn may_share(&self) -> bool {
        !self.is_reserved && !self.held.iter().any(|held| held.need.alone)
    }

    /// Has room, or is granted one request more, and is not a single request's own.
    pub fn has_free_slot(&self, concurrency: u32) -> bool {
        let has_room = self.begun() < self.slots(concurrency) as usize;
        self.may_share() && !self.is_asked_back && (has_room || self.is_granted)
    }

    /// Takes a slot.
    pub fn join(&mut self, mut held: Held) {
        if !self.held.is_empty() {
            held.is_undisturbed = false;
            self.held.iter_mut().for_each(|other| other.is_undisturbed = false);
        }
        self.held.push(held);
    }

    /// What it is killed for when nothing else happens, and when.
    pub fn kill_due(&self, limits: &Limits) -> Option<(Time, KillReason)> {
        match self.state {
            WorkerState::Starting => Some((self.since.plus_ms(limits.start_timeout_ms), KillReason::StartTimeout)),
            WorkerState::Stopping => Some((self.since.plus_ms(limits.stop_timeout_ms), KillReason::StopTimeout)),
            WorkerState::Stuck => Some((self.since.plus_ms(limits.examine_timeout_ms), KillReason::Stuck)),
            _ => None,
        }
    }

    /// When a leaving worker is stopped though it holds requests; `None` when they are waited for.
    pub fn patience_ends(&self, limits: &Limits) -> Option<Time> {
        (self.state == WorkerState::Leaving && self.faulted).then(|| self.since.plus_ms(limits.stop_timeout_ms))
    }

    /// Whether a leaving worker holds nothing, or only what it will never finish, or its requests have had their time.
    pub fn may_stop(&self, now: Time, limits: &Limits) -> bool {
        self.state == WorkerState::Leaving
            && (self.held.is_empty()
                || (self.faulted && self.held.len() <= 1)
                || self.patience_ends(limits).is_some_and(|end| end <= now))
    }

    /// From when on it has had enough, and of what; `None` when only more requests or memory can bring that about.
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

/// The bound of this worker: up to a tenth below the configured one.
fn lowered(bound: u64, worker: WorkerId) -> u64 {
    bound - u64::try_from(u128::from(bound) * u128::from(spread(worker)) / 2560).unwrap_or(0)
}

/// A number from 0 to 255 that differs from worker to worker, so that what is due for many is not due at once.
fn spread(worker: WorkerId) -> u64 {
    worker.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56
}

/// Doubles with each failure in a row up to the maximum, spread by up to a quarter so that places do not start in step:
/// upwards where there is room, else downwards, so that the maximum stays one.
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
