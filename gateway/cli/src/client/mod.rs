//! The commands that talk to a running gateway over its control socket.
//!
//! They ask, print and leave; everything is plain blocking IO with deadlines. They must not know what the gateway does to
//! answer.

mod connect;
mod logs;
mod scale;
mod status;
mod stop;
mod top;

use std::process::ExitCode;

use crate::args::{LogsArgs, ScaleArgs, StatusArgs, StopArgs, TopArgs};

/// `sluice status`: how things are, as a table or as JSON.
pub fn status(args: &StatusArgs) -> ExitCode {
    status::run(args).unwrap_or_else(connect::ClientError::exit)
}

/// `sluice top`: the table of `status`, live.
pub fn top(args: &TopArgs) -> ExitCode {
    top::run(args).unwrap_or_else(connect::ClientError::exit)
}

/// `sluice logs`: the latest lines, and those to come.
pub fn logs(args: &LogsArgs) -> ExitCode {
    logs::run(args).unwrap_or_else(connect::ClientError::exit)
}

/// `sluice stop`: asks the gateway to leave, and waits until it has.
pub fn stop(args: &StopArgs) -> ExitCode {
    stop::run(args).unwrap_or_else(connect::ClientError::exit)
}

/// `sluice scale`: another number of workers.
pub fn scale(args: &ScaleArgs) -> ExitCode {
    scale::run(args).unwrap_or_else(connect::ClientError::exit)
}

#[cfg(test)]
mod tests_support;
