//! Counts behind the metrics. Plain numbers: only the data plane's thread changes them.
//!
//! This module must not know the format of a line. The number of label sets is bounded for any input.

mod histogram;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use sluice_catalog::errors::Code;
use sluice_catalog::metrics::{self, CLASS_OTHER, CLASSES_MAX};
use sluice_sketch::{Frequent, hash};

use crate::event::{AccessRecord, Event, ExitReason, Outcome, RecycleCause, Session, Step};
use crate::prometheus::Page;
use histogram::{ClassHistogram, Histogram};

/// Maximum number of combinations of class, status and outcome that are counted. Further ones count under [`CLASS_OTHER`].
const LABEL_SETS_MAX: usize = 500;

/// The place of the class that takes what there is no room for.
const OTHER: usize = 0;
/// Maximum number of additional label sets of the class `other`, so that clients cannot add statuses without limit.
const OTHER_SETS_MAX: usize = 100;

/// Maximum number of classes that are counted by name from their first request, besides those of the config's routes.
/// Further ones get one at their twentieth: a client that makes up paths must not take them all.
const AT_ONCE_MAX: usize = CLASSES_MAX / 2;
const REQUESTS_MIN: u32 = 20;
/// Maximum number of further classes whose requests are counted.
const CANDIDATES_MAX: usize = 64;
/// Label sets that each class of a route can count on.
const SETS_PER_ROUTE: usize = 2;

/// Results of a reload, as label values.
const RELOAD_RESULTS: [&str; 4] = ["done", "abandoned", "superseded", "refused"];

struct Class {
    name: Box<str>,
    /// True if the class belongs to a route of the config.
    is_route: bool,
    /// Count by status and outcome. Few of the pairs ever occur, so looking through them beats hashing.
    counts: Vec<(u16, Outcome, u64)>,
    /// Counts by the step that requests were served at.
    steps: [u64; Step::ALL.len()],
    cpu_ms: f64,
    /// Time in the handlers of routes, and before them, where routers show it.
    handler_ms: f64,
    before_handler_ms: f64,
    queue_wait: ClassHistogram,
    service_time: ClassHistogram,
}

pub(crate) struct Counters {
    pub(crate) outcomes: [u64; Outcome::ALL.len()],
    pub(crate) overlaps_total: u64,
    sessions: [u64; Session::ALL.len()],
    class_places: HashMap<Box<str>, usize>,
    classes: Vec<Class>,
    /// Number of classes that got their place at their first request, and number of those of the config's routes.
    at_once: usize,
    reserved: usize,
    /// Classes without a place.
    candidates: Frequent<CANDIDATES_MAX>,
    label_sets: usize,
    pub(crate) errors: BTreeMap<Code, u64>,
    shed: BTreeMap<Code, u64>,
    start_failures: BTreeMap<Code, u64>,
    received_bytes: u64,
    sent_bytes: u64,
    receive: Histogram,
    queue_wait: Histogram,
    unserved: Histogram,
    service_time: Histogram,
    cpu: Histogram,
    worker_starts: u64,
    recycles: BTreeMap<RecycleCause, u64>,
    reloads: [u64; RELOAD_RESULTS.len()],
    /// Exits by reason: those that the gateway had asked for, then the others.
    worker_exits: [[u64; 2]; ExitReason::ALL.len()],
}

impl Counters {
    pub(crate) fn new() -> Self {
        let mut counters = Self {
            outcomes: [0; Outcome::ALL.len()],
            overlaps_total: 0,
            sessions: [0; Session::ALL.len()],
            class_places: HashMap::new(),
            classes: Vec::new(),
            at_once: 0,
            reserved: 0,
            candidates: Frequent::default(),
            label_sets: 0,
            errors: BTreeMap::new(),
            shed: BTreeMap::new(),
            start_failures: BTreeMap::new(),
            received_bytes: 0,
            sent_bytes: 0,
            receive: Histogram::default(),
            queue_wait: Histogram::default(),
            unserved: Histogram::default(),
            service_time: Histogram::default(),
            cpu: Histogram::default(),
            worker_starts: 0,
            recycles: BTreeMap::new(),
            reloads: [0; RELOAD_RESULTS.len()],
            worker_exits: Default::default(),
        };
        counters.add_class(CLASS_OTHER, false);
        counters
    }

    pub(crate) fn count(&mut self, event: &Event<'_>) {
        match *event {
            Event::Access(ref record) => self.count_request(record),
            Event::WorkerStarted { .. } => self.worker_starts += 1,
            Event::WorkerExited { reason, expected, .. } => {
                self.worker_exits[reason as usize][usize::from(!expected)] += 1;
            }
            Event::WorkerStartFailed { code, .. } => *self.start_failures.entry(code).or_default() += 1,
            Event::WorkerRecycled { reason, .. } => *self.recycles.entry(reason).or_default() += 1,
            Event::ReloadFinished { .. } => self.reloads[0] += 1,
            Event::ReloadAbandoned { superseded: false, .. } => self.reloads[1] += 1,
            Event::ReloadAbandoned { superseded: true, .. } => self.reloads[2] += 1,
            Event::ReloadRefused { .. } => self.reloads[3] += 1,
            Event::OverlapSeen { count, .. } => self.overlaps_total = self.overlaps_total.saturating_add(count),
            Event::AppLine { .. }
            | Event::ReloadStarted { .. }
            | Event::ReloadCompared { .. }
            | Event::WorkerReady { .. }
            | Event::WorkerOverdue { .. }
            | Event::WorkerStuck { .. }
            | Event::WorkerBlocked { .. }
            | Event::WorkerBackoff { .. }
            | Event::Listening { .. }
            | Event::Draining { .. }
            | Event::Stopped
            | Event::TaskLost { .. }
            | Event::Scaled { .. }
            | Event::DialChanged { .. }
            | Event::LongRun { .. }
            | Event::AlarmRaised { .. }
            | Event::AlarmCleared { .. }
            | Event::Quarantined { .. }
            | Event::Note { .. } => {}
        }
    }

    fn count_request(&mut self, record: &AccessRecord<'_>) {
        self.outcomes[record.outcome as usize] += 1;
        self.received_bytes = self.received_bytes.saturating_add(record.bytes_in);
        self.sent_bytes = self.sent_bytes.saturating_add(record.bytes_out);
        self.receive.record(record.receive_ms, record);
        if let Some(queue_ms) = record.queue_ms {
            self.queue_wait.record(queue_ms, record);
        }
        if let Some(unserved_ms) = record.unserved_ms {
            self.unserved.record(unserved_ms, record);
        }
        if let Some(service_ms) = record.service_ms {
            self.service_time.record(service_ms, record);
        }
        if let Some(code) = record.error {
            *self.errors.entry(code).or_default() += 1;
            if code.entry().status == 503 {
                *self.shed.entry(code).or_default() += 1;
            }
        }
        if let Some(session) = record.session {
            self.sessions[session as usize] += 1;
        }
        let place = self.class_place(record.class);
        if let Some(cpu_ms) = record.cpu_ms {
            self.cpu.record_times(record.cpu_weight, cpu_ms, record);
            self.classes[place].cpu_ms += cpu_ms * f64::from(record.cpu_weight);
        }
        if let (Some(handler_ms), Some(service_ms)) = (record.handler_ms, record.service_ms) {
            self.classes[place].handler_ms += handler_ms;
            self.classes[place].before_handler_ms += service_ms - handler_ms;
        }
        if let Some(queue_ms) = record.queue_ms {
            self.classes[place].queue_wait.record(queue_ms);
        }
        if let Some(service_ms) = record.service_ms {
            self.classes[place].service_time.record(service_ms);
        }
        if let Some(step) = record.step {
            self.classes[place].steps[step as usize] += 1;
        }
        if !self.count_in(place, record.status, record.outcome) {
            self.count_in(OTHER, record.status, record.outcome);
        }
    }

    /// Requests that were given this.
    pub(crate) fn step_total(&self, step: Step) -> u64 {
        self.classes.iter().map(|class| class.steps[step as usize]).sum()
    }

    /// Reserves the place of a route's class before its first request.
    pub(crate) fn reserve(&mut self, name: &str) {
        if self.classes.len() < CLASSES_MAX && !self.class_places.contains_key(name) {
            self.add_class(name, true);
            self.reserved += 1;
        }
    }

    fn class_place(&mut self, name: &str) -> usize {
        if let Some(place) = self.class_places.get(name) {
            return *place;
        }
        if name.is_empty() || self.classes.len() >= CLASSES_MAX || self.label_sets >= self.unreserved_sets() {
            return OTHER;
        }
        if self.at_once < AT_ONCE_MAX {
            self.at_once += 1;
        } else if !self.comes_often(name) {
            return OTHER;
        }
        self.add_class(name, false)
    }

    /// Counts a class without a place, unless it has come often enough for one.
    fn comes_often(&mut self, name: &str) -> bool {
        let hash = hash(name);
        let is_often = self.candidates.count(hash) >= REQUESTS_MIN;
        if is_often {
            self.candidates.forget(hash);
        }
        is_often
    }

    fn unreserved_sets(&self) -> usize {
        LABEL_SETS_MAX - SETS_PER_ROUTE * self.reserved
    }

    fn add_class(&mut self, name: &str, is_route: bool) -> usize {
        let place = self.classes.len();
        self.classes.push(Class {
            name: name.into(),
            is_route,
            counts: Vec::new(),
            steps: [0; Step::ALL.len()],
            cpu_ms: 0.0,
            handler_ms: 0.0,
            before_handler_ms: 0.0,
            queue_wait: ClassHistogram::default(),
            service_time: ClassHistogram::default(),
        });
        self.class_places.insert(name.into(), place);
        place
    }

    fn count_in(&mut self, place: usize, status: u16, outcome: Outcome) -> bool {
        let sets_max = if self.classes[place].is_route { LABEL_SETS_MAX } else { self.unreserved_sets() };
        let counts = &mut self.classes[place].counts;
        if let Some(entry) = counts.iter_mut().find(|entry| entry.0 == status && entry.1 == outcome) {
            entry.2 += 1;
            return true;
        }
        // The pairs of `other` must have room when nothing else has.
        if place != OTHER {
            if self.label_sets >= sets_max {
                return false;
            }
            self.label_sets += 1;
        } else if counts.len() >= OTHER_SETS_MAX {
            counts[OTHER_SETS_MAX - 1].2 += 1;
            return true;
        }
        counts.push((status, outcome, 1));
        true
    }

    pub(crate) fn write(&self, page: &mut Page) {
        page.metric(&metrics::REQUESTS_TOTAL);
        for class in &self.classes {
            for &(status, outcome, count) in &class.counts {
                let labels = [("class", &*class.name), ("status", &*status.to_string()), ("outcome", outcome.as_str())];
                page.sample(&labels, count);
            }
        }
        page.metric(&metrics::LADDER_STEPS_TOTAL);
        for class in &self.classes {
            for (step, count) in Step::ALL.into_iter().zip(class.steps).filter(|(_, count)| *count > 0) {
                page.sample(&[("class", &*class.name), ("step", step.as_str())], count);
            }
        }
        page.metric(&metrics::CLASS_CPU_SECONDS_TOTAL);
        for class in self.classes.iter().filter(|class| class.cpu_ms > 0.0) {
            page.sample(&[("class", &*class.name)], class.cpu_ms / 1000.0);
        }
        page.metric(&metrics::CLASS_HANDLER_SECONDS_TOTAL);
        for class in self.classes.iter().filter(|class| class.handler_ms > 0.0) {
            for (part, ms) in [("handler", class.handler_ms), ("before", class.before_handler_ms)] {
                page.sample(&[("class", &*class.name), ("part", part)], ms / 1000.0);
            }
        }
        page.metric(&metrics::CLASS_QUEUE_WAIT_SECONDS);
        self.classes.iter().for_each(|class| class.queue_wait.write(page, &class.name));
        page.metric(&metrics::CLASS_SERVICE_TIME_SECONDS);
        self.classes.iter().for_each(|class| class.service_time.write(page, &class.name));
        page.metric(&metrics::SESSION_REQUESTS_TOTAL);
        for (session, count) in Session::ALL.into_iter().zip(self.sessions) {
            page.sample(&[("session", session.as_str())], count);
        }
        page.metric(&metrics::ERRORS_TOTAL);
        for (code, count) in &self.errors {
            page.sample(&[("code", code.entry().code)], count);
        }
        page.metric(&metrics::SHED_TOTAL);
        for (code, count) in &self.shed {
            page.sample(&[("code", code.entry().code)], count);
        }
        page.metric(&metrics::REQUEST_BODY_BYTES_TOTAL).sample(&[], self.received_bytes);
        page.metric(&metrics::RESPONSE_BODY_BYTES_TOTAL).sample(&[], self.sent_bytes);
        self.receive.write(page.metric(&metrics::RECEIVE_SECONDS));
        self.queue_wait.write(page.metric(&metrics::QUEUE_WAIT_SECONDS));
        self.unserved.write(page.metric(&metrics::QUEUE_UNSERVED_SECONDS));
        self.service_time.write(page.metric(&metrics::SERVICE_TIME_SECONDS));
        self.cpu.write(page.metric(&metrics::REQUEST_CPU_SECONDS));
        page.metric(&metrics::RELOADS_TOTAL);
        for (result, count) in RELOAD_RESULTS.iter().zip(self.reloads) {
            page.sample(&[("result", result)], count);
        }
        page.metric(&metrics::WORKER_RECYCLES_TOTAL);
        for reason in RecycleCause::ALL {
            let count = self.recycles.get(&reason).copied().unwrap_or(0);
            page.sample(&[("reason", reason.as_str())], count);
        }
        page.metric(&metrics::WORKER_STARTS_TOTAL).sample(&[], self.worker_starts);
        page.metric(&metrics::WORKER_EXITS_TOTAL);
        for (reason, [expected, unexpected]) in ExitReason::ALL.into_iter().zip(self.worker_exits) {
            page.sample(&[("reason", reason.as_str()), ("expected", "true")], expected);
            page.sample(&[("reason", reason.as_str()), ("expected", "false")], unexpected);
        }
        page.metric(&metrics::WORKER_START_FAILURES_TOTAL);
        for (code, count) in &self.start_failures {
            page.sample(&[("code", code.entry().code)], count);
        }
        page.metric(&metrics::OVERLAPS_TOTAL).sample(&[], self.overlaps_total);
    }
}
