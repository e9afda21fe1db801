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
/// The weight that a second's mean wait keeps a look later: about the last ten seconds count for what raises an alarm, and about
/// the last three for what ends it.
const WAIT_WEIGHTS: [f64; 2] = [0.9, 0.7];

/// What is gathered between two looks, and the judge.
#[derive(Default)]
pub(super) struct Alarms {
    judge: RefCell<Judge>,
    looked: Cell<Option<Instant>>,
    queue_length_min: Cell<Option<usize>>,
    /// Waits that ended since the latest look: their sum in milliseconds, and how many.
    waits: Cell<(f64, f64)>,
    /// Mean waits of the seconds before, each second as heavy as any other: a crowd that has gone must not outweigh now.
    waits_mean: RefCell<[Fading; 2]>,
}

impl Alarms {
    /// A worker gets a request that has waited.
    fn dispatched(&self, now: Instant, answer: &Answer) {
        // What was with another worker before has not waited all of its time.
        let Some(arrival) = answer.arrival.get().filter(|_| !answer.was_retried.get()) else { return };
        let waited = now.saturating_duration_since(arrival.at);
        let (sum_ms, count) = self.waits.get();
        self.waits.set((sum_ms + waited.as_secs_f64() * 1e3, count + 1.0));
    }

    /// Mean waits over about ten seconds and over about three. A second in which nobody waited counts as one without a wait.
    fn wait_means_ms(&self, is_idle: bool) -> [Option<f64>; 2] {
        let (sum_ms, count) = self.waits.take();
        let of_second = if count > 0.0 { Some(sum_ms / count) } else { is_idle.then_some(0.0) };
        let mut means = self.waits_mean.borrow_mut();
        let mut looked = [None, None];
        for (nth, weight) in WAIT_WEIGHTS.into_iter().enumerate() {
            means[nth].fade(weight);
            if let Some(mean_ms) = of_second {
                means[nth].add(mean_ms, 1.0);
            }
            // Where so little is left of the last wait, it says nothing of now.
            looked[nth] = means[nth].get(0.1);
        }
        looked
    }
}

fn limits(config: &Config) -> Limits {
    Limits {
        after_ms: u64::from(config.bounds.alarm_after_s) * 1000,
        queue_wait_ms: config.alarm_queue_wait_ms(),
        cost_drift_percent: config.bounds.alarm_cost_drift_percent.into(),
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
        let [wait_mean_ms, wait_lately_ms] = alarms.wait_means_ms(queue_length_min == 0);
        let reading = Reading {
            queue_length_min,
            wait_mean_ms,
            wait_lately_ms,
            overlaps_total: self.journal.overlaps_total(),
            drifts: self.class_drifts(),
            asleep: self.asleep_while_queued(now),
            asleep_when_full: self.asleep_when_full(),
            long_runs: self.unjudged.take(),
            growing_routes: self.growing_routes(now),
            growing: self.growing_with_age(now),
            certificates: self.certificates_in_need(),
            crash: self.crashes.borrow_mut().unjudged.take(),
            quarantine: self.quarantine_text(),
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
            text: match raised.gone_ms.map(|gone_ms| now_ms.saturating_sub(gone_ms) / 1000) {
                Some(gone_s) if gone_s > 0 => format!("not seen for {gone_s} s: {}", raised.text),
                _ => raised.text.clone(),
            },
            age_s: Duration::from_millis(now_ms.saturating_sub(raised.since_ms)).as_secs_f64(),
        });
        raised.collect()
    }

    /// How many alarms of this kind are raised.
    pub fn alarms_count(&self, alarm: Alarm) -> u64 {
        self.alarms.judge.borrow().raised().filter(|((raised, _), _)| *raised == alarm).count() as u64
    }
}
