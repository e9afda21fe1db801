//! The clock by which pages grow old where their gateway's own clock does not reach: in another process.

use std::time::{SystemTime, UNIX_EPOCH};

use nix::time::{ClockId, clock_gettime};
use sluice_cache::Moment;
use tokio::time::Instant;

/// A clock that every process of this machine reads alike, that counts while the machine sleeps, and that nobody can set.
#[cfg(target_os = "linux")]
const SHARED: ClockId = ClockId::CLOCK_BOOTTIME;
#[cfg(not(target_os = "linux"))]
const SHARED: ClockId = ClockId::CLOCK_MONOTONIC;

/// Milliseconds since the machine was started.
pub fn clock_ms() -> u64 {
    let Ok(time) = clock_gettime(SHARED) else { return 0 };
    let whole = |number: i64| u64::try_from(number).unwrap_or(0);
    whole(time.tv_sec()).saturating_mul(1000).saturating_add(whole(time.tv_nsec()) / 1_000_000)
}

/// A gateway's own clock, for a thread that is not its own.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    /// The clock that began then.
    pub fn since(epoch: Instant) -> Self {
        Clock(epoch)
    }

    /// Present moment.
    pub fn moment(self) -> Moment {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let steady_ms = u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX);
        Moment { wall_s: wall.as_secs(), steady_ms }
    }
}
