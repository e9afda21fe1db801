//! A request's place among those that a worker is to answer. It is given up when the ticket is dropped, in whatever way
//! the request's task ends.

use std::rc::Rc;

use sluice_journal::{Event as Happening, Level, tasks};
use sluice_scheduler::RequestId;

use crate::gate::Gate;
use sluice_wire::respond::answer::Answer;

pub(crate) struct Ticket {
    gate: Rc<Gate>,
    pub(crate) number: RequestId,
    pub(crate) answer: Rc<Answer>,
    /// The record is written, or will be.
    is_recorded: bool,
}

impl Ticket {
    pub(crate) fn new(gate: &Rc<Gate>, number: RequestId, answer: &Rc<Answer>) -> Self {
        Ticket { gate: Rc::clone(gate), number, answer: Rc::clone(answer), is_recorded: false }
    }

    /// Gives the place up to the code that writes the record.
    pub(crate) fn end(mut self) -> RequestId {
        self.is_recorded = true;
        self.number
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // Of one that was answered, this lets go of an upgrade that was not taken up.
            self.gate.leave(self.number);
            self.answer.abandon();
            if !self.is_recorded {
                self.gate.record_nothing(self.number);
            }
            return;
        }
        let (gate, number, answer) = (Rc::clone(&self.gate), self.number, Rc::clone(&self.answer));
        // In a task of its own: a second panic while the first unwinds would end the gateway.
        tokio::task::spawn_local(async move {
            gate.leave(number);
            answer.abandon();
            gate.record_nothing(number);
            let text = format!("a connection was lost to a fault in the gateway, at {}", tasks::place());
            gate.observer.emit(Happening::Note { level: Level::Error, text: &text });
        });
    }
}

#[cfg(test)]
mod tests {
    use sluice_message::Method;

    use super::*;
    use crate::gate::tests::{busy_gate, submit};

    #[tokio::test]
    async fn a_connection_that_is_lost_leaves_no_request_in_the_queue() {
        let local = tokio::task::LocalSet::new();
        local
            .run_until(async {
                let gate = busy_gate();
                let (number, answer) = submit(&gate, Method::Get);
                assert!(gate.is_queued(number));
                let ticket = Ticket::new(&gate, number, &answer);
                let lost = tokio::task::spawn_local(async move {
                    let _held = ticket;
                    tokio::task::yield_now().await;
                    panic!("as if the connection's task had a fault");
                });
                assert!(lost.await.unwrap_err().is_panic());
                for _ in 0..10 {
                    tokio::task::yield_now().await;
                }
                assert!(!gate.is_queued(number) && !answer.is_wanted());
            })
            .await;
    }

    #[tokio::test]
    async fn a_request_that_nobody_waits_for_any_more_leaves_the_queue() {
        let local = tokio::task::LocalSet::new();
        local
            .run_until(async {
                let gate = busy_gate();
                let (number, answer) = submit(&gate, Method::Get);
                drop(Ticket::new(&gate, number, &answer));
                assert!(!gate.is_queued(number) && !answer.is_wanted());
            })
            .await;
    }
}
