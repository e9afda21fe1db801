//! Reports of workers about graphs of data. This module must not know what a route or a page is.

use std::cell::RefCell;
use std::rc::Rc;

use sluice_catalog::metrics;
use sluice_catalog::snapshot::{GraphPathSnapshot, GraphSnapshot};
use sluice_journal::{Level, Page};
use sluice_vitals::{GraphCounts, GraphFailures, GraphPathReport, GraphRoute, GraphRouteReport, Graphs};
use tokio::time::Instant;

use crate::context::Context;

/// Reads one count of a row.
type Count<Row> = fn(&Row) -> u64;

/// Reports about graphs, collected for metrics, snapshots and notes about failures.
pub struct GraphReports {
    context: Rc<Context>,
    graphs: RefCell<Graphs>,
}

impl GraphReports {
    pub(crate) fn new(context: &Rc<Context>) -> Self {
        GraphReports { context: Rc::clone(context), graphs: RefCell::default() }
    }

    /// Records what routes and pages of a worker did.
    pub fn used(&self, routes: &[GraphRouteReport<'_>], paths: &[GraphPathReport<'_>], counts: GraphCounts) {
        let (mut graphs, now) = (self.graphs.borrow_mut(), self.context.since_start(Instant::now()));
        for report in routes {
            graphs.called(report, now);
        }
        for report in paths {
            graphs.used(report, now);
        }
        graphs.counted(counts);
    }

    /// Summary of the reports for operators.
    pub fn snapshot(&self) -> Option<GraphSnapshot> {
        self.graphs.borrow().snapshot()
    }

    /// Logs failures of routes, if a note is due. Called with every tick.
    pub(crate) fn tell_failures(&self, now: Instant) {
        let failures = self.graphs.borrow_mut().take_failures(self.context.since_start(now));
        for GraphFailures { route, method, count, error } in failures {
            let calls = if count == 1 { "call" } else { "calls" };
            let text = format!("graph route {route}: {count} {calls} of {method} failed, the latest with {error}");
            self.context.note(Level::Warn, &text);
        }
    }

    pub(crate) fn write_metrics(&self, page: &mut Page) {
        let graphs = self.graphs.borrow();
        let counts: [(_, Count<GraphRoute>); 5] = [
            (&metrics::GRAPH_CALLS_TOTAL, |row| row.calls),
            (&metrics::GRAPH_CALL_PATHS_TOTAL, |row| row.paths),
            (&metrics::GRAPH_FAILURES_TOTAL, |row| row.failures),
            (&metrics::GRAPH_DENIED_TOTAL, |row| row.denied),
            (&metrics::GRAPH_UNANSWERED_TOTAL, |row| row.unanswered),
        ];
        for (metric, of) in counts {
            page.metric(metric);
            for (route, method, row) in graphs.routes() {
                page.sample(&[("route", route), ("method", method)], of(row));
            }
        }
        page.metric(&metrics::GRAPH_CALL_SECONDS_TOTAL);
        for (route, method, row) in graphs.routes() {
            #[allow(clippy::cast_precision_loss, reason = "microseconds are below 2^52 for a century")]
            page.sample(&[("route", route), ("method", method)], row.time_us as f64 / 1e6);
        }
        let GraphCounts { pages, page_requests, fetches } = graphs.counts();
        for (metric, count) in [
            (&metrics::GRAPH_PAGES_TOTAL, pages),
            (&metrics::GRAPH_PAGE_REQUESTS_TOTAL, page_requests),
            (&metrics::GRAPH_FETCHES_TOTAL, fetches),
        ] {
            page.metric(metric);
            page.sample(&[], count);
        }
        page.metric(&metrics::GRAPH_PATHS_TOTAL);
        for (pattern, row) in graphs.paths() {
            for (by, count) in [("page", row.asked_total), ("client", row.fetched_total)] {
                page.sample(&[("pattern", pattern), ("by", by)], count);
            }
        }
        let values: [(_, Count<GraphPathSnapshot>); 3] = [
            (&metrics::GRAPH_VALUES_TOTAL, |row| row.values_total),
            (&metrics::GRAPH_UNREAD_VALUES_TOTAL, |row| row.unread_total),
            (&metrics::GRAPH_REPEATED_VALUES_TOTAL, |row| row.again_total),
        ];
        for (metric, of) in values {
            page.metric(metric);
            for (pattern, row) in graphs.paths() {
                page.sample(&[("pattern", pattern)], of(row));
            }
        }
    }
}
