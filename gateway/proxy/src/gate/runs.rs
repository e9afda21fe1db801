//! Uninterrupted runs of workers' main threads, on their way from the workers to the operator.

use std::rc::Rc;

use sluice_catalog::snapshot::RunsSnapshot;
use sluice_journal::{Event as Happening, HeldRequest, RunTime};
use sluice_scheduler::{Lane, WorkerId};
use sluice_supervisor::{LongRun, Reported, RunsTold};
use sluice_trends::{LongRun as Remembered, Totals};

use super::Gate;
use super::tails::now_unix_ms;
use crate::upstream::WorkerRequest;

/// Runs from here on are told of at once, microseconds.
const ALARMING_US: u64 = 1_000_000;
/// Longest run that is believed, microseconds: a day.
const RUN_US_MAX: u64 = 86_400_000_000;
/// Long runs between two looks for alarms that are judged; more say nothing more.
const UNJUDGED_MAX: usize = 100;

/// A run that is to be judged.
#[derive(Clone, Debug)]
pub(crate) struct Alarming {
    pub(crate) class: Option<Rc<str>>,
    pub(crate) text: String,
}

impl Gate {
    pub(super) fn take_runs(&self, worker: WorkerId, told: &RunsTold<'_>) {
        if let Some(totals) = Totals::told(told.counts, told.time_us) {
            let (observed_us, collections) = (told.observed_us, told.collections);
            let totals = Totals { observed_us, collections, collected_us: told.collected_us, ..totals };
            // Its last words may be read after its exit.
            if self.scheduler.borrow().worker_state(worker).is_some() {
                self.runs.borrow_mut().told(worker.0, totals);
            }
        }
        for run in &told.long {
            let exchange = run.request.and_then(|request| self.requests.exchange(request));
            let exchange = exchange.filter(|exchange| exchange.answer.worker.get() == Some(worker));
            self.take_long_run(worker, run, exchange.as_deref());
        }
    }

    /// A request has left the app.
    pub(super) fn take_runs_of(&self, worker: WorkerId, exchange: &WorkerRequest, reported: &Reported<'_>) {
        if exchange.is_own {
            return;
        }
        self.runs.borrow_mut().ended(reported.runs);
        // Those that alarm were told at once.
        if let Some(run) = reported.longest.filter(|run| run.us < ALARMING_US) {
            self.take_long_run(worker, &run, Some(exchange));
        }
    }

    fn take_long_run(&self, worker: WorkerId, run: &LongRun, exchange: Option<&WorkerRequest>) {
        let (us, name) = (run.us.min(RUN_US_MAX), exchange.map(WorkerRequest::name));
        let class = exchange.map(|exchange| Rc::clone(&exchange.class.name));
        let spent = RunTime::of(us, run.cpu_us, run.queued_us);
        self.runs.borrow_mut().remember(Remembered {
            us,
            collected_us: run.collected_us,
            cpu_us: run.cpu_us,
            spent: spent.map(RunTime::as_str),
            at_unix_ms: now_unix_ms().saturating_sub(run.ago_ms),
            worker: worker.0,
            request: name.as_ref().zip(class.as_ref()).map(|((id, _, _), class)| (id.clone(), class.to_string())),
        });
        if us < ALARMING_US {
            return;
        }
        let held = name.as_ref();
        let request = held.map(|(request_id, method, target)| HeldRequest { request_id, method, target });
        let (ms, collected_ms, cpu_ms) = (in_ms(us), in_ms(run.collected_us), run.cpu_us.map(in_ms));
        self.journal.emit(Happening::LongRun {
            worker: worker.0,
            ms,
            collected_ms,
            cpu_ms,
            queued_ms: run.queued_us.map(in_ms),
            spent,
            request,
            class: class.as_deref(),
        });
        let mut unjudged = self.unjudged.borrow_mut();
        if unjudged.len() < UNJUDGED_MAX {
            let of = held.map_or_else(
                || "of no request, or of one of several".to_owned(),
                |(request_id, method, target)| {
                    format!("of request {request_id}, {method} {}", self.journal.shown(target))
                },
            );
            let cpu = cpu_ms.map_or_else(String::new, |cpu_ms| format!(", {cpu_ms:.0} ms on a CPU"));
            let text = format!(
                "the main thread of worker {} ran for {ms:.0} ms without a break, {collected_ms:.0} ms of it in the garbage \
                 collector{cpu}: a run {of}. Nothing else of that worker ran meanwhile. {}",
                worker.0,
                advice(spent, self.is_last_in_line(worker))
            );
            unjudged.push(Alarming { class, text });
        }
    }

    /// Whether the gateway gives the worker only the CPU time that others leave.
    fn is_last_in_line(&self, worker: WorkerId) -> bool {
        let scheduler = self.scheduler.borrow();
        let found = scheduler.workers().find(|view| view.worker == worker);
        found.is_some_and(|view| view.lane == Lane::Long || view.is_lowered)
    }

    /// Uninterrupted runs of all workers' main threads.
    pub fn runs(&self) -> RunsSnapshot {
        self.runs.borrow().snapshot(now_unix_ms())
    }

    /// Those of one worker.
    pub fn runs_of(&self, worker: WorkerId) -> Option<RunsSnapshot> {
        self.runs.borrow().worker(worker.0)
    }
}

/// What an operator may do about a long run.
fn advice(spent: Option<RunTime>, is_last_in_line: bool) -> &'static str {
    match spent {
        Some(RunTime::Starved) if is_last_in_line => {
            "Starved: others had the CPU. The gateway gives workers for long requests, and those that are overdue, only what the \
             others leave. The code may be fine: use fewer workers (workers.count), or more CPUs"
        }
        Some(RunTime::Starved) => {
            "Starved: others had the CPU, so the machine has more to do than CPUs, or the container's CPU limit is reached. The \
             code may be fine: use fewer workers (workers.count), more CPUs, or look for other processes that take them"
        }
        Some(RunTime::Waiting) => {
            "It slept in a synchronous call for most of that time: a file, a child process, a lock. Use the asynchronous call"
        }
        Some(RunTime::Computing) | None => {
            "`sluice profile` shows the code: make it faster, split it up, or move it to a worker thread"
        }
    }
}

#[allow(clippy::cast_precision_loss)] // At most a day.
fn in_ms(us: u64) -> f64 {
    us as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_had_no_cpu_is_not_told_to_become_cheaper() {
        for is_last_in_line in [false, true] {
            let starved = advice(Some(RunTime::Starved), is_last_in_line);
            assert!(starved.starts_with("Starved: ") && !starved.contains("faster"), "{starved}");
            assert!(advice(Some(RunTime::Computing), is_last_in_line).contains("make it faster"));
        }
        assert!(advice(Some(RunTime::Waiting), false).contains("asynchronous"));
    }
}
