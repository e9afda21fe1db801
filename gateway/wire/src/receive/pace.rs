//! Minimum rate at which a request's body must arrive.

use std::time::Duration;

use tokio::time::Instant;

use crate::front::lobby::Lobby;

/// The minimum rate as a deadline that moves with each byte: after the grace time, `rate` bytes a second on average.
pub(crate) struct Pace {
    /// Time at which the body began.
    pub(crate) started: Instant,
    grace: Duration,
    rate_bytes_per_s: u64,
    received_bytes: u64,
    last_received: Instant,
}

impl Pace {
    /// Begins with the body.
    pub(crate) fn start(lobby: &Lobby) -> Self {
        let config = lobby.config();
        let bounds = &config.bounds;
        Pace {
            started: Instant::now(),
            grace: Duration::from_millis(bounds.body_grace_ms),
            rate_bytes_per_s: bounds.body_rate_bytes_per_s_min.max(1),
            received_bytes: 0,
            last_received: Instant::now(),
        }
    }

    /// Counts bytes that have arrived.
    pub(crate) fn received(&mut self, bytes: usize) {
        self.received_bytes += bytes as u64;
        self.last_received = Instant::now();
    }

    /// Excludes the time since then, in which the gateway made the client wait.
    pub(crate) fn resume(&mut self, since: Instant) {
        let now = Instant::now();
        self.started += now.saturating_duration_since(since);
        self.last_received = now;
    }

    /// Time by which more has to come.
    pub(crate) fn deadline(&self) -> Instant {
        let on_average = Duration::from_millis(self.received_bytes.saturating_mul(1000) / self.rate_bytes_per_s);
        // A fast start buys no right to stop: a pause may last no longer than the grace time.
        (self.started + self.grace + on_average).min(self.last_received + self.grace)
    }
}
