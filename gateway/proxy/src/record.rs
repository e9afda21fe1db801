//! What is told of a request when it has ended, and the worker's report of its CPU time, which comes a little later.
//!
//! The report is not waited for by anybody: a finished record waits for its report for as long as one may come, or a report
//! for its record for a second.

pub(crate) mod ended;
pub(crate) mod measures;
pub(crate) mod reporters;

use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use sluice_catalog::errors::Code;
use sluice_journal::{AccessRecord, Event, Outcome, Session, Step};
use sluice_message::Method;
use sluice_scheduler::{RequestId, WorkerId};

use crate::gate::Gate;
use crate::ids::RequestMap;
use crate::receive::trace::TraceId;

/// Records and reports that may wait for each other; further ones go without.
const WAITING_MAX: usize = 20_000;
/// How long a report waits for its record.
const WAIT: Duration = Duration::from_secs(1);

/// One request's record, as [`AccessRecord`] but owned.
pub(crate) struct Record {
    pub(crate) time_unix_ms: u64,
    pub(crate) request_id: Rc<str>,
    pub(crate) method: Option<Method>,
    pub(crate) target: String,
    pub(crate) host: String,
    pub(crate) class: Rc<str>,
    pub(crate) worker: Option<WorkerId>,
    pub(crate) tries: u32,
    pub(crate) step: Option<Step>,
    pub(crate) session: Option<Session>,
    pub(crate) status: u16,
    pub(crate) error: Option<Code>,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    pub(crate) receive_ms: f64,
    pub(crate) queue_ms: Option<f64>,
    pub(crate) unserved_ms: Option<f64>,
    pub(crate) service_ms: Option<f64>,
    pub(crate) total_ms: f64,
    pub(crate) outcome: Outcome,
    pub(crate) peer: IpAddr,
    pub(crate) trace_id: Option<TraceId>,
}

enum Waiting {
    Record(Box<Record>, Instant),
    Report(Option<u64>, Instant),
}

/// Records and reports by request.
#[derive(Default)]
pub(crate) struct CostReports {
    waiting: RefCell<RequestMap<Waiting>>,
}

impl CostReports {
    /// The request has ended.
    pub(crate) fn finish(&self, gate: &Gate, request: RequestId, ended: Instant, record: Record) {
        let mut waiting = self.waiting.borrow_mut();
        if record.worker.is_none() || record.outcome == Outcome::WorkerDied {
            // Nobody is left who could report; the line belongs to the moment of the cut.
            waiting.remove(&request);
            return emit(gate, &record, None);
        }
        match waiting.remove(&request) {
            Some(Waiting::Report(cpu_us, _)) => emit(gate, &record, cpu_us),
            _ if waiting.len() >= WAITING_MAX => emit(gate, &record, None),
            _ => {
                waiting.insert(request, Waiting::Record(Box::new(record), ended));
            }
        }
    }

    /// The worker has reported the request, with its own CPU time where that is known.
    pub(crate) fn report(&self, gate: &Gate, request: RequestId, cpu_us: Option<u64>) {
        let mut waiting = self.waiting.borrow_mut();
        match waiting.remove(&request) {
            Some(Waiting::Record(record, _)) => emit(gate, &record, cpu_us),
            _ if waiting.len() >= WAITING_MAX => {}
            _ => {
                waiting.insert(request, Waiting::Report(cpu_us, Instant::now()));
            }
        }
    }

    /// Lets go of what has waited long enough.
    pub(crate) fn expire(&self, gate: &Gate, now: Instant) {
        self.waiting.borrow_mut().retain(|_, waiting| {
            let (record, since) = match waiting {
                Waiting::Record(record, since) => (record, *since),
                Waiting::Report(_, since) => return now.saturating_duration_since(*since) < WAIT,
            };
            let may_come = record.worker.is_some_and(|worker| gate.reporters.may_report(worker, since, now));
            if !may_come {
                emit(gate, record, None);
            }
            may_come
        });
    }

    /// Emits all that waits; the gateway leaves.
    pub(crate) fn flush(&self, gate: &Gate) {
        for (_, waiting) in self.waiting.borrow_mut().drain() {
            if let Waiting::Record(record, _) = waiting {
                emit(gate, &record, None);
            }
        }
    }
}

fn emit(gate: &Gate, record: &Record, cpu_us: Option<u64>) {
    #[allow(clippy::cast_precision_loss)] // CPU times are far below 2^53 µs.
    let cpu_ms = cpu_us.map(|us| us as f64 / 1000.0);
    gate.journal.emit(Event::Access(AccessRecord {
        time_unix_ms: record.time_unix_ms,
        request_id: &record.request_id,
        method: record.method.as_ref().map_or("", Method::as_str),
        target: &record.target,
        host: &record.host,
        class: &record.class,
        worker: record.worker.map(|worker| worker.0),
        tries: record.tries,
        step: record.step,
        session: record.session,
        status: record.status,
        error: record.error,
        bytes_in: record.bytes_in,
        bytes_out: record.bytes_out,
        receive_ms: record.receive_ms,
        queue_ms: record.queue_ms,
        unserved_ms: record.unserved_ms,
        service_ms: record.service_ms,
        total_ms: record.total_ms,
        cpu_ms,
        outcome: record.outcome,
        peer: record.peer,
        trace_id: record.trace_id.map(|id| id.0),
    }));
}
