//! The core's side alone, with a front that is told and does nothing.

use std::time::Duration;

use tokio::time::timeout;

use super::*;
use crate::fronts::link::link;
use crate::socket::{Socket, memory};

#[tokio::test(flavor = "current_thread")]
async fn a_tunnel_that_is_to_end_before_the_front_has_begun_it_is_over_for_both() {
    let store = TempStore::new(std::env::temp_dir(), 0, 1 << 20);
    let (link, front) = link();
    let question = Question {
        key: 0,
        link,
        started: Instant::now(),
        asked: Err(GONE),
        begins_with_head: false,
        empty_body: Some(false),
        is_half_closed: false,
        wants_page: false,
    };
    let (mut remote, answer) = (Remote::new(question, 0, &store), Answer::new(&store, 1000, 0));
    answer.closing.set();
    let (worker, _app) = memory::pipe(1000);
    let upgraded = Upgraded { stream: Socket::Memory(worker), first: Vec::new().into(), counted: Box::new(()) };
    timeout(Duration::from_secs(10), remote.switch(upgraded, &answer)).await.expect("the core waits for nothing");
    drop(remote);
    assert!(matches!(front.order().await, Some(Order::BreakOff)));
    assert!(front.order().await.is_none());
}
