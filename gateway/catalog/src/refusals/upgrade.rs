//! Reasons why no other gateway has taken this one's place.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// Reason why `sluice upgrade` changed nothing.
#[derive(Debug, thiserror::Error)]
pub enum UpgradeError {
    /// The gateway finishes what it has.
    #[error("the gateway is stopping; start another one when it has stopped")]
    Leaving,
    /// Another command has begun one.
    #[error("another upgrade is in progress; try again when it has ended")]
    UnderWay,
    /// An upgrade came about a moment ago.
    #[error("the previous gateway still finishes its requests; that takes drain.timeout_ms at most")]
    PredecessorLeaves,
    /// The gateway ended while the new one came up.
    #[error("the gateway is stopping, and the upgrade is cancelled")]
    LeftMeanwhile,
    /// The new gateway did not come to serve.
    #[error("the upgrade failed, and this gateway continues: {0}")]
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
    #[error("the workers of the new gateway were not ready within {0} ms; raise --timeout-ms")]
    NotReady(u128),
    /// Reason that the new gateway gave.
    #[error("{0}")]
    Said(String),
    /// Word that does not belong here.
    #[error("the new gateway sent an unexpected message: {0}")]
    OtherWord(String),
    /// The two could not talk.
    #[error("the answer of the new gateway is not valid: {0}; it may be of an incompatible version")]
    NotUnderstood(#[source] io::Error),
    /// Exit of the new gateway's process.
    #[error(
        "the new gateway exited with {0} before its workers were ready; this gateway's standard error has its \
         output"
    )]
    Ended(ExitStatus),
    /// End of the connection, while the process lives on.
    #[error("the new gateway closed the connection before it served")]
    Closed,
    /// Nothing came of the word to take over.
    #[error("the new gateway was ready, and then did not take over; this gateway's standard error has its output")]
    NotTakenOver,
}
