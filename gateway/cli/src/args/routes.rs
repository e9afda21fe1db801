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
    /// Id of the worker [default: the one with most answered requests]
    #[arg(long, value_name = "ID", conflicts_with = "all")]
    pub worker: Option<u64>,
    /// Use every serving worker
    #[arg(long)]
    pub all: bool,
    /// Maximum number of entries in each list
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub limit: usize,
    /// Print everything as one JSON object
    #[arg(long)]
    pub json: bool,
}
