//! Reasons why the version of before stays.

use std::fmt;
use std::io;

use super::AppError;
use crate::config::{ConfigError, Problem};
use crate::errors::Code;

/// Reason why `sluice reload` has not put a new version in force.
#[derive(Debug, thiserror::Error)]
pub enum ReloadError {
    /// Surplus of reloads that were asked for at once.
    #[error("too many reloads at once; try again when one has ended")]
    TooMany,
    /// The gateway ended before the reload did.
    #[error("The gateway is stopping.")]
    Leaving,
    /// No worker was started for it.
    #[error("no reload: {0}")]
    NotBegun(#[from] NotBegun),
    /// Another gateway serves, which may not have read the new version.
    #[error("generation {generation} is abandoned: {by}")]
    Overtaken {
        /// The generation of the new version.
        generation: u64,
        /// The other gateway.
        by: OvertakenBy,
    },
    /// The new version's workers do not come to serve.
    #[error("generation {generation} is abandoned: {why}. {}.{}", stays(*is_in_force), end_of(stderr_tail))]
    GivenUp {
        /// The generation of the new version.
        generation: u64,
        /// Fault of the new version.
        why: GivenUp,
        /// Some of its workers serve.
        is_in_force: bool,
        /// The end of what its worker wrote to stderr; may be empty.
        stderr_tail: String,
    },
}

fn stays(is_in_force: bool) -> &'static str {
    if is_in_force {
        "Some workers run the new version, the others the previous one; reload again"
    } else {
        "The previous version continues"
    }
}

fn end_of(stderr_tail: &str) -> String {
    if stderr_tail.is_empty() { String::new() } else { format!("\n\nThe end of its stderr:\n{stderr_tail}") }
}

/// Reason why a reload did not begin.
#[derive(Debug, thiserror::Error)]
pub enum NotBegun {
    /// Another gateway serves.
    #[error("an upgrade has finished and process {pid} serves now; try again to reload it")]
    Overtaken {
        /// Process that does so.
        pid: u32,
    },
    /// The gateway finishes what it has.
    #[error("the gateway is stopping; start another one when it has stopped")]
    Leaving,
    /// First start that is still under way: there is nothing to replace.
    #[error(
        "the first start is still in progress; no worker has been ready yet. Try again when one is (`sluice status`)"
    )]
    NotStarted,
    /// The config is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A value of the config cannot be used.
    #[error("{0}")]
    Value(Problem),
    /// Lack of an app to start.
    #[error(transparent)]
    App(#[from] AppError),
    /// A share of visitors that the workers beside the present ones cannot serve.
    #[error("the share of a trial must be more than 0 % and at most 50 %")]
    Share,
    /// A batch of a pool that leaves no worker of the present version.
    #[error("--hold compares the first workers with the others, but this pool has one worker; use --canary")]
    Alone,
    /// The certificate came or went.
    #[error("server.tls_cert {}: another protocol on this port needs a restart", certificate(*is_tls))]
    Protocol {
        /// The new config names a certificate, and the one in force does not.
        is_tls: bool,
    },
    /// The thread that read the settings did not come back.
    #[error("cannot read the settings: {0}")]
    Unread(#[source] io::Error),
}

fn certificate(is_tls: bool) -> &'static str {
    if is_tls { "names a certificate" } else { "no longer names a certificate" }
}

/// The gateway that took over while a reload was under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OvertakenBy {
    /// Process id.
    pub pid: u32,
    /// True if it was started after the reload was asked for.
    pub has_read_it: bool,
}

impl fmt::Display for OvertakenBy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stands = if self.has_read_it {
            "which has read the new version at its start, so it is in force"
        } else {
            "which started before this reload was requested, so the new version may not be in force. Reload again"
        };
        write!(out, "an upgrade has taken over: process {} serves now, {stands}", self.pid)
    }
}

/// Reason why a generation was given up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GivenUp {
    /// Another reload came after it.
    #[error("a later reload replaced it")]
    Superseded,
    /// The trial rolled it back.
    #[error("it was rolled back")]
    TurnedBack,
    /// The trial rolled it back, for this reason.
    #[error("it was rolled back: {0}")]
    TurnedBackFor(String),
    /// The gateway finishes what it has.
    #[error("the gateway is stopping")]
    Leaving,
    /// The worker must not serve.
    #[error("the warm-up of worker {worker} failed: {}", why.as_ref().map_or("a request failed".to_owned(), WarmUpError::to_string))]
    WarmUp {
        /// Number of the worker.
        worker: u64,
        /// Fault of the warm-up, if it is known.
        why: Option<WarmUpError>,
    },
    /// The worker did not listen in time.
    #[error("worker {0} did not listen within workers.start_timeout_ms")]
    NotListening(u64),
    /// The worker listened, and gave no word in time.
    #[error("worker {0} did not send `ready` (workers.wait_ready) within workers.start_timeout_ms")]
    NotReady(u64),
    /// The operating system started no process.
    #[error("{words}{}", after(warm_up.as_ref()))]
    NeverRan {
        /// Words of the worker.
        words: String,
        /// Fault of the warm-up of an earlier process of the worker.
        warm_up: Option<WarmUpError>,
    },
    /// The worker's process ended.
    #[error("worker {worker} exited before it accepted requests{}{}", behind(status.as_deref()), after(warm_up.as_ref()))]
    Exited {
        /// Number of the worker.
        worker: u64,
        /// Status or signal with which it exited, if there was a process.
        status: Option<String>,
        /// The warm-up that it did not survive.
        warm_up: Option<WarmUpError>,
    },
}

fn behind(status: Option<&str>) -> String {
    status.map_or_else(String::new, |status| format!(": {status}"))
}

fn after(warm_up: Option<&WarmUpError>) -> String {
    warm_up.map_or_else(String::new, |why| format!("; its warm-up failed: {why}"))
}

/// Reason why a worker must not take requests: the failure of a request of its warm-up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WarmUpError {
    /// Request that took too long.
    #[error("{target} was not answered within workers.start_timeout_ms")]
    Late {
        /// The path that was asked for.
        target: String,
    },
    /// The gateway answered it with an error.
    #[error("{target} failed with {code}")]
    Failed {
        /// The path that was asked for.
        target: String,
        /// The error.
        code: Code,
    },
    /// The app answered it with an error.
    #[error("{target} was answered with status {status}")]
    Status {
        /// The path that was asked for.
        target: String,
        /// 500 or higher.
        status: u16,
    },
    /// Request that ended without an answer.
    #[error("{target} ended without an answer")]
    Left {
        /// The path that was asked for.
        target: String,
    },
    /// The worker could serve nobody any more while it held it.
    #[error("{target} made the worker unusable")]
    BrokeTheWorker {
        /// The path that was asked for.
        target: String,
    },
    /// The worker keeps it.
    #[error("the app did not end a request in time")]
    NotEnded,
}
