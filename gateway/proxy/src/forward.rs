//! Writes a request afresh for a worker: its own fields, then what the gateway says about where it came from.
//!
//! Nothing passes through as it came. Fields that only the gateway may set are removed from what a client sent.

use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};

use sluice_http1::{Framing, RequestHead, write_request_start};
use sluice_scheduler::RequestId;

use crate::gate::Gate;

/// What is known of the connection a request came on.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    pub(crate) peer: SocketAddr,
    pub(crate) local: SocketAddr,
    pub(crate) is_tls: bool,
}

impl Origin {
    fn proto(self) -> &'static str {
        if self.is_tls { "https" } else { "http" }
    }
}

/// The request's id: a trusted peer's where it is well formed, else a new one.
pub(crate) fn request_id(gate: &Gate, head: &RequestHead, origin: Origin) -> String {
    if gate.trust.allows(origin.peer.ip())
        && let Some(id) = head.fields.get("x-request-id").and_then(|id| std::str::from_utf8(id).ok())
        && (1..=128).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:=+/@".contains(&byte))
    {
        return id.to_owned();
    }
    hex(fastrand::u128(..))
}

/// The head for the worker, complete with its empty line.
pub(crate) fn worker_head(
    gate: &Gate,
    head: &RequestHead,
    origin: Origin,
    request: RequestId,
    request_id: &str,
    body_bytes: u64,
) -> Vec<u8> {
    let trusted = gate.trust.allows(origin.peer.ip());
    let framing =
        if body_bytes > 0 || head.framing != Framing::None { Framing::Length(body_bytes) } else { Framing::None };
    let mut out = Vec::with_capacity(1024);
    write_request_start(&mut out, head, framing, |name, _| keeps(name, trusted));
    let mut text = String::with_capacity(512);
    if !trusted || !head.fields.contains("x-forwarded-for") {
        let _ = write!(text, "X-Forwarded-For: {}\r\n", origin.peer.ip());
    }
    if !trusted || !head.fields.contains("x-forwarded-proto") {
        let _ = write!(text, "X-Forwarded-Proto: {}\r\n", origin.proto());
    }
    if (!trusted || !head.fields.contains("x-forwarded-host")) && !head.host.is_empty() {
        let _ = write!(text, "X-Forwarded-Host: {}\r\n", head.host);
    }
    if !trusted || !head.fields.contains("forwarded") {
        let _ = write!(text, "Forwarded: for={};proto={}", NodeName(origin.peer.ip()), origin.proto());
        if !head.host.is_empty() {
            let _ = write!(text, ";host=\"{}\"", head.host);
        }
        text.push_str("\r\n");
    }
    if !trusted || !head.fields.contains("traceparent") {
        // 01: sampled or not is for a tracer to say; the gateway only makes sure that there is an id to follow.
        let _ = write!(
            text,
            "traceparent: 00-{}-{}-00\r\n",
            hex(fastrand::u128(1..)),
            &hex(u128::from(fastrand::u64(1..)))[16..]
        );
    }
    let _ = write!(
        text,
        "X-Request-Id: {request_id}\r\nX-Sluice-Request: id={};peer={};local={};proto={}\r\n\r\n",
        request.0,
        origin.peer,
        origin.local,
        origin.proto()
    );
    out.extend_from_slice(text.as_bytes());
    out
}

/// Whether a client's field goes on to the worker.
fn keeps(name: &str, trusted: bool) -> bool {
    let starts = |prefix: &str| name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    if starts("x-sluice-") || name.eq_ignore_ascii_case("x-request-id") {
        return false;
    }
    let is_claim = starts("x-forwarded-")
        || name.eq_ignore_ascii_case("forwarded")
        || name.eq_ignore_ascii_case("x-real-ip")
        || name.eq_ignore_ascii_case("traceparent")
        || name.eq_ignore_ascii_case("tracestate");
    trusted || !is_claim
}

fn hex(value: u128) -> String {
    format!("{value:032x}")
}

/// An address as `Forwarded` writes it (RFC 7239 §6): IPv6 in brackets and quotes.
struct NodeName(IpAddr);

impl std::fmt::Display for NodeName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            IpAddr::V4(v4) => write!(f, "{v4}"),
            IpAddr::V6(v6) => write!(f, "\"[{v6}]\""),
        }
    }
}
