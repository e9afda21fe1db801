//! Reports of workers about their graphs. It must not know what becomes of them.

use sluice_vitals::{GraphCounts, GraphPathReport, GraphRouteReport};

use super::record::ControlRecord;
use crate::gate::GraphReport;

/// Routes or patterns accepted in one line.
const ROWS_MAX: usize = 1000;

/// Report that a line holds.
pub(super) fn told(said: &ControlRecord) -> GraphReport<'_> {
    let routes = said.graph_routes.iter().take(ROWS_MAX).map(|one| GraphRouteReport {
        route: &one.route,
        method: &one.method,
        calls: one.calls,
        paths: one.paths,
        time_us: one.time_us,
        time_us_max: one.time_us_max,
        failures: one.failures,
        denied: one.denied,
        unanswered: one.unanswered,
        error: one.error.as_deref(),
    });
    let paths = said.graph_paths.iter().take(ROWS_MAX).map(|one| GraphPathReport {
        path: &one.path,
        asked: one.asked,
        fetched: one.fetched,
        brought: one.brought,
        unread: one.unread,
        again: one.again,
    });
    let ControlRecord { pages, page_requests, fetches, .. } = *said;
    GraphReport {
        routes: routes.collect(),
        paths: paths.collect(),
        counts: GraphCounts { pages, page_requests, fetches },
    }
}
