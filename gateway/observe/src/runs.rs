//! Uninterrupted runs of workers' main threads, and the report of very long ones to an operator.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Write as _;
use std::rc::Rc;

use sluice_catalog::snapshot::RunsSnapshot;
use sluice_journal::{Event, RunTime};
use sluice_trends::{LongRun, Runs, Totals};

use crate::context::{Context, in_ms, unix_ms};
use crate::record::{RequestName, Run, RunCounts};

/// Duration from which a run is reported at once, microseconds.
pub const ALARMING_US: u64 = 1_000_000;
/// Longest plausible run, microseconds: a day.
const RUN_US_MAX: u64 = 86_400_000_000;
/// Maximum number of long runs in one check for alarms. More add no information.
const UNJUDGED_MAX: usize = 100;

/// A run that is to be judged.
#[derive(Clone, Debug)]
pub(crate) struct AlarmingRun {
    pub(crate) class: Option<Rc<str>>,
    pub(crate) text: String,
}

/// A run in which the gateway killed the worker.
#[derive(Clone, Copy, Debug)]
pub struct CutRun<'a> {
    /// Duration until the gateway decided to kill the worker, milliseconds, as the log line of the kill says.
    pub ms: u64,
    /// CPU time of the main thread in that time, microseconds, if known.
    pub cpu_us: Option<u64>,
    /// Time for which it was ready to run while no CPU was free, microseconds, if known.
    pub queued_us: Option<u64>,
    /// Function, file and line that ran then, if found.
    pub place: Option<&'a str>,
    /// Main cause of the duration, if known.
    pub spent: Option<RunTime>,
    /// File of the profile taken then, if there is one.
    pub profile: Option<&'a str>,
    /// Number of requests that the worker held. The latest is the likely cause, not a known one, if there are several.
    pub held: usize,
}

/// Advice about code that computes for too long at a known place.
const CHEAPER: &str = "Make this code faster, split it up, or move it to a worker thread";
/// CPU time from which a run that starved or waited also computed for too long, microseconds.
const COMPUTED_US: u64 = 100_000;

/// Runs of all workers, and long runs that wait for the next check.
pub struct MainThreads {
    context: Rc<Context>,
    runs: RefCell<Runs>,
    /// Long runs since the last check for alarms.
    unjudged: RefCell<Vec<AlarmingRun>>,
}

impl MainThreads {
    pub(crate) fn new(context: &Rc<Context>) -> Self {
        MainThreads { context: Rc::clone(context), runs: RefCell::default(), unjudged: RefCell::default() }
    }

    /// Records the counts of a worker's runs since it began to serve.
    pub fn counted(&self, worker: u64, totals: Totals) {
        self.runs.borrow_mut().told(worker, totals);
    }

    /// Records and logs a long run of a worker's main thread. `is_last_in_line` is true if the gateway gives the worker only
    /// the CPU time that others leave.
    pub fn ran_long(&self, worker: u64, run: &Run, request: Option<&RequestName>, is_last_in_line: bool) {
        let us = run.us.min(RUN_US_MAX);
        let spent = RunTime::of(us, run.cpu_us, run.queued_us);
        self.remember(worker, run, request.map(|of| (of.request_id.clone(), of.class.to_string())));
        if us < ALARMING_US {
            return;
        }
        let class = request.map(|of| Rc::clone(&of.class));
        let (ms, collected_ms, cpu_ms) = (in_ms(us), in_ms(run.collected_us), run.cpu_us.map(in_ms));
        self.context.journal.emit(Event::LongRun {
            worker,
            ms,
            collected_ms: Some(collected_ms),
            cpu_ms,
            queued_ms: run.queued_us.map(in_ms),
            spent,
            place: None,
            request: request.map(RequestName::held),
            class: class.as_deref(),
        });
        let of = self.owner(request);
        let cpu = on_cpu(run.cpu_us);
        let text = format!(
            "the main thread of worker {worker} ran for {ms:.0} ms without a break, {collected_ms:.0} ms of it in the garbage \
             collector{cpu}: a run {of}. Nothing else in that worker ran during this time. {}",
            advice(spent, run.cpu_us, is_last_in_line)
        );
        self.alarm(request, text);
    }

    /// Raises the alarm about a run that has not ended, and of which the log says that the worker is overdue.
    pub fn runs_on(&self, worker: u64, silent_ms: u64, request: Option<&RequestName>, held: usize) {
        let text = format!(
            "the main thread of worker {worker} has run for {silent_ms} ms without a break and continues: a run {}{}. Nothing else in \
             that worker runs during this time. `sluice hotspots --live --worker {worker}` shows where it is",
            self.owner(request),
            latest_of(held)
        );
        self.alarm(request, text);
    }

    /// Records and logs a run that the gateway ended by killing the worker.
    pub fn cut_off(&self, worker: u64, run: &CutRun<'_>, request: Option<&RequestName>) {
        let CutRun { ms, cpu_us, queued_us, place, spent, profile, held } = *run;
        let us = ms.saturating_mul(1000).min(RUN_US_MAX);
        let class = request.map(|of| Rc::clone(&of.class));
        self.context.journal.emit(Event::LongRun {
            worker,
            ms: in_ms(us),
            collected_ms: None,
            cpu_ms: cpu_us.map(in_ms),
            queued_ms: queued_us.map(in_ms),
            spent,
            place,
            request: request.map(RequestName::held),
            class: class.as_deref(),
        });
        let mut runs = self.runs.borrow_mut();
        runs.cut_off(us);
        runs.remember(LongRun {
            us,
            cpu_us,
            spent: spent.map(RunTime::as_str),
            place: place.map(str::to_owned),
            at_unix_ms: unix_ms(),
            worker,
            request: request.map(|of| (of.request_id.clone(), of.class.to_string())),
            ..LongRun::default()
        });
        let found = place.map_or_else(String::new, |place| format!(" The gateway found it in {place}."));
        let profile = profile.map_or_else(String::new, |file| format!(". `sluice hotspots {file}` shows more"));
        let text = format!(
            "the main thread of worker {worker} ran for {ms} ms without a break{}, until the gateway killed the worker: a run {}{}.{found} \
             Nothing else in that worker ran during this time. {}{profile}",
            on_cpu(cpu_us),
            self.owner(request),
            latest_of(held),
            if spent == Some(RunTime::Waiting) { advice(spent, None, false).into() } else { Cow::from(CHEAPER) }
        );
        self.alarm(request, text);
    }

    fn alarm(&self, request: Option<&RequestName>, text: String) {
        let mut unjudged = self.unjudged.borrow_mut();
        if unjudged.len() < UNJUDGED_MAX {
            unjudged.push(AlarmingRun { class: request.map(|of| Rc::clone(&of.class)), text });
        }
    }

    fn owner(&self, request: Option<&RequestName>) -> String {
        request.map_or_else(
            || "that could not be attributed to one request".to_owned(),
            |RequestName { request_id, method, target, .. }| {
                format!("of request {request_id}, {method} {}", self.context.journal.shown(target))
            },
        )
    }

    /// Records the runs of an ended request, by class without the first.
    pub(crate) fn ended(&self, runs: &RunCounts) {
        self.runs.borrow_mut().ended(runs);
    }

    /// Remembers the run of a request, with the request's id and class.
    pub(crate) fn remember(&self, worker: u64, run: &Run, request: Option<(String, String)>) {
        let us = run.us.min(RUN_US_MAX);
        self.runs.borrow_mut().remember(LongRun {
            us,
            collected_us: run.collected_us,
            cpu_us: run.cpu_us,
            spent: RunTime::of(us, run.cpu_us, run.queued_us).map(RunTime::as_str),
            place: None,
            at_unix_ms: unix_ms().saturating_sub(run.ago_ms),
            worker,
            request,
        });
    }

    pub(crate) fn gone(&self, worker: u64) {
        self.runs.borrow_mut().gone(worker);
    }

    pub(crate) fn take_unjudged(&self) -> Vec<AlarmingRun> {
        self.unjudged.take()
    }

    /// Uninterrupted runs of all workers' main threads.
    pub fn snapshot(&self) -> RunsSnapshot {
        self.runs.borrow().snapshot(unix_ms())
    }

    /// Uninterrupted runs of one worker's main thread.
    pub fn of_worker(&self, worker: u64) -> Option<RunsSnapshot> {
        self.runs.borrow().worker(worker)
    }
}

fn on_cpu(cpu_us: Option<u64>) -> String {
    cpu_us.map_or_else(String::new, |cpu_us| format!(", {:.0} ms on a CPU", in_ms(cpu_us)))
}

/// Advice to an operator about a long run.
fn advice(spent: Option<RunTime>, cpu_us: Option<u64>, is_last_in_line: bool) -> String {
    let computed = cpu_us.filter(|cpu_us| *cpu_us >= COMPUTED_US);
    let mut text = match spent {
        Some(RunTime::Starved) if is_last_in_line => {
            "Starved: other processes had the CPU. Workers for long requests and overdue workers get only the CPU \
             time that others leave: use fewer workers (workers.count), or more CPUs"
        }
        Some(RunTime::Starved) => {
            "Starved: other processes had the CPU. The machine has too few CPUs for its load, or the container's CPU \
             limit is reached: use fewer workers (workers.count) or more CPUs, or stop other processes"
        }
        Some(RunTime::Waiting) => {
            "It slept in a synchronous call for most of that time: a file, a child process, a lock. Use the asynchronous call"
        }
        Some(RunTime::Computing) | None => {
            return "`sluice profile` shows the code: make it faster, split it up, or move it to a worker thread".to_owned();
        }
    }
    .to_owned();
    match computed {
        Some(cpu_us) => {
            // Writing to a String cannot fail.
            let _ = write!(
                text,
                ". It also computed for {:.0} ms: `sluice hotspots --live --all` names the lines",
                in_ms(cpu_us)
            );
        }
        None if spent == Some(RunTime::Starved) => text.push_str(". The code may be fine"),
        None => {}
    }
    text
}

/// Remark that the request which is named is the likely cause of a run, where the worker held several.
fn latest_of(held: usize) -> String {
    if held > 1 { format!(", the latest of {held} that the worker held") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_had_no_cpu_is_not_told_to_become_cheaper() {
        for is_last_in_line in [false, true] {
            let starved = advice(Some(RunTime::Starved), Some(99_000), is_last_in_line);
            assert!(starved.starts_with("Starved: ") && starved.ends_with("The code may be fine"), "{starved}");
            assert!(advice(Some(RunTime::Computing), None, is_last_in_line).contains("make it faster"));
        }
        assert!(advice(Some(RunTime::Waiting), None, false).ends_with("asynchronous call"));
    }

    #[test]
    fn code_that_starved_and_computed_hears_both() {
        for spent in [RunTime::Starved, RunTime::Waiting] {
            let text = advice(Some(spent), Some(607_000), false);
            let ends = "It also computed for 607 ms: `sluice hotspots --live --all` names the lines";
            assert!(text.ends_with(ends) && !text.contains("fine"), "{text}");
        }
        assert!(
            advice(Some(RunTime::Starved), Some(607_000), true)
                .starts_with("Starved: other processes had the CPU. Workers for long requests")
        );
    }
}
