//! The player's clock.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// Milliseconds between frames.
pub const FRAME_MS: f64 = 1000.0 / 60.0;

/// Milliseconds since the start: of the machine, or counted by frames, so that a run is the same each time.
#[derive(Debug)]
pub enum Clock {
    /// The machine's.
    Real(Instant),
    /// Frames.
    Virtual(Cell<f64>),
}

impl Clock {
    /// The machine's, from now on.
    pub fn real() -> Self {
        Self::Real(Instant::now())
    }

    /// One that stands until it is moved.
    pub fn counted() -> Self {
        Self::Virtual(Cell::new(0.0))
    }

    /// Whether it is counted by frames.
    pub fn is_virtual(&self) -> bool {
        matches!(self, Self::Virtual(_))
    }

    /// Milliseconds.
    pub fn now(&self) -> f64 {
        match self {
            Self::Real(start) => start.elapsed().as_secs_f64() * 1000.0,
            Self::Virtual(now) => now.get(),
        }
    }

    /// Waits until a moment; a virtual clock is there at once.
    pub fn wait(&self, until: f64) {
        match self {
            Self::Real(start) => {
                let end = *start + Duration::from_secs_f64(until.max(0.0) / 1000.0);
                std::thread::sleep(end.saturating_duration_since(Instant::now()));
            }
            Self::Virtual(now) => now.set(until.max(now.get())),
        }
    }
}
