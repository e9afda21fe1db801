//! Idle keep-alive connections: each makes a request or two and then stays open in silence.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{interval, sleep};

use crate::traffic::Traffic;

/// Connections to hold, as the caller asked for them.
pub struct Hold {
    /// Connections to open.
    pub connections: usize,
    /// Requests of each.
    pub requests_per_connection: u64,
    /// Pace of opening.
    pub connections_per_s: u64,
    /// Longest time.
    pub duration: Duration,
}

/// Runs until the time is over; the caller may drop it earlier. Says `ready` on stderr when all are open and idle.
pub async fn run(traffic: Rc<Traffic>, hold: Hold) {
    let open = Rc::new(Cell::new(0_usize));
    let settled = Rc::new(Cell::new(0_usize));
    let closed_by_server = Rc::new(Cell::new(0_usize));
    let mut clients = JoinSet::new();
    let mut pace = interval(Duration::from_secs(1) / u32::try_from(hold.connections_per_s).unwrap_or(u32::MAX));
    for _ in 0..hold.connections {
        pace.tick().await;
        let (traffic, open, settled, closed) =
            (Rc::clone(&traffic), Rc::clone(&open), Rc::clone(&settled), Rc::clone(&closed_by_server));
        clients.spawn_local(async move {
            let target = traffic.plan.targets[traffic.next_target()];
            let mut slot = None;
            for _ in 0..hold.requests_per_connection {
                traffic.request(&mut slot, target, Instant::now()).await;
            }
            settled.set(settled.get() + 1);
            let Some(mut connection) = slot else { return };
            open.set(open.get() + 1);
            connection.closed().await;
            open.set(open.get() - 1);
            closed.set(closed.get() + 1);
        });
    }
    let until = Instant::now() + hold.duration;
    let mut told = false;
    while Instant::now() < until {
        if !told && settled.get() == hold.connections {
            told = true;
            eprintln!("ready");
        }
        note(&traffic, open.get(), closed_by_server.get());
        sleep(Duration::from_millis(50)).await;
    }
}

fn note(traffic: &Traffic, open: usize, closed_by_server: usize) {
    let mut tally = traffic.tally.borrow_mut();
    tally.extra.insert("open_at_end", json!(open));
    tally.extra.insert("closed_by_server", json!(closed_by_server));
}
