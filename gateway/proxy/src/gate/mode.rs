//! Whether `workers.concurrency` fits the app, by what workers do while they hold requests: gathered here, judged by
//! [`crate::sleep`], and told once in the log.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use sluice_catalog::config::Concurrency;
use sluice_catalog::snapshot::ConcurrencySnapshot;
use sluice_journal::Event as Happening;
use sluice_scheduler::{Lane, WorkerId, WorkerState, WorkerView};
use tokio::time::Instant;

use super::Gate;
use crate::sleep::{Sleep, advice, gain, is_worth_it};

/// What is known of the workers' sleep, and whether the log was told.
pub(super) struct Mode {
    pub(super) sleep: RefCell<Sleep>,
    cpus: u32,
    /// Since when workers hold requests.
    since: Cell<Option<Instant>>,
    is_told: Cell<bool>,
}

impl Default for Mode {
    fn default() -> Self {
        let cpus = std::thread::available_parallelism().ok().and_then(|count| u32::try_from(count.get()).ok());
        Mode { sleep: RefCell::default(), cpus: cpus.unwrap_or(1), since: Cell::new(None), is_told: Cell::new(false) }
    }
}

impl Gate {
    /// Called with every tick.
    pub(super) fn sample_sleep(&self) {
        let scheduler = self.scheduler.borrow();
        // Those of the long lane have what the others leave of the CPUs, which is no sleep.
        let workers = scheduler.workers().filter(|view| view.state == WorkerState::Ready && view.lane == Lane::Short);
        let occupied = workers.map(|view| (view.worker, view.in_service > 0));
        self.mode.sleep.borrow_mut().tick(scheduler.queue_length() > 0, occupied);
    }

    pub(super) fn forget_sleep_of(&self, worker: WorkerId) {
        self.mode.sleep.borrow_mut().forget(worker);
    }

    /// Called once a second: the share of the time that workers sleep with what they hold while others wait, and how many times
    /// as many requests they could serve instead. `None` where the mode lets them.
    pub(super) fn asleep_while_queued(&self, now: Instant) -> Option<(f64, f64)> {
        self.mode.sleep.borrow_mut().decay();
        self.tell_mode(now);
        let is_fixed = self.config().workers.concurrency != Concurrency::WhileWaiting;
        let asleep = self.mode.sleep.borrow().share_while_queued().filter(|_| is_fixed)?;
        let gain = self.gain(asleep);
        is_worth_it(gain).then_some((asleep, gain))
    }

    /// The share of the time that workers sleep while others wait, where the mode gives them further requests meanwhile and none has
    /// memory for more.
    pub(super) fn asleep_when_full(&self) -> Option<f64> {
        let scheduler = self.scheduler.borrow();
        let is_short = |view: &WorkerView| view.state == WorkerState::Ready && view.lane == Lane::Short;
        let has_room: Vec<bool> = scheduler.workers().filter(is_short).map(|view| !view.is_full).collect();
        let is_full = self.config().workers.concurrency == Concurrency::WhileWaiting
            && !has_room.is_empty()
            && !has_room.contains(&true);
        self.mode.sleep.borrow().share_while_queued().filter(|_| is_full)
    }

    /// Says once which mode fits, when workers have held requests for as long as an alarm takes.
    fn tell_mode(&self, now: Instant) {
        let mode = &self.mode;
        let Some(asleep) = mode.sleep.borrow().share().filter(|_| !mode.is_told.get()) else { return };
        let since = mode.since.get().unwrap_or(now);
        mode.since.set(Some(since));
        let config = self.config();
        if now.saturating_duration_since(since) < Duration::from_secs(config.bounds.alarm_after_s.into()) {
            return;
        }
        mode.is_told.set(true);
        let (level, text) = advice(config.workers.concurrency, asleep, self.gain(asleep));
        self.journal.emit(Happening::Note { level, text: &text });
    }

    fn gain(&self, asleep: f64) -> f64 {
        let workers = self.scheduler.borrow().workers().filter(|view| view.lane == Lane::Short).count();
        gain(asleep, u32::try_from(workers).unwrap_or(u32::MAX), self.mode.cpus)
    }

    /// The mode in force, and which one fits.
    pub fn concurrency(&self) -> ConcurrencySnapshot {
        let concurrency = self.config().workers.concurrency;
        let asleep = self.mode.sleep.borrow().share();
        ConcurrencySnapshot {
            mode: match concurrency {
                Concurrency::Fixed(count) => count.to_string(),
                Concurrency::WhileWaiting => "while-waiting".to_owned(),
            },
            asleep,
            advice: asleep.map(|asleep| advice(concurrency, asleep, self.gain(asleep)).1),
        }
    }
}
