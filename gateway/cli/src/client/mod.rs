//! The commands that talk to a running gateway over its control socket.
//!
//! They ask, print and leave; everything is plain blocking IO with deadlines. They must not know what the gateway does to
//! answer.

mod busiest;
mod cache;
mod calls;
mod canary;
mod check;
mod classes;
pub mod connect;
mod dial;
mod graph;
mod heap;
mod hotspots;
mod list;
mod logs;
mod profile;
mod quarantine;
mod reader;
mod reload;
mod rendering;
mod report;
mod routes;
mod runs;
mod scale;
mod source_maps;
pub mod status;
mod stop;
mod top;
mod upgrade;
mod worker_known;

pub use top::View;

use std::process::ExitCode;
use std::time::Duration;

use crate::args::{
    CacheArgs, CanaryArgs, ClassesArgs, DialArgs, DrawFlameArgs, GraphArgs, HeapArgs, HotspotsArgs, ListArgs, LogsArgs,
    ProfileArgs, QuarantineArgs, ReloadArgs, ReportArgs, RoutesArgs, ScaleArgs, StatusArgs, StopArgs, TopArgs,
    UpgradeArgs,
};

/// `sluice list`: which gateways run.
pub fn list(args: &ListArgs) -> ExitCode {
    list::run(args)
}

/// `sluice status`: how things are, as text, as JSON, or judged for a monitor.
pub fn status(args: &StatusArgs) -> ExitCode {
    status::run(args).unwrap_or_else(connect::ClientError::exit)
}

/// `sluice top`: the figures of `status`, live.
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

/// `sluice reload`: a new version of the app, without losing a request.
pub fn reload(args: &ReloadArgs) -> ExitCode {
    reload::run(args).unwrap_or_else(connect::ClientError::exit)
}

/// `sluice canary`: the version on trial.
pub fn canary(args: &CanaryArgs) -> ExitCode {
    canary::run(args).unwrap_or_else(connect::ClientError::exit)
}

/// `sluice scale`: another number of workers.
pub fn scale(args: &ScaleArgs) -> ExitCode {
    scale::run(args).unwrap_or_else(connect::ClientError::exit)
}

/// `sluice dial`: for whom the server renders.
pub fn dial(args: &DialArgs) -> ExitCode {
    dial::run(args).unwrap_or_else(connect::ClientError::exit)
}

/// `sluice classes`: what requests cost.
pub fn classes(args: &ClassesArgs) -> ExitCode {
    classes::run(args).unwrap_or_else(connect::ClientError::exit)
}

/// `sluice graph`: what routes and pages of a graph do.
pub fn graph(args: &GraphArgs) -> ExitCode {
    graph::run(args).unwrap_or_else(connect::ClientError::exit)
}

/// `sluice report`: what requests took, before and after.
pub fn report(args: &ReportArgs) -> ExitCode {
    report::run(args).unwrap_or_else(connect::ClientError::exit)
}

/// `sluice profile`: what CPU time goes into.
pub fn profile(args: &ProfileArgs) -> ExitCode {
    profile::run(args).unwrap_or_else(connect::ClientError::exit)
}

/// `sluice draw-flame`, which only the gateway starts: what a flame graph shows, as JSON.
pub fn draw_flame(args: &DrawFlameArgs) -> ExitCode {
    profile::draw(Duration::from_secs(args.seconds_max))
}

/// `sluice heap`: what is on the heap.
pub fn heap(args: &HeapArgs) -> ExitCode {
    heap::run(args).unwrap_or_else(connect::ClientError::exit)
}

/// `sluice hotspots`: which line holds up the thread.
pub fn hotspots(args: &HotspotsArgs) -> ExitCode {
    hotspots::run(args).unwrap_or_else(connect::ClientError::exit)
}

/// `sluice routes`: the tables of the app's routers.
pub fn routes(args: &RoutesArgs) -> ExitCode {
    routes::run(args).unwrap_or_else(connect::ClientError::exit)
}

/// `sluice cache`: pages that are kept.
pub fn cache(args: &CacheArgs) -> ExitCode {
    cache::run(args).unwrap_or_else(connect::ClientError::exit)
}

/// `sluice quarantine`: requests that workers died with.
pub fn quarantine(args: &QuarantineArgs) -> ExitCode {
    quarantine::run(args).unwrap_or_else(connect::ClientError::exit)
}

/// `sluice upgrade`: another gateway process in the place of the one that runs.
pub fn upgrade(args: &UpgradeArgs) -> ExitCode {
    upgrade::run(args).unwrap_or_else(connect::ClientError::exit)
}

#[cfg(test)]
pub mod tests_support;
