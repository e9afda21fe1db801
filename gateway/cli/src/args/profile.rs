//! `sluice profile` and `sluice heap`.

use std::path::PathBuf;

use clap::Args;
use sluice_catalog::profiles::Kind;

use super::milliseconds::Milliseconds;
use super::{RunDirArg, seconds};

/// `sluice profile`.
#[derive(Args, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = include_str!("examples/profile.txt"))]
pub struct ProfileArgs {
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Profiles to draw in place of a worker's: .cpuprofile files of Node.js, Chrome or Sluice, or traces of Chrome, also with gzip.
    /// Several files make one flame graph, FILE.html beside the first
    #[arg(value_name = "FILE", conflicts_with_all = ["worker", "all", "seconds", "duration_ms", "route", "tail", "native"])]
    pub files: Vec<PathBuf>,
    /// Id of the worker [default: the one with most CPU time in the last seconds]
    #[arg(long, value_name = "ID", conflicts_with = "all")]
    pub worker: Option<u64>,
    /// Profile every serving worker and merge the profiles
    #[arg(long)]
    pub all: bool,
    /// Duration of the profile in seconds, from 0.05 to 60
    #[arg(id = "seconds", long = "seconds", short, value_name = "N", default_value = "5", value_parser = seconds)]
    seconds_ms: u64,
    /// The same in milliseconds
    #[arg(long, hide = true, value_name = "MS", value_parser = Milliseconds(50..=60_000))]
    pub duration_ms: Option<u64>,
    /// Show only code that ran for requests of this class, or of classes with this path
    #[arg(long, value_name = "CLASS")]
    pub route: Option<String>,
    /// List profiles of requests above the 99th percentile of CPU time of their class, or show the profile with this id
    #[arg(long, value_name = "ID", num_args = 0..=1, conflicts_with_all = ["worker", "all", "route"])]
    #[allow(clippy::option_option, reason = "without it, without an id, and with one")]
    pub tail: Option<Option<u64>>,
    /// Profile all threads with perf: native code and, where it is permitted, the kernel
    #[arg(long, conflicts_with_all = ["route", "tail"])]
    pub native: bool,
    /// Directory or name of the files, without .cpuprofile and .html [default: a name in profiles/ of the state directory]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Open the flame graph in the browser (open, xdg-open)
    #[arg(long)]
    pub open: bool,
    /// Print everything as one JSON object
    #[arg(long)]
    pub json: bool,
}

impl ProfileArgs {
    /// Duration of the profile.
    pub fn duration_ms(&self) -> u64 {
        self.duration_ms.unwrap_or(self.seconds_ms)
    }
}

/// `sluice heap`.
#[derive(Args, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = include_str!("examples/heap.txt"))]
pub struct HeapArgs {
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Id of the worker [default: the one with most answered requests]
    #[arg(long, value_name = "ID")]
    pub worker: Option<u64>,
    /// Write the whole heap as a .heapsnapshot
    #[arg(long, group = "what")]
    pub snapshot: bool,
    /// Sample allocations that stay on the heap (default)
    #[arg(long, group = "what")]
    pub sampling: bool,
    /// Sample all allocations, including garbage-collected ones
    #[arg(long, group = "what")]
    pub allocations: bool,
    /// Duration of the profile in seconds, from 0.05 to 60; not for a snapshot
    #[arg(id = "seconds", long = "seconds", short, value_name = "N", default_value = "10", value_parser = seconds, conflicts_with = "snapshot")]
    seconds_ms: u64,
    /// Take a snapshot without confirmation
    #[arg(long, short)]
    pub yes: bool,
    /// Directory or name of the files, without extensions [default: a name in profiles/ of the state directory]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

impl HeapArgs {
    /// Subject of the profile.
    pub fn kind(&self) -> Kind {
        match (self.snapshot, self.allocations) {
            (true, _) => Kind::Snapshot,
            (_, true) => Kind::Allocations,
            _ => Kind::Sampling,
        }
    }

    /// Duration of the profile.
    pub fn duration_ms(&self) -> u64 {
        self.seconds_ms
    }
}
