//! Answers that need no worker: the ping path and readiness.

use super::Response;

/// Whether new requests should come here, and the reason if not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Readiness {
    /// True if they should.
    pub is_ready: bool,
    /// Reason in words.
    pub reason: &'static str,
    /// Workers that take requests.
    pub workers_ready: u32,
    /// Requests in the queue.
    pub queue_length: usize,
    /// Milliseconds since a worker last finished a request; `None` before the first.
    pub last_progress_ms: Option<u64>,
}

/// The answer to the ping path: the gateway's process is alive.
pub(crate) fn ping() -> Response {
    Response::short(200, "text/plain; charset=utf-8", "pong\n".to_owned())
}

/// The answer to the readiness path.
pub(crate) fn ready(readiness: &Readiness) -> Response {
    let body = format!(
        "{{\"ready\":{},\"reason\":\"{}\",\"workers_ready\":{},\"queue_length\":{},\"last_progress_ms\":{}}}\n",
        readiness.is_ready,
        readiness.reason,
        readiness.workers_ready,
        readiness.queue_length,
        readiness.last_progress_ms.map_or_else(|| "null".to_owned(), |ms| ms.to_string()),
    );
    Response::short(if readiness.is_ready { 200 } else { 503 }, "application/json", body)
}
