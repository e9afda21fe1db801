//! Requests whose connection or client is lost leave the queue.

use sluice_message::Method;

use std::rc::Rc;

use crate::gate::tests::{busy_gate, submit};
use sluice_road::request::ticket::Ticket;

#[tokio::test]
async fn a_connection_that_is_lost_leaves_no_request_in_the_queue() {
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            let gate = busy_gate();
            let (number, answer) = submit(&gate, Method::Get);
            assert!(gate.dispatch.is_queued(number));
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
            assert!(!gate.dispatch.is_queued(number) && !answer.is_wanted());
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
            assert!(!gate.dispatch.is_queued(number) && !answer.is_wanted());
        })
        .await;
}
