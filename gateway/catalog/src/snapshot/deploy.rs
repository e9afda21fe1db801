//! Changes since the latest version of the app came, as operators see them.

use serde::{Deserialize, Serialize};

use super::FindingSnapshot;

/// Comparison of the latest version of the app with the one before it, one after the other. It says nothing of causes other than
/// the version that came at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeploySnapshot {
    /// The latest version that has served.
    pub generation: u64,
    /// The version before it.
    pub before: u64,
    /// End of the first request of the latest version, Unix time in milliseconds.
    pub at_ms: u64,
    /// Requests of the version before, and of the latest one.
    pub requests: [u64; 2],
    /// Findings on all classes that both have, like for like: CPU time, service time, failures, holes in pages.
    pub findings: Vec<FindingSnapshot>,
    /// Classes that surely changed, those that became worse first. At most 10.
    pub classes: Vec<ClassChangeSnapshot>,
    /// Classes that both have often enough to compare them.
    pub compared: u64,
}

/// Change of one measure of one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassChangeSnapshot {
    /// The class.
    pub class: String,
    /// Mean before, milliseconds.
    pub before_ms: f64,
    /// Mean since, milliseconds.
    pub after_ms: f64,
    /// Finding on it.
    pub finding: FindingSnapshot,
}
