//! Wait before the next stand-in for a worker, after some that were not needed. It must not know workers.

use crate::{Limits, Time};

/// Number of stand-ins for workers whose event loop turned again by itself, and the resulting delay.
#[derive(Debug, Default)]
pub(super) struct Needless {
    count: u32,
    pub(super) not_before: Time,
}

impl Needless {
    pub(super) fn add(&mut self, now: Time, limits: &Limits) {
        let (min_ms, max_ms) = (limits.needless_wait_ms_min, limits.needless_wait_ms_max);
        if self.not_before.plus_ms(max_ms) <= now {
            self.count = 0;
        }
        let wait_ms = min_ms.saturating_mul(1 << self.count.min(32)).min(max_ms);
        self.count += 1;
        self.not_before = now.plus_ms(wait_ms);
    }
}
