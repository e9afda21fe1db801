//! Open loop: Poisson arrivals at a rate, whether or not earlier requests were answered. Latency counts from the moment a
//! request was meant to be sent, so a server that stalls cannot hide the wait of those behind (no coordinated omission).

use std::cell::RefCell;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::task::JoinSet;

use crate::client::Connection;
use crate::random::Random;
use crate::traffic::Traffic;

/// Moments at which requests are sent, and their number.
pub struct Arrivals {
    /// Mean per second.
    pub rate_per_s: f64,
    /// Duration of the arrivals.
    pub duration: Duration,
    /// Largest number of requests.
    pub requests_max: u64,
    /// Requests under way at once.
    pub connections_max: usize,
    /// Time from which on answers count as goodput.
    pub measure_from: Duration,
    /// Whether a connection is used again.
    pub keep_alive: bool,
}

/// Runs until the last arrival was answered, failed or timed out.
pub async fn run(traffic: Rc<Traffic>, arrivals: Arrivals) {
    let started = Instant::now();
    let ends = started + arrivals.duration;
    traffic.tally.borrow_mut().measure_between(started + arrivals.measure_from, ends);

    // The runtime's timers tick once a millisecond, which would bunch arrivals; a thread that sleeps is more exact. The
    // channel needs no bound of its own: the number of arrivals has one.
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let random = Random::new(traffic.plan.seed ^ 0xa55a);
    let (rate_per_s, requests_max) = (arrivals.rate_per_s, arrivals.requests_max);
    thread::spawn(move || send_arrivals(&sender, &random, rate_per_s, requests_max, started, ends));

    let idle: Rc<Vec<RefCell<Vec<Connection>>>> =
        Rc::new(traffic.plan.targets.iter().map(|_| RefCell::default()).collect());
    let mut under_way = JoinSet::new();
    while let Some(intended) = receiver.recv().await {
        while under_way.try_join_next().is_some() {}
        if under_way.len() >= arrivals.connections_max {
            traffic.generator_limit(intended);
            continue;
        }
        let (traffic, idle) = (Rc::clone(&traffic), Rc::clone(&idle));
        under_way.spawn_local(async move {
            traffic.tally.borrow_mut().late(intended.elapsed());
            let at = traffic.next_target();
            let mut slot = idle[at].borrow_mut().pop();
            traffic.request(&mut slot, traffic.plan.targets[at], intended).await;
            if arrivals.keep_alive {
                idle[at].borrow_mut().extend(slot);
            }
        });
    }
    while under_way.join_next().await.is_some() {}
}

fn send_arrivals(
    sender: &UnboundedSender<Instant>,
    random: &Random,
    rate_per_s: f64,
    requests_max: u64,
    started: Instant,
    ends: Instant,
) {
    let mut intended = started;
    for _ in 0..requests_max {
        intended += Duration::from_secs_f64(random.gap_s(rate_per_s));
        if intended >= ends {
            return;
        }
        thread::sleep(intended.saturating_duration_since(Instant::now()));
        if sender.send(intended).is_err() {
            return;
        }
    }
}
