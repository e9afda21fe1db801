//! What a decision costs: `cargo run --release -p sluice_scheduler --example decision_cost`.
//!
//! One decision is a request's whole way through the scheduler: it arrives, a slot is freed, a request is dispatched.
//! With a queue, each finish dispatches the oldest of the waiting and each arrival joins the end.

use std::collections::VecDeque;
use std::hint::black_box;
use std::time::Instant;

use sluice_scheduler::{Action, Choice, Event, Limits, Need, Order, Recycling, RequestId, Scheduler, Time, WorkerId};

const ROUNDS: u64 = 300_000;

fn main() {
    println!("{:>12} {:>8} {:>8} {:>14}", "choice", "workers", "queued", "ns a decision");
    for choice in [Choice::First, Choice::RoundRobin, Choice::LeastRecent] {
        for workers in [2, 64] {
            for queued in [0, 10_000] {
                let ns = (0..3).map(|_| decision_ns(choice, workers, queued)).min().unwrap_or(0);
                println!("{:>12} {workers:>8} {queued:>8} {ns:>14}", format!("{choice:?}"));
            }
        }
    }
}

/// Nanoseconds of the three events of one request, on average.
fn decision_ns(choice: Choice, workers: u32, queued: u64) -> u128 {
    let limits = Limits {
        queue_length_max: 20_000,
        queue_wait_ms_max: 3_600_000,
        concurrency: 1,
        concurrency_max: 1,
        order: Order::Fifo,
        ageing: 3,
        lanes: false,
        may_raise: false,
        choice,
        start_timeout_ms: 1_000,
        stop_timeout_ms: 1_000,
        backoff_ms_min: 100,
        backoff_ms_max: 1_000,
        healthy_after_ms: 1_000,
        streams_per_worker_max: 100,
        warm_up: false,
        reload_at_once: 0,
        recycle: Recycling { requests_max: 0, age_ms_max: 0 },
        examine_timeout_ms: 900,
    };
    let mut scheduler = Scheduler::new(limits);
    let mut actions = Vec::new();
    let mut held = VecDeque::new();
    let mut now = Time(0);
    let mut next = 0;
    scheduler.step(now, Event::Scaled { workers }, &mut actions);
    for worker in 1..=u64::from(workers) {
        scheduler.step(now, Event::Listening { worker: WorkerId(worker) }, &mut actions);
    }
    actions.clear();
    // Every slot but one is taken, or all of them and a queue on top.
    let before = u64::from(workers) - 1 + if queued > 0 { queued + 1 } else { 0 };
    let mut decide = |event, now, held: &mut VecDeque<(WorkerId, RequestId)>| {
        scheduler.step(now, event, &mut actions);
        for action in actions.drain(..) {
            if let Action::Dispatch { request, worker } = black_box(action) {
                held.push_back((worker, request));
            }
        }
    };
    for _ in 0..before {
        next += 1;
        decide(Event::Arrived { request: RequestId(next), need: Need::default() }, now, &mut held);
    }
    let began = Instant::now();
    for _ in 0..ROUNDS {
        next += 1;
        now = Time(now.0 + 10);
        decide(Event::Arrived { request: RequestId(next), need: Need::default() }, now, &mut held);
        if let Some((worker, request)) = held.pop_front() {
            decide(Event::Finished { worker, request }, now, &mut held);
        }
    }
    began.elapsed().as_nanos() / u128::from(ROUNDS)
}
