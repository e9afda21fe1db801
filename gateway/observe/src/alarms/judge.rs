//! Alarms about conditions that last, judged from numbers over time.
//!
//! Each alarm is raised once and cleared once. The limit that clears it is well away from the one that raises it, so numbers
//! that move around a limit raise it only once. This module is pure: readings and a clock go in, changes come out. It must not
//! know where the numbers come from, nor how an operator is notified.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::rc::Rc;

use sluice_journal::Alarm;
use sluice_vitals::Holes;

use crate::runs::AlarmingRun;
use crate::sleep::times;

/// Share of time that workers sleep while requests wait above which an alarm is raised. The alarm ends below half of it.
const ASLEEP: f64 = 0.5;

/// Share of a component's renders that leave a hole above which an alarm is raised. The alarm ends below half of it.
const HOLES: f64 = 0.05;

/// Longest time for which the cause of an alarm about a state must be gone until the alarm ends; `after_ms` if that is shorter.
/// The cause had to last, so it cannot come and go.
const STATE_GONE_MS: u64 = 5_000;

/// Thresholds of alarms, from the config. 0 disables an alarm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Time for which a queue must hold up requests, and for which any cause must be gone.
    pub(crate) after_ms: u64,
    /// Mean wait above which requests are held up even if the queue becomes empty, milliseconds.
    pub(crate) queue_wait_ms: u64,
    /// Tolerated increase of a class's CPU cost over its long-run cost, percent.
    pub(crate) cost_drift_percent: u64,
}

/// Readings since the last check.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// Smallest number of queued requests at any moment.
    pub(crate) queue_length_min: usize,
    /// Mean wait of the requests that left the queue in about the last ten seconds, milliseconds.
    pub(crate) wait_mean_ms: Option<f64>,
    /// Mean wait over about the last three seconds, milliseconds.
    pub(crate) wait_lately_ms: Option<f64>,
    /// Overlaps since the start.
    pub(crate) overlaps_total: u64,
    /// Classes with their recent CPU cost, as a multiple of their long-run cost.
    pub(crate) drifts: Vec<(Rc<str>, f64)>,
    /// Share of time that workers sleep with their requests while others wait, and the factor by which they could serve more
    /// requests. `None` if the mode gives them further requests, or if the factor is small.
    pub(crate) asleep: Option<(f64, f64)>,
    /// Share of time that workers sleep while others wait, if each holds as many requests as its memory allows.
    pub(crate) asleep_when_full: Option<f64>,
    /// Very long runs of main threads.
    pub(crate) long_runs: Vec<AlarmingRun>,
    /// Text about route tables that keep growing.
    pub(crate) growing_routes: Option<String>,
    /// Texts about figures that grow with the age of workers: one for each class, and one for workers' memory and open files.
    pub(crate) growing: Vec<(Option<Rc<str>>, String)>,
    /// Text about certificates that are about to expire, and about names that get none.
    pub(crate) certificates: Option<String>,
    /// Text about the latest worker that ended unexpectedly.
    pub(crate) crash: Option<String>,
    /// Text about requests in quarantine.
    pub(crate) quarantine: Option<String>,
    /// Component of whose recent renders most left a hole.
    pub(crate) holes: Option<Holes>,
    /// Text about a state directory in which nothing can be kept.
    pub(crate) state_dir: Option<String>,
}

/// Change of an alarm's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Raised { key: Key, text: String },
    Cleared { key: Key, after_ms: u64 },
}

/// Identity of an alarm: its kind, and the class that it is about, if any.
pub(crate) type Key = (Alarm, Option<Rc<str>>);

/// An alarm that is raised.
#[derive(Clone, Debug)]
pub(crate) struct AlarmState {
    pub(crate) since_ms: u64,
    pub(crate) text: String,
    /// Time at which the cause was first seen gone.
    pub(crate) gone_ms: Option<u64>,
}

/// Result of a check for one alarm.
enum Sight {
    /// Cause is present; the alarm's text.
    There(String),
    /// Cause is neither established nor clearly gone. The text replaces that of a raised alarm; no alarm is raised.
    Near(String),
}

/// State of all alarms, bounded by the number of classes.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    raised: BTreeMap<Key, AlarmState>,
    /// Time from which requests are held up.
    held_up_ms: Option<u64>,
    /// Time from which workers sleep while requests wait.
    asleep_ms: Option<u64>,
    overlaps_total: u64,
}

impl Judge {
    /// Alarms that are raised.
    pub(crate) fn raised(&self) -> impl Iterator<Item = (&Key, &AlarmState)> {
        self.raised.iter()
    }

    /// Judges a reading and returns the changes. `now_ms` must not run backwards.
    pub(crate) fn look(&mut self, now_ms: u64, limits: &Limits, reading: &Reading) -> Vec<Change> {
        let mut sights: BTreeMap<Key, Sight> = BTreeMap::new();
        sights.extend(self.see_queue(now_ms, limits, reading).map(|sight| ((Alarm::SteadyQueue, None), sight)));
        sights.extend(self.see_overlaps(reading).map(|sight| ((Alarm::Overlap, None), sight)));
        sights.extend(self.see_sleep(now_ms, limits, reading).map(|sight| ((Alarm::WorkersAsleep, None), sight)));
        sights.extend(see_drifts(limits, reading));
        sights.extend(reading.long_runs.iter().map(see_long_run));
        let growing_routes = reading.growing_routes.clone();
        sights.extend(growing_routes.map(|text| ((Alarm::RoutesGrow, None), Sight::There(text))));
        let growing = reading.growing.iter().cloned();
        sights.extend(growing.map(|(class, text)| ((Alarm::GrowsWithAge, class), Sight::There(text))));
        let certificates = reading.certificates.clone();
        sights.extend(certificates.map(|text| ((Alarm::Certificates, None), Sight::There(text))));
        let crash = reading.crash.clone();
        sights.extend(crash.map(|text| ((Alarm::Crash, None), Sight::There(text))));
        let quarantine = reading.quarantine.clone();
        sights.extend(quarantine.map(|text| ((Alarm::Quarantine, None), Sight::There(text))));
        let state_dir = reading.state_dir.clone();
        sights.extend(state_dir.map(|text| ((Alarm::StateDir, None), Sight::There(text))));
        sights.extend(reading.holes.as_ref().and_then(see_holes).map(|sight| ((Alarm::Holes, None), sight)));
        let mut changes = self.clear(now_ms, limits, &sights);
        for (key, sight) in sights {
            let (Sight::There(text) | Sight::Near(text)) = &sight;
            let text = text.clone();
            match self.raised.entry(key) {
                Entry::Vacant(_) if matches!(sight, Sight::Near(_)) => {}
                Entry::Vacant(vacant) => {
                    changes.push(Change::Raised { key: vacant.key().clone(), text: text.clone() });
                    vacant.insert(AlarmState { since_ms: now_ms, text, gone_ms: None });
                }
                // The log has it as it was, the status as it is.
                Entry::Occupied(mut raised) => raised.get_mut().text = text,
            }
        }
        changes
    }

    fn clear(&mut self, now_ms: u64, limits: &Limits, sights: &BTreeMap<Key, Sight>) -> Vec<Change> {
        let mut changes = Vec::new();
        self.raised.retain(|key, raised| {
            if sights.contains_key(key) {
                raised.gone_ms = None;
                return true;
            }
            let gone_ms = *raised.gone_ms.get_or_insert(now_ms);
            let stays = now_ms - gone_ms < gone_ms_max(key.0, limits);
            if !stays {
                changes.push(Change::Cleared { key: key.clone(), after_ms: now_ms - raised.since_ms });
            }
            stays
        });
        changes
    }

    fn see_queue(&mut self, now_ms: u64, limits: &Limits, reading: &Reading) -> Option<Sight> {
        #[allow(clippy::cast_precision_loss)] // Limits are far below 2^53 ms.
        let limit = limits.queue_wait_ms as f64;
        let over = |mean_ms: Option<f64>, limit: f64| limit > 0.0 && mean_ms.is_some_and(|mean_ms| mean_ms > limit);
        let lately_ms = reading.wait_lately_ms.unwrap_or(0.0);
        let waits_lately = over(reading.wait_lately_ms, limit / 2.0);
        let near = || {
            format!("requests now wait for {lately_ms:.0} ms on average; below {:.0} ms the alarm ends", limit / 2.0)
        };
        if reading.queue_length_min == 0 && !(over(reading.wait_mean_ms, limit) && waits_lately) {
            self.held_up_ms = None;
            return waits_lately.then(|| Sight::Near(near()));
        }
        let held_up_ms = *self.held_up_ms.get_or_insert(now_ms);
        if now_ms - held_up_ms < limits.after_ms {
            return Some(Sight::Near(format!(
                "requests wait again, now {lately_ms:.0} ms on average, with {} or more in the queue",
                reading.queue_length_min
            )));
        }
        let advice = match reading.asleep_when_full.filter(|asleep| *asleep > ASLEEP) {
            Some(asleep) => format!(
                "workers have no memory for more waiting requests, and sleep for {:.0} % of the time with their \
                 current ones. Increase the heap (--max-old-space-size) or the memory",
                asleep * 100.0
            ),
            None => "there are too few workers for this load, or requests cost more than before. If CPUs are idle, \
                     raise workers.count (`sluice scale`); otherwise make requests cheaper or add machines. If only one \
                     class waits (`sluice classes`), check priorities in classes.routes"
                .to_owned(),
        };
        Some(Sight::There(format!(
            "for {} s, requests have waited, now {lately_ms:.0} ms on average, with {} or more in the queue: {advice}",
            (now_ms - held_up_ms) / 1000,
            reading.queue_length_min,
        )))
    }

    fn see_sleep(&mut self, now_ms: u64, limits: &Limits, reading: &Reading) -> Option<Sight> {
        let Some((asleep, gain)) = reading.asleep.filter(|(asleep, _)| *asleep > ASLEEP / 2.0) else {
            self.asleep_ms = None;
            return None;
        };
        let near = || {
            let (share, end) = (asleep * 100.0, ASLEEP * 50.0);
            format!("workers sleep for {share:.0} % of the time while requests queue; below {end:.0} % the alarm ends")
        };
        if asleep <= ASLEEP {
            return Some(Sight::Near(near()));
        }
        let asleep_ms = *self.asleep_ms.get_or_insert(now_ms);
        if now_ms - asleep_ms < limits.after_ms {
            return Some(Sight::Near(near()));
        }
        Some(Sight::There(format!(
            "for {} s, requests have been queued while workers slept for {:.0} % of the time with requests that wait for \
             I/O: workers.concurrency = \"while-waiting\" would serve {} as many with the same workers. It needs an app \
             that stores no data of a request in module variables; otherwise raise workers.count (`sluice scale`)",
            (now_ms - asleep_ms) / 1000,
            asleep * 100.0,
            times(gain)
        )))
    }

    fn see_overlaps(&mut self, reading: &Reading) -> Option<Sight> {
        let before = std::mem::replace(&mut self.overlaps_total, reading.overlaps_total);
        (reading.overlaps_total > before).then(|| {
            Sight::There(format!(
                "a worker held more requests at once than allowed, {} times so far. This is a bug in Sluice: please \
                 report it with the log lines `overlap_seen` and the app's code around its responses",
                reading.overlaps_total
            ))
        })
    }
}

/// Time for which an alarm's cause must be gone until the alarm ends, milliseconds. Alarms that single events raise take the
/// full `after_ms`.
fn gone_ms_max(alarm: Alarm, limits: &Limits) -> u64 {
    match alarm {
        Alarm::SteadyQueue | Alarm::WorkersAsleep | Alarm::Quarantine | Alarm::StateDir => {
            limits.after_ms.min(STATE_GONE_MS)
        }
        _ => limits.after_ms,
    }
}

fn see_long_run(run: &AlarmingRun) -> (Key, Sight) {
    ((Alarm::LongRun, run.class.clone()), Sight::There(run.text.clone()))
}

fn see_drifts(limits: &Limits, reading: &Reading) -> impl Iterator<Item = (Key, Sight)> {
    #[allow(clippy::cast_precision_loss)] // Percents are small.
    let more = limits.cost_drift_percent as f64 / 100.0;
    let drifts = reading.drifts.iter().filter(move |_| more > 0.0);
    drifts.filter(move |(_, factor)| *factor > 1.0 + more / 2.0).map(move |(class, factor)| {
        let sight = if *factor > 1.0 + more {
            Sight::There(format!(
                "it takes {factor:.1} times its long-term CPU time. If a new version of the app, other data or a \
                 cache that does not work explains this, no action is needed. Otherwise, find the code that has \
                 become slow. `sluice classes` shows the cost; the alarm ends when the long-term cost has adapted"
            ))
        } else {
            let end = 1.0 + more / 2.0;
            Sight::Near(format!(
                "it takes {factor:.1} times its long-term CPU time; below {end:.1} times the alarm ends"
            ))
        };
        ((Alarm::CostDrift, Some(Rc::clone(class))), sight)
    })
}

fn see_holes(holes: &Holes) -> Option<Sight> {
    let Holes { component, share, outcome } = holes;
    let percent = share * 100.0;
    let text = format!(
        "{percent:.0} % of the renders of {component} in the last half minute left a hole in a page, the latest with the outcome {outcome}"
    );
    if *share > HOLES {
        let advice = "`sluice status` shows the outcomes of each component, and the app's log its errors";
        return Some(Sight::There(format!("{text}: {advice}")));
    }
    (*share > HOLES / 2.0).then(|| Sight::Near(format!("{text}; below {:.1} % the alarm ends", HOLES * 50.0)))
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
