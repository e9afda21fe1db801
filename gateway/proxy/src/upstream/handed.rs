//! Requests that are handed to a worker ahead, and a way to take them back for certain, even if the worker's event loop is blocked.
//!
//! Gateway and worker share a named pipe. Each handing over has a number, which is put into the pipe before the request is sent and stands
//! in the request's head. The side that reads the number from the pipe gets the request. The worker reads it right before the app sees the
//! request; the gateway reads it to give the request to another worker. Numbers left in the pipe of a dead worker belong to requests that
//! no app has seen. The number is not the request's, which may come back to the same worker while its old bytes are still unread there.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use nix::fcntl::OFlag;

/// Maximum number of requests handed ahead to a worker. Each has a connection of its own. With 32 clients of a
/// trivial handler, 8 cost the gateway a quarter less than 2, and 16 no less than 8
/// (`docs/decisions/0058-light-requests-in-batches.md`).
pub(crate) const AHEAD_MAX: u32 = 8;
/// Bytes of a number in the pipe: 64 bits, least significant byte first.
const ENTRY_BYTES: usize = 8;

/// The pipe of a worker.
#[derive(Debug)]
pub(super) struct Pipe(File);

impl Pipe {
    /// Opens the pipe at this path.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        // For writing too: it must not count as closed while the worker is gone.
        let flags = OFlag::O_NONBLOCK.bits();
        OpenOptions::new().read(true).write(true).custom_flags(flags).open(path).map(Pipe)
    }

    /// Puts a number into the pipe.
    pub(super) fn put(&self, number: u64) -> bool {
        // So few bytes go whole or not at all.
        matches!((&self.0).write(&number.to_le_bytes()), Ok(ENTRY_BYTES))
    }

    /// Takes all numbers out of the pipe.
    pub(super) fn take_all(&self) -> Vec<u64> {
        let mut taken = Vec::new();
        let mut entry = [0; ENTRY_BYTES];
        while let Ok(ENTRY_BYTES) = (&self.0).read(&mut entry) {
            taken.push(u64::from_le_bytes(entry));
        }
        taken
    }
}
