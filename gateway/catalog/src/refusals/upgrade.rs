//! Reasons why no other gateway has taken this one's place.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// Reason why `sluice upgrade` changed nothing.
#[derive(Debug, thiserror::Error)]
pub enum UpgradeError {
    /// The gateway finishes what it has.
    #[error("the gateway is leaving; start another one once it is gone")]
    Leaving,
    /// Another command has begun one.
    #[error("an upgrade is under way already; ask again when it is over")]
    UnderWay,
    /// An upgrade came about a moment ago.
    #[error("the gateway before this one still finishes what it has; it takes drain.timeout_ms at most")]
    PredecessorLeaves,
    /// The gateway ended while the new one came up.
    #[error("the gateway leaves, and the upgrade with it")]
    LeftMeanwhile,
    /// The new gateway did not come to serve.
    #[error("the upgrade has failed, and this gateway goes on: {0}")]
    Failed(#[from] SuccessorError),
}

/// Reason why a new gateway did not take over.
#[derive(Debug, thiserror::Error)]
pub enum SuccessorError {
    /// Program that could not be started.
    #[error("{}: {source}", program.display())]
    NotStarted {
        /// The program of the new gateway.
        program: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// Workers that took too long.
    #[error("the workers of the new gateway were not ready within {0} ms; --timeout-ms gives them more")]
    NotReady(u128),
    /// Reason that the new gateway gave.
    #[error("{0}")]
    Said(String),
    /// Word that does not belong here.
    #[error("the new gateway said something else than expected: {0}")]
    OtherWord(String),
    /// The two could not talk.
    #[error("the new gateway could not be understood: {0}; is it of another version?")]
    NotUnderstood(#[source] io::Error),
    /// Exit of the new gateway's process.
    #[error(
        "the new gateway ended with {0} before its workers were ready; what it wrote to standard error is with this \
         gateway's"
    )]
    Ended(ExitStatus),
    /// End of the connection, while the process lives on.
    #[error("the new gateway closed the connection before it served")]
    Closed,
    /// Nothing came of the word to take over.
    #[error(
        "the new gateway was ready, and then did not take over; what it wrote to standard error is with this gateway's"
    )]
    NotTakenOver,
}
