//! `sluice init`.

#![allow(clippy::doc_markdown, reason = "doc comments here are help texts, which terminals show as they are")]

use clap::Args;

/// `sluice init`.
#[derive(Args, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "a flag each")]
#[command(after_help = include_str!("examples/init.txt"))]
pub struct InitArgs {
    /// Replace files that exist
    #[arg(long, short)]
    pub force: bool,
    /// Print the files instead of writing them
    #[arg(long, conflicts_with = "force")]
    pub print: bool,
    /// Write a systemd unit, NAME.service
    #[arg(long)]
    pub systemd: bool,
    /// Write Dockerfile and .dockerignore
    #[arg(long)]
    pub docker: bool,
    /// Write compose.yaml, and the Dockerfile that it builds
    #[arg(long)]
    pub compose: bool,
    /// Write kubernetes.yaml (deployment, service, disruption budget), and the Dockerfile of its image
    #[arg(long)]
    pub kubernetes: bool,
}

impl InitArgs {
    /// Whether files for production are asked for.
    pub fn deploys(&self) -> bool {
        self.systemd || self.docker || self.compose || self.kubernetes
    }
}
