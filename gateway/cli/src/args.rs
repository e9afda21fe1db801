//! The command line: every command and option with its help. It must not know what a command does, and sets no default
//! that the config has.

#![allow(clippy::doc_markdown, reason = "doc comments here are help texts, which terminals show as they are")]

mod access;
mod cache;
mod dev;
mod dial;
mod hidden;
mod hotspots;
mod init;
mod list;
mod logs;
mod look;
mod parse;
mod report;
mod routes;

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use sluice_catalog::config::{self, Kind as KeyKind};
use sluice_catalog::profiles::Kind;

pub use access::{AccessAction, AccessArgs};
pub use cache::{CacheArgs, CacheCommand, CachePurgeArgs, CacheShowArgs, CacheStatusArgs};
pub use dev::DevArgs;
pub use dial::DialArgs;
pub use hidden::{DrawFlameArgs, GenerateArgs, GuardianArgs, ShepherdArgs};
pub use hotspots::{Deps, HotspotsArgs};
pub use init::InitArgs;
pub use list::ListArgs;
pub use logs::{LEVELS, LogsArgs, Moment, Statuses};
pub use look::{AlarmsAre, StatusArgs, Thresholds, TopArgs};
pub use parse::parse;
pub use report::{ReportArgs, Since};
pub use routes::RoutesArgs;

const EXAMPLES: &str = "\
Examples:
  sluice start server.js               run the app on every core, on port 3000
  sluice start -- npm run start        the same with a command
  sluice dev server.js                 the app while it is being developed
  sluice status                        look at it from another terminal
  sluice reload                        put a new version of the app in place
  sluice stop                          finish what was accepted, then leave

Exit codes: 0 done, 1 failed, 2 wrong usage or config, 3 no gateway runs, 4 app did not start, 5 address in use,
6 a fault in the gateway.";

const START_EXAMPLES: &str = "\
Examples:
  sluice start                         what sluice.toml says, else package.json
  sluice start server.js               a script, CommonJS or ESM
  sluice start dist/main.js --port 8080 --workers 4
  sluice start -- npm run start        a command, from which the app is caught wherever it listens
  sluice start server.js --port 8081 --admin off --run-dir /tmp/second";

const STOP_EXAMPLES: &str = "\
Examples:
  sluice stop                          wait until the gateway is gone
  sluice stop --timeout-ms 5000        give up waiting after five seconds, exit code 1";

const RELOAD_EXAMPLES: &str = "\
Examples:
  sluice reload                        after a deployment; exit code 1 if the new version does not come up
  sluice reload --run-dir /run/shop    another instance than that of this directory

Ctrl-C ends the command and not the reload. SIGHUP and SIGUSR2 to the gateway do the same as this command.";

const SCALE_EXAMPLES: &str = "\
Examples:
  sluice scale 8                       want eight workers from now on, and wait until they are ready
  sluice scale 2 --no-wait             return at once; workers leave one after the other

Ctrl-C ends the command; the gateway continues to the number that was asked for.";

const UPGRADE_EXAMPLES: &str = "\
Examples:
  sluice upgrade                       the program and sluice.toml as they are on disk now
  sluice upgrade --cwd /srv/shop/current       where a link leads to another release by now
  sluice upgrade --binary /opt/sluice-0.2/sluice";

const QUARANTINE_EXAMPLES: &str = "\
Examples:
  sluice quarantine                    list them
  sluice quarantine --release all      the app is mended: try them again
  sluice quarantine --release 0badcafe";

const CLASSES_EXAMPLES: &str = "\
Examples:
  sluice classes                       those that take most CPU time first
  sluice classes --json | jq '.classes[] | select(.long) | .class'";

const PROFILE_EXAMPLES: &str = "\
Examples:
  sluice profile                       five seconds of the worker that has answered most requests
  sluice profile --all --open          all workers in one flame graph, in the browser
  sluice profile --seconds 20 --route '/product/:id'
                                       only what ran for requests of this class (`sluice classes`)
  sluice profile --worker 3 --out /tmp/before
                                       writes /tmp/before.cpuprofile and /tmp/before.html
  sluice profile --tail                requests that took unusually long, which the gateway has profiled (profile.tail)
  sluice profile --tail 4711 --open    one of them
  sluice profile --json | jq -r '.places[:5][] | [.own / 1000, .file, .line] | @tsv'

The state directory (server.state_dir) keeps the latest 20 of each kind in profiles/, as profile-TIME.cpuprofile and profile-TIME.html; only their owner
can read them. A worker takes 2000 samples a second and one profile at a time, of 60 s at most. Ctrl-C ends it and leaves nothing.
Requests may share a worker: a sample is of the request whose continuation ran; what is nobody's is left out with --route.";

const HEAP_EXAMPLES: &str = "\
Examples:
  sluice heap                          ten seconds of what one worker allocates and keeps, by function
  sluice heap --allocations            the same with what is collected at once: who makes the collector work
  sluice heap --snapshot --worker 3    everything on the heap; the worker stands still, and the command says for how long
  sluice heap --snapshot --yes --out /tmp/shop

The state directory (server.state_dir) keeps the latest 20 heap-WORKER-TIME.heapprofile and .html, and the latest 3 .heapsnapshot, in profiles/; only
their owner can read them. A snapshot waits up to 10 s for the worker's requests to end, takes 10 minutes at most, and does not count
as a stuck worker. Ctrl-C leaves nothing.";

const CHECK_EXAMPLES: &str = "\
Examples:
  sluice check                         validate, and print every key with where it comes from
  sluice check --config staging.toml --json";

const COMPLETION_EXAMPLES: &str = "\
Examples:
  sluice completion bash > ~/.local/share/bash-completion/completions/sluice
  sluice completion zsh > ~/.zfunc/_sluice
  sluice completion fish > ~/.config/fish/completions/sluice.fish";

/// Runs any Node server on every core, one request at a time per process.
#[derive(Debug, Parser)]
#[command(name = "sluice", version, after_help = EXAMPLES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start the gateway and its workers, in the foreground
    Start(StartArgs),
    /// Run the app while developing it: one worker, no cache, a new start with each change of its files
    Dev(DevArgs),
    /// Finish what was accepted, then leave
    Stop(StopArgs),
    /// Put a new version of the app and of the configuration in place, one worker after the other
    Reload(ReloadArgs),
    /// Change how many workers run
    Scale(ScaleArgs),
    /// Show or change for which share of visitors the server renders, without a reload
    Dial(DialArgs),
    /// Put a new gateway in the place of the one that runs, without losing a connection
    Upgrade(UpgradeArgs),
    /// Show the gateways that run
    List(ListArgs),
    /// Show workers, queue and rates
    Status(StatusArgs),
    /// Show them live
    Top(TopArgs),
    /// Show the latest log lines
    Logs(LogsArgs),
    /// Show what requests cost, by class
    Classes(ClassesArgs),
    /// Compare what requests took before and after a deploy or a moment: CPU time, memory, service time
    Report(ReportArgs),
    /// Show what CPU time of workers goes into: flame graph, functions, React components
    Profile(ProfileArgs),
    /// Show what is on a worker's heap, or who allocates
    Heap(HeapArgs),
    /// Show which lines of code hold up the thread, from CPU profiles
    Hotspots(HotspotsArgs),
    /// Show the tables of the app's routers: duplicates, routes that are never reached, look-up cost, growth
    Routes(RoutesArgs),
    /// Show what the page cache holds, or drop pages from it
    Cache(CacheArgs),
    /// Show, or release, requests that are answered without a worker because workers died with them
    Quarantine(QuarantineArgs),
    /// Look at the app here, and write a sluice.toml for it
    Init(InitArgs),
    /// Validate the configuration and print every key in force
    Check(CheckArgs),
    /// Make hashes of passwords for users (access.basic_auth)
    Access(AccessArgs),
    /// Print a completion script for a shell
    Completion(CompletionArgs),
    /// Kill the workers should the gateway be killed
    #[command(hide = true)]
    Guardian(GuardianArgs),
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

/// Which instance is meant.
#[derive(Args, Clone, Debug, Default)]
pub struct RunDirArg {
    /// Directory with the instance's sockets; says which instance is meant [default: one for the current directory,
    /// under $XDG_RUNTIME_DIR or /tmp]
    #[arg(long, value_name = "DIR", env = "SLUICE_RUN_DIR", hide_env_values = true)]
    pub run_dir: Option<PathBuf>,
}

/// `sluice start`.
#[derive(Args, Debug, Default)]
#[command(after_help = START_EXAMPLES)]
pub struct StartArgs {
    /// Script that calls listen() [default: app.entry or app.command of sluice.toml, else main or scripts.start of
    /// package.json]
    #[arg(conflicts_with = "app")]
    pub entry: Option<String>,
    /// Port to listen on; 0 takes any free one [config: server.port]
    #[arg(long, short)]
    pub port: Option<String>,
    /// Address to listen on [config: server.host]
    #[arg(long)]
    pub host: Option<String>,
    /// Port of the app's main server, where that is not PORT [config: app.port]
    #[arg(long, value_name = "PORT")]
    pub app_port: Option<String>,
    /// How many workers run; 0 takes the CPUs that may be used [config: workers.count]
    #[arg(long, short, value_name = "N")]
    pub workers: Option<String>,
    /// Requests that one worker holds at once: a number, or while-waiting [config: workers.concurrency]
    #[arg(long, value_name = "HOW")]
    pub concurrency: Option<String>,
    /// By what clients come back to the worker that keeps their session [config: sticky.by]
    #[arg(long, value_name = "BY", value_parser = words("sticky.by"))]
    pub sticky: Option<String>,
    /// Configuration file [default: sluice.toml, if it exists]
    #[arg(long, short, value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Directory for what outlives a restart: learned costs, profiles [config: server.state_dir]
    #[arg(long, value_name = "DIR")]
    pub state_dir: Option<String>,
    /// Address of metrics and health, or off [config: admin.address]
    #[arg(long, value_name = "ADDR")]
    pub admin: Option<String>,
    /// Node.js that runs the script [config: app.node]
    #[arg(long, value_name = "PATH")]
    pub node: Option<String>,
    /// How log lines look [config: log.format]
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
#[command(after_help = STOP_EXAMPLES)]
pub struct StopArgs {
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// How long to wait for the gateway to be gone
    #[arg(long, value_name = "MS", default_value_t = 60_000)]
    pub timeout_ms: u64,
}

/// `sluice reload`.
#[derive(Args, Debug)]
#[command(after_help = RELOAD_EXAMPLES)]
pub struct ReloadArgs {
    #[command(flatten)]
    pub run_dir: RunDirArg,
}

/// `sluice scale`.
#[derive(Args, Debug)]
#[command(after_help = SCALE_EXAMPLES)]
pub struct ScaleArgs {
    /// Workers wanted from now on
    #[arg(value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_024))]
    pub workers: u32,
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Return at once, without waiting for the workers
    #[arg(long)]
    pub no_wait: bool,
    /// How long to wait until as many workers as wanted are ready, and the others gone
    #[arg(long, value_name = "MS", default_value_t = 120_000, conflicts_with = "no_wait")]
    pub timeout_ms: u64,
}

/// `sluice upgrade`.
#[derive(Args, Debug)]
#[command(after_help = UPGRADE_EXAMPLES)]
pub struct UpgradeArgs {
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Program of the new gateway [default: the one that runs, by the path it was started from]
    #[arg(long, value_name = "PATH")]
    pub binary: Option<PathBuf>,
    /// Directory to start it in [default: the one that the gateway was started in]
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// How long the new gateway may take until its workers are ready; after that the old one continues
    #[arg(long, value_name = "MS", default_value_t = 120_000, value_parser = clap::value_parser!(u64).range(100..=3_600_000))]
    pub timeout_ms: u64,
}

/// `sluice quarantine`.
#[derive(Args, Debug)]
#[command(after_help = QUARANTINE_EXAMPLES)]
pub struct QuarantineArgs {
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Let the request with this id, or all of them, through to the workers again
    #[arg(long, value_name = "ID|all")]
    pub release: Option<String>,
    /// Print everything as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sluice classes`.
#[derive(Args, Debug)]
#[command(after_help = CLASSES_EXAMPLES)]
pub struct ClassesArgs {
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Print everything as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sluice profile`.
#[derive(Args, Debug)]
#[command(after_help = PROFILE_EXAMPLES)]
pub struct ProfileArgs {
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Worker to look at [default: the one that has answered most requests]
    #[arg(long, value_name = "ID", conflicts_with = "all")]
    pub worker: Option<u64>,
    /// Look at every worker that serves, and put them into one
    #[arg(long)]
    pub all: bool,
    /// How long to look, in seconds, from 0.05 to 60
    #[arg(id = "seconds", long = "seconds", short, value_name = "N", default_value = "5", value_parser = seconds)]
    seconds_ms: u64,
    /// The same in milliseconds
    #[arg(long, hide = true, value_name = "MS", value_parser = clap::value_parser!(u64).range(50..=60_000))]
    pub duration_ms: Option<u64>,
    /// Only what ran for requests of this class, or of classes with this path
    #[arg(long, value_name = "CLASS")]
    pub route: Option<String>,
    /// List profiles of requests that took more CPU time than 99 of 100 of their class, or show the one with this id
    #[arg(long, value_name = "ID", num_args = 0..=1, conflicts_with_all = ["worker", "all", "route"])]
    #[allow(clippy::option_option, reason = "without it, without an id, and with one")]
    pub tail: Option<Option<u64>>,
    /// Name of the files, without .cpuprofile and .html, or a directory for them [default: one in profiles/ of the state directory]
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
    /// How long to look.
    pub fn duration_ms(&self) -> u64 {
        self.duration_ms.unwrap_or(self.seconds_ms)
    }
}

/// `sluice heap`.
#[derive(Args, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = HEAP_EXAMPLES)]
pub struct HeapArgs {
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Worker to look at [default: the one that has answered most requests]
    #[arg(long, value_name = "ID")]
    pub worker: Option<u64>,
    /// Everything on the heap, as a .heapsnapshot
    #[arg(long, group = "what")]
    pub snapshot: bool,
    /// A sample of what the app allocates and keeps meanwhile; what is done unless said
    #[arg(long, group = "what")]
    pub sampling: bool,
    /// A sample of all that the app allocates meanwhile
    #[arg(long, group = "what")]
    pub allocations: bool,
    /// How long to look, in seconds, from 0.05 to 60; not for a snapshot
    #[arg(id = "seconds", long = "seconds", short, value_name = "N", default_value = "10", value_parser = seconds, conflicts_with = "snapshot")]
    seconds_ms: u64,
    /// Do not ask before a snapshot
    #[arg(long, short)]
    pub yes: bool,
    /// Name of the files, without their extensions, or a directory for them [default: one in profiles/ of the state directory]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

impl HeapArgs {
    /// What to look at.
    pub fn kind(&self) -> Kind {
        match (self.snapshot, self.allocations) {
            (true, _) => Kind::Snapshot,
            (_, true) => Kind::Allocations,
            _ => Kind::Sampling,
        }
    }

    /// How long to look.
    pub fn duration_ms(&self) -> u64 {
        self.seconds_ms
    }
}

/// Not so many seconds.
#[derive(Debug, thiserror::Error)]
#[error("a number from 0.05 to 60 is meant")]
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
#[command(after_help = CHECK_EXAMPLES)]
pub struct CheckArgs {
    /// Configuration file [default: sluice.toml, if it exists]
    #[arg(long, short, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print everything as one JSON object
    #[arg(long)]
    pub json: bool,
    // A gateway that runs there says which settings fit the app.
    #[command(flatten)]
    pub run_dir: RunDirArg,
}

/// `sluice completion`.
#[derive(Args, Debug)]
#[command(after_help = COMPLETION_EXAMPLES)]
pub struct CompletionArgs {
    /// Which shell
    pub shell: Shell,
}

impl StartArgs {
    /// What the command line says of the config: keys with the texts that were given.
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
        if !self.command.is_empty() {
            flags.push(("app.command", serde_json::Value::from(self.command.clone()).to_string()));
        }
        flags.extend(self.preset.iter().cloned());
        flags
    }
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
    top.subcommand_required(true).after_help(EXAMPLES).subcommands(visible)
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
