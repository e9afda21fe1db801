//! Readiness of the service, by progress of its work.

use super::Gate;
use sluice_road::answers::edge::Readiness;

/// Readiness by progress of work: a gateway whose workers are busy and finish requests is ready, however long a probe of
/// the app itself would have to wait.
pub(super) fn readiness(gate: &Gate) -> Readiness {
    let (workers_ready, queue_length, has_free_slot) =
        gate.scheduler.read(|scheduler| (scheduler.ready_count(), scheduler.queue_length(), scheduler.has_free_slot()));
    let progress = gate.returns.last_progress().map(|at| at.elapsed());
    let reason = if gate.draining.is_ending() {
        "draining"
    } else if workers_ready == 0 {
        "no worker is ready"
    } else if !has_free_slot && gate.returns.is_stalled() {
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
