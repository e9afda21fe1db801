//! Looks after the run directory while the gateway serves: cleaners of temporary directories delete what they do not know.
//! What is lost is made again, and the log says so. The instance's entry in the user's registry is made here too.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use sluice_admin::{ControlSocket, Operator};
use sluice_journal::{Event, Level};
use tokio::time::Instant;

use super::operator::Gateway;
use crate::registry;
use crate::run_dir::RunDir;
use crate::run_lock::{LockState, RunLock};
use crate::state_dir;

const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Interval of notes to the operator about the same trouble.
const NOTE_PERIOD: Duration = Duration::from_secs(10);

/// Runs as long as this gateway does, and holds the lock to the end: even when another gateway has it too, nobody may clear away
/// what this one still has.
pub async fn run(gateway: Rc<Gateway>, run_dir: RunDir, lock: Rc<RunLock>, app_dir: PathBuf) {
    let mut noted: Option<Instant> = None;
    let mut is_registered = Ok(());
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        if !is_ours(&gateway) {
            continue;
        }
        // Once is enough to say that it cannot be done.
        if is_registered.is_ok() {
            is_registered = registry::enter(&run_dir, &app_dir)
                .inspect_err(|error| gateway.warn(&format!("`sluice list` does not show this gateway: {error}")));
        }
        let place = run_dir.path().display();
        match mend(&gateway, &run_dir, &lock) {
            Ok(lost) if lost.is_empty() => {}
            Ok(lost) => {
                let text = format!(
                    "the run directory {place} had lost {}; Sluice created it again. Exclude the directory from \
                     cleaners of temporary files",
                    lost.join(", ")
                );
                gateway.journal.emit(Event::Note { level: Level::Warn, text: &text });
            }
            Err(error) if noted.is_none_or(|at| at.elapsed() >= NOTE_PERIOD) => {
                noted = Some(Instant::now());
                let text = format!("the run directory {place} is damaged and cannot be repaired: {error}");
                gateway.journal.emit(Event::Note { level: Level::Error, text: &text });
            }
            Err(_) => {}
        }
    }
}

/// Whether nobody else makes, moves or takes away names in the directory.
fn is_ours(gateway: &Gateway) -> bool {
    let gate = &gateway.gate;
    gateway.in_charge.get()
        && !gate.draining.is_leaving()
        && !gate.draining.is_draining()
        && !gateway.upgrading.get()
        && !gateway.has_predecessor.get()
        && gateway.overtaken.get().is_none()
}

/// Returns what was lost.
fn mend(gateway: &Rc<Gateway>, run_dir: &RunDir, lock: &RunLock) -> io::Result<Vec<String>> {
    let mut lost = Vec::new();
    if is_missing(run_dir.path()) {
        run_dir.create().map_err(io::Error::other)?;
        lost.push("itself".to_owned());
    }
    match lock.restore()? {
        LockState::InPlace => {}
        LockState::Replaced => lost.push("lock".to_owned()),
        LockState::Lost => return Err(io::Error::other("another process has its lock")),
    }
    if is_missing(&run_dir.control_socket()) {
        let control = ControlSocket::bind(&run_dir.control_socket())?;
        gateway.tasks.spawn("control", control.serve(Rc::clone(gateway) as Rc<dyn Operator>, gateway.journal.clone()));
        lost.push("control.sock".to_owned());
    }
    if is_missing(&run_dir.pid_file()) {
        run_dir.write_pid()?;
        lost.push("sluice.pid".to_owned());
    }
    if lost.iter().any(|name| name == "itself") {
        state_dir::link(run_dir, gateway.state_dir())?;
    }
    lost.extend(gateway.supervisor.mend_sockets()?);
    Ok(lost)
}

fn is_missing(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}
