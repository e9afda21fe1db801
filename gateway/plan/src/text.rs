//! The plan as text for a terminal.

#![allow(clippy::float_cmp, reason = "multiples of the traffic are the same numbers")]

use std::fmt::Write as _;

use crate::log::{Counts, time};
use crate::page::{aligned, duration, ms, plural};
use crate::plan::{Answer, Latency, PERCENTILES, Plan, REFUSED_MAX, Row};

/// Maximum shown length of a class's name, characters.
const NAME_CHARS_MAX: usize = 44;
/// Maximum number of classes in the text.
const CLASSES_MAX: usize = 10;
/// Median above which a class is rather of streams than of requests, milliseconds.
const LONG_MS: f64 = 30_000.0;

/// `p50 / p95 / p99`, and what was refused.
pub(crate) fn cell(latency: Option<&Latency>) -> String {
    let Some(latency) = latency else { return "overload".to_owned() };
    let mut text = latency.ms.map_or_else(|| "-".to_owned(), |all| all.map(ms).join(" / "));
    if latency.refused > 0.0 {
        let _ = write!(text, " ({:.1}% refused)", (latency.refused * 100.0).max(0.1));
    }
    text
}

pub(crate) fn times(traffic: f64) -> String {
    format!("x{traffic}")
}

/// A class's name without control characters, and not too long.
fn name(class: &str) -> String {
    let mut text: String = class.chars().map(|sign| if sign.is_control() { '?' } else { sign }).collect();
    if let Some((cut, _)) = text.char_indices().nth(NAME_CHARS_MAX) {
        text.truncate(cut);
        text.push('…');
    }
    text
}

/// Statements about the log.
#[allow(clippy::cast_precision_loss, reason = "microseconds of some years")]
pub(crate) fn notes(plan: &Plan, counts: &Counts) -> Vec<String> {
    let mut notes = vec![format!(
        "{} of {} lines, format {}",
        plural(counts.requests, "request"),
        counts.lines,
        counts.formats.join(" and ")
    )];
    if counts.elsewhere > 0 {
        notes.push(format!("skipped: {} that needed no worker", plural(counts.elsewhere, "request")));
    }
    if counts.strange > 0 {
        let first = counts.strange_first.join(", ");
        notes.push(format!("{} could not be read: {first}", plural(counts.strange, "line")));
    }
    if counts.untimed > 0 {
        notes.push(format!("skipped: {} without the time of the request", plural(counts.untimed, "line")));
    }
    if counts.far > 0 {
        notes.push(format!("skipped: {} more than 400 days from the others", plural(counts.far, "request")));
    }
    let all = counts.requests + counts.far;
    if counts.whole == all {
        notes.push(
            "times of requests are whole seconds, too coarse for a plan: log milliseconds or microseconds".to_owned(),
        );
    } else if counts.formats.contains(&"Apache") && counts.tiny * 100 >= all * 99 {
        notes.push(
            "nearly all times are below 0.1 ms: if the last field is not %D, name the format (--format)".to_owned(),
        );
    }
    if counts.coarse > 0 {
        notes.push("dates have whole seconds: arrivals are spread randomly over their second".to_owned());
    }
    if (plan.requests as u64) < counts.requests {
        notes.push(format!("replayed: the busiest {} consecutive requests (--requests)", plan.requests));
    }
    notes.push(format!(
        "{:.1} requests/s for {:.0} s; their CPU time keeps {:.2} workers busy",
        plan.per_second, plan.span_s, plan.busy_workers
    ));
    let gaps_s = (plan.ended_us - plan.began_us) as f64 / 1e6 - plan.span_s;
    let gaps =
        if gaps_s >= 1.0 { format!(", without {gaps_s:.0} s in gaps of more than 10 minutes") } else { String::new() };
    notes.push(format!("from {} to {}{gaps}", time::text(plan.began_us), time::text(plan.ended_us)));
    notes.extend(plan.classes.iter().filter(|class| class.median_ms > LONG_MS).map(|class| {
        let median = duration(class.median_ms);
        format!(
            "half of the requests of {} take over {median}: event streams and downloads need no worker so long",
            name(&class.class)
        )
    }));
    notes.push(if plan.knows.cpu_share == 0.0 {
        "the log has no CPU times: all service time counts as CPU time, which plans too many workers if the app waits \
         for data"
            .to_owned()
    } else {
        format!(
            "CPU time is known for {:.0} % of the requests; the rest of the service time is a wait in the worker",
            plan.knows.cpu_share * 100.0
        )
    });
    if plan.knows.unserved > 0 {
        let unserved = plural(plan.knows.unserved as u64, "request");
        notes.push(format!("{unserved} got no answer of a worker: each takes the mean service time of its class"));
    }
    notes
}

/// A table with its title; the first row is its head.
pub(crate) struct Table {
    pub title: String,
    pub rows: Vec<Vec<String>>,
    /// A statement below it.
    pub note: &'static str,
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Multiples of the traffic that were tried.
pub(crate) fn traffics(plan: &Plan) -> Vec<f64> {
    let mut traffics: Vec<f64> = Vec::new();
    for row in &plan.rows {
        if !traffics.contains(&row.traffic) {
            traffics.push(row.traffic);
        }
    }
    traffics
}

fn of_all(plan: &Plan, traffics: &[f64]) -> Table {
    let heads = ["Workers", "Lanes", "Load"].map(str::to_owned).into_iter();
    let mut rows = vec![heads.chain(traffics.iter().map(|it| times(*it))).collect::<Vec<_>>()];
    let at = traffics.iter().position(|it| *it == 1.0);
    if let (Some(measured), Some(at)) = (&plan.measured, at) {
        let mut row = vec![String::new(); 4 + at];
        row[0].push_str("measured");
        row[3 + at] = cell(Some(measured));
        rows.push(row);
    }
    for row in plan.rows.iter().filter(|row| Some(&row.traffic) == traffics.first()) {
        let lanes = if row.lanes { "on" } else { "off" };
        let mut cells = vec![row.workers.to_string(), lanes.to_owned(), percent(row.load)];
        let at = |it: &f64| plan.row(row.workers, row.lanes, *it).and_then(|row| row.all.as_ref());
        cells.extend(traffics.iter().map(|it| cell(at(it))));
        rows.push(cells);
    }
    let note = "If one of N workers is lost, use the row with N-1 workers.";
    Table { title: "All requests, p50 / p95 / p99 in ms".to_owned(), rows, note }
}

fn of_classes(plan: &Plan, base: f64) -> Option<Table> {
    let workers = shown(plan, base)?;
    let [on, off] = [true, false].map(|lanes| plan.row(workers, lanes, base));
    let mut rows = vec![["Class", "Requests", "CPU", "Lanes on", "Lanes off", "Measured"].map(str::to_owned).to_vec()];
    let classes = plan.classes.iter().enumerate().filter(|(_, class)| class.requests > 0);
    for (at, class) in classes.take(CLASSES_MAX) {
        let of = |row: Option<&Row>| cell(row.and_then(|row| row.classes.get(at)));
        let measured = class.measured.as_ref().map_or_else(String::new, |latency| cell(Some(latency)));
        let share = percent(class.cpu_share);
        rows.push(vec![name(&class.class), class.requests.to_string(), share, of(on), of(off), measured]);
    }
    if plan.measured.is_none() || base != 1.0 {
        for row in &mut rows {
            row.truncate(5);
        }
    }
    let title = format!("By class, {} at {}", plural(workers as u64, "worker"), times(base));
    Some(Table { title, rows, note: "" })
}

fn of_fleets(plan: &Plan) -> Option<Table> {
    let mut rows = vec![["Instances x workers", "Load", "Balancer", "Latency"].map(str::to_owned).to_vec()];
    rows.extend(plan.fleets.iter().map(|row| {
        let size = format!("{} x {}", row.instances, row.workers);
        vec![size, percent(row.load), row.balancer.to_owned(), cell(row.all.as_ref())]
    }));
    (rows.len() > 1).then(|| Table { title: "Fleets at x1, lanes on".to_owned(), rows, note: "" })
}

/// The traffic whose classes are shown: that of the log if it was tried.
pub(crate) fn base(traffics: &[f64]) -> f64 {
    traffics.iter().find(|it| **it == 1.0).or(traffics.first()).copied().unwrap_or(1.0)
}

/// All tables of the plan.
pub(crate) fn tables(plan: &Plan) -> Vec<Table> {
    let traffics = traffics(plan);
    let base = base(&traffics);
    [Some(of_all(plan, &traffics)), of_classes(plan, base), of_fleets(plan)].into_iter().flatten().collect()
}

/// Writes the plan.
pub fn text(plan: &Plan, counts: &Counts) -> String {
    let mut text = String::new();
    for note in notes(plan, counts) {
        let _ = writeln!(text, "{note}");
    }
    for mut table in tables(plan) {
        for head in &mut table.rows[0] {
            *head = head.to_uppercase();
        }
        let _ = writeln!(text, "\n{}\n{}{}", table.title, aligned(&table.rows), table.note);
        if table.note.is_empty() {
            text.pop();
        }
    }
    if let Some((title, lines)) = answers(plan) {
        let _ = writeln!(text, "\n{title}\n{}", lines.join("\n"));
    }
    text
}

/// The number of workers whose classes are shown at this traffic: that of its answer, else the first at 70 % load or less,
/// else the most.
fn shown(plan: &Plan, base: f64) -> Option<usize> {
    let answered = plan.answers.iter().find(|answer| answer.traffic == base).and_then(|answer| answer.workers);
    let rows = || plan.rows.iter().filter(|row| row.traffic == base);
    let roomy = || rows().find(|row| row.load <= 0.7).or(rows().next_back()).filter(|row| row.all.is_some());
    answered.or_else(|| roomy().map(|row| row.workers))
}

/// The target, and one sentence for each traffic.
pub(crate) fn answers(plan: &Plan) -> Option<(String, Vec<String>)> {
    let target = plan.target?;
    let percentile = target.percentile;
    let place = PERCENTILES.iter().position(|it| *it == percentile)?;
    let most = plan.rows.iter().map(|row| row.workers).max().unwrap_or(0);
    let sentence = |answer: &Answer| {
        let mut line = format!("{}: ", times(answer.traffic));
        let (Some(workers), Some(one_lost)) = (answer.workers, answer.workers_one_lost) else {
            let _ = write!(line, "not met by {most} workers (--workers tries more)");
            return line;
        };
        let _ = write!(line, "{}, {one_lost} if one may be lost", plural(workers as u64, "worker"));
        let at = |latency: &Latency| duration(latency.ms.map_or(0.0, |all| all[place]));
        let _ = match (&answer.with, &answer.without_last) {
            _ if workers == 1 => Ok(()),
            (_, Some(without)) if without.refused > REFUSED_MAX => {
                write!(line, "; without the last one {:.1} % are refused", without.refused * 100.0)
            }
            (Some(with), Some(without)) => {
                write!(line, "; with the last one, p{percentile} is {} instead of {}", at(with), at(without))
            }
            _ => write!(line, "; without the last one there is more work than they can handle"),
        };
        line
    };
    let title = format!("Target: p{percentile} of at most {}, lanes on", duration(target.ms));
    Some((title, plan.answers.iter().map(sentence).collect()))
}
