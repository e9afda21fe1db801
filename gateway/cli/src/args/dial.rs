//! `sluice dial`.

use std::path::PathBuf;

use clap::Args;

use super::RunDirArg;

/// `sluice dial`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("examples/dial.txt"))]
pub struct DialArgs {
    /// Component, component@device or *@device [default: *, all components]
    #[arg(value_name = "WHAT", conflicts_with = "config")]
    pub what: Option<String>,
    /// Share of visitors, from 0% to 100%
    #[arg(value_name = "SHARE")]
    pub share: Option<String>,
    /// Read all shares from [render.server] of this file
    #[arg(long, short, value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Print the dial as one JSON object
    #[arg(long)]
    pub json: bool,
}
