//! `sluice start`: puts the parts together, runs them, and leaves in order.

pub mod app;
mod boots;
mod cgroup;
mod compile_cache;
mod doors;
mod flames;
mod handover;
pub mod heads;
mod learned;
mod listeners;
mod machine;
mod memory;
mod mend;
mod operator;
mod purges;
mod reload;
mod retire;
mod scaling;
mod service;
mod shepherd;
mod shutdown;
mod signals;
pub mod sizing;
pub mod sources;
mod state_watch;
mod successor;
mod threads;
mod token;
mod upgrade;
mod worker_metrics;

use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use nix::sys::signal::SigSet;
use sluice_admin::{Agent, ControlSocket, MetricsHttp};
use sluice_catalog::config::{Concurrency, Config, ConfigInForce, LogFormat, LogQuery, Mode, Renderer};
use sluice_catalog::errors::Code;
use sluice_catalog::profiles::{PROFILES_DIR, TAILS_DIR};
use sluice_journal::{Event, Format, Journal, Level, Options, Query, Tasks, tasks};
use sluice_observe::Observer;
use sluice_proxy::gate::Gate;
use sluice_road::{ActiveConfig, Unusable};
use sluice_supervisor::{App, Notifications, Supervisor};
use sluice_wire::front::listen::{self, SocketFate};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::LocalSet;

use crate::args::{GuardianArgs, RunDirArg, StartArgs};
use crate::exit::Exit;
use crate::files;
use crate::registry;
use crate::run_dir::RunDir;
use crate::run_lock::RunLock;
use crate::settings;
use crate::state_dir::StateDir;
use crate::stderr;
use doors::{Doors, Predecessor};
use handover::HandoverDescriptors;
use operator::{Gateway, Whereabouts};
use reload::{Reloader, Settings};
use shutdown::Ending;
use sources::Sources;
use successor::Succession;
use tokio::time::Instant;
use upgrade::{Estate, Launch};

/// Interval of checks for time-outs and starts. Coarse: nothing on a request's way waits for it.
const TICK: Duration = Duration::from_millis(25);

/// A start that failed: the exit code and what to tell.
struct Failure(Exit, String);

impl Failure {
    fn new(exit: Exit, reason: impl std::fmt::Display) -> Self {
        Failure(exit, reason.to_string())
    }
}

/// Runs until the gateway has left.
#[allow(clippy::needless_pass_by_value, reason = "every command takes its arguments by value")]
pub fn run(args: StartArgs) -> ExitCode {
    match prepare_and_run(&args, None) {
        Ok(code) => code,
        Err(Failure(exit, reason)) => exit.because(reason),
    }
}

/// The same in the place of the gateway that started this process.
#[allow(clippy::needless_pass_by_value, reason = "every command takes its arguments by value")]
pub fn succeed(args: StartArgs) -> ExitCode {
    let ran = Succession::receive().and_then(|succession| {
        let stream = succession.stream()?;
        prepare_and_run(&args, Some(succession)).inspect_err(|Failure(_, reason)| handover::say_failed(&stream, reason))
    });
    match ran {
        Ok(code) => code,
        Err(Failure(exit, reason)) => exit.because(reason),
    }
}

pub use shepherd::run as shepherd;

/// The process that kills the workers should the gateway be killed.
#[allow(clippy::needless_pass_by_value, reason = "every command takes its arguments by value")]
pub fn guardian(_args: GuardianArgs) -> ExitCode {
    sluice_supervisor::run_guardian();
    Exit::Ok.into()
}

/// Resources that a gateway is started with, by a user or by the gateway before.
struct Setup {
    loaded: ConfigInForce,
    app: app::AppCommand,
    sources: Sources,
    preload: PathBuf,
    /// Run directory that the command line named.
    arg: RunDirArg,
    run_dir: RunDir,
    /// Number of this gateway in the instance; the first is 1.
    number: u32,
    lock: Rc<RunLock>,
    launch: Launch,
    descriptors_max: u64,
    /// Files whose change starts an app in development again, besides those that it has loaded.
    watch: Vec<PathBuf>,
}

fn prepare_and_run(args: &StartArgs, succession: Option<Succession>) -> Result<ExitCode, Failure> {
    let mut loaded =
        settings::load(args.config.as_deref(), args.flags()).map_err(|error| Failure::new(Exit::Usage, error))?;
    let warn = |warning: &String| stderr::say(format_args!("sluice: {warning}"));
    loaded.warnings.iter().for_each(warn);
    let of_config = loaded.warnings.len();
    let here =
        sources::here().map_err(|error| Failure::new(Exit::Failed, format!("the current directory: {error}")))?;
    let names_app = args.entry.is_some() || !args.command.is_empty();
    let node_args = args.node_args.clone();
    let sources = Sources { config: args.config.clone(), flags: args.flags(), names_app, node_args, here };
    let watch = args.watch.iter().map(|path| sources.here.join(path)).collect();
    let mut app = app::resolve(&loaded, &sources).map_err(|error| Failure::new(Exit::Usage, error))?;
    sizing::settle(&mut loaded, &mut app, None);
    heads::settle(&mut loaded, &app);
    loaded.warnings[of_config..].iter().for_each(warn);
    files::check_for_start(&loaded, &app).map_err(|error| Failure::new(Exit::Usage, error))?;
    let preload = app::find_preload().map_err(|error| Failure::new(Exit::Failed, error))?;
    let launch = Launch::of_this_process().map_err(|error| Failure::new(Exit::Failed, error))?;
    let descriptors_max = raise_descriptor_limit();
    let runtime = threads::runtime().map_err(|error| Failure::new(Exit::Failed, error))?;
    tasks::remember_places();
    let entered = runtime.enter();
    let (number, run_dir, lock, predecessor) = match succession {
        None => {
            let run_dir = RunDir::locate(&args.run_dir).map_err(|error| Failure::new(Exit::Usage, error))?;
            run_dir.create().map_err(|error| Failure::new(Exit::Failed, error))?;
            let lock = lock(&run_dir)?;
            (1, run_dir, lock, None)
        }
        Some(succession) => {
            let (HandoverDescriptors { offer, lock, listener, agent, metrics, redirect }, wire) =
                succession.into_parts()?;
            successor::check_address(&loaded.config, &offer)?;
            let run_dir = RunDir::inherited(offer.run_dir.clone());
            (
                offer.number,
                run_dir.clone(),
                RunLock::inherited(run_dir.path(), File::from(lock)),
                Some(Predecessor { offer, listener, agent, metrics, redirect, wire }),
            )
        }
    };
    let sockets = run_dir.sockets_of(number);
    let _ = std::fs::remove_dir_all(&sockets);
    std::fs::create_dir_all(&sockets)
        .map_err(|error| Failure::new(Exit::Failed, format!("{}: {error}", sockets.display())))?;
    let lock = Rc::new(lock);
    let arg = args.run_dir.clone();
    let prepared = Setup {
        loaded,
        app,
        sources,
        preload,
        arg,
        run_dir: run_dir.clone(),
        number,
        lock,
        launch,
        descriptors_max,
        watch,
    };
    let local = LocalSet::new();
    // A task of its own: what `block_on` itself waits for is looked at again on every wake-up of any task.
    let joined = local.block_on(&runtime, async { tokio::task::spawn_local(serve(prepared, predecessor)).await });
    let outcome = joined.unwrap_or_else(|_| {
        Err(Failure::new(Exit::Fault, format!("a fault stopped the gateway, at {}", tasks::place())))
    });
    tidy(&run_dir, number);
    drop(local);
    drop(entered);
    threads::end(runtime);
    outcome
}

/// Takes away what is this gateway's in the run directory, and leaves what is another's.
fn tidy(run_dir: &RunDir, number: u32) {
    let _ = std::fs::remove_dir_all(run_dir.sockets_of(number));
    let _ = std::fs::remove_file(run_dir.control_socket_of(number));
    if run_dir.read_pid() == Some(std::process::id()) {
        let _ = std::fs::remove_file(run_dir.control_socket());
        let _ = std::fs::remove_file(run_dir.pid_file());
        registry::leave(run_dir);
    }
}

/// Logs warnings about the config. On a terminal they stand above, on stderr.
fn log_warnings(journal: &Journal, loaded: &ConfigInForce) {
    if io::stdout().is_terminal() && io::stderr().is_terminal() {
        return;
    }
    for text in &loaded.warnings {
        journal.emit(Event::Note { level: Level::Warn, text });
    }
}

/// Opens the state directory, moves what earlier versions kept elsewhere, and leaves the link for commands.
fn open_state(config: &Config, arg: &RunDirArg, run_dir: &RunDir, number: u32, journal: &Journal) -> StateDir {
    let state = StateDir::open(config, arg, run_dir);
    for text in &state.warnings {
        journal.emit(Event::Note { level: Level::Warn, text });
    }
    // An older gateway that hands over still uses its files.
    let moved = if number == 1 { state.adopt(run_dir) } else { Vec::new() };
    for text in &moved {
        journal.emit(Event::Note { level: Level::Info, text });
    }
    if let Err(error) = state.link_from(run_dir) {
        let text = format!("commands do not find the state directory {}: {error}", state.path.display());
        journal.emit(Event::Note { level: Level::Warn, text: &text });
    }
    state
}

/// Keeps profiles of slow requests. Without a directory for them the gateway does all the rest.
async fn keep_tails(gate: &Gate, state_dir: &Path) {
    if let Err(error) = gate.road.observer.tails.keep_in(state_dir.join(TAILS_DIR)).await {
        let text = format!("no slow request is profiled (profile.tail): {error}");
        gate.road.observer.emit(Event::Note { level: Level::Warn, text: &text });
    }
}

async fn serve(prepared: Setup, predecessor: Option<Predecessor>) -> Result<ExitCode, Failure> {
    let Setup { loaded, app: start, sources, preload, arg, run_dir, number, lock, launch, descriptors_max, watch } =
        prepared;
    let (workers, settings) = first_settings(&loaded, descriptors_max)?;
    let config = Rc::clone(settings.used.config());
    let (doors, wire) = doors::open(&config, predecessor).await?;
    let failed = |error: io::Error| Failure::new(Exit::Failed, format!("{}: {error}", run_dir.path().display()));
    let estate = estate(launch, &run_dir, number, lock, &doors).map_err(failed)?;
    let Doors { listener, agent, metrics, redirect } = doors;
    let address = listener.local_addr().map_err(|error| Failure::new(Exit::Failed, error))?;
    let journal = journal(&config).map_err(|error| Failure::new(Exit::Failed, error))?;
    log_warnings(&journal, &loaded);
    let state = open_state(&config, &arg, &run_dir, number, &journal);
    let tasks = Tasks::new(journal.clone());
    let observer = Observer::new(settings.used.config(), journal.clone());
    let gate = sluice_proxy::gate(settings.used.clone(), observer).map_err(|error| unusable(&loaded, &error))?;
    gate.road.lobby.set_port(address.port());
    gate.road.pages.keep_on_disk(run_dir.path(), wire.is_some());
    // The gateway before this one keeps them until it has handed over.
    if wire.is_none() {
        keep_tails(&gate, &state.path).await;
    }
    gate.road.store.set_files_max(settings.temp_files_max);
    let compile_cache = compile_cache::place(&config, &run_dir);
    let app_dir = start.cwd.clone();
    let mut app = app_of(&config, start, preload, run_dir.sockets_of(number), address.port());
    app.compile_cache.clone_from(&compile_cache);
    app.development = (config.mode == Mode::Development).then_some(watch);
    app.profiles = state.path.join(PROFILES_DIR);
    app.profiles_instead = run_dir.path().join(PROFILES_DIR);
    let own_name = if wire.is_some() { run_dir.control_socket_of(number) } else { run_dir.control_socket() };
    let control = ControlSocket::bind(&own_name).map_err(failed)?;
    let (supervisor, Notifications { mut gave_up, reloads: ended }) =
        Supervisor::start(app, gate.clone(), tasks.clone()).map_err(failed)?;
    let url = operator::url(address, settings.used.is_tls());
    let admin_url =
        metrics.as_ref().and_then(|metrics| metrics.local_addr().ok()).map(|address| operator::url(address, false));
    let (upgrades, requests) = tokio::sync::mpsc::channel(1);
    let (reloads, reloads_asked) = reload::channel();
    let whereabouts = Whereabouts { url, admin_url, run_dir: run_dir.path().to_owned(), state_dir: state.path };
    let gateway = Gateway::new(Rc::clone(&gate), Rc::clone(&supervisor), tasks.clone(), reloads, upgrades, whereabouts);
    let reloader = Reloader::new(&gateway, sources, settings);

    tasks.spawn("journal", journal.clone().run());
    tasks.spawn("control", control.serve(gateway.clone(), journal.clone()));
    machine::start(&gateway);
    tasks.spawn("reload", reloader.run(reloads_asked, ended));
    gateway.set_wanted(workers);
    tasks.spawn("tick", tick(Rc::clone(&gateway), number == 1));
    tasks.spawn("watchdog", service::watchdog(Rc::clone(&gateway), number));
    tasks.spawn("mend", mend::run(Rc::clone(&gateway), run_dir.clone(), Rc::clone(&estate.lock), app_dir));
    if config.is_tls() {
        tasks.spawn("certificates", sluice_road::certificates::watch::run(Rc::clone(&gate.road)));
    }
    tasks.spawn("shared-cache", sluice_road::cache::hear_other_gateways(Rc::clone(&gate.road)));
    learned::start(&gateway);
    tasks.spawn("state-dir", state_watch::run(Rc::clone(&gateway), state.watched));
    compile_cache::start(&gateway, compile_cache);
    let wire = match wire {
        None => None,
        Some(mut wire) => {
            supervisor.hold_auxiliaries();
            gateway.has_predecessor.set(true);
            if let Err(failure) = successor::come_up(&gateway, &mut wire, &mut gave_up).await {
                supervisor.kill_all();
                return Err(failure);
            }
            std::fs::rename(&own_name, run_dir.control_socket()).map_err(failed)?;
            run_dir.write_pid().map_err(failed)?;
            Some(wire)
        }
    };
    gateway.in_charge.set(true);
    // The gateway before this one asks for certificates until it has handed over.
    if config.is_tls() {
        tasks.spawn("acme", sluice_road::certificates::renew::run(Rc::clone(&gate.road)));
    }
    let stop_accepting = accept(&tasks, &gate, listener, redirect);
    if let Some(metrics) = metrics {
        let (gateway, journal) = (gateway.clone(), journal.clone());
        let secret = token::secret(&config, &run_dir).map_err(failed)?;
        tasks.spawn("metrics", async move {
            metrics.serve(gateway.clone(), journal, secret, gateway.retiring.notified()).await;
        });
    }
    answer_checks(&gateway, agent);
    if let Some(wire) = wire {
        tasks.spawn("settle", successor::settle(Rc::clone(&gateway), wire));
    }
    let ending =
        shutdown::wait_for_reason(&gateway, gave_up, upgrade::serve(Rc::clone(&gateway), estate, requests)).await;
    let code = match ending {
        Ending::HandedOver(successor) => retire::retire(&gateway, *successor, &run_dir, number, stop_accepting).await,
        Ending::Asked(reason) => {
            service::stopping();
            shutdown::leave(&gateway, reason, stop_accepting).await
        }
        Ending::GaveUp => Err(shutdown::give_up(&gateway, stop_accepting).await),
    };
    upgrade::cleared_away(&gateway).await;
    shutdown::last_words(&gateway).await;
    code
}

/// Answers the agent checks of balancers, until another gateway does.
fn answer_checks(gateway: &Rc<Gateway>, agent: Option<Agent>) {
    let Some(agent) = agent else { return };
    let asked = Rc::clone(gateway);
    gateway.tasks.spawn("agent", async move { agent.serve(asked.clone(), asked.retiring.notified()).await });
}

/// Resources that this gateway can pass on to another.
fn estate(launch: Launch, run_dir: &RunDir, number: u32, lock: Rc<RunLock>, doors: &Doors) -> io::Result<Estate> {
    Ok(Estate {
        launch,
        run_dir: run_dir.clone(),
        number,
        lock,
        listener: doors.listener.as_fd().try_clone_to_owned()?,
        agent: doors.agent.as_ref().map(Agent::try_clone_socket).transpose()?,
        metrics: doors.metrics.as_ref().map(MetricsHttp::try_clone_socket).transpose()?,
        redirect: doors.redirect.as_ref().map(|socket| socket.as_fd().try_clone_to_owned()).transpose()?,
    })
}

/// Accepts clients at both ports until the sender is used.
fn accept(
    tasks: &Tasks,
    gate: &Rc<Gate>,
    listener: TcpListener,
    redirect: Option<TcpListener>,
) -> oneshot::Sender<SocketFate> {
    let (stop, stopped) = oneshot::channel();
    let (stop_redirect, redirect_stopped) = oneshot::channel();
    let stopped = async {
        let then = stopped.await.unwrap_or(SocketFate::Close);
        let _ = stop_redirect.send(then);
        then
    };
    tasks.spawn("accept", listen::accept(listener, Rc::clone(&gate.road), stopped));
    if let Some(redirect) = redirect {
        let stopped = async { redirect_stopped.await.unwrap_or(SocketFate::Close) };
        tasks.spawn("redirect", listen::accept(redirect, Rc::clone(&gate.road), stopped));
    }
    stop
}

/// Settings of the first start, with the number of workers.
fn first_settings(loaded: &ConfigInForce, descriptors_max: u64) -> Result<(u32, Settings), Failure> {
    let mut config = settings::resolved(loaded);
    memory::bound(&mut config);
    let workers = worker_count(&config);
    let (temp_files_max, note) = bound_connections(&mut config, workers, descriptors_max);
    if let Some(note) = note {
        stderr::say(format_args!("sluice: {note}"));
    }
    let used = ActiveConfig::read(Rc::new(config)).map_err(|error| unusable(loaded, &error))?;
    Ok((workers, Settings { written: loaded.config.clone(), used, temp_files_max }))
}

fn unusable(loaded: &ConfigInForce, error: &Unusable) -> Failure {
    Failure::new(Exit::Usage, files::unusable(loaded, error))
}

/// App that the workers of the first generation run.
fn app_of(config: &Config, start: app::AppCommand, preload: PathBuf, sockets: PathBuf, port: u16) -> App {
    App {
        memory_bytes: memory::memory_bytes(Path::new("/")),
        start: start.start,
        cwd: start.cwd,
        env: config.app.env.clone(),
        preload,
        sockets,
        port,
        main_port: config.app.port,
        head_bytes_max: head_bytes_max(config),
        workers: worker_count(config),
        concurrency: config.workers.held_max(),
        is_while_waiting: config.workers.concurrency == Concurrency::WhileWaiting,
        renders_fast: config.react.renderer == Renderer::Fast,
        keeps_pages: config.cache.enabled,
        compile_cache: None,
        development: None,
        profiles: PathBuf::new(),
        profiles_instead: PathBuf::new(),
    }
}

/// The longest head of a request that a worker has to take: what a client may send, and room for what the gateway adds.
fn head_bytes_max(config: &Config) -> u64 {
    config.request_line_bytes_max() + config.server.headers_bytes_max + 8192
}

/// One instance a run directory.
fn lock(run_dir: &RunDir) -> Result<RunLock, Failure> {
    let failed = |error: io::Error| Failure::new(Exit::Failed, format!("{}: {error}", run_dir.path().display()));
    let Some(lock) = RunLock::take(run_dir.path()).map_err(failed)? else {
        let reason = format!(
            "{}: a gateway already runs in {}. Check it with `sluice status`, stop it with `sluice stop`, or start \
             another one with a different --run-dir, --port and --admin.",
            Code::RunDirBusy,
            run_dir.path().display()
        );
        return Err(Failure::new(Exit::Failed, reason));
    };
    // What killed gateways left behind; nobody else can be in here now.
    run_dir.clear().and_then(|()| run_dir.write_pid()).map_err(failed)?;
    Ok(lock)
}

fn journal(config: &Config) -> io::Result<Journal> {
    let format = match config.log.format {
        LogFormat::Text => Format::Text,
        LogFormat::Auto if config.mode == Mode::Development => Format::Brief,
        LogFormat::Auto if io::stdout().is_terminal() => Format::Text,
        LogFormat::Auto | LogFormat::Json => Format::Json,
    };
    // Its thread inherits what is blocked here: see the runtime's threads.
    let _ = SigSet::all().thread_block();
    let query = match config.log.query {
        LogQuery::Keep => Query::Keep,
        LogQuery::Drop => Query::Drop,
        LogQuery::Mask => Query::Mask(config.log.query_masked.clone().into()),
    };
    let journal = Journal::to_stdout(Options { format, access: config.log.access, fields: config.log.fields, query });
    let _ = SigSet::all().thread_unblock();
    journal
}

/// Configured number, else what this process may use of CPUs and memory.
fn worker_count(config: &Config) -> u32 {
    sizing::worker_count(config, &sizing::Room::here())
}

/// Thousands of clients need as many descriptors; the hard limit is what the system allows us. Returns what we have now.
pub fn raise_descriptor_limit() -> u64 {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return u64::MAX };
    if soft < hard && setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_ok() {
        return hard;
    }
    soft
}

/// Clients may not take the descriptors that workers, logs and temporary files need: without those nobody is served. Returns
/// how many are left for temporary files, of which each client that does not read may have one, and says where fewer connections than
/// were asked for are possible.
fn bound_connections(config: &mut Config, workers: u32, descriptors_max: u64) -> (u64, Option<String>) {
    let slots = u64::from(workers) * u64::from(config.workers.held_max());
    let reserve = (128 + 2 * slots + 8 * u64::from(workers)).min(descriptors_max / 2);
    // A connection that is sent a file holds that open as well.
    let per_connection = if config.files.paths.is_empty() { 1 } else { 2 };
    let affordable = ((descriptors_max - reserve) / per_connection).max(1);
    let wanted = config.server.connections_max;
    config.server.connections_max = wanted.min(affordable);
    let note = (wanted > affordable).then(|| {
        format!(
            "server.connections_max is {affordable} here, not {wanted}: the process may open {descriptors_max} descriptors (ulimit -n)"
        )
    });
    let taken = reserve + per_connection * config.server.connections_max;
    (descriptors_max.saturating_sub(taken).max(reserve / 2), note)
}

async fn tick(gateway: Rc<Gateway>, is_first: bool) {
    let mut interval = tokio::time::interval(TICK);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let started = Instant::now();
    let mut announced = false;
    let mut boots = boots::Teller::default();
    loop {
        interval.tick().await;
        gateway.gate.tick();
        gateway.scaling.step(&gateway.gate);
        gateway.tell_overlaps();
        boots.look(&gateway.gate, &gateway.journal);
        if !announced && gateway.in_charge.get() && gateway.gate.scheduler.read(|scheduler| scheduler.ready_count() > 0)
        {
            announced = true;
            gateway.announce(started.elapsed());
            // A gateway that came by an upgrade tells when the one before has let go.
            if is_first {
                service::ready(&gateway.status());
            }
        }
    }
}
