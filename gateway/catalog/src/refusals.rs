//! Reasons why the gateway did not do what a command asked for. Each is data, one type a command, with the sentence
//! that the command prints, which says what to do. It must not know where or how anything is done.

mod app;
mod reload;
mod upgrade;

use std::io;
use std::path::PathBuf;

use crate::config::DialFault;

pub use app::AppError;
pub use reload::{GivenUp, NotBegun, OvertakenBy, ReloadError, WarmUpError};
pub use upgrade::{SuccessorError, UpgradeError};

/// Reason why `sluice scale` changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScaleError {
    /// The gateway finishes what it has.
    #[error("the gateway is stopping; start another one when it has stopped")]
    Leaving,
    /// No gateway has so many workers.
    #[error("the number of workers must be from 1 to {max}, not {workers}")]
    OutOfRange {
        /// Number of workers that was asked for.
        workers: u32,
        /// Largest number of workers.
        max: u32,
    },
}

/// Reason why `sluice canary` changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrialError {
    /// No version is on trial.
    #[error("no version is on trial; `sluice reload --canary 5%` begins a trial")]
    None,
    /// The task that decides is gone, or has too much to do.
    #[error("the gateway is stopping or busy; check `sluice canary` and try again")]
    Busy,
}

/// Reason why `sluice dial` changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DialError {
    /// The gateway finishes what it has.
    #[error("the gateway is stopping; start another one when it has stopped")]
    Leaving,
    /// The dial cannot be like that.
    #[error("the dial {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; it "))]
    Faults(Vec<DialFault>),
}

/// Reason for the lack of a flame graph in the dashboard.
#[derive(Debug, thiserror::Error)]
pub enum FlameError {
    /// Lack of a profile to draw.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The list of slow requests has none with this number.
    #[error("profile {0} of a slow request no longer exists; newer ones replaced it")]
    NoTail(u64),
    /// The process that draws cannot be started or spoken to.
    #[error("cannot start a process to draw the profile: {0}")]
    Process(io::Error),
    /// Process that ended without a flame graph, and its words.
    #[error("cannot draw the profile: {0}")]
    Said(String),
    /// Longest time, seconds, which the process exceeded.
    #[error("drawing the profile took longer than {0} s; take a shorter one")]
    TooLong(u64),
    /// More than this many bytes.
    #[error("the flame graph is larger than {0} bytes; take a shorter profile, or use `sluice profile --open`")]
    TooLarge(u64),
}

/// Reason for the lack of a worker's profile.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The gateway ended before the profile was there.
    #[error("the gateway is stopping, and the profile is cancelled")]
    Leaving,
    /// No worker takes requests.
    #[error("no worker serves; `sluice status` shows their states")]
    NoWorker,
    /// Worker that takes no requests, or does not exist.
    #[error("no worker {0} serves; `sluice status` lists them")]
    NotServing(u64),
    /// The worker is told the file's name in JSON, which has no other names.
    #[error("{}: not a name in UTF-8. Choose another directory with --run-dir", .0.display())]
    FileName(PathBuf),
    /// No room could be made for the file.
    #[error("{}: {source}", file.display())]
    File {
        /// File to which the profile was to be written.
        file: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// No class has this name, nor this path.
    #[error("no request had the class {0:?}; `sluice classes` lists all classes")]
    NoRoute(String),
    /// Profile of this worker that another client waits for.
    #[error("worker {0} is already being profiled; try again when that has ended")]
    UnderWay(u64),
    /// The worker has no preload, or its channel is full.
    #[error("worker {0} accepts no messages; only Node.js apps can be profiled")]
    NoMessages(u64),
    /// The preload could not do it.
    #[error("worker {worker}: {words}")]
    Said {
        /// Number of the worker.
        worker: u64,
        /// Words of the worker.
        words: String,
    },
    /// The worker ended, or was replaced.
    #[error("worker {worker} exited before its profile was complete{}", after(diagnosis.as_deref()))]
    Left {
        /// Number of the worker.
        worker: u64,
        /// Findings of the gateway before it killed the worker.
        diagnosis: Option<String>,
    },
    /// The event loop does not turn, and the inspector cannot be used either.
    #[error("the event loop of worker {worker} is blocked, and {why}")]
    Blocked {
        /// Number of the worker.
        worker: u64,
        /// Reason for the lack of an inspector.
        why: String,
    },
    /// The worker said nothing in time.
    #[error("worker {0} did not answer; its event loop may be blocked (`sluice status`)")]
    Silent(u64),
}

/// End of the sentence that a worker exited: the cause, or the command that shows it.
fn after(diagnosis: Option<&str>) -> String {
    diagnosis.map_or_else(
        || "; `sluice status` shows why. --all profiles every worker".to_owned(),
        |diagnosis| format!(": it was {diagnosis}"),
    )
}
