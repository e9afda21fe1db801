//! The gate as the operator sees it, and the one thing an operator tells it: to drain.

use std::time::{Duration, Instant};

use sluice_journal::Event as Happening;
use sluice_scheduler::{Scheduler, Time, WorkerId};

use super::Gate;

impl Gate {
    /// From now on connections are closed after their request, and readiness says no.
    pub fn drain(&self, reason: &str) {
        if !self.draining.replace(true) {
            self.journal.emit(Happening::Draining { reason });
            self.connections.close_idle();
        }
    }

    /// Whether [`Gate::drain`] was called.
    pub fn is_draining(&self) -> bool {
        self.draining.get()
    }

    /// Requests that this worker has finished.
    pub fn requests_total(&self, worker: WorkerId) -> u64 {
        self.slots.borrow().get(&worker).map_or(0, |slots| slots.finished_total.get())
    }

    /// Client connections since the start.
    pub fn connections_total(&self) -> u64 {
        self.connections.total()
    }

    /// Upgraded connections and event streams since the start.
    pub fn streams_total(&self) -> u64 {
        self.streams_total.get()
    }

    /// Open client connections.
    pub fn connection_count(&self) -> usize {
        self.connections.len()
    }

    /// Upgraded connections and event streams.
    pub fn stream_count(&self) -> u64 {
        self.streams.get()
    }

    /// Bytes in temporary files.
    pub fn temp_bytes(&self) -> u64 {
        self.store.used_bytes()
    }

    /// When a worker last finished a request.
    pub fn last_progress(&self) -> Option<Instant> {
        self.last_progress.get()
    }

    /// When the request that has been in a worker's slot for longest was given to it.
    pub(crate) fn oldest_exchange(&self) -> Option<Instant> {
        self.exchanges
            .borrow()
            .values()
            .filter(|exchange| !exchange.answer.is_stream.get())
            .map(|exchange| exchange.started)
            .min()
    }

    /// Tells the records that still wait for a worker's report; nothing follows.
    pub fn flush_records(&self) {
        self.costs.flush(self);
    }

    /// Reads the scheduler's state.
    pub fn scheduler<T>(&self, read: impl FnOnce(&Scheduler) -> T) -> T {
        read(&self.scheduler.borrow())
    }

    /// How long ago a point of the scheduler's time was.
    pub fn age(&self, since: Time) -> Duration {
        Duration::from_micros(self.now().since_us(since))
    }

    /// How long the oldest queued request has waited, in milliseconds.
    pub fn oldest_wait_ms(&self) -> f64 {
        let oldest = self.scheduler.borrow().oldest_arrival();
        #[allow(clippy::cast_precision_loss)] // Waits are far below 2^53 µs.
        oldest.map_or(0.0, |arrived| self.now().since_us(arrived) as f64 / 1000.0)
    }

    /// What a worker holds now: request id, class, and for how many milliseconds.
    pub fn current_requests(&self, worker: WorkerId) -> Vec<(String, String, u64)> {
        let exchanges = self.exchanges.borrow();
        let held = exchanges
            .values()
            .filter(|exchange| exchange.answer.worker.get() == Some(worker) && !exchange.answer.is_stream.get());
        held.map(|exchange| exchange.describe()).collect()
    }
}
