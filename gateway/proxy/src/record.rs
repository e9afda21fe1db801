//! What is told of a request when it has ended, and the worker's report of its CPU time, which comes a little later.
//!
//! Nobody waits for the report: a finished record stays with the request's exchange for as long as its report may come, and
//! so does a report for a second. What a request has cost goes to its class ([`Gate::reported`]); workers that never report
//! (they run without the preload) are measured by their service time, which is all that is seen of them from outside.

pub(crate) mod ended;
mod headers;
mod traces;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use sluice_journal::{AccessRecord, Event, LoggedHeader, Outcome};
use sluice_message::{Method, Scheme};
use sluice_scheduler::{RequestId, WorkerId};
use sluice_supervisor::Reported;
use sluice_traces::Context;
use tokio::time::Instant;

use crate::gate::{Gate, LIGHT_WEIGHT};
use crate::upstream::InFlight;

/// How long a report may take after the response, if the worker's event loop turns: hooks and late ends take their time. And how
/// long it waits for its record.
const WAIT: Duration = Duration::from_secs(1);
/// How long it may take at most. A worker that renders for seconds can report nothing meanwhile, also not what it finished before.
const WAIT_MAX: Duration = Duration::from_secs(30);
/// Answered requests that wait for their worker's report; further ones go without.
pub(crate) const ANSWERED_MAX: usize = 20_000;
/// What a request can have cost at most: an hour. More is a lie or a mistake.
const CPU_US_MAX: u64 = 3_600_000_000;

/// One request's record: an [`AccessRecord`], and the words that it borrows.
pub(crate) struct Record {
    pub(crate) request_id: Rc<str>,
    pub(crate) method: Option<Method>,
    pub(crate) target: String,
    pub(crate) host: String,
    pub(crate) class: Rc<str>,
    /// Those that the log is to have.
    pub(crate) headers: Vec<LoggedHeader>,
    pub(crate) scheme: Scheme,
    /// Its trace, where that is kept.
    pub(crate) traced: Option<Context>,
    /// CPU time that workers used for it and died with, microseconds.
    pub(crate) untold_cpu_us: u64,
    /// Without those, and without the CPU time.
    pub(crate) rest: AccessRecord<'static>,
}

/// What a worker says of a request: its own CPU time where that is known, and when it said so.
#[derive(Clone, Copy, Debug)]
struct Report {
    cpu_us: Option<u64>,
    /// Requests for which that stands.
    weight: u32,
    at: Instant,
}

/// The log line of a request that a worker got.
enum LogLine {
    /// Its client is still served.
    Open,
    /// It is known but for its CPU time, since then.
    Waits(Box<Record>, Instant),
    /// It is written, or there is none: the gateway's own requests have no client.
    Written,
}

/// What is to come of a request that a worker got: its cost and its log line.
pub(crate) struct Account {
    line: RefCell<LogLine>,
    report: Cell<Option<Report>>,
    /// When the worker had answered.
    finished: Cell<Option<Instant>>,
    /// Its class has its cost, or will not get it.
    is_measured: Cell<bool>,
    /// Its worker will not report it any more.
    is_silent: Cell<bool>,
}

impl Account {
    /// `is_own`: it is the gateway's own, and says nothing of its class. It is there because the worker is cold.
    pub(crate) fn new(is_own: bool) -> Self {
        Account {
            line: RefCell::new(if is_own { LogLine::Written } else { LogLine::Open }),
            report: Cell::new(None),
            finished: Cell::new(None),
            is_measured: Cell::new(is_own),
            is_silent: Cell::new(false),
        }
    }

    /// The worker has answered.
    pub(crate) fn finish(&self, now: Instant) {
        self.finished.set(Some(self.finished.get().unwrap_or(now)));
    }

    /// When it had.
    pub(crate) fn finished_at(&self) -> Option<Instant> {
        self.finished.get()
    }

    /// Whether it has.
    pub(crate) fn is_finished(&self) -> bool {
        self.finished.get().is_some()
    }

    /// Its worker is gone: what it may still say is for the log alone.
    pub(crate) fn close(&self) {
        self.is_measured.set(true);
    }

    /// Whether nothing is to come any more.
    pub(crate) fn is_settled(&self) -> bool {
        let has_ended = self.report.get().is_some() || self.is_silent.get();
        has_ended && self.is_measured.get() && matches!(*self.line.borrow(), LogLine::Written)
    }

    /// Writes the line that waits, if any.
    pub(crate) fn write(&self, gate: &Gate, cpu_us: Option<u64>, weight: u32) {
        let mut line = self.line.borrow_mut();
        if let LogLine::Waits(record, _) = &*line {
            emit(gate, record, cpu_us, weight);
            *line = LogLine::Written;
        }
    }
}

impl Gate {
    /// The request has ended for its client.
    pub(crate) fn record(&self, request: RequestId, ended: Instant, record: Record) {
        let exchange = self.requests.exchange(request);
        // Where no worker got it, or its worker has died, nobody is left who could report it.
        let is_reportable = record.rest.worker.is_some() && record.rest.outcome != Outcome::WorkerDied;
        let Some(exchange) = exchange.filter(|_| is_reportable) else {
            emit(self, &record, None, 1);
            return self.record_nothing(request);
        };
        let report = exchange.account.report.get();
        let line = match report.filter(|report| ended.saturating_duration_since(report.at) < WAIT) {
            Some(report) => {
                emit(self, &record, report.cpu_us, report.weight);
                LogLine::Written
            }
            None => LogLine::Waits(Box::new(record), ended),
        };
        exchange.account.line.replace(line);
        self.requests.settle(request);
    }

    /// There is no client any more who could end the request.
    pub(crate) fn record_nothing(&self, request: RequestId) {
        if let Some(exchange) = self.requests.exchange(request) {
            exchange.account.line.replace(LogLine::Written);
            self.requests.settle(request);
        }
    }

    /// The worker has reported the request.
    pub(crate) fn take_report(&self, request: RequestId, exchange: &InFlight, reported: &Reported<'_>) {
        let (account, cpu_us) = (&exchange.account, reported.cpu_us.map(|us| us.min(CPU_US_MAX)));
        let weight = reported.weight.unwrap_or(1).min(LIGHT_WEIGHT);
        if !account.is_measured.replace(true) {
            if let Some(route) = reported.route {
                self.classes.tell_route(exchange.target(), route);
            }
            match cpu_us {
                Some(cpu_us) if weight == 0 => self.doubt_cost(&exchange.class, cpu_us),
                Some(cpu_us) => {
                    self.watch_tail(&exchange.class, cpu_us);
                    self.take_cost(&exchange.class, cpu_us);
                    self.repeat_cost(&exchange.class, cpu_us, weight - 1);
                }
                None => self.estimate_cost(&exchange.class),
            }
        }
        self.note_took(exchange, cpu_us.filter(|_| weight > 0), reported);
        account.report.set(Some(Report { cpu_us, weight, at: Instant::now() }));
        account.write(self, cpu_us, weight);
        self.requests.settle(request);
    }

    /// Lets go of what has waited for a report for long enough, or is one too many. Returns whether the class is to get the
    /// service time for a cost.
    pub(crate) fn expire(&self, exchange: &InFlight, now: Instant, is_too_many: bool) -> bool {
        let Some(worker) = exchange.answer.worker.get() else { return false };
        let account = &exchange.account;
        let may_come = |since| !is_too_many && self.may_report(worker, since, now);
        let is_late = matches!(&*account.line.borrow(), LogLine::Waits(_, ended) if !may_come(*ended));
        if is_late {
            account.write(self, None, 1);
        }
        let Some(finished) = account.finished.get() else { return false };
        let is_missed = !account.is_measured.get() && !may_come(finished);
        account.is_measured.set(account.is_measured.get() || is_missed);
        let reports = self.reports(worker);
        account.is_silent.set(account.is_measured.get() && (!reports || is_too_many));
        is_missed && !reports
    }

    /// The cost of a request whose worker never reports.
    pub(crate) fn measure_by_service(&self, exchange: &InFlight) {
        let finished = exchange.account.finished.get().unwrap_or(exchange.given);
        let service_us = finished.saturating_duration_since(exchange.given).as_micros();
        self.note_took(exchange, None, &Reported::default());
        self.take_cost(&exchange.class, u64::try_from(service_us).unwrap_or(u64::MAX));
    }

    /// Whether the worker is one that reports, and is there.
    pub(crate) fn reports(&self, worker: WorkerId) -> bool {
        self.reporters.borrow().contains_key(&worker)
    }

    /// Whether it may still report a request that it answered then.
    fn may_report(&self, worker: WorkerId, answered: Instant, now: Instant) -> bool {
        let waited = now.saturating_duration_since(answered);
        let is_silent = || self.reporters.borrow().get(&worker).is_some_and(|heard| *heard < answered + WAIT);
        waited < WAIT || waited < WAIT_MAX && is_silent()
    }

    /// Tells the records that still wait for a worker's report; nothing follows.
    pub fn flush_records(&self) {
        self.requests.sweep(|exchange, _, _| exchange.account.write(self, None, 1));
    }
}

/// Writes the request's line, and exports its spans where its trace is kept.
fn emit(gate: &Gate, record: &Record, cpu_us: Option<u64>, cpu_weight: u32) {
    #[allow(clippy::cast_precision_loss)] // CPU times are far below 2^53 µs.
    let cpu_ms = with_untold(cpu_us, record.untold_cpu_us).map(|us| us as f64 / 1000.0);
    let told = AccessRecord {
        request_id: &record.request_id,
        method: record.method.as_ref().map_or("", Method::as_str),
        target: &record.target,
        host: &record.host,
        class: &record.class,
        cpu_ms,
        cpu_weight,
        headers: &record.headers,
        is_traced: record.traced.is_some(),
        ..record.rest
    };
    if let Some(context) = record.traced {
        gate.traces.end(|| traces::ended(context, record.scheme, &told));
    }
    gate.journal.emit(Event::Access(told));
}

/// CPU time of a request, with what workers that died with it had used.
fn with_untold(reported_us: Option<u64>, untold_us: u64) -> Option<u64> {
    let is_known = reported_us.is_some() || untold_us > 0;
    is_known.then(|| reported_us.unwrap_or(0).saturating_add(untold_us))
}
