//! Commands that no help lists: Sluice starts them itself, or those who work on it do.

#![allow(clippy::doc_markdown, reason = "doc comments here are help texts, which terminals show as they are")]

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::StartArgs;

/// `sluice guardian`, which only the gateway starts.
#[derive(Args, Debug)]
pub struct GuardianArgs {
    /// Arguments that the gateway passes
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub rest: Vec<OsString>,
}

/// `sluice shepherd`, which only the gateway becomes.
#[derive(Args, Debug)]
pub struct ShepherdArgs {
    /// The instance's run directory
    pub run_dir: PathBuf,
    /// The gateway that serves
    pub pid: u32,
}

/// `sluice generate`, for those who work on Sluice.
#[derive(Args, Debug)]
pub struct GenerateArgs {
    /// The repository's root
    pub root: PathBuf,
    /// Write nothing; fail and name the files that are not up to date
    #[arg(long)]
    pub check: bool,
}

/// `sluice draw-flame`, which only the gateway starts.
#[derive(Args, Debug)]
pub struct DrawFlameArgs {
    /// The longest that it may take, seconds
    pub seconds_max: u64,
}

/// `sluice rehearsed`, which only `sluice rehearse` starts.
#[derive(Args, Debug)]
pub struct RehearsedArgs {
    #[command(flatten)]
    pub start: StartArgs,
    /// Settings that go before those of the file, as JSON
    #[arg(long)]
    pub settings: PathBuf,
}
