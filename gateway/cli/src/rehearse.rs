//! `sluice rehearse`: starts the app behind a gateway of its own, sends load, makes faults, and reports what each cost.

mod faults;
mod gateway;
mod interrupt;
mod measure;
mod settings;

use std::fmt::Display;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use sluice_catalog::config::ConfigInForce;
use sluice_plan::page::plural;
use sluice_plan::{PathCounts, PathReader};
use sluice_rehearse::{Cell, Client, Drive, Fault, Load, Matrix, Mix, Rehearsal, html, text};
use sluice_supervisor::Start;

use crate::args::{RehearseArgs, RehearsedArgs, StartArgs};
use crate::client::status::harmless;
use crate::exit::Exit;
use crate::start::app::{self, AppCommand};
use crate::start::sources::{self, Sources};
use crate::{files, output, plan, start, stderr};
use gateway::Gateway;
use interrupt::Interrupt;
use measure::Stand;

/// Module with which a worker can be made to loop.
const PROBE: &str = include_str!("rehearse/loop.cjs");
/// Time beyond `workers.start_timeout_ms` in which all workers must be ready at first. They may start one after the
/// other.
const START_MAX: Duration = Duration::from_secs(120);

/// Reason why there is no report.
pub struct Failure(Exit, String);

impl Failure {
    fn new(exit: Exit, reason: impl Display) -> Self {
        Self(exit, reason.to_string())
    }
}

/// `sluice rehearse`.
pub fn run(args: &RehearseArgs) -> ExitCode {
    match rehearsed_by(args) {
        Ok(rehearsal) => shown(args, &rehearsal),
        Err(Failure(exit, reason)) => exit.because(reason),
    }
}

/// The gateway of a rehearsal, which ends when the rehearsal does, however that ends.
#[allow(clippy::needless_pass_by_value, reason = "every command takes its arguments by value")]
pub fn rehearsed(args: RehearsedArgs) -> ExitCode {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGTERM);
    match settings::read(&args.settings) {
        Ok(preset) => start::run(StartArgs { preset, ..args.start }),
        Err(error) => Exit::Failed.because(format_args!("{}: {error}", args.settings.display())),
    }
}

fn shown(args: &RehearseArgs, rehearsal: &Rehearsal) -> ExitCode {
    let written = args.html.as_ref().map(|path| (path, fs::write(path, html(rehearsal))));
    let printed = if args.json {
        output::print(&(serde_json::to_string(rehearsal).unwrap_or_default() + "\n"))
    } else {
        let page = match &written {
            Some((path, Ok(()))) => format!("\nReport: {}\n", path.display()),
            _ => String::new(),
        };
        output::print(&(text(rehearsal) + &page))
    };
    if let Some((path, Err(error))) = written {
        return Exit::Failed.because(format_args!("{}: {error}", path.display()));
    }
    if rehearsal.has_passed() { printed } else { Exit::Failed.into() }
}

/// Whether the page can be written once there is one.
fn try_page(path: &Path) -> std::io::Result<()> {
    let exists = path.exists();
    fs::OpenOptions::new().append(true).create(true).open(path)?;
    if exists { Ok(()) } else { fs::remove_file(path) }
}

/// The app as `sluice start` would find it, and its settings. All that is wrong with them is told before anything starts.
fn app_of(args: &RehearseArgs) -> Result<(ConfigInForce, AppCommand), Failure> {
    let usage = |error: &dyn Display| Failure::new(Exit::Usage, error);
    let here =
        sources::here().map_err(|error| Failure::new(Exit::Failed, format!("the current directory: {error}")))?;
    let flags = StartArgs {
        entry: args.entry.clone(),
        command: args.command.clone(),
        workers: args.workers.map(|workers| workers.to_string()),
        ..StartArgs::default()
    };
    let loaded = crate::settings::load(args.config.as_deref(), flags.flags()).map_err(|error| usage(&error))?;
    let names_app = args.entry.is_some() || !args.command.is_empty();
    let sources = Sources { config: args.config.clone(), flags: flags.flags(), names_app, node_args: Vec::new(), here };
    let app = app::resolve(&loaded, &sources).map_err(|error| usage(&error))?;
    files::check_for_start(&loaded, &app).map_err(|error| usage(&error))?;
    Ok((loaded, app))
}

/// Paths, and statements about those that are left out.
fn mix_of(args: &RehearseArgs) -> Result<(Mix, Vec<String>), Failure> {
    if args.log.is_empty() {
        let default = || Mix::of(&["/".parse().ok()?]);
        let mix = Mix::of(&args.paths).or_else(default);
        return Ok((mix.ok_or_else(|| Failure::new(Exit::Usage, "no path"))?, Vec::new()));
    }
    let mut reader = PathReader::new(args.format.clone().unwrap_or_default(), args.seed);
    for path in &args.log {
        plan::with_log(path, |name, input| reader.read(name, input))
            .map_err(|error| Failure::new(Exit::Usage, format!("{}: {error}", path.display())))?;
    }
    let (sample, counts) = reader.finish();
    let notes = notes_of(&counts);
    let none = || {
        let text = format!(
            "no GET or HEAD request with a path that can be sent: {}. Name paths with --paths, or the format of the log with --format",
            notes.join("; ")
        );
        Failure::new(Exit::Usage, text)
    };
    Ok((Mix::of_sample(sample).ok_or_else(none)?, notes))
}

fn notes_of(counts: &PathCounts) -> Vec<String> {
    let PathCounts { lines, taken, other_methods, odd, masked, elsewhere, strange, strange_first } = counts;
    let mut notes = vec![format!("paths of {} in {lines} lines", plural(*taken, "request"))];
    let left_out = [
        (other_methods, "that are neither GET nor HEAD"),
        (odd, "with a path that is too long, not ASCII or missing"),
        (masked, "with a query that the log masks"),
        (elsewhere, "that needed no worker"),
    ];
    for (count, which) in left_out.into_iter().filter(|(count, _)| **count > 0) {
        notes.push(format!("skipped: {} {which}", plural(*count, "request")));
    }
    if *strange > 0 {
        notes.push(format!(
            "skipped: {} of no known format, first {}",
            plural(*strange, "line"),
            strange_first.join(", ")
        ));
    }
    notes
}

/// Faults that can be made, and statements about how.
fn faults_of(
    args: &RehearseArgs,
    app: &AppCommand,
    loaded: &ConfigInForce,
    lasts: Duration,
) -> (Vec<Fault>, Vec<String>) {
    let (mut faults, mut notes) = (args.faults.clone(), Vec::new());
    if faults.contains(&Fault::Loop) && matches!(app.start, Start::Command(_)) {
        faults.retain(|fault| *fault != Fault::Loop);
        notes.push("loop: skipped, because a command starts the app; name its script instead".to_owned());
    }
    if faults.contains(&Fault::Reload) {
        notes.push("reload: as by sluice reload, to the same version".to_owned());
    }
    if faults.contains(&Fault::Kills) {
        let every = faults::Stage::kill_every(lasts).as_secs_f64();
        notes.push(format!("kills: SIGKILL of a random worker every {every:.1} s"));
    }
    if faults.contains(&Fault::Loop) {
        let stuck = match loaded.config.workers.stuck_after_ms {
            0 => "the gateway never kills it, because workers.stuck_after_ms is 0".to_owned(),
            ms => format!("the gateway kills it after {ms} ms (workers.stuck_after_ms)"),
        };
        notes.push(format!(
            "loop: for (;;) on the main thread of a worker, started by SIGUSR2 in a module that the rehearsal loads into each worker; {stuck}"
        ));
    }
    (faults, notes)
}

fn rehearsed_by(args: &RehearseArgs) -> Result<Rehearsal, Failure> {
    let (loaded, app) = app_of(args)?;
    let (mix, mut notes) = mix_of(args)?;
    if let Some(path) = &args.html {
        try_page(path).map_err(|error| Failure::new(Exit::Usage, format!("--html {}: {error}", path.display())))?;
    }
    let lasts = Duration::from_secs_f64(args.seconds);
    let (faults, how) = faults_of(args, &app, &loaded, lasts);
    let matrix = Matrix::new(&args.loads, &faults);
    if matrix.cells().next().is_none() {
        return Err(Failure::new(Exit::Usage, how.join("; ")));
    }
    if args.loads.iter().any(|load| matches!(load, Load::Clients(_))) {
        notes.push(
            "clients: each sends its next request after its previous answer; latency counts from the \
            send"
                .to_owned(),
        );
    }
    notes.extend(how);
    start::raise_descriptor_limit();
    let interrupt = Interrupt::listen();
    let failed = |error: std::io::Error| Failure::new(Exit::Failed, error);
    let dir = gateway::make_dir(&std::env::temp_dir()).map_err(failed)?;
    let started = start_gateway(args, &loaded, &dir, faults.contains(&Fault::Loop));
    let (mut gateway, set_aside) = started.inspect_err(|_| gateway::remove_dir(&dir)).map_err(failed)?;
    if !set_aside.is_empty() {
        notes.push(format!("ignored during the rehearsal: {}", set_aside.join(", ")));
    }
    say(format_args!("starts {}", words(&app)));
    let of_workers = &loaded.config.workers;
    let patience = START_MAX + Duration::from_millis(of_workers.start_timeout_ms);
    let snapshot = gateway.settle(Some(patience), &interrupt)?;
    let address = snapshot.url.strip_prefix("http://").and_then(|address| address.parse().ok());
    let address = address.ok_or_else(|| gateway.failure(Exit::Failed, "the gateway did not report its address"))?;
    let workers = snapshot.workers_wanted.unwrap_or(1);
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    notes.push(format!(
        "the load generator, the gateway and the workers share this machine's {}",
        plural(cpus as u64, "CPU")
    ));
    let stand = Stand::new(Rc::new(Client::new(address)), Rc::new(mix), args.seed, interrupt.clone())
        .map_err(|error| Failure::new(Exit::Failed, error))?;
    say("measures the capacity");
    let capacity = stand.capacity(workers, lasts)?;
    if capacity.per_second <= 0.0 {
        return Err(gateway.failure(Exit::Failed, "the app answered no request"));
    }
    gateway.settle(None, &interrupt)?;
    let paths = stand.paths(lasts)?;
    let stage = faults::Stage {
        run_dir: gateway.run_dir(),
        lasts,
        reload_max: patience + Duration::from_millis(of_workers.stop_timeout_ms),
        stuck_after: Duration::from_millis(of_workers.stuck_after_ms),
        seed: args.seed,
        interrupt: interrupt.clone(),
    };
    let (mut cells, mut problem) = (Vec::new(), None);
    for (number, load, fault) in matrix.cells() {
        say(format_args!("{load}, {}", fault.name()));
        if let Err(failure) = gateway.settle(None, &interrupt) {
            interrupt.check()?;
            // Cells that were measured before are not lost.
            if cells.is_empty() {
                return Err(failure);
            }
            problem = Some(format!("Ended before {load}, {}: {}", fault.name(), failure.1));
            break;
        }
        gateway.take_tally(0);
        let drive = match load {
            Load::Clients(clients) => Drive::Clients(clients),
            _ => Drive::Rate(load.share().unwrap_or(1.0) * capacity.per_second),
        };
        let (seen, account) = stand.cell(drive, number, fault, &stage)?;
        let told = gateway.take_tally(seen.0.requests);
        let mut cell = Cell::new((load, fault), &seen, &told);
        (cell.events, cell.problem) = (account.events, account.problem);
        cells.push(cell);
    }
    drop(gateway);
    interrupt.check()?;
    let streams = stand.streams();
    if streams > 0 {
        notes.push(format!(
            "{}: closed after the headers of the answer, because they have no end; their times end with the headers",
            plural(streams, "event stream")
        ));
    }
    let paths_total = stand.paths_total();
    Ok(Rehearsal { app: words(&app), workers, seed: args.seed, capacity, paths, paths_total, notes, cells, problem })
}

fn start_gateway(
    args: &RehearseArgs,
    loaded: &ConfigInForce,
    dir: &Path,
    loops: bool,
) -> std::io::Result<(Gateway, Vec<&'static str>)> {
    let probe = dir.join("loop.cjs");
    if loops {
        fs::write(&probe, PROBE)?;
    }
    let (settings, set_aside) = settings::of(loaded, loops.then_some(&*probe));
    Ok((Gateway::start(args, dir.to_owned(), &settings)?, set_aside))
}

/// Words that start the app.
fn words(app: &AppCommand) -> String {
    harmless(&match &app.start {
        Start::Script { node, entry, .. } => {
            format!("{node} {}", entry.strip_prefix(&app.cwd).unwrap_or(entry).display())
        }
        Start::Command(words) => words.join(" "),
    })
}

/// Progress, on standard error.
fn say(text: impl Display) {
    stderr::say(format_args!("sluice rehearse: {text}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_tried_without_a_trace() {
        let dir = tempfile::tempdir().unwrap();
        let (new, old) = (dir.path().join("new.html"), dir.path().join("old.html"));
        fs::write(&old, "kept").unwrap();
        try_page(&new).unwrap();
        try_page(&old).unwrap();
        assert!(!new.exists());
        assert_eq!(fs::read_to_string(&old).unwrap(), "kept");
        assert!(try_page(&dir.path().join("missing/new.html")).is_err());
    }
}
