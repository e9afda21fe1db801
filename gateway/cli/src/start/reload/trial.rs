//! The trial of a version: who gets it, how it compares, and how it ends.
//!
//! The scheduler starts its workers and the comparison judges; here both are put together. The settings of the version for the gateway
//! itself come into force when it is promoted, those for its workers with them.

use std::time::Duration;

use sluice_admin::protocol::{TrialAction, TrialWish};
use sluice_catalog::refusals::TrialError;
use sluice_catalog::snapshot::{PagesSnapshot, TrialSnapshot, TrialState};
use sluice_compare::{Arm, Comparison, Rule, Ruling};
use sluice_journal::Event;
use sluice_road::sessions::TrialShare;
use sluice_scheduler::{Hold, Scheduler, WorkerState as Life};
use tokio::time::Instant;

use super::super::service;
use super::Reloader;
use super::queue::Decision;
use crate::findings::{percent_sure, said};

/// Time between two judgements.
const JUDGE_EVERY: Duration = Duration::from_secs(2);
/// Time between two lines of progress.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// One trial.
pub(super) struct Trial {
    wish: TrialWish,
    /// Time at which both versions began to serve.
    begun: Option<Instant>,
    judged: Instant,
    told: Instant,
    /// Reason why a person has to decide.
    asks: Option<String>,
    /// Whether a person holds it, so that nothing ends it by itself.
    is_held_by_hand: bool,
}

impl Trial {
    pub(super) fn new(wish: TrialWish) -> Self {
        let now = Instant::now();
        Trial { wish, begun: None, judged: now, told: now, asks: None, is_held_by_hand: false }
    }

    /// Whether a share of visitors gets the version, beside the present one.
    pub(super) fn is_beside(&self) -> bool {
        self.wish.share_millionths.is_some()
    }

    /// Place at which the reload stops. A share of the work needs that share of the workers at least.
    pub(super) fn hold(&self, wanted: u32) -> Hold {
        match self.wish.share_millionths {
            Some(share) => {
                let workers = u64::from(share).saturating_mul(wanted.into()).div_ceil(1_000_000).max(1);
                Hold::Beside { workers: u32::try_from(workers).unwrap_or(1) }
            }
            None => Hold::Batches { batches: self.wish.batches.unwrap_or(1).max(1) },
        }
    }

    fn rule(&self) -> Rule {
        Rule {
            lasts: Duration::from_millis(self.wish.lasts_ms),
            requests_min: self.wish.requests_min,
            asks: self.wish.asks || self.asks.is_some(),
        }
    }

    fn snapshot(&self, generation: u64, comparison: Option<&Comparison>, html: Option<PagesSnapshot>) -> TrialSnapshot {
        let state = match self.begun {
            None => TrialState::Starting,
            Some(_) if self.asks.is_some() || self.is_held_by_hand => TrialState::Held,
            Some(_) => TrialState::Running,
        };
        let held = self.is_held_by_hand.then(|| "held manually".to_owned());
        let none = Comparison::default();
        let comparison = comparison.unwrap_or(&none);
        TrialSnapshot {
            generation,
            state,
            reason: held.or_else(|| self.asks.clone()),
            share: self.wish.share_millionths.map(|millionths| f64::from(millionths) / 1e6),
            compared_s: self.begun.map_or(0.0, |begun| begun.elapsed().as_secs_f64()),
            lasts_s: Duration::from_millis(self.wish.lasts_ms).as_secs_f64(),
            requests: comparison.requests(Arm::Trial),
            requests_present: comparison.requests(Arm::Present),
            requests_warming: comparison.warming(Arm::Trial),
            findings: comparison.findings().iter().map(sluice_observe::finding_snapshot).collect(),
            new_classes: comparison.only_of(Arm::Trial).into_iter().map(str::to_owned).collect(),
            html,
        }
    }
}

impl Reloader {
    /// Looks at the trial of the latest generation, if there is one.
    pub(super) fn look_at_trial(&mut self) {
        let generation = self.latest;
        let Some(trial) = self.pending.get(&generation).and_then(|pending| pending.trial.as_ref()) else { return };
        let (begun, judged) = (trial.begun, trial.judged);
        let Some(begun) = begun else {
            let progress = self.gateway.gate.scheduler.read(Scheduler::reload_progress);
            if progress.is_some_and(|progress| progress.generation == generation && progress.is_held) {
                self.begin_trial(generation);
            }
            return;
        };
        self.note_tried(generation);
        let now = Instant::now();
        if now.saturating_duration_since(judged) < JUDGE_EVERY {
            return;
        }
        self.note_heaps(begun);
        let since = now.saturating_duration_since(begun);
        let Some(trial) = self.trial() else { return };
        trial.judged = now;
        let (rule, is_held) = (trial.rule(), trial.is_held_by_hand);
        let ruling = self.gateway.gate.road.observer.trials.read(|comparison| rule.judge(comparison, since));
        match ruling {
            Some(Ruling::Back(finding)) if !is_held => {
                let text = format!("{}, {:.2} % sure", said(&finding), percent_sure(&finding));
                return self.end_trial(false, &text);
            }
            Some(Ruling::Passes) if !is_held => return self.end_trial(true, "it is not worse"),
            Some(Ruling::Asks(why)) if !is_held => self.ask_person(&why),
            _ => {}
        }
        self.show_trial();
        self.tell_trial(now);
    }

    fn trial(&mut self) -> Option<&mut Trial> {
        self.pending.get_mut(&self.latest).and_then(|pending| pending.trial.as_mut())
    }

    fn begin_trial(&mut self, generation: u64) {
        let Some(trial) = self.trial() else { return };
        let now = Instant::now();
        (trial.begun, trial.judged, trial.told) = (Some(now), now, now);
        let (share, lasts) = (trial.wish.share_millionths, Duration::from_millis(trial.wish.lasts_ms));
        let html_millionths = trial.wish.html_millionths;
        let gate = &self.gateway.gate;
        let views: Vec<_> = gate.scheduler.read(|scheduler| scheduler.workers().collect());
        let present = views.iter().filter(|view| view.generation != generation).map(|view| view.worker.0);
        gate.road.observer.trials.begin(present, share.is_some());
        if let Some(millionths) = share {
            gate.sessions.trial.set(Some(TrialShare { millionths }));
            gate.road.pages.cache.set_trial(true);
        }
        if html_millionths > 0 {
            gate.shadows.begin(gate, html_millionths);
        }
        self.note_tried(generation);
        let whom = match share {
            Some(millionths) => format!("{} % of visitors try", f64::from(millionths) / 10_000.0),
            None => "random requests go to".to_owned(),
        };
        let text = format!("{whom} generation {generation}; both versions are compared for {} s", lasts.as_secs());
        self.tell(&text);
        self.tell("`sluice canary` shows the comparison; promote, hold and back decide manually");
        self.show_trial();
        self.log_trial("running", &text);
        // A trial may last for hours, and a service manager waits for minutes.
        service::ready(&format!("{}; {text}", self.gateway.status()));
    }

    /// Tells the road and the comparison which workers run the version.
    fn note_tried(&self, generation: u64) {
        let gate = &self.gateway.gate;
        let views: Vec<_> = gate.scheduler.read(|scheduler| scheduler.workers().collect());
        let own = views.iter().filter(|view| view.generation == generation);
        gate.road.observer.trials.see(own.map(|view| view.worker.0));
        let tried: Vec<_> = gate.scheduler.read(|scheduler| scheduler.tried().collect());
        gate.sessions.trial.set_workers(tried.into_iter());
    }

    fn note_heaps(&self, begun: Instant) {
        let gate = &self.gateway.gate;
        let views: Vec<_> = gate.scheduler.read(|scheduler| scheduler.workers().collect());
        for view in views.iter().filter(|view| matches!(view.state, Life::Ready | Life::Trial)) {
            if let Some(bytes) = self.gateway.supervisor.view(view.worker).heap_used_bytes {
                gate.road.observer.trials.heap(begun.elapsed(), view.worker.0, bytes);
            }
        }
    }

    fn ask_person(&mut self, why: &str) {
        let Some(trial) = self.trial().filter(|trial| trial.asks.is_none()) else { return };
        trial.asks = Some(why.to_owned());
        self.tell(&format!("held: {why}; `sluice canary promote` or `sluice canary back` ends the trial"));
        self.log_trial("held", why);
    }

    pub(super) fn show_trial(&mut self) {
        let generation = self.latest;
        let Some(trial) = self.pending.get(&generation).and_then(|pending| pending.trial.as_ref()) else { return };
        let gate = &self.gateway.gate;
        let html = gate.shadows.snapshot();
        let shown = gate
            .road
            .observer
            .trials
            .read(|comparison| trial.snapshot(generation, Some(comparison), html.clone()))
            .unwrap_or_else(|| trial.snapshot(generation, None, html));
        self.gateway.reloads.update(|snapshot| snapshot.trial = Some(shown));
    }

    fn tell_trial(&mut self, now: Instant) {
        let Some(trial) = self.trial().filter(|trial| now.saturating_duration_since(trial.told) >= TELL_EVERY) else {
            return;
        };
        trial.told = now;
        let text = self.gateway.gate.road.observer.trials.read(|comparison| {
            let known = comparison.findings().into_iter().filter(|finding| finding.change.is_some());
            let known: Vec<_> = known.map(|finding| said(&finding)).collect();
            let all = comparison.requests(Arm::Trial) + comparison.requests(Arm::Present);
            format!("{} of {all} requests: {}", comparison.requests(Arm::Trial), known.join(", "))
        });
        if let Some(text) = text {
            self.tell(&text);
        }
    }

    fn log_trial(&self, state: &str, reason: &str) {
        let requests = |arm| self.gateway.gate.road.observer.trials.read(|comparison| comparison.requests(arm));
        self.gateway.journal.emit(Event::ReloadCompared {
            generation: self.latest,
            state,
            reason,
            requests: requests(Arm::Trial).unwrap_or(0),
            requests_present: requests(Arm::Present).unwrap_or(0),
        });
    }

    /// Carries out a person's decision, unless it is about a version whose trial has ended meanwhile.
    pub(super) fn decide(&mut self, Decision { action, generation, reply }: Decision) {
        let is_latest = generation == self.latest;
        let Some(trial) = self.trial().filter(|_| is_latest) else {
            let _ = reply.send(Err(TrialError::None));
            return;
        };
        match action {
            TrialAction::Promote => self.end_trial(true, "manually"),
            TrialAction::Back => self.end_trial(false, "manually"),
            TrialAction::Hold => {
                trial.is_held_by_hand = true;
                self.tell("held manually");
                self.log_trial("held", "manually");
                self.show_trial();
            }
        }
        let _ = reply.send(Ok(self.gateway.reloads.trial()));
    }

    /// Ends the trial of a version that is given up for another reason than its comparison.
    pub(super) fn trial_given_up(&mut self, why: &str) {
        if self.trial().is_some() {
            self.log_trial("back", why);
            self.close_trial(TrialState::Back, why);
            if let Some(pending) = self.pending.get_mut(&self.latest) {
                pending.trial = None;
            }
        }
        self.leave_trial();
    }

    pub(super) fn close_trial(&self, state: TrialState, why: &str) {
        self.gateway.reloads.update(|snapshot| {
            if let Some(trial) = &mut snapshot.trial {
                (trial.state, trial.reason) = (state, Some(why.to_owned()));
            }
        });
    }

    /// Promotes the version on trial, or rolls it back.
    fn end_trial(&mut self, passes: bool, why: &str) {
        let generation = self.latest;
        self.show_trial();
        let state = if passes { TrialState::Promoted } else { TrialState::Back };
        self.log_trial(if passes { "promoted" } else { "back" }, why);
        self.close_trial(state, why);
        self.tell(&format!("generation {generation} is {}: {why}", state.as_str()));
        self.leave_trial();
        if let Some(pending) = self.pending.get_mut(&generation) {
            if let Some(trial) = pending.trial.take().filter(|_| passes)
                && trial.is_beside()
            {
                pending.settings.put_in_force(&self.gateway);
            }
            pending.turned_back = (!passes).then(|| why.to_owned());
        }
        self.gateway.gate.dispatch.end_trial(generation, passes);
    }

    /// Ends what visitors notice of a trial, however it ends.
    pub(super) fn leave_trial(&self) {
        let gate = &self.gateway.gate;
        gate.sessions.trial.set(None);
        gate.road.pages.cache.set_trial(false);
        gate.road.observer.trials.end();
        gate.shadows.end();
    }
}
