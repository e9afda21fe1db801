//! Readiness of the service, by progress of its work.

use std::time::Duration;

use tokio::time::Instant;

use super::Gate;
use sluice_road::answers::edge::Readiness;

/// Readiness by progress of work: a gateway whose workers are busy and finish requests is ready, however long a probe of
/// the app itself would have to wait.
pub fn readiness(gate: &Gate) -> Readiness {
    let (workers_ready, queue_length, has_free_slot) =
        gate.scheduler(|scheduler| (scheduler.ready_count(), scheduler.queue_length(), scheduler.has_free_slot()));
    let progress = gate.last_progress().map(|at| at.elapsed());
    // After a handover the service is as ready as it was, even if this process is about to leave.
    let reason = if (gate.is_leaving() || gate.is_draining()) && !gate.is_handed_over() {
        "draining"
    } else if workers_ready == 0 {
        "no worker is ready"
    } else if !has_free_slot && is_stalled(gate) {
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

fn is_stalled(gate: &Gate) -> bool {
    let limit = Duration::from_millis(gate.config().queue.wait_ms_max);
    let busy_since = gate.oldest_exchange().unwrap_or_else(Instant::now);
    let moved = gate.last_progress().map_or(busy_since, |progress| progress.max(busy_since));
    moved.elapsed() > limit
}
