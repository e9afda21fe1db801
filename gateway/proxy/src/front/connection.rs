//! A client connection's life, and in [`serve_request`] a request's: receive, route, rate, queue, dispatch, respond.
//!
//! This is the main road. Each step is a call into the module of its name.

#[cfg(test)]
mod allocations;
mod handles;
mod kept;
mod refused;

use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sluice_catalog::errors::Code;
use sluice_http1::{Method, RequestHead, Version};
use sluice_journal::{Outcome, Session, Step};
use sluice_scheduler::{RequestId, WorkerId};

pub(crate) use handles::{Bounds, ConnectionHandles, Full, Handle};

use crate::answers::edge;
use crate::answers::files::{self, Found};
use crate::answers::refuse::{self, Refusal};
use crate::front::client::{Client, ClientStream, For, Woke};
use crate::front::tunnel;
use crate::gate::Gate;
use crate::receive::spool::Body;
use crate::receive::trace::{self, TraceId};
use crate::receive::{self, Failure};
use crate::record::Record;
use crate::respond::answer::Answer;
use crate::respond::{Responder, Sent};
use crate::route::{self, Route};
use crate::sessions::Asked;
use crate::upstream::Job;
use crate::upstream::forward::{self, Origin};
use crate::warm_up;
use sluice_classes::Traits;

/// How long a connection may be open, while the gateway drains, until its first request begins.
const DRAIN_GRACE_MS: u64 = 1000;

/// Serves one connection until it ends. Its handle counts it, from before a TLS handshake to after the last byte.
pub(crate) async fn serve(stream: ClientStream, peer: SocketAddr, local: SocketAddr, gate: Rc<Gate>, handle: Handle) {
    let _counted = kept::Counted { gate: Rc::clone(&gate), key: handle.key };
    let mut client = Client::new(stream, Rc::clone(&handle.draining), gate.store.memory.unsent_bytes_max());
    let origin = Origin::new(&gate, canonical(peer), canonical(local), client.is_tls());
    let mut idle_since = Instant::now();
    let mut is_first = true;
    let mut linger = false;
    while let Some(started) = next_request(&mut client, &gate, &handle, idle_since, is_first).await {
        // Boxed, so that an idle connection does not pay for the room that a request needs.
        let keep_alive = Box::pin(serve_request(&mut client, &origin, &gate, started)).await;
        idle_since = Instant::now();
        is_first = false;
        linger = !keep_alive;
        if !keep_alive || client.is_spent() {
            break;
        }
        client.shed_buffer();
    }
    client.close(linger, send_timeout(&gate)).await;
}

/// Waits for the first byte of the next request; `None` ends the connection. A new connection gets the time for headers,
/// one that has been used the time for keep-alive.
async fn next_request(
    client: &mut Client,
    gate: &Gate,
    handle: &Handle,
    idle_since: Instant,
    is_first: bool,
) -> Option<Instant> {
    let mut idle_ms = {
        let config = gate.config();
        if is_first { config.server.headers_timeout_ms } else { config.server.keep_alive_timeout_ms }
    };
    gate.connections.rests(handle.key);
    while client.unread.is_empty() {
        if handle.makes_room() {
            return None;
        }
        if gate.is_draining() && !gate.is_handed_over() {
            // A connection that was just opened has a request on its way; one that has had an answer knows the risk.
            if !is_first {
                return None;
            }
            idle_ms = idle_ms.min(DRAIN_GRACE_MS);
        }
        client.set_deadline(Some(idle_since + Duration::from_millis(idle_ms)));
        match client.wait(For { read: true, draining: true, ..For::default() }).await {
            Woke::Read | Woke::Draining => {}
            _ => return None,
        }
    }
    gate.connections.works(handle.key);
    Some(Instant::now())
}

/// What a request has gathered on its way, for its record.
struct Passage {
    started: Instant,
    time_unix_ms: u64,
    request: RequestId,
    request_id: Rc<str>,
    peer: IpAddr,
    trace_id: Option<TraceId>,
}

/// One request, from its first byte to the last byte of its answer. Returns whether the connection can be used again.
async fn serve_request(client: &mut Client, origin: &Origin, gate: &Rc<Gate>, started: Instant) -> bool {
    let mut passage = Passage {
        started,
        time_unix_ms: unix_ms(),
        request: RequestId(0),
        request_id: forward::new_request_id(),
        peer: origin.peer,
        trace_id: None,
    };
    let head = match receive::head(client, gate, started).await {
        Ok(head) => head,
        Err(failure) => return refuse_whole(client, gate, &passage, None, &failure).await,
    };
    if let Some(id) = forward::trusted_request_id(&head, origin) {
        passage.request_id = id;
    }
    passage.peer = gate.trust.client(origin.peer, head.fields.get_all("x-forwarded-for"));
    passage.trace_id = trace::id_for_the_app(gate.config().server.trace_context, origin.is_trusted, &head.fields);
    let route = route::route(gate, &head);
    if let Route::Workers | Route::File(_) = route
        && let Some(wait_s) = gate.over_rate(passage.peer, &head.target)
    {
        return refused::over_rate(client, gate, &passage, head, wait_s).await;
    }
    let body = match receive::body(client, gate, &head).await {
        Ok(body) => body,
        Err(failure) => return refuse_whole(client, gate, &passage, Some(head), &failure).await,
    };
    match route {
        Route::Workers => {}
        Route::File(path) => {
            if let Some(found) = files::look_up(gate, path, &head).await {
                let bytes_in = body.len();
                drop(body);
                return answer_with_a_file(client, gate, &passage, head, found, bytes_in).await;
            }
        }
        route => return answer_at_the_edge(client, gate, &passage, head, &route, body.len()).await,
    }
    serve_by_a_worker(client, origin, gate, passage, head, body).await
}

/// The rest of the main road, for a request that only a worker can answer.
async fn serve_by_a_worker(
    client: &mut Client,
    origin: &Origin,
    gate: &Rc<Gate>,
    mut passage: Passage,
    head: RequestHead,
    body: Body,
) -> bool {
    let (started, bytes_in) = (passage.started, body.len());
    let (request_id, trace_id) = (Rc::clone(&passage.request_id), passage.trace_id);
    let framing = body.framing(head.framing);
    let write_head = |number, token| forward::worker_head(&head, origin, number, token, &request_id, trace_id, framing);
    let none = RequestId(0);
    let pass = gate.admit(&head.method, &head.target, &body, || write_head(none, gate.tokens.of(none))).await;
    let Some(pass) = pass else {
        return refused::quarantined(client, gate, &passage, head, bytes_in).await;
    };
    let received = Instant::now();
    // Numbers are given to requests that are whole and for a worker, so that their order is the order of the queue however
    // slow a body or a disk was.
    passage.request = gate.next_request_id();
    let answer = gate.new_answer();
    let mut class = gate.classify(&Traits::of(&head, bytes_in));
    class.need.alone = pass.alone;
    let asked = Asked { head: &head, client: passage.peer, is_secure: origin.is_https(&head) };
    let visit = gate.sessions.visit(&asked, || gate.homes());
    class.need.home = visit.home;
    let token = gate.tokens.of(passage.request);
    gate.submit(
        received,
        Job {
            request: passage.request,
            head: Rc::new(gate.sessions.dress(&visit, write_head(passage.request, token))),
            body,
            token,
            method: head.method.clone(),
            is_upgrade: head.upgrade.is_some(),
            request_id: Rc::clone(&passage.request_id),
            class: class.clone(),
            answer: Rc::clone(&answer),
            is_own: false,
            _pass: pass,
        },
    );
    let kept = kept::Kept::new(gate, passage.request, &answer);
    let responder = Responder {
        client,
        gate,
        head: &head,
        visit: &visit,
        request: passage.request,
        request_id: &passage.request_id,
        submitted: received,
    };
    let mut sent = responder.run(&answer).await;
    let keep_alive = sent.keep_alive;
    if sent.upgraded
        && let Some(upgraded) = answer.take_upgraded()
    {
        tunnel::run(client, upgraded, &answer).await;
        if let Some(code) = answer.failure() {
            sent.error = Some(code);
            sent.outcome = refuse::outcome(code);
        }
    }
    if sent.outcome == Outcome::Answered {
        warm_up::note(gate, &head, &class.name, &answer);
    }
    kept.settle();
    // Nobody reads on from here; this also lets go of an upgrade that was not taken up.
    answer.abandon();
    let ended = Instant::now();
    let waits = Waits::of(&answer, received, ended);
    if let (Some(queue_ms), Some(service_ms)) = (waits.queue_ms, waits.service_ms) {
        gate.classes.served(&class, queue_ms, service_ms);
    }
    record(
        gate,
        &passage,
        Some(head),
        &sent,
        ended,
        Details {
            class: class.name,
            bytes_in,
            receive_ms: ms(received, started),
            waits,
            session: visit.session(answer.worker.get()),
            ..Details::of(&answer)
        },
    );
    keep_alive
}

/// How long a request has waited for a worker and was in one, or how long it took until no worker was to get it.
#[derive(Default)]
struct Waits {
    queue_ms: Option<f64>,
    unserved_ms: Option<f64>,
    service_ms: Option<f64>,
}

impl Waits {
    /// A refusal after 0 ms is no short wait: in an overload most requests would be such, and the percentiles would fall.
    fn of(answer: &Answer, received: Instant, ended: Instant) -> Self {
        let times = answer.times.get();
        let Some(dispatched) = times.dispatched else {
            return Waits { unserved_ms: Some(ms(ended, received)), ..Waits::default() };
        };
        let service_ms = ms(times.finished.unwrap_or(ended), dispatched);
        Waits { queue_ms: Some(ms(dispatched, received)), unserved_ms: None, service_ms: Some(service_ms) }
    }
}

/// A request that could not be received: answered where there is somebody to answer, then the connection is closed,
/// because nobody can say where the next request would begin.
async fn refuse_whole(
    client: &mut Client,
    gate: &Rc<Gate>,
    passage: &Passage,
    head: Option<RequestHead>,
    failure: &Failure,
) -> bool {
    let mut sent = Sent {
        outcome: Outcome::ClientGoneReceiving,
        status: 0,
        error: None,
        bytes_out: 0,
        keep_alive: false,
        upgraded: false,
    };
    if let Failure::Refused { code, detail } = *failure {
        let mut out = Vec::new();
        let is_head = head.as_ref().is_some_and(|head| head.method == Method::Head);
        let refusal =
            Refusal { code, detail, request_id: &passage.request_id, retry_after_s: None, keep_alive: false, is_head };
        sent.bytes_out = refuse::write(&mut out, &refusal);
        sent.status = code.status();
        sent.error = Some(code);
        sent.outcome = refuse::outcome(code);
        write_all(client, gate, &out).await;
    }
    let ended = Instant::now();
    let details = Details { receive_ms: ms(ended, passage.started), ..Details::default() };
    record(gate, passage, head, &sent, ended, details);
    false
}

async fn answer_at_the_edge(
    client: &mut Client,
    gate: &Rc<Gate>,
    passage: &Passage,
    head: RequestHead,
    route: &Route,
    bytes_in: u64,
) -> bool {
    let received = Instant::now();
    let keep_alive = can_keep_alive(gate, &head);
    let mut out = Vec::new();
    let (status, bytes_out) = edge::write(&mut out, gate, route, head.method == Method::Head, keep_alive);
    let written = write_all(client, gate, &out).await;
    let sent = Sent { outcome: Outcome::Edge, status, error: None, bytes_out, keep_alive, upgraded: false };
    let receive_ms = ms(received, passage.started);
    let details = Details { bytes_in, receive_ms, ..Details::default() };
    record(gate, passage, Some(head), &sent, Instant::now(), details);
    keep_alive && written
}

/// Whether the connection can go on after a short answer of the gateway's own.
fn can_keep_alive(gate: &Gate, head: &RequestHead) -> bool {
    head.keep_alive && head.version == Version::Http11 && !gate.is_draining()
}

async fn answer_with_a_file(
    client: &mut Client,
    gate: &Rc<Gate>,
    passage: &Passage,
    head: RequestHead,
    found: Found,
    bytes_in: u64,
) -> bool {
    let receive_ms = ms(Instant::now(), passage.started);
    let sent = files::respond(client, gate, &head, &passage.request_id, found).await;
    let details = Details { bytes_in, receive_ms, ..Details::default() };
    record(gate, passage, Some(head), &sent, Instant::now(), details);
    sent.keep_alive
}

async fn write_all(client: &mut Client, gate: &Gate, mut out: &[u8]) -> bool {
    client.set_deadline(Some(Instant::now() + Duration::from_millis(gate.config().server.send_timeout_ms)));
    while !out.is_empty() {
        match client.wait(For { write: out, ..For::default() }).await {
            Woke::Wrote(len) => out = &out[len..],
            _ => return false,
        }
    }
    true
}

/// What a record needs beyond the passage and the answer.
#[derive(Default)]
struct Details {
    class: Rc<str>,
    worker: Option<WorkerId>,
    tries: u32,
    step: Option<Step>,
    session: Option<Session>,
    bytes_in: u64,
    receive_ms: f64,
    waits: Waits,
}

impl Details {
    fn of(answer: &Answer) -> Self {
        let worker = answer.worker.get();
        let tries = u32::from(answer.was_retried.get()) + u32::from(worker.is_some());
        Details { worker, tries, step: answer.step.get(), ..Details::default() }
    }
}

fn record(gate: &Gate, passage: &Passage, head: Option<RequestHead>, sent: &Sent, ended: Instant, details: Details) {
    let (method, target, host) = head.map_or_else(Default::default, |head| (Some(head.method), head.target, head.host));
    gate.costs.finish(
        gate,
        passage.request,
        ended,
        Record {
            time_unix_ms: passage.time_unix_ms,
            request_id: Rc::clone(&passage.request_id),
            method,
            target,
            host,
            class: details.class,
            worker: details.worker,
            tries: details.tries,
            step: details.step,
            session: details.session,
            status: sent.status,
            error: sent.error,
            bytes_in: details.bytes_in,
            bytes_out: sent.bytes_out,
            receive_ms: details.receive_ms,
            queue_ms: details.waits.queue_ms,
            unserved_ms: details.waits.unserved_ms,
            service_ms: details.waits.service_ms,
            total_ms: ms(ended, passage.started),
            outcome: sent.outcome,
            peer: passage.peer,
            trace_id: passage.trace_id,
        },
    );
}

/// Refuses a connection that is over the limit, without reading from it.
pub(crate) async fn refuse_connection(stream: ClientStream, gate: &Rc<Gate>) {
    let mut client = Client::new(stream, Rc::default(), gate.store.memory.unsent_bytes_max());
    let mut out = Vec::new();
    let refusal = Refusal {
        code: Code::ConnectionsFull,
        detail: "",
        request_id: &forward::new_request_id(),
        retry_after_s: Some(1),
        keep_alive: false,
        is_head: false,
    };
    refuse::write(&mut out, &refusal);
    let _ = tokio::time::timeout(Duration::from_secs(1), write_all(&mut client, gate, &out)).await;
    client.close(false, Duration::from_secs(1)).await;
}

fn send_timeout(gate: &Gate) -> Duration {
    Duration::from_millis(gate.config().server.send_timeout_ms)
}

/// An IPv4 client on a dual-stack socket is an IPv4 client.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

fn ms(later: Instant, earlier: Instant) -> f64 {
    later.saturating_duration_since(earlier).as_secs_f64() * 1e3
}

fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
