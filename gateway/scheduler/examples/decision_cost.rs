//! What a decision costs: `cargo run --release -p sluice_scheduler --example decision_cost`.
//!
//! One decision is a request's whole way through the scheduler: it arrives, a slot is freed, a request is dispatched, its
//! cost is taken in. With a queue, each finish dispatches the next of the waiting and each arrival joins them. Of many
//! classes the costs span three orders of magnitude, so that there are lanes, and each request is of the next class.

#![allow(clippy::disallowed_types, reason = "it measures the machine, and this crate has no tokio")]

#[path = "../tests/simulation/limits.rs"]
mod limits;

use std::collections::VecDeque;
use std::hint::black_box;
use std::time::Instant;

use limits::LIMITS;
use sluice_scheduler::{Action, ClassId, Event, Limits, Need, Order, RequestId, Scheduler, Time, WorkerId};

const ROUNDS: u64 = 300_000;

fn main() {
    println!("{:>10} {:>8} {:>8} {:>8} {:>14}", "order", "classes", "workers", "queued", "ns a decision");
    for (order, classes) in [(Order::Fifo, 1), (Order::Shortest, 1), (Order::Shortest, 1_000)] {
        for workers in [2, 4, 64, 512] {
            for queued in [0, 10_000] {
                let ns = (0..3).map(|_| decision_ns(order, classes, workers, queued)).min().unwrap_or(0);
                println!("{:>10} {classes:>8} {workers:>8} {queued:>8} {ns:>14}", format!("{order:?}"));
            }
        }
    }
}

/// Nanoseconds of the events of one request, on average.
fn decision_ns(order: Order, classes: u64, workers: u32, queued: u64) -> u128 {
    let limits = Limits { queue_length_max: 20_000, queue_wait_ms_max: 3_600_000, ahead_max: 2, order, ..LIMITS };
    let class = |request: u64| ClassId(u16::try_from(request % classes).unwrap_or(0));
    let cost_us = |class: ClassId| 1_000 + u64::from(class.0) * u64::from(class.0);
    let need = |request| Need { class: class(request), ahead: true, ..Need::default() };
    let mut scheduler = Scheduler::new(limits);
    let mut actions = Vec::new();
    let (mut held, mut started) = (VecDeque::new(), Vec::new());
    let mut now = Time(0);
    let mut next = 0;
    scheduler.step(now, Event::Scaled { workers }, &mut actions);
    for worker in 1..=u64::from(workers) {
        scheduler.step(now, Event::Listening { worker: WorkerId(worker) }, &mut actions);
    }
    for request in 0..classes * 10 {
        let measured = Event::Measured { class: class(request), cost_us: cost_us(class(request)) };
        scheduler.step(now, measured, &mut actions);
    }
    actions.clear();
    // Every slot but one is taken, or all of them and a queue on top.
    let before = u64::from(workers) - 1 + if queued > 0 { queued + 1 } else { 0 };
    let mut decide = |event, now, held: &mut VecDeque<(WorkerId, RequestId)>| {
        scheduler.step(now, event, &mut actions);
        for action in actions.drain(..) {
            match black_box(action) {
                Action::Dispatch { request, worker } => held.push_back((worker, request)),
                // Of the long lane.
                Action::Start { worker, .. } => started.push(worker),
                _ => {}
            }
        }
        for worker in started.drain(..) {
            scheduler.step(now, Event::Listening { worker }, &mut actions);
        }
    };
    for _ in 0..before {
        next += 1;
        decide(Event::Arrived { request: RequestId(next), need: need(next) }, now, &mut held);
    }
    let began = Instant::now();
    for _ in 0..ROUNDS {
        next += 1;
        now = Time(now.0 + 10);
        decide(Event::Arrived { request: RequestId(next), need: need(next) }, now, &mut held);
        if let Some((worker, request)) = held.pop_front() {
            decide(Event::Finished { worker, request }, now, &mut held);
            let class = class(request.0);
            decide(Event::Measured { class, cost_us: cost_us(class) }, now, &mut held);
        }
    }
    began.elapsed().as_nanos() / u128::from(ROUNDS)
}
