//! Starts, watches and stops the workers' processes, and talks to the preloads in them.
//!
//! `sluice_scheduler` decides when to start or stop; this crate carries it out and reports the results. It must not
//! know requests, beyond passing on a worker's reports about them.

#![forbid(unsafe_code)]

mod actions;
mod app;
mod auxiliary;
mod blocked;
mod changes;
mod control;
mod evidence;
mod exit;
mod filling;
mod forensics;
mod gate;
mod guardian;

mod last_words;
mod loaded;
mod looks;
mod main_server;
mod output;
mod parts;
mod pipe;
mod preface;
mod priority;
mod probe;
mod process;
mod profile;
mod react;
mod reload;
mod rest;
mod sample;
mod sockets;
mod start;
mod stuck;
mod waits;
mod watch;
mod writer;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use nix::sys::signal::Signal;
use sluice_catalog::errors::Code;
use sluice_catalog::snapshot::{ComponentCacheSnapshot, Purge};
use sluice_journal::{Event, Journal, Level, Tasks};
use sluice_scheduler::{KillReason, WorkerId};
use tokio::sync::{mpsc, oneshot};

pub use app::{App, Start};
pub use gate::{
    CpuReport, Crash, DialInForce, Gate, GraphReport, Host, InflightRequest, LongRun, RenderReport, Reports,
    RoutesReport, RunsReport, Vitals, Workers,
};
pub use guardian::{program as own_program, run as run_guardian};
pub use parts::PartsPurger;
pub use process::facts::Renders;
pub use process::turns::LoopDelays;
pub use reload::{ReloadEnd, ReloadFault};

use auxiliary::Auxiliaries;
use control::overruns::Overruns;
use control::state::StateNotes;
use guardian::Guardian;
use main_server::MainServer;
use process::Process;
use tokio::time::Instant;

/// Time for which a worker's report counts that its main thread is in a loop that lets others in. Such a loop reports
/// every 50 ms.
const BREATHES: Duration = Duration::from_millis(120);

/// A worker's process as the operator sees it.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessView {
    /// Id of the process that the gateway started.
    pub pid: Option<u32>,
    /// Resident memory, as last reported, in bytes.
    pub rss_bytes: Option<u64>,
    /// CPU time since its start, as last reported, in milliseconds.
    pub cpu_ms_total: Option<f64>,
    /// CPU time over the last seconds, in cores.
    pub cpu: Option<f64>,
    /// Time of its last sign of life.
    pub heard: Option<Instant>,
    /// JavaScript heap in use, in bytes.
    pub heap_used_bytes: Option<u64>,
    /// Share of the last minute in which its event loop was busy, 0 to 1.
    pub event_loop_utilization: Option<f64>,
    /// The longest delay of its event loop within the last minute.
    pub event_loop_delay_max: Option<Duration>,
    /// Share of the CPU time that garbage collection took, 0 to 1, if requests shared the worker and it was measured.
    pub gc_share: Option<f64>,
    /// Share of the same CPU time that no request used, 0 to 1.
    pub lost_share: Option<f64>,
}

/// Notifications from a supervisor.
pub struct Notifications {
    /// Resolves if no worker ever listened and the supervisor has given up.
    pub gave_up: oneshot::Receiver<()>,
    /// Ends of reloads, one for each that was asked for.
    pub reloads: mpsc::UnboundedReceiver<ReloadEnd>,
}

/// Settings of workers that a reload may change; fields as in [`App`].
#[allow(missing_docs, reason = "those of `App` say it")]
pub struct Version {
    pub start: Start,
    pub cwd: PathBuf,
    pub env: BTreeMap<String, String>,
    pub main_port: u16,
    pub renders_fast: bool,
    /// Same as in [`App`].
    pub head_bytes_max: u64,
}

/// The supervisor; a gateway has one.
pub struct Supervisor {
    /// Apps by generation: the one in force, and the one that is to follow.
    apps: RefCell<BTreeMap<u64, Rc<App>>>,
    sockets: PathBuf,
    profiles: PathBuf,
    profiles_instead: PathBuf,
    gate: Rc<dyn Gate>,
    journal: Journal,
    tasks: Tasks,
    guardian: Rc<Guardian>,
    /// Whether lowered priorities can be raised again.
    may_raise: bool,
    processes: RefCell<HashMap<WorkerId, Rc<Process>>>,
    restarts: RefCell<HashMap<u32, u64>>,
    loop_delays: Cell<LoopDelays>,
    backing_off: RefCell<HashMap<u32, Instant>>,
    auxiliaries: Auxiliaries,
    main_server: MainServer,
    gave_up: RefCell<Option<oneshot::Sender<()>>>,
    reloads: mpsc::UnboundedSender<ReloadEnd>,
    /// Worker whose start failed last, the error, and its output on stderr.
    last_failure: RefCell<Option<(WorkerId, Code, String)>>,
    /// React renders of all workers since the start.
    react: RefCell<Renders>,
    /// Component caches of all workers since the start; their present contents are in each process.
    component_cache: Cell<ComponentCacheSnapshot>,
    /// Whether the operator was told why the latest generation does not render as configured.
    react_off_told: Cell<bool>,
    /// Components that exceed their CPU budgets.
    overruns: RefCell<Overruns>,
    state_notes: StateNotes,
    /// Whether the operator was told that reports of crashes are lost.
    is_lost_evidence_told: Cell<bool>,
    evidence_moves: evidence::Moves,
    /// Protocol of the preload that was last reported as one of another build.
    misfit: RefCell<Option<String>>,
    /// Whether the gateway looks into a worker that fills its heap.
    is_looking: Rc<Cell<bool>>,
}

/// Part of the memory that workers may use, in eighths: the gateway and the system need the rest.
const FOR_WORKERS: u64 = 7;

impl Supervisor {
    /// Resident memory that one worker may use if all use the same, bytes; `u64::MAX` if the total is unknown.
    pub(crate) fn resident_bytes_max(&self) -> u64 {
        let memory_bytes = self.apps.borrow().values().find_map(|app| app.memory_bytes);
        let workers = self.gate.scheduler(sluice_scheduler::Scheduler::ready_count).max(1);
        let share = memory_bytes.map_or(u64::MAX, |bytes| bytes / 8 * FOR_WORKERS / u64::from(workers));
        match self.gate.config().recycle.memory_bytes_max {
            0 => share,
            recycled => share.min(recycled),
        }
    }

    /// Adds the app of a new generation. Of earlier ones, only the one in force is kept.
    pub fn add_generation(&self, generation: u64, version: Version) {
        let in_force = self.gate.scheduler(sluice_scheduler::Scheduler::generation);
        let mut apps = self.apps.borrow_mut();
        let Some(latest) = apps.values().next_back() else { return };
        self.react_off_told.set(false);
        let Version { start, cwd, env, main_port, renders_fast, head_bytes_max } = version;
        let app = App { start, cwd, env, main_port, head_bytes_max, renders_fast, ..App::clone(latest) };
        apps.insert(generation, Rc::new(app));
        apps.retain(|known, _| *known == generation || *known == in_force);
    }

    /// App of this generation, or of the latest known one before it.
    fn app(&self, generation: u64) -> Option<Rc<App>> {
        let apps = self.apps.borrow();
        let app = apps.range(..=generation).next_back().or_else(|| apps.iter().next());
        app.map(|(_, app)| Rc::clone(app))
    }

    /// View of a worker's process; empty if there is none.
    pub fn view(&self, worker: WorkerId) -> ProcessView {
        self.processes.borrow().get(&worker).map(|process| process.view()).unwrap_or_default()
    }

    /// Delays of the event loops of all workers since the start.
    pub fn loop_delays(&self) -> LoopDelays {
        self.loop_delays.get()
    }

    /// Number of times that the place was restarted.
    pub fn restarts(&self, instance: u32) -> u64 {
        self.restarts.borrow().get(&instance).copied().unwrap_or(0)
    }

    /// Places that wait before their next start, with the remaining seconds.
    pub fn backing_off(&self) -> Vec<(u32, f64)> {
        let now = Instant::now();
        let waiting = self.backing_off.borrow();
        waiting
            .iter()
            .filter(|(_, until)| **until > now)
            .map(|(place, until)| (*place, until.duration_since(now).as_secs_f64()))
            .collect()
    }

    /// Kills every worker at once, for a gateway that has no time left.
    pub fn kill_all(&self) {
        for process in self.processes.borrow().values().filter(|process| !process.has_exited.get()) {
            if process.was_killed.get().is_none() {
                process.was_killed.set(Some(KillReason::StopTimeout));
            }
            process.signal_group(Signal::SIGKILL);
        }
    }

    /// Error of the latest failed start, and the last lines that the app wrote to stderr.
    pub fn last_failure(&self) -> Option<(Code, String)> {
        self.last_failure.borrow().as_ref().map(|(_, code, text)| (*code, text.clone()))
    }

    /// Stops binding additional addresses of the app, because another gateway has them.
    pub fn hold_auxiliaries(&self) {
        self.auxiliaries.hold();
    }

    /// Stops listening on every additional address of the app, for a gateway that takes over. Open connections stay.
    pub async fn release_auxiliaries(&self) {
        self.auxiliaries.hold();
        self.auxiliaries.release().await;
    }

    /// Binds the additional addresses of the app, after another gateway has released them.
    pub fn open_auxiliaries(&self) {
        self.auxiliaries.open();
    }

    /// Whether any worker's process still exists.
    pub fn has_processes(&self) -> bool {
        !self.processes.borrow().is_empty()
    }

    /// Makes all workers purge parts of pages.
    fn purge_parts(&self, purge: &Purge) -> Vec<oneshot::Receiver<()>> {
        let processes: Vec<_> = self.processes.borrow().values().cloned().collect();
        let hearing = processes.iter().filter(|process| process.control.borrow().is_some());
        hearing.map(|process| process.parts.purge(purge, |line| process.say(line))).collect()
    }

    /// Worker that a new control connection may speak for, if that has none yet.
    fn speaker(&self, worker: WorkerId) -> Option<Rc<Process>> {
        let process = self.processes.borrow().get(&worker).cloned()?;
        if process.control.borrow().is_some() {
            self.note(
                Level::Warn,
                &format!("a second process connected as worker {}; the gateway ignores it", worker.0),
            );
            return None;
        }
        Some(process)
    }

    /// Handles a listening server: the worker takes requests, unless the app must still report that it is ready.
    fn listening(&self, process: &Process) {
        process.listens.set(true);
        if process.waits_for_word.get() {
            return;
        }
        if !process.is_ready.replace(true) {
            let after_ms = u64::try_from(process.started.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.journal.emit(Event::WorkerReady { worker: process.worker.0, after_ms });
            // It goes down, which nobody is refused, or ends a boot aside, which there is only where it can be undone. A
            // process that has gone is told of elsewhere.
            let _ = process.set_priority(process.priority);
        }
        self.gate.workers().listening(process.worker, self.socket(process.worker), process.marks.get());
        if process.marks.get() && process.takes_ahead.get() {
            self.gate.workers().takes_ahead(process.worker, &pipe::beside(&self.socket(process.worker)));
        }
    }

    /// Handles a report that the worker's main thread is in a loop that lets others in.
    fn breathes(&self, process: &Process, now: Instant) {
        let until = now + BREATHES;
        process.breathes_until.set(Some(until));
        process.is_breath_taken.set(false);
        self.gate.workers().breathes(process.worker, &pipe::counter_beside(&self.socket(process.worker)), until);
    }

    /// Handles a server that the app has closed. Many apps begin to exit after an error this way.
    fn closing(&self, process: &Process) {
        if !process.is_asked_to_leave.get() {
            let text = format!(
                "worker {} closed its server by itself: it finishes its requests, and the gateway replaces it",
                process.worker.0
            );
            self.note(Level::Warn, &text);
        }
        self.gate.tell(sluice_scheduler::Event::Closing { worker: process.worker });
    }

    /// Handles `ready` from the app.
    fn said_ready(&self, process: &Process) {
        if process.waits_for_word.replace(false) && process.listens.get() {
            self.listening(process);
        }
    }

    /// Handles a sign of life: the worker's event loop turns.
    fn is_heard(&self, process: &Process, now: Instant) {
        process.spoke.set(Some(now));
        process.is_told_overdue.set(false);
        process.is_long_run_told.set(false);
        self.watch_anew(process, now);
    }

    /// Watches the worker as if it had reported at this moment.
    fn watch_anew(&self, process: &Process, now: Instant) {
        process.last_heard.set(Some(now));
        process.track.set(None);
        process.is_spared.set(false);
        process.filling.is_over();
        if process.is_overdue.take() {
            self.gate.tell(sluice_scheduler::Event::Turned { worker: process.worker });
        }
    }

    fn socket(&self, worker: WorkerId) -> PathBuf {
        self.sockets.join(format!("{}.sock", worker.0))
    }

    fn note(&self, level: Level, text: &str) {
        self.journal.emit(Event::Note { level, text });
    }
}
