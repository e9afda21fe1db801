//! The command line: every command and option with its help. It must not know what a command does, and sets no default
//! that the config has.

#![allow(clippy::doc_markdown, reason = "doc comments here are help texts, which terminals show as they are")]

mod access;
mod cache;
mod canary;
mod compare;
mod dev;
mod dial;
mod hidden;
mod hotspots;
mod init;
mod list;
mod logs;
mod look;
mod milliseconds;
mod parse;
mod plan;
mod profile;
mod rehearse;
mod report;
mod routes;

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use sluice_catalog::config::{self, Kind as KeyKind};

pub use access::{AccessAction, AccessArgs};
pub use cache::{CacheArgs, CacheCommand, CachePurgeArgs, CacheShowArgs, CacheStatusArgs};
pub use canary::{CanaryAction, CanaryArgs, Promote, ReloadArgs};
pub use compare::CompareArgs;
pub use dev::DevArgs;
pub use dial::DialArgs;
pub use hidden::{DrawFlameArgs, GenerateArgs, GuardianArgs, RehearsedArgs, ShepherdArgs};
pub use hotspots::{Deps, HotspotsArgs};
pub use init::InitArgs;
pub use list::ListArgs;
pub use logs::{LEVELS, LogsArgs, Moment, Statuses};
pub use look::{AlarmsAre, StatusArgs, Thresholds, TopArgs};
use milliseconds::Milliseconds;
pub use parse::parse;
pub use plan::PlanArgs;
pub use profile::{HeapArgs, ProfileArgs};
pub use rehearse::RehearseArgs;
pub use report::{ReportArgs, Since};
pub use routes::RoutesArgs;

/// Runs a Node HTTP server on every core, behind one queue that learns the CPU cost of requests.
#[derive(Debug, Parser)]
#[command(name = "sluice", version, after_help = include_str!("args/examples/sluice.txt"))]
pub struct Cli {
    /// Command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// Commands of the program.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start the gateway and its workers, in the foreground
    Start(StartArgs),
    /// Run the app for development: one worker, no cache, restarted when one of its files changes
    Dev(DevArgs),
    /// Finish accepted requests, then exit
    Stop(StopArgs),
    /// Replace workers one by one with workers of a new version of the app and its configuration
    Reload(ReloadArgs),
    /// Show, promote, hold or roll back the version on trial (reload --canary)
    Canary(CanaryArgs),
    /// Set the number of workers
    Scale(ScaleArgs),
    /// Show or set the share of visitors who get server rendering, without a reload
    Dial(DialArgs),
    /// Start a new gateway in place of the running one, without losing a connection
    Upgrade(UpgradeArgs),
    /// List running gateways
    List(ListArgs),
    /// Show workers, queue and rates
    Status(StatusArgs),
    /// Show live activity of the gateway and its workers
    Top(TopArgs),
    /// Show the latest log lines
    Logs(LogsArgs),
    /// Show the CPU cost of requests, by class
    Classes(ClassesArgs),
    /// Show routes of @sluice/graph and requested paths: failures, values never read, values sent twice
    Graph(GraphArgs),
    /// Compare CPU time, memory and service time before and after a deploy or a point in time
    Report(ReportArgs),
    /// Show CPU time of workers by function and React component, with a flame graph
    Profile(ProfileArgs),
    /// Show the contents of a worker's heap, or the code that allocates
    Heap(HeapArgs),
    /// Show the lines of code that block the thread, from CPU profiles
    Hotspots(HotspotsArgs),
    /// Show the app's route tables: duplicates, unreachable routes, look-up cost, growth
    Routes(RoutesArgs),
    /// Compare how long two programs, machines or versions block the event loop
    Compare(CompareArgs),
    /// Estimate from access logs the number of workers for a latency target, without a running gateway
    Plan(PlanArgs),
    /// Test the app in this directory under load with reloads, kills and an infinite loop, and report the cost of each
    Rehearse(RehearseArgs),
    /// Show or purge pages in the page cache
    Cache(CacheArgs),
    /// List or release requests that crashed workers and are now rejected
    Quarantine(QuarantineArgs),
    /// Detect the app in this directory and write a sluice.toml for it
    Init(InitArgs),
    /// Validate the configuration and print every key in force
    Check(CheckArgs),
    /// Hash passwords of users (access.basic_auth)
    Access(AccessArgs),
    /// Print a completion script for a shell
    Completion(CompletionArgs),
    /// Kill the workers should the gateway be killed
    #[command(hide = true)]
    Guardian(GuardianArgs),
    /// Start the gateway of a rehearsal
    #[command(hide = true)]
    Rehearsed(RehearsedArgs),
    /// Take the place of the gateway that started this
    #[command(hide = true)]
    Successor(StartArgs),
    /// Stay in the first gateway's place while its successors serve
    #[command(hide = true)]
    Shepherd(ShepherdArgs),
    /// Draw the profiles that stdin names, for the dashboard
    #[command(hide = true)]
    DrawFlame(DrawFlameArgs),
    /// Write reference pages, schema and types
    #[command(hide = true)]
    Generate(GenerateArgs),
}

/// Instance that is meant.
#[derive(Args, Clone, Debug, Default)]
pub struct RunDirArg {
    /// Run directory, which contains the sockets of the instance and identifies it [default: one for the current
    /// directory, under $XDG_RUNTIME_DIR or /tmp]
    #[arg(long, value_name = "DIR", env = "SLUICE_RUN_DIR", hide_env_values = true)]
    pub run_dir: Option<PathBuf>,
}

/// `sluice start`.
#[derive(Args, Debug, Default)]
#[command(after_help = include_str!("args/examples/start.txt"))]
pub struct StartArgs {
    /// Script that calls listen() [default: app.entry or app.command of sluice.toml, else main or scripts.start of
    /// package.json, else a framework's server or a script such as server.js]
    #[arg(conflicts_with = "app")]
    pub entry: Option<String>,
    /// Port to listen on; 0 selects a free one [config: server.port]
    #[arg(long, short)]
    pub port: Option<String>,
    /// Address to listen on [config: server.host]
    #[arg(long)]
    pub host: Option<String>,
    /// Port of the app's main server, if it is not PORT [config: app.port]
    #[arg(long, value_name = "PORT")]
    pub app_port: Option<String>,
    /// Number of workers; 0 is the number of available CPUs [config: workers.count]
    #[arg(long, short, value_name = "N")]
    pub workers: Option<String>,
    /// Requests in one worker at the same time: a number, or while-waiting [config: workers.concurrency]
    #[arg(long, value_name = "HOW")]
    pub concurrency: Option<String>,
    /// Method of routing clients back to the worker with their session [config: sticky.by]
    #[arg(long, value_name = "BY", value_parser = words("sticky.by"))]
    pub sticky: Option<String>,
    /// Configuration file [default: sluice.toml, if it exists]
    #[arg(long, short, value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Directory for data that outlives a restart: learned costs, profiles [config: server.state_dir]
    #[arg(long, value_name = "DIR")]
    pub state_dir: Option<String>,
    /// Address of metrics and health, or off [config: admin.address]
    #[arg(long, value_name = "ADDR")]
    pub admin: Option<String>,
    /// Node.js that runs the script [config: app.node]
    #[arg(long, value_name = "PATH")]
    pub node: Option<String>,
    /// Format of log lines [config: log.format]
    #[arg(long, value_name = "FORMAT", value_parser = words("log.format"))]
    pub log_format: Option<String>,
    /// Command that starts the app instead of a script
    #[arg(id = "app", last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Settings that another command starts the gateway with; they go before those of the file, as flags do.
    #[arg(skip)]
    pub preset: Vec<(&'static str, String)>,
    /// Arguments for Node.js, besides those of `app.node_args`.
    #[arg(skip)]
    pub node_args: Vec<String>,
    /// Paths whose change starts an app in development again, besides what it has loaded.
    #[arg(skip)]
    pub watch: Vec<PathBuf>,
}

/// `sluice stop`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("args/examples/stop.txt"))]
pub struct StopArgs {
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Maximum wait for the gateway to stop, in milliseconds
    #[arg(long, value_name = "MS", default_value = "60000", value_parser = Milliseconds(0..=u64::MAX))]
    pub timeout_ms: u64,
}

/// `sluice scale`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("args/examples/scale.txt"))]
pub struct ScaleArgs {
    /// Number of workers, from 1 to 1024
    #[arg(value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_024))]
    pub workers: u32,
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Return at once, without waiting for the workers
    #[arg(long)]
    pub no_wait: bool,
    /// Maximum wait until the new workers are ready and the others have exited, in milliseconds
    #[arg(long, value_name = "MS", default_value = "120000", conflicts_with = "no_wait", value_parser = Milliseconds(0..=u64::MAX))]
    pub timeout_ms: u64,
}

/// `sluice upgrade`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("args/examples/upgrade.txt"))]
pub struct UpgradeArgs {
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Program of the new gateway [default: the path from which the running gateway was started]
    #[arg(long, value_name = "PATH")]
    pub binary: Option<PathBuf>,
    /// Working directory of the new gateway [default: that of the running one]
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Maximum time until the new gateway's workers are ready, in milliseconds; then the old gateway continues
    #[arg(long, value_name = "MS", default_value = "120000", value_parser = Milliseconds(100..=3_600_000))]
    pub timeout_ms: u64,
}

/// `sluice quarantine`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("args/examples/quarantine.txt"))]
pub struct QuarantineArgs {
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Release the request with this id, or all of them, to the workers
    #[arg(long, value_name = "ID|all")]
    pub release: Option<String>,
    /// Print everything as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sluice classes`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("args/examples/classes.txt"))]
pub struct ClassesArgs {
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Print everything as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sluice graph`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("args/examples/graph.txt"))]
pub struct GraphArgs {
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Print everything as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Error for a text that is no such number of seconds.
#[derive(Debug, thiserror::Error)]
#[error("expected a number from 0.05 to 60")]
pub struct SecondsError;

/// Seconds, as milliseconds.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between both bounds")]
fn seconds(text: &str) -> Result<u64, SecondsError> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.05..=60.0).contains(&seconds) => Ok((seconds * 1000.0).round() as u64),
        _ => Err(SecondsError),
    }
}

/// `sluice check`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("args/examples/check.txt"))]
pub struct CheckArgs {
    // A gateway that runs in its run directory says which settings fit the app.
    #[command(flatten)]
    pub start: StartArgs,
    /// Print everything as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sluice completion`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("args/examples/completion.txt"))]
pub struct CompletionArgs {
    /// Shell to write for
    pub shell: Shell,
}

impl StartArgs {
    /// Settings of the command line: keys with the texts that were given.
    pub fn flags(&self) -> Vec<(&'static str, String)> {
        let scalars = [
            ("app.entry", &self.entry),
            ("server.port", &self.port),
            ("server.host", &self.host),
            ("workers.count", &self.workers),
            ("workers.concurrency", &self.concurrency),
            ("sticky.by", &self.sticky),
            ("admin.address", &self.admin),
            ("app.node", &self.node),
            ("app.port", &self.app_port),
            ("log.format", &self.log_format),
            ("server.state_dir", &self.state_dir),
        ];
        let mut flags: Vec<_> = scalars.into_iter().filter_map(|(key, text)| Some((key, text.clone()?))).collect();
        flags.extend(command_flag(&self.command));
        flags.extend(self.preset.iter().cloned());
        flags
    }
}

fn command_flag(command: &[String]) -> Option<(&'static str, String)> {
    (!command.is_empty()).then(|| ("app.command", serde_json::Value::from(command).to_string()))
}

/// The command line without what is hidden, for completion and the reference.
pub fn public_command() -> clap::Command {
    let full = Cli::command();
    let visible: Vec<_> = full.get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect();
    let top = clap::Command::new("sluice").version(env!("CARGO_PKG_VERSION")).disable_help_subcommand(true);
    let top = match full.get_about() {
        Some(about) => top.about(about.clone()),
        None => top,
    };
    top.subcommand_required(true).after_help(include_str!("args/examples/sluice.txt")).subcommands(visible)
}

fn words(key: &str) -> PossibleValuesParser {
    match config::key(key).map(|key| key.kind) {
        Some(KeyKind::Word(words)) => PossibleValuesParser::new(words.iter().map(|(word, _)| *word)),
        _ => PossibleValuesParser::new(Vec::<&'static str>::new()),
    }
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
