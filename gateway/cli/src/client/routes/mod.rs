//! `sluice routes`: the tables of the app's routers. The worker reads and judges them
//! (`packages/preload/src/routes/route-report.ts`); here its findings get the places where the code was written, and are shown.

mod text;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::{Deserialize, Serialize};
use sluice_catalog::profiles::{Kind, ProfileFile, Wish};
use sluice_profiles::{Places, path_of};

use super::connect::{ClientError, Gateway};
use super::profile::files::FileError;
use super::profile::{LAST_STEPS_TIMEOUT, clean_up_at_signals, raw_dir};
use super::source_maps;
use crate::args::RoutesArgs;
use crate::exit::Exit;
use crate::output;

/// Output of `--json`.
#[derive(Debug, Default, Serialize)]
struct Report {
    workers: Vec<WorkerReport>,
    /// Reasons for the lack of other workers' tables.
    errors: Vec<String>,
}

#[derive(Debug, Default, Serialize)]
struct WorkerReport {
    worker: u64,
    #[serde(flatten)]
    found: RouterTables,
}

/// Table that a worker has written.
#[derive(Debug, Default, Deserialize, Serialize)]
struct RouterTables {
    tables: Vec<Table>,
    /// Entries, routers and tables for which there was no room.
    left_off: u64,
}

#[derive(Debug, Default, Deserialize, Serialize)]
struct Table {
    framework: String,
    look_up: LookUp,
    entries: u64,
    added: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    tests_max: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    look_up_us_max: Option<f64>,
    routes: Vec<Route>,
    left_off: u64,
    not_judged: u64,
}

/// Way in which a router finds a route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum LookUp {
    /// Entry by entry, until one fits.
    #[default]
    Linear,
    /// Every entry, for each request.
    All,
    /// Search in a tree.
    Tree,
}

/// One entry of a table; the fields are those of `RouteReport` in the preload.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct Route {
    position: u64,
    kind: String,
    methods: Vec<String>,
    path: String,
    handler: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    of_handler: bool,
    added: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeats: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    behind: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    certain: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tests: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    look_up_us: Option<f64>,
}

pub fn run(args: &RoutesArgs) -> Result<ExitCode, ClientError> {
    clean_up_at_signals();
    let mut gateway = Gateway::connect(&args.run_dir)?;
    gateway.set_patience(Some(LAST_STEPS_TIMEOUT))?;
    let wish = Wish { kind: Kind::Routes, worker: args.worker, all: args.all, ..Wish::default() };
    let taken = gateway.profiles(wish)?;
    let _raw = raw_dir(&taken);
    let report = read(&taken)?;
    if args.json {
        gateway.print_json(&report)?;
    } else {
        output::print(&text::of(&report, args.limit));
    }
    if report.workers.iter().all(|worker| worker.found.tables.is_empty()) {
        return Ok(Exit::Failed.because(text::NO_ROUTER));
    }
    Ok(Exit::Ok.into())
}

fn read(taken: &[ProfileFile]) -> Result<Report, FileError> {
    let mut report = Report::default();
    for taken in taken {
        if let Some(error) = &taken.error {
            report.errors.push(error.clone());
            continue;
        }
        let file = || PathBuf::from(&taken.file);
        let text = std::fs::read(Path::new(&taken.file)).map_err(|source| FileError::Io { file: file(), source })?;
        let found = serde_json::from_slice(&text).map_err(|source| FileError::Json { file: file(), source })?;
        report.workers.push(WorkerReport { worker: taken.worker, found: at_source(found, &taken.node) });
    }
    Ok(report)
}

/// Puts the entries where their code was written.
fn at_source(mut found: RouterTables, node: &str) -> RouterTables {
    let routes = || found.tables.iter().flat_map(|table| &table.routes);
    let asked = routes().filter_map(|route| {
        let column = route.column.unwrap_or(1).saturating_sub(1);
        Some((route.file.as_deref()?, route.line?.saturating_sub(1), Some(column)))
    });
    let originals = source_maps::originals(&Places::of(asked), if node.is_empty() { "node" } else { node });
    let mut originals = originals.into_iter();
    for route in found.tables.iter_mut().flat_map(|table| &mut table.routes) {
        let Some(file) = route.file.take() else { continue };
        // Without its line it was not asked for.
        let original = if route.line.is_some() { originals.next().flatten() } else { None };
        route.file = Some(match original {
            Some((file, line, column)) => {
                (route.line, route.column) = (Some(line + 1), Some(column + 1));
                file
            }
            None => path_of(&file),
        });
    }
    found
}
