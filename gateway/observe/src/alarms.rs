//! Collects the readings that alarms are judged by, and reports changes.

mod judge;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use sluice_catalog::config::Config;
use sluice_catalog::metrics;
use sluice_catalog::snapshot::AlarmSnapshot;
use sluice_journal::{Alarm, Event, Page};
use sluice_sketch::Fading;
use tokio::time::Instant;

use crate::context::Context;
pub(crate) use judge::Reading;
use judge::{Change, Judge, Limits};

/// Time between two checks.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Weights that a second's mean wait keeps a check later. An alarm is raised by about the last ten seconds, and ended by about
/// the last three.
const WAIT_WEIGHTS: [f64; 2] = [0.9, 0.7];

/// Readings since the last check, and the judge of alarms.
pub struct Alarms {
    context: Rc<Context>,
    judge: RefCell<Judge>,
    looked: Cell<Instant>,
    queue_length_min: Cell<Option<usize>>,
    /// Waits that ended since the last check: sum in milliseconds, and number.
    waits: Cell<(f64, f64)>,
    /// Mean waits of the seconds before. Each second has the same weight, so a past crowd does not hide the present.
    waits_mean: RefCell<[Fading; 2]>,
}

impl Alarms {
    pub(crate) fn new(context: &Rc<Context>) -> Self {
        Alarms {
            context: Rc::clone(context),
            judge: RefCell::default(),
            looked: Cell::new(Instant::now()),
            queue_length_min: Cell::new(None),
            waits: Cell::new((0.0, 0.0)),
            waits_mean: RefCell::default(),
        }
    }

    /// Records that a worker begins a request, and the request's queue wait.
    pub fn waited(&self, waited: Duration) {
        let (sum_ms, count) = self.waits.get();
        self.waits.set((sum_ms + waited.as_secs_f64() * 1e3, count + 1.0));
    }

    /// Updates the reading of the queue; called with every tick. Returns it once a second, for the next check.
    pub(crate) fn due(&self, now: Instant, queue_length: usize) -> Option<QueueReading> {
        let length_min = self.queue_length_min.get().map_or(queue_length, |min| min.min(queue_length));
        self.queue_length_min.set(Some(length_min));
        if now.saturating_duration_since(self.looked.get()) < LOOK_EVERY {
            return None;
        }
        self.looked.set(now);
        self.queue_length_min.set(None);
        let [wait_mean_ms, wait_lately_ms] = self.wait_means_ms(length_min == 0);
        Some(QueueReading { length_min, wait_mean_ms, wait_lately_ms })
    }

    /// Mean waits over about ten seconds and over about three. A second without waiting requests counts as one without a wait.
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

    /// Judges the reading, and reports alarms that were raised or cleared.
    pub(crate) fn judge(&self, now: Instant, reading: &Reading) {
        let limits = limits(&self.context.config());
        let changes = self.judge.borrow_mut().look(self.context.ms(now), &limits, reading);
        for change in &changes {
            self.context.journal.emit(match change {
                Change::Raised { key: (alarm, class), text } => {
                    Event::AlarmRaised { alarm: *alarm, class: class.as_deref(), text }
                }
                Change::Cleared { key: (alarm, class), after_ms } => {
                    Event::AlarmCleared { alarm: *alarm, class: class.as_deref(), after_ms: *after_ms }
                }
            });
        }
    }

    /// Alarms that are raised now.
    pub fn snapshots(&self) -> Vec<AlarmSnapshot> {
        let now_ms = self.context.ms(Instant::now());
        let judge = self.judge.borrow();
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

    pub(crate) fn write_metrics(&self, page: &mut Page) {
        page.metric(&metrics::ALARMS);
        for alarm in Alarm::ALL {
            let raised = self.judge.borrow().raised().filter(|((raised, _), _)| *raised == alarm).count();
            page.sample(&[("alarm", alarm.as_str())], raised as u64);
        }
    }
}

/// State of the queue since the last check.
pub(crate) struct QueueReading {
    /// Smallest number of queued requests at any moment.
    pub(crate) length_min: usize,
    /// Mean wait of the requests that left the queue in about the last ten seconds, milliseconds.
    pub(crate) wait_mean_ms: Option<f64>,
    /// Mean wait over about the last three seconds, milliseconds.
    pub(crate) wait_lately_ms: Option<f64>,
}

fn limits(config: &Config) -> Limits {
    Limits {
        after_ms: u64::from(config.bounds.alarm_after_s) * 1000,
        queue_wait_ms: config.alarm_queue_wait_ms(),
        cost_drift_percent: config.bounds.alarm_cost_drift_percent.into(),
    }
}
