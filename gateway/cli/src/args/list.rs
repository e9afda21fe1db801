//! `sluice list`.

#![allow(clippy::doc_markdown, reason = "doc comments here are help texts, which terminals show as they are")]

use clap::Args;

/// `sluice list`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("examples/list.txt"))]
pub struct ListArgs {
    /// Print everything as one JSON array
    #[arg(long)]
    pub json: bool,
}
