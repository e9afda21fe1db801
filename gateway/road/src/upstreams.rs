//! Upstreams in the road: which requests are for one, and how its answer becomes a response like a worker's.

use std::rc::Rc;

use percent_encoding::percent_decode;
use sluice_catalog::config::{Route, site};
use sluice_catalog::snapshot::UpstreamSnapshot;
use sluice_classes::{Class, Rules};
use sluice_http1::{Framing, write_field, write_request_start};
use sluice_journal::{Outcome, Page};
use sluice_message::RequestHead;
use sluice_upstreams::{Ask, Report, Settings, Told, Upstream, Upstreams};
use tokio::time::Instant;

use crate::answers::Response;
use crate::own::Own;
use crate::request::call::{Call, UpstreamCall};
use crate::request::passage::Request;
use crate::respond::compose::rules::{CAPABILITY, is_of_composing};
use crate::road::Road;
use crate::trace::{self, Trace};
use sluice_wire::front::exchange::{Exchange, Woke};
use sluice_wire::front::origin::Origin;
use sluice_wire::receive::body::Body;
use sluice_wire::receive::failure::{Failure, Refusal};
use sluice_wire::respond::answer::{End, Next};

/// Upstreams of the config in force, and their routes.
pub(crate) struct UpstreamRoutes {
    rules: Rules,
    /// Number of the upstream of each rule.
    numbers: Vec<usize>,
    upstreams: Upstreams,
}

impl UpstreamRoutes {
    /// Routes of these upstreams; `None` without any. Those that have not changed go on as they are.
    pub(crate) fn new(settings: &[Settings], before: Option<&Self>, report: &Report) -> Option<Rc<Self>> {
        if settings.is_empty() {
            return None;
        }
        let routes = settings.iter().enumerate().flat_map(|(number, settings)| {
            let parsed = settings.paths().iter().filter_map(|pattern| Route::parse(pattern, "").ok());
            parsed.map(move |route| (number, route))
        });
        let mut routes: Vec<(usize, Route)> = routes.collect();
        // The order of `Rules`, whose sort is stable as this one is.
        routes.sort_by_key(|(_, route)| std::cmp::Reverse(route.closeness()));
        let numbers = routes.iter().map(|(number, _)| *number).collect();
        let rules = Rules::of(routes.into_iter().map(|(_, route)| route));
        let before = before.map(|before| &before.upstreams);
        Some(Rc::new(UpstreamRoutes { rules, numbers, upstreams: Upstreams::new(settings.to_vec(), before, report) }))
    }

    fn find(&self, head: &RequestHead) -> Option<&Rc<Upstream>> {
        let rule = self.rules.find(&head.method, site(&head.authority), head.path())?;
        self.upstreams.get(*self.numbers.get(rule)?)
    }
}

impl Road {
    /// The upstream that answers such a request, if one does.
    pub(crate) fn upstream_of(&self, head: &RequestHead) -> Option<Rc<Upstream>> {
        self.settings.upstreams()?.find(head).cloned()
    }

    /// States of the upstreams for `sluice status`.
    pub fn upstream_snapshots(&self) -> Vec<UpstreamSnapshot> {
        self.settings.upstreams().map(|routes| routes.upstreams.snapshots()).unwrap_or_default()
    }

    /// Writes the metrics of the upstreams.
    pub fn write_upstream_metrics(&self, page: &mut Page) {
        if let Some(routes) = self.settings.upstreams() {
            routes.upstreams.write_metrics(page);
        }
    }
}

/// Whether a server may read another path from this one than the gateway does: dot segments lead out of the route, however they are
/// written. Servers of old decode twice what is encoded, take `\` for `/`, and cut parameters off (`..;`).
pub(crate) fn is_ambiguous(path: &str) -> bool {
    let bytes = path.as_bytes();
    if !bytes.iter().any(|byte| matches!(byte, b'.' | b'%' | b'\\')) {
        return false;
    }
    let once: Vec<u8> = percent_decode(bytes).collect();
    let twice: Vec<u8> = percent_decode(&once).collect();
    let names_dots = |path: &[u8]| {
        path.split(|byte| matches!(byte, b'/' | b'\\')).any(|segment| {
            let name = segment.split(|byte| *byte == b';').next().unwrap_or_default();
            matches!(name, b"." | b"..")
        })
    };
    [bytes, &once, &twice].into_iter().any(names_dots)
}

/// Answer to the request: an upstream's, if it is for one, else a worker's.
pub(crate) async fn fetch(
    exchange: &mut Exchange<'_>,
    origin: &Origin,
    road: &Road,
    request: &mut Request,
    body: Body,
) -> Result<Response, Failure> {
    match road.upstream_of(&request.head) {
        // A warm-up is for its worker.
        Some(upstream) if Own::of(exchange).and_then(Own::worker).is_none() => {
            ask(exchange, origin, road, request, body, upstream).await
        }
        _ => road.workers().fetch(exchange, origin, request, body).await,
    }
}

async fn ask(
    exchange: &mut Exchange<'_>,
    origin: &Origin,
    road: &Road,
    request: &mut Request,
    body: Body,
    upstream: Rc<Upstream>,
) -> Result<Response, Failure> {
    request.bytes_in = body.bytes();
    request.class = Class::default();
    request.class.name = Rc::clone(&upstream.name);
    request.times.received = Some(Instant::now());
    let (answer, told) = (road.new_answer(), Told::new(&upstream));
    request.call = Some(Call::Upstream(UpstreamCall::new(&answer, &told)));
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
    let Request { head, upgrade, id, trace, .. } = request;
    let is_composed = road.transforms.composer.is_on() && upgrade.is_none();
    let mut out = Vec::with_capacity(1024);
    write_request_start(&mut out, head, framing, upgrade.as_deref(), |name, _| {
        if trace::is_field(name) {
            trace.is_some_and(|trace| trace.passes(name))
        } else {
            origin.forwards(name) && !(is_composed && is_of_composing(name))
        }
    });
    let start = head.method.as_str().len() + 1 + head.path_and_query.len() + " HTTP/1.1\r\nHost: ".len();
    let host = start..start + head.authority.len();
    if is_composed {
        write_field(&mut out, "Surrogate-Capability", CAPABILITY.as_bytes());
    }
    if let Some(Trace::Own(context)) = trace {
        write_field(&mut out, "traceparent", context.traceparent().as_bytes());
    }
    origin.write_forwarded(&mut out, head);
    write_field(&mut out, "X-Request-Id", id.as_bytes());
    out.extend_from_slice(b"\r\n");
    (out, host)
}

#[cfg(test)]
mod tests {
    use super::is_ambiguous;

    #[test]
    fn dot_segments_are_found_however_they_are_written() {
        for path in [
            "/old/../admin",
            "/old/..",
            "/old/./x",
            "/old/%2e%2e/admin",
            "/old/%2E./admin",
            "/old/..%2fadmin",
            "/old/..%5cadmin",
            "/old/..\\admin",
            "/old/%252e%252e/admin",
            "/old/..;/admin",
            "/old/..;x=1/admin",
            "/old/..%3b/admin",
        ] {
            assert!(is_ambiguous(path), "{path}");
        }
        for path in ["/old/a.b", "/old/...", "/old/..a", "/old/%20x", "/old/.well-known/x", "/old", "/a%2fb", "/100%"] {
            assert!(!is_ambiguous(path), "{path}");
        }
    }
}
