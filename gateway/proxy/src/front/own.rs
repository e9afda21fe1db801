//! What the gateway asks itself, to warm a worker: the answer is read and thrown away.

use std::io;

use sluice_message::RequestHead;
use sluice_scheduler::WorkerId;

use super::exchange::Woke;
use crate::respond::answer::Answer;

/// What is read of an answer; the rest is thrown away unread, as is an answer that never ends.
pub(crate) const ANSWER_BYTES_MAX: usize = 1024 * 1024;
/// How much is read at once.
const ROOM_BYTES: usize = 64 * 1024;

pub(crate) struct Own {
    pub(super) head: RequestHead,
    /// The worker that has to answer.
    pub(crate) worker: WorkerId,
    read_bytes: usize,
}

impl Own {
    pub(crate) fn new(head: RequestHead, worker: WorkerId) -> Self {
        Own { head, worker, read_bytes: 0 }
    }

    pub(super) fn room(&self) -> usize {
        ROOM_BYTES.min((ANSWER_BYTES_MAX + 1).saturating_sub(self.read_bytes))
    }

    pub(super) fn read(&mut self, data: &[u8]) {
        self.read_bytes += data.len();
    }

    /// # Errors
    /// When enough was read.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.read_bytes > ANSWER_BYTES_MAX { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
    }

    pub(super) async fn changed(&self, answer: &Answer) -> Woke {
        if answer.is_stream.get() && !answer.is_untouched() {
            // It may never end, and its head says enough.
            return Woke::Gone;
        }
        answer.changed.wait().await;
        Woke::Again
    }
}
