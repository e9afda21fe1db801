//! The spans of a request, by OpenTelemetry's semantic conventions for HTTP servers.

use std::net::IpAddr;

use crate::context::{Context, new_span};
use crate::proto::{KeyValue, Span, SpanKind, Status, StatusCode, Value};

/// Maximum number of spans of a request.
pub(crate) const SPANS_MAX: u64 = 5;
/// Methods that are named in spans; others are `_OTHER` there, as a client could think of any number.
const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "CONNECT", "TRACE"];
/// Maximum size of a path in a span, bytes.
const PATH_BYTES_MAX: usize = 2_048;
/// The caller's span is in another process (bit 9), which is known (bit 8).
const PARENT_IS_REMOTE: u32 = 0x300;

/// A request that has ended. Times are in milliseconds.
#[derive(Debug, Clone)]
pub struct RequestSpan {
    /// Trace and ids.
    pub context: Context,
    /// Unix time of its first byte.
    pub time_unix_ms: u64,
    /// The method; empty if none could be read.
    pub method: String,
    /// The path, without its query, which may hold what is nobody's business.
    pub path: String,
    /// The host that was asked; may be empty.
    pub host: String,
    /// `http` or `https`.
    pub scheme: &'static str,
    /// Class; may be empty.
    pub class: String,
    /// Name in logs.
    pub request_id: String,
    /// The client.
    pub peer: IpAddr,
    /// The status that the client got; 0 if it got none.
    pub status: u16,
    /// The gateway's error code, where it answered with one.
    pub error: Option<&'static str>,
    /// End of the request, in the words of the access log.
    pub outcome: &'static str,
    /// True if it was not answered as it should have been.
    pub is_failed: bool,
    /// The worker that got it, if any did.
    pub worker: Option<u64>,
    /// Workers that got it.
    pub tries: u32,
    /// Time from the first byte to the whole request.
    pub receive_ms: f64,
    /// Time from the whole request to a worker.
    pub queue_ms: Option<f64>,
    /// Time from the whole request to its refusal.
    pub unserved_ms: Option<f64>,
    /// Time from the worker getting it to the end of its answer.
    pub service_ms: Option<f64>,
    /// Time from the first byte to the end.
    pub total_ms: f64,
    /// CPU time of its own.
    pub cpu_ms: Option<f64>,
    /// Bytes of its body.
    pub bytes_in: u64,
    /// Bytes of the answer's body.
    pub bytes_out: u64,
}

impl RequestSpan {
    /// The server's span first, then its parts in the order of time.
    pub(crate) fn spans(&self) -> Vec<Span> {
        let mut spans = Vec::with_capacity(5);
        let received = self.receive_ms.min(self.total_ms);
        spans.push(self.server());
        spans.push(self.part("receive", new_span(), 0.0, received));
        let waited = self.queue_ms.or(self.unserved_ms);
        let dispatched = received + waited.unwrap_or(0.0);
        if waited.is_some() {
            spans.push(self.part("queue", new_span(), received, dispatched));
        }
        if let Some(service_ms) = self.service_ms {
            let served = dispatched + service_ms;
            let mut service = self.part("service", self.context.service, dispatched, served);
            service.attributes.extend(self.worker.map(|worker| KeyValue::int("sluice.worker", worker)));
            service.attributes.push(KeyValue::int("sluice.tries", self.tries));
            service.attributes.extend(self.cpu_ms.map(|ms| KeyValue::new("sluice.cpu_ms", Value::Double(ms))));
            spans.push(service);
            // An event stream is answered as long as it is served.
            if self.total_ms > served {
                spans.push(self.part("respond", new_span(), served, self.total_ms));
            }
        }
        spans
    }

    fn server(&self) -> Span {
        let method = if METHODS.contains(&&*self.method) { &*self.method } else { "_OTHER" };
        let mut attributes = vec![
            KeyValue::text("http.request.method", method),
            KeyValue::text("url.scheme", self.scheme),
            KeyValue::text("url.path", cut(&self.path)),
            KeyValue::text("client.address", self.peer.to_string()),
            KeyValue::text("sluice.request_id", &*self.request_id),
            KeyValue::text("sluice.outcome", self.outcome),
            KeyValue::int("http.request.body.size", self.bytes_in),
            KeyValue::int("http.response.body.size", self.bytes_out),
        ];
        if method == "_OTHER" && !self.method.is_empty() {
            attributes.push(KeyValue::text("http.request.method_original", &*self.method));
        }
        let (host, port) = split_host(&self.host);
        if !host.is_empty() {
            attributes.push(KeyValue::text("server.address", host));
            attributes.extend(port.map(|port| KeyValue::int("server.port", port)));
        }
        if !self.class.is_empty() {
            attributes.push(KeyValue::text("sluice.class", &*self.class));
        }
        if self.status > 0 {
            attributes.push(KeyValue::int("http.response.status_code", self.status));
        }
        let is_error = self.is_failed || self.status >= 500;
        if is_error {
            let of_status = || if self.status >= 500 { self.status.to_string() } else { self.outcome.to_owned() };
            attributes.push(KeyValue::text("error.type", self.error.map_or_else(of_status, str::to_owned)));
        }
        let code = if is_error { StatusCode::Error } else { StatusCode::Unset };
        // Only names of which there are few: a class or a route, never a path.
        let name = if self.class.is_empty() { method.to_owned() } else { format!("{method} {}", self.class) };
        let parent = self.context.parent;
        Span {
            parent_span_id: parent.map(|id| id.to_be_bytes().to_vec()).unwrap_or_default(),
            kind: SpanKind::Server.into(),
            attributes,
            status: Some(Status { message: String::new(), code: code.into() }),
            flags: 1 | if parent.is_some() { PARENT_IS_REMOTE } else { 0 },
            ..self.span(name, self.context.server, 0.0, self.total_ms)
        }
    }

    fn part(&self, name: &str, id: u64, from_ms: f64, to_ms: f64) -> Span {
        Span {
            parent_span_id: self.context.server.to_be_bytes().to_vec(),
            kind: SpanKind::Internal.into(),
            ..self.span(name.to_owned(), id, from_ms, to_ms.min(self.total_ms).max(from_ms))
        }
    }

    fn span(&self, name: String, id: u64, from_ms: f64, to_ms: f64) -> Span {
        Span {
            trace_id: self.context.trace_id.to_be_bytes().to_vec(),
            span_id: id.to_be_bytes().to_vec(),
            name,
            start_time_unix_nano: self.at(from_ms),
            end_time_unix_nano: self.at(to_ms),
            flags: 1,
            ..Span::default()
        }
    }

    /// Unix time in nanoseconds.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "no request takes 292 years, or less than nothing"
    )]
    fn at(&self, after_ms: f64) -> u64 {
        self.time_unix_ms.saturating_mul(1_000_000).saturating_add((after_ms.max(0.0) * 1e6) as u64)
    }
}

fn cut(path: &str) -> &str {
    let end = (0..=PATH_BYTES_MAX.min(path.len())).rev().find(|at| path.is_char_boundary(*at));
    &path[..end.unwrap_or(0)]
}

fn split_host(host: &str) -> (&str, Option<u16>) {
    let name_and_port = host.rsplit_once(':').and_then(|(name, port)| Some((name, port.parse().ok()?)));
    // The colons of an IPv6 address without a port are in brackets.
    name_and_port.map_or((host, None), |(name, port)| (name, Some(port)))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::context::Parent;
    use crate::sampler::Sampler;

    /// A request that was received in 2 ms, waited 3, was served in 10, and sent in 1.
    pub(crate) fn ended() -> RequestSpan {
        let parent = Parent { trace_id: 0xa, span_id: 0xb, is_sampled: true };
        RequestSpan {
            context: Context::new(Some(parent), Sampler::ParentOr(1.0)),
            time_unix_ms: 1_000,
            method: "GET".to_owned(),
            path: "/p/1".to_owned(),
            host: "shop.example:8080".to_owned(),
            scheme: "http",
            class: "/p/*".to_owned(),
            request_id: "r1".to_owned(),
            peer: Ipv4Addr::LOCALHOST.into(),
            status: 200,
            error: None,
            outcome: "complete",
            is_failed: false,
            worker: Some(4),
            tries: 1,
            receive_ms: 2.0,
            queue_ms: Some(3.0),
            unserved_ms: None,
            service_ms: Some(10.0),
            total_ms: 16.0,
            cpu_ms: Some(7.5),
            bytes_in: 0,
            bytes_out: 512,
        }
    }

    fn times(ended: &RequestSpan) -> Vec<(String, u64, u64)> {
        let ms = |nanos: u64| nanos / 1_000_000 - 1_000;
        ended
            .spans()
            .iter()
            .map(|span| (span.name.clone(), ms(span.start_time_unix_nano), ms(span.end_time_unix_nano)))
            .collect()
    }

    fn attribute(span: &Span, key: &str) -> Option<Value> {
        span.attributes.iter().find(|attribute| attribute.key == key)?.value.clone()?.value
    }

    fn row(name: &str, from: u64, to: u64) -> (String, u64, u64) {
        (name.to_owned(), from, to)
    }

    #[test]
    fn parts_fill_the_time_of_the_request() {
        let ended = ended();
        let parts = [
            row("GET /p/*", 0, 16),
            row("receive", 0, 2),
            row("queue", 2, 5),
            row("service", 5, 15),
            row("respond", 15, 16),
        ];
        assert_eq!(times(&ended), parts);
        let spans = ended.spans();
        assert_eq!(spans[0].parent_span_id, 0xb_u64.to_be_bytes());
        assert!(spans[1..].iter().all(|span| span.parent_span_id == spans[0].span_id));
        assert_eq!(spans[3].span_id, ended.context.service.to_be_bytes(), "the app's parent");
    }

    #[test]
    fn refused_request_waited_and_was_not_served() {
        let refused = RequestSpan {
            queue_ms: None,
            unserved_ms: Some(14.0),
            service_ms: None,
            worker: None,
            status: 503,
            error: Some("SLU-QUEUE-FULL"),
            is_failed: true,
            ..ended()
        };
        assert_eq!(times(&refused), [row("GET /p/*", 0, 16), row("receive", 0, 2), row("queue", 2, 16)]);
        let server = &refused.spans()[0];
        assert_eq!(server.status.as_ref().unwrap().code, i32::from(StatusCode::Error));
        assert_eq!(attribute(server, "error.type"), Some(Value::Text("SLU-QUEUE-FULL".to_owned())));
    }

    #[test]
    fn no_part_lasts_longer_than_the_whole() {
        let left = RequestSpan { service_ms: Some(10.0), total_ms: 6.0, ..ended() };
        assert!(times(&left).iter().all(|(_, from, to)| from <= to && *to <= 6));
        let nothing = RequestSpan { receive_ms: 9.0, total_ms: 1.0, queue_ms: None, service_ms: None, ..ended() };
        assert_eq!(times(&nothing), [row("GET /p/*", 0, 1), row("receive", 0, 1)]);
    }

    #[test]
    fn strange_methods_and_long_paths_are_bounded() {
        let strange =
            RequestSpan { method: "BREW".to_owned(), class: String::new(), path: "é".repeat(2_000), ..ended() };
        let server = &strange.spans()[0];
        assert_eq!(server.name, "_OTHER");
        assert_eq!(attribute(server, "http.request.method_original"), Some(Value::Text("BREW".to_owned())));
        let Some(Value::Text(path)) = attribute(server, "url.path") else { panic!("no path") };
        assert_eq!(path.len(), PATH_BYTES_MAX);
    }

    #[test]
    fn host_and_port_are_told_apart() {
        assert_eq!(split_host("a:80"), ("a", Some(80)));
        assert_eq!(split_host("a"), ("a", None));
        assert_eq!(split_host("[::1]:80"), ("[::1]", Some(80)));
        assert_eq!(split_host("[::1]"), ("[::1]", None));
    }
}
