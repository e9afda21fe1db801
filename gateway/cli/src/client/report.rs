//! `sluice report`: what requests took, before and after.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use sluice_admin::protocol::Request;
use sluice_catalog::snapshot::{ReportSide, ReportSnapshot, SpentSnapshot};

use super::connect::{ClientError, Gateway};
use super::status::{aligned, duration, harmless, milliseconds};
use crate::args::{ReportArgs, Since};
use crate::exit::Exit;
use crate::output;

/// Requests from which on a side says something of a class.
const REQUESTS_MIN: u64 = 100;
/// Classes that are listed.
const ROWS_MAX: usize = 30;
/// The most of a class's name that is shown.
const NAME_CHARS_MAX: usize = 60;
/// A change below this is none, in percent.
const CHANGE_MIN: f64 = 3.0;

/// Reason why a saved report cannot be used.
#[derive(Debug, thiserror::Error)]
enum SavedError {
    #[error("{path}: {error}")]
    Unread { path: String, error: std::io::Error },
    #[error("{path} is not what `sluice report --json` prints: {error}")]
    Other { path: String, error: serde_json::Error },
    #[error("{path} has no requests: save a report after there were some")]
    Empty { path: String },
}

/// Cost of a thousand of the earlier requests, if they came again now.
#[derive(Clone, Debug, PartialEq)]
struct LikeForLike {
    before_s: f64,
    after_s: f64,
    /// The class that makes most of the difference.
    most: String,
}

pub fn run(args: &ReportArgs) -> Result<ExitCode, ClientError> {
    let saved = match args.against.as_deref().map(read_saved).transpose() {
        Ok(saved) => saved,
        Err(error) => return Ok(Exit::Usage.because(error)),
    };
    let mut gateway = Gateway::connect(&args.run_dir)?;
    let (generation, ago_ms) = match args.since {
        Since::Reload => (None, None),
        Since::Generation(generation) => (Some(generation), None),
        Since::Ago(ago_ms) => (None, Some(ago_ms)),
    };
    let mut report = gateway.ask(&Request::Report { generation, ago_ms })?.report.unwrap_or_default();
    if saved.is_some() {
        report.before = saved;
    }
    let change = like_for_like(&report);
    let printed = if args.json { gateway.print_json(&report)? } else { output::print(&text(&report, change.as_ref())) };
    Ok(match args.budget {
        Some(_) if change.is_none() => Exit::Failed.because("--budget: too few requests on one side to tell"),
        Some(budget) => match change.filter(|change| change.percent() > budget) {
            Some(change) => Exit::Failed.because(format_args!(
                "--budget: like for like, requests take {:.1} % more CPU time, and {budget} % are allowed",
                change.percent()
            )),
            None => printed,
        },
        None => printed,
    })
}

fn read_saved(path: &Path) -> Result<ReportSide, SavedError> {
    let name = || path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| SavedError::Unread { path: name(), error })?;
    let report: ReportSnapshot =
        serde_json::from_str(&text).map_err(|error| SavedError::Other { path: name(), error })?;
    report.after.ok_or_else(|| SavedError::Empty { path: name() })
}

impl LikeForLike {
    fn percent(&self) -> f64 {
        (self.after_s / self.before_s.max(f64::MIN_POSITIVE) - 1.0) * 100.0
    }
}

/// Classes that came often enough on both sides, weighted as they came before: another mix of requests is no change.
#[allow(clippy::cast_precision_loss)] // Far below 2^53.
fn like_for_like(report: &ReportSnapshot) -> Option<LikeForLike> {
    let (before, after) = (report.before.as_ref()?, report.after.as_ref()?);
    let mut requests = 0.0;
    let (mut before_s, mut after_s) = (0.0, 0.0);
    let mut most: Option<(f64, &str)> = None;
    for was in &before.classes {
        let Some((was_s, now_s)) = pair(was, after).and_then(|is| was.cpu_s_per_1000.zip(is.cpu_s_per_1000)) else {
            continue;
        };
        let weight = was.requests as f64;
        requests += weight;
        before_s += was_s * weight;
        after_s += now_s * weight;
        let change = ((now_s - was_s) * weight).abs();
        if most.is_none_or(|(most, _)| change > most) {
            most = Some((change, &was.class));
        }
    }
    let (_, most) = most?;
    Some(LikeForLike { before_s: before_s / requests, after_s: after_s / requests, most: most.to_owned() })
}

/// The same class on the other side, where both came often enough.
fn pair<'a>(was: &SpentSnapshot, after: &'a ReportSide) -> Option<&'a SpentSnapshot> {
    let is = after.classes.iter().find(|is| is.class == was.class)?;
    (was.requests >= REQUESTS_MIN && is.requests >= REQUESTS_MIN).then_some(is)
}

fn text(report: &ReportSnapshot, change: Option<&LikeForLike>) -> String {
    let Some(after) = &report.after else {
        return "No request has ended since then.\n".to_owned();
    };
    let mut text = String::new();
    match &report.before {
        Some(before) => {
            let _ = writeln!(text, "Before: {}", of(before));
        }
        None => text.push_str("Before: nothing is kept. The history begins with the gateway, and with each version of the app; `--since 30m` compares times, `--against FILE` a saved report\n"),
    }
    let _ = writeln!(text, "After:  {}\n", of(after));
    let mut rows = vec![
        ["CLASS", "REQUESTS", "CPU S/1000", "", "MEMORY GB*S/1000", "", "P50", "P95", "P99", "RUNS FROM 10 MS/1000"]
            .map(str::to_owned),
    ];
    let was = report.before.as_ref();
    rows.push(row("(all)", &after.all, was.map(|before| &before.all)));
    let listed = after.classes.iter().take(ROWS_MAX);
    rows.extend(listed.map(|is| {
        let was = was.and_then(|before| before.classes.iter().find(|was| was.class == is.class));
        row(&name(&is.class), is, was)
    }));
    text.push_str(&aligned(&rows));
    let more = after.classes.len().saturating_sub(ROWS_MAX);
    if more > 0 {
        let _ = writeln!(text, "and {more} more classes (--json)");
    }
    if was.is_some() {
        text.push('\n');
        text.push_str(&verdict(change));
    }
    text
}

fn verdict(change: Option<&LikeForLike>) -> String {
    let Some(change) = change else {
        return format!(
            "Too few requests to compare: no class came {REQUESTS_MIN} times on both sides with known CPU times.\n"
        );
    };
    let LikeForLike { before_s, after_s, most } = change;
    let percent = change.percent();
    if percent.abs() < CHANGE_MIN {
        return format!("CPU time per 1,000 requests is as before: {before_s:.2} s and {after_s:.2} s.\n");
    }
    let direction = if percent > 0.0 { "dearer" } else { "cheaper" };
    format!(
        "Requests are {direction}: a thousand of those that came before take {after_s:.2} s of CPU time instead of {before_s:.2} s \
         ({percent:+.0} %), most by {}.\n",
        name(most)
    )
}

#[allow(clippy::cast_precision_loss)] // Far below 2^53.
fn of(side: &ReportSide) -> String {
    let generations: Vec<String> = side.generations.iter().map(u64::to_string).collect();
    let plural = if generations.len() == 1 { "" } else { "s" };
    let seconds = side.until_ms.saturating_sub(side.from_ms) as f64 / 1000.0;
    format!("generation{plural} {}, {} requests in {}", generations.join(", "), side.all.requests, duration(seconds))
}

fn row(name: &str, is: &SpentSnapshot, was: Option<&SpentSnapshot>) -> [String; 10] {
    let was = was.filter(|was| was.requests > 0);
    let is_enough = was.is_some_and(|was| was.requests.min(is.requests) >= REQUESTS_MIN);
    let known = |of: fn(&SpentSnapshot) -> f64| (is.requests > 0).then(|| of(is));
    let memory = known(|spent| spent.memory_gb_s_per_1000);
    let ms = |of: fn(&SpentSnapshot) -> f64| match was {
        Some(was) => format!("{} to {}", milliseconds(Some(of(was))), milliseconds(known(of))),
        None => milliseconds(known(of)),
    };
    [
        name.to_owned(),
        was.map_or_else(|| is.requests.to_string(), |was| format!("{} to {}", was.requests, is.requests)),
        both(was.and_then(|was| was.cpu_s_per_1000), is.cpu_s_per_1000),
        percent(was.and_then(|was| was.cpu_s_per_1000).filter(|_| is_enough), is.cpu_s_per_1000),
        both(was.map(|was| was.memory_gb_s_per_1000), memory),
        percent(was.map(|was| was.memory_gb_s_per_1000).filter(|_| is_enough), memory),
        ms(|spent| spent.service_p50_ms),
        ms(|spent| spent.service_p95_ms),
        ms(|spent| spent.service_p99_ms),
        both(was.map(long_runs), known(long_runs)),
    ]
}

/// Uninterrupted runs from 10 ms, of a thousand requests.
#[allow(clippy::cast_precision_loss)] // Far below 2^53.
fn long_runs(spent: &SpentSnapshot) -> f64 {
    spent.runs.iter().skip(1).sum::<u64>() as f64 * 1000.0 / spent.requests.max(1) as f64
}

fn both(was: Option<f64>, is: Option<f64>) -> String {
    let figure = |value: f64| if value < 10.0 { format!("{value:.2}") } else { format!("{value:.1}") };
    match (was, is) {
        (Some(was), Some(is)) => format!("{} to {}", figure(was), figure(is)),
        (None, Some(is)) => figure(is),
        (Some(was), None) => format!("{} to ?", figure(was)),
        (None, None) => "-".to_owned(),
    }
}

fn percent(was: Option<f64>, is: Option<f64>) -> String {
    match was.zip(is) {
        Some((was, is)) if was > 0.0 => format!("{:+.0} %", (is / was - 1.0) * 100.0),
        _ => String::new(),
    }
}

fn name(class: &str) -> String {
    harmless(class).chars().take(NAME_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(class: &str, requests: u64, cpu_s_per_1000: f64) -> SpentSnapshot {
        SpentSnapshot {
            class: class.to_owned(),
            requests,
            cpu_s: 0.0,
            cpu_s_per_1000: Some(cpu_s_per_1000),
            memory_gb_s_per_1000: 5.0,
            service_p50_ms: 1.0,
            service_p95_ms: 2.0,
            service_p99_ms: 3.0,
            runs: vec![0; 4],
        }
    }

    fn side(generation: u64, classes: Vec<SpentSnapshot>) -> ReportSide {
        let requests = classes.iter().map(|class| class.requests).sum();
        let all = spent("", requests, 1.0);
        ReportSide { from_ms: 0, until_ms: 600_000, generations: vec![generation], all, classes }
    }

    fn report(before: Vec<SpentSnapshot>, after: Vec<SpentSnapshot>) -> ReportSnapshot {
        ReportSnapshot { before: Some(side(1, before)), after: Some(side(2, after)), kept_since_ms: Some(0) }
    }

    #[test]
    fn another_mix_of_requests_is_no_change() {
        let before = vec![spent("cheap", 1000, 1.0), spent("dear", 1000, 9.0)];
        let after = vec![spent("cheap", 100, 1.0), spent("dear", 4000, 9.0)];
        let report = report(before, after);
        let change = like_for_like(&report).unwrap();
        assert!(change.percent().abs() < 1e-9, "{change:?}");
        assert!(text(&report, Some(&change)).contains("is as before: 5.00 s and 5.00 s"));
    }

    #[test]
    fn the_class_that_became_dearer_is_named() {
        let before = vec![spent("GET /", 1000, 1.0), spent("GET /search\u{1b}", 1000, 10.0)];
        let after = vec![spent("GET /", 1000, 1.0), spent("GET /search\u{1b}", 1000, 30.0), spent("GET /new", 9, 1.0)];
        let report = report(before, after);
        let text = text(&report, like_for_like(&report).as_ref());
        assert!(text.contains("are dearer: a thousand of those that came before take 15.50 s"), "{text}");
        assert!(text.contains("instead of 5.50 s (+182 %), most by GET /search?."), "{text}");
        assert!(text.contains("10.0 to 30.0") && text.contains("+200 %") && !text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn too_few_requests_are_said_to_be_too_few() {
        let report = report(vec![spent("GET /", 99, 1.0)], vec![spent("GET /", 99, 9.0)]);
        assert_eq!(like_for_like(&report), None);
        let text = text(&report, None);
        assert!(text.contains("Too few requests") && !text.contains("+800 %"), "{text}");
    }

    #[test]
    fn nothing_is_told_of_requests_that_did_not_come() {
        let all = SpentSnapshot { cpu_s_per_1000: None, ..spent("", 0, 0.0) };
        let none = ReportSide { all, ..side(2, Vec::new()) };
        let report = ReportSnapshot { after: Some(none), ..report(vec![spent("GET /", 200, 1.0)], Vec::new()) };
        let text = text(&report, None);
        assert!(text.contains("200 to 0") && text.contains("5.00 to ?") && text.contains("1.00 ms to -"), "{text}");
        assert!(!text.contains("to 0.00"), "{text}");
    }

    #[test]
    fn a_history_that_does_not_reach_back_is_said_so() {
        let report =
            ReportSnapshot { before: None, after: Some(side(1, vec![spent("GET /", 5, 1.0)])), kept_since_ms: None };
        assert!(text(&report, None).starts_with("Before: nothing is kept."));
        assert!(text(&ReportSnapshot::default(), None).starts_with("No request"));
    }
}
