//! `sluice hotspots`.

#![allow(clippy::doc_markdown, reason = "doc comments here are help texts, which terminals show as they are")]

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use sluice_profiles::hotspots::{Budget, Figure, milliseconds};

use super::{RunDirArg, seconds};

/// `sluice hotspots`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("examples/hotspots.txt"))]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct HotspotsArgs {
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// CPU profiles of Node.js or Chrome (.cpuprofile), or traces of Chrome, also gzipped; several are added up
    #[arg(value_name = "FILE", required_unless_present_any = ["live", "compare"], conflicts_with_all = ["live", "compare"])]
    pub files: Vec<PathBuf>,
    /// Profile a worker now
    #[arg(long, conflicts_with = "compare")]
    pub live: bool,
    /// Id of the worker [default: the one with most CPU time in the last seconds]
    #[arg(long, value_name = "ID", requires = "live", conflicts_with_all = ["files", "compare"])]
    pub worker: Option<u64>,
    /// Use every serving worker
    #[arg(long, requires = "live", conflicts_with_all = ["worker", "files", "compare"])]
    pub all: bool,
    /// Duration of the profile in seconds, from 0.05 to 60
    #[arg(id = "seconds", long = "seconds", short, value_name = "N", requires = "live", conflicts_with_all = ["files", "compare"], default_value = "10", value_parser = seconds)]
    pub seconds_ms: u64,
    /// Show differences between two profiles, the largest first
    #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"])]
    pub compare: Vec<PathBuf>,
    /// Minimum duration of a long run
    #[arg(long, value_name = "TIME", default_value = "10ms", value_parser = milliseconds)]
    pub threshold: f64,
    /// Code of packages and Node.js: folded into the calling line of the app, or shown with its own lines
    #[arg(long, value_name = "HOW", default_value = "folded")]
    pub deps: Deps,
    /// Show only lines of this package or of files with this text in their paths; fails if there are none
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Figure to sort by, largest first
    #[arg(long, value_name = "FIGURE", default_value = "worst", value_parser = figures(), conflicts_with = "compare")]
    pub sort: Figure,
    /// Number of lines to show [default: 25, with --json all]
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Fail with exit code 1 if a line of code exceeds this limit; may be repeated
    #[arg(long, value_name = "FIGURE=LIMIT")]
    pub budget: Vec<Budget>,
    /// Show positions in the executed code instead of the sources
    #[arg(long)]
    pub no_source_maps: bool,
    /// Print everything as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Treatment of code that is not the app's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Deps {
    /// Attributed to the line of the app that called it.
    Folded,
    /// Lines of their own.
    Shown,
}

fn figures() -> impl TypedValueParser<Value = Figure> {
    let words = PossibleValuesParser::new(Figure::ALL.map(Figure::as_str));
    words.map(|word| Figure::ALL.into_iter().find(|figure| figure.as_str() == word).unwrap_or(Figure::Worst))
}
