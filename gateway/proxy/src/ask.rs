//! The answer of a worker: the request goes to the queue, and the gateway waits for the head of the worker's response.

use std::rc::Rc;

use sluice_catalog::errors::{Code, Retry};
use sluice_http1::ReceivedResponse;
use sluice_journal::Outcome;
use sluice_scheduler::{Alone, Home, RequestId};
use tokio::time::Instant;

use crate::gate::Gate;
use crate::quarantine::deaths::Pass;
use crate::upstream::forward::{Outbound, worker_head};
use crate::upstream::{RequestParts, WorkerMessage};
use sluice_road::answers::{Response, ResponseBody};
use sluice_road::own::{Errand, Own};
use sluice_road::request::passage::Request;
use sluice_road::request::ticket::{Call, Ticket};
use sluice_road::sessions::Arm;
use sluice_wire::front::exchange::{Exchange, Woke};
use sluice_wire::front::origin::Origin;
use sluice_wire::front::seat::Seat;
use sluice_wire::receive::body::Body;
use sluice_wire::receive::failure::Failure;
use sluice_wire::receive::failure::Refusal;
use sluice_wire::respond::answer::{Answer, End, Next, Times};

/// Adds the fields for this client alone to the head of a worker's answer.
pub(crate) fn dress(gate: &Gate, request: &Request, response: &mut Response) {
    let ResponseBody::Fill(answer, _) = &response.body else { return };
    let head = &mut response.head;
    if let Some(cookie) = gate.sessions.cookie(&request.visit, answer.facts.worker.get(), head) {
        head.fields.push("Set-Cookie", cookie);
    }
    if gate.road.config().log.server_timing
        && let Some(timing) = server_timing(request.times.received, answer.facts.times.get())
    {
        head.fields.push("Server-Timing", timing);
    }
}

/// Submits the complete request, and waits for the head of its answer.
pub(crate) async fn fetch(
    exchange: &mut Exchange<'_>,
    origin: &Origin,
    gate: Rc<Gate>,
    request: &mut Request,
    body: Body,
) -> Result<Response, Failure> {
    let errand = Own::of(exchange).and_then(Own::errand);
    let seat = exchange.seat();
    let answer = submit(errand, seat, origin, &gate, request, body).await?;
    if exchange.is_half_closed() {
        answer.half_close();
    }
    let received = head_of(exchange, &gate, request, &answer).await?;
    if errand.is_none() {
        gate.shadows.answered(request, &received.head);
    }
    Ok(Response::of(received, answer))
}

/// Gives the request to the queue, or past it to the worker that is warmed with it.
async fn submit(
    errand: Option<Errand>,
    seat: Option<Rc<dyn Seat>>,
    origin: &Origin,
    gate: &Rc<Gate>,
    request: &mut Request,
    body: Body,
) -> Result<Rc<Answer>, Failure> {
    request.bytes_in = body.bytes();
    let none = RequestId(0);
    let head = || worker_head(&outbound(gate, request, &body), origin, none, gate.tokens.of(none));
    let pass = match errand {
        Some(Errand::WarmUp(_)) => Some(Pass::default()),
        Some(Errand::Shadow(_)) | None => {
            gate.quarantine.admit(&request.head.method, &request.head.path_and_query, &body, head).await
        }
    };
    request.classify(&**gate);
    let pass = pass.ok_or(Code::RequestQuarantined)?;
    request.class.need.inner = origin.port_within.is_some_and(|port| gate.workers.is_own_call(port));
    if let Some(Errand::Shadow(home)) = errand {
        (request.class.need.home, request.class.need.drawn) = (home, home != Home::Any);
    } else if errand.is_none() {
        let asked = request.session_query(origin);
        // The address of the app's own call is that of no visitor.
        let of_call = request.class.need.inner.then_some(Arm::Present);
        request.visit = gate.sessions.visit(&asked, request.visit.arm.or(of_call), || gate.scheduler.homes());
        request.class.need.home = request.visit.place();
        request.class.need.drawn = request.visit.is_drawn();
    }
    // Numbers are given to requests that are whole and for a worker, so that their order is the order of the queue however slow
    // a body or a disk was.
    let (number, answer, at) = (gate.dispatch.requests.next_number(), gate.road.new_answer(), Instant::now());
    request.times.received = Some(at);
    request.call = Some(Call::Worker(Ticket::new(Rc::clone(gate) as _, number, &answer)));
    let token = gate.tokens.of(number);
    // A session's worker may hold others, and an upgrade has no end.
    let may_be_profiled = errand.is_none() && request.class.need.home == Home::Any && request.upgrade.is_none();
    // It would keep a worker from others until those that wait in it have ended.
    let may_be_profiled = may_be_profiled && gate.scheduler.read(sluice_scheduler::Scheduler::has_empty_worker);
    let profile = if may_be_profiled { gate.road.observer.tails.order(at, &request.class.name, number) } else { None };
    // A profile holds one request and nothing else.
    let is_alone = pass.alone || profile.is_some();
    request.class.need.alone = if is_alone { Alone::Always } else { Alone::Never };
    let is_measured = errand.is_some() || profile.is_some() || request.upgrade.is_some();
    let weight = if is_measured { None } else { gate.costs.sample(&request.class) };
    let outbound = Outbound { profile, weight, ..outbound(gate, request, &body) };
    let head = worker_head(&outbound, origin, number, token);
    let parts = RequestParts {
        request: number,
        message: WorkerMessage {
            token,
            head: gate.sessions.dress(&request.visit, head),
            body: body.into(),
            method: request.head.method.clone(),
            is_upgrade: request.upgrade.is_some(),
            request_id: Rc::clone(&request.id),
        },
        class: request.class.clone(),
        answer: Rc::clone(&answer),
        is_own: errand.is_some(),
        pass: Some(pass),
        seat,
    };
    let asked = gate.worker_request(parts);
    match errand {
        Some(Errand::Shadow(_)) | None => gate.dispatch.submit(at, &asked),
        Some(Errand::WarmUp(worker)) if gate.warm_ups.give(worker, &asked) => {}
        Some(Errand::WarmUp(_)) => return Err(Code::Draining.into()),
    }
    Ok(answer)
}

fn outbound<'r>(gate: &'r Gate, request: &'r Request, body: &Body) -> Outbound<'r> {
    Outbound { road: &gate.road, request, framing: body.framing(), profile: None, weight: None }
}

/// Waits for the head; interim ones are passed on meanwhile.
async fn head_of(
    exchange: &mut Exchange<'_>,
    gate: &Rc<Gate>,
    request: &Request,
    answer: &Answer,
) -> Result<ReceivedResponse, Failure> {
    let number = request.call.as_ref().and_then(Call::ticket).map_or(RequestId(0), |ticket| ticket.number);
    let gone = || {
        let was_queued = gate.dispatch.leave(number) && !answer.facts.was_retried.get();
        Failure::Gone(if was_queued { Outcome::ClientGoneQueued } else { Outcome::ClientGoneInService })
    };
    loop {
        match answer.next() {
            Some(Next::Informational(head)) => exchange.inform(&head),
            Some(Next::Head(head)) => return Ok(head),
            Some(Next::End(End::Failed(code))) => {
                let facts = &answer.facts;
                let mut refusal = Refusal { retry_after_s: facts.retry_after_s.get(), ..Refusal::of(code) };
                if facts.times.get().dispatched.is_some() || facts.was_retried.get() {
                    refusal.retry = Retry::No;
                }
                return Err(Failure::Refused(refusal));
            }
            // Nothing else comes before a head.
            Some(Next::End(End::Left | End::Complete) | Next::Data(_) | Next::Spilled { .. }) => return Err(gone()),
            None => {
                // Interim heads do not go to the answer's file: its own head would be sent before them.
                exchange.flush(None).await.map_err(|_| gone())?;
                if exchange.is_half_closed() && answer.facts.is_stream.get() {
                    return Err(gone());
                }
                match exchange.changed(answer).await {
                    Woke::Again => {}
                    Woke::HalfClosed if !gate.dispatch.is_queued(number) && !answer.facts.is_stream.get() => {
                        answer.half_close();
                    }
                    Woke::HalfClosed | Woke::Gone => return Err(gone()),
                }
            }
        }
    }
}

fn server_timing(submitted: Option<Instant>, times: Times) -> Option<String> {
    let ms = |later: Instant, earlier| later.saturating_duration_since(earlier).as_secs_f64() * 1e3;
    let dispatched = times.dispatched?;
    let (queue_ms, worker_ms) = (ms(dispatched, submitted?), ms(times.head?, dispatched));
    Some(format!("queue;dur={queue_ms:.1}, worker;dur={worker_ms:.1}"))
}
