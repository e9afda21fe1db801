//! Finds workers that only wait while requests are queued, for `workers.concurrency = "auto"`: what they hold is with a
//! database or another server, and their main thread sleeps. It is seen from outside, so apps need not say anything.
//!
//! It tells the gate; who gets a request is the scheduler's decision. While nothing is queued it does nothing at all.

use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use sluice_scheduler::{WorkerId, WorkerState};

use crate::Supervisor;
use crate::forensics::main_thread_state;

/// Between two looks at all workers. A thread that has not run between them and sleeps at both waits.
const PERIOD: Duration = Duration::from_millis(1);
/// A request that was given to a worker so long ago has reached it.
const UNDER_WAY_MAX: Duration = Duration::from_millis(3);
/// Looking takes at most this part of the gateway's time.
const SHARE: u32 = 10;

/// What was seen of a worker's main thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    /// CPU time at the last look, if it slept.
    asleep_at_us: Option<u64>,
    held: usize,
    /// CPU time when it was granted a request; until it has run since, it has not picked that up.
    granted_at_us: Option<u64>,
}

impl Seen {
    /// Takes in a look; true when the worker may have one request more.
    fn look(&mut self, state: char, cpu_us: u64, held: usize) -> bool {
        let was = *self;
        *self = Seen { asleep_at_us: (state == 'S').then_some(cpu_us), held, ..was };
        let has_picked_up = was.granted_at_us.is_none_or(|granted_at_us| cpu_us > granted_at_us);
        let waits = self.asleep_at_us.is_some() && was.asleep_at_us == self.asleep_at_us && was.held == held;
        if waits && has_picked_up {
            *self = Seen { granted_at_us: Some(cpu_us), ..Seen::default() };
        }
        waits && has_picked_up
    }
}

/// Looks for as long as the gateway runs.
pub(crate) async fn run(supervisor: Rc<Supervisor>) {
    let mut seen: HashMap<WorkerId, Seen> = HashMap::new();
    loop {
        supervisor.gate.queue_waits().await;
        for known in seen.values_mut() {
            // How long ago that was is not known any more.
            known.asleep_at_us = None;
        }
        while supervisor.gate.scheduler(sluice_scheduler::Scheduler::queue_length) > 0 {
            let began = Instant::now();
            look(&supervisor, &mut seen);
            tokio::time::sleep(PERIOD.max(began.elapsed() * SHARE)).await;
        }
    }
}

fn look(supervisor: &Supervisor, seen: &mut HashMap<WorkerId, Seen>) {
    let held_max = supervisor.gate.config().workers.held_max() as usize;
    let mut busy: Vec<(WorkerId, usize)> = supervisor.gate.scheduler(|scheduler| {
        let busy = scheduler.workers().filter(|view| view.state == WorkerState::Ready && view.in_service > 0);
        busy.map(|view| (view.worker, view.in_service)).collect()
    });
    seen.retain(|worker, _| busy.iter().any(|(known, _)| known == worker));
    // Whoever holds least gets the next one.
    busy.sort_by_key(|(worker, held)| (*held, *worker));
    for (worker, held) in busy.into_iter().filter(|(_, held)| *held < held_max) {
        let pid = supervisor.view(worker).pid;
        let Some((state, cpu_us)) = pid.and_then(main_thread_state) else { continue };
        if supervisor.gate.scheduler(sluice_scheduler::Scheduler::queue_length) == 0 {
            return;
        }
        // Before that it sleeps because nothing has come yet.
        if supervisor.gate.latest_given(worker).is_none_or(|given| given.elapsed() < UNDER_WAY_MAX) {
            continue;
        }
        if seen.entry(worker).or_default().look(state, cpu_us, held) {
            supervisor.gate.waits(worker);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worker_waits_that_sleeps_at_two_looks_and_has_not_run_between_them() {
        let mut seen = Seen::default();
        assert!(!seen.look('S', 100, 1));
        assert!(!seen.look('S', 140, 1), "it has run in between");
        assert!(!seen.look('R', 140, 1), "it would run if it were let");
        assert!(!seen.look('S', 140, 1));
        assert!(seen.look('S', 140, 1));
    }

    #[test]
    fn worker_gets_no_further_request_before_it_has_picked_up_the_last() {
        let mut seen = Seen::default();
        seen.look('S', 100, 1);
        assert!(seen.look('S', 100, 1));
        for _ in 0..10 {
            assert!(!seen.look('S', 100, 2), "a synchronous child sleeps as well");
        }
        assert!(!seen.look('S', 150, 2));
        assert!(seen.look('S', 150, 2));
    }

    #[test]
    fn worker_whose_request_was_replaced_by_another_is_looked_at_anew() {
        let mut seen = Seen::default();
        seen.look('S', 100, 2);
        assert!(!seen.look('S', 100, 1));
        assert!(seen.look('S', 100, 1));
    }
}
