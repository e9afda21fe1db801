//! Files beside a worker's socket. The gate writes the numbers of requests that it hands ahead to a named pipe
//! (`sluice_proxy`, `upstream/handed.rs`). This module only creates and removes it.

use std::io;
use std::path::{Path, PathBuf};

use nix::sys::stat::Mode;

/// Path of the pipe beside this socket, as `packages/preload/src/requests/handed.ts` names it.
pub(crate) fn beside(socket: &Path) -> PathBuf {
    let mut path = socket.as_os_str().to_owned();
    path.push(".handed");
    path.into()
}

/// Path of the counter of requests given during loops that let others in, as `packages/preload/src/requests/breathing.ts` names it.
/// The gate creates it (`sluice_proxy`, `upstream/given.rs`) when there is such a loop.
pub(crate) fn counter_beside(socket: &Path) -> PathBuf {
    let mut path = socket.as_os_str().to_owned();
    path.push(".given");
    path.into()
}

/// Creates the pipe of the worker that will listen on this socket; other users may not open it.
///
/// # Errors
/// What the file system says. The worker then gets nothing ahead of time.
pub(crate) fn make(socket: &Path) -> io::Result<()> {
    remove(socket);
    Ok(nix::unistd::mkfifo(&beside(socket), Mode::S_IRUSR | Mode::S_IWUSR)?)
}

/// Path of the socket for messages of other workers, as `packages/preload/src/channel/channel.ts` names it. The preload creates it.
fn channel_beside(socket: &Path) -> PathBuf {
    socket.with_extension("channel")
}

/// Removes the pipe, the counter and the socket for messages.
pub(crate) fn remove(socket: &Path) {
    for path in [beside(socket), counter_beside(socket), channel_beside(socket)] {
        let _ = std::fs::remove_file(path);
    }
}
