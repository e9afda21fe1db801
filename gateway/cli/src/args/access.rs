//! `sluice access`.

#![allow(clippy::doc_markdown, reason = "doc comments here are help texts, which terminals show as they are")]

use clap::{Args, ValueEnum};

/// `sluice access`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("examples/access.txt"))]
pub struct AccessArgs {
    /// Action
    #[arg(value_name = "hash")]
    pub action: AccessAction,
    /// Name of the user, to print a line for access.basic_auth_file
    pub name: Option<String>,
    /// Cost of the hash; each step doubles the time of a login
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(10..=14))]
    pub cost: u32,
}

/// Actions on passwords.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum AccessAction {
    /// Hash the password on standard input
    Hash,
}
