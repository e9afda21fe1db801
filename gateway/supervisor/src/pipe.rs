//! Files beside a worker's socket. The named pipe: what the gate hands the worker ahead of time has its number in it
//! (`sluice_proxy`, `upstream/handed.rs`). Here it is only made and taken away.

use std::io;
use std::path::{Path, PathBuf};

use nix::sys::stat::Mode;

/// The pipe that stands beside this socket, as `packages/preload/src/handed.ts` names it.
pub(crate) fn beside(socket: &Path) -> PathBuf {
    let mut path = socket.as_os_str().to_owned();
    path.push(".handed");
    path.into()
}

/// The count of what the worker is given during loops that let others in, as `packages/preload/src/breathing.ts` names it.
/// The gate makes it (`sluice_proxy`, `upstream/given.rs`) when there is such a loop.
pub(crate) fn counter_beside(socket: &Path) -> PathBuf {
    let mut path = socket.as_os_str().to_owned();
    path.push(".given");
    path.into()
}

/// Makes the pipe of the worker that will listen on this socket; nobody else may open it.
///
/// # Errors
/// What the file system says. The worker then gets nothing ahead of time.
pub(crate) fn make(socket: &Path) -> io::Result<()> {
    remove(socket);
    Ok(nix::unistd::mkfifo(&beside(socket), Mode::S_IRUSR | Mode::S_IWUSR)?)
}

/// Takes their names away.
pub(crate) fn remove(socket: &Path) {
    let _ = std::fs::remove_file(beside(socket));
    let _ = std::fs::remove_file(counter_beside(socket));
}
