//! `sluice start`: puts the parts together, runs them, and leaves in order.

mod app;
mod operator;
mod shutdown;

use std::fs::{File, TryLockError};
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use sluice_admin::{ControlSocket, MetricsHttp};
use sluice_catalog::config::{Config, Loaded, LogFormat};
use sluice_catalog::errors::Code;
use sluice_journal::{Event, Format, Journal, Options};
use sluice_proxy::listen;
use sluice_supervisor::{App, Supervisor};
use tokio::task::LocalSet;

use crate::args::{GuardianArgs, StartArgs};
use crate::exit::Exit;
use crate::run_dir::RunDir;
use crate::settings;
use operator::Gateway;

/// How often time-outs and starts are looked at. Coarse: nothing on a request's way waits for it.
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
    match prepare_and_run(&args) {
        Ok(code) => code,
        Err(Failure(exit, reason)) => exit.because(reason),
    }
}

/// The process that kills the workers should the gateway be killed.
#[allow(clippy::needless_pass_by_value, reason = "every command takes its arguments by value")]
pub fn guardian(_args: GuardianArgs) -> ExitCode {
    sluice_supervisor::run_guardian();
    Exit::Ok.into()
}

fn prepare_and_run(args: &StartArgs) -> Result<ExitCode, Failure> {
    let loaded =
        settings::load(args.config.as_deref(), args.flags()).map_err(|error| Failure::new(Exit::Usage, error))?;
    for warning in &loaded.warnings {
        eprintln!("sluice: {warning}");
    }
    let start = app::resolve(&loaded, args.entry.is_some() || !args.command.is_empty())
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    let preload = app::find_preload().map_err(|error| Failure::new(Exit::Failed, error))?;
    let run_dir = RunDir::locate(&args.run_dir).map_err(|error| Failure::new(Exit::Usage, error))?;
    run_dir.create().map_err(|error| Failure::new(Exit::Failed, error))?;
    let _lock = lock(&run_dir)?;
    let descriptors_max = raise_descriptor_limit();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(16).build();
    let runtime = runtime.map_err(|error| Failure::new(Exit::Failed, error))?;
    let local = LocalSet::new();
    // A task of its own: what `block_on` itself waits for is looked at again on every wake-up of any task.
    let serving = serve(loaded, start, preload, run_dir.clone(), descriptors_max);
    let joined = local.block_on(&runtime, async { tokio::task::spawn_local(serving).await });
    let outcome = joined.unwrap_or_else(|error| Err(Failure::new(Exit::Failed, error)));
    let _ = std::fs::remove_file(run_dir.control_socket());
    let _ = std::fs::remove_file(run_dir.path().join("workers.sock"));
    let _ = std::fs::remove_file(run_dir.path().join("sluice.pid"));
    outcome
}

async fn serve(
    loaded: Loaded,
    start: app::Resolved,
    preload: PathBuf,
    run_dir: RunDir,
    descriptors_max: u64,
) -> Result<ExitCode, Failure> {
    let mut config = resolved_config(&loaded);
    let workers = worker_count(&config);
    bound_connections(&mut config, workers, descriptors_max);
    let config = Rc::new(config);
    let tls = listen::tls(&config).map_err(|error| Failure::new(Exit::Usage, error))?;
    let listener = listen::bind(&config.server.host, config.server.port)
        .map_err(|error| cannot_bind("--port", &listen::display(&config.server.host, config.server.port), &error))?;
    let address = listener.local_addr().map_err(|error| Failure::new(Exit::Failed, error))?;
    let metrics = match config.admin.address.as_str() {
        "off" => None,
        wanted => Some(MetricsHttp::bind(wanted).await.map_err(|error| cannot_bind("--admin", wanted, &error))?),
    };
    let journal = journal(&config).map_err(|error| Failure::new(Exit::Failed, error))?;
    let gate =
        sluice_proxy::gate(Rc::clone(&config), journal.clone()).map_err(|error| Failure::new(Exit::Usage, error))?;
    let app = App {
        start: start.start,
        cwd: start.cwd,
        env: config.app.env.clone(),
        preload,
        run_dir: run_dir.path().to_owned(),
        port: address.port(),
        // What a client may send, and room for what the gateway adds.
        head_bytes_max: config.server.request_line_bytes_max + config.server.headers_bytes_max + 8192,
        concurrency: config.workers.concurrency,
    };
    let failed = |error: io::Error| Failure::new(Exit::Failed, format!("{}: {error}", run_dir.path().display()));
    let control = ControlSocket::bind(&run_dir.control_socket()).map_err(failed)?;
    let (supervisor, gave_up) = Supervisor::start(app, &gate).map_err(failed)?;
    let url = operator::url(address, tls.is_some());
    let admin_url =
        metrics.as_ref().and_then(|metrics| metrics.local_addr().ok()).map(|address| operator::url(address, false));
    let gateway = Gateway::new(Rc::clone(&gate), Rc::clone(&supervisor), url, admin_url, run_dir.path().to_owned());

    tokio::task::spawn_local(journal.clone().run());
    tokio::task::spawn_local(control.serve(gateway.clone(), journal.clone()));
    if let Some(metrics) = metrics {
        tokio::task::spawn_local(metrics.serve(gateway.clone(), journal.clone()));
    }
    gateway.set_wanted(workers);
    tokio::task::spawn_local(tick(Rc::clone(&gateway)));
    let (stop_accepting, stopped) = tokio::sync::oneshot::channel::<()>();
    let accepting = listen::accept(listener, tls, Rc::clone(&gate), async {
        let _ = stopped.await;
    });
    tokio::task::spawn_local(accepting);

    let ending = shutdown::wait_for_reason(&gateway, gave_up).await;
    let code = shutdown::leave(&gateway, ending, stop_accepting).await;
    gate.flush_records();
    journal.emit(Event::Stopped);
    journal.close(Duration::from_secs(2));
    code
}

/// The config with its paths as they are meant: relative to where they were written.
fn resolved_config(loaded: &Loaded) -> Config {
    let mut config = loaded.config.clone();
    let resolve = |key: &str, path: &mut Option<String>| {
        if let Some(written) = path {
            *written = loaded.resolve(key, written).to_string_lossy().into_owned();
        }
    };
    resolve("server.tls_cert", &mut config.server.tls_cert);
    resolve("server.tls_key", &mut config.server.tls_key);
    resolve("temp.dir", &mut config.temp.dir);
    config
}

/// One instance a run directory; the lock goes with the process.
fn lock(run_dir: &RunDir) -> Result<File, Failure> {
    let path = run_dir.path().join("lock");
    let open = File::options().create(true).truncate(false).write(true).open(&path);
    let file = open.map_err(|error| Failure::new(Exit::Failed, format!("{}: {error}", path.display())))?;
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        let reason = format!(
            "{}: a gateway runs already in {}. Look at it with `sluice status`, stop it with `sluice stop`, or start another with --run-dir, --port and --admin of its own.",
            Code::RunDirBusy,
            run_dir.path().display()
        );
        return Err(Failure::new(Exit::Failed, reason));
    }
    let sockets = run_dir.path().join("w");
    // What a killed gateway left behind; nobody else can be in here now.
    let _ = std::fs::remove_dir_all(&sockets);
    std::fs::create_dir_all(&sockets)
        .map_err(|error| Failure::new(Exit::Failed, format!("{}: {error}", sockets.display())))?;
    let pid_file = run_dir.path().join("sluice.pid");
    std::fs::write(&pid_file, format!("{}\n", std::process::id()))
        .map_err(|error| Failure::new(Exit::Failed, format!("{}: {error}", pid_file.display())))?;
    Ok(file)
}

fn cannot_bind(flag: &str, address: &str, error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::AddrInUse {
        let hint = if flag == "--admin" { ", or --admin off" } else { "" };
        return Failure::new(
            Exit::PortInUse,
            format!("{}: {address} is in use. Choose another with {flag}{hint}.", Code::PortInUse),
        );
    }
    Failure::new(Exit::Failed, format!("cannot listen on {address} ({flag}): {error}"))
}

fn journal(config: &Config) -> io::Result<Journal> {
    let format = match config.log.format {
        LogFormat::Text => Format::Text,
        LogFormat::Auto if io::stdout().is_terminal() => Format::Text,
        LogFormat::Auto | LogFormat::Json => Format::Json,
    };
    Journal::to_stdout(Options { format, access: config.log.access })
}

/// What was asked for, else what this process may use: the CPU quota of its cgroup and its affinity.
fn worker_count(config: &Config) -> u32 {
    if config.workers.count > 0 {
        return config.workers.count;
    }
    std::thread::available_parallelism().ok().and_then(|count| u32::try_from(count.get()).ok()).unwrap_or(1)
}

/// Thousands of clients need as many descriptors; the hard limit is what the system allows us. Returns what we have now.
fn raise_descriptor_limit() -> u64 {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return u64::MAX };
    if soft < hard && setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_ok() {
        return hard;
    }
    soft
}

/// Clients may not take the descriptors that workers, logs and temporary files need: without those nobody is served.
fn bound_connections(config: &mut Config, workers: u32, descriptors_max: u64) {
    let slots = u64::from(workers) * u64::from(config.workers.concurrency);
    let reserve = (128 + 2 * slots + 8 * u64::from(workers)).min(descriptors_max / 2);
    let affordable = (descriptors_max - reserve).max(1);
    if config.server.connections_max > affordable {
        eprintln!(
            "sluice: server.connections_max is {} here, not {}: the process may open {descriptors_max} descriptors (ulimit -n)",
            affordable, config.server.connections_max
        );
        config.server.connections_max = affordable;
    }
}

async fn tick(gateway: Rc<Gateway>) {
    let mut interval = tokio::time::interval(TICK);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let started = Instant::now();
    let mut announced = false;
    loop {
        interval.tick().await;
        gateway.gate.tick();
        gateway.tell_overlaps();
        if !announced && gateway.gate.scheduler(|scheduler| scheduler.ready_count() > 0) {
            announced = true;
            gateway.announce(started.elapsed());
        }
    }
}
