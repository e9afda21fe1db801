//! The scheduler in its steps: one event after another, each with its time on the scheduler's clock.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::time::Duration;

use sluice_scheduler::{Action, Event, Lane, Load, Scheduler, Time, WorkerId, WorkerState, WorkerView};
use tokio::time::Instant;

use crate::upstream::time_since;

/// The scheduler, its clock, and its pending events.
pub struct SchedulerSteps {
    pub(super) scheduler: RefCell<Scheduler>,
    /// Events that the scheduler has not had yet, with the time of each.
    events: RefCell<VecDeque<(Instant, Event)>>,
    is_stepping: Cell<bool>,
    /// List of a step's actions, stored for its memory, and for the actions that a panic has left.
    actions: Cell<Vec<Action>>,
    epoch: Instant,
    /// The scheduler's clock as of the latest step.
    stepped: Cell<Time>,
}

impl SchedulerSteps {
    pub(super) fn new(scheduler: Scheduler, epoch: Instant) -> Self {
        SchedulerSteps {
            scheduler: RefCell::new(scheduler),
            events: RefCell::default(),
            is_stepping: Cell::new(false),
            actions: Cell::default(),
            epoch,
            stepped: Cell::new(Time(0)),
        }
    }

    /// Adds an event. Returns the steps that follow, unless the event waits for the end of those in progress.
    pub(super) fn begin(&self, at: Instant, event: Event) -> Option<Stepping<'_>> {
        self.events.borrow_mut().push_back((at, event));
        // Empty, unless a panic has left what was still to be carried out.
        (!self.is_stepping.replace(true)).then(|| Stepping { steps: self, actions: self.actions.take() })
    }

    /// Whether a panic has left actions that are still to be carried out.
    pub(super) fn has_left_actions(&self) -> bool {
        let actions = self.actions.take();
        let is_left = !actions.is_empty();
        self.actions.set(actions);
        is_left
    }

    /// Reads the scheduler's state.
    pub fn read<T>(&self, read: impl FnOnce(&Scheduler) -> T) -> T {
        read(&self.scheduler.borrow())
    }

    /// Changes what the scheduler knows, apart from its events.
    pub(super) fn change(&self, change: impl FnOnce(&mut Scheduler)) {
        change(&mut self.scheduler.borrow_mut());
    }

    pub(super) fn now(&self) -> Time {
        self.time_of(Instant::now())
    }

    fn time_of(&self, at: Instant) -> Time {
        time_since(self.epoch, at)
    }

    /// Time since a point of the scheduler's clock.
    pub fn age(&self, since: Time) -> Duration {
        Duration::from_micros(self.now().since_us(since))
    }

    /// Load of the workers and the queue.
    pub fn load(&self) -> Load {
        self.scheduler.borrow().load(self.now())
    }

    /// Time for which the oldest queued request has waited, in milliseconds.
    pub fn oldest_wait_ms(&self) -> f64 {
        let oldest = self.scheduler.borrow().oldest_arrival();
        #[allow(clippy::cast_precision_loss)] // Waits are far below 2^53 µs.
        oldest.map_or(0.0, |arrived| self.now().since_us(arrived) as f64 / 1000.0)
    }

    /// Places in the pool whose worker may keep sessions, with these workers.
    pub(crate) fn homes(&self) -> Vec<(u32, WorkerId)> {
        let is_home = |view: &WorkerView| view.state == WorkerState::Ready && view.lane == Lane::Short;
        self.scheduler.borrow().workers().filter(is_home).map(|view| (view.instance, view.worker)).collect()
    }

    /// Whether the worker still exists; its last reports may be read after its exit.
    pub(super) fn is_there(&self, worker: WorkerId) -> bool {
        self.scheduler.borrow().worker_state(worker).is_some()
    }

    /// Whether this worker is being warmed, even if it holds no request.
    pub(crate) fn is_warming(&self, worker: WorkerId) -> bool {
        self.scheduler.borrow().worker_state(worker) == Some(WorkerState::Warming)
    }
}

/// Steps in progress. A panic in one leaves the remaining actions and events with the scheduler's.
pub(super) struct Stepping<'s> {
    steps: &'s SchedulerSteps,
    /// Actions in reverse order: the next one is last.
    pub(super) actions: Vec<Action>,
}

impl Stepping<'_> {
    /// Takes the next step. Returns the time of its event, or `None` if there is no event.
    pub(super) fn step(&mut self) -> Option<Instant> {
        let steps = self.steps;
        let (at, event) = steps.events.borrow_mut().pop_front()?;
        // Something else may have been decided since.
        let now = steps.time_of(at).max(steps.stepped.get());
        steps.stepped.set(now);
        steps.scheduler.borrow_mut().step(now, event, &mut self.actions);
        self.actions.reverse();
        Some(at)
    }
}

impl Drop for Stepping<'_> {
    fn drop(&mut self) {
        self.steps.actions.set(std::mem::take(&mut self.actions));
        self.steps.is_stepping.set(false);
    }
}
