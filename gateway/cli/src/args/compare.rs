//! `sluice compare`.

#![allow(clippy::doc_markdown, reason = "doc comments here are help texts, which terminals show as they are")]

use std::path::PathBuf;

use clap::Args;

/// `sluice compare`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("examples/compare.txt"))]
pub struct CompareArgs {
    /// Runs of @sluice/preload/runs (SLUICE_RUNS), or the output of sluice status --json; - is standard input
    #[arg(value_name = "ONE")]
    pub one: PathBuf,
    /// Runs of the other program, machine or version, in either format
    #[arg(value_name = "OTHER")]
    pub other: PathBuf,
    /// Print everything as one JSON object
    #[arg(long)]
    pub json: bool,
}
