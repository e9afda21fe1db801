//! HTTP calls of the app to other hosts as operators see them.

use serde::{Deserialize, Serialize};

/// HTTP calls of the app to one host. Times and shares are of about the last minute, totals since the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CalledHostSnapshot {
    /// Host and port, without the scheme's own port; `other` for those beyond 50.
    pub host: String,
    /// Calls that have begun.
    pub calls_total: u64,
    /// Calls that have ended without an answer: refused, reset, timed out or aborted.
    pub errors_total: u64,
    /// Answers with a status of 500 or above.
    pub failures_total: u64,
    /// Calls that have begun lately.
    pub calls: u64,
    /// Calls that have ended without an answer lately.
    pub errors: u64,
    /// Median time from the request to the head of its answer, milliseconds; `None` while no answer came lately.
    pub p50_ms: Option<f64>,
    /// 95th percentile of that.
    pub p95_ms: Option<f64>,
    /// Part of the time to answers of all hosts, from 0 to 1.
    pub share: f64,
    /// Calls that wait for an answer now.
    pub waiting: u64,
    /// Milliseconds that the first of them has waited; `None` while none waits.
    pub oldest_ms: Option<f64>,
}
