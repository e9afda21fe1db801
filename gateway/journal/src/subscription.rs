//! Following the log: the reader's side of the ring.

use std::rc::Rc;

use crate::JournalState;
use crate::ring::{Filter, RingCursor};

/// Maximum size of the lines that one call of `Subscription::next` copies, so that requests do not wait for a burst.
const BATCH_BYTES_MAX: usize = 64 * 1024;

/// Lines of the log, as they were written to stdout.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// Lines that were overwritten before they could be read. Of the filter only the kind was applied to them.
    pub missed: u64,
    /// The lines, without line feeds.
    pub lines: Vec<String>,
}

/// A reader of the log. Costs the same for any speed of reading.
pub struct Subscription {
    shared: Rc<JournalState>,
    filter: Filter,
    next: RingCursor,
}

impl Subscription {
    pub(crate) fn new(shared: Rc<JournalState>, filter: Filter, next: RingCursor) -> Self {
        shared.followers.set(shared.followers.get() + 1);
        Self { shared, filter, next }
    }

    /// New lines that match the filter; empty if there are none.
    pub fn read(&mut self) -> Lines {
        let state = self.shared.state.borrow();
        let mut lines = Vec::new();
        while self.next != state.ring.end() {
            let take = |line: &[u8]| lines.push(String::from_utf8_lossy(line).into_owned());
            let (next, missed) = state.ring.read(&self.filter, self.next, BATCH_BYTES_MAX, take);
            self.next = next;
            if !lines.is_empty() || missed > 0 {
                return Lines { missed, lines };
            }
        }
        Lines { missed: 0, lines }
    }

    /// The next lines that fit, as soon as there are any. May be dropped and called again without losing a line.
    pub async fn next(&mut self) -> Lines {
        loop {
            let shared = Rc::clone(&self.shared);
            let mut written = std::pin::pin!(shared.line_written.notified());
            // Told from here on, so that a line which comes between reading and waiting is not overlooked.
            written.as_mut().enable();
            let lines = self.read();
            if lines != Lines::default() {
                return lines;
            }
            written.await;
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.shared.followers.set(self.shared.followers.get() - 1);
    }
}
