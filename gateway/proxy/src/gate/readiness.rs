//! Readiness of the service, by progress of its work.

use std::time::Duration;

use tokio::time::Instant;

use super::Gate;
use sluice_road::answers::edge::Readiness;

impl Gate {
    /// Readiness by progress of work: a gateway whose workers are busy and finish requests is ready, however long a probe of
    /// the app itself would have to wait.
    pub fn readiness(&self) -> Readiness {
        let (workers_ready, queue_length, has_free_slot) = self
            .scheduler
            .read(|scheduler| (scheduler.ready_count(), scheduler.queue_length(), scheduler.has_free_slot()));
        let progress = self.returns.last_progress().map(|at| at.elapsed());
        let reason = if self.draining.is_ending() {
            "draining"
        } else if workers_ready == 0 {
            "no worker is ready"
        } else if !has_free_slot && self.is_stalled() {
            "every worker is busy and none has finished a request for too long"
        } else {
            "ready"
        };
        Readiness {
            is_ready: reason == "ready",
            reason,
            workers_ready,
            queue_length,
            last_progress_ms: progress.map(|since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX)),
        }
    }

    fn is_stalled(&self) -> bool {
        let limit = Duration::from_millis(self.road.config().queue.wait_ms_max);
        let busy_since = self.dispatch.requests.oldest_begun().unwrap_or_else(Instant::now);
        let moved = self.returns.last_progress().map_or(busy_since, |progress| progress.max(busy_since));
        moved.elapsed() > limit
    }
}
