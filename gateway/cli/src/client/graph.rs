//! `sluice graph`, and the part of `sluice status` on graphs of data.

use std::fmt::Write;
use std::process::ExitCode;

use sluice_catalog::snapshot::{GraphPathSnapshot, GraphRouteSnapshot, GraphSnapshot};

use super::connect::{ClientError, Gateway};
use super::status::{aligned, harmless, milliseconds};
use crate::args::GraphArgs;
use crate::output;

/// Maximum shown length of a route, pattern or error, characters.
const NAME_CHARS_MAX: usize = 60;

pub fn run(args: &GraphArgs) -> Result<ExitCode, ClientError> {
    let mut gateway = Gateway::connect(&args.run_dir)?;
    let graph = gateway.status()?.graph.unwrap_or_default();
    if args.json { gateway.print_json(&graph) } else { Ok(output::print(&text(&graph))) }
}

/// Nothing where no worker uses a graph.
pub fn write_graph(out: &mut String, graph: Option<&GraphSnapshot>) -> std::fmt::Result {
    let Some(graph) = graph else { return Ok(()) };
    let mut parts = vec![format!("{} calls of routes", graph.calls_total)];
    for (count, what) in [
        (graph.failures_total, "failed"),
        (graph.denied_total, "denied"),
        (graph.unanswered_total, "paths without a value"),
    ] {
        parts.extend((count > 0).then(|| format!("{count} {what}")));
    }
    writeln!(out, "graph         {}  (`sluice graph`)", parts.join(", "))?;
    writeln!(out, "              {}", uses_text(graph))
}

fn uses_text(graph: &GraphSnapshot) -> String {
    let GraphSnapshot { pages_total, page_requests_total, asked_total, fetches_total, .. } = *graph;
    let mut parts = Vec::new();
    if pages_total > 0 {
        parts.push(format!(
            "{pages_total} pages with {} requests each, {} paths a request",
            ratio(page_requests_total, pages_total),
            ratio(asked_total, page_requests_total)
        ));
        parts.push(format!(
            "{} of {} values never read, {} sent twice",
            graph.unread_total, graph.values_total, graph.again_total
        ));
    }
    parts.push(format!("{fetches_total} requests of clients"));
    parts.join("; ")
}

/// Mean with one decimal; `-` of nothing.
#[allow(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn ratio(sum: u64, of: u64) -> String {
    if of == 0 { "-".to_owned() } else { format!("{:.1}", sum as f64 / of as f64) }
}

fn text(graph: &GraphSnapshot) -> String {
    if *graph == GraphSnapshot::default() {
        return "No worker has used @sluice/graph yet.\n".to_owned();
    }
    let mut out = uses_text(graph) + "\n";
    if !graph.routes.is_empty() {
        let head = ["ROUTE", "METHOD", "CALLS", "PATHS EACH", "TIME EACH", "MAX", "FAILED", "DENIED", "NO VALUE"];
        let mut rows = vec![head.map(str::to_owned)];
        rows.extend(graph.routes.iter().map(route_row));
        out.push('\n');
        out.push_str(&aligned(&rows));
        let more = graph.routes_count.saturating_sub(graph.routes.len() as u64);
        if more > 0 {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "and {more} further routes  (metrics)");
        }
        for row in &graph.routes {
            if let Some(error) = &row.error {
                let error: String = harmless(error).chars().take(2 * NAME_CHARS_MAX).collect();
                let _ = writeln!(out, "latest failure of {} {}: {error}", harmless(&row.method), name(&row.route));
            }
        }
    }
    if !graph.paths.is_empty() {
        let head = ["PATH", "ASKED BY PAGES", "BY CLIENTS", "VALUES IN PAGES", "NEVER READ", "SENT TWICE"];
        let mut rows = vec![head.map(str::to_owned)];
        rows.extend(graph.paths.iter().map(path_row));
        out.push('\n');
        out.push_str(&aligned(&rows));
        let more = graph.paths_count.saturating_sub(graph.paths.len() as u64);
        if more > 0 {
            let _ = writeln!(out, "and {more} further patterns  (metrics)");
        }
    }
    out
}

fn name(text: &str) -> String {
    harmless(text).chars().take(NAME_CHARS_MAX).collect()
}

#[allow(clippy::cast_precision_loss, reason = "shown with few digits")]
fn route_row(row: &GraphRouteSnapshot) -> [String; 9] {
    let each = (row.calls_total > 0).then(|| row.time_ms_total / row.calls_total as f64);
    [
        name(&row.route),
        name(&row.method),
        row.calls_total.to_string(),
        ratio(row.paths_total, row.calls_total),
        milliseconds(each),
        milliseconds(each.map(|_| row.time_ms_max)),
        row.failures_total.to_string(),
        row.denied_total.to_string(),
        row.unanswered_total.to_string(),
    ]
}

fn path_row(row: &GraphPathSnapshot) -> [String; 6] {
    let counts = [row.asked_total, row.fetched_total, row.values_total, row.unread_total, row.again_total];
    let [asked, fetched, values, unread, again] = counts.map(|count| count.to_string());
    [name(&row.path), asked, fetched, values, unread, again]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph() -> GraphSnapshot {
        let titles = GraphRouteSnapshot {
            route: "titles[{integers:ids}].name".to_owned(),
            method: "get".to_owned(),
            calls_total: 4,
            paths_total: 18,
            time_ms_total: 10.0,
            time_ms_max: 7.0,
            unanswered_total: 2,
            ..GraphRouteSnapshot::default()
        };
        let bad = GraphRouteSnapshot {
            route: "bad\u{1b}[2J".to_owned(),
            method: "call".to_owned(),
            calls_total: 1,
            failures_total: 1,
            error: Some("TypeError: \u{1b}[2J no".to_owned()),
            ..GraphRouteSnapshot::default()
        };
        let path = GraphPathSnapshot {
            path: "titles[{integers}].name".to_owned(),
            asked_total: 18,
            fetched_total: 3,
            values_total: 17,
            unread_total: 5,
            again_total: 1,
        };
        GraphSnapshot {
            pages_total: 2,
            page_requests_total: 3,
            fetches_total: 6,
            asked_total: 18,
            fetched_total: 3,
            values_total: 17,
            unread_total: 5,
            again_total: 1,
            calls_total: 5,
            failures_total: 1,
            unanswered_total: 2,
            denied_total: 0,
            routes: vec![titles, bad],
            routes_count: 2,
            paths: vec![path],
            paths_count: 3,
        }
    }

    #[test]
    fn status_says_it_in_two_lines_and_nothing_where_there_is_no_graph() {
        let mut out = String::new();
        write_graph(&mut out, None).unwrap();
        assert_eq!(out, "");
        write_graph(&mut out, Some(&graph())).unwrap();
        assert_eq!(
            out,
            "graph         5 calls of routes, 1 failed, 2 paths without a value  (`sluice graph`)\n              \
             2 pages with 1.5 requests each, 6.0 paths a request; 5 of 17 values never read, 1 sent twice; 6 requests of clients\n"
        );
    }

    #[test]
    fn tables_say_everything_and_names_of_an_app_move_no_cursor() {
        let text = text(&graph());
        assert!(!text.contains('\u{1b}'), "{text}");
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        let titles = ["titles[{integers:ids}].name", "get", "4", "4.5", "2.50", "ms", "7.00", "ms", "0", "0", "2"];
        assert!(lines.iter().any(|line| line == &titles), "{text}");
        let path = ["titles[{integers}].name", "18", "3", "17", "5", "1"];
        assert!(lines.iter().any(|line| line == &path), "{text}");
        assert!(text.contains("latest failure of call bad") && text.contains("and 2 further patterns"), "{text}");
        assert!(super::text(&GraphSnapshot::default()).contains("No worker"));
    }
}
