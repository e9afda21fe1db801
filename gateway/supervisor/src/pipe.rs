//! The named pipe beside a worker's socket: what the gate hands the worker ahead of time has its number in it
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

/// Makes the pipe of the worker that will listen on this socket; nobody else may open it.
///
/// # Errors
/// What the file system says. The worker then gets nothing ahead of time.
pub(crate) fn make(socket: &Path) -> io::Result<()> {
    remove(socket);
    Ok(nix::unistd::mkfifo(&beside(socket), Mode::S_IRUSR | Mode::S_IWUSR)?)
}

/// Takes its name away.
pub(crate) fn remove(socket: &Path) {
    let _ = std::fs::remove_file(beside(socket));
}
