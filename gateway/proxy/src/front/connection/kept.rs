//! What a connection's task must not leave behind when it ends in the middle: its place in the count, its request in the queue.

use std::rc::Rc;

use sluice_journal::{Event as Happening, Level};
use sluice_scheduler::RequestId;

use crate::faults;
use crate::gate::Gate;
use crate::respond::answer::Answer;

/// A connection's place in the count.
pub(super) struct Counted {
    pub(super) gate: Rc<Gate>,
    pub(super) key: usize,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.gate.connections.remove(self.key);
    }
}

/// A request that was submitted. Unless [`Kept::settle`] is called, its client has no task any more.
pub(super) struct Kept {
    left: Option<(Rc<Gate>, RequestId, Rc<Answer>)>,
}

impl Kept {
    pub(super) fn new(gate: &Rc<Gate>, request: RequestId, answer: &Rc<Answer>) -> Self {
        Kept { left: Some((Rc::clone(gate), request, Rc::clone(answer))) }
    }

    pub(super) fn settle(mut self) {
        self.left = None;
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let Some((gate, request, answer)) = self.left.take() else { return };
        // In a task of its own: a second panic while the first unwinds would end the gateway.
        tokio::task::spawn_local(async move {
            gate.leave(request);
            answer.abandon();
            let text = format!("a connection was lost to a fault in the gateway, at {}", faults::place());
            gate.journal.emit(Happening::Note { level: Level::Error, text: &text });
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use sluice_http1::Method;

    use super::*;
    use crate::front::connection::handles::{Bounds, Handle};
    use crate::gate::tests::{busy_gate, submit};

    #[tokio::test]
    async fn a_connection_that_is_lost_leaves_no_request_in_the_queue_and_no_place_in_the_count() {
        let local = tokio::task::LocalSet::new();
        local
            .run_until(async {
                let gate = busy_gate();
                let (request, answer) = submit(&gate, Method::Get);
                let bounds = Bounds { all: 10, of_address: None };
                let handle = gate.connections.admit([192, 0, 2, 1].into(), bounds, Instant::now());
                let Ok(Handle { key, .. }) = handle else { panic!("there is room") };
                assert!(gate.is_queued(request));
                let (counted, kept) = (Counted { gate: Rc::clone(&gate), key }, Kept::new(&gate, request, &answer));
                let lost = tokio::task::spawn_local(async move {
                    let _held = (counted, kept);
                    tokio::task::yield_now().await;
                    panic!("as if the connection's task had a fault");
                });
                assert!(lost.await.unwrap_err().is_panic());
                for _ in 0..10 {
                    tokio::task::yield_now().await;
                }
                assert!(!gate.is_queued(request) && !answer.is_wanted());
                assert_eq!(gate.connections.len(), 0);
            })
            .await;
    }
}
