//! The operator's side of the gateway: the control socket that the command line talks to, and the metrics address.
//!
//! It asks an [`Operator`] and the journal, and must not know how either comes by its answers. Whatever is sent to it is
//! input: every line, head, connection and wait has a bound, so that nobody who can reach it can hold up the data plane
//! that it shares a thread with.

mod control;
mod host;
mod http;
mod metrics;
pub mod protocol;

use sluice_catalog::snapshot::Snapshot;
use sluice_journal::Page;

pub use control::ControlSocket;
pub use http::MetricsHttp;
pub use metrics::{OPERATOR_METRICS, page};

/// What the operator's side may ask of the gateway and tell it.
pub trait Operator {
    /// How things are now.
    fn snapshot(&self) -> Snapshot;
    /// Begin to leave: stop accepting, finish, go. Returns at once; a second call leaves at once.
    fn request_stop(&self);
    /// Want this many workers from now on. `Ok` holds the number wanted before.
    ///
    /// # Errors
    /// A sentence for the operator if that many cannot be had.
    fn scale(&self, workers: u32) -> Result<u32, String>;
    /// Whether work gets done.
    fn readiness(&self) -> Readiness;
    /// Writes those of [`OPERATOR_METRICS`] that neither the snapshot nor the journal knows.
    fn write_metrics(&self, _page: &mut Page) {}
}

/// Whether the gateway should be sent requests, and why not.
#[derive(Debug, Clone, PartialEq)]
pub struct Readiness {
    /// Send requests here.
    pub ready: bool,
    /// One word or sentence for people.
    pub reason: String,
    /// Workers that listen.
    pub workers_ready: u32,
    /// Requests that wait.
    pub queue_length: u64,
    /// Milliseconds since a worker last finished a request; `None` if none has yet.
    pub last_progress_ms: Option<u64>,
}

#[cfg(test)]
mod tests_support;
