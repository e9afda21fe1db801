//! `sluice hotspots`: which line of the app holds up the thread, by profiles from files or of a live worker.

mod table;

use std::env;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;
use sluice_catalog::profiles::{Kind, Wish};
use sluice_profiles::Profile;
use sluice_profiles::hotspots::{Change, CodeLocation, Figure, Hotspots, Options, Over, ThreadWatch, compare};

use super::connect::{ClientError, Gateway};
use super::profile::{LAST_STEPS_TIMEOUT, clean_up_at_signals, raw_dir, read_into};
use super::{busiest, source_maps};
use crate::args::{Deps, HotspotsArgs};
use crate::exit::Exit;
use crate::output;
use crate::stderr;

/// Maximum number of lines over a budget on standard error.
const OVER_TOLD_MAX: usize = 20;

/// The JSON of a look at profiles.
#[derive(Serialize)]
struct HotspotsOutput {
    #[serde(flatten)]
    report: Hotspots,
    over_budget: Vec<Over>,
}

/// The JSON of a comparison.
#[derive(Serialize)]
struct ComparisonOutput {
    before: Vec<ThreadWatch>,
    after: Vec<ThreadWatch>,
    changes: Vec<Change>,
    over_budget: Vec<Over>,
}

/// Reason for the lack of a report.
enum Failure {
    Client(ClientError),
    /// A sentence about a file.
    File(String),
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Self::Client(error)
    }
}

pub fn run(args: &HotspotsArgs) -> Result<ExitCode, ClientError> {
    let done = match args.compare.as_slice() {
        [before, after] => compared(args, before, after),
        _ => looked(args),
    };
    match done {
        Ok(exit) => Ok(exit),
        Err(Failure::Client(error)) => Err(error),
        Err(Failure::File(text)) => Ok(Exit::Failed.because(text)),
    }
}

fn looked(args: &HotspotsArgs) -> Result<ExitCode, Failure> {
    let (profile, node, used_ms) = if args.live {
        live(args)?
    } else {
        let mut profile = Profile::default();
        for file in &args.files {
            read(&mut profile, file, &file.display().to_string())?;
        }
        (profile, "node".to_owned(), None)
    };
    let mut report = report(args, profile, &node);
    report.used_ms = used_ms;
    let over_budget: Vec<Over> = args.budget.iter().flat_map(|budget| budget.over(&report)).collect();
    let lacks = lacking(args, &[&report]);
    if args.sort != Figure::Worst {
        report.lines.sort_by(|a, b| args.sort.value(b).total_cmp(&args.sort.value(a)));
    }
    if args.json {
        report.lines.truncate(args.limit.unwrap_or(usize::MAX));
        return Ok(ended(
            print_json(&HotspotsOutput { report, over_budget: over_budget.clone() }),
            &over_budget,
            lacks,
        ));
    }
    let text = table::lines(&report, args.limit.unwrap_or(table::ROWS_DEFAULT));
    Ok(ended(output::print(&text), &over_budget, lacks))
}

fn compared(args: &HotspotsArgs, before: &Path, after: &Path) -> Result<ExitCode, Failure> {
    let look = |file: &Path| -> Result<Hotspots, Failure> {
        let mut profile = Profile::default();
        read(&mut profile, file, &file.display().to_string())?;
        Ok(report(args, profile, "node"))
    };
    let (before, after) = (look(before)?, look(after)?);
    let mut changes = compare(&before, &after);
    let lacks = lacking(args, &[&before, &after]);
    let over_budget: Vec<Over> = args.budget.iter().flat_map(|budget| budget.over_growth(&changes)).collect();
    if args.json {
        changes.truncate(args.limit.unwrap_or(usize::MAX));
        let (before, after) = (before.profiles, after.profiles);
        let compared = ComparisonOutput { before, after, changes, over_budget: over_budget.clone() };
        return Ok(ended(print_json(&compared), &over_budget, lacks));
    }
    let text = table::changes(&before, &after, &changes, args.limit.unwrap_or(table::ROWS_DEFAULT));
    Ok(ended(output::print(&text), &over_budget, lacks))
}

/// Profiles of workers that do their work meanwhile, the Node.js of their app, and the CPU time that they had, milliseconds.
fn live(args: &HotspotsArgs) -> Result<(Profile, String, Option<f64>), Failure> {
    clean_up_at_signals();
    let mut gateway = Gateway::connect(&args.run_dir)?;
    let duration_ms = args.seconds_ms;
    gateway.set_patience(Some(Duration::from_millis(duration_ms) + LAST_STEPS_TIMEOUT))?;
    let worker = busiest::chosen(&mut gateway, args.worker, args.all)?;
    let wish = Wish { kind: Kind::Cpu, worker, all: args.all, duration_ms, route: None };
    let taken = gateway.profiles(wish)?;
    let _raw = raw_dir(&taken);
    let mut profile = Profile::default();
    let (mut node, mut used_ms) = ("node", 0.0);
    for taken in &taken {
        if let Some(error) = &taken.error {
            stderr::say(format_args!("sluice: {error}"));
            continue;
        }
        read(&mut profile, Path::new(&taken.file), &format!("worker {}", taken.worker))?;
        node = if taken.node.is_empty() { node } else { &taken.node };
        used_ms += taken.used_ms;
    }
    Ok((profile, node.to_owned(), Some(used_ms)))
}

fn read(profile: &mut Profile, file: &Path, name: &str) -> Result<(), Failure> {
    read_into(profile, file, name).map_err(|error| Failure::File(error.to_string()))
}

fn report(args: &HotspotsArgs, profile: Profile, node: &str) -> Hotspots {
    let profile =
        if args.no_source_maps { source_maps::with_own_code(profile) } else { source_maps::mapped(profile, node) };
    let directory = env::current_dir().map(|path| path.display().to_string()).unwrap_or_default();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates; times are positive")]
    let threshold_us = (args.threshold * 1000.0) as u64;
    let options = Options { threshold_us, folds: args.deps == Deps::Folded, directory };
    let mut report = Hotspots::of(&profile, &options);
    if let Some(text) = &args.only {
        report.lines.retain(|line| is_meant(&line.place, text));
    }
    report
}

fn is_meant(place: &CodeLocation, text: &str) -> bool {
    place.file.contains(text) || place.owner == text
}

/// Reason why a budget holds nothing: there is nothing of the code that is meant, or a profile is empty.
fn lacking(args: &HotspotsArgs, reports: &[&Hotspots]) -> Option<String> {
    let only = args.only.as_ref().filter(|_| reports.iter().all(|report| report.lines.is_empty()));
    let is_empty = |report: &&Hotspots| report.profiles.iter().all(|profile| profile.samples == 0);
    match only {
        Some(text) => Some(format!("no sample is in a file with `{text}` in its path, or in that package (--only)")),
        None if !args.budget.is_empty() && reports.iter().any(is_empty) => {
            Some("--budget: the profile has no samples, so there is no verdict".to_owned())
        }
        None => None,
    }
}

/// Says which lines are over their budgets; that is a failure. So is a look that has nothing to hold to one.
fn ended(printed: ExitCode, over: &[Over], lacks: Option<String>) -> ExitCode {
    if let Some(text) = lacks {
        return Exit::Failed.because(text);
    }
    if over.is_empty() {
        return printed;
    }
    let mut text = format!("over budget: {}", over.len());
    for Over { place, budget, value } in over.iter().take(OVER_TOLD_MAX) {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n  {budget}: {} has {}", table::name(place), budget.show(*value));
    }
    if over.len() > OVER_TOLD_MAX {
        let _ = write!(text, "\n  and {} more", over.len() - OVER_TOLD_MAX);
    }
    Exit::Failed.because(text)
}

fn print_json(value: &impl Serialize) -> ExitCode {
    match serde_json::to_string_pretty(value) {
        Ok(json) => output::print(&(json + "\n")),
        Err(error) => Exit::Failed.because(error),
    }
}
