//! The `sluice` binary: reads the command line and calls the command that is meant.

#![deny(clippy::print_stdout, clippy::print_stderr, reason = "both panic when nobody reads")]

mod access;
mod args;
mod check;
mod client;
mod compare;
mod completion;
mod dev;
mod exit;
mod files;
mod generate;
mod init;
mod output;
mod plan;
mod registry;
mod rehearse;
mod run_dir;
mod run_lock;
mod settings;
mod start;
mod state_dir;
mod stderr;
mod unnamed;

use std::process::ExitCode;

use args::Command;

/// Gives memory back to the system when a crowd of slow clients has gone; glibc keeps it. See decision 0039.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match args::parse().command {
        Command::Start(args) => start::run(args),
        Command::Dev(args) => dev::run(args),
        Command::Stop(args) => client::stop(&args),
        Command::Reload(args) => client::reload(&args),
        Command::Canary(args) => client::canary(&args),
        Command::Scale(args) => client::scale(&args),
        Command::Dial(args) => client::dial(&args),
        Command::Upgrade(args) => client::upgrade(&args),
        Command::List(args) => client::list(&args),
        Command::Status(args) => client::status(&args),
        Command::Top(args) => client::top(&args),
        Command::Logs(args) => client::logs(&args),
        Command::Classes(args) => client::classes(&args),
        Command::Graph(args) => client::graph(&args),
        Command::Report(args) => client::report(&args),
        Command::Cache(args) => client::cache(&args),
        Command::Profile(args) => client::profile(&args),
        Command::Heap(args) => client::heap(&args),
        Command::Hotspots(args) => client::hotspots(&args),
        Command::Routes(args) => client::routes(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Rehearse(args) => rehearse::run(&args),
        Command::Quarantine(args) => client::quarantine(&args),
        Command::Init(args) => init::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Access(args) => access::run(&args),
        Command::Completion(args) => completion::run(args.shell),
        Command::Guardian(args) => start::guardian(args),
        Command::Rehearsed(args) => rehearse::rehearsed(args),
        Command::Successor(args) => start::succeed(args),
        Command::Shepherd(args) => start::shepherd(args),
        Command::DrawFlame(args) => client::draw_flame(&args),
        Command::Generate(args) => generate::run(&args),
    }
}
