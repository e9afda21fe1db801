//! Whether `workers.concurrency` fits the app, according to workers' sleep while they hold requests. This module collects the
//! readings, [`crate::sleep`] judges them, and the log has the result once.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use sluice_catalog::config::Concurrency;
use sluice_catalog::snapshot::ConcurrencySnapshot;
use sluice_scheduler::WorkerId;
use tokio::time::Instant;

use crate::context::Context;
use crate::sleep::{Sleep, advice, gain, is_worth_it};

/// Workers whose sleep counts, as of the last check for alarms.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShortLane {
    /// Number of these workers.
    pub workers: u32,
    /// True if each of them holds as many requests as its memory allows.
    pub is_full: bool,
}

/// Measurements of workers' sleep, and whether the log has the advice.
pub struct Mode {
    context: Rc<Context>,
    sleep: RefCell<Sleep>,
    cpus: u32,
    lane: Cell<ShortLane>,
    /// Time from which workers hold requests.
    since: Cell<Option<Instant>>,
    is_told: Cell<bool>,
}

impl Mode {
    pub(crate) fn new(context: &Rc<Context>) -> Self {
        let cpus = std::thread::available_parallelism().ok().and_then(|count| u32::try_from(count.get()).ok());
        Mode {
            context: Rc::clone(context),
            sleep: RefCell::default(),
            cpus: cpus.unwrap_or(1),
            lane: Cell::default(),
            since: Cell::new(None),
            is_told: Cell::new(false),
        }
    }

    /// Records for how much of the time since the worker's last beat its main thread was awake.
    pub fn was_awake(&self, worker: WorkerId, elapsed: Duration, awake: Duration) {
        self.sleep.borrow_mut().beat(worker, elapsed, awake);
    }

    /// Samples the workers that take requests, each with whether it holds one. Called with every tick.
    pub(crate) fn sample(&self, is_queued: bool, workers: impl Iterator<Item = (WorkerId, bool)>) {
        self.sleep.borrow_mut().tick(is_queued, workers);
    }

    pub(crate) fn gone(&self, worker: WorkerId) {
        self.sleep.borrow_mut().forget(worker);
    }

    /// Updates the judgement. Called once a second, before the other methods.
    pub(crate) fn look(&self, now: Instant, lane: ShortLane) {
        self.lane.set(lane);
        self.sleep.borrow_mut().decay();
        self.tell(now);
    }

    /// Share of time that workers sleep with their requests while others wait, and the factor by which they could serve more
    /// requests. `None` if the mode gives them further requests, or if the factor is small.
    pub(crate) fn asleep_while_queued(&self) -> Option<(f64, f64)> {
        let is_fixed = self.concurrency() != Concurrency::WhileWaiting;
        let asleep = self.sleep.borrow().share_while_queued().filter(|_| is_fixed)?;
        let gain = self.gain(asleep);
        is_worth_it(gain).then_some((asleep, gain))
    }

    /// Share of time that workers sleep while requests wait, if the mode gives them further requests but none has memory for
    /// more.
    pub(crate) fn asleep_when_full(&self) -> Option<f64> {
        let is_full = self.concurrency() == Concurrency::WhileWaiting && self.lane.get().is_full;
        self.sleep.borrow().share_while_queued().filter(|_| is_full)
    }

    /// Logs once which mode fits, after workers have held requests for `alarm_after_s`.
    fn tell(&self, now: Instant) {
        let Some(asleep) = self.sleep.borrow().share().filter(|_| !self.is_told.get()) else { return };
        let since = self.since.get().unwrap_or(now);
        self.since.set(Some(since));
        let config = self.context.config();
        if now.saturating_duration_since(since) < Duration::from_secs(config.bounds.alarm_after_s.into()) {
            return;
        }
        self.is_told.set(true);
        let (level, text) = advice(config.workers.concurrency, asleep, self.gain(asleep));
        self.context.note(level, &text);
    }

    fn gain(&self, asleep: f64) -> f64 {
        gain(asleep, self.lane.get().workers, self.cpus)
    }

    fn concurrency(&self) -> Concurrency {
        self.context.config().workers.concurrency
    }

    /// The mode in force, and which one fits.
    pub fn snapshot(&self) -> ConcurrencySnapshot {
        let concurrency = self.concurrency();
        let asleep = self.sleep.borrow().share();
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
