//! The queue against the textbook: Poisson arrivals, exponential service, one line for all workers (M/M/k, Erlang C).
//!
//! A queue that is not first come first served keeps the mean, so order is checked elsewhere; a slot left idle or a
//! request passed over does not keep it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use sluice_scheduler::{Action, Choice, Event, Limits, Need, Order, Recycling, RequestId, Scheduler, Time, WorkerId};

use crate::rng::Rng;

const SERVICE_US: u64 = 10_000;
const REQUESTS: u64 = 400_000;

/// Mean wait in a run of this many workers at this load (0 to 1 per worker), in microseconds.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn simulated_wait_us(workers: u32, load: f64, seed: u64) -> f64 {
    let limits = Limits {
        queue_length_max: usize::MAX,
        queue_wait_ms_max: 1_000_000_000,
        concurrency: 1,
        concurrency_max: 1,
        order: Order::Fifo,
        ageing: 3,
        lanes: false,
        may_raise: false,
        choice: Choice::First,
        start_timeout_ms: 1_000,
        stop_timeout_ms: 1_000,
        backoff_ms_min: 1,
        backoff_ms_max: 1,
        healthy_after_ms: 1,
        streams_per_worker_max: 0,
        warm_up: false,
        reload_at_once: 0,
        recycle: Recycling { requests_max: 0, age_ms_max: 0 },
        needless_wait_ms_min: 1_000,
        needless_wait_ms_max: 1_000,
        examine_timeout_ms: 900,
    };
    let mut rng = Rng::new(seed);
    let mut scheduler = Scheduler::new(limits);
    let mut actions = Vec::new();
    scheduler.step(Time(0), Event::Scaled { workers }, &mut actions);
    for worker in 1..=u64::from(workers) {
        scheduler.step(Time(0), Event::Listening { worker: WorkerId(worker) }, &mut actions);
    }
    actions.clear();
    let gap_us = (SERVICE_US as f64 / load / f64::from(workers)) as u64;
    let mut ends = BinaryHeap::new();
    let mut arrived = BTreeMap::new();
    let (mut waited_us, mut arrivals) = (0_u64, 0);
    let mut next_arrival = Time(0);
    while arrivals < REQUESTS {
        let ending: Option<&Reverse<(Time, WorkerId, RequestId)>> = ends.peek();
        let now = if let Some(Reverse((at, worker, request))) = ending.copied().filter(|end| end.0.0 <= next_arrival) {
            ends.pop();
            scheduler.step(at, Event::Finished { worker, request }, &mut actions);
            at
        } else {
            let now = next_arrival;
            arrivals += 1;
            arrived.insert(RequestId(arrivals), now);
            scheduler.step(now, Event::Arrived { request: RequestId(arrivals), need: Need::default() }, &mut actions);
            next_arrival = Time(now.0 + rng.exponential(gap_us));
            now
        };
        for action in actions.drain(..) {
            let Action::Dispatch { request, worker } = action else { panic!("{action:?}") };
            waited_us += now.since_us(arrived.remove(&request).expect("dispatched once, after it arrived"));
            ends.push(Reverse((Time(now.0 + rng.exponential(SERVICE_US)), worker, request)));
        }
    }
    waited_us as f64 / arrivals as f64
}

/// Erlang C: the mean wait with `workers` servers, each loaded by `load`.
#[allow(clippy::cast_precision_loss)]
fn expected_wait_us(workers: u32, load: f64) -> f64 {
    let offered = load * f64::from(workers);
    let (mut term, mut sum) = (1.0, 0.0);
    for servers in 1..=workers {
        sum += term;
        term *= offered / f64::from(servers);
    }
    let must_wait = term / (1.0 - load) / (sum + term / (1.0 - load));
    must_wait * SERVICE_US as f64 / (f64::from(workers) * (1.0 - load))
}

#[track_caller]
fn assert_close(workers: u32, load: f64) {
    let expected = expected_wait_us(workers, load);
    let simulated = simulated_wait_us(workers, load, 1);
    let off = (simulated - expected).abs() / expected;
    println!("M/M/{workers} at {load}: {simulated:.0} µs, theory {expected:.0} µs, off by {:.2} %", off * 100.0);
    assert!(off < 0.05, "M/M/{workers} at {load} waits {simulated:.0} µs, theory says {expected:.0} µs");
}

#[test]
fn one_worker_waits_as_long_as_theory_says() {
    assert_close(1, 0.5);
    assert_close(1, 0.7);
}

#[test]
fn two_workers_share_one_queue_and_wait_as_long_as_theory_says() {
    assert_close(2, 0.7);
}
