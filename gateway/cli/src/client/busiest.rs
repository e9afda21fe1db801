//! The worker that a profile is taken of unless one is named: the one that works most.

use sluice_catalog::snapshot::{WorkerSnapshot, WorkerState};

use super::connect::{ClientError, Gateway};

/// The worker to ask for: the one that is named, none if all are meant or none serves, else the busiest.
pub fn chosen(gateway: &mut Gateway, worker: Option<u64>, all: bool) -> Result<Option<u64>, ClientError> {
    if worker.is_some() || all {
        return Ok(worker);
    }
    Ok(of(&gateway.status()?.workers))
}

/// Silence from which an event loop counts as blocked, milliseconds. Workers speak four times a second.
const BLOCKED_MS: u64 = 1000;

fn is_blocked(worker: &WorkerSnapshot) -> bool {
    worker.lowered && worker.silent_ms.is_some_and(|silent_ms| silent_ms >= BLOCKED_MS)
}

/// Id of the worker that used most CPU time in the last seconds, then the one with most answered requests. A worker that is to exit
/// counts only while its event loop is blocked.
pub fn of(workers: &[WorkerSnapshot]) -> Option<u64> {
    let serves =
        |worker: &&WorkerSnapshot| is_blocked(worker) || matches!(worker.state, WorkerState::Ready | WorkerState::Busy);
    let busier = |a: &&WorkerSnapshot, b: &&WorkerSnapshot| {
        let cpu = |worker: &WorkerSnapshot| worker.cpu.unwrap_or_default();
        (is_blocked(a).cmp(&is_blocked(b)))
            .then_with(|| cpu(a).total_cmp(&cpu(b)))
            .then_with(|| a.requests_total.cmp(&b.requests_total))
            .then_with(|| b.id.cmp(&a.id))
    };
    workers.iter().filter(serves).max_by(busier).map(|worker| worker.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(id: u64, cpu: Option<f64>, requests_total: u64) -> WorkerSnapshot {
        let known = crate::client::status::tests::snapshot().workers.remove(0);
        WorkerSnapshot { id, cpu, requests_total, state: WorkerState::Busy, lowered: false, ..known }
    }

    #[test]
    fn most_cpu_time_lately_counts_more_than_answers() {
        assert_eq!(of(&[worker(1, Some(0.02), 900), worker(2, Some(0.98), 3)]), Some(2));
        assert_eq!(of(&[worker(1, None, 3), worker(2, None, 9), worker(3, None, 9)]), Some(2));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn a_worker_whose_event_loop_is_blocked_comes_first_and_one_that_exits_does_not_count() {
        let leaving = WorkerSnapshot { state: WorkerState::Leaving, ..worker(2, Some(1.0), 900) };
        let lowered = WorkerSnapshot { lowered: true, id: 1, cpu: Some(0.2), silent_ms: Some(90), ..leaving.clone() };
        let blocked = WorkerSnapshot { silent_ms: Some(1200), ..lowered.clone() };
        assert_eq!(of(&[lowered, leaving.clone(), worker(3, Some(0.1), 1)]), Some(3), "it turns again");
        assert_eq!(of(&[blocked.clone(), leaving.clone(), worker(3, Some(0.9), 1)]), Some(1));
        assert_eq!(of(&[leaving.clone(), worker(3, Some(0.01), 1)]), Some(3));
        assert_eq!(of(&[leaving]), None);
    }
}
