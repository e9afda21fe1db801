//! Journal, config and clock that all parts of the observer share.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sluice_catalog::config::Config;
use sluice_journal::{Event, Journal, Level};
use tokio::time::Instant;

/// Shared state of the observer's parts.
pub(crate) struct Context {
    pub(crate) journal: Journal,
    config: RefCell<Rc<Config>>,
    epoch: Instant,
}

impl Context {
    pub(crate) fn new(config: Rc<Config>, journal: Journal) -> Rc<Self> {
        Rc::new(Context { journal, config: RefCell::new(config), epoch: Instant::now() })
    }

    pub(crate) fn config(&self) -> Rc<Config> {
        Rc::clone(&self.config.borrow())
    }

    pub(crate) fn set_config(&self, config: Rc<Config>) {
        *self.config.borrow_mut() = config;
    }

    /// Writes one sentence for the operator.
    pub(crate) fn note(&self, level: Level, text: &str) {
        self.journal.emit(Event::Note { level, text });
    }

    /// Time from the observer's start to this moment.
    pub(crate) fn since_start(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.epoch)
    }

    /// The same in milliseconds.
    pub(crate) fn ms(&self, now: Instant) -> u64 {
        u64::try_from(self.since_start(now).as_millis()).unwrap_or(u64::MAX)
    }
}

/// Unix time in milliseconds.
pub fn unix_ms() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
}

/// Microseconds as milliseconds.
#[allow(clippy::cast_precision_loss)] // Times are far below 2^53 µs.
pub(crate) fn in_ms(us: u64) -> f64 {
    us as f64 / 1000.0
}
