//! Graphs of `@sluice/graph` as operators see them: routes, and what pages ask for.

use serde::{Deserialize, Serialize};

/// Reports of workers on their graphs since the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphSnapshot {
    /// Pages whose state was written.
    pub pages_total: u64,
    /// Requests of these pages to their data sources.
    pub page_requests_total: u64,
    /// Requests of clients over the network, without writes and calls.
    pub fetches_total: u64,
    /// Single paths that pages asked for.
    pub asked_total: u64,
    /// Single paths that clients asked for over the network.
    pub fetched_total: u64,
    /// Values that came into pages, references and errors among them.
    pub values_total: u64,
    /// Values among them that no component had asked for when the state was written.
    pub unread_total: u64,
    /// Values that came into a page once more, or that a browser asked for although its page had them.
    pub again_total: u64,
    /// Calls of routes that have ended.
    pub calls_total: u64,
    /// Calls among them that threw, took too long or gave what is no JSON Graph.
    pub failures_total: u64,
    /// Calls among them some of whose paths were denied.
    pub denied_total: u64,
    /// Single paths that these calls gave no value for.
    pub unanswered_total: u64,
    /// The 50 routes and methods that took most time, those with failures before all others.
    pub routes: Vec<GraphRouteSnapshot>,
    /// Routes and methods in all; those beyond 500 are one, `other`.
    pub routes_count: u64,
    /// The 50 patterns of paths that pages and clients use most, that one first.
    pub paths: Vec<GraphPathSnapshot>,
    /// Patterns in all; those beyond 500 are one, `other`.
    pub paths_count: u64,
}

/// One route and method since the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphRouteSnapshot {
    /// Text of the route; `(unhandled)` for paths that no route matches.
    pub route: String,
    /// `get`, `set` or `call`; `other` for routes beyond 500.
    pub method: String,
    /// Calls that have ended.
    pub calls_total: u64,
    /// Single paths that they were for.
    pub paths_total: u64,
    /// Time from the calls to their results, milliseconds. Calls of one request overlap.
    pub time_ms_total: f64,
    /// Longest call, milliseconds.
    pub time_ms_max: f64,
    /// Calls that threw, took too long or gave what is no JSON Graph.
    pub failures_total: u64,
    /// Calls some of whose paths were denied.
    pub denied_total: u64,
    /// Single paths that got no value.
    pub unanswered_total: u64,
    /// Error of the latest failure; `None` while there was none.
    pub error: Option<String>,
}

/// Paths of one pattern since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphPathSnapshot {
    /// Path with `{integers}` and `{keys}`.
    pub path: String,
    /// Single paths that pages asked for.
    pub asked_total: u64,
    /// Single paths that clients asked for over the network.
    pub fetched_total: u64,
    /// Values at such paths that came into pages.
    pub values_total: u64,
    /// Values among them that no component had asked for when the state was written.
    pub unread_total: u64,
    /// Values that came into a page once more, or that a browser asked for although its page had them.
    pub again_total: u64,
}
