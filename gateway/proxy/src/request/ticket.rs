//! A request's place among those that a worker is to answer. It is given up when the ticket is dropped, in whatever way
//! the request's task ends.

use std::rc::Rc;

use sluice_scheduler::RequestId;

use crate::road::workers::Workers;
use sluice_wire::respond::answer::Answer;

pub(crate) struct Ticket {
    workers: Rc<dyn Workers>,
    pub(crate) number: RequestId,
    pub(crate) answer: Rc<Answer>,
    /// The record is written, or will be.
    is_recorded: bool,
}

impl Ticket {
    pub(crate) fn new(workers: Rc<dyn Workers>, number: RequestId, answer: &Rc<Answer>) -> Self {
        Ticket { workers, number, answer: Rc::clone(answer), is_recorded: false }
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
            self.workers.give_up(self.number, self.is_recorded);
            self.answer.abandon();
            return;
        }
        let (workers, number, answer) = (Rc::clone(&self.workers), self.number, Rc::clone(&self.answer));
        // In a task of its own: a second panic while the first unwinds would end the gateway.
        tokio::task::spawn_local(async move {
            workers.give_up(number, false);
            answer.abandon();
            workers.connection_lost();
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
                let ticket = Ticket::new(Rc::clone(&gate) as _, number, &answer);
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
                drop(Ticket::new(Rc::clone(&gate) as _, number, &answer));
                assert!(!gate.is_queued(number) && !answer.is_wanted());
            })
            .await;
    }
}
