//! Notices that an app without the preload listens: one in Deno, Bun, Python, or a native server.
//!
//! Such an app gets the path of its socket in `SLUICE_SOCKET` and reports nothing, so the gateway tries to connect. With a
//! preload it must not guess: only the preload's report makes that worker ready. Preloads claim their role with a file
//! beside the socket (`packages/preload/src/listen/claim.ts`) before any of them listens there, so a socket without a claim is
//! not a preload's.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use nix::unistd::{Pid, getpgid};
use sluice_journal::Level;
use tokio::net::UnixStream;

use crate::Supervisor;
use crate::process::{Process, to_pid};

const PERIOD: Duration = Duration::from_millis(100);

/// Path of the file whose creation gives a process the role of the worker.
pub(crate) fn claim_file(socket: &Path) -> PathBuf {
    socket.with_extension("sock.claim")
}

/// Retries until a server listens, a preload has the role, or the process is about to exit.
pub(crate) async fn watch(supervisor: Rc<Supervisor>, process: Rc<Process>) {
    let socket = supervisor.socket(process.worker);
    let claim = claim_file(&socket);
    loop {
        tokio::time::sleep(PERIOD).await;
        if process.has_exited.get() || process.is_asked_to_leave.get() || claim.exists() {
            return;
        }
        // An error is the usual case, nobody listens yet; a full backlog will have room at another try.
        let Ok(stream) = UnixStream::connect(&socket).await else { continue };
        if process.has_exited.get() || process.is_asked_to_leave.get() {
            return;
        }
        // From here on the role is taken: a Node process beside the app must not speak for it. A preload that was faster
        // has the role, and will say itself when it listens.
        if File::create_new(&claim).is_err() {
            return;
        }
        process.listener_pid.set(listener(&stream, &process));
        supervisor.note(
            Level::Info,
            &format!(
                "worker {} listens on SLUICE_SOCKET without the preload: it serves requests, and reports nothing",
                process.worker.0
            ),
        );
        // It has no way of saying that it is ready.
        process.waits_for_word.set(false);
        return supervisor.listening(&process);
    }
}

/// Process that listens, as the kernel reports it. A process outside of the worker's group does not count, because the
/// gateway must not signal it.
fn listener(stream: &UnixStream, process: &Process) -> Option<u32> {
    let pid = stream.peer_cred().ok()?.pid()?;
    let is_ours = pid > 1 && getpgid(Some(Pid::from_raw(pid))).ok()? == to_pid(process.pid);
    is_ours.then_some(pid).and_then(|pid| u32::try_from(pid).ok())
}
