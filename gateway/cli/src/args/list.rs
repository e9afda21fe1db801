//! `sluice list`.

#![allow(clippy::doc_markdown, reason = "doc comments here are help texts, which terminals show as they are")]

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  sluice list                          every gateway of this user, whatever directory it was started in
  sudo sluice list                     those of other users too
  sluice list --json | jq -r '.[].run_dir'

A gateway that has a /tmp of its own (PrivateTmp= of systemd, a container) is not listed outside; name it with --run-dir.";

/// `sluice list`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ListArgs {
    /// Print everything as one JSON array
    #[arg(long)]
    pub json: bool,
}
