//! The model of one worker: what was said of it, and what follows from that.

use sluice_scheduler::{Lane, Limits, RequestId, Time, WorkerState};

/// How long a request may wait where it was handed to while another worker is free, µs.
const LATE_US: u64 = 1_000;

/// What a worker is to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Post {
    Holder,
    Successor,
    /// Nothing any more; it is on its way out.
    None,
}

/// A request in a worker's slot.
#[derive(Clone, Copy, Debug)]
pub struct SlotRequest {
    pub request: RequestId,
    /// It is the gateway's.
    pub is_own: bool,
    /// What it counted as when it was given, and the part of the worker that it was said to take.
    pub side: Lane,
    pub part: u32,
}

/// Millionths of a worker: the whole, and what is given of one of each lane.
const WHOLE: u32 = 1_000_000;
const PARTS_MAX: [(Lane, u32); 2] = [(Lane::Short, 800_000), (Lane::Long, 1_300_000)];
/// What is given of one that was seen to wait.
const SEEN_PARTS_MAX: u32 = 2_500_000;

#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // What was said of it, as it was said.
pub struct Worker {
    pub instance: u32,
    pub generation: u64,
    pub lane: Lane,
    pub post: Post,
    pub started: Time,
    pub listened: Option<Time>,
    /// For how long its boot leaves the CPU to others.
    pub aside_us: u64,
    pub asked_to_warm: bool,
    pub warm: bool,
    pub serving: Option<Time>,
    pub dismissed: bool,
    /// Closing or dismissed.
    pub leaves: bool,
    pub faulted: Option<Time>,
    pub stuck: Option<Time>,
    pub examined: bool,
    pub stopped: Option<Time>,
    /// Its generation was given up: it has to be killed in this step.
    pub condemned: bool,
    pub killed: bool,
    pub held: Vec<SlotRequest>,
    /// What it was handed and has not begun, and when.
    pub handed: Vec<(SlotRequest, Time)>,
    pub takes_ahead: bool,
    /// It was asked for all of that.
    pub asked_back: bool,
    pub streams: u32,
    pub finished: u64,
    /// It is too large, and may be replaced from the first on, and must be from the second on.
    pub overweight: Option<(Time, Time)>,
    /// Its event loop stands still.
    pub overdue: bool,
    pub lowered: bool,
    pub has_stand_in: bool,
    pub is_stand_in: bool,
    /// In this step it may take one more.
    pub granted: bool,
    /// What it may hold by grants that it took.
    pub room: usize,
}

impl Worker {
    pub fn new(instance: u32, generation: u64, lane: Lane, post: Post, started: Time) -> Worker {
        Worker {
            instance,
            generation,
            lane,
            post,
            started,
            listened: None,
            aside_us: 0,
            asked_to_warm: false,
            warm: false,
            serving: None,
            dismissed: false,
            leaves: false,
            faulted: None,
            stuck: None,
            examined: false,
            stopped: None,
            condemned: false,
            killed: false,
            held: Vec::new(),
            handed: Vec::new(),
            takes_ahead: false,
            asked_back: false,
            streams: 0,
            finished: 0,
            overweight: None,
            overdue: false,
            lowered: false,
            has_stand_in: false,
            is_stand_in: false,
            granted: false,
            room: 0,
        }
    }

    pub fn state(&self) -> WorkerState {
        if self.killed {
            WorkerState::Killed
        } else if self.stopped.is_some() {
            WorkerState::Stopping
        } else if self.stuck.is_some() {
            WorkerState::Stuck
        } else if self.leaves || self.faulted.is_some() {
            WorkerState::Leaving
        } else if self.serving.is_some() {
            WorkerState::Ready
        } else if self.listened.is_some() {
            WorkerState::Warming
        } else {
            WorkerState::Starting
        }
    }

    /// Not on its way out for any reason.
    pub fn stays(&self) -> bool {
        matches!(self.state(), WorkerState::Starting | WorkerState::Warming | WorkerState::Ready)
    }

    pub fn serves(&self) -> bool {
        self.state() == WorkerState::Ready
    }

    pub fn takes_requests(&self) -> bool {
        self.serves() && !self.overdue
    }

    pub fn warms(&self) -> bool {
        self.state() == WorkerState::Warming
    }

    pub fn holds(&self, side: Lane) -> bool {
        self.held.iter().any(|held| held.side == side)
    }

    /// Whether it may hold so many, and this one with them: it was seen to wait with as many, or what they are known to leave it is
    /// enough.
    pub fn may_take(&self, part: u32, limits: &Limits) -> bool {
        let has_slot = self.granted || self.held.len() < (limits.concurrency as usize).max(self.room);
        if self.held.is_empty() || limits.concurrency_max <= limits.concurrency {
            return has_slot;
        }
        let parts =
            |of: fn(&u32) -> bool| -> u32 { self.held.iter().map(|held| held.part).chain([part]).filter(of).sum() };
        let knows_room = PARTS_MAX.iter().any(|(lane, max)| *lane == self.lane && parts(|_| true) <= *max);
        let has_known_room = knows_room && self.held.len() < limits.concurrency_max as usize;
        has_slot && parts(|part| *part < WHOLE) <= SEEN_PARTS_MAX || has_known_room && !has_slot
    }

    pub fn dismiss(&mut self) {
        if self.stays() {
            (self.dismissed, self.leaves) = (true, true);
        }
    }

    /// From when on what it was handed should have another worker, where that was not asked for.
    pub fn handed_late(&self) -> Option<Time> {
        let first = self.handed.iter().map(|(_, at)| at.0).min().filter(|_| !self.asked_back);
        first.map(|at| Time(at + LATE_US))
    }

    pub(super) fn is_to_be_stopped(&self, now: Time, limits: &Limits, stopping: bool) -> bool {
        let has_nothing_left = match self.faulted {
            Some(at) => self.held.len() + self.handed.len() <= 1 || at.plus_ms(limits.stop_timeout_ms) <= now,
            None => self.held.is_empty() && self.handed.is_empty(),
        };
        self.state() == WorkerState::Leaving && has_nothing_left || stopping && self.stays()
    }

    pub fn deadline(&self, limits: &Limits) -> Option<Time> {
        match self.state() {
            WorkerState::Starting => Some(self.started.plus_ms(limits.start_timeout_ms)),
            WorkerState::Stopping => self.stopped.map(|at| at.plus_ms(limits.stop_timeout_ms)),
            WorkerState::Stuck => self.stuck.map(|at| at.plus_ms(limits.examine_timeout_ms)),
            WorkerState::Leaving => self.faulted.map(|at| at.plus_ms(limits.stop_timeout_ms)),
            WorkerState::Warming | WorkerState::Ready | WorkerState::Trial | WorkerState::Killed => None,
        }
    }
}
