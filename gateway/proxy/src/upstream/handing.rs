//! Requests as they are handed to a worker: ahead of time by its pipe, and counted while it is in a loop that lets others in.

use std::io;
use std::path::Path;

use tokio::time::Instant;

use super::given::Counter;
use super::handed::{AHEAD_MAX, Pipe};
use super::request::WorkerRequest;
use super::slots::Slots;

/// Maximum size of a request that is handed ahead, bytes. Unread bytes lie in the kernel.
const REQUEST_BYTES_MAX: u64 = 16 * 1024;

impl WorkerRequest {
    /// Whether the request may be handed ahead, if it is cheap: it fits into the kernel's buffer, and is not about to hold its connection.
    pub(crate) fn may_go_ahead(&self) -> bool {
        let bytes = self.message.head.len() as u64 + self.message.body.borrow().bytes();
        !self.message.is_upgrade
            && !self.is_own
            && !self.message.head.ends_with(sluice_road::sessions::POLL)
            && bytes <= REQUEST_BYTES_MAX
    }
}

impl Slots {
    /// Counts the requests that the worker is given until then. The file is made at the first call.
    pub(crate) fn count_given(&self, path: &Path, until: Instant) {
        let mut counter = self.counter.borrow_mut();
        match &*counter {
            Some(counter) => counter.count_until(until),
            // Without it, loops let others in every 50 ms.
            None => *counter = Counter::make(path, until).ok(),
        }
    }

    /// Counts a request that the worker is given.
    pub(super) fn note_given(&self) {
        if let Some(counter) = &*self.counter.borrow() {
            counter.note();
        }
    }

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

#[cfg(test)]
mod tests {
    use std::rc::Weak;
    use std::time::Duration;

    use sluice_scheduler::WorkerId;

    use super::*;
    use crate::gate::returns::SlotReturns;

    #[tokio::test(start_paused = true)]
    async fn requests_are_counted_while_the_loop_lets_others_in_and_not_after() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.sock.given");
        let slots = Slots::new(Weak::<SlotReturns>::new(), WorkerId(1), dir.path().join("1.sock"), true);
        let read = || std::fs::read(&path).unwrap();
        slots.note_given();
        assert!(!path.exists(), "nothing is made for a worker without such loops");
        slots.count_given(&path, Instant::now() + Duration::from_millis(120));
        assert_eq!(read(), [0]);
        slots.note_given();
        slots.note_given();
        assert_eq!(read(), [2]);
        tokio::time::advance(Duration::from_millis(120)).await;
        slots.note_given();
        assert_eq!(read(), [2], "the loop may have ended");
        slots.count_given(&path, Instant::now() + Duration::from_millis(120));
        for _ in 0..254 {
            slots.note_given();
        }
        assert_eq!(read(), [0], "it begins anew after 255, and has changed all the same");
    }
}
