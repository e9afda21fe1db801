//! Results of questions to the tier, since the start. Both threads count.

use std::sync::atomic::{AtomicU64, Ordering};

/// One count.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// Value of the counter.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// All counts.
#[derive(Debug, Default)]
pub struct Counts {
    /// Look-ups that found a page.
    pub hits: Count,
    /// Look-ups that found none.
    pub misses: Count,
    /// Look-ups that took too long.
    pub timeouts: Count,
    /// Look-ups that failed at once, and pages that were damaged.
    pub errors: Count,
    /// Look-ups that were left out, because the server did not answer in time before.
    pub skipped: Count,
    /// Pages that the server took.
    pub written: Count,
    /// Pages that it was not given: too many waited, or the connection was lost.
    pub dropped: Count,
    /// Pages that it refused, for want of memory for example.
    pub refused: Count,
    /// Purges that it was told.
    pub purges_told: Count,
    /// Purges of other gateways.
    pub purges_heard: Count,
}
