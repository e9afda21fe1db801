#![allow(clippy::float_cmp, reason = "whole microseconds have one quotient each")]

use super::*;
use crate::testing::{Call, cpuprofile, profile};

const APP: &str = "file:///srv/app.js";

fn options() -> Options {
    Options { threshold_us: 10_000, folds: true, directory: "/srv".to_owned() }
}

/// Calls by name, all of the app and of a line of their own, each with the index of its caller.
fn app(calls: &[(&'static str, &'static [usize])]) -> Vec<Call> {
    let place = |name: &str| if name.starts_with('(') { ("", 0) } else { (APP, 1) };
    let with_line = |(at, (name, callers)): (usize, &(&'static str, &'static [usize]))| {
        let (url, line) = place(name);
        Call::new(name, url, line * (i64::try_from(at).unwrap() + 1), callers)
    };
    calls.iter().enumerate().map(with_line).collect()
}

fn report(calls: &[Call], samples: &[(usize, i64)]) -> Hotspots {
    Hotspots::of(&profile(calls, samples), &options())
}

fn line<'r>(report: &'r Hotspots, name: &str) -> &'r HotLine {
    let named = |line: &&HotLine| line.place.function == name || line.place.owner == name;
    report.lines.iter().find(named).unwrap_or_else(|| panic!("no {name} in {:?}", report.lines))
}

/// Worst run, runs, those over the threshold, total and self, in milliseconds.
#[track_caller]
fn check(report: &Hotspots, name: &str, expected: (f64, u64, u64, f64, f64)) {
    let line = line(report, name);
    assert_eq!((line.worst_ms, line.runs, line.runs_over, line.total_ms, line.self_ms), expected, "{name}");
}

#[test]
fn a_run_is_the_time_that_a_line_is_on_the_stack_without_a_break() {
    let calls = app(&[("handle", &[]), ("match", &[0]), ("render", &[0]), ("(idle)", &[])]);
    let samples =
        [(0, 1000), (1, 8000), (1, 5000), (2, 2000), (1, 11_000), (3, 500_000), (0, 500), (1, 2000), (3, 100)];
    let report = report(&calls, &samples);
    check(&report, "handle", (27.0, 2, 1, 29.5, 1.5));
    check(&report, "match", (13.0, 3, 2, 26.0, 26.0));
    check(&report, "render", (2.0, 1, 0, 2.0, 2.0));
    // The longest run first, as numbers and not as text.
    let names: Vec<_> = report.lines.iter().map(|line| line.place.function.as_str()).collect();
    assert_eq!(names, ["handle", "match", "render"]);
    assert_eq!((report.busy_ms, report.duration_ms), (29.5, 529.6));
    let matched = line(&report, "match");
    assert_eq!((matched.worst_at_ms, matched.worst_in.as_str(), matched.stacks), (1.0, "test", 1));
    assert_eq!((matched.place.file.as_str(), matched.place.line), ("app.js", 2));
}

#[test]
fn a_culprit_stands_above_the_callers_that_share_its_run() {
    let calls = app(&[("next", &[]), ("handler", &[0]), ("discount", &[1]), ("(idle)", &[]), ("other", &[])]);
    let samples = [(0, 100), (1, 200), (2, 99_700), (3, 10), (4, 94_000), (3, 10)];
    let report = report(&calls, &samples);
    let names: Vec<_> = report.lines.iter().map(|line| line.place.function.as_str()).collect();
    assert_eq!(names, ["discount", "handler", "next", "other"], "a run of 94 ms is not that of 100 ms");
}

#[test]
fn a_run_of_exactly_the_threshold_is_not_over_it() {
    let report = report(&app(&[("f", &[]), ("(idle)", &[])]), &[(0, 10_000), (1, 5), (0, 10_001), (1, 5)]);
    check(&report, "f", (10.001, 2, 1, 20.001, 20.001));
}

#[test]
fn recursion_counts_a_line_once() {
    // f calls itself, and itself by way of g.
    let calls = [
        Call::new("f", APP, 1, &[]),
        Call::new("f", APP, 1, &[0]),
        Call::new("g", APP, 2, &[1]),
        Call::new("f", APP, 1, &[2]),
    ];
    let report = report(&calls, &[(0, 1000), (1, 1000), (3, 4000), (2, 1000), (0, 1000)]);
    check(&report, "f", (8.0, 1, 0, 8.0, 7.0));
    check(&report, "g", (5.0, 1, 0, 5.0, 1.0));
    assert_eq!((line(&report, "f").stacks, line(&report, "g").stacks), (1, 1));
}

#[test]
fn another_callback_and_native_code_between_callbacks_end_a_run() {
    // The same function below two entries, then twice below one with native code of Node.js between.
    let calls = app(&[("onRequest", &[]), ("work", &[0]), ("onTimeout", &[]), ("work2", &[2]), ("(program)", &[])]);
    let calls: Vec<Call> = calls
        .into_iter()
        .enumerate()
        .map(|(at, call)| if at == 3 { Call::new("work", APP, 2, &[2]) } else { call })
        .collect();
    let report = report(&calls, &[(1, 6000), (3, 7000), (4, 100), (3, 3000), (4, 50)]);
    check(&report, "work", (7.0, 3, 0, 16.0, 16.0));
    assert_eq!(line(&report, "work").stacks, 2);
    check(&report, "(program)", (0.1, 2, 0, 0.15, 0.15));
    assert_eq!((report.program_ms, report.busy_ms), (0.15, 16.15));
}

#[test]
fn the_collector_interrupts_a_run_and_does_not_end_it() {
    let gc = "(garbage collector)";
    let calls = app(&[("handle", &[]), ("build", &[0]), (gc, &[]), ("(idle)", &[])]);
    // Within build, within handle after build, and at the end of all.
    let report =
        report(&calls, &[(1, 4000), (2, 3000), (1, 4000), (2, 1000), (0, 2000), (2, 5000), (3, 9000), (2, 700)]);
    check(&report, "build", (11.0, 1, 1, 11.0, 8.0));
    check(&report, "handle", (14.0, 1, 1, 14.0, 2.0));
    check(&report, gc, (5.0, 4, 0, 9.7, 9.7));
    let collected: Vec<_> = ["handle", "build", gc].map(|name| line(&report, name).gc_ms).into();
    assert_eq!(collected, [4.0, 3.0, 9.7]);
    assert_eq!(report.gc_ms, 9.7);
}

#[test]
fn a_profile_may_have_no_node_of_the_collector_or_several() {
    let gc = "(garbage collector)";
    let none = report(&app(&[("f", &[]), ("(idle)", &[])]), &[(0, 2000), (1, 1)]);
    check(&none, "f", (2.0, 1, 0, 2.0, 2.0));
    assert_eq!(none.gc_ms, 0.0);
    // Beside the root and below a function, as traces have it.
    let two =
        report(&app(&[("f", &[]), (gc, &[]), (gc, &[0])]), &[(0, 2000), (1, 1000), (0, 2000), (2, 500), (0, 1000)]);
    check(&two, "f", (6.5, 1, 0, 6.5, 5.0));
    check(&two, gc, (1.0, 2, 0, 1.5, 1.5));
    assert_eq!((two.gc_ms, line(&two, "f").gc_ms), (1.5, 1.5));
}

const SHOP: &str = "file:///srv/node_modules/shop/index.js";

fn with_packages() -> Vec<Call> {
    vec![
        Call::new("onincoming", "node:_http_server", 5, &[]),
        Call::new("next", "file:///srv/node_modules/express/router.js", 7, &[0]),
        Call::new("handle", APP, 3, &[1]),
        Call::new("compare", SHOP, 9, &[2]),
        Call::new("parse", "", 0, &[3]),
        Call::new("emit", "", 0, &[1]),
    ]
}

#[test]
fn what_the_app_calls_counts_for_its_line_where_packages_are_folded() {
    let samples = [(0, 1000), (1, 2000), (5, 500), (2, 1000), (3, 4000), (4, 3000), (1, 500)];
    let report = report(&with_packages(), &samples);
    check(&report, "handle", (8.0, 1, 0, 8.0, 8.0));
    // Packages have what no line of the app is on the stack of.
    check(&report, "express", (2.5, 2, 0, 3.0, 3.0));
    check(&report, "node", (1.0, 1, 0, 1.0, 1.0));
    assert_eq!(report.lines.len(), 3);
    assert_eq!(
        line(&report, "express").place,
        CodeLocation { function: String::new(), file: String::new(), line: 0, column: 0, owner: "express".to_owned() }
    );

    let shown = Hotspots::of(&profile(&with_packages(), &samples), &Options { folds: false, ..options() });
    check(&shown, "onincoming", (12.0, 1, 1, 12.0, 1.0));
    check(&shown, "compare", (7.0, 1, 0, 7.0, 4.0));
    check(&shown, "parse", (3.0, 1, 0, 3.0, 3.0));
    assert_eq!(line(&shown, "compare").place.owner, "shop");
    assert_eq!(line(&shown, "parse").place.owner, "native");
    assert_eq!(shown.lines.len(), 6);
}

#[test]
fn lines_within_a_function_have_the_time_of_their_ticks() {
    let calls = [
        Call::new("handle", APP, 1, &[]),
        Call::new("scan", APP, 10, &[0]).ticks(&[(12, 3), (14, 1)]),
        Call::new("later", APP, 30, &[]),
        Call::new("scan", APP, 10, &[2]).ticks(&[(14, 1), (15, 0)]),
    ];
    let report = report(&calls, &[(1, 8000), (3, 3000)]);
    let scan = line(&report, "scan");
    assert_eq!(scan.hit, [Hit { line: 12, self_ms: 6.0 }, Hit { line: 14, self_ms: 5.0 }]);
    assert_eq!(scan.stacks, 2);
    assert!(line(&report, "handle").hit.is_empty());
}

#[test]
fn runs_of_several_profiles_add_up_and_do_not_join() {
    let calls = app(&[("f", &[]), ("(idle)", &[])]);
    let mut both = profile(&calls, &[(1, 500), (0, 6000)]);
    both.read("worker 2", cpuprofile(&calls, &[(0, 9000), (1, 1)]).to_string().as_bytes()).unwrap();
    let report = Hotspots::of(&both, &options());
    check(&report, "f", (9.0, 2, 0, 15.0, 15.0));
    assert_eq!((line(&report, "f").worst_in.as_str(), line(&report, "f").worst_at_ms), ("worker 2", 0.0));
    let names: Vec<_> = report.profiles.iter().map(|watched| (watched.name.as_str(), watched.samples)).collect();
    assert_eq!(names, [("test", 2), ("worker 2", 2)]);
}

#[test]
fn nothing_in_a_profile_is_no_line() {
    assert_eq!(report(&[], &[]).lines, []);
    let idle = report(&app(&[("f", &[]), ("(idle)", &[])]), &[(1, 5)]);
    assert_eq!((idle.lines.len(), idle.busy_ms), (0, 0.0));
}

#[test]
fn changes_are_found_where_lines_have_moved_and_the_largest_effect_is_first() {
    let before = report(
        &[
            Call::new("same", APP, 1, &[]),
            Call::new("slow", APP, 5, &[]),
            Call::new("gone", APP, 9, &[]),
            Call::new("(idle)", "", 0, &[]),
        ],
        &[(0, 1000), (1, 12_000), (2, 2000), (3, 985_000)],
    );
    // Twice as long, so twice of everything is no change.
    let after = report(
        &[
            Call::new("new", APP, 1, &[]),
            Call::new("same", APP, 2, &[]),
            Call::new("slow", APP, 8, &[]),
            Call::new("(idle)", "", 0, &[]),
        ],
        &[(0, 1000), (1, 1000), (3, 5), (1, 1000), (2, 2000), (3, 1_994_995)],
    );
    let changes = compare(&before, &after);
    let seen: Vec<_> = changes
        .iter()
        .map(|change| {
            (
                change.place.function.as_str(),
                change.place.line,
                change.effect_ms_per_s.round(),
                change.before.is_some(),
                change.after.is_some(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("slow", 8, -11.0, true, true),
            ("gone", 9, -2.0, true, false),
            ("new", 1, 1.0, false, true),
            ("same", 2, 0.0, true, true)
        ]
    );
    assert_eq!(changes[0].worst_change_ms(), -10.0);

    let over: Vec<_> = "self=0.05%"
        .parse::<Budget>()
        .unwrap()
        .over_growth(&changes)
        .into_iter()
        .map(|over| over.place.function)
        .collect();
    assert_eq!(over, [""; 0]);
    let over = "self=0.04%".parse::<Budget>().unwrap().over_growth(&changes);
    assert_eq!(over.iter().map(|over| (over.place.function.as_str(), over.value)).collect::<Vec<_>>(), [("new", 0.05)]);
    assert_eq!("worst=0.5".parse::<Budget>().unwrap().over_growth(&changes).len(), 1);
}

#[test]
fn functions_of_one_name_in_one_file_are_told_apart_by_their_lines() {
    let anonymous = |lines: [i64; 2], us: [i64; 2]| {
        let calls = [Call::new("", APP, lines[0], &[]), Call::new("", APP, lines[1], &[])];
        report(&calls, &[(0, us[0]), (1, us[1])])
    };
    let pairs = |before: &Hotspots, after: &Hotspots| -> Vec<(u32, f64, f64)> {
        let mut pairs: Vec<_> = compare(before, after)
            .iter()
            .map(|change| {
                (change.place.line, change.before.as_ref().unwrap().worst_ms, change.after.as_ref().unwrap().worst_ms)
            })
            .collect();
        pairs.sort_by_key(|(line, ..)| *line);
        pairs
    };
    let before = anonymous([10, 20], [1000, 2000]);
    assert_eq!(pairs(&before, &anonymous([10, 20], [3000, 4000])), [(10, 1.0, 3.0), (20, 2.0, 4.0)]);
    assert_eq!(pairs(&before, &anonymous([12, 22], [3000, 4000])), [(12, 1.0, 3.0), (22, 2.0, 4.0)]);
    assert_eq!(pairs(&before, &anonymous([20, 30], [3000, 4000])), [(20, 2.0, 3.0), (30, 1.0, 4.0)]);
}

#[test]
fn a_budget_holds_lines_of_code_and_nothing_else() {
    let calls = app(&[("slow", &[]), ("(garbage collector)", &[]), ("quick", &[]), ("(idle)", &[])]);
    let report = report(&calls, &[(0, 60_000), (3, 1), (1, 70_000), (3, 1), (2, 30_000), (3, 1), (2, 40_000), (3, 1)]);
    let over = |text: &str| -> Vec<(String, String)> {
        let budget: Budget = text.parse().unwrap();
        assert_eq!(budget.to_string(), text);
        budget.over(&report).into_iter().map(|over| (over.place.function, budget.show(over.value))).collect()
    };
    let expected = |lines: &[(&str, &str)]| -> Vec<(String, String)> {
        lines.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    assert_eq!(over("worst=50ms"), expected(&[("slow", "60.0 ms")]));
    assert_eq!(over("worst=60ms"), expected(&[]));
    assert_eq!(over("total=30%"), expected(&[("quick", "35.0 %")]));
    assert_eq!(over("self=61ms"), expected(&[("quick", "70.0 ms")]));
    assert_eq!(over("runs=1"), expected(&[("quick", "2")]));
    assert_eq!(over("gc=0ms"), expected(&[]));
}

#[test]
fn budgets_and_times_that_make_no_sense_are_refused() {
    for (text, error) in [
        ("worst", "a budget is a figure and its limit"),
        ("best=1ms", "best is not a figure of a line; figures are worst, runs, total, self, gc"),
        ("worst=5%", "worst cannot have a limit in percent"),
        ("runs=5%", "runs cannot have a limit in percent"),
        ("runs=5ms", "runs need a number as limit"),
        ("self=x%", "a limit in percent looks like self=5%"),
        ("self=-1%", "a limit in percent"),
        ("total=5 minutes", "\"5 minutes\" is not a time"),
        ("total=NaN", "\"NaN\" is not a time"),
    ] {
        let now = text.parse::<Budget>().unwrap_err();
        assert!(now.to_string().starts_with(error), "{now}");
    }
    for (text, ms) in [("10", 10.0), ("10ms", 10.0), ("1.5s", 1500.0), ("500us", 0.5), ("2 s", 2000.0)] {
        assert_eq!(milliseconds(text), Ok(ms));
    }
}
