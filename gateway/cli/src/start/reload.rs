//! Reloads: reads the settings again, has the workers replaced, and reports the progress to the asking client and to
//! the log.
//!
//! How workers are replaced is the scheduler's business and their processes the supervisor's. One task owns all that is
//! known of reloads, so that what is asked and what happens come to it in one order.

mod queue;
mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use sluice_admin::Progress;
use sluice_catalog::config::{Config, ConfigInForce, Renderer};
use sluice_catalog::refusals::{GivenUp, NotBegun, OvertakenBy, ReloadError};
use sluice_catalog::snapshot::{ReloadSnapshot, ReloadState, TrialState};
use sluice_journal::{Event, Level};
use sluice_road::ActiveConfig;
use sluice_scheduler::{AbandonReason, Scheduler, WorkerState as Life};
use sluice_supervisor::{ReloadEnd, Version};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::app::AppCommand;
use super::heads;
use super::listeners::Listeners;
use super::operator::{Gateway, ServingGateway};
use super::service;
use super::sizing::InForce;
use super::sources::Sources;
use super::{bound_connections, head_bytes_max, raise_descriptor_limit, worker_count};
use crate::{files, settings};
use queue::{Asked, Request};
pub use queue::{ReloadQueue, Reloads, channel};
use trial::Trial;

/// Interval of looks at the progress of a reload.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A config, as it was written and as it is used.
pub struct Settings {
    pub written: Config,
    pub used: ActiveConfig,
    /// Temporary files that there may be, by the descriptors that connections leave.
    pub temp_files_max: u64,
}

impl Settings {
    fn put_in_force(&self, gateway: &Gateway) {
        gateway.gate.activate(self.used.clone());
        gateway.gate.road.store.set_files_max(self.temp_files_max);
    }
}

/// One generation on its way.
struct Pending {
    settings: Settings,
    asked: Instant,
    /// Trial that the version has not passed yet.
    trial: Option<Trial>,
    /// Reason why its trial rolled it back.
    turned_back: Option<String>,
}

/// The task's state.
pub struct Reloader {
    gateway: Rc<Gateway>,
    sources: Sources,
    /// Config of the start; settings that need a restart are compared with it.
    started_with: Config,
    in_force: Settings,
    /// `workers.count` as the pool last followed it.
    count_applied: u32,
    pending: BTreeMap<u64, Pending>,
    latest: u64,
    listeners: Listeners,
    ready_told: usize,
    held_back_told: bool,
    listening_told: BTreeSet<u64>,
}

impl Reloader {
    pub fn new(gateway: &Rc<Gateway>, sources: Sources, in_force: Settings) -> Self {
        Reloader {
            gateway: Rc::clone(gateway),
            sources,
            started_with: in_force.written.clone(),
            count_applied: in_force.written.workers.count,
            in_force,
            pending: BTreeMap::new(),
            latest: 1,
            listeners: Listeners::default(),
            ready_told: 0,
            held_back_told: false,
            listening_told: BTreeSet::new(),
        }
    }

    /// Runs without end.
    pub async fn run(mut self, mut asked: ReloadQueue, mut ends: mpsc::UnboundedReceiver<ReloadEnd>) {
        loop {
            let look = async {
                if self.pending.is_empty() {
                    std::future::pending::<()>().await;
                } else {
                    tokio::time::sleep(LOOK_EVERY).await;
                }
            };
            tokio::select! {
                // Ends first: a reload that is over does not stand in the way of the next.
                biased;
                Some(end) = ends.recv() => self.ended(end).await,
                Some(asked) = asked.next() => match asked {
                    Asked::Reload(request) => self.begin(request).await,
                    Asked::Decide(decision) => self.decide(decision),
                },
                () = look => self.look(),
                else => return,
            }
        }
    }

    async fn begin(&mut self, request: Request) {
        if let Err(why) = self.try_begin(&request).await {
            self.gateway.journal.emit(Event::ReloadRefused { reason: &why.to_string() });
            if self.pending.is_empty() && self.gateway.was_ready() && self.gateway.overtaken.get().is_none() {
                // systemd may have asked for it, and waits for an end.
                service::reloading("reload refused");
                service::ready(&format!("{}; reload refused: {why}", self.gateway.status()));
            }
            let _ = request.progress.send(Progress::Ended(Err(Arc::new(why.into())))).await;
        }
    }

    async fn try_begin(&mut self, request: &Request) -> Result<(), NotBegun> {
        if let Some(ServingGateway { pid, .. }) = self.gateway.overtaken.get() {
            return Err(NotBegun::Overtaken { pid });
        }
        if self.gateway.gate.draining.is_leaving() || self.gateway.gate.draining.is_draining() {
            return Err(NotBegun::Leaving);
        }
        if !self.gateway.was_ready() {
            return Err(NotBegun::NotStarted);
        }
        let sources = self.sources.clone();
        let in_force = InForce { count: self.count_applied, wanted: self.gateway.wanted() };
        let read = tokio::task::spawn_blocking(move || sources.read(in_force)).await;
        let (loaded, start) = read.map_err(|lost| NotBegun::Unread(lost.into()))??;
        let AppCommand { start, cwd } = start;
        let gateway = Rc::clone(&self.gateway);
        let (settings, note) = self.settings(&loaded)?;
        let trial = request.trial.map(Trial::new);
        if request.trial.and_then(|wish| wish.share_millionths).is_some_and(|share| !(1..=500_000).contains(&share)) {
            return Err(NotBegun::Share);
        }
        let places = self.places();
        if request.trial.is_some_and(|wish| wish.share_millionths.is_none()) && places < 2 {
            return Err(NotBegun::Alone);
        }
        self.trial_given_up("another reload replaces it");
        self.latest += 1;
        let generation = self.latest;
        let used = Rc::clone(settings.used.config());
        let version = Version {
            start,
            cwd: cwd.clone(),
            env: used.app.env.clone(),
            main_port: used.app.port,
            renders_fast: used.react.renderer == Renderer::Fast,
            head_bytes_max: head_bytes_max(&used),
        };
        gateway.supervisor.add_generation(generation, version);
        if trial.as_ref().is_some_and(Trial::is_beside) {
            // Those of a version whose workers are held are given up with it.
            self.in_force.put_in_force(&gateway);
        } else {
            settings.put_in_force(&gateway);
        }
        gateway.journal.emit(Event::ReloadStarted { generation, by: request.by });
        service::reloading(&format!("reloading, generation {generation} starts"));
        self.listeners.add(request.progress.clone());
        for text in loaded.warnings.iter().chain(&note) {
            gateway.journal.emit(Event::Note { level: Level::Warn, text });
            self.tell(text);
        }
        self.tell(&format!("generation {generation} started in {}", cwd.display()));
        self.tell_kept(&settings.written);
        let hold = trial.as_ref().map(|trial| trial.hold(gateway.wanted()));
        let pending = Pending { settings, asked: Instant::now(), trial, turned_back: None };
        self.pending.insert(generation, pending);
        self.ready_told = 0;
        self.held_back_told = false;
        let snapshot =
            ReloadSnapshot { generation, state: ReloadState::Running, reason: None, age_s: 0.0, trial: None };
        gateway.reloads.show(snapshot);
        self.show_trial();
        gateway.gate.dispatch.reload(generation, hold);
        Ok(())
    }

    /// Settings that a reload may change, as they were read, and a text if they are less than was asked for.
    fn settings(&self, loaded: &ConfigInForce) -> Result<(Settings, Option<String>), NotBegun> {
        let in_force = &self.in_force.used;
        let mut config = heads::reloaded(in_force.config(), &settings::resolved(loaded));
        let (temp_files_max, note) = bound_connections(&mut config, self.gateway.wanted(), raise_descriptor_limit());
        let used =
            ActiveConfig::read(Rc::new(config)).map_err(|error| NotBegun::Value(files::unusable(loaded, &error)))?;
        if used.is_tls() != in_force.is_tls() {
            return Err(NotBegun::Protocol { is_tls: used.is_tls() });
        }
        Ok((Settings { written: loaded.config.clone(), used, temp_files_max }, note))
    }

    /// Names what was changed and does not come into force.
    fn tell_kept(&mut self, written: &Config) {
        let kept: Vec<&str> = self.started_with.kept_from(written).map(|key| key.path).collect();
        if kept.is_empty() {
            return;
        }
        let text = format!("changed, and needs a restart to apply: {}", kept.join(", "));
        self.gateway.warn(&text);
        self.tell(&text);
    }

    /// Marks a reload as overtaken by an upgrade, which has ended it either way. Its further course in here concerns
    /// nobody.
    fn overtaken(&mut self, ServingGateway { pid, started }: ServingGateway) {
        self.trial_given_up("an upgrade replaces it");
        let (generation, asked) = (self.latest, self.pending.remove(&self.latest).map(|pending| pending.asked));
        self.pending.clear();
        // What was asked for before the other gateway was started, that one has read.
        let has_read_it = asked.is_some_and(|asked| asked <= started);
        let by = OvertakenBy { pid, has_read_it };
        self.gateway.journal.emit(Event::ReloadAbandoned {
            generation,
            reason: &by.to_string(),
            superseded: true,
            stderr_tail: "",
        });
        let overtaken = ReloadError::Overtaken { generation, by };
        if has_read_it {
            self.tell(&overtaken.to_string());
            self.listeners.finish(Ok(()));
        } else {
            self.listeners.finish(Err(overtaken));
        }
    }

    /// Reports the progress.
    fn look(&mut self) {
        if let Some(overtaken) = self.gateway.overtaken.get()
            && !self.pending.is_empty()
        {
            return self.overtaken(overtaken);
        }
        let generation = self.latest;
        if !self.pending.contains_key(&generation) {
            return;
        }
        let views: Vec<_> = self.gateway.gate.scheduler.read(|scheduler| scheduler.workers().collect());
        let own: Vec<_> = views.iter().filter(|view| view.generation == generation).collect();
        for view in own.iter().filter(|view| view.state == Life::Warming) {
            if self.listening_told.insert(view.worker.0) {
                self.tell(&format!("worker {} listens", view.worker.0));
            }
        }
        let progress = self.gateway.gate.scheduler.read(Scheduler::reload_progress);
        let is_held_back = progress.is_some_and(|progress| progress.is_held_back);
        if is_held_back && !self.held_back_told {
            self.tell(
                "requests wait long: the next workers start when waits are short again, or in 10 s at the latest",
            );
        }
        self.held_back_told = is_held_back;
        self.look_at_trial();
        let ready = own.iter().filter(|view| view.state == Life::Ready).count();
        if ready > self.ready_told && self.pending.contains_key(&generation) {
            self.ready_told = ready;
            self.tell(&format!("{ready} of {} workers have taken over", self.places()));
        }
    }

    /// Workers that there are to be, those of the long lane among them.
    fn places(&self) -> u32 {
        self.gateway.wanted() + self.gateway.gate.scheduler.read(Scheduler::long_wanted)
    }

    async fn ended(&mut self, end: ReloadEnd) {
        if self.gateway.overtaken.get().is_some() {
            return self.look();
        }
        let ReloadEnd { generation, abandoned } = end;
        let had_trial = self.pending.get(&generation).is_some_and(|pending| pending.trial.is_some());
        if generation == self.latest && abandoned.is_some() {
            self.trial_given_up("its reload is abandoned");
        }
        let Some(pending) = self.pending.remove(&generation) else { return };
        // A generation of which some workers have taken over is in force, even if others could not follow.
        let is_in_force = self.gateway.gate.scheduler.read(Scheduler::generation) == generation;
        let Pending { settings, asked, turned_back, .. } = pending;
        if generation == self.latest {
            self.leave_trial();
        }
        if is_in_force {
            self.in_force = settings;
            self.scale();
        }
        if self.pending.is_empty() && !is_in_force {
            self.in_force.put_in_force(&self.gateway);
        }
        let after_ms = u64::try_from(asked.elapsed().as_millis()).unwrap_or(u64::MAX);
        let Some(abandoned) = abandoned else {
            self.listening_told.clear();
            self.gateway.gate.road.pages.outdate_all();
            self.gateway.journal.emit(Event::ReloadFinished { generation, after_ms });
            if had_trial {
                self.close_trial(TrialState::Promoted, "there is no worker to compare it with");
            }
            self.gateway.reloads.update(|snapshot| snapshot.state = ReloadState::Done);
            service::ready(&self.gateway.status());
            let places = self.places();
            self.tell(&format!("{places} of {places} workers have taken over"));
            #[allow(clippy::cast_precision_loss, reason = "shown with one decimal")]
            self.tell(&format!("done in {:.1} s", after_ms as f64 / 1000.0));
            return self.listeners.finish(Ok(()));
        };
        let (why, stderr_tail) = abandoned.tell().await;
        let why = match turned_back {
            Some(finding) if abandoned.reason == AbandonReason::TurnedBack => GivenUp::TurnedBackFor(finding),
            _ => why,
        };
        let reason = why.to_string();
        let superseded = abandoned.reason == AbandonReason::Superseded;
        self.gateway.journal.emit(Event::ReloadAbandoned {
            generation,
            reason: &reason,
            superseded,
            stderr_tail: &stderr_tail,
        });
        if superseded {
            return self.tell(&format!(
                "generation {generation} is abandoned: {reason}; the next lines are of generation {}",
                self.latest
            ));
        }
        self.listening_told.clear();
        service::ready(&format!("{}; reload abandoned: {reason}", self.gateway.status()));
        self.gateway.reloads.update(|snapshot| {
            snapshot.state = ReloadState::Abandoned;
            if let Some(trial) = snapshot.trial.as_mut().filter(|_| had_trial) {
                trial.reason = Some(reason.clone());
            }
            snapshot.reason = Some(reason);
        });
        self.listeners.finish(Err(ReloadError::GivenUp { generation, why, is_in_force, stderr_tail }));
    }

    /// The number of workers follows the config where that was changed, and else stays what it was scaled to.
    fn scale(&mut self) {
        let from = self.gateway.wanted();
        let to = worker_count(&self.in_force.written);
        let count = self.in_force.written.workers.count;
        let is_changed = std::mem::replace(&mut self.count_applied, count) != count;
        if is_changed && from != to && !self.gateway.gate.draining.is_leaving() {
            self.gateway.set_wanted(to);
            self.gateway.journal.emit(Event::Scaled { from, to });
            self.tell(&format!("workers wanted: {to}, were {from} (workers.count)"));
        }
    }

    fn tell(&mut self, text: &str) {
        self.listeners.tell(text);
    }
}
