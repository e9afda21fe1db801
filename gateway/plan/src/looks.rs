//! The looks at workers' main threads by which the scheduler learns that they wait: `gateway/supervisor/src/waits.rs`, as
//! the scheduler's simulation has it.

use std::collections::HashMap;

use sluice_scheduler::{Event, Scheduler, WorkerId, WorkerState, WorkerView};

use crate::machine::Machine;

/// Time from a dispatch after which the request has certainly reached the worker, microseconds.
const UNDER_WAY_US: f64 = 3_000.0;
/// Time between looks, and the same if all workers hold several requests.
const PERIODS_US: [f64; 2] = [1_000.0, 5_000.0];
/// Periods over which a worker with several requests is judged, with the least share of sleep that has room for more.
const ASLEEP_MIN: [(f64, f64); 3] = [(40_000.0, 0.15), (200_000.0, 0.05), (1_000_000.0, 0.015)];

/// History of one worker.
#[derive(Clone, Copy, Default)]
struct Seen {
    given_us: f64,
    asleep_at_us: Option<f64>,
    held: usize,
    granted_us: Option<f64>,
    /// Time since which it is judged, and how long it had wanted the CPU then.
    judged: Option<(f64, f64)>,
    was_queued: bool,
    crowded: u32,
}

/// Looks at all workers of an instance.
#[derive(Default)]
pub(crate) struct Looks {
    next_us: f64,
    seen: HashMap<WorkerId, Seen>,
}

fn is_looked_at(view: &WorkerView) -> bool {
    view.state == WorkerState::Ready && (view.in_service > 0 || view.has_more_room)
}

impl Looks {
    /// Time of the next look; none while nothing can come of it.
    pub(crate) fn due_us(&self, scheduler: &Scheduler) -> f64 {
        let has_room = |view: WorkerView| view.has_more_room && view.state == WorkerState::Ready;
        let is_wanted = scheduler.queue_length() > 0 || scheduler.workers().any(has_room);
        if is_wanted { self.next_us } else { f64::INFINITY }
    }

    pub(crate) fn gave(&mut self, now_us: f64, worker: WorkerId) {
        self.seen.entry(worker).or_default().given_us = now_us;
    }

    pub(crate) fn forget(&mut self, worker: WorkerId) {
        self.seen.remove(&worker);
    }

    /// Looks at all workers and returns what to tell the scheduler.
    pub(crate) fn look(&mut self, now_us: f64, scheduler: &Scheduler, machine: &Machine) -> Vec<Event> {
        let mut busy: Vec<WorkerView> = scheduler.workers().filter(is_looked_at).collect();
        self.next_us = now_us + PERIODS_US[usize::from(busy.iter().all(|view| view.has_more_room))];
        busy.sort_by_key(|view| (view.in_service, view.worker));
        let mut is_queued = scheduler.queue_length();
        let mut events = Vec::new();
        for view in busy {
            let seen = self.seen.entry(view.worker).or_default();
            let (more, fewer) = seen.judge(now_us, &view, machine.look(view.worker), is_queued > 0);
            if fewer > 0 {
                events.push(Event::Crowded { worker: view.worker, by: fewer });
            }
            events.extend((0..more).map(|_| Event::Waits { worker: view.worker }));
            is_queued = is_queued.saturating_sub(more);
        }
        events
    }
}

impl Seen {
    /// Requests that the worker may hold in addition, and those that it should hold fewer.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "small")]
    fn judge(
        &mut self,
        now_us: f64,
        view: &WorkerView,
        (cpu_us, wanted_us, sleeps): (f64, f64, bool),
        is_queued: bool,
    ) -> (usize, u32) {
        let was = *self;
        let has_run = self.granted_us.is_none_or(|at| cpu_us > at);
        self.asleep_at_us = (sleeps && now_us - self.given_us >= UNDER_WAY_US).then_some(cpu_us);
        self.held = view.in_service;
        let is_still = self.asleep_at_us.is_some() && was.asleep_at_us == self.asleep_at_us;
        let waits = is_still && was.held == view.in_service && has_run && view.in_service > 0;
        if waits {
            (self.granted_us, self.asleep_at_us) = (Some(cpu_us), None);
        }
        let more = usize::from(waits && is_queued);
        if !view.has_more_room {
            (self.judged, self.crowded) = (None, 0);
            return (more, 0);
        }
        self.was_queued |= is_queued;
        let (since_us, wanted_before_us) = *self.judged.get_or_insert((now_us, wanted_us));
        let elapsed_us = now_us - since_us;
        let asleep_us = elapsed_us - (wanted_us - wanted_before_us);
        let is_crowded = elapsed_us >= 200_000.0 && asleep_us <= elapsed_us * 0.005;
        let is_needless = !self.was_queued && elapsed_us >= 200_000.0;
        let sleeps_enough = |(after_us, part): &(f64, f64)| elapsed_us >= *after_us && asleep_us >= elapsed_us * part;
        let has_time = is_queued && has_run && ASLEEP_MIN.iter().any(sleeps_enough);
        if !(is_crowded || is_needless || has_time || elapsed_us >= 1_000_000.0) {
            return (more, 0);
        }
        (self.judged, self.was_queued) = (Some((now_us, wanted_us)), false);
        if is_crowded || is_needless {
            let fewer = 1 << self.crowded.min(16);
            self.crowded += 1;
            return (0, fewer);
        }
        self.crowded = 0;
        if !has_time {
            return (more, 0);
        }
        self.granted_us = Some(cpu_us);
        (((view.in_service as f64 * asleep_us / elapsed_us) as usize).max(1), 0)
    }
}
