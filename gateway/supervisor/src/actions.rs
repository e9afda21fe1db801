//! The scheduler's actions, carried out on processes. It decides nothing.

use std::rc::Rc;
use std::time::Duration;

use nix::sys::signal::Signal;
use sluice_journal::{Event, Level, RecycleCause};
use sluice_scheduler::Event::Examined;
use sluice_scheduler::{AbandonReason, Action, KillReason, Lane, RecycleReason, WorkerId, WorkerState as Life};
use tokio::time::Instant;

use crate::process::{Process, life};
use crate::reload::{ReloadEnd, ReloadFault};
use crate::{Supervisor, priority, stuck};

/// Time that an app in development may take to exit after its files have changed.
const CHANGED_TIMEOUT: Duration = Duration::from_secs(1);

impl Supervisor {
    /// Carries out an action of the scheduler on a process.
    pub(crate) fn carry_out(self: &Rc<Self>, action: Action) {
        match action {
            Action::Start { worker, instance, generation, lane } => self.begin(worker, instance, generation, lane),
            Action::Lower { worker } => self.set_lowered(worker, true),
            Action::Raise { worker } => self.set_lowered(worker, false),
            Action::Stop { worker } => self.stop(worker),
            Action::Examine { worker } => self.examine(worker),
            Action::Kill { worker, reason } => self.kill(worker, reason),
            Action::BackOff { worker, instance, delay_ms } => {
                self.backing_off.borrow_mut().insert(instance, Instant::now() + Duration::from_millis(delay_ms));
                self.journal.emit(Event::WorkerBackoff { worker: worker.0, delay_ms });
            }
            Action::Recycling { worker, reason } => self.tell_recycled(worker, reason),
            Action::Bloated { worker } => self.tell_bloated(worker),
            Action::Reloaded { generation } => self.tell_reload_ended(generation, None),
            Action::ReloadAbandoned { generation, reason } => self.tell_reload_ended(generation, Some(reason)),
            Action::Hold { worker } => {
                let process = self.processes.borrow().get(&worker).cloned();
                let how = process.and_then(|process| process.ended_as.borrow().clone());
                let how = how.map(|how| format!(" ({how})")).unwrap_or_default();
                let text = format!("the app exited{how}; it restarts when one of its files changes");
                self.note(Level::Warn, &text);
            }
            Action::GiveUp => {
                if let Some(sender) = self.gave_up.borrow_mut().take() {
                    let _ = sender.send(());
                }
            }
            // Of requests and their connections.
            Action::Dispatch { .. }
            | Action::Hand { .. }
            | Action::Begins { .. }
            | Action::TakeBack { .. }
            | Action::Refuse { .. }
            | Action::Orphaned { .. }
            | Action::CloseStream { .. }
            | Action::WarmUp { .. } => {}
        }
    }

    fn begin(self: &Rc<Self>, worker: WorkerId, instance: u32, generation: u64, lane: Lane) {
        // The successor of a worker that still serves is no restart; that of one which finishes what it holds is.
        let is_successor = self.gate.scheduler(|scheduler| {
            let mut others = scheduler.workers().filter(|view| view.instance == instance && view.worker != worker);
            others.any(|view| matches!(view.state, Life::Starting | Life::Warming | Life::Ready | Life::Trial))
        });
        let again = u64::from(!is_successor);
        self.restarts.borrow_mut().entry(instance).and_modify(|restarts| *restarts += again).or_insert(0);
        self.backing_off.borrow_mut().remove(&instance);
        let Some(app) = self.app(generation) else { return };
        self.tasks.spawn("worker", life::run(Rc::clone(self), app, worker, instance, generation, lane));
    }

    fn stop(self: &Rc<Self>, worker: WorkerId) {
        match self.processes.borrow().get(&worker) {
            Some(process) => {
                let stop_ms = self.gate.config().workers.stop_timeout_ms;
                let supervisor = Rc::clone(self);
                // Where the whole gateway leaves, streams have nobody left to carry them.
                let has_streams = move || !supervisor.gate.is_leaving() && supervisor.has_streams(worker);
                process.ask_to_leave(Duration::from_millis(stop_ms / 2), has_streams);
            }
            None => self.note(Level::Warn, &format!("worker {} is asked to exit before it has a process", worker.0)),
        }
    }

    fn examine(self: &Rc<Self>, worker: WorkerId) {
        let process = self.processes.borrow().get(&worker).cloned();
        let supervisor = Rc::clone(self);
        if let Some(process) = &process {
            process.is_examined.set(true);
        }
        tokio::task::spawn_local(async move {
            match process {
                Some(process) => stuck::examine(supervisor, process).await,
                None => supervisor.gate.tell(Examined { worker }),
            }
        });
    }

    fn kill(&self, worker: WorkerId, reason: KillReason) {
        let dying = self.processes.borrow().get(&worker).filter(|process| process.is_dying.get()).cloned();
        if let Some(process) = dying {
            // Whoever ended it, it was not the gateway, unless something of it is still there after a while.
            return process.end_the_rest(Some(reason));
        }
        let text = match reason {
            KillReason::StartTimeout => {
                let processes = self.processes.borrow();
                let process = processes.get(&worker);
                let (missing, hint) = match process {
                    Some(process) if process.listens.get() => ("send `ready` (workers.wait_ready)", ""),
                    Some(process) if process.app.is_command() => {
                        ("listen", ". An app that is not Node.js has to listen on SLUICE_SOCKET")
                    }
                    _ => ("listen", ""),
                };
                format!(
                    "worker {} did not {missing} in time (workers.start_timeout_ms); the gateway kills it{hint}",
                    worker.0
                )
            }
            // `worker_stuck` and `worker_blocked` have said so.
            KillReason::Stuck => String::new(),
            // Who notes the change says so.
            KillReason::Changed => return self.end_changed(worker),
            KillReason::Abandoned => {
                format!("worker {} belongs to an abandoned generation; the gateway kills it", worker.0)
            }
            KillReason::ClientGone => {
                format!(
                    "worker {} did not exit in time, and the clients of its requests have left; the gateway kills it",
                    worker.0
                )
            }
            KillReason::StopTimeout => {
                format!("worker {} did not exit in time (workers.stop_timeout_ms); the gateway kills it", worker.0)
            }
        };
        if !text.is_empty() {
            self.note(Level::Warn, &text);
        }
        if let Some(process) = self.processes.borrow().get(&worker) {
            process.was_killed.set(Some(reason));
            process.note_used();
            process.signal_group(Signal::SIGKILL);
        }
    }

    /// Kills a worker that has not exited although it was asked to, if it works only for clients that have left. One that
    /// listens to messages gets its SIGTERM only now.
    pub fn end_for_nobody(&self, worker: WorkerId) {
        let is_due = |process: &Rc<Process>| !process.hears_messages.get();
        if self.processes.borrow().get(&worker).is_some_and(is_due) {
            self.kill(worker, KillReason::ClientGone);
        }
    }

    /// Ends an app in development as a development supervisor does: the app may clean up, but gets only
    /// [`CHANGED_TIMEOUT`].
    fn end_changed(&self, worker: WorkerId) {
        let Some(process) = self.processes.borrow().get(&worker).cloned() else { return };
        process.was_killed.set(Some(KillReason::Changed));
        process.signal_group(Signal::SIGTERM);
        tokio::task::spawn_local(async move {
            tokio::time::sleep(CHANGED_TIMEOUT).await;
            if !process.has_exited.get() {
                process.signal_group(Signal::SIGKILL);
            }
        });
    }

    fn tell_recycled(&self, worker: WorkerId, reason: RecycleReason) {
        let reason = match reason {
            RecycleReason::Overdue => RecycleCause::Overdue,
            RecycleReason::Requests => RecycleCause::Requests,
            RecycleReason::Memory => RecycleCause::Memory,
            RecycleReason::Socket => RecycleCause::Socket,
        };
        self.journal.emit(Event::WorkerRecycled { worker: worker.0, reason });
    }

    fn tell_bloated(&self, worker: WorkerId) {
        let mib = |bytes: u64| bytes / (1024 * 1024);
        let config = self.gate.config();
        let rss_bytes = self.view(worker).rss_bytes.unwrap_or(0);
        let text = format!(
            "worker {} uses {} MiB soon after its start, and so did the one before it: recycle.memory_bytes_max \
             ({} MiB) is below the normal memory of the app, so replacements do not help and become less frequent, \
             at last one every {} s. Raise the limit well above the memory of a fresh worker after some requests \
             (`sluice status`), or set it to 0",
            worker.0,
            mib(rss_bytes),
            mib(config.recycle.memory_bytes_max),
            config.bounds.backoff_ms_max.div_ceil(1000),
        );
        self.note(Level::Warn, &text);
    }

    fn tell_reload_ended(&self, generation: u64, abandoned: Option<AbandonReason>) {
        let abandoned = abandoned.map(|reason| ReloadFault::new(self, reason));
        // Nobody listens only while the gateway is torn down.
        let _ = self.reloads.send(ReloadEnd { generation, abandoned });
    }

    /// Whether the worker still serves an upgraded connection or event stream.
    fn has_streams(&self, worker: WorkerId) -> bool {
        self.gate.scheduler(|scheduler| scheduler.workers().any(|view| view.worker == worker && view.streams > 0))
    }

    fn set_lowered(&self, worker: WorkerId, is_lowered: bool) {
        let Some(process) = self.processes.borrow().get(&worker).cloned() else { return };
        process.is_lowered.set(is_lowered);
        let usual = process.priority;
        let priority = if is_lowered { priority::lowered(usual, self.may_raise) } else { usual };
        if let Err(error) = process.set_priority(priority) {
            self.note(Level::Warn, &format!("the priority of worker {} cannot be changed: {error}", worker.0));
        }
    }
}
