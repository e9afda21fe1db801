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

use super::request::WorkerRequest;
use super::slots::Slots;

/// Most requests that a worker may be handed ahead, beside those that it holds. Each has a connection of its own. With 32 clients of a
/// trivial handler, 8 cost the gateway a quarter less than 2, and 16 no less than 8 (`docs/decisions/0058-light-requests-in-batches.md`).
pub(crate) const AHEAD_MAX: u32 = 8;
/// Bytes of a number in the pipe: 64 bits, least significant byte first.
const ENTRY_BYTES: usize = 8;
/// Largest request in bytes that is handed ahead: unread bytes lie in the kernel.
const REQUEST_BYTES_MAX: u64 = 16 * 1024;

/// The pipe of a worker.
#[derive(Debug)]
pub(super) struct Pipe(File);

impl Pipe {
    fn open(path: &Path) -> io::Result<Self> {
        // For writing too: it must not count as closed while the worker is gone.
        let flags = OFlag::O_NONBLOCK.bits();
        OpenOptions::new().read(true).write(true).custom_flags(flags).open(path).map(Pipe)
    }

    fn put(&self, number: u64) -> bool {
        // So few bytes go whole or not at all.
        matches!((&self.0).write(&number.to_le_bytes()), Ok(ENTRY_BYTES))
    }

    fn take_all(&self) -> Vec<u64> {
        let mut taken = Vec::new();
        let mut entry = [0; ENTRY_BYTES];
        while let Ok(ENTRY_BYTES) = (&self.0).read(&mut entry) {
            taken.push(u64::from_le_bytes(entry));
        }
        taken
    }
}

impl WorkerRequest {
    /// Whether the request may be handed ahead, if it is cheap: it fits into the kernel's buffer, and is not about to hold its connection.
    pub(crate) fn may_go_ahead(&self) -> bool {
        let bytes = self.head.len() as u64 + self.body.borrow().bytes();
        !self.is_upgrade
            && !self.is_own
            && !self.head.ends_with(sluice_road::sessions::POLL)
            && bytes <= REQUEST_BYTES_MAX
    }
}

impl Slots {
    /// Opens the worker's pipe, so that it takes requests ahead from now on.
    pub(crate) fn open_pipe(&self, pipe: &Path) -> io::Result<()> {
        let pipe = Pipe::open(pipe)?;
        *self.pipe.borrow_mut() = Some(pipe);
        Ok(())
    }

    /// Puts the number into the pipe. If that fails, the worker gets the request early, and it cannot be taken back.
    pub(crate) fn hand(&self, number: u64) -> bool {
        self.pipe.borrow().as_ref().is_some_and(|pipe| pipe.put(number))
    }

    /// Most connections that the worker may have.
    pub(super) fn connections_max(&self, concurrency: u32) -> usize {
        let ahead = if self.pipe.borrow().is_some() { AHEAD_MAX } else { 0 };
        concurrency.saturating_add(ahead) as usize
    }

    /// Takes all numbers that the app has not seen out of the pipe.
    pub(crate) fn take_unseen(&self) -> Vec<u64> {
        self.pipe.borrow().as_ref().map(Pipe::take_all).unwrap_or_default()
    }
}
