//! Counter of the requests that a worker is given while its main thread is in a loop that lets others in (`packages/breathe`). It is one
//! byte in a file, which the loop reads when its budget is used up. The event loop reads all other messages of the gateway, and does not
//! turn until then.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

use tokio::time::Instant;

/// See the module's text.
#[derive(Debug)]
pub(super) struct Counter {
    file: File,
    count: Cell<u8>,
    /// End of counting, as the loop may have ended by then.
    until: Cell<Instant>,
}

impl Counter {
    /// Makes the file.
    pub(super) fn make(path: &Path, until: Instant) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        let counter = Counter { file, count: Cell::new(0), until: Cell::new(until) };
        counter.write()?;
        Ok(counter)
    }

    /// Counts until then.
    pub(super) fn count_until(&self, until: Instant) {
        self.until.set(until);
    }

    /// Counts a request, if the loop may still look.
    pub(super) fn note(&self) {
        if self.until.get() > Instant::now() {
            self.count.set(self.count.get().wrapping_add(1));
            let _ = self.write();
        }
    }

    fn write(&self) -> io::Result<()> {
        self.file.write_all_at(&[self.count.get()], 0)
    }
}
