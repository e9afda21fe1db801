//! Graphs of data, as workers report them: calls of routes, and what pages asked for. It must not know pages or browsers.

use std::cmp::Reverse;
use std::time::Duration;

use sluice_catalog::snapshot::{GraphPathSnapshot, GraphRouteSnapshot, GraphSnapshot};

use crate::components::in_ms;
use crate::names::{Names, OTHER};

/// Maximum number of distinguished routes, each with its method.
const ROUTES_MAX: usize = 500;
/// Maximum number of distinguished patterns of paths.
const PATHS_MAX: usize = 500;
/// Longest text of a route or pattern.
const NAME_CHARS_MAX: usize = 200;
/// Maximum stored length of an error, characters.
const ERROR_CHARS_MAX: usize = 300;
/// Maximum number of rows shown to operators. Metrics have all.
const SHOWN_MAX: usize = 50;
/// Maximum time that one report can add, microseconds. A day, as calls overlap.
const TIME_US_MAX: u64 = 86_400_000_000;
/// Time between two notes about the same route.
const NOTE_PERIOD: Duration = Duration::from_secs(60);
/// Maximum number of notes at a time. Further notes follow later.
const NOTES_MAX: usize = 3;

/// Report of a worker on the calls of one route by one method, since its report before.
#[derive(Clone, Copy, Debug, Default)]
pub struct GraphRouteReport<'a> {
    /// Text of the route.
    pub route: &'a str,
    /// `get`, `set` or `call`.
    pub method: &'a str,
    /// Calls that have ended.
    pub calls: u64,
    /// Single paths that they were for.
    pub paths: u64,
    /// Time of all of them, microseconds.
    pub time_us: u64,
    /// Longest of them, microseconds.
    pub time_us_max: u64,
    /// Calls that failed.
    pub failures: u64,
    /// Calls with denied paths.
    pub denied: u64,
    /// Single paths without a value.
    pub unanswered: u64,
    /// Error of the latest failure.
    pub error: Option<&'a str>,
}

/// Report of a worker on the paths of one pattern, since its report before.
#[derive(Clone, Copy, Debug, Default)]
pub struct GraphPathReport<'a> {
    /// The pattern.
    pub path: &'a str,
    /// Single paths that pages asked for.
    pub asked: u64,
    /// Single paths that clients asked for over the network.
    pub fetched: u64,
    /// Values that came into pages.
    pub brought: u64,
    /// Values among them that no component asked for.
    pub unread: u64,
    /// Values that came twice.
    pub again: u64,
}

/// Pages and requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphCounts {
    /// Pages whose state was written.
    pub pages: u64,
    /// Requests of these pages to their data sources.
    pub page_requests: u64,
    /// Requests of clients over the network.
    pub fetches: u64,
}

/// Failures of one route that were not noted before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphFailures {
    /// Text of the route.
    pub route: String,
    /// `get`, `set` or `call`.
    pub method: String,
    /// Number of failed calls since the note before.
    pub count: u64,
    /// Error of the latest of them.
    pub error: String,
}

/// One route and method since the start, for metrics.
#[derive(Debug, Default)]
pub struct GraphRoute {
    /// Calls that have ended.
    pub calls: u64,
    /// Single paths that they were for.
    pub paths: u64,
    /// Time of all of them, microseconds.
    pub time_us: u64,
    /// Calls that failed.
    pub failures: u64,
    /// Calls with denied paths.
    pub denied: u64,
    /// Single paths without a value.
    pub unanswered: u64,
    time_us_max: u64,
    error: Option<String>,
    /// Failures since the latest note, and the time of that note.
    unnoted: u64,
    noted: Option<Duration>,
}

/// Everything that workers report of graphs.
#[derive(Debug, Default)]
pub struct Graphs {
    routes: Names<GraphRoute, ROUTES_MAX>,
    paths: Names<GraphPathSnapshot, PATHS_MAX>,
    /// Sums over all rows, also those that have had to go; without rows.
    totals: GraphSnapshot,
}

impl Graphs {
    /// A worker's routes were called.
    pub fn called(&mut self, report: &GraphRouteReport<'_>, now: Duration) {
        let route = cut(report.route, NAME_CHARS_MAX);
        let is_known = ["get", "set", "call"].contains(&report.method) && route != OTHER;
        let name = if is_known { format!("{} {route}", report.method) } else { OTHER.to_owned() };
        let row = self.routes.used(&name, now);
        let time_us = report.time_us.min(TIME_US_MAX);
        for (total, more) in [
            (&mut row.calls, report.calls),
            (&mut row.paths, report.paths),
            (&mut row.time_us, time_us),
            (&mut row.failures, report.failures),
            (&mut row.denied, report.denied),
            (&mut row.unanswered, report.unanswered),
            (&mut row.unnoted, report.failures),
        ] {
            *total = total.saturating_add(more);
        }
        let totals = &mut self.totals;
        for (total, more) in [
            (&mut totals.calls_total, report.calls),
            (&mut totals.failures_total, report.failures),
            (&mut totals.denied_total, report.denied),
            (&mut totals.unanswered_total, report.unanswered),
        ] {
            *total = total.saturating_add(more);
        }
        row.time_us_max = row.time_us_max.max(report.time_us_max.min(time_us));
        if let Some(error) = report.error {
            row.error = Some(cut(error, ERROR_CHARS_MAX).to_owned());
        }
    }

    /// A worker's pages and clients used paths.
    pub fn used(&mut self, report: &GraphPathReport<'_>, now: Duration) {
        let row = self.paths.used(cut(report.path, NAME_CHARS_MAX), now);
        let totals = &mut self.totals;
        for (of_row, total, more) in [
            (&mut row.asked_total, &mut totals.asked_total, report.asked),
            (&mut row.fetched_total, &mut totals.fetched_total, report.fetched),
            (&mut row.values_total, &mut totals.values_total, report.brought),
            (&mut row.unread_total, &mut totals.unread_total, report.unread),
            (&mut row.again_total, &mut totals.again_total, report.again),
        ] {
            *of_row = of_row.saturating_add(more);
            *total = total.saturating_add(more);
        }
    }

    /// A worker has written pages, or answered clients.
    pub fn counted(&mut self, more: GraphCounts) {
        let totals = &mut self.totals;
        for (total, more) in [
            (&mut totals.pages_total, more.pages),
            (&mut totals.page_requests_total, more.page_requests),
            (&mut totals.fetches_total, more.fetches),
        ] {
            *total = total.saturating_add(more);
        }
    }

    /// Failures that a note is due for. They count as noted.
    pub fn take_failures(&mut self, now: Duration) -> Vec<GraphFailures> {
        let rows = self.routes.iter_mut().filter(|(_, row)| {
            row.unnoted > 0 && row.noted.is_none_or(|noted| now.saturating_sub(noted) >= NOTE_PERIOD)
        });
        let taken = rows.take(NOTES_MAX).map(|(name, row)| {
            row.noted = Some(now);
            let (method, route) = parts(name);
            GraphFailures {
                route: route.to_owned(),
                method: method.to_owned(),
                count: std::mem::take(&mut row.unnoted),
                error: row.error.clone().unwrap_or_default(),
            }
        });
        taken.collect()
    }

    /// Figures for operators; `None` while nothing was reported.
    #[must_use]
    pub fn snapshot(&self) -> Option<GraphSnapshot> {
        let mut routes: Vec<_> = self.routes.iter().collect();
        let mut paths: Vec<_> = self.paths.iter().collect();
        if routes.is_empty() && paths.is_empty() && self.totals == GraphSnapshot::default() {
            return None;
        }
        routes.sort_by_key(|(_, row)| Reverse((row.failures > 0, row.time_us)));
        paths.sort_by_key(|(_, row)| {
            Reverse(row.asked_total.saturating_add(row.fetched_total).saturating_add(row.values_total))
        });
        Some(GraphSnapshot {
            routes_count: routes.len() as u64,
            paths_count: paths.len() as u64,
            routes: routes.iter().take(SHOWN_MAX).map(|(name, row)| row.snapshot(name)).collect(),
            paths: paths
                .iter()
                .take(SHOWN_MAX)
                .map(|(name, row)| GraphPathSnapshot { path: (*name).to_owned(), ..(*row).clone() })
                .collect(),
            ..self.totals.clone()
        })
    }

    /// Routes with their methods.
    pub fn routes(&self) -> impl Iterator<Item = (&str, &str, &GraphRoute)> {
        self.routes.iter().map(|(name, row)| {
            let (method, route) = parts(name);
            (route, method, row)
        })
    }

    /// Paths by pattern; the rows have no names of their own.
    pub fn paths(&self) -> impl Iterator<Item = (&str, &GraphPathSnapshot)> {
        self.paths.iter()
    }

    /// Pages and requests.
    #[must_use]
    pub fn counts(&self) -> GraphCounts {
        let GraphSnapshot { pages_total, page_requests_total, fetches_total, .. } = self.totals;
        GraphCounts { pages: pages_total, page_requests: page_requests_total, fetches: fetches_total }
    }
}

impl GraphRoute {
    fn snapshot(&self, name: &str) -> GraphRouteSnapshot {
        let (method, route) = parts(name);
        GraphRouteSnapshot {
            route: route.to_owned(),
            method: method.to_owned(),
            calls_total: self.calls,
            paths_total: self.paths,
            time_ms_total: in_ms(self.time_us),
            time_ms_max: in_ms(self.time_us_max),
            failures_total: self.failures,
            denied_total: self.denied,
            unanswered_total: self.unanswered,
            error: self.error.clone(),
        }
    }
}

/// Method and route of a row.
fn parts(name: &str) -> (&str, &str) {
    name.split_once(' ').unwrap_or((OTHER, OTHER))
}

fn cut(text: &str, chars_max: usize) -> &str {
    let text = text.char_indices().nth(chars_max).map_or(text, |(end, _)| &text[..end]);
    if text.is_empty() { OTHER } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::ZERO;

    fn failing(route: &str, failures: u64) -> GraphRouteReport<'_> {
        GraphRouteReport {
            route,
            method: "get",
            calls: failures,
            failures,
            error: Some("TypeError: no"),
            ..GraphRouteReport::default()
        }
    }

    #[test]
    fn reports_of_all_workers_add_up() {
        let mut graphs = Graphs::default();
        assert_eq!(graphs.snapshot(), None);
        for (calls, time_us) in [(2, 3000), (1, 9000)] {
            let route = GraphRouteReport {
                route: "titles[{integers:ids}].name",
                method: "get",
                calls,
                paths: calls * 10,
                time_us,
                time_us_max: 2000,
                unanswered: 1,
                ..GraphRouteReport::default()
            };
            graphs.called(&route, NOW);
            let path = "titles[{integers}].name";
            graphs.used(&GraphPathReport { path, asked: 10, fetched: 2, brought: 5, unread: 1, again: 3 }, NOW);
            graphs.counted(GraphCounts { pages: 1, page_requests: 2, fetches: 1 });
        }
        graphs.called(&failing("bad", 1), NOW);
        let graph = graphs.snapshot().unwrap();
        assert_eq!((graph.pages_total, graph.page_requests_total, graph.fetches_total), (2, 4, 2));
        assert_eq!((graph.asked_total, graph.fetched_total, graph.values_total), (20, 4, 10));
        assert_eq!((graph.unread_total, graph.again_total), (2, 6));
        let [bad, titles] = graph.routes.as_slice() else { panic!("{graph:?}") };
        assert_eq!((titles.route.as_str(), titles.method.as_str()), ("titles[{integers:ids}].name", "get"));
        assert_eq!((titles.calls_total, titles.paths_total, titles.unanswered_total), (3, 30, 2));
        assert!((titles.time_ms_total - 12.0).abs() < 1e-9 && (titles.time_ms_max - 2.0).abs() < 1e-9);
        assert_eq!((bad.failures_total, bad.error.as_deref()), (1, Some("TypeError: no")));
    }

    #[test]
    fn a_failure_is_seen_however_many_routes_take_longer() {
        let mut graphs = Graphs::default();
        graphs.called(&failing("bad", 3), NOW);
        for number in 0..2 * SHOWN_MAX {
            let name = format!("slow{number}");
            let report = GraphRouteReport { route: &name, method: "get", calls: 1, time_us: 900, ..Default::default() };
            graphs.called(&report, NOW);
        }
        graphs.called(&GraphRouteReport { route: OTHER, method: OTHER, calls: 7, ..Default::default() }, NOW);
        let graph = graphs.snapshot().unwrap();
        assert_eq!((graph.calls_total, graph.failures_total), (110, 3));
        assert_eq!((graph.routes[0].route.as_str(), graph.routes.len()), ("bad", SHOWN_MAX));
        assert!(graphs.routes().any(|(route, method, row)| (route, method, row.calls) == (OTHER, OTHER, 7)));
    }

    #[test]
    fn failures_are_noted_once_a_minute_with_their_number() {
        let (mut graphs, at) = (Graphs::default(), Duration::from_secs);
        graphs.called(&failing("bad", 2), at(0));
        let expected = |count| GraphFailures {
            route: "bad".to_owned(),
            method: "get".to_owned(),
            count,
            error: "TypeError: no".to_owned(),
        };
        assert_eq!(graphs.take_failures(at(0)), [expected(2)]);
        graphs.called(&failing("bad", 5), at(1));
        graphs.called(&failing("bad", 1), at(30));
        assert_eq!(graphs.take_failures(at(59)), []);
        assert_eq!(graphs.take_failures(at(60)), [expected(6)]);
        assert_eq!(graphs.take_failures(at(600)), []);
        for number in 0..10 {
            graphs.called(&failing(&format!("bad{number}"), 1), at(600));
        }
        assert_eq!(graphs.take_failures(at(600)).len(), NOTES_MAX, "the others come later");
    }

    #[test]
    fn i6_reports_of_a_worker_are_bounded() {
        let mut graphs = Graphs::default();
        for number in 0..10_000 {
            let name = format!("r{number} {}", "é".repeat(5000));
            let method = if number % 2 == 0 { "get" } else { "\u{1b}[2J" };
            let error = "x".repeat(100_000);
            let route = GraphRouteReport {
                route: &name,
                method,
                calls: u64::MAX,
                time_us: u64::MAX,
                time_us_max: u64::MAX,
                failures: u64::MAX,
                error: Some(&error),
                ..GraphRouteReport::default()
            };
            graphs.called(&route, NOW);
            graphs.used(&GraphPathReport { path: &name, asked: u64::MAX, again: u64::MAX, ..Default::default() }, NOW);
            graphs.counted(GraphCounts { pages: u64::MAX, ..GraphCounts::default() });
        }
        graphs.called(&GraphRouteReport::default(), NOW);
        let labels: std::collections::BTreeSet<_> = graphs.routes().map(|(route, method, _)| (route, method)).collect();
        assert_eq!(labels.len(), graphs.routes().count(), "no series stands twice");
        assert_eq!((graphs.routes().count(), graphs.paths().count()), (ROUTES_MAX + 1, PATHS_MAX + 1));
        assert!(graphs.routes().all(|(route, ..)| route.chars().count() <= NAME_CHARS_MAX));
        assert!(graphs.routes().all(|(_, method, _)| ["get", OTHER].contains(&method)));
        let graph = graphs.snapshot().unwrap();
        assert_eq!((graph.routes.len(), graph.paths.len()), (SHOWN_MAX, SHOWN_MAX));
        assert_eq!((graph.routes_count, graph.asked_total), (501, u64::MAX));
        assert!(graph.routes.iter().all(|row| row.error.as_ref().is_some_and(|error| error.len() <= ERROR_CHARS_MAX)));
    }
}
