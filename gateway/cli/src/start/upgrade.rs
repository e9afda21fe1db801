//! The old gateway's side of an upgrade: starts the new one, waits until its workers are ready, lets it take over.
//!
//! Until the new one has said that it serves, this gateway accepts connections, and any failure costs the attempt alone. It must not know
//! how the new one comes up, nor how this one leaves afterwards.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::rc::Rc;
use std::time::Duration;

use sluice_admin::{ControlSocket, Operator, Upgrade};
use sluice_catalog::refusals::{SuccessorError, UpgradeError};
use sluice_journal::{Event, Level};
use sluice_wire::front::tls::Tls;
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};

use super::handover::{Offer, Wire, Word};
use super::operator::Gateway;
use super::purges;
use super::service;
use crate::run_dir::RunDir;
use crate::run_lock::RunLock;

/// Maximum time from the command to take over until the new gateway accepts connections. A few system calls.
const TAKE_OVER_MAX: Duration = Duration::from_secs(10);
/// Maximum wait for the exit after a connection has closed.
const EXIT_MAX: Duration = Duration::from_secs(2);
/// Interval of looks whether a killed process has gone.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// Failed attempts before names in the run directory are used again; below the number of names, so that neither this
/// gateway's nor those of the one before it are touched.
const ATTEMPTS: u32 = 8;

/// One request for an upgrade, with the way to answer it.
pub type UpgradeRequest = (Upgrade, oneshot::Sender<Result<u32, UpgradeError>>);

/// Program and arguments of this process, to start it again.
#[derive(Clone, Debug)]
pub struct Launch {
    program: PathBuf,
    args: Vec<OsString>,
}

impl Launch {
    /// Reads it from this process. The path is kept as it was written, because a symbolic link in it may lead to another
    /// version by the time of an upgrade.
    pub fn of_this_process() -> io::Result<Self> {
        let mut words = std::env::args_os();
        let name = PathBuf::from(words.next().unwrap_or_default());
        // The command itself is always the first word.
        let args = words.skip(1).collect();
        let program = if name.components().count() > 1 { std::path::absolute(&name).ok() } else { on_path(&name) };
        let program = match program.filter(|program| program.is_file()) {
            Some(program) => program,
            None => std::env::current_exe()?,
        };
        Ok(Self { program, args })
    }
}

fn on_path(name: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).map(|dir| dir.join(name)).find(|candidate| candidate.is_file())?;
    std::path::absolute(found).ok()
}

/// Resources that this gateway can pass on.
pub struct Estate {
    pub launch: Launch,
    pub run_dir: RunDir,
    pub number: u32,
    pub lock: Rc<RunLock>,
    pub listener: OwnedFd,
    pub agent: Option<OwnedFd>,
    pub metrics: Option<OwnedFd>,
    pub redirect: Option<OwnedFd>,
}

/// The gateway that serves now, started by this one.
pub struct Successor {
    pub pid: u32,
    /// Time of its start.
    pub started: Instant,
    attempt: Attempt,
}

impl Successor {
    pub fn wire(&mut self) -> &mut Wire {
        &mut self.attempt.wire
    }
}

/// A new gateway. Unless it has taken over, it dies with this value, and its names go with it. If it has, nobody here
/// waits for it, because its exit is the shepherd's to see.
struct Attempt {
    wire: Wire,
    newcomer: Option<Newcomer>,
    has_taken_over: bool,
}

/// The process of a new gateway, and the names that it has until it takes over.
struct Newcomer {
    gateway: Rc<Gateway>,
    child: Child,
    sockets: PathBuf,
    control_socket: PathBuf,
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if let Some(newcomer) = self.newcomer.take_if(|_| !self.has_taken_over) {
            newcomer.gateway.clearing.set(true);
            tokio::task::spawn_local(newcomer.clear_away());
        }
    }
}

impl Newcomer {
    /// Kills the new gateway, whose guardian kills its workers, and takes away their sockets.
    async fn clear_away(mut self) {
        let end = Instant::now() + EXIT_MAX;
        let _ = self.child.start_kill();
        let _ = timeout(EXIT_MAX, self.child.wait()).await;
        // A worker that outlives its gateway for a moment may put its socket there in just that moment.
        while std::fs::remove_dir_all(&self.sockets).is_err_and(|error| error.kind() != io::ErrorKind::NotFound)
            && Instant::now() < end
        {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        let _ = std::fs::remove_file(&self.control_socket);
        self.gateway.clearing.set(false);
    }
}

/// Waits until nothing is left of an upgrade that did not come about.
pub async fn cleared_away(gateway: &Gateway) {
    while gateway.clearing.get() {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Serves requests for an upgrade until one has succeeded.
pub async fn serve(gateway: Rc<Gateway>, estate: Estate, mut requests: mpsc::Receiver<UpgradeRequest>) -> Successor {
    let mut attempts = 0;
    loop {
        let Some((wanted, answer)) = requests.recv().await else { return std::future::pending().await };
        let number = estate.number.wrapping_add(1 + attempts % ATTEMPTS);
        attempts += 1;
        service::reloading("upgrading: a new gateway starts");
        let outcome = upgrade(&gateway, &estate, number, wanted).await;
        cleared_away(&gateway).await;
        gateway.upgrading.set(false);
        match outcome {
            Ok(successor) => {
                // The main process stays, whichever serves; the new gateway tells its own status.
                service::ready(&format!("process {} serves after an upgrade", successor.pid));
                let _ = answer.send(Ok(successor.pid));
                return successor;
            }
            Err(error) => {
                let error = UpgradeError::Failed(error);
                service::ready(&format!("{}; upgrade failed", gateway.status()));
                gateway.journal.emit(Event::Note { level: Level::Error, text: &error.to_string() });
                let _ = answer.send(Err(error));
            }
        }
    }
}

async fn upgrade(
    gateway: &Rc<Gateway>,
    estate: &Estate,
    number: u32,
    wanted: Upgrade,
) -> Result<Successor, SuccessorError> {
    let program = wanted.binary.as_ref().unwrap_or(&estate.launch.program);
    let started = Instant::now();
    let mut attempt = start(gateway, estate, &wanted, number)
        .map_err(|source| SuccessorError::NotStarted { program: program.clone(), source })?;
    let pid = attempt.newcomer.as_ref().and_then(|newcomer| newcomer.child.id()).unwrap_or(0);
    let text = format!("upgrade: {} is started as process {pid}", program.display());
    gateway.journal.emit(Event::Note { level: Level::Info, text: &text });
    let mut taken_over = attempt.ready(wanted.timeout).await;
    if taken_over.is_ok() {
        gateway.committing.set(true);
        // Before the new one can serve: both serve for a moment, and must not cache apart from each other.
        gateway.gate.road.pages.leave_to(purges::to_successor(&estate.run_dir, number));
        taken_over = attempt.take_over(gateway).await;
        if taken_over.is_err() {
            attempt.kill();
            gateway.gate.road.pages.take_back();
            reclaim(gateway, estate);
        }
        gateway.committing.set(false);
    }
    taken_over?;
    attempt.has_taken_over = true;
    Ok(Successor { pid, started, attempt })
}

fn start(gateway: &Rc<Gateway>, estate: &Estate, wanted: &Upgrade, number: u32) -> io::Result<Attempt> {
    let program = wanted.binary.as_ref().unwrap_or(&estate.launch.program);
    let config = &gateway.gate.road.config();
    let mut offer = Offer::new(
        number,
        estate.run_dir.path().to_owned(),
        config.server.host.clone(),
        config.server.port,
        config.admin.address.clone(),
    );
    if estate.agent.is_some() {
        offer.set_agent(config.admin.agent_address.clone());
    }
    offer.redirect = estate.redirect.as_ref().map(|_| config.server.redirect_port);
    let (ours, theirs) = UnixStream::pair()?;
    let lock = estate.lock.file();
    let descriptors: Vec<_> = [lock.as_fd(), estate.listener.as_fd()]
        .into_iter()
        .chain(estate.agent.iter().chain(&estate.metrics).chain(&estate.redirect).map(|fd| fd.as_fd()))
        .collect();
    offer.send(&ours, &descriptors)?;
    let mut command = Command::new(program);
    command.arg("successor").args(&estate.launch.args).stdin(Stdio::from(OwnedFd::from(theirs)));
    if let Some(cwd) = &wanted.cwd {
        command.current_dir(cwd);
    }
    let wire = Wire::new(ours)?;
    let newcomer = Newcomer {
        gateway: Rc::clone(gateway),
        child: command.spawn()?,
        sockets: estate.run_dir.sockets_of(number),
        control_socket: estate.run_dir.control_socket_of(number),
    };
    Ok(Attempt { wire, newcomer: Some(newcomer), has_taken_over: false })
}

/// A new gateway that died while it took over may have left the public names with nobody behind them.
fn reclaim(gateway: &Rc<Gateway>, estate: &Estate) {
    let mended = ControlSocket::bind(&estate.run_dir.control_socket()).and_then(|control| {
        gateway.tasks.spawn("control", control.serve(Rc::clone(gateway) as Rc<dyn Operator>, gateway.journal.clone()));
        estate.run_dir.write_pid()
    });
    if let Err(error) = mended {
        let text = format!("{}: commands no longer reach this gateway: {error}", estate.run_dir.path().display());
        gateway.journal.emit(Event::Note { level: Level::Error, text: &text });
    }
}

impl Attempt {
    /// Waits until its workers are ready.
    async fn ready(&mut self, limit: Duration) -> Result<(), SuccessorError> {
        let Ok(heard) = timeout(limit, self.wire.hear()).await else {
            return Err(SuccessorError::NotReady(limit.as_millis()));
        };
        match heard.map_err(SuccessorError::NotUnderstood)? {
            Some(Word::Ready) => Ok(()),
            Some(Word::Failed { reason }) => Err(SuccessorError::Said(reason)),
            Some(word @ (Word::TakeOver { .. } | Word::Serving | Word::Released)) => {
                Err(SuccessorError::OtherWord(format!("{word:?}")))
            }
            None => Err(self.how_it_ended().await),
        }
    }

    /// Ends the new gateway, so that it serves and purges nothing any more.
    fn kill(&mut self) {
        if let Some(newcomer) = &mut self.newcomer {
            let _ = newcomer.child.start_kill();
        }
    }

    async fn take_over(&mut self, gateway: &Gateway) -> Result<(), SuccessorError> {
        let said =
            self.wire.say(&Word::TakeOver { tickets: gateway.gate.road.lobby.tls().map(Tls::ticket_keys) }).await;
        let Ok(heard) = timeout(TAKE_OVER_MAX, self.wire.hear()).await else {
            return Err(SuccessorError::NotTakenOver);
        };
        match heard.map_err(SuccessorError::NotUnderstood)? {
            Some(Word::Serving) => said.map_err(SuccessorError::NotUnderstood),
            Some(Word::Failed { reason }) => Err(SuccessorError::Said(reason)),
            Some(word @ (Word::Ready | Word::TakeOver { .. } | Word::Released)) => {
                Err(SuccessorError::OtherWord(format!("{word:?}")))
            }
            None => Err(self.how_it_ended().await),
        }
    }

    /// Reason why a process closed its end without a word.
    async fn how_it_ended(&mut self) -> SuccessorError {
        let Some(newcomer) = &mut self.newcomer else { return SuccessorError::Closed };
        match timeout(EXIT_MAX, newcomer.child.wait()).await {
            Ok(Ok(status)) => SuccessorError::Ended(status),
            Ok(Err(_)) | Err(_) => SuccessorError::Closed,
        }
    }
}
