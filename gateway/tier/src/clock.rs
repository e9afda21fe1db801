//! The server's clock, which all gateways have in common: pages travel with its time, so that no gateway's own wall clock decides
//! how old a page is. It is pure.

use std::time::Duration;

use tokio::time::Instant;

/// Decrease of the server's clock between two readings that counts as a clock change.
const FALL_MS_MAX: u64 = 2_000;
/// Maximum duration of a usable reading of the clock.
const TRIP_MAX: Duration = Duration::from_secs(1);

/// Readings of the server's clock.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    /// The latest reading, and when it came.
    read: Option<(u64, Instant)>,
}

impl Clock {
    /// The server's time at a moment, milliseconds; a little less than it was, by the way that the reading took.
    pub(crate) fn at(&self, at: Instant) -> Option<u64> {
        let (server_ms, came) = self.read?;
        Some(match at.checked_duration_since(came) {
            Some(since) => server_ms.saturating_add(millis(since)),
            None => server_ms.saturating_sub(millis(came.duration_since(at))),
        })
    }

    /// Takes a reading. Returns whether the clock was set back since the one before.
    pub(crate) fn read(&mut self, server_ms: u64, asked: Instant, came: Instant) -> bool {
        if came.duration_since(asked) > TRIP_MAX {
            return false;
        }
        let expected = self.at(came);
        self.read = Some((server_ms, came));
        expected.is_some_and(|expected| server_ms.saturating_add(FALL_MS_MAX) < expected)
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Whether a clock that says `server_ms` has said later times before.
pub(crate) fn is_behind(server_ms: u64, said_ms: u64) -> bool {
    server_ms.saturating_add(FALL_MS_MAX) < said_ms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_time_is_known_between_readings() {
        let (mut clock, at) = (Clock::default(), Instant::now());
        assert_eq!(clock.at(at), None);
        assert!(!clock.read(1_000_000, at, at));
        assert_eq!(clock.at(at + Duration::from_millis(70)), Some(1_000_070));
        assert_eq!(clock.at(at), Some(1_000_000));
    }

    #[test]
    fn a_clock_that_is_set_back_is_noticed_at_the_next_reading() {
        let (mut clock, at) = (Clock::default(), Instant::now());
        let after = |ms| at + Duration::from_millis(ms);
        clock.read(1_000_000, at, at);
        assert!(!clock.read(999_500, after(1_000), after(1_000)), "a correction of a second or so is none");
        assert!(clock.read(900_000, after(2_000), after(2_000)));
        assert!(!clock.read(901_000, after(3_000), after(3_000)), "it is told once");
        assert!(!clock.read(2_000_000, after(4_000), after(4_000)), "to go forward makes nothing fresh");
    }

    #[test]
    fn a_reading_that_was_late_is_none() {
        let (mut clock, at) = (Clock::default(), Instant::now());
        clock.read(1_000_000, at, at);
        let late = at + Duration::from_secs(10);
        assert!(!clock.read(1_000_100, at, late), "the server was stopped, and its clock was not set back");
        assert_eq!(clock.at(late), Some(1_010_000));
    }
}
