//! The record of a request from the client's side. It must not know what the worker reports.

use std::rc::Rc;

use sluice_catalog::errors::Code;
use sluice_journal::{AccessRecord, Outcome};
use sluice_observe::{AccessLine, RequestRecord, UpstreamLine};
use sluice_upstreams::Told;
use tokio::time::Instant;

use crate::gate::costs::Costs;
use sluice_road::Road;
use sluice_road::request::passage::Request;
use sluice_road::request::ticket::{Call, Ticket};
use sluice_road::respond::SendOutcome;
use sluice_road::trace::Trace;
use sluice_wire::respond::answer::Times;

/// Record of a request that has ended for its client, and its ticket.
pub(super) fn record_of(
    road: &Road,
    costs: &Costs,
    ended: Instant,
    request: Request,
    sent: &SendOutcome,
) -> (Option<Ticket>, RequestRecord) {
    let received = request.times.received.unwrap_or(ended);
    let Request { call, head, class, .. } = request;
    let upstream = match &call {
        Some(Call::Upstream(upstream)) => Some(Box::new(upstream_line(&upstream.told, ended))),
        Some(Call::Worker(_) | Call::Routed(_)) | None => None,
    };
    let ticket = if let Some(Call::Worker(ticket)) = call { Some(ticket) } else { None };
    let answer = ticket.as_ref().map(|ticket| &*ticket.answer);
    let worker = answer.and_then(|answer| answer.facts.worker.get());
    let waits = answer.map(|answer| Waits::of(answer.facts.times.get(), received, ended)).unwrap_or_default();
    if let (Some(queue_ms), Some(service_ms)) = (waits.queue_ms, waits.service_ms) {
        costs.classes.served(&class, queue_ms, service_ms);
    }
    let rest = AccessRecord {
        time_unix_ms: request.times.time_unix_ms,
        request_id: "",
        method: "",
        target: "",
        host: "",
        class: "",
        worker: worker.map(|worker| worker.0),
        upstream: None,
        tries: answer.map_or(0, |answer| u32::from(answer.facts.was_retried.get())) + u32::from(worker.is_some()),
        step: request.step.or_else(|| answer.and_then(|answer| answer.facts.step.get())),
        session: request.visit.session(worker),
        cache: request.cached,
        includes: request.includes.map(|includes| includes.get()),
        status: sent.status,
        error: sent.error,
        bytes_in: request.bytes_in,
        bytes_out: sent.bytes_out,
        receive_ms: ms(received, request.times.started),
        queue_ms: waits.queue_ms,
        unserved_ms: waits.unserved_ms,
        service_ms: waits.service_ms,
        total_ms: ms(ended, request.times.started),
        cpu_ms: None,
        cpu_weight: 1,
        handler_ms: None,
        outcome: sent.outcome,
        peer: request.peer,
        trace_id: request.trace.map(Trace::id),
        headers: &[],
        is_traced: false,
    };
    let (error, outcome) = match sent.outcome {
        Outcome::ClientGoneReceiving | Outcome::ClientGoneQueued | Outcome::ClientGoneInService
            if road.lobby.is_cutting() =>
        {
            (Some(Code::Draining), Outcome::TimedOut)
        }
        outcome => (sent.error, outcome),
    };
    let rest = AccessRecord { error, outcome, ..rest };
    let line = AccessLine {
        headers: road.observer.logged_headers(&head.fields),
        method: Some(head.method),
        target: head.path_and_query,
        host: head.authority,
        scheme: head.scheme,
        traced: request.trace.and_then(Trace::kept),
        upstream,
        untold_cpu_us: answer.map_or(0, |answer| answer.facts.untold_cpu_us.get()),
        rest,
    };
    let record = RequestRecord { request_id: request.id, class: class.name, line: Some(line), work: None };
    (ticket, record)
}

fn upstream_line(told: &Told, ended: Instant) -> UpstreamLine {
    UpstreamLine {
        name: Rc::clone(&told.name),
        target: Rc::clone(&told.target.borrow()),
        tries: told.tries.get(),
        first_byte_ms: told.first_byte.get().map(|first| ms(first, told.began)),
        ms: ms(told.ended.get().unwrap_or(ended), told.began),
    }
}

/// Times in milliseconds: in the queue and in a worker, or until it was decided that no worker gets the request.
#[derive(Default)]
struct Waits {
    queue_ms: Option<f64>,
    unserved_ms: Option<f64>,
    service_ms: Option<f64>,
}

impl Waits {
    /// Computes the times. A refusal after 0 ms is not counted as a short wait: in an overload most requests would be
    /// such, and the percentiles would fall.
    fn of(times: Times, received: Instant, ended: Instant) -> Self {
        let Some(dispatched) = times.dispatched else {
            return Waits { unserved_ms: Some(ms(ended, received)), ..Waits::default() };
        };
        let service_ms = ms(times.finished.unwrap_or(ended), dispatched);
        Waits { queue_ms: Some(ms(dispatched, received)), unserved_ms: None, service_ms: Some(service_ms) }
    }
}

fn ms(later: Instant, earlier: Instant) -> f64 {
    later.saturating_duration_since(earlier).as_secs_f64() * 1e3
}
