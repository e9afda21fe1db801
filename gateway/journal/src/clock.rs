//! Source of the journal's times, which tests can set.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// A wall clock and a monotonic one.
#[derive(Debug, Clone)]
pub enum Clock {
    /// The operating system's, counted from an instant.
    System(Instant),
    /// Both clocks show these milliseconds.
    Manual(Rc<Cell<u64>>),
}

impl Clock {
    pub(crate) fn unix_ms(&self) -> u64 {
        match self {
            Self::System(_) => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
            }
            Self::Manual(now_ms) => now_ms.get(),
        }
    }

    /// Milliseconds of a clock that never goes back.
    pub(crate) fn monotonic_ms(&self) -> u64 {
        match self {
            Self::System(started) => u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            Self::Manual(now_ms) => now_ms.get(),
        }
    }
}
