//! `sluice routes`.

#![allow(clippy::doc_markdown, reason = "doc comments here are help texts, which terminals show as they are")]

use clap::Args;

use super::RunDirArg;

/// `sluice routes`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("examples/routes.txt"))]
pub struct RoutesArgs {
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Worker to look at [default: the one that has answered most requests]
    #[arg(long, value_name = "ID", conflicts_with = "all")]
    pub worker: Option<u64>,
    /// Look at every worker that serves
    #[arg(long)]
    pub all: bool,
    /// Entries of each list that are shown
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub limit: usize,
    /// Print everything as one JSON object
    #[arg(long)]
    pub json: bool,
}
