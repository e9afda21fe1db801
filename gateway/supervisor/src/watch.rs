//! Notices workers whose event loop does not turn: while it does, a line comes over the control connection four times a
//! second.
//!
//! It notifies the gate; the scheduler decides about the worker. `overdue` finds workers that may recover, this file
//! those that will not; both use the same samples of the main thread.
//!
//! Workers that have never beaten (another runtime, one that still starts) and those that were asked to exit are not
//! watched: other timeouts apply to them.

mod overdue;

use std::rc::Rc;
use std::time::Duration;

use sluice_journal::Event;
use sluice_observe::{ALARMING_US, RequestName};
use sluice_scheduler::Event::{Overdue, Stuck};
use tokio::time::Instant;

use crate::Supervisor;
use crate::filling;
use crate::priority::Priority;
use crate::process::Process;
use crate::process::facts::{CpuUse, Look, Track, Trouble, TroubleKind};
use crate::sample::{Verdict, verdict};

/// Time between two checks of all workers.
const PERIOD: Duration = Duration::from_millis(100);
/// Time between two checks while a worker is late, so that it is judged on time.
const PERIOD_LATE: Duration = Duration::from_millis(50);
/// Delay of this watch above which silence proves nothing. The machine slept or the gateway had no CPU.
const LATENESS_MAX: Duration = Duration::from_millis(500);
/// Silence after which a worker is late; its main thread is sampled for the first time then.
const SILENCE_LATE: Duration = Duration::from_millis(1500);
/// Divisor of the limit for overdue workers that gives the cost of cheap requests. If all cost at most that, half the
/// limit is ten times their cost, and is enough.
const CHEAP_PART: u64 = 20;
/// Minimum limit for overdue workers, because signs of life are a quarter of a second apart, milliseconds.
const OVERDUE_MS_MIN: u64 = 500;
/// Time between two samples below which they say nothing.
const WINDOW_MIN: Duration = Duration::from_millis(200);
/// Time over which a thread must wait to count as waiting. A sample without a result is replaced after the same time,
/// or later if the limit is long.
const WINDOW: Duration = Duration::from_secs(1);
/// Maximum time between the last beat and the beginning of a silence. After a pause of the gateway, the silence begins later.
const BEATS_APART_MAX: Duration = Duration::from_secs(1);
/// Multiple of the limit for stuck workers after which a worker is stuck although it had less CPU time than the limit,
/// because it holds its requests meanwhile.
const STARVED_TIMES: u32 = 6;

/// Time limits of a blocked event loop; `None` disables one.
#[derive(Clone, Copy, Debug)]
struct Limits {
    overdue: Option<Duration>,
    burning: Option<Duration>,
    blocked: Option<Duration>,
}

impl Look {
    fn verdict_since(&self, earlier: &Look) -> Verdict {
        verdict(earlier.sample, self.sample, self.at.duration_since(earlier.at))
    }

    /// CPU time since an earlier look; none if the system does not report it.
    fn cpu_since(&self, earlier: &Look) -> Duration {
        let used = earlier.sample.zip(self.sample).map(|(earlier, later)| later.cpu_us.saturating_sub(earlier.cpu_us));
        Duration::from_micros(used.unwrap_or(0))
    }
}

impl Limits {
    fn of(supervisor: &Supervisor) -> Self {
        let limit = |ms: u64| (ms > 0).then(|| Duration::from_millis(ms));
        let config = supervisor.gate.config();
        Limits {
            overdue: limit(overdue_after_ms(config.overdue_after_ms(), |us| {
                supervisor.gate.scheduler(|scheduler| scheduler.costs().are_at_most(us))
            })),
            burning: limit(config.workers.stuck_after_ms),
            blocked: limit(config.blocked_after_ms()),
        }
    }

    fn are_off(self) -> bool {
        self.overdue.is_none() && self.burning.is_none() && self.blocked.is_none()
    }

    /// Silence from which a worker is late.
    fn late(self) -> Duration {
        let shortest = [self.overdue, self.burning, self.blocked].into_iter().flatten().min();
        // The first look has to come well before the judgement.
        shortest.map_or(SILENCE_LATE, |limit| (limit * 3 / 4).min(SILENCE_LATE))
    }

    /// Minimum time for which a thread must use CPU to count as stuck. A thread that has waited for long and then works
    /// for a moment before its event loop turns again is not stuck.
    fn burning_window(self) -> Duration {
        self.burning.map_or(WINDOW, |limit| limit.saturating_sub(self.late() + PERIOD)).max(WINDOW_MIN)
    }
}

/// Limit in force, milliseconds, from the configured one and a function that says whether requests cost at most so many
/// microseconds.
fn overdue_after_ms(configured_ms: u64, cost_at_most: impl Fn(u64) -> bool) -> u64 {
    if configured_ms > OVERDUE_MS_MIN && cost_at_most(configured_ms * 1000 / CHEAP_PART) {
        (configured_ms / 2).max(OVERDUE_MS_MIN)
    } else {
        configured_ms
    }
}

/// Duration from which a run that has not ended raises an alarm, as one that has ended does.
const LONG_RUN: Duration = Duration::from_micros(ALARMING_US);

/// Watches the workers until the gateway exits.
pub(crate) async fn run(supervisor: Rc<Supervisor>) {
    let mut period = PERIOD;
    let mut ticked = Instant::now();
    loop {
        tokio::time::sleep(period).await;
        let now = Instant::now();
        let was_away = now.duration_since(ticked) > period + LATENESS_MAX;
        ticked = now;
        period = PERIOD;
        let limits = Limits::of(&supervisor);
        let processes: Vec<Rc<Process>> = supervisor.processes.borrow().values().cloned().collect();
        for process in processes.iter().filter(|process| is_watched(process)) {
            if was_away || limits.are_off() {
                supervisor.watch_anew(process, now);
            }
            if process.excuse.get().is_some_and(|excuse| now < excuse.until) {
                continue;
            }
            let Some(silent) = process.last_heard.get().map(|heard| now.duration_since(heard)) else { continue };
            if silent >= filling::SILENCE && !process.is_inspected() {
                filling::judge(process, now);
            }
            if silent >= limits.late() {
                period = PERIOD_LATE;
                let subject = Silence {
                    silent,
                    is_debugged: process.is_inspected(),
                    is_lowered: process.is_lowered.get() || process.priority == Priority::Leftover,
                    now,
                };
                look_at(&supervisor, process, limits, subject);
            }
        }
    }
}

fn look_at(supervisor: &Supervisor, process: &Process, limits: Limits, subject: Silence) {
    let latest = Look { at: subject.now, sample: process.sample() };
    let Some(mut track) = process.track.get() else {
        return process.track.set(Some(Track { first: latest, recent: latest, since: latest }));
    };
    if !process.is_overdue.get() && overdue::judge(limits.overdue, subject, &track, &latest) {
        process.is_overdue.set(true);
        if !process.is_told_overdue.replace(true) {
            tell_overdue(supervisor, process, subject.silent);
        }
        supervisor.gate.tell(Overdue { worker: process.worker });
    }
    if process.is_told_overdue.get() && subject.silent >= LONG_RUN && !process.is_long_run_told.replace(true) {
        tell_long_run(supervisor, process, subject.silent);
    }
    let is_half_over = limits.burning.is_some_and(|limit| subject.silent >= limit / 2);
    if is_half_over && process.is_overdue.get() && supervisor.may_raise && !process.is_spared.get() {
        spare(process, subject.silent, &track, &latest);
    }
    let kind = judge(limits, subject, &mut track, latest);
    track.move_on(latest);
    process.track.set(Some(track));
    if let Some(kind) = kind {
        let silent = subject.silent;
        // A beat from before the silence would count CPU time of requests that are over.
        let beaten = process.beaten.get().filter(|(at, _)| subject.now.duration_since(*at) <= silent + BEATS_APART_MAX);
        let begin = beaten.and_then(|(_, sample)| sample).or(track.first.sample);
        let used = begin.zip(latest.sample).map(|(begin, end)| CpuUse::between(begin, end, silent));
        process.trouble.set(Some(Trouble { silent, used: used.unwrap_or_default(), kind }));
        supervisor.gate.tell(Stuck { worker: process.worker });
        if !process.is_examined.get() {
            // The scheduler has other plans for it. Should these come to nothing, the waiting begins again.
            process.trouble.set(None);
            supervisor.watch_anew(process, subject.now);
        }
    }
}

/// Raises the alarm about a run that has not ended.
fn tell_long_run(supervisor: &Supervisor, process: &Process, silent: Duration) {
    let (workers, worker) = (supervisor.gate.workers(), process.worker);
    let silent_ms = u64::try_from(silent.as_millis()).unwrap_or(u64::MAX);
    workers.runs_on(worker, silent_ms, workers.latest_request(worker).as_ref(), workers.held(worker).len());
}

fn tell_overdue(supervisor: &Supervisor, process: &Process, silent: Duration) {
    let silent_ms = u64::try_from(silent.as_millis()).unwrap_or(u64::MAX);
    let latest = supervisor.gate.workers().latest_request(process.worker);
    let request = latest.as_ref().map(RequestName::held);
    supervisor.journal.emit(Event::WorkerOverdue { worker: process.worker.0, silent_ms, request });
}

/// Gives a lowered worker that has starved since its usual priority again, while there is time to finish. On an
/// overloaded machine it would otherwise not finish, and be mistaken for a loop.
fn spare(process: &Process, silent: Duration, track: &Track, latest: &Look) {
    if overdue::has_hardly_run(track.first.sample, latest.sample, silent) {
        process.is_spared.set(true);
        // It is gone, or stays as it is.
        let _ = process.set_priority(process.priority);
    }
}

fn is_watched(process: &Process) -> bool {
    process.is_ready.get()
        && !process.has_exited.get()
        && !process.is_asked_to_leave.get()
        && !process.is_dying.get()
        && !process.is_examined.get()
}

#[derive(Clone, Copy)]
struct Silence {
    silent: Duration,
    /// Whether its inspector was opened by someone else, so that its main thread may wait at a breakpoint.
    is_debugged: bool,
    /// Whether it has a low priority, as all of the long lane have, so that the others' CPU time comes first.
    is_lowered: bool,
    now: Instant,
}

fn judge(limits: Limits, subject: Silence, track: &mut Track, latest: Look) -> Option<TroubleKind> {
    let Silence { silent, is_debugged, is_lowered, now } = subject;
    let earlier = track.since;
    let is_over = |limit: Option<Duration>| limit.is_some_and(|limit| silent >= limit);
    let window = now.duration_since(earlier.at);
    if window < WINDOW_MIN || !(is_over(limits.burning) || is_over(limits.blocked)) {
        return None;
    }
    let may_be_blocked = is_over(limits.blocked) && window >= WINDOW && !is_debugged;
    // Whoever could run but is not let, because a cgroup has had its share or the machine is full, does not wait.
    let is_runnable = latest.sample.is_some_and(|sample| sample.state == 'R');
    let is_patience_over = is_over(limits.burning.map(|limit| limit * STARVED_TIMES));
    // Time that other processes had the CPU is no sign of a loop: a long render may only be starved.
    let computed = if is_patience_over { window } else { latest.cpu_since(&earlier) };
    let verdict = latest.verdict_since(&earlier);
    let kind = match verdict {
        Verdict::Burns if is_over(limits.burning) && computed >= limits.burning_window() => Some(TroubleKind::Stuck),
        Verdict::Blocked if is_lowered && is_runnable && is_patience_over => Some(TroubleKind::Stuck),
        Verdict::Blocked if may_be_blocked && !is_runnable => Some(TroubleKind::Blocked),
        // Where nothing is known of its thread, it has the longer of the times, and is looked into.
        Verdict::Unknown if may_be_blocked => Some(TroubleKind::Stuck),
        _ => None,
    };
    let is_counted_on = verdict == Verdict::Burns || (is_lowered && is_runnable);
    if kind.is_none() && !is_counted_on && window >= limits.burning_window().max(WINDOW) {
        track.since = latest;
    }
    kind
}

#[cfg(test)]
mod tests;
