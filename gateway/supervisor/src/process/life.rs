//! A worker's process from its start to its exit.

use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::rc::Rc;
use std::time::Duration;

use nix::sys::signal::Signal;
use sluice_catalog::errors::Code;
use sluice_catalog::snapshot;
use sluice_journal::{AppText, Event, ExitReason, HeldRequest, Journal, Stream};
use sluice_scheduler::{KillReason, Lane, WorkerId, WorkerState};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::evidence::{self, ReportChatter};
use crate::exit::{self, Ending};
use crate::forensics::{Inspector, InspectorLine, inspector_line};
use crate::output::read_records;
use crate::priority::Priority;
use crate::process::Process;
use crate::process::facts::{THREW_TIMEOUT, Threw, TroubleKind};
use crate::{App, Crash, InflightRequest, Start, Supervisor, filling, last_words, pipe, priority, probe};

/// Maximum wait for the last lines of an exited process. A grandchild may keep the pipe open forever.
const OUTPUT_TIMEOUT: Duration = Duration::from_millis(500);

fn told(lane: Lane) -> snapshot::Lane {
    match lane {
        Lane::Short => snapshot::Lane::Short,
        Lane::Long => snapshot::Lane::Long,
    }
}

/// Starts the process and follows it until its end.
pub(crate) async fn run(
    supervisor: Rc<Supervisor>,
    app: Rc<App>,
    worker: WorkerId,
    instance: u32,
    generation: u64,
    lane: Lane,
) {
    let socket = supervisor.socket(worker);
    lay_out(&supervisor, worker, &socket);
    let mut child = match supervisor.command(&app, worker, instance, &socket).spawn() {
        Ok(child) => child,
        Err(error) => {
            let program = app.program();
            let hint = if error.kind() == io::ErrorKind::NotFound { hint_of(&app) } else { String::new() };
            let text = format!("cannot start `{program}` in {}: {error}{hint}", app.cwd.display());
            report_failure(&supervisor, worker, Code::AppNotStarted, text);
            supervisor.gate.workers().exited(worker);
            return;
        }
    };
    let pid = child.id().unwrap_or(0);
    let added_nice = supervisor.gate.config().bounds.worker_nice;
    // At once, so that the threads to come have it too. It fails only where the process has gone already. Those of both lanes
    // start alike: with what the others leave, an app would take its time to boot just when its requests already wait.
    let usual = priority::of_lane(Lane::Short, added_nice);
    let aside = aside_time(&supervisor, &app, worker);
    let _ = priority::set(pid, if aside.is_some() { priority::aside(usual) } else { usual });
    supervisor.guardian.watch(pid);
    supervisor.journal.emit(Event::WorkerStarted { worker: worker.0, pid, generation, lane: told(lane) });
    let (inspector_news, inspector) = watch::channel(Inspector::default());
    let inspector_news = Rc::new(inspector_news);
    let priority = priority::of_lane(lane, added_nice);
    let waits_for_word = supervisor.gate.config().workers.wait_ready;
    let process = Rc::new(Process::new(worker, app, pid, priority, waits_for_word, inspector));
    *process.filling.inspector.borrow_mut() = Rc::downgrade(&inspector_news);
    process.filling.is_gateway_looking.replace(Rc::clone(&supervisor.is_looking));
    supervisor.processes.borrow_mut().insert(worker, Rc::clone(&process));
    if let Some(time) = aside {
        tokio::task::spawn_local(end_aside(Rc::clone(&process), usual, time));
    }
    catch_up(&supervisor, &process);
    tokio::task::spawn_local(probe::watch(Rc::clone(&supervisor), Rc::clone(&process)));
    let stdout = child.stdout.take().map(|pipe| {
        let journal = supervisor.journal.clone();
        tokio::task::spawn_local(read_records(pipe, |_| true, move |text| tell(&journal, worker, Stream::Stdout, text)))
    });
    let stderr = child.stderr.take().map(|pipe| {
        let (journal, tail, process) = (supervisor.journal.clone(), Rc::clone(&process.tail), Rc::clone(&process));
        let (chatter, socket) = (ReportChatter::default(), socket.clone());
        let is_kept = move |line: &str| {
            if chatter.has(line, &socket) {
                return false;
            }
            if let Some(said) = inspector_line(line) {
                let is_own = process.is_examined.get() || process.filling.is_looked_into();
                if let InspectorLine::News(news) = said {
                    let _ = inspector_news.send(news);
                }
                // Who starts the app with --inspect reads these lines; when the gateway opens it, they are its own.
                if is_own {
                    return false;
                }
            }
            tail.borrow_mut().push(line);
            process.wrote_stderr.set(Some(Instant::now()));
            true
        };
        tokio::task::spawn_local(read_records(pipe, is_kept, move |text| tell(&journal, worker, Stream::Stderr, text)))
    });
    let status = child.wait().await;
    // Whatever it started and left behind goes with it.
    process.signal_group(Signal::SIGKILL);
    process.has_exited.set(true);
    supervisor.guardian.forget(pid);
    // The queue learns of the death before the log does: no request may go to the dead (I4).
    supervisor.auxiliaries.forget(worker);
    // In development, the page about the death shows what the app wrote last.
    let is_told_at_once = process.is_ready.get() && process.app.development.is_none();
    let held = supervisor.gate.workers().held(worker);
    leave_untold(&supervisor, &process);
    if is_told_at_once {
        supervisor.gate.workers().exited(worker);
    }
    for task in [stdout, stderr].into_iter().flatten() {
        let _ = tokio::time::timeout(OUTPUT_TIMEOUT, task).await;
    }
    if process.control.borrow().is_some() {
        let _ = tokio::time::timeout(OUTPUT_TIMEOUT, process.is_heard_out.notified()).await;
    }
    filling::conclude(&process).await;
    let evidence = evidence::keep(&supervisor, &process, &socket, &status).await;
    process.diagnosed().await;
    report_exit(&supervisor, &process, &status, &held, evidence.as_deref());
    if !is_told_at_once {
        // It held nothing, so nothing waits for this; and who gives up now finds the reason written down.
        supervisor.gate.workers().exited(worker);
    }
    supervisor.processes.borrow_mut().remove(&worker);
    clear_away(&socket);
}

/// Hint about a program that was not found: the directory or what may be missing.
fn hint_of(app: &App) -> String {
    if !app.cwd.is_dir() {
        return ". The directory does not exist (app.cwd)".to_owned();
    }
    let program = app.program();
    match &app.start {
        _ if program.contains('/') => {
            ". There is no such file, or the interpreter that its first line names is missing".to_owned()
        }
        Start::Script { .. } => ". Install Node.js, or name it with --node (app.node)".to_owned(),
        Start::Command(_) => format!(
            ". It is neither in node_modules/.bin of this directory or of one above it, nor in PATH. Install the package that has it \
             (npm install), or name its path: ./node_modules/.bin/{program}"
        ),
    }
}

/// Time for which the worker boots at a lower priority. `None` if that cannot be undone, or for a command, whose
/// processes cannot be distinguished before one of them listens.
fn aside_time(supervisor: &Supervisor, app: &App, worker: WorkerId) -> Option<Duration> {
    let time_us = supervisor.gate.scheduler(|scheduler| scheduler.aside_us(worker));
    time_us.filter(|_| supervisor.may_raise && !app.is_command()).map(Duration::from_micros)
}

/// Gives the process its usual priority after its time aside, because a slow boot aside must not end at
/// `workers.start_timeout_ms`.
async fn end_aside(process: Rc<Process>, usual: Priority, time: Duration) {
    tokio::time::sleep(time).await;
    if !process.is_ready.get() {
        // It fails only where the process has gone.
        let _ = process.set_priority(usual);
    }
}

/// Prepares the files beside the socket of a new worker, and removes old ones.
fn lay_out(supervisor: &Supervisor, worker: WorkerId, socket: &Path) {
    let _ = std::fs::remove_file(socket);
    // Without its pipe the worker gets nothing ahead of time, which is no reason not to start it.
    if let Err(error) = pipe::make(socket) {
        let text = format!(
            "Worker {} gets no cheap request ahead of its turn: its pipe could not be created beside {} ({error}).",
            worker.0,
            socket.display()
        );
        supervisor.note(sluice_journal::Level::Warn, &text);
    }
}

/// Removes a worker's files beside its socket.
fn clear_away(socket: &Path) {
    let _ = std::fs::remove_file(socket);
    let _ = std::fs::remove_file(probe::claim_file(socket));
    pipe::remove(socket);
}

/// Carries out actions that came before the process existed.
fn catch_up(supervisor: &Supervisor, process: &Rc<Process>) {
    match supervisor.gate.scheduler(|scheduler| scheduler.worker_state(process.worker)) {
        Some(WorkerState::Stopping) => process.ask_to_leave(Duration::ZERO, || false),
        Some(WorkerState::Killed) | None => {
            process.was_killed.set(Some(KillReason::Abandoned));
            process.signal_group(Signal::SIGKILL);
        }
        _ => {}
    }
}

/// Reports CPU time that no request accounts for, because the worker has died. The figure is known if the gateway took
/// samples, or the worker sent a last report.
fn leave_untold(supervisor: &Supervisor, process: &Process) {
    let mut unreported = process.unreported.borrow_mut();
    if let Some(used_us) = process.track.get().and_then(|track| track.used_us()) {
        unreported.used_since(used_us);
    }
    supervisor.gate.workers().left_untold(process.worker, unreported.left());
}

/// Request that ended the process: the one that its preload names, the only one that it held, or the latest if the event
/// loop did not turn any more (`has_run_on`).
fn ended_with<'h>(
    held: &'h [InflightRequest],
    threw: Option<&Threw>,
    reason: ExitReason,
    has_run_on: bool,
) -> Option<&'h InflightRequest> {
    match (threw.and_then(|threw| threw.request), held) {
        (Some(named), _) => held.iter().find(|held| held.request == named),
        (None, [only]) => Some(only),
        (None, _) if has_run_on || matches!(reason, ExitReason::Stuck | ExitReason::Blocked) => held.last(),
        (None, _) => None,
    }
}

fn report_exit(
    supervisor: &Supervisor,
    process: &Process,
    status: &io::Result<ExitStatus>,
    held: &[InflightRequest],
    evidence: Option<&str>,
) {
    let is_given_up = process.was_killed.get() == Some(KillReason::Abandoned);
    let tail = process.tail.borrow().text();
    let diagnosis = process.diagnosis.borrow();
    let known = exit::ProcessFacts {
        killed: process.was_killed.get(),
        rest_was_killed: process.rest_was_killed.get(),
        was_blocked: process.trouble.get().is_some_and(|trouble| trouble.kind == TroubleKind::Blocked),
        is_command: process.app.is_command(),
        heap: process.filling.memory.get(),
        diagnosis: diagnosis.as_deref(),
        stderr_tail: &tail,
    };
    let Ending { reason, is_violent, status } = exit::describe(status, &known);
    let is_changed = process.was_killed.get() == Some(KillReason::Changed);
    let expected = is_given_up || is_changed || process.is_asked_to_leave.get() && !is_violent;
    if !expected && process.app.development.is_some() {
        supervisor.gate.workers().app_is_down(&status, &tail);
    }
    let threw = process.threw.borrow();
    let threw = threw.as_ref().filter(|threw| known.killed.is_none() && threw.at.elapsed() <= THREW_TIMEOUT);
    let place = process.filling.place().filter(|_| !expected);
    let request = if expected { None } else { ended_with(held, threw, reason, place.is_some()) };
    let failed = reason == ExitReason::Exited && !expected && threw.is_none() && status != "exit code 0";
    let wrote = process.wrote_stderr.get().is_some_and(|at| at.elapsed() <= THREW_TIMEOUT);
    let last_words = if failed && wrote { last_words::error(&tail, &process.app) } else { None };
    let exception = threw.map(|threw| threw.text.as_str()).or(last_words.as_deref());
    let crash = Crash { status: &status, exception, held: held.len(), request, place: place.as_deref(), evidence };
    supervisor.journal.emit(Event::WorkerExited {
        worker: process.worker.0,
        status: &status,
        reason,
        expected,
        exception: crash.exception,
        held: held.len() as u64,
        request: request.map(|held| HeldRequest {
            request_id: &held.request_id,
            method: &held.method,
            target: &held.path,
        }),
        class: request.map(|held| &*held.class),
        place: crash.place,
        evidence,
    });
    // Of one that is developed, its page tells.
    if process.is_ready.get() && !expected && process.app.development.is_none() {
        supervisor.gate.workers().crashed(process.worker, &crash);
    }
    if !process.is_ready.get() && !expected {
        let code = match reason {
            ExitReason::StartTimeout if process.listens.get() => Code::AppNeverReady,
            ExitReason::StartTimeout => Code::AppNeverListened,
            ExitReason::OutOfMemory => Code::WorkerOutOfMemory,
            _ => Code::AppExited,
        };
        report_failure(supervisor, process.worker, code, tail);
    }
    *process.ended_as.borrow_mut() = Some(status);
}

fn report_failure(supervisor: &Supervisor, worker: WorkerId, code: Code, text: String) {
    supervisor.journal.emit(Event::WorkerStartFailed { worker: worker.0, code, stderr_tail: &text });
    *supervisor.last_failure.borrow_mut() = Some((worker, code, text));
}

/// Writes the app's output to the journal.
fn tell(journal: &Journal, worker: WorkerId, stream: Stream, text: &str) {
    journal.emit(Event::AppLine { worker: worker.0, stream, said: AppText::read(stream, text) });
}

#[cfg(test)]
mod tests {
    use sluice_scheduler::RequestId;

    use super::*;

    #[test]
    fn worker_that_held_several_requests_blames_none_that_nobody_names() {
        let held: Vec<InflightRequest> = [1, 2, 3]
            .map(|number| InflightRequest {
                request: RequestId(number),
                request_id: format!("r{number}"),
                method: "GET".to_owned(),
                path: "/".to_owned(),
                class: "GET /".into(),
            })
            .into();
        let threw = |request| Threw { at: Instant::now(), text: "Error: no".to_owned(), request };
        let named = |held: &[InflightRequest], threw: Option<&Threw>, reason| {
            ended_with(held, threw, reason, false).map(|held| held.request.0)
        };
        assert_eq!(named(&held, Some(&threw(None)), ExitReason::Exited), None);
        assert_eq!(named(&held, Some(&threw(Some(RequestId(2)))), ExitReason::Exited), Some(2));
        assert_eq!(named(&held, Some(&threw(Some(RequestId(9)))), ExitReason::Exited), None, "it had its answer");
        assert_eq!(named(&held[..1], Some(&threw(None)), ExitReason::Exited), Some(1));
        assert_eq!(named(&held[..1], Some(&threw(Some(RequestId(9)))), ExitReason::Exited), None);
        assert_eq!(named(&held, None, ExitReason::OutOfMemory), None);
        assert_eq!(named(&held, None, ExitReason::Stuck), Some(3), "the one that it was given last");
    }
}
