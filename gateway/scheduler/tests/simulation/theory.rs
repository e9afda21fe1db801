//! The queue against the textbook: Poisson arrivals, one line for all workers. Exponential service (M/M/k, Erlang C),
//! constant service (M/D/1 by Pollaczek and Khinchine, M/D/2 by Crommelin), and two kinds of requests of which the shorter
//! goes first (M/G/1 with priorities that do not interrupt, Cobham 1954).
//!
//! A queue that is not first come first served keeps the mean of requests that are alike, so order is checked by the
//! last; a slot left idle or a request passed over keeps none of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use sluice_scheduler::{Action, ClassId, Event, Limits, Need, Order, RequestId, Scheduler, Time, WorkerId};

use crate::limits::LIMITS;
use crate::rng::Rng;

const SERVICE_US: u64 = 10_000;
const REQUESTS: u64 = 400_000;

/// One kind of request: its share of the arrivals, its mean service time, and whether that is the same for all.
#[derive(Clone, Copy)]
struct Kind {
    share: f64,
    service_us: u64,
    is_constant: bool,
}

const EXPONENTIAL: Kind = Kind { share: 1.0, service_us: SERVICE_US, is_constant: false };
const CONSTANT: Kind = Kind { is_constant: true, ..EXPONENTIAL };

/// Mean wait of each kind, in microseconds, in a run of this many workers at this load (0 to 1 per worker).
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn simulated_waits_us(kinds: &[Kind], order: Order, workers: u32, load: f64) -> Vec<f64> {
    // What stays in the order of its kinds must not be overtaken because of its age.
    let limits = Limits {
        queue_length_max: usize::MAX,
        queue_wait_ms_max: 1_000_000_000,
        order,
        ageing: 0,
        lanes: false,
        ..LIMITS
    };
    let mut rng = Rng::new(1);
    let mut scheduler = Scheduler::new(limits);
    let mut actions = Vec::new();
    let class = |kind: usize| ClassId(u16::try_from(kind + 1).expect("few"));
    for _ in 0..1000 {
        for (at, kind) in kinds.iter().enumerate() {
            scheduler.costs_mut().arrived(Time(0), class(at));
            scheduler.step(Time(0), Event::Measured { class: class(at), cost_us: kind.service_us }, &mut actions);
        }
    }
    scheduler.step(Time(0), Event::Scaled { workers }, &mut actions);
    for worker in 1..=u64::from(workers) {
        scheduler.step(Time(0), Event::Listening { worker: WorkerId(worker) }, &mut actions);
    }
    actions.clear();
    let mean_us: f64 = kinds.iter().map(|kind| kind.share * kind.service_us as f64).sum();
    let gap_us = (mean_us / load / f64::from(workers)) as u64;
    let mut ends = BinaryHeap::new();
    let mut arrived = BTreeMap::new();
    let mut arrivals = 0;
    let mut waits = vec![(0_u64, 0_u64); kinds.len()];
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
            let is_first = kinds.len() == 1 || rng.unit() < kinds[0].share;
            let kind = usize::from(!is_first);
            arrived.insert(RequestId(arrivals), (now, kind));
            let need = Need { class: class(kind), ..Need::default() };
            scheduler.step(now, Event::Arrived { request: RequestId(arrivals), need }, &mut actions);
            next_arrival = Time(now.0 + rng.exponential(gap_us));
            now
        };
        for action in actions.drain(..) {
            let Action::Dispatch { request, worker } = action else { panic!("{action:?}") };
            let (since, kind) = arrived.remove(&request).expect("dispatched once, after it arrived");
            waits[kind].0 += now.since_us(since);
            waits[kind].1 += 1;
            let Kind { service_us, is_constant, .. } = kinds[kind];
            let service_us = if is_constant { service_us } else { rng.exponential(service_us) };
            ends.push(Reverse((Time(now.0 + service_us), worker, request)));
        }
    }
    waits.into_iter().map(|(sum_us, count)| sum_us as f64 / count as f64).collect()
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
fn assert_close(name: &str, simulated: f64, expected: f64) {
    let off = (simulated - expected).abs() / expected;
    println!("{name}: {simulated:.0} µs, theory {expected:.0} µs, off by {:.2} %", off * 100.0);
    assert!(off < 0.05, "{name} waits {simulated:.0} µs, theory says {expected:.0} µs");
}

#[track_caller]
fn assert_exponential(workers: u32, load: f64) {
    let name = format!("M/M/{workers} at {load}");
    for order in [Order::Fifo, Order::Shortest] {
        let simulated = simulated_waits_us(&[EXPONENTIAL], order, workers, load)[0];
        assert_close(&name, simulated, expected_wait_us(workers, load));
    }
}

#[test]
fn one_worker_waits_as_long_as_theory_says() {
    assert_exponential(1, 0.5);
    assert_exponential(1, 0.7);
}

#[test]
fn two_workers_share_one_queue_and_wait_as_long_as_theory_says() {
    assert_exponential(2, 0.7);
}

#[test]
fn constant_service_waits_as_long_as_theory_says() {
    let service = 10_000.0;
    for load in [0.5, 0.72] {
        let simulated = simulated_waits_us(&[CONSTANT], Order::Fifo, 1, load)[0];
        assert_close(&format!("M/D/1 at {load}"), simulated, load * service / (2.0 * (1.0 - load)));
    }
    // Where both apply, both say the same.
    assert_close("Crommelin against Pollaczek", crommelin(1, 0.72), 0.72 / (2.0 * (1.0 - 0.72)));
    for load in [0.5, 0.72] {
        let simulated = simulated_waits_us(&[CONSTANT], Order::Fifo, 2, load)[0];
        assert_close(&format!("M/D/2 at {load}"), simulated, crommelin(2, load) * service);
    }
}

/// Crommelin (1932): the mean wait of M/D/k, in units of the service time.
fn crommelin(workers: u32, load: f64) -> f64 {
    let (k, offered) = (f64::from(workers), load * f64::from(workers));
    let round = |n: u32| {
        let (mean, from) = (f64::from(n) * offered, n * workers);
        // Poisson terms of this mean; the first of them by logarithms, because it is small.
        let mut term = (1..=from).fold(-mean, |log, j| log + (mean / f64::from(j)).ln()).exp();
        let (mut tail, mut beyond) = (term, 0.0);
        for j in from + 1..from + 400 {
            term *= mean / f64::from(j);
            tail += term;
            beyond += term;
        }
        tail - k / offered * beyond
    };
    (1..400).map(round).sum()
}

/// Cobham: the work that is found in service, divided by what priorities leave.
#[test]
fn the_shorter_of_two_kinds_waits_as_long_as_theory_says_and_so_does_the_longer() {
    let kinds = [
        Kind { share: 0.9, service_us: 5_000, is_constant: true },
        Kind { share: 0.1, service_us: 100_000, is_constant: true },
    ];
    for load in [0.5, 0.72] {
        let simulated = simulated_waits_us(&kinds, Order::Shortest, 1, load);
        let per_us = load / (0.9 * 5_000.0 + 0.1 * 100_000.0);
        let found_us = per_us * (0.9 * 5_000.0_f64.powi(2) + 0.1 * 100_000.0_f64.powi(2)) / 2.0;
        let short_load = per_us * 0.9 * 5_000.0;
        assert_close(&format!("the shorter at {load}"), simulated[0], found_us / (1.0 - short_load));
        let expected_us = found_us / ((1.0 - short_load) * (1.0 - load));
        assert_close(&format!("the longer at {load}"), simulated[1], expected_us);
        let both = simulated_waits_us(&kinds, Order::Fifo, 1, load);
        for wait in both {
            assert_close(&format!("first come, first served at {load}"), wait, found_us / (1.0 - load));
        }
    }
}
