//! What apps that wait get from fronts without a queue, and from the scheduler:
//! `cargo run --release -p sluice_scheduler --example waiting`.

#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]

#[path = "../tests/simulation/lanes/gateway.rs"]
mod gateway;
#[path = "../tests/simulation/limits.rs"]
mod limits;
#[path = "../tests/simulation/lanes/loops.rs"]
mod loops;
#[path = "../tests/simulation/rng.rs"]
#[allow(dead_code)] // The simulation, whose it is, uses all of it.
mod rng;
#[path = "../tests/simulation/lanes/toy.rs"]
#[allow(dead_code)]
mod toy;

use gateway::Gateway;
use limits::LIMITS;
use loops::{Clients, Day, DayResult, Kind, Rule, Unlimited, live};
use sluice_scheduler::{Lane, Limits};

/// As installed.
const WHILE_WAITING: Limits = Limits { concurrency_max: 50, ..LIMITS };

fn row(name: &str, lived: &DayResult) {
    print!("{name:22} {:>6.1} {:>8.1} {:>8.1}", lived.used * 100.0, lived.per_second, lived.mean_ms());
    for kind in 0..lived.outcomes.len() {
        let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|q| lived.latency_ms(kind, q));
        print!(" | {p50:>6.0} {p95:>6.0} {p99:>6.0} {:>4}", lived.outcomes[kind].shed);
    }
    println!();
}

fn table(name: &str, day: &Day) {
    println!("\n{name}; {} cores, {} workers", day.cores, day.workers);
    println!(
        "{:22} {:>6} {:>8} {:>8} | for each kind: latency p50 p95 p99, shed",
        "front", "used %", "per s", "mean ms"
    );
    let of = |rule| live(day, &mut Unlimited::new(rule, day.workers));
    row("in turn", &of(Rule::InTurn));
    row("least held", &of(Rule::LeastHeld));
    let light = day.kinds.iter().filter(|kind| kind.cost_ms() < 22.0).count();
    row("by hand", &of(Rule::ByHand(light)));
    let costs_ms: Vec<f64> = day.kinds.iter().map(Kind::cost_ms).collect();
    for (name, limits, looks) in
        [("strict", LIMITS, false), ("while-waiting", WHILE_WAITING, true), ("without looks", WHILE_WAITING, false)]
    {
        let mut gateway = Gateway::new(limits, costs_ms.clone(), day.workers, looks);
        row(name, &live(day, &mut gateway));
        let long = gateway.lanes_of.values().filter(|lane| **lane == Lane::Long).count();
        println!("    long workers {long}, held at most {}, given {:?}", gateway.held_max, gateway.given);
    }
}

fn main() {
    let requests = std::env::var("REQUESTS").ok().and_then(|text| text.parse().ok()).unwrap_or(40_000);
    let only = std::env::args().nth(1);
    let mix = vec![Kind { share: 0.9, phases: &[(20.0, 2.8)] }, Kind { share: 0.1, phases: &[(60.0, 59.8)] }];
    let twice =
        vec![Kind { share: 0.9, phases: &[(20.0, 2.8)] }, Kind { share: 0.1, phases: &[(30.0, 29.8), (30.0, 30.0)] }];
    let renders = vec![Kind { share: 0.9, phases: &[(0.0, 4.8)] }, Kind { share: 0.1, phases: &[(0.0, 99.8)] }];
    let io = vec![Kind { share: 1.0, phases: &[(50.0, 4.8)] }];
    let next = vec![Kind { share: 0.85, phases: &[(20.0, 4.0)] }, Kind { share: 0.15, phases: &[(60.0, 40.0)] }];
    let days: Vec<(&str, usize, &Vec<Kind>, Clients)> = vec![
        ("waiting 26 %", 2, &mix, Clients::Open(0.26)),
        ("waiting 52 %", 2, &mix, Clients::Open(0.52)),
        ("waiting 72 %", 2, &mix, Clients::Open(0.72)),
        ("waiting 90 %", 2, &mix, Clients::Open(0.90)),
        ("waiting twice 72 %", 2, &twice, Clients::Open(0.72)),
        ("waiting, closed 64", 2, &mix, Clients::Closed(64)),
        ("waiting, closed 16", 2, &mix, Clients::Closed(16)),
        ("io, closed 64", 2, &io, Clients::Closed(64)),
        ("next 50 %", 2, &next, Clients::Open(0.5)),
        ("waiting 4 cores 72 %", 4, &mix, Clients::Open(0.72)),
        ("waiting 1 core 72 %", 1, &mix, Clients::Open(0.72)),
        ("renders 72 %", 2, &renders, Clients::Open(0.72)),
        ("renders 90 %", 2, &renders, Clients::Open(0.90)),
        ("renders 1 core 72 %", 1, &renders, Clients::Open(0.72)),
        ("waiting 150 %", 2, &mix, Clients::Open(1.5)),
    ];
    for (name, cores, kinds, clients) in days {
        if only.as_ref().is_none_or(|only| name.contains(only.as_str())) {
            let day = Day { cores, workers: cores, kinds: kinds.clone(), clients, requests, seed: 1 };
            table(name, &day);
        }
    }
}
