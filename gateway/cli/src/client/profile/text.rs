//! Output of `sluice profile`.

use std::env;
use std::fmt::Write as _;
use std::path::Path;

use super::components::{ComponentCpu, OUTSIDE};
use super::hot::FunctionCost;
use super::{Report, milliseconds as in_ms};
use crate::client::status::{aligned, duration, harmless, milliseconds};

/// Maximum shown length of a name, characters.
const NAME_CHARS_MAX: usize = 60;
/// Maximum number of shown rows. The page and `--json` have more.
const ROWS_MAX: usize = 40;
/// Maximum number of shown functions. The page and `--json` have more.
const PLACES_MAX: usize = 20;

/// Title of the report.
pub fn title(report: &Report) -> String {
    if let Some(subject) = &report.subject {
        return subject.clone();
    }
    let numbers: Vec<String> = report.workers.iter().map(u64::to_string).collect();
    let workers = format!("worker{} {}", if numbers.len() == 1 { "" } else { "s" }, numbers.join(", "));
    match &report.route {
        Some(route) => format!("{route}, {workers}"),
        None => workers,
    }
}

/// Facts about the whole profile.
pub fn facts(report: &Report) -> Vec<(String, String)> {
    let mut facts = vec![
        ("Duration", duration(report.duration_ms / 1000.0)),
        (if report.cpu_ms.is_some() { "CPU time" } else { "Wall-clock time" }, milliseconds(Some(report.whole_ms()))),
        ("Garbage collection", milliseconds(Some(report.collector_ms))),
        ("Samples", report.samples.to_string()),
    ];
    if let Some(requests) = report.requests {
        facts.push(("Requests", requests.to_string()));
    }
    if report.renders > 0 {
        facts.push(("Renders by @sluice/react", report.renders.to_string()));
    }
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

pub fn of(report: &Report) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "{}, {}: {} of {} in {} samples{}",
        harmless(&title(report)),
        duration(report.duration_ms / 1000.0),
        milliseconds(Some(report.whole_ms())),
        clock(report),
        report.samples,
        if report.renders > 0 { format!(", {} renders by @sluice/react", report.renders) } else { String::new() },
    );
    if let Some(requests) = report.requests {
        let _ = writeln!(out, "only samples of these {requests} requests");
    }
    for error in &report.errors {
        let _ = writeln!(out, "omitted: {}", harmless(error));
    }
    let _ = writeln!(out, "flame graph: {}\nprofile: {}\n", harmless(&report.html), harmless(&report.file));
    if report.components.is_empty() && report.places.is_empty() {
        out.push_str(match report.requests {
            Some(0) => "No request of that class ran in that time; --all profiles every worker.\n",
            Some(_) => "No sample belongs to these requests; profile for longer.\n",
            None => "The main thread was idle in that time.\n",
        });
        return out;
    }
    if !report.places.is_empty() {
        out.push_str(&places(&report.places, report.whole_ms()));
        out.push('\n');
    }
    let is_component = |cpu: &&ComponentCpu| !cpu.component.starts_with('(');
    if !report.places.is_empty() && report.renders == 0 && !report.components.iter().any(|cpu| is_component(&cpu)) {
        out.push_str(&elsewhere(report));
        return out;
    }
    let mut rows = vec![["COMPONENT", "SELF", "TOTAL", "SELF", "SELF/RENDER", "TOTAL/RENDER"].map(str::to_owned)];
    rows.extend(report.components.iter().take(ROWS_MAX).map(|component| row(component, report)));
    out.push_str(&aligned(&rows));
    if report.components.len() > ROWS_MAX {
        let _ = writeln!(out, "… and {} more (--json)", report.components.len() - ROWS_MAX);
    }
    out
}

/// Clock of the times, with the wall-clock time beside the CPU time if it is more.
fn clock(report: &Report) -> String {
    match report.cpu_ms {
        None => "wall-clock time".to_owned(),
        Some(cpu_ms) if report.busy_ms > cpu_ms * 1.01 => {
            format!("CPU time (busy for {} of wall-clock time)", milliseconds(Some(report.busy_ms)))
        }
        Some(_) => "CPU time".to_owned(),
    }
}

/// Description of time outside of any function of an app without components.
fn elsewhere(report: &Report) -> String {
    let others = report.components.iter().filter(|cpu| cpu.component != OUTSIDE);
    let mut rows = vec![["ELSEWHERE", "SELF", "SELF"].map(str::to_owned)];
    rows.extend(others.map(|cpu| {
        let share = if report.whole_ms() > 0.0 { cpu.self_ms / report.whole_ms() * 100.0 } else { 0.0 };
        [short(&cpu.component), milliseconds(Some(cpu.self_ms)), format!("{share:.1} %")]
    }));
    if rows.len() > 1 { aligned(&rows) } else { String::new() }
}

fn places(places: &[FunctionCost], whole_ms: f64) -> String {
    let share = |us: u64| if whole_ms > 0.0 { in_ms(us) / whole_ms * 100.0 } else { 0.0 };
    let mut rows = vec![["FUNCTION", "SELF", "SELF", "GC AFTER", "PACKAGE", "PLACE"].map(str::to_owned)];
    rows.extend(places.iter().take(PLACES_MAX).map(|place| {
        [
            short(&place.function),
            milliseconds(Some(in_ms(place.own))),
            format!("{:.1} %", share(place.own)),
            milliseconds(Some(in_ms(place.collected))),
            short(&place.package),
            match place.line {
                0 => harmless(&relative(&place.file)),
                line => format!("{}:{line}", harmless(&relative(&place.file))),
            },
        ]
    }));
    aligned(&rows)
}

#[allow(clippy::cast_precision_loss, reason = "renders of a minute are far below 2^52")]
fn row(component: &ComponentCpu, report: &Report) -> [String; 6] {
    let per_render = |ms: f64| (report.renders > 0).then(|| ms / report.renders as f64);
    let share = if report.whole_ms() > 0.0 { component.self_ms / report.whole_ms() } else { 0.0 };
    [
        short(&component.component),
        milliseconds(Some(component.self_ms)),
        milliseconds(Some(component.total_ms)),
        format!("{:.1} %", share * 100.0),
        milliseconds(per_render(component.self_ms)),
        milliseconds(per_render(component.total_ms)),
    ]
}

pub fn short(name: &str) -> String {
    harmless(name).chars().take(NAME_CHARS_MAX).collect()
}

/// Path as seen from here, if it is inside.
pub fn relative(file: &str) -> String {
    let here = env::current_dir().ok();
    let inside = here.and_then(|here| Path::new(file).strip_prefix(here).ok().map(|path| path.display().to_string()));
    inside.unwrap_or_else(|| file.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let cpu =
            |component: &str, self_ms, total_ms| ComponentCpu { component: component.to_owned(), self_ms, total_ms };
        Report {
            worker: 3,
            workers: vec![3],
            duration_ms: 5000.0,
            renders: 100,
            samples: 9000,
            cpu_ms: Some(4000.0),
            components: vec![cpu("Card\u{1b}", 1000.0, 1500.0), cpu("(garbage collector)", 200.0, 200.0)],
            places: vec![FunctionCost {
                function: "check".to_owned(),
                file: "/srv/app.js".to_owned(),
                line: 7,
                package: "app".to_owned(),
                own: 2_000_000,
                collected: 100_000,
            }],
            file: "/run/shop/profiles/profile-1.cpuprofile".to_owned(),
            ..Report::default()
        }
    }

    #[test]
    fn a_look_that_saw_nothing_says_of_what() {
        for (requests, said) in
            [(None, "main thread was idle"), (Some(0), "--all profiles every worker"), (Some(3), "profile for longer")]
        {
            let report = Report { requests, components: Vec::new(), places: Vec::new(), ..report() };
            assert!(of(&report).contains(said), "{requests:?}");
        }
    }

    fn line<'t>(text: &'t str, start: &str) -> Vec<&'t str> {
        text.lines().find(|line| line.starts_with(start)).unwrap_or_default().split_whitespace().collect()
    }

    #[test]
    fn the_table_says_what_each_component_took_of_a_render() {
        let mut report = report();
        let text = of(&report);
        assert!(
            text.starts_with("worker 3, 5.0 s: 4.00 s of CPU time in 9000 samples, 100 renders by @sluice/react\n"),
            "{text}"
        );
        assert_eq!(line(&text, "Card").join(" "), "Card? 1.00 s 1.50 s 25.0 % 10 ms 15 ms");
        assert_eq!(line(&text, "check").join(" "), "check 2.00 s 50.0 % 100 ms app /srv/app.js:7");
        report.renders = 0;
        assert_eq!(line(&of(&report), "Card").last(), Some(&"-"));
        report.components.clear();
        report.places.clear();
        assert!(of(&report).contains("was idle"));
    }

    #[test]
    fn an_app_without_components_gets_its_functions_and_no_table_of_components() {
        let cpu =
            |component: &str, self_ms| ComponentCpu { component: component.to_owned(), self_ms, total_ms: self_ms };
        let components = vec![cpu(OUTSIDE, 3800.0), cpu("(garbage collector)", 200.0)];
        let text = of(&Report { renders: 0, components, ..report() });
        assert!(text.starts_with("worker 3, 5.0 s: 4.00 s of CPU time in 9000 samples\n"), "{text}");
        assert_eq!(line(&text, "check").join(" "), "check 2.00 s 50.0 % 100 ms app /srv/app.js:7");
        assert_eq!(line(&text, "(garbage").join(" "), "(garbage collector) 200 ms 5.0 %");
        assert!(!text.contains("COMPONENT") && !text.contains(OUTSIDE), "{text}");
        // Where no function is known either, what there is is all that can be said.
        let bare = of(&Report { renders: 0, places: Vec::new(), components: vec![cpu(OUTSIDE, 1.0)], ..report() });
        assert!(bare.contains(OUTSIDE), "{bare}");
    }

    #[test]
    fn first_line_has_both_clocks_where_they_differ() {
        for (busy_ms, said) in
            [(4000.0, "4.00 s of CPU time in "), (4900.0, "CPU time (busy for 4.90 s of wall-clock time) in ")]
        {
            let text = of(&Report { busy_ms, ..report() });
            assert!(text.lines().next().is_some_and(|first| first.contains(said)), "{text}");
        }
    }

    #[test]
    fn times_of_a_file_are_wall_clock_time() {
        let report = Report { cpu_ms: None, busy_ms: 4000.0, subject: Some("a.cpuprofile".to_owned()), ..report() };
        let text = of(&report);
        assert!(text.starts_with("a.cpuprofile, 5.0 s: 4.00 s of wall-clock time in 9000 samples"), "{text}");
        assert_eq!(line(&text, "check").join(" "), "check 2.00 s 50.0 % 100 ms app /srv/app.js:7");
        let facts = facts(&report);
        assert!(facts.contains(&("Wall-clock time".to_owned(), "4.00 s".to_owned())), "{facts:?}");
        assert!(facts.iter().all(|(name, _)| name != "CPU time"), "{facts:?}");
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!((&json["cpu_ms"], &json["busy_ms"]), (&serde_json::Value::Null, &serde_json::json!(4000.0)));
    }

    #[test]
    fn what_was_looked_at_is_said_first() {
        let report = Report { workers: vec![1, 2], route: Some("/cart".to_owned()), ..report() };
        assert!(of(&report).starts_with("/cart, workers 1, 2, 5.0 s"));
    }
}
