//! Load of the whole gateway, in the figures that balancers in front of it are told.

use crate::{Scheduler, Time};

/// Wait that halves the weight, milliseconds.
const HALF_MS: f64 = 100.0;

/// Load of a gateway.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Wait of a request that arrived now, milliseconds; 0 while a worker is free for it.
    pub wait_ms: u64,
    /// Requests that wait.
    pub queued: usize,
    /// Workers that the pool is to have.
    pub wanted: u32,
    /// Workers of the short lane that take requests: neither starting nor blocked.
    pub serving: u32,
    /// Workers that have room for a request.
    pub free: u32,
}

impl Load {
    /// Share of new requests that the gateway asks for, percent, from 1 to 100. A wait of 100 ms halves it, and workers that do not serve
    /// take their part of it.
    pub fn weight(&self) -> f64 {
        let serving = f64::from(self.serving.min(self.wanted)) / f64::from(self.wanted.max(1));
        (100.0 * serving / (1.0 + self.waits())).max(1.0)
    }

    /// Utilization of the workers: below 1 while one is free, above it by the time that requests wait. Never 0, which balancers read as
    /// unknown.
    pub fn utilization(&self) -> f64 {
        let busy = f64::from(self.wanted.saturating_sub(self.free)) / f64::from(self.wanted.max(1));
        if self.wait_ms > 0 { 1.0 + self.waits() } else { busy.max(0.01) }
    }

    /// Wait in multiples of the one that halves the weight.
    #[allow(clippy::cast_precision_loss, reason = "a wait of 2^53 ms is no wait")]
    fn waits(&self) -> f64 {
        self.wait_ms as f64 / HALF_MS
    }
}

impl Scheduler {
    /// Load of the gateway now.
    pub fn load(&self, now: Time) -> Load {
        let offer = self.offer();
        let serving = if offer.short_ready > 0 { offer.short_ready } else { offer.long_ready };
        Load {
            wait_ms: if self.has_free_slot() { 0 } else { self.wait_ms(now) },
            queued: self.queue_length(),
            wanted: self.pool.wanted(),
            serving,
            free: offer.seats,
        }
    }

    /// Predicted wait where no worker is free. A prediction knows only requests that ended: the oldest waiting request, and the worker that
    /// was given its request last, tell of those that do not.
    fn wait_ms(&self, now: Time) -> u64 {
        let waited_us = self.oldest_arrival().map_or(0, |arrived| now.since_us(arrived));
        let busy_us = self.pool.busy_us(now).unwrap_or(0);
        self.predicted_wait_ms().unwrap_or(0).max(waited_us.max(busy_us) / 1000)
    }
}
