//! `sluice compare`: uninterrupted runs of main threads in two places, side by side.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};
use sluice_catalog::snapshot::{RUN_CLASSES, RUN_CLASSES_US, RunsSnapshot};

use crate::args::CompareArgs;
use crate::exit::Exit;
use crate::output;

/// Maximum size of an input, bytes.
const BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Names of the classes of runs, in their order.
const CLASSES: [&str; RUN_CLASSES.len()] =
    ["below 1 ms", "of 1 to 10 ms", "of 10 to 100 ms", "of 100 ms to 1 s", "above 1 s"];
/// Classes from which on runs are added up.
const ABOVE: [(usize, &str); 3] = [(2, "above 10 ms"), (3, "above 100 ms"), (4, "above 1 s")];

/// Reason why nothing is compared.
#[derive(Debug, thiserror::Error)]
enum CompareError {
    #[error("{name}: {error}")]
    Unread { name: String, error: io::Error },
    #[error("{name} has more than {} MiB", BYTES_MAX / 1024 / 1024)]
    Long { name: String },
    #[error("{name}: {error}. Pass a file of SLUICE_RUNS or the output of `sluice status --json`")]
    Strange { name: String, error: serde_json::Error },
    #[error("{name} has no runs")]
    Empty { name: String },
}

/// A line of `SLUICE_RUNS`, or a snapshot of a gateway.
#[derive(Deserialize)]
struct Line {
    runs: RunsSnapshot,
}

/// Figures of one input.
#[derive(Debug, PartialEq, Serialize)]
struct Figures {
    /// Name of the input.
    name: String,
    /// Seconds for which main threads were watched, added up.
    observed_s: f64,
    /// Runs by class.
    counts: [u64; RUN_CLASSES.len()],
    /// Share of the time in runs above 10 ms, 100 ms and 1 s, 0 to 1.
    shares_above: [f64; ABOVE.len()],
    /// Share of the time in the garbage collector, 0 to 1.
    collected: f64,
}

pub fn run(args: &CompareArgs) -> ExitCode {
    match figures(&args.one).and_then(|one| Ok([one, figures(&args.other)?])) {
        Ok(both) if args.json => output::print(&(serde_json::to_string(&both).unwrap_or_default() + "\n")),
        Ok([one, other]) => output::print(&text(&one, &other)),
        Err(error @ (CompareError::Unread { .. } | CompareError::Empty { .. })) => Exit::Failed.because(error),
        Err(error) => Exit::Usage.because(error),
    }
}

fn figures(path: &Path) -> Result<Figures, CompareError> {
    let name = path.display().to_string();
    let unread = |error| CompareError::Unread { name: name.clone(), error };
    let mut text = String::new();
    let input: Box<dyn Read> =
        if path == Path::new("-") { Box::new(io::stdin()) } else { Box::new(File::open(path).map_err(unread)?) };
    input.take(BYTES_MAX + 1).read_to_string(&mut text).map_err(unread)?;
    if text.len() as u64 > BYTES_MAX {
        return Err(CompareError::Long { name });
    }
    added(name, &text)
}

/// Adds up all that the input has.
fn added(name: String, text: &str) -> Result<Figures, CompareError> {
    let (mut classes, mut observed_us, mut collected_us) = ([(0_u64, 0_u64); RUN_CLASSES.len()], 0_u64, 0_u64);
    for line in serde_json::Deserializer::from_str(text).into_iter::<Line>() {
        let runs = line.map_err(|error| CompareError::Strange { name: name.clone(), error })?.runs;
        for (sum, (count, time_us)) in classes.iter_mut().zip(runs.by_class()) {
            *sum = (sum.0.saturating_add(count), sum.1.saturating_add(time_us));
        }
        observed_us = observed_us.saturating_add(runs.observed_us);
        collected_us = collected_us.saturating_add(runs.collected_us);
    }
    if observed_us == 0 {
        return Err(CompareError::Empty { name });
    }
    let above = |from: usize| classes[from..].iter().fold(0_u64, |sum, (_, time_us)| sum.saturating_add(*time_us));
    Ok(Figures {
        name,
        observed_s: ratio(observed_us, 1_000_000),
        counts: classes.map(|(count, _)| count),
        shares_above: ABOVE.map(|(from, _)| ratio(above(from), observed_us)),
        collected: ratio(collected_us, observed_us),
    })
}

#[allow(clippy::cast_precision_loss, reason = "shown with two decimals")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

fn text(one: &Figures, other: &Figures) -> String {
    let mut rows = vec![[String::new(), one.name.clone(), other.name.clone(), String::new()]];
    rows.push(row("main threads watched", one.observed_s, other.observed_s, |s| format!("{s:.1} s"), false));
    let minutes = |figures: &Figures| figures.observed_s / 60.0;
    for (class, name) in CLASSES.iter().enumerate().skip(1) {
        let rate = |figures: &Figures| ratio(figures.counts[class], 1) / minutes(figures);
        rows.push(row(&format!("runs {name} a minute"), rate(one), rate(other), |rate| format!("{rate:.1}"), true));
    }
    for (at, (_, name)) in ABOVE.iter().enumerate() {
        let what = format!("time in runs {name}");
        rows.push(row(&what, one.shares_above[at], other.shares_above[at], percent, true));
    }
    rows.push(row("time in the garbage collector", one.collected, other.collected, percent, true));
    let widths: Vec<usize> =
        (0..3).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    let mut out = String::new();
    for [what, one, other, change] in &rows {
        let line = format!("{what:<0$}  {one:>1$}  {other:>2$}  {change}", widths[0], widths[1], widths[2]);
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let _ = writeln!(
        out,
        "\nAn arriving request waits behind a run with a probability equal to the run's share of the time. {}",
        worst(one, other)
    );
    out
}

fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

fn row(what: &str, one: f64, other: f64, shown: impl Fn(f64) -> String, compares: bool) -> [String; 4] {
    let change = match (compares, one > 0.0, other > 0.0) {
        (true, true, true) => format!("{:.2}x", other / one),
        (true, false, true) => "new".to_owned(),
        (true, true, false) => "gone".to_owned(),
        _ => String::new(),
    };
    [what.to_owned(), shown(one), shown(other), change]
}

/// Sentence that names the process with more time in long runs.
fn worst(one: &Figures, other: &Figures) -> String {
    let [first, second] = [one.shares_above[0], other.shares_above[0]];
    if first == 0.0 && second == 0.0 {
        return format!("Neither has a run above {} ms.", RUN_CLASSES_US[2] / 1000);
    }
    let (more, less, by) = if second >= first { (other, one, second / first) } else { (one, other, first / second) };
    if by.is_finite() {
        format!("Long runs take {by:.1} times as large a share of the time in {} as in {}.", more.name, less.name)
    } else {
        format!("Only {} has runs above {} ms.", more.name, RUN_CLASSES_US[2] / 1000)
    }
}

#[cfg(test)]
mod tests {
    use sluice_catalog::snapshot::{RUN_BOUNDS_US, RUN_BUCKETS};

    use super::*;

    /// A line with so many runs of 10 to 20 ms in so many seconds.
    fn line(runs: u64, seconds: u64) -> String {
        let (mut counts, mut time_us) = (vec![0; RUN_BUCKETS], vec![0; RUN_BUCKETS]);
        (counts[0], counts[10], time_us[10]) = (100, runs, runs * 15_000);
        let runs = serde_json::json!({ "upper_us": RUN_BOUNDS_US, "counts": counts, "time_us": time_us,
            "observed_us": seconds * 1_000_000, "collections": 1, "collected_us": seconds * 10_000 });
        format!("{}\n", serde_json::json!({ "program": "a", "runs": runs }))
    }

    #[test]
    fn lines_of_processes_add_up_and_rates_are_compared() {
        let one = added("dev.json".to_owned(), &(line(1, 30) + &line(1, 30))).unwrap();
        assert_eq!(one.counts, [200, 0, 2, 0, 0]);
        let other = added("prod.json".to_owned(), &line(60, 60)).unwrap();
        let text = text(&one, &other);
        let words: Vec<String> =
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        for line in [
            "runs of 10 to 100 ms a minute 2.0 60.0 30.00x",
            "time in runs above 10 ms 0.05 % 1.50 % 30.00x",
            "time in the garbage collector 1.00 % 1.00 % 1.00x",
        ] {
            assert!(
                words.iter().any(|words| words == line),
                "{line}
{text}"
            );
        }
        assert!(
            text.contains("Long runs take 30.0 times as large a share of the time in prod.json as in dev.json."),
            "{text}"
        );
    }

    #[test]
    fn one_without_long_runs_is_told_apart() {
        let (calm, held) = (added("a".to_owned(), &line(0, 1)).unwrap(), added("b".to_owned(), &line(1, 1)).unwrap());
        assert!(text(&calm, &held).contains("Only b has runs above 10 ms."));
        assert!(text(&held, &calm).contains("gone"));
        assert!(text(&calm, &calm).contains("Neither has a run above 10 ms."));
    }

    #[test]
    fn input_of_another_kind_is_refused_with_its_name() {
        let error = added("x.json".to_owned(), "{\"a\":1}").unwrap_err().to_string();
        assert!(error.starts_with("x.json: missing field `runs`"), "{error}");
        assert!(added("x.json".to_owned(), "").unwrap_err().to_string().contains("no runs"));
    }
}
