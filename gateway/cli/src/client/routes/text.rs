//! Output of `sluice routes` for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{LookUp, Report, Route, Table};
use crate::client::profile::text::{relative, short};
use crate::client::status::{aligned, harmless};

pub const NO_ROUTER: &str = "the app uses none of the routers that Sluice reads: Express 4 and 5, Fastify, Koa \
                             (@koa/router, koa-router) and Hono. Sluice reads Fastify's routes when the app starts, and \
                             other routers when the app loads them or through the listeners of its servers.";
/// Places of one group that are named.
const PLACES_SHOWN: usize = 3;

pub fn of(report: &Report, rows_max: usize) -> String {
    let mut out = String::new();
    for worker in &report.workers {
        for table in &worker.found.tables {
            if !out.is_empty() {
                out.push('\n');
            }
            // Writing to a String cannot fail.
            let _ = writeln!(out, "worker {}, {}", worker.worker, head(table));
            write_growth(&mut out, table);
            write_repeats(&mut out, table, rows_max);
            write_behind(&mut out, table, rows_max);
            write_entries(&mut out, table, rows_max);
        }
        if worker.found.left_off > 0 {
            let _ = writeln!(
                out,
                "worker {}: there was no room for {} more entries or routers.",
                worker.worker, worker.found.left_off
            );
        }
    }
    for error in &report.errors {
        let _ = writeln!(out, "{}", harmless(error));
    }
    out
}

fn head(table: &Table) -> String {
    let Table { framework, look_up, entries, tests_max, look_up_us_max, .. } = table;
    let how = match look_up {
        LookUp::Linear => "tried in order until one matches",
        LookUp::All => "all tried for each request",
        LookUp::Tree => "searched as a tree, so their number costs no time",
    };
    let cost = match (tests_max, look_up_us_max) {
        (Some(tests), Some(us)) => format!("; a path without a route costs {tests} tests, {us:.1} µs"),
        _ => String::new(),
    };
    format!("{}: {entries} entries, {how}{cost}", harmless(framework))
}

fn write_growth(out: &mut String, table: &Table) {
    if table.added == 0 {
        return;
    }
    let added: Vec<&Route> = table.routes.iter().filter(|route| route.added).collect();
    let _ = writeln!(out, "{} were added while it served: {}", table.added, counted(&added));
}

/// Places with how many of these come from them, most first.
fn counted(routes: &[&Route]) -> String {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for route in routes {
        *places.entry(place(route)).or_default() += 1;
    }
    let mut places: Vec<_> = places.into_iter().collect();
    places.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let more = places.len().saturating_sub(PLACES_SHOWN);
    let shown: Vec<String> =
        places.iter().take(PLACES_SHOWN).map(|(place, count)| format!("{place} ({count})")).collect();
    let rest = if more > 0 { format!(" and {more} other places") } else { String::new() };
    format!("{}{rest}", shown.join(", "))
}

fn write_repeats(out: &mut String, table: &Table, rows_max: usize) {
    let mut groups: BTreeMap<u64, Vec<&Route>> = BTreeMap::new();
    for route in &table.routes {
        if let Some(first) = route.repeats {
            groups.entry(first).or_default().push(route);
        }
    }
    if groups.is_empty() {
        return;
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(first, again)| (std::cmp::Reverse(again.len()), *first));
    let mut rows = vec![["DUPLICATE", "FIRST AT", "AGAIN", "AT"].map(str::to_owned)];
    rows.extend(groups.iter().take(rows_max).filter_map(|(first, again)| {
        let first = entry(table, *first)?;
        Some([name(first), place(first), again.len().to_string(), counted(again)])
    }));
    section(out, &rows, groups.len(), rows_max);
}

fn write_behind(out: &mut String, table: &Table, rows_max: usize) {
    // A duplicate was told.
    let behind: Vec<&Route> = table.routes.iter().filter(|route| route.repeats.is_none()).collect();
    let pairs: Vec<_> = behind.iter().filter_map(|route| Some((*route, entry(table, route.behind?)?))).collect();
    if pairs.is_empty() {
        return;
    }
    let mut rows = vec![["REACHED", "ROUTE", "AT", "BEHIND", "AT"].map(str::to_owned)];
    rows.extend(pairs.iter().take(rows_max).map(|(route, first)| {
        let reached = if route.certain == Some(true) { "never" } else { "if passed on" };
        [reached.to_owned(), name(route), place(route), name(first), place(first)]
    }));
    section(out, &rows, pairs.len(), rows_max);
}

fn write_entries(out: &mut String, table: &Table, rows_max: usize) {
    let mut rows = vec![["POSITION", "ENTRY", "HANDLER", "TESTS", "LOOK-UP", "REGISTERED AT"].map(str::to_owned)];
    rows.extend(table.routes.iter().take(rows_max).map(|route| {
        [
            route.position.to_string(),
            name(route),
            short(&route.handler),
            route.tests.map_or_else(|| "-".to_owned(), |tests| tests.to_string()),
            route.look_up_us.map_or_else(|| "-".to_owned(), |us| format!("{us:.1} µs")),
            place(route),
        ]
    }));
    section(out, &rows, table.routes.len(), rows_max);
    if table.left_off > 0 {
        let _ = writeln!(out, "{} more entries are not listed.", table.left_off);
    }
    if table.not_judged > 0 {
        let _ = writeln!(
            out,
            "{} routes were not checked: no sample path could be derived, or there were too many.",
            table.not_judged
        );
    }
}

fn section<const N: usize>(out: &mut String, rows: &[[String; N]], count: usize, rows_max: usize) {
    out.push('\n');
    out.push_str(&aligned(rows));
    if count > rows_max {
        let _ = writeln!(out, "… and {} more (--limit)", count - rows_max);
    }
}

fn entry(table: &Table, position: u64) -> Option<&Route> {
    let at = usize::try_from(position.checked_sub(1)?).ok()?;
    table.routes.get(at)
}

fn name(route: &Route) -> String {
    let methods = match &*route.kind {
        "route" if route.methods.is_empty() => "ALL".to_owned(),
        "route" => route.methods.join(","),
        "mount" => "router".to_owned(),
        kind => kind.to_owned(),
    };
    harmless(&format!("{methods} {}", route.path))
}

fn place(route: &Route) -> String {
    match (&route.file, route.line) {
        (Some(file), Some(line)) => {
            let of = if route.of_handler { " (handler)" } else { "" };
            format!("{}:{line}{of}", harmless(&relative(file)))
        }
        _ => "(unknown)".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(position: u64, path: &str, line: u32) -> Route {
        Route {
            position,
            kind: "route".to_owned(),
            methods: vec!["GET".to_owned()],
            path: path.to_owned(),
            file: Some("/srv/app.js".to_owned()),
            line: Some(line),
            tests: Some(position),
            look_up_us: Some(0.25),
            ..Route::default()
        }
    }

    fn table(routes: Vec<Route>) -> Table {
        let entries = routes.len() as u64;
        Table {
            framework: "express".to_owned(),
            entries,
            routes,
            tests_max: Some(5),
            look_up_us_max: Some(1.0),
            ..Table::default()
        }
    }

    fn told(table: Table) -> String {
        let found = super::super::RouterTables { tables: vec![table], left_off: 0 };
        of(
            &Report {
                workers: vec![super::super::WorkerReport { worker: 7, found }],
                errors: vec!["worker 8: no".to_owned()],
            },
            50,
        )
    }

    #[test]
    fn duplicates_are_told_with_the_code_that_adds_them() {
        let again = |position| Route { repeats: Some(1), added: true, behind: Some(1), ..route(position, "/x", 9) };
        let text = told(Table { added: 2, ..table(vec![route(1, "/x", 3), again(2), again(3)]) });
        assert!(text.starts_with("worker 7, express: 3 entries, tried in order until one matches; a path without a route costs 5 tests, 1.0 µs\n"), "{text}");
        assert!(text.contains("2 were added while it served: /srv/app.js:9 (2)\n"), "{text}");
        assert!(text.contains("GET /x     /srv/app.js:3  2      /srv/app.js:9 (2)"), "{text}");
        assert!(!text.contains("REACHED"), "a duplicate is told once: {text}");
        assert!(text.ends_with("worker 8: no\n"), "{text}");
    }

    #[test]
    fn a_route_behind_another_is_told_with_both_places() {
        let never = Route { behind: Some(1), certain: Some(true), ..route(2, "/users/me", 4) };
        let perhaps = Route { behind: Some(1), certain: Some(false), ..route(3, "/users/\u{1b}you", 5) };
        let text = told(Table { not_judged: 1, ..table(vec![route(1, "/users/:id", 3), never, perhaps]) });
        assert!(text.contains("never         GET /users/me    /srv/app.js:4  GET /users/:id  /srv/app.js:3"), "{text}");
        assert!(text.contains("if passed on  GET /users/?you"), "{text}");
        assert!(text.contains("1 routes were not checked"), "{text}");
    }

    #[test]
    fn lists_end_at_the_limit_and_say_so() {
        let report = Report {
            workers: vec![super::super::WorkerReport {
                worker: 1,
                found: super::super::RouterTables {
                    tables: vec![table((1..=9).map(|at| route(at, "/a", 1)).collect())],
                    left_off: 2,
                },
            }],
            errors: Vec::new(),
        };
        let text = of(&report, 4);
        assert!(text.contains("… and 5 more (--limit)"), "{text}");
        assert!(text.contains("no room for 2 more"), "{text}");
    }
}
