//! `sluice init`.

#![allow(clippy::doc_markdown, reason = "doc comments here are help texts, which terminals show as they are")]

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  sluice init                          look at package.json and at what is built, and write sluice.toml
  sluice init --print                  show the file, and write none
  sluice init --force                  again, after a build

Known are Next.js, React Router, Remix, Astro, SvelteKit, Nuxt, Nitro and Vite, as their builds are without settings of one's own.";

/// `sluice init`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct InitArgs {
    /// Replace a file that exists
    #[arg(long, short)]
    pub force: bool,
    /// Print the file instead of writing it
    #[arg(long, conflicts_with = "force")]
    pub print: bool,
}
