//! Answers from where they come: a worker, or another host (an upstream), whose answer becomes a response like a worker's.

use std::rc::Rc;

use sluice_catalog::snapshot::UpstreamSnapshot;
use sluice_http1::Framing;
use sluice_journal::{Outcome, Page};
use sluice_message::RequestHead;
use sluice_upstreams::{Ask, Told, Upstream};
use tokio::time::Instant;

use crate::answers::Response;
use crate::outgoing::write_head;
use crate::request::passage::Request;
use crate::request::streams::StreamCounts;
use crate::request::ticket::{Call, UpstreamCall};
use crate::road::Road;
use crate::sessions::hide_cookie;
use sluice_wire::front::exchange::{Exchange, Woke};
use sluice_wire::front::origin::Origin;
use sluice_wire::receive::body::Body;
use sluice_wire::receive::failure::{Failure, Refusal};
use sluice_wire::respond::answer::{End, Next};

impl Road {
    /// The upstream that answers such a request, if one does.
    pub(crate) fn upstream_of(&self, head: &RequestHead) -> Option<Rc<Upstream>> {
        self.settings.upstreams()?.find(head).cloned()
    }

    /// States of the upstreams for `sluice status`.
    pub fn upstream_snapshots(&self) -> Vec<UpstreamSnapshot> {
        self.settings.upstreams().map(|routes| routes.upstreams.snapshots()).unwrap_or_default()
    }

    /// Counts of the streams of upstreams.
    pub fn upstream_streams(&self) -> &StreamCounts {
        &self.settings.streams
    }

    /// Writes the metrics of the upstreams.
    pub fn write_upstream_metrics(&self, page: &mut Page) {
        if let Some(routes) = self.settings.upstreams() {
            routes.upstreams.write_metrics(page);
        }
    }
}

/// Answer of a worker or an upstream, with the fields that the gateway adds to its head for this client.
pub(crate) async fn ask(
    exchange: &mut Exchange<'_>,
    origin: &Origin,
    road: &Road,
    request: &mut Request,
    body: Body,
) -> Result<Response, Failure> {
    let mut response = fetch(exchange, origin, road, request, body).await?;
    road.workers().dress(request, &mut response);
    Ok(response)
}

/// Answer to the request: an upstream's, if it is for one, else a worker's.
pub(crate) async fn fetch(
    exchange: &mut Exchange<'_>,
    origin: &Origin,
    road: &Road,
    request: &mut Request,
    body: Body,
) -> Result<Response, Failure> {
    match request.upstream().cloned() {
        // In a box, so that requests of the app carry no room for it.
        Some(upstream) => Box::pin(call(exchange, origin, road, request, body, upstream)).await,
        None => road.workers().fetch(exchange, origin, request, body).await,
    }
}

async fn call(
    exchange: &mut Exchange<'_>,
    origin: &Origin,
    road: &Road,
    request: &mut Request,
    body: Body,
    upstream: Rc<Upstream>,
) -> Result<Response, Failure> {
    request.bytes_in = body.bytes();
    request.classify(&*road.workers());
    request.times.received = Some(Instant::now());
    let (answer, told) = (road.new_answer(), Told::new(&upstream));
    request.call = Some(Call::Upstream(UpstreamCall::new(&upstream, &answer, &told)));
    let (head, host) = upstream_head(road, request, origin, body.framing());
    let asked = Ask {
        head,
        host,
        body,
        method: request.head.method.clone(),
        is_upgrade: request.upgrade.is_some(),
        client: client_of(request, origin),
        answer: Rc::clone(&answer),
        told,
    };
    let mut running = Box::pin(sluice_upstreams::run(upstream, asked));
    let (mut has_ended, gone) = (false, || Failure::Gone(Outcome::ClientGoneInService));
    let received = loop {
        match answer.next() {
            Some(Next::Informational(head)) => exchange.inform(&head),
            Some(Next::Head(head)) => break head,
            Some(Next::End(End::Failed(code))) => {
                let retry_after_s = answer.facts.retry_after_s.get();
                return Err(Failure::Refused(Refusal { retry_after_s, ..Refusal::of(code) }));
            }
            Some(Next::End(End::Left | End::Complete) | Next::Data(_) | Next::Spilled { .. }) => return Err(gone()),
            None => {
                exchange.flush(None).await.map_err(|_| gone())?;
                tokio::select! {
                    biased;
                    () = &mut running, if !has_ended => has_ended = true,
                    woke = exchange.changed(&answer) => {
                        if woke != Woke::Again {
                            return Err(gone());
                        }
                    }
                }
            }
        }
    };
    if answer.facts.is_stream.get()
        && let Some(call) = &mut request.call
    {
        call.becomes_stream(&road.settings.streams);
    }
    if !has_ended {
        tokio::task::spawn_local(running);
    }
    Ok(Response::of(received, answer))
}

/// Ends of the client's connection. Of a client that a trusted peer reports, the port is unknown.
fn client_of(request: &Request, origin: &Origin) -> Option<(std::net::SocketAddr, std::net::SocketAddr)> {
    let (peer, here) = origin.ends;
    let port = if request.peer == peer.ip() { peer.port() } else { 0 };
    (!origin.is_own()).then(|| ((request.peer, port).into(), here))
}

/// Head for the upstream, with its empty line, and the place of the value of `Host` in it.
fn upstream_head(
    road: &Road,
    request: &Request,
    origin: &Origin,
    framing: Framing,
) -> (Vec<u8>, std::ops::Range<usize>) {
    let head = &request.head;
    let mut out = Vec::with_capacity(1024);
    write_head(&mut out, road, origin, request, framing);
    out.extend_from_slice(b"\r\n");
    let start = head.method.as_str().len() + 1 + head.path_and_query.len() + " HTTP/1.1\r\nHost: ".len();
    // The cookie names a worker, and is nobody else's business. It comes behind the host.
    (hide_cookie(&road.config(), out), start..start + head.authority.len())
}
