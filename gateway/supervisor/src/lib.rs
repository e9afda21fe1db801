//! Starts, watches and stops the workers' processes, and talks to the preloads in them.
//!
//! When to start or stop is decided by `sluice_scheduler`; this crate carries it out and reports what happened. It must
//! not know requests, beyond passing on what a worker reports of them.

#![forbid(unsafe_code)]

mod app;
mod auxiliary;
mod control;
mod exit;
mod forensics;
mod guardian;
mod output;
mod probe;
mod process;
mod reload;
mod stuck;
mod watch;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use sluice_catalog::errors::Code;
use sluice_journal::{Event, Journal, Level, Recycled};
use sluice_proxy::gate::{Gate, WorkerHost};
use sluice_scheduler::{AbandonReason, KillReason, RecycleReason, WorkerId};
use tokio::sync::{mpsc, oneshot};

pub use app::{App, Start};
pub use guardian::run as run_guardian;
pub use reload::{Abandoned, ReloadEnd};

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

/// What a supervisor tells of its own accord.
pub struct Told {
    /// No worker ever listened, and there is no point in going on.
    pub gave_up: oneshot::Receiver<()>,
    /// Each reload that is over. As many as were asked for.
    pub reloads: mpsc::UnboundedReceiver<ReloadEnd>,
}

/// The one supervisor of a gateway.
pub struct Supervisor {
    /// By generation: the one in force, and the one that is to follow.
    apps: RefCell<BTreeMap<u64, Rc<App>>>,
    sockets: PathBuf,
    gate: Rc<Gate>,
    journal: Journal,
    guardian: Guardian,
    processes: RefCell<HashMap<WorkerId, Rc<Process>>>,
    restarts: RefCell<HashMap<u32, u64>>,
    backing_off: RefCell<HashMap<u32, Instant>>,
    auxiliaries: Auxiliaries,
    gave_up: RefCell<Option<oneshot::Sender<()>>>,
    reloads: mpsc::UnboundedSender<ReloadEnd>,
    /// Whose start failed last and why, with what the app wrote to stderr.
    last_failure: RefCell<Option<(WorkerId, Code, String)>>,
}

impl Supervisor {
    /// Starts the guardian and the control socket; workers follow as the gate asks for them. `app` is that of generation 1.
    ///
    /// # Errors
    /// When the guardian cannot be started or the control socket cannot be bound.
    pub fn start(app: App, gate: &Rc<Gate>) -> io::Result<(Rc<Self>, Told)> {
        let (sender, gave_up) = oneshot::channel();
        let (reloads_sender, reloads) = mpsc::unbounded_channel();
        let control_socket = app.control_socket();
        let supervisor = Rc::new(Supervisor {
            guardian: Guardian::start()?,
            journal: gate.journal.clone(),
            gate: Rc::clone(gate),
            auxiliaries: Auxiliaries::new(gate.journal.clone()),
            processes: RefCell::default(),
            restarts: RefCell::default(),
            backing_off: RefCell::default(),
            gave_up: RefCell::new(Some(sender)),
            reloads: reloads_sender,
            last_failure: RefCell::default(),
            sockets: app.sockets.clone(),
            apps: RefCell::new(BTreeMap::from([(1, Rc::new(app))])),
        });
        control::serve(&supervisor, &control_socket)?;
        tokio::task::spawn_local(watch::run(Rc::clone(&supervisor)));
        gate.set_host(Rc::new(Host(Rc::clone(&supervisor))));
        Ok((supervisor, Told { gave_up, reloads }))
    }

    /// What workers of this generation are to run. Of those before, only the one in force is kept.
    pub fn add_generation(&self, generation: u64, start: Start, cwd: PathBuf, env: BTreeMap<String, String>) {
        let in_force = self.gate.scheduler(sluice_scheduler::Scheduler::generation);
        let mut apps = self.apps.borrow_mut();
        let Some(latest) = apps.values().next_back() else { return };
        let app = App { start, cwd, env, ..App::clone(latest) };
        apps.insert(generation, Rc::new(app));
        apps.retain(|known, _| *known == generation || *known == in_force);
    }

    /// The app of this generation, or of the latest one before it that is known.
    fn app(&self, generation: u64) -> Option<Rc<App>> {
        let apps = self.apps.borrow();
        let app = apps.range(..=generation).next_back().or_else(|| apps.iter().next());
        app.map(|(_, app)| Rc::clone(app))
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
            if process.was_killed.get().is_none() {
                process.was_killed.set(Some(KillReason::StopTimeout));
            }
            process.signal_group(Signal::SIGKILL);
        }
    }

    /// Why the latest start that failed did so: its code, and the last lines that the app wrote to stderr.
    pub fn last_failure(&self) -> Option<(Code, String)> {
        self.last_failure.borrow().as_ref().map(|(_, code, text)| (*code, text.clone()))
    }

    /// Binds no further address of the app from now on: another gateway has them.
    pub fn hold_auxiliaries(&self) {
        self.auxiliaries.hold();
    }

    /// Stops listening on every further address of the app, for a gateway that takes over. Open connections stay.
    pub async fn release_auxiliaries(&self) {
        self.auxiliaries.hold();
        self.auxiliaries.release().await;
    }

    /// Binds the further addresses of the app: whoever had them has let go.
    pub fn open_auxiliaries(&self) {
        self.auxiliaries.open();
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

    /// The worker's server listens: it takes requests, unless the app is still to say that it is ready.
    fn listening(&self, process: &Process) {
        process.listens.set(true);
        if process.waits_for_word.get() {
            return;
        }
        if !process.is_ready.replace(true) {
            let after_ms = u64::try_from(process.started.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.journal.emit(Event::WorkerReady { worker: process.worker.0, after_ms });
        }
        self.gate.listening(process.worker, self.socket(process.worker));
    }

    /// The app has said `ready`.
    fn said_ready(&self, process: &Process) {
        if process.waits_for_word.replace(false) && process.listens.get() {
            self.listening(process);
        }
    }

    fn socket(&self, worker: WorkerId) -> PathBuf {
        self.sockets.join(format!("{}.sock", worker.0))
    }

    fn note(&self, level: Level, text: &str) {
        self.journal.emit(Event::Note { level, text });
    }
}

/// The gate's way to the supervisor.
struct Host(Rc<Supervisor>);

impl WorkerHost for Host {
    fn start(&self, worker: WorkerId, instance: u32, generation: u64) {
        // The successor of a worker that still serves is no restart.
        let is_successor =
            self.0.processes.borrow().values().any(|other| other.instance == instance && !other.has_exited.get());
        let again = u64::from(!is_successor);
        self.0.restarts.borrow_mut().entry(instance).and_modify(|restarts| *restarts += again).or_insert(0);
        self.0.backing_off.borrow_mut().remove(&instance);
        let Some(app) = self.0.app(generation) else { return };
        tokio::task::spawn_local(process::run(Rc::clone(&self.0), app, worker, instance, generation));
    }

    fn stop(&self, worker: WorkerId) {
        match self.0.processes.borrow().get(&worker) {
            Some(process) => {
                let stop_ms = self.0.gate.config().workers.stop_timeout_ms;
                let gate = Rc::clone(&self.0.gate);
                // Where the whole gateway leaves, streams have nobody left to carry them.
                let has_streams = move || !gate.is_leaving() && gate.has_streams(worker);
                process.ask_to_leave(Duration::from_millis(stop_ms / 2), has_streams);
            }
            None => self.0.note(Level::Warn, &format!("worker {} is asked to leave before it has a process", worker.0)),
        }
    }

    fn examine(&self, worker: WorkerId) {
        let process = self.0.processes.borrow().get(&worker).cloned();
        let supervisor = Rc::clone(&self.0);
        if let Some(process) = &process {
            process.is_examined.set(true);
        }
        tokio::task::spawn_local(async move {
            match process {
                Some(process) => stuck::examine(supervisor, process).await,
                None => supervisor.gate.examined(worker),
            }
        });
    }

    fn kill(&self, worker: WorkerId, reason: KillReason) {
        let dying = self.0.processes.borrow().get(&worker).filter(|process| process.is_dying.get()).cloned();
        if let Some(process) = dying {
            // Whoever ended it, it was not the gateway, unless something of it is still there after a while.
            return process.end_the_rest(Some(reason));
        }
        let text = match reason {
            KillReason::StartTimeout => {
                let processes = self.0.processes.borrow();
                let process = processes.get(&worker);
                let (missing, hint) = match process {
                    Some(process) if process.listens.get() => ("say `ready` (workers.wait_ready)", ""),
                    Some(process) if process.app.is_command() => {
                        ("listen", ". An app that is not Node.js has to listen on SLUICE_SOCKET")
                    }
                    _ => ("listen", ""),
                };
                format!("worker {} did not {missing} in time (workers.start_timeout_ms); it is killed{hint}", worker.0)
            }
            // `worker_stuck` and `worker_blocked` have said so.
            KillReason::Stuck => String::new(),
            KillReason::Abandoned => {
                format!("worker {} belongs to a generation that was given up; it is killed", worker.0)
            }
            KillReason::StopTimeout => {
                format!("worker {} did not leave in time (workers.stop_timeout_ms); it is killed", worker.0)
            }
        };
        if !text.is_empty() {
            self.0.note(Level::Warn, &text);
        }
        if let Some(process) = self.0.processes.borrow().get(&worker) {
            process.was_killed.set(Some(reason));
            process.signal_group(Signal::SIGKILL);
        }
    }

    fn backs_off(&self, worker: WorkerId, instance: u32, delay_ms: u64) {
        self.0.backing_off.borrow_mut().insert(instance, Instant::now() + Duration::from_millis(delay_ms));
        self.0.journal.emit(Event::WorkerBackoff { worker: worker.0, delay_ms });
    }

    fn recycles(&self, worker: WorkerId, reason: RecycleReason) {
        let reason = match reason {
            RecycleReason::Requests => Recycled::Requests,
            RecycleReason::Age => Recycled::Age,
            RecycleReason::Memory => Recycled::Memory,
        };
        self.0.journal.emit(Event::WorkerRecycled { worker: worker.0, reason });
    }

    fn is_bloated(&self, worker: WorkerId) {
        let mib = |bytes: u64| bytes / (1024 * 1024);
        let config = self.0.gate.config();
        let rss_bytes = self.0.view(worker).rss_bytes.unwrap_or(0);
        let text = format!(
            "worker {} uses {} MiB soon after its start, and so did the one before it: recycle.memory_bytes_max \
             ({} MiB) is below what the app needs by itself, so replacing its workers mends nothing and is done more and \
             more seldom, every {} s in the end (workers.backoff_ms_max). Raise the bound well above what a fresh worker \
             has after some requests (`sluice status`), or set it to 0",
            worker.0,
            mib(rss_bytes),
            mib(config.recycle.memory_bytes_max),
            config.workers.backoff_ms_max.div_ceil(1000),
        );
        self.0.note(Level::Warn, &text);
    }

    fn reload_ended(&self, generation: u64, abandoned: Option<AbandonReason>) {
        let abandoned = abandoned.map(|reason| Abandoned::new(&self.0, reason));
        // Nobody listens only while the gateway is torn down.
        let _ = self.0.reloads.send(ReloadEnd { generation, abandoned });
    }

    fn gives_up(&self) {
        if let Some(sender) = self.0.gave_up.borrow_mut().take() {
            let _ = sender.send(());
        }
    }
}
