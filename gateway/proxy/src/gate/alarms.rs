//! Gathers what alarms are judged by, and tells what comes of it.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use sluice_catalog::config::Config;
use sluice_catalog::snapshot::AlarmSnapshot;
use sluice_journal::{Alarm, Event as Happening};
use sluice_sketch::Fading;
use tokio::time::Instant;

use super::Gate;
use crate::alarms::{Change, Judge, Limits, Reading};
use crate::respond::answer::Answer;

/// How often is judged.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// What a wait still weighs in the mean a look later: about the last ten seconds count.
const WAIT_WEIGHT: f64 = 0.9;

/// What is gathered between two looks, and the judge.
#[derive(Default)]
pub(super) struct Alarms {
    judge: RefCell<Judge>,
    looked: Cell<Option<Instant>>,
    queue_length_min: Cell<Option<usize>>,
    /// Waits that are over, in milliseconds.
    waits: RefCell<Fading>,
}

impl Alarms {
    /// A worker gets a request that has waited.
    fn dispatched(&self, now: Instant, answer: &Answer) {
        // What was with another worker before has not waited all of its time.
        let Some(arrival) = answer.arrival.get().filter(|_| !answer.was_retried.get()) else { return };
        let waited = now.saturating_duration_since(arrival.at);
        self.waits.borrow_mut().add(waited.as_secs_f64() * 1e3, 1.0);
    }

    fn wait_mean_ms(&self, is_idle: bool) -> Option<f64> {
        let mut waits = self.waits.borrow_mut();
        // A second in which nobody waited says as much as one request that did not have to.
        waits.add(0.0, if is_idle { 1.0 } else { 0.0 });
        // Where so little is left of the last wait, it says nothing of now.
        let mean_ms = waits.get(0.5);
        waits.fade(WAIT_WEIGHT);
        mean_ms
    }
}

fn limits(config: &Config) -> Limits {
    let alarms = &config.alarms;
    Limits {
        after_ms: u64::from(alarms.after_s) * 1000,
        queue_wait_ms: alarms.queue_wait_ms.into(),
        cost_drift_percent: alarms.cost_drift_percent.into(),
    }
}

impl Gate {
    /// A request that has waited begins in a worker.
    pub(super) fn tell_dispatched(&self, now: Instant, answer: &Answer) {
        self.alarms.dispatched(now, answer);
    }

    /// Called with every tick; judges once a second.
    pub(super) fn look_for_alarms(&self, now: Instant) {
        let alarms = &self.alarms;
        let queue_length = self.scheduler.borrow().queue_length();
        let queue_length_min = alarms.queue_length_min.get().map_or(queue_length, |min| min.min(queue_length));
        alarms.queue_length_min.set(Some(queue_length_min));
        let looked = alarms.looked.get().unwrap_or(self.epoch);
        if now.saturating_duration_since(looked) < LOOK_EVERY {
            return;
        }
        alarms.looked.set(Some(now));
        alarms.queue_length_min.set(None);
        let reading = Reading {
            queue_length_min,
            wait_mean_ms: alarms.wait_mean_ms(queue_length_min == 0),
            overlaps_total: self.journal.overlaps_total(),
            drifts: self.class_drifts(),
            asleep: self.asleep_while_queued(now),
            asleep_when_full: self.asleep_when_full(),
            long_runs: self.unjudged.take(),
            growing_routes: self.growing_routes(now),
            growing: self.growing_with_age(now),
            certificates: self.certificates_in_need(),
        };
        let changes = alarms.judge.borrow_mut().look(self.alarm_ms(now), &limits(&self.config()), &reading);
        for change in &changes {
            self.journal.emit(match change {
                Change::Raised { key: (alarm, class), text } => {
                    Happening::AlarmRaised { alarm: *alarm, class: class.as_deref(), text }
                }
                Change::Cleared { key: (alarm, class), after_ms } => {
                    Happening::AlarmCleared { alarm: *alarm, class: class.as_deref(), after_ms: *after_ms }
                }
            });
        }
    }

    pub(super) fn alarm_ms(&self, now: Instant) -> u64 {
        u64::try_from(now.saturating_duration_since(self.epoch).as_millis()).unwrap_or(u64::MAX)
    }

    /// What is wrong now and lasts.
    pub fn alarms(&self) -> Vec<AlarmSnapshot> {
        let now_ms = self.alarm_ms(Instant::now());
        let judge = self.alarms.judge.borrow();
        let raised = judge.raised().map(|((alarm, class), raised)| AlarmSnapshot {
            alarm: alarm.as_str().to_owned(),
            class: class.as_deref().map(str::to_owned),
            text: raised.text.clone(),
            age_s: Duration::from_millis(now_ms.saturating_sub(raised.since_ms)).as_secs_f64(),
        });
        raised.collect()
    }

    /// How many alarms of this kind are raised.
    pub fn alarms_count(&self, alarm: Alarm) -> u64 {
        self.alarms.judge.borrow().raised().filter(|((raised, _), _)| *raised == alarm).count() as u64
    }
}
