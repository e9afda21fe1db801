//! `sluice init`.

#![allow(clippy::doc_markdown, reason = "doc comments here are help texts, which terminals show as they are")]

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  sluice init                          look at package.json and at what is built, and write sluice.toml
  sluice init --print                  show the file, and write none
  sluice init --force                  again, after a build
  sluice init --docker --compose       write Dockerfile, .dockerignore and compose.yaml as well
  sluice init --systemd --print        show the unit

A file that exists is replaced by --force alone. With one of --systemd, --docker, --compose and --kubernetes a sluice.toml that
exists stays, and its ports and times are those of the other files.

Known are Next.js, React Router, Remix, Astro, SvelteKit, Nuxt, Nitro and Vite, as their builds are without settings of one's own.";

/// `sluice init`.
#[derive(Args, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "a flag each")]
#[command(after_help = EXAMPLES)]
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
