//! `sluice report`: what requests took, before and after.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use sluice_admin::protocol::Request;
use sluice_catalog::snapshot::{ReportSide, ReportSnapshot, SpentSnapshot};
use sluice_compare::{LikeForLike, REQUESTS_MIN, SHARE_MIN, Verdict, like_for_like};
use sluice_observe::cpu_of;

use super::connect::{ClientError, Gateway};
use super::status::{aligned, duration, harmless, milliseconds};
use crate::args::{ReportArgs, Since};
use crate::exit::Exit;
use crate::findings::{change_said, percent_sure};
use crate::output;

/// Reason why there is a change and no interval.
const NO_PARTS: &str =
    "CPU times of too few parts of one side are known, or the saved report is of an earlier version of Sluice";
/// Maximum number of listed classes.
const ROWS_MAX: usize = 30;
/// Maximum shown length of a class's name, characters.
const NAME_CHARS_MAX: usize = 60;

/// Reason why requests are not surely within their budget.
#[derive(Debug, thiserror::Error)]
enum OverBudget {
    #[error("too few requests in one period for a verdict")]
    Unknown,
    #[error(
        "like for like, requests take {change} more CPU time, with {sure:.2} % certainty above the budget of {budget} %"
    )]
    Sure { change: String, sure: f64, budget: f64 },
    #[error(
        "like for like, requests take {change} more CPU time. More requests are needed to decide whether that exceeds the budget \
         of {budget} %"
    )]
    Open { change: String, budget: f64 },
    #[error("like for like, requests take {percent:+.1} % more CPU time, with unknown certainty: {NO_PARTS}")]
    Unsure { percent: f64 },
    #[error(
        "classes with at least {REQUESTS_MIN} requests in both periods take {percent:.0} % of the CPU time of one period: too little \
         for a verdict"
    )]
    Apart { percent: f64 },
}

/// Reason why a saved report cannot be used.
#[derive(Debug, thiserror::Error)]
enum SavedError {
    #[error("{path}: {error}")]
    Unread { path: String, error: std::io::Error },
    #[error("{path} is not output of `sluice report --json`: {error}")]
    Other { path: String, error: serde_json::Error },
    #[error("{path} has no requests: save a report after some requests")]
    Empty { path: String },
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
    let change = change_of(&report);
    report.change = change.as_ref().map(|change| sluice_observe::finding_snapshot(&change.finding(0.0)));
    let printed = if args.json { gateway.print_json(&report)? } else { output::print(&text(&report, change.as_ref())) };
    let over = args.budget.and_then(|budget| over_budget(change.as_ref(), budget).err());
    Ok(over.map_or(printed, |why| Exit::Failed.because(format_args!("--budget: {why}"))))
}

/// Checks that requests surely take no more than so many percent of additional CPU time.
///
/// # Errors
/// Reason why they do, or why that cannot be told.
fn over_budget(change: Option<&LikeForLike>, budget: f64) -> Result<(), OverBudget> {
    let change = change.ok_or(OverBudget::Unknown)?;
    let finding = change.finding(budget / 100.0);
    let said = || change_said(&finding);
    let share = compared_share(change);
    match finding.verdict {
        Verdict::Better if share < SHARE_MIN => Err(OverBudget::Apart { percent: share * 100.0 }),
        Verdict::Better => Ok(()),
        Verdict::Worse => Err(OverBudget::Sure { change: said(), sure: percent_sure(&finding), budget }),
        _ if finding.change.is_none() => Err(OverBudget::Unsure { percent: change.value() * 100.0 }),
        _ => Err(OverBudget::Open { change: said(), budget }),
    }
}

/// Share of the CPU time that the compared classes have, on the side where that is less.
fn compared_share(change: &LikeForLike) -> f64 {
    change.shares[0].min(change.shares[1])
}

fn read_saved(path: &Path) -> Result<ReportSide, SavedError> {
    let name = || path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| SavedError::Unread { path: name(), error })?;
    let report: ReportSnapshot =
        serde_json::from_str(&text).map_err(|error| SavedError::Other { path: name(), error })?;
    report.after.ok_or_else(|| SavedError::Empty { path: name() })
}

/// Change of CPU time, by the classes that came often enough on both sides.
fn change_of(report: &ReportSnapshot) -> Option<LikeForLike> {
    like_for_like(&cpu_of(report.before.as_ref()?), &cpu_of(report.after.as_ref()?))
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
        None => text.push_str(
            "Before: no history. It begins with the gateway and with each version of the app. \
                               `--since 30m` compares periods, `--against FILE` a saved report\n",
        ),
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
            "Too few requests to compare: no class has {REQUESTS_MIN} requests with known CPU times on both sides.\n"
        );
    };
    let [before_s, after_s] = [change.before_us, change.after_us].map(|us| us / 1_000.0);
    let finding = change.finding(0.0);
    let direction = match finding.verdict {
        Verdict::Worse => "Requests are dearer",
        Verdict::Better => "Requests are cheaper",
        _ => "No change is certain",
    };
    let sure = match finding.change {
        None => format!("{:+.1} %; certainty unknown: {NO_PARTS}", change.value() * 100.0),
        Some(_) => format!("{}, {:.2} % sure", change_said(&finding), percent_sure(&finding)),
    };
    format!(
        "{direction}: a thousand requests like those before take {after_s:.2} s of CPU time instead of {before_s:.2} s: \
         {sure}; most by {}. The classes that both sides have take {:.0} % of the CPU time before and {:.0} % after.\n",
        name(&change.most),
        (change.shares[0] * 100.0).floor(),
        (change.shares[1] * 100.0).floor()
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

    /// Parts that differ by 4 %.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)] // Small.
    fn parts(requests: u64, cpu_s_per_1000: f64) -> Vec<[u64; 2]> {
        let count = requests / 12;
        let us = |at: u64| count as f64 * cpu_s_per_1000 * 1_000.0 * if at.is_multiple_of(2) { 0.98 } else { 1.02 };
        (0..12).map(|at| [count, us(at) as u64]).collect()
    }

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
            parts: parts(requests, cpu_s_per_1000),
        }
    }

    fn side(generation: u64, classes: Vec<SpentSnapshot>) -> ReportSide {
        let requests = classes.iter().map(|class| class.requests).sum();
        let all = spent("", requests, 1.0);
        ReportSide { from_ms: 0, until_ms: 600_000, generations: vec![generation], all, classes }
    }

    fn report(before: Vec<SpentSnapshot>, after: Vec<SpentSnapshot>) -> ReportSnapshot {
        ReportSnapshot {
            before: Some(side(1, before)),
            after: Some(side(2, after)),
            kept_since_ms: Some(0),
            change: None,
        }
    }

    #[test]
    fn another_mix_of_requests_is_no_change() {
        let before = vec![spent("cheap", 1200, 1.0), spent("dear", 1200, 9.0)];
        let after = vec![spent("cheap", 120, 1.0), spent("dear", 4800, 9.0)];
        let report = report(before, after);
        let change = change_of(&report).unwrap();
        assert!(change.value().abs() < 1e-9, "{change:?}");
        let text = text(&report, Some(&change));
        assert!(text.contains("No change is certain: a thousand requests like those before take 5.00 s"), "{text}");
    }

    #[test]
    fn the_class_that_became_dearer_is_named_and_how_sure_that_is() {
        let before = vec![spent("GET /", 1200, 1.0), spent("GET /search\u{1b}", 1200, 10.0)];
        let after = vec![spent("GET /", 1200, 1.0), spent("GET /search\u{1b}", 1200, 30.0), spent("GET /new", 9, 1.0)];
        let report = report(before, after);
        let text = text(&report, change_of(&report).as_ref());
        assert!(text.contains("are dearer: a thousand requests like those before take 15.50 s"), "{text}");
        assert!(
            text.contains("instead of 5.50 s: +181.8 % (+1") && text.contains("99.99 % sure; most by GET /search?."),
            "{text}"
        );
        assert!(text.contains("10.0 to 30.0") && text.contains("+200 %") && !text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn budget_is_kept_exceeded_or_open() {
        let before = || vec![spent("GET /", 1200, 10.0)];
        let judged = |after: f64, budget: f64| {
            over_budget(change_of(&report(before(), vec![spent("GET /", 1200, after)])).as_ref(), budget)
                .map_err(|over| over.to_string())
        };
        assert!(judged(10.0, 10.0).is_ok() && judged(13.0, 50.0).is_ok());
        let over = judged(13.0, 10.0).unwrap_err();
        assert!(over.contains("+30.0 % (+") && over.contains(" % certainty above the budget of 10 %"), "{over}");
        let open = judged(11.0, 10.0).unwrap_err();
        assert!(open.contains("+10.0 % (+") && open.contains("More requests are needed to decide"), "{open}");
        let old = SpentSnapshot { parts: Vec::new(), ..spent("GET /", 1200, 10.0) };
        let old = over_budget(change_of(&report(before(), vec![old])).as_ref(), 10.0).unwrap_err().to_string();
        assert!(old.contains("with unknown certainty"), "{old}");
        assert!(over_budget(None, 10.0).unwrap_err().to_string().contains("too few requests"));
    }

    #[test]
    fn budget_is_open_if_most_of_the_time_is_in_classes_of_one_side() {
        let report = report(
            vec![spent("GET /health", 1200, 1.0), spent("GET /old", 9000, 50.0)],
            vec![spent("GET /health", 1200, 1.0), spent("GET /new", 9000, 500.0)],
        );
        let change = change_of(&report);
        let open = over_budget(change.as_ref(), 10.0).unwrap_err().to_string();
        assert!(open.contains("0 % of the CPU time"), "{open}");
        let text = text(&report, change.as_ref());
        assert!(text.contains("take 0 % of the CPU time before and 0 % after"), "{text}");
    }

    #[test]
    fn too_few_requests_are_said_to_be_too_few() {
        let report = report(vec![spent("GET /", 99, 1.0)], vec![spent("GET /", 99, 9.0)]);
        assert_eq!(change_of(&report), None);
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
        let report = ReportSnapshot { after: Some(side(1, vec![spent("GET /", 5, 1.0)])), ..ReportSnapshot::default() };
        assert!(text(&report, None).starts_with("Before: no history."));
        assert!(text(&ReportSnapshot::default(), None).starts_with("No request"));
    }
}
