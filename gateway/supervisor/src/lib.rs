//! Starts, watches and stops the workers' processes, and talks to the preloads in them.
//!
//! When to start or stop is decided by `sluice_scheduler`; this crate carries it out and reports what happened. It must
//! not know requests, beyond passing on what a worker reports of them.

#![forbid(unsafe_code)]

mod app;
mod auxiliary;
mod control;
mod guardian;
mod output;
mod process;

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use sluice_catalog::errors::Code;
use sluice_journal::{Event, Journal, Level};
use sluice_proxy::gate::{Gate, WorkerHost};
use sluice_scheduler::{KillReason, WorkerId};
use tokio::sync::oneshot;

pub use app::{App, Start};
pub use guardian::run as run_guardian;

use auxiliary::Auxiliaries;
use guardian::Guardian;
use process::Process;

/// What the operator sees of a worker's process.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessView {
    /// The process that the gateway started.
    pub pid: Option<u32>,
    /// Resident memory, as the worker last reported it, in bytes.
    pub rss_bytes: Option<u64>,
    /// CPU time since its start, as the worker last reported it, in milliseconds.
    pub cpu_ms_total: Option<f64>,
    /// JavaScript heap in use, in bytes.
    pub heap_used_bytes: Option<u64>,
    /// Share of time that its event loop was busy, 0 to 1.
    pub event_loop_utilization: Option<f64>,
    /// The longest delay of its event loop within the last second, in milliseconds.
    pub event_loop_delay_ms: Option<f64>,
}

/// The one supervisor of a gateway.
pub struct Supervisor {
    app: App,
    gate: Rc<Gate>,
    journal: Journal,
    guardian: Guardian,
    processes: RefCell<HashMap<WorkerId, Rc<Process>>>,
    restarts: RefCell<HashMap<u32, u64>>,
    backing_off: RefCell<HashMap<u32, Instant>>,
    auxiliaries: Auxiliaries,
    gave_up: RefCell<Option<oneshot::Sender<()>>>,
    /// Why the latest start failed, with what the app wrote to stderr.
    last_failure: RefCell<Option<(Code, String)>>,
}

impl Supervisor {
    /// Starts the guardian and the control socket; workers follow as the gate asks for them. The receiver hears when no
    /// worker ever listened and there is no point in going on.
    ///
    /// # Errors
    /// When the guardian cannot be started or the control socket cannot be bound.
    pub fn start(app: App, gate: &Rc<Gate>) -> io::Result<(Rc<Self>, oneshot::Receiver<()>)> {
        let (sender, receiver) = oneshot::channel();
        let supervisor = Rc::new(Supervisor {
            guardian: Guardian::start()?,
            journal: gate.journal.clone(),
            gate: Rc::clone(gate),
            auxiliaries: Auxiliaries::new(gate.journal.clone()),
            processes: RefCell::default(),
            restarts: RefCell::default(),
            backing_off: RefCell::default(),
            gave_up: RefCell::new(Some(sender)),
            last_failure: RefCell::default(),
            app,
        });
        control::serve(&supervisor)?;
        gate.set_host(Rc::new(Host(Rc::clone(&supervisor))));
        Ok((supervisor, receiver))
    }

    /// What is known of a worker's process.
    pub fn view(&self, worker: WorkerId) -> ProcessView {
        self.processes.borrow().get(&worker).map(|process| process.view()).unwrap_or_default()
    }

    /// How often the place has been started again.
    pub fn restarts(&self, instance: u32) -> u64 {
        self.restarts.borrow().get(&instance).copied().unwrap_or(0)
    }

    /// Places that wait before their next start, with the seconds that are left.
    pub fn backing_off(&self) -> Vec<(u32, f64)> {
        let now = Instant::now();
        let waiting = self.backing_off.borrow();
        waiting
            .iter()
            .filter(|(_, until)| **until > now)
            .map(|(place, until)| (*place, until.duration_since(now).as_secs_f64()))
            .collect()
    }

    /// Kills every worker at once; for a gateway that has no time left.
    pub fn kill_all(&self) {
        for process in self.processes.borrow().values().filter(|process| !process.has_exited.get()) {
            process.signal_group(Signal::SIGKILL);
        }
    }

    /// Why the latest start that failed did so: its code, and the last lines that the app wrote to stderr.
    pub fn last_failure(&self) -> Option<(Code, String)> {
        self.last_failure.borrow().clone()
    }

    /// Whether any worker's process is left.
    pub fn has_processes(&self) -> bool {
        !self.processes.borrow().is_empty()
    }

    /// The worker that a new control connection may speak for: one that has none yet.
    fn speaker(&self, worker: WorkerId) -> Option<Rc<Process>> {
        let process = self.processes.borrow().get(&worker).cloned()?;
        if process.control.borrow().is_some() {
            self.note(
                Level::Warn,
                &format!("a second process wants to speak for worker {}; it is not heard", worker.0),
            );
            return None;
        }
        Some(process)
    }

    fn socket(&self, worker: WorkerId) -> PathBuf {
        self.app.run_dir.join("w").join(format!("{}.sock", worker.0))
    }

    fn note(&self, level: Level, text: &str) {
        self.journal.emit(Event::Note { level, text });
    }
}

/// The gate's way to the supervisor.
struct Host(Rc<Supervisor>);

impl WorkerHost for Host {
    fn start(&self, worker: WorkerId, instance: u32) {
        self.0.restarts.borrow_mut().entry(instance).and_modify(|restarts| *restarts += 1).or_insert(0);
        self.0.backing_off.borrow_mut().remove(&instance);
        tokio::task::spawn_local(process::run(Rc::clone(&self.0), worker, instance));
    }

    fn stop(&self, worker: WorkerId) {
        match self.0.processes.borrow().get(&worker) {
            Some(process) => {
                let stop_ms = self.0.gate.config.workers.stop_timeout_ms;
                process.ask_to_leave(Duration::from_millis(stop_ms / 2));
            }
            None => self.0.note(Level::Warn, &format!("worker {} is asked to leave before it has a process", worker.0)),
        }
    }

    fn kill(&self, worker: WorkerId, reason: KillReason) {
        let text = match reason {
            KillReason::StartTimeout => {
                format!("worker {} did not listen in time (workers.start_timeout_ms); it is killed", worker.0)
            }
            KillReason::StopTimeout => {
                format!("worker {} did not leave in time (workers.stop_timeout_ms); it is killed", worker.0)
            }
        };
        self.0.note(Level::Warn, &text);
        if let Some(process) = self.0.processes.borrow().get(&worker) {
            process.was_killed.set(Some(reason));
            process.signal_group(Signal::SIGKILL);
        }
    }

    fn backs_off(&self, worker: WorkerId, instance: u32, delay_ms: u64) {
        self.0.backing_off.borrow_mut().insert(instance, Instant::now() + Duration::from_millis(delay_ms));
        self.0.journal.emit(Event::WorkerBackoff { worker: worker.0, delay_ms });
    }

    fn gives_up(&self) {
        if let Some(sender) = self.0.gave_up.borrow_mut().take() {
            let _ = sender.send(());
        }
    }
}
