//! Output of `sluice hotspots` for people.

use std::fmt::Write as _;

use sluice_profiles::hotspots::{Change, CodeLocation, Figures, HotLine, Hotspots};

use crate::client::status::{aligned, duration, harmless, milliseconds};

/// Rows that people read; `--limit` shows more, `--json` all.
pub const ROWS_DEFAULT: usize = 25;
/// Maximum shown length of a position, characters.
const PLACE_CHARS_MAX: usize = 100;
/// Lines within a function that are named beside it.
const HITS_SHOWN: usize = 2;

pub fn lines(report: &Hotspots, rows_max: usize) -> String {
    let mut out = head(report);
    if report.lines.is_empty() {
        out.push_str("No line of code ran in that time.\n");
        return out;
    }
    let mut rows = vec![["WORST RUN", "LONG", "RUNS", "TOTAL", "SELF", "GC", "STACKS", "LINE"].map(str::to_owned)];
    rows.extend(report.lines.iter().take(rows_max).map(row));
    out.push_str(&aligned(&rows));
    tell_rest(&mut out, report.lines.len(), rows_max);
    out
}

fn head(report: &Hotspots) -> String {
    let mut out = String::new();
    let share = if report.duration_ms > 0.0 { report.busy_ms / report.duration_ms * 100.0 } else { 0.0 };
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "wall-clock time: busy {} of {} ({share:.0} %), garbage collector {}, native code without JavaScript {}; runs above {} are long",
        milliseconds(Some(report.busy_ms)),
        milliseconds(Some(report.duration_ms)),
        milliseconds(Some(report.gc_ms)),
        milliseconds(Some(report.program_ms)),
        milliseconds(Some(report.threshold_ms)),
    );
    for watched in &report.profiles {
        let _ = writeln!(
            out,
            "{}: {}, {} samples, one every {}",
            harmless(&watched.name),
            duration(watched.duration_ms / 1000.0),
            watched.samples,
            milliseconds(Some(watched.interval_ms)),
        );
    }
    out.push('\n');
    if let Some(used_ms) = report.used_ms.filter(|used_ms| used_ms * 2.0 < report.busy_ms) {
        let _ = writeln!(
            out,
            "Starved or waiting: the processes used a CPU for only {} of that time. Other processes had the CPU, or the lines\n\
             waited in synchronous calls.\n",
            milliseconds(Some(used_ms))
        );
    }
    out
}

fn row(line: &HotLine) -> [String; 8] {
    let ms = |value_ms: f64| milliseconds(Some(value_ms));
    [
        ms(line.worst_ms),
        line.runs_over.to_string(),
        line.runs.to_string(),
        ms(line.total_ms),
        ms(line.self_ms),
        ms(line.gc_ms),
        line.stacks.to_string(),
        format!("{}{}", name(&line.place), hits(line)),
    ]
}

/// The lines of a function on which its own time went, where there are others than its first.
fn hits(line: &HotLine) -> String {
    let all_ms: f64 = line.hit.iter().map(|hit| hit.self_ms).sum();
    if all_ms <= 0.0 || line.hit.iter().all(|hit| hit.line == line.place.line) {
        return String::new();
    }
    let shown =
        line.hit.iter().take(HITS_SHOWN).map(|hit| format!("{} ({:.0} %)", hit.line, hit.self_ms / all_ms * 100.0));
    format!("  mostly line {}", shown.collect::<Vec<_>>().join(", "))
}

/// `src/search.ts:14 match`, or what has no place.
pub fn name(place: &CodeLocation) -> String {
    let text = match (place.file.is_empty(), place.owner.as_str()) {
        (true, "app") => format!("(evaluated code) {}", place.function),
        (true, "native") if !place.function.is_empty() => format!("{} (native)", place.function),
        (true, owner) => owner.to_owned(),
        (false, _) => {
            let function = if place.function.is_empty() { "(anonymous)" } else { &place.function };
            format!("{}:{} {function}", place.file, place.line)
        }
    };
    let text = harmless(&text);
    // The end of a path says more than its beginning.
    match text.char_indices().rev().nth(PLACE_CHARS_MAX) {
        Some((at, character)) => format!("…{}", &text[at + character.len_utf8()..]),
        None => text,
    }
}

pub fn changes(before: &Hotspots, after: &Hotspots, changes: &[Change], rows_max: usize) -> String {
    let mut out = format!("before\n{}after\n{}", head(before), head(after));
    if changes.is_empty() {
        out.push_str("No line of code ran in that time.\n");
        return out;
    }
    let head = ["EFFECT", "SELF/S", "TOTAL/S", "WORST RUN", "LONG/S", "LINE"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(changes.iter().take(rows_max).map(change_row));
    out.push_str(&aligned(&rows));
    tell_rest(&mut out, changes.len(), rows_max);
    out
}

fn change_row(change: &Change) -> [String; 6] {
    let pair = |figure: fn(&Figures) -> f64, show: fn(f64) -> String| {
        let side = |figures: &Option<Figures>| {
            figures.as_ref().map_or_else(|| "-".to_owned(), |figures| show(figure(figures)))
        };
        format!("{} → {}", side(&change.before), side(&change.after))
    };
    let ms = |value_ms: f64| milliseconds(Some(value_ms));
    [
        format!("{}{} ms/s", if change.effect_ms_per_s < 0.0 { "−" } else { "+" }, short(change.effect_ms_per_s.abs())),
        pair(|figures| figures.self_ms_per_s, ms),
        pair(|figures| figures.total_ms_per_s, ms),
        pair(|figures| figures.worst_ms, ms),
        pair(|figures| figures.runs_over_per_s, short),
        name(&change.place),
    ]
}

fn short(value: f64) -> String {
    if value < 10.0 { format!("{value:.2}") } else { format!("{value:.0}") }
}

fn tell_rest(out: &mut String, rows: usize, rows_max: usize) {
    if rows > rows_max {
        let _ = writeln!(out, "… and {} more (--limit, --json)", rows - rows_max);
    }
}

#[cfg(test)]
mod tests {
    use sluice_profiles::hotspots::{Hit, ThreadWatch, compare};

    use super::*;

    fn line(function: &str, file: &str, line: u32, worst_ms: f64) -> HotLine {
        let owner = if file.is_empty() { function } else { "app" };
        let place = CodeLocation {
            function: if file.is_empty() { String::new() } else { function.to_owned() },
            file: file.to_owned(),
            line,
            column: 3,
            owner: owner.to_owned(),
        };
        HotLine {
            place,
            worst_ms,
            worst_at_ms: 0.0,
            worst_in: "a".to_owned(),
            runs: 7,
            runs_over: 2,
            total_ms: 1200.0,
            self_ms: 300.0,
            gc_ms: 0.5,
            stacks: 1,
            hit: vec![Hit { line: line + 2, self_ms: 3.0 }, Hit { line, self_ms: 1.0 }],
        }
    }

    fn report(lines: Vec<HotLine>) -> Hotspots {
        let watched = ThreadWatch { name: "a".to_owned(), duration_ms: 5000.0, samples: 9000, interval_ms: 0.5 };
        let (profiles, threshold_ms) = (vec![watched], 10.0);
        Hotspots {
            profiles,
            duration_ms: 5000.0,
            busy_ms: 1250.0,
            gc_ms: 3.0,
            program_ms: 1.0,
            used_ms: None,
            threshold_ms,
            lines,
        }
    }

    #[test]
    fn lines_that_had_no_cpu_are_not_blamed_for_their_time() {
        let told = |used_ms| lines(&Hotspots { used_ms, ..report(Vec::new()) }, 1).contains("used a CPU for only");
        assert_eq!([Some(62.0), Some(1200.0), None].map(told), [true, false, false]);
    }

    #[test]
    fn the_table_names_a_line_with_its_function_and_where_within() {
        let text = lines(&report(vec![line("match\u{1b}", "src/search.ts", 14, 98.0), line("express", "", 0, 3.0)]), 1);
        assert!(text.starts_with("wall-clock time: busy 1.25 s of 5.00 s (25 %), garbage collector 3.00 ms"), "{text}");
        assert!(text.contains("\na: 5.0 s, 9000 samples, one every 0.50 ms\n"), "{text}");
        let words: Vec<_> = text.lines().nth(4).unwrap().split_whitespace().collect();
        assert_eq!(
            words.join(" "),
            "98 ms 2 7 1.20 s 300 ms 0.50 ms 1 src/search.ts:14 match? mostly line 16 (75 %), 14 (25 %)"
        );
        assert!(text.ends_with("… and 1 more (--limit, --json)\n"), "{text}");
        assert!(lines(&report(Vec::new()), 9).ends_with("No line of code ran in that time.\n"));
    }

    #[test]
    fn long_paths_lose_their_beginning() {
        let mut place = line("f", &"é/".repeat(100), 1, 1.0).place;
        let text = name(&place);
        assert_eq!(text.chars().count(), PLACE_CHARS_MAX + 1);
        assert!(text.starts_with('…') && text.ends_with(":1 f"), "{text}");
        (place.file, place.owner) = (String::new(), "native".to_owned());
        assert_eq!(name(&place), "f (native)");
    }

    #[test]
    fn a_change_has_both_sides() {
        let before = report(vec![line("match", "a.js", 1, 50.0)]);
        let mut after = report(vec![line("match", "a.js", 4, 20.0), line("more", "a.js", 9, 1.0)]);
        after.lines[0].self_ms = 50.0;
        let text = changes(&before, &after, &compare(&before, &after), 9);
        let words: Vec<String> =
            text.lines().skip(9).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(
            words,
            [
                "+60 ms/s - → 60 ms - → 240 ms - → 1.00 ms - → 0.40 a.js:9 more",
                "−50 ms/s 60 ms → 10 ms 240 ms → 240 ms 50 ms → 20 ms 0.40 → 0.40 a.js:4 match",
            ]
        );
    }
}
