//! Writes a request afresh for a worker: its own fields, then what the gateway says about where it came from.
//!
//! Nothing passes through as it came. Fields that only the gateway may set are removed from what a client sent.

use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use sluice_http1::{Framing, RequestHead, write_decimal, write_request_start};
use sluice_scheduler::RequestId;

use crate::gate::Gate;
use crate::receive::trace::{self, TraceId};
use crate::upstream::token::Token;

/// What is known of the connection a request came on, and how it is written; made once for all its requests.
pub(crate) struct Origin {
    pub(crate) peer: IpAddr,
    /// Whether the config trusts this peer's word.
    pub(crate) is_trusted: bool,
    proto: &'static str,
    peer_text: String,
    /// The start of `Forwarded`: who and how.
    forwarded: String,
    /// The gateway's private word to the preload, after the request's number.
    private: String,
}

impl Origin {
    pub(crate) fn new(gate: &Gate, peer: SocketAddr, local: SocketAddr, is_tls: bool) -> Self {
        let proto = if is_tls { "https" } else { "http" };
        Origin {
            peer: peer.ip(),
            is_trusted: gate.trust.allows(peer.ip()),
            proto,
            peer_text: peer.ip().to_string(),
            forwarded: format!("for={};proto={proto}", NodeName(peer.ip())),
            private: format!(";peer={peer};local={local};proto={proto}"),
        }
    }
}

impl Origin {
    /// Whether the client speaks HTTPS, here or, as a trusted peer says, there.
    pub(crate) fn is_https(&self, head: &RequestHead) -> bool {
        let told = head.fields.get("x-forwarded-proto").filter(|_| self.is_trusted);
        told.map_or(self.proto == "https", |proto| proto.eq_ignore_ascii_case(b"https"))
    }
}

/// A new id for a request.
pub(crate) fn new_request_id() -> Rc<str> {
    let mut id = [0; 32];
    for (digits, byte) in id.chunks_exact_mut(2).zip(fastrand::u128(..).to_be_bytes()) {
        digits.copy_from_slice(&[byte >> 4, byte & 0xf].map(|digit| b"0123456789abcdef"[usize::from(digit)]));
    }
    ascii(&id).into()
}

/// The id that a trusted peer gave the request, if it is well formed.
pub(crate) fn trusted_request_id(head: &RequestHead, origin: &Origin) -> Option<Rc<str>> {
    let id = head.fields.get("x-request-id").filter(|_| origin.is_trusted)?;
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:=+/@".contains(byte);
    let is_well_formed = (1..=128).contains(&id.len()) && id.iter().all(is_plain);
    is_well_formed.then(|| ascii(id).into())
}

/// The head for the worker, complete with its empty line.
pub(crate) fn worker_head(
    head: &RequestHead,
    origin: &Origin,
    request: RequestId,
    token: Token,
    request_id: &str,
    trace_id: Option<TraceId>,
    framing: Framing,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024);
    write_request_start(&mut out, head, framing, |name, _| {
        if trace::is_field(name) { trace_id.is_some() } else { keeps(name, origin.is_trusted) }
    });
    let is_made = |name| !origin.is_trusted || !head.fields.contains(name);
    if is_made("x-forwarded-for") {
        write_line(&mut out, &["X-Forwarded-For: ", &origin.peer_text]);
    }
    if is_made("x-forwarded-proto") {
        write_line(&mut out, &["X-Forwarded-Proto: ", origin.proto]);
    }
    if is_made("x-forwarded-host") && !head.host.is_empty() {
        write_line(&mut out, &["X-Forwarded-Host: ", &head.host]);
    }
    if is_made("forwarded") {
        if head.host.is_empty() {
            write_line(&mut out, &["Forwarded: ", &origin.forwarded]);
        } else {
            write_line(&mut out, &["Forwarded: ", &origin.forwarded, ";host=\"", &head.host, "\""]);
        }
    }
    write_line(&mut out, &["X-Request-Id: ", request_id]);
    write_label(&mut out, request, token);
    write_line(&mut out, &[&origin.private, "\r\n"]);
    out
}

/// The start of the private word to the preload, which has to be the last field.
fn write_label(out: &mut Vec<u8>, request: RequestId, token: Token) {
    out.extend_from_slice(b"X-Sluice-Request: id=");
    write_decimal(out, request.0);
    out.extend_from_slice(b";token=");
    out.extend_from_slice(token.as_bytes());
}

/// The head of a request that the gateway makes itself, to warm a worker.
pub(crate) fn warm_up_head(
    target: &str,
    host: &str,
    proto: &str,
    port: u16,
    request: RequestId,
    token: Token,
    request_id: &str,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    write_line(&mut out, &["GET ", target, " HTTP/1.1"]);
    write_line(&mut out, &["Host: ", host]);
    out.extend_from_slice(b"Accept: */*\r\nUser-Agent: sluice\r\nSluice-Warm-Up: 1\r\nX-Forwarded-For: 127.0.0.1\r\n");
    write_line(&mut out, &["X-Forwarded-Proto: ", proto]);
    write_line(&mut out, &["X-Forwarded-Host: ", host]);
    write_line(&mut out, &["X-Request-Id: ", request_id]);
    write_label(&mut out, request, token);
    let port = port.to_string();
    write_line(&mut out, &[";peer=127.0.0.1:", &port, ";local=127.0.0.1:", &port, ";proto=", proto, "\r\n"]);
    out
}

fn write_line(out: &mut Vec<u8>, parts: &[&str]) {
    for part in parts {
        out.extend_from_slice(part.as_bytes());
    }
    out.extend_from_slice(b"\r\n");
}

/// Whether a client's field goes on to the worker.
fn keeps(name: &str, trusted: bool) -> bool {
    let starts = |prefix: &str| name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    if starts("x-sluice-") || name.eq_ignore_ascii_case("sluice-warm-up") || name.eq_ignore_ascii_case("x-request-id") {
        return false;
    }
    let is_claim =
        starts("x-forwarded-") || name.eq_ignore_ascii_case("forwarded") || name.eq_ignore_ascii_case("x-real-ip");
    trusted || !is_claim
}

/// Bytes that were made of hexadecimal digits.
fn ascii(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_32_hexadecimal_digits_and_another_each_time() {
        let ids = [new_request_id(), new_request_id()];
        assert!(ids.iter().all(|id| id.len() == 32 && id.bytes().all(|byte| b"0123456789abcdef".contains(&byte))));
        assert_ne!(ids[0], ids[1]);
    }
}
