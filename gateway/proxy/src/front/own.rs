//! What the gateway asks itself: to warm a worker, whose answer is read and thrown away, or for a page that many are to get, or that it
//! keeps for later.

use std::io;
use std::rc::Rc;

use sluice_message::{RequestHead, ResponseHead};
use sluice_scheduler::WorkerId;

use super::exchange::Woke;
use crate::cache::flight::Flight;
use crate::respond::answer::Answer;

/// What is read of an answer; the rest is thrown away unread, as is an answer that never ends.
pub(crate) const ANSWER_BYTES_MAX: usize = 1024 * 1024;
/// How much is read at once.
const ROOM_BYTES: usize = 64 * 1024;

pub(crate) struct Own {
    pub(super) head: RequestHead,
    /// The worker that has to answer; else it is any, in its turn.
    pub(crate) worker: Option<WorkerId>,
    read_bytes: usize,
    /// Those who wait for it.
    flight: Option<Rc<Flight>>,
}

impl Own {
    pub(crate) fn new(head: RequestHead, worker: WorkerId) -> Self {
        Own { head, worker: Some(worker), read_bytes: 0, flight: None }
    }

    /// For all who wait for this page.
    pub(crate) fn for_many(head: RequestHead, flight: &Rc<Flight>) -> Self {
        Own { head, worker: None, read_bytes: 0, flight: Some(Rc::clone(flight)) }
    }

    /// For the gateway, which keeps the answer.
    pub(crate) fn for_itself(head: RequestHead) -> Self {
        Own { head, worker: None, read_bytes: 0, flight: None }
    }

    pub(super) fn inform(&self, head: &ResponseHead) {
        if let Some(flight) = &self.flight {
            flight.inform(head);
        }
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
        let Some(flight) = &self.flight else {
            answer.changed.wait().await;
            return Woke::Again;
        };
        tokio::select! {
            biased;
            () = answer.changed.wait() => Woke::Again,
            () = flight.unwanted() => Woke::Gone,
        }
    }
}
