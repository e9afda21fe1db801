//! One worker's process, from its start to its exit.

use std::cell::{Cell, RefCell};
use std::process::ExitStatus;
use std::rc::Rc;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use sluice_catalog::errors::Code;
use sluice_journal::{Event, Stream};
use sluice_scheduler::{KillReason, WorkerId};
use std::os::unix::process::ExitStatusExt as _;

use tokio::net::unix::OwnedWriteHalf;

use crate::output::{Tail, read_lines};
use crate::{ProcessView, Supervisor};

/// How long the last lines of a dead process are waited for; a grandchild may hold the pipe open for ever.
const OUTPUT_TIMEOUT: Duration = Duration::from_millis(500);

pub(crate) struct Process {
    pub(crate) worker: WorkerId,
    pub(crate) pid: u32,
    pub(crate) started: Instant,
    /// The process that listens, where that is not the one that was started.
    pub(crate) listener_pid: Cell<Option<u32>>,
    pub(crate) is_command: bool,
    pub(crate) is_ready: Cell<bool>,
    /// Its process id may be another's by now.
    pub(crate) has_exited: Cell<bool>,
    pub(crate) is_asked_to_leave: Cell<bool>,
    /// Its control connection has ended without its being asked to leave: it is dying, whatever it is told now.
    pub(crate) is_dying: Cell<bool>,
    pub(crate) was_killed: Cell<Option<KillReason>>,
    /// What the preload last said of it.
    pub(crate) vitals: Cell<ProcessView>,
    pub(crate) overlaps_total: Cell<u64>,
    /// The way to the preload, once it has said hello.
    pub(crate) control: RefCell<Option<OwnedWriteHalf>>,
    /// The app listens to 'message'.
    pub(crate) hears_messages: Cell<bool>,
}

impl Process {
    pub(crate) fn view(&self) -> ProcessView {
        ProcessView { pid: Some(self.listener_pid.get().unwrap_or(self.pid)), ..self.vitals.get() }
    }

    /// The `'shutdown'` message, then SIGTERM: at once, or after a while if the app listens to messages and so may be
    /// leaving already.
    pub(crate) fn ask_to_leave(self: &Rc<Self>, grace: Duration) {
        self.is_asked_to_leave.set(!self.is_dying.get());
        if let Some(control) = &*self.control.borrow() {
            // A few bytes to a socket that the preload reads; a worker that does not gets its signal all the same.
            let _ = control.try_write(b"{\"type\":\"message\",\"message\":\"shutdown\"}\n");
        }
        if !self.hears_messages.get() {
            return self.terminate();
        }
        let process = Rc::clone(self);
        tokio::task::spawn_local(async move {
            tokio::time::sleep(grace).await;
            process.terminate();
        });
    }

    /// SIGTERM to the process that serves. Between it and the gateway may stand npm and a shell; they leave when it does.
    fn terminate(&self) {
        if self.has_exited.get() {
            return;
        }
        match self.listener_pid.get() {
            Some(pid) => signal_one(pid, Signal::SIGTERM),
            None if self.is_command => self.signal_group(Signal::SIGTERM),
            None => signal_one(self.pid, Signal::SIGTERM),
        }
    }

    pub(crate) fn signal_group(&self, signal: Signal) {
        let _ = killpg(to_pid(self.pid), signal);
    }
}

fn signal_one(pid: u32, signal: Signal) {
    let _ = kill(to_pid(pid), signal);
}

fn to_pid(pid: u32) -> Pid {
    // Process ids fit: the kernel's own type is signed.
    Pid::from_raw(i32::try_from(pid).unwrap_or(i32::MAX))
}

/// Starts the process and stays with it to its end.
pub(crate) async fn run(supervisor: Rc<Supervisor>, worker: WorkerId, instance: u32) {
    let socket = supervisor.socket(worker);
    let _ = std::fs::remove_file(&socket);
    let mut child = match supervisor.app.command(worker, instance, &socket).spawn() {
        Ok(child) => child,
        Err(error) => {
            let program = supervisor.app.program();
            let text = format!("cannot start `{program}` in {}: {error}", supervisor.app.cwd.display());
            report_failure(&supervisor, worker, Code::AppNotStarted, text);
            supervisor.gate.exited(worker);
            return;
        }
    };
    let pid = child.id().unwrap_or(0);
    supervisor.guardian.watch(pid);
    supervisor.journal.emit(Event::WorkerStarted { worker: worker.0, pid });
    let process = Rc::new(Process {
        worker,
        pid,
        started: Instant::now(),
        listener_pid: Cell::new(None),
        is_command: supervisor.app.is_command(),
        is_ready: Cell::new(false),
        has_exited: Cell::new(false),
        is_asked_to_leave: Cell::new(false),
        is_dying: Cell::new(false),
        was_killed: Cell::new(None),
        vitals: Cell::default(),
        overlaps_total: Cell::new(0),
        control: RefCell::default(),
        hears_messages: Cell::new(false),
    });
    supervisor.processes.borrow_mut().insert(worker, Rc::clone(&process));
    let tail = Rc::new(RefCell::new(Tail::default()));
    let stdout = child.stdout.take().map(|pipe| {
        let journal = supervisor.journal.clone();
        tokio::task::spawn_local(read_lines(pipe, move |line| {
            journal.emit(Event::AppLine { worker: worker.0, stream: Stream::Stdout, line });
        }))
    });
    let stderr = child.stderr.take().map(|pipe| {
        let (journal, tail) = (supervisor.journal.clone(), Rc::clone(&tail));
        tokio::task::spawn_local(read_lines(pipe, move |line| {
            tail.borrow_mut().push(line);
            journal.emit(Event::AppLine { worker: worker.0, stream: Stream::Stderr, line });
        }))
    });
    let status = child.wait().await;
    // Whatever it started and left behind goes with it.
    process.signal_group(Signal::SIGKILL);
    process.has_exited.set(true);
    supervisor.guardian.forget(pid);
    // The queue learns of the death before the log does: no request may go to the dead (I4).
    supervisor.auxiliaries.forget(worker);
    if process.is_ready.get() {
        supervisor.gate.exited(worker);
    }
    for task in [stdout, stderr].into_iter().flatten() {
        let _ = tokio::time::timeout(OUTPUT_TIMEOUT, task).await;
    }
    report_exit(&supervisor, &process, &describe(status), &tail.borrow());
    if !process.is_ready.get() {
        // It held nothing, so nothing waits for this; and who gives up now finds the reason written down.
        supervisor.gate.exited(worker);
    }
    supervisor.processes.borrow_mut().remove(&worker);
    let _ = std::fs::remove_file(&socket);
    let _ = std::fs::remove_file(socket.with_extension("sock.claim"));
}

fn report_exit(supervisor: &Supervisor, process: &Process, status: &str, tail: &Tail) {
    let expected = process.is_asked_to_leave.get();
    supervisor.journal.emit(Event::WorkerExited { worker: process.worker.0, status, expected });
    if !process.is_ready.get() && !expected {
        let code = if process.was_killed.get() == Some(KillReason::StartTimeout) {
            Code::AppNeverListened
        } else {
            Code::AppExited
        };
        report_failure(supervisor, process.worker, code, tail.text());
    }
}

fn report_failure(supervisor: &Supervisor, worker: WorkerId, code: Code, text: String) {
    supervisor.journal.emit(Event::WorkerStartFailed { worker: worker.0, code, stderr_tail: &text });
    *supervisor.last_failure.borrow_mut() = Some((code, text));
}

fn describe(status: std::io::Result<ExitStatus>) -> String {
    match status {
        Err(error) => format!("unknown: {error}"),
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(number)) => match Signal::try_from(number) {
                Ok(signal) => format!("signal {number} ({signal})"),
                Err(_) => format!("signal {number}"),
            },
            (None, None) => "unknown".to_owned(),
        },
    }
}
