//! Closed loop: each connection sends its next request when the last was answered.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use tokio::task::JoinSet;

use crate::traffic::Traffic;

/// Runs until all requests were made. Connections take them from one common count, so a fast one does more.
pub async fn run(traffic: Rc<Traffic>, connections: usize, requests: u64, keep_alive: bool) {
    let left = Rc::new(Cell::new(requests));
    let mut clients = JoinSet::new();
    for _ in 0..connections {
        clients.spawn_local(client(Rc::clone(&traffic), Rc::clone(&left), keep_alive));
    }
    while clients.join_next().await.is_some() {}
}

async fn client(traffic: Rc<Traffic>, left: Rc<Cell<u64>>, keep_alive: bool) {
    let target = traffic.plan.targets[traffic.next_target()];
    let mut slot = None;
    while left.get() > 0 {
        left.set(left.get() - 1);
        traffic.request(&mut slot, target, Instant::now()).await;
        if !keep_alive {
            slot = None;
        }
    }
}
