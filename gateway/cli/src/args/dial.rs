//! `sluice dial`.

use std::path::PathBuf;

use clap::Args;

use super::RunDirArg;

const DIAL_EXAMPLES: &str = "\
Examples:
  sluice dial                          the shares in force
  sluice dial 80%                      render on the server for 80 of 100 visitors
  sluice dial Reviews 0%               leave one component to the browser
  sluice dial Reviews@mobile 25%       for telephones another share (mobile, desktop, bot)
  sluice dial '*@bot' 100%             whole pages for all bots
  sluice dial --config sluice.toml     what the file says now, and nothing else

Workers hear of it within a second, and no worker is replaced. It holds until the next reload, upgrade or start, which takes
[render.server] of sluice.toml.";

/// `sluice dial`.
#[derive(Args, Debug)]
#[command(after_help = DIAL_EXAMPLES)]
pub struct DialArgs {
    /// Component, component@device or *@device [default: *, all components]
    #[arg(value_name = "WHAT", conflicts_with = "config")]
    pub what: Option<String>,
    /// Share of visitors, from 0% to 100%
    #[arg(value_name = "SHARE")]
    pub share: Option<String>,
    /// Take all shares from this file's [render.server]
    #[arg(long, short, value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Print the dial as one JSON object
    #[arg(long)]
    pub json: bool,
}
