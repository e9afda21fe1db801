//! Counter of the requests that a worker is given while its main thread is in a loop that lets others in (`packages/breathe`). It is one
//! byte in a file, which the loop reads when its budget is used up. The event loop reads all other messages of the gateway, and does not
//! turn until then.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

use tokio::time::Instant;

use super::slots::Slots;

/// See the module's text.
#[derive(Debug)]
pub(super) struct Counter {
    file: File,
    count: Cell<u8>,
    /// End of counting, as the loop may have ended by then.
    until: Cell<Instant>,
}

impl Counter {
    fn make(path: &Path, until: Instant) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        let counter = Counter { file, count: Cell::new(0), until: Cell::new(until) };
        counter.write()?;
        Ok(counter)
    }

    fn write(&self) -> io::Result<()> {
        self.file.write_all_at(&[self.count.get()], 0)
    }
}

impl Slots {
    /// Counts the requests that the worker is given until then. The file is made at the first call.
    pub(crate) fn count_given(&self, path: &Path, until: Instant) {
        let mut counter = self.counter.borrow_mut();
        match &*counter {
            Some(counter) => counter.until.set(until),
            // Without it, loops let others in every 50 ms.
            None => *counter = Counter::make(path, until).ok(),
        }
    }

    /// Counts a request that the worker is given.
    pub(super) fn note_given(&self) {
        let counter = self.counter.borrow();
        let Some(counter) = counter.as_ref().filter(|counter| counter.until.get() > Instant::now()) else { return };
        counter.count.set(counter.count.get().wrapping_add(1));
        let _ = counter.write();
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Weak;
    use std::time::Duration;

    use sluice_scheduler::WorkerId;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn requests_are_counted_while_the_loop_lets_others_in_and_not_after() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.sock.given");
        let slots = Slots::new(Weak::new(), WorkerId(1), dir.path().join("1.sock"), true);
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
