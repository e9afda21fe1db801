//! The record of a request, from its end for its client and its worker's report, which comes a little later, to the observer.
//!
//! No client waits for the report: known parts stay with the request's exchange until both are there, or the report can no longer come. The
//! observer gets one complete record. The cost of a request goes to its class at once ([`Records::take_report`]). Workers that never report
//! (they run without the preload) are measured by their service time, which is all that can be seen from outside.

pub(crate) mod account;
mod client;
pub(crate) mod reporters;

use std::rc::Rc;
use std::time::Duration;

use sluice_journal::Outcome;
use sluice_observe::{ALARMING_US, Observer, RequestRecord, Run, RunCounts, Work};
use sluice_scheduler::{RequestId, WorkerId};
use sluice_supervisor::{CpuReport, LongRun};
use tokio::time::Instant;

use crate::gate::costs::{Costs, LIGHT_WEIGHT, in_ms};
use crate::gate::dispatch::Dispatch;
use crate::upstream::WorkerRequest;
use account::ANSWERED_MAX;
use reporters::Reporters;
use sluice_road::Road;
use sluice_road::request::passage::Request;
use sluice_road::request::ticket::Ticket;
use sluice_road::respond::SendOutcome;

/// Longest delay of a report after the response, if the worker's event loop turns: hooks and late ends take their time.
const WAIT: Duration = Duration::from_secs(1);
/// Maximum wait of a record for its worker's report. A worker that renders for seconds can report nothing meanwhile,
/// not even requests that it finished before.
const WAIT_MAX: Duration = Duration::from_secs(30);
/// Maximum CPU time of a request, microseconds. An hour. A larger report is a lie or a mistake.
const CPU_US_MAX: u64 = 3_600_000_000;

/// Records of requests whose client's or worker's part is missing, and who gives them to the observer.
pub struct Records {
    dispatch: Rc<Dispatch>,
    costs: Rc<Costs>,
    pub(crate) reporters: Rc<Reporters>,
    road: Rc<Road>,
    observer: Rc<Observer>,
}

impl Records {
    pub(crate) fn new(road: &Rc<Road>, dispatch: &Rc<Dispatch>, costs: &Rc<Costs>) -> Self {
        Records {
            dispatch: Rc::clone(dispatch),
            costs: Rc::clone(costs),
            reporters: Rc::default(),
            observer: Rc::clone(&road.observer),
            road: Rc::clone(road),
        }
    }

    /// Ends a client's request: gives its record away, or stores it until its worker has reported it.
    pub(crate) fn record(&self, ended: Instant, request: Request, sent: &SendOutcome) {
        let (ticket, record) = client::record_of(&self.road, &self.costs, ended, request, sent);
        let request = ticket.map_or(RequestId(0), Ticket::end);
        let exchange = self.dispatch.requests.exchange(request);
        // Where no worker got it, or its worker has died, nobody is left who could report it.
        let line = record.line.as_ref().map(|line| &line.rest);
        let is_reportable = line.is_some_and(|line| line.worker.is_some() && line.outcome != Outcome::WorkerDied);
        let Some(exchange) = exchange.filter(|_| is_reportable) else {
            self.observer.ended(&record);
            return self.record_nothing(request);
        };
        exchange.account.client_ended(&self.observer, record, ended);
        self.dispatch.requests.settle(request);
    }

    /// Ends a request whose client is gone, so that no client's record follows.
    pub(crate) fn record_nothing(&self, request: RequestId) {
        if let Some(exchange) = self.dispatch.requests.exchange(request) {
            exchange.account.client_left(&self.observer, || record_of(&exchange));
            self.dispatch.requests.settle(request);
        }
    }

    /// Takes a worker's report on the request.
    pub(crate) fn take_report(&self, worker: WorkerId, exchange: &WorkerRequest, reported: &CpuReport<'_>) {
        let (account, cpu_us) = (&exchange.account, reported.cpu_us.map(|us| us.min(CPU_US_MAX)));
        let cpu_weight = reported.weight.unwrap_or(1).min(LIGHT_WEIGHT);
        if !account.is_measured.replace(true) {
            if let Some(route) = reported.route {
                self.costs.classes.tell_route(exchange.target(), route);
            }
            match cpu_us {
                Some(cpu_us) if cpu_weight == 0 => self.costs.doubt_cost(&exchange.class, cpu_us),
                Some(cpu_us) => {
                    self.costs.watch_tail(&exchange.class, cpu_us);
                    self.costs.take_cost(&exchange.class, cpu_us);
                    self.costs.repeat_cost(&exchange.class, cpu_us, cpu_weight - 1);
                }
                None => self.costs.estimate_cost(&exchange.class),
            }
        }
        account.is_reported.set(true);
        let mut runs = RunCounts::default();
        runs.iter_mut().zip(reported.runs).for_each(|(count, reported)| *count = *reported);
        // Those that alarm were told at once.
        let longest = reported.longest.filter(|run| run.us < ALARMING_US);
        let work = self.work(worker, exchange);
        // The worker's clock stops when it reports, which is a little after the gateway has read the answer's end.
        let handler_us = reported.handler_us.zip(work.service_us).map(|(handler_us, all_us)| handler_us.min(all_us));
        if let Some(handler_us) = handler_us {
            self.costs.classes.handled(&exchange.class, in_ms(handler_us));
        }
        let runs = Some(runs);
        self.worked(
            exchange,
            Work { cpu_us, cpu_weight, handler_us, runs, longest: longest.as_ref().map(run_of), ..work },
        );
        self.dispatch.requests.settle(exchange.request);
    }

    /// Worker's part of the record without its report.
    fn work(&self, worker: WorkerId, exchange: &WorkerRequest) -> Work {
        let ended = exchange.account.finished_at().unwrap_or_else(Instant::now);
        let service = ended.saturating_duration_since(exchange.times.started.get());
        let service_us = u64::try_from(service.as_micros()).unwrap_or(u64::MAX);
        Work {
            worker: worker.0,
            generation: self.dispatch.scheduler.read(|scheduler| scheduler.generation_of(worker)),
            class: exchange.class.id,
            service_us: (!exchange.answer.facts.is_stream.get()).then_some(service_us),
            cpu_us: None,
            cpu_weight: 1,
            handler_us: None,
            runs: None,
            longest: None,
        }
    }

    fn worked(&self, exchange: &WorkerRequest, work: Work) {
        // The gateway's own requests are in no statistics.
        if !exchange.is_own {
            exchange.account.worked(&self.observer, work, || record_of(exchange));
        }
    }

    /// Checks each request that a worker has or has answered.
    pub(crate) fn sweep(&self, now: Instant) {
        let config = self.road.config();
        let idle_ms = config.streams.idle_timeout_ms;
        let idle_max = (idle_ms > 0).then(|| Duration::from_millis(idle_ms));
        let mut unreported = Vec::new();
        self.dispatch.requests.sweep(|exchange, is_held, answered| {
            if is_held {
                exchange.check(now, idle_max);
            }
            if self.expire(exchange, now, answered > ANSWERED_MAX) {
                unreported.push(Rc::clone(exchange));
            }
        });
        for exchange in &unreported {
            self.measure_by_service(exchange);
        }
    }

    /// Gives up a report that has been waited for long enough, or that is one too many. Returns whether the class gets the service time as
    /// its cost.
    fn expire(&self, exchange: &WorkerRequest, now: Instant, is_too_many: bool) -> bool {
        let Some(worker) = exchange.answer.facts.worker.get() else { return false };
        let account = &exchange.account;
        let may_come = |since| !is_too_many && self.may_report(worker, since, now);
        let reports = self.reporters.reports(worker);
        let is_missed = !account.is_measured.get() && account.finished_at().is_some_and(|finished| !may_come(finished));
        account.is_measured.set(account.is_measured.get() || is_missed);
        if is_missed && !reports {
            return true;
        }
        if account.waits_since().is_some_and(|ended| !may_come(ended)) {
            account.give(&self.observer);
        }
        if account.is_finished() {
            account.is_silent.set(account.is_measured.get() && (!reports || is_too_many));
        }
        false
    }

    /// Sets the cost of a request whose worker never reports to its service time.
    fn measure_by_service(&self, exchange: &WorkerRequest) {
        let Some(worker) = exchange.answer.facts.worker.get() else { return };
        let finished = exchange.account.finished_at().unwrap_or(exchange.times.given.get());
        let service_us = finished.saturating_duration_since(exchange.times.given.get()).as_micros();
        self.worked(exchange, self.work(worker, exchange));
        self.costs.take_cost(&exchange.class, u64::try_from(service_us).unwrap_or(u64::MAX));
    }

    /// Whether the worker may still report a request that it answered at that time.
    fn may_report(&self, worker: WorkerId, answered: Instant, now: Instant) -> bool {
        let waited = now.saturating_duration_since(answered);
        let is_silent = || self.reporters.heard_of(worker).is_some_and(|heard| heard < answered + WAIT);
        waited < WAIT || waited < WAIT_MAX && is_silent()
    }

    /// Gives all records away that wait for a worker's report; no report follows.
    pub fn flush(&self) {
        self.dispatch.requests.sweep(|exchange, _, _| exchange.account.give(&self.observer));
    }
}

/// Record with neither the client's part nor the worker's.
fn record_of(exchange: &WorkerRequest) -> RequestRecord {
    RequestRecord { request_id: exchange.id().into(), class: Rc::clone(&exchange.class.name), line: None, work: None }
}

/// Converts a worker's report on a run for the observer.
pub(crate) fn run_of(run: &LongRun) -> Run {
    let LongRun { us, collected_us, cpu_us, queued_us, ago_ms, .. } = *run;
    Run { us, collected_us, cpu_us, queued_us, ago_ms }
}
