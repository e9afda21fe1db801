//! What a policy would do: `cargo run --release -p sluice_scheduler --example policies`.
//!
//! A model of cores and workers, not the scheduler itself; `docs/decisions/0020-order-and-lanes.md` says what was chosen.

#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]

#[path = "../tests/simulation/rng.rs"]
#[allow(dead_code)] // The simulation, whose it is, uses all of it.
mod rng;
#[path = "../tests/simulation/lanes/toy.rs"]
mod toy;

use toy::{Day, FIFO, Kind, LANES, Outcome, Policy, SHORTEST, live};

fn policies() -> Vec<(&'static str, Policy)> {
    vec![
        ("fifo", FIFO),
        ("shortest", SHORTEST),
        ("shortest, ageing", Policy { ageing: 3.0, ..SHORTEST }),
        ("one long", LANES),
        ("one long, apart", Policy { spare_short: 99, ..LANES }),
        ("one long, by need", Policy { need_margin: 0.25, ..LANES }),
        ("no ageing", Policy { ageing: 0.0, ..LANES }),
        ("aged not last", Policy { overdue_takes_last: false, ..LANES }),
        ("short lane first", Policy { long_lane_first: false, ..LANES }),
        ("two long", Policy { long_workers: 2, ..LANES }),
        ("second by need", Policy { long_workers: 2, need_margin: 0.25, ..LANES }),
        ("second by need, 0", Policy { long_workers: 2, need_margin: 0.0, ..LANES }),
        ("second by need, K 2", Policy { long_workers: 2, need_margin: 0.25, ageing: 2.0, ..LANES }),
        ("two long, apart", Policy { long_workers: 2, spare_short: 99, ..LANES }),
    ]
}

fn main() {
    let two = |short: f64| vec![Kind { share: short, cost_ms: 5.0 }, Kind { share: 1.0 - short, cost_ms: 100.0 }];
    for load in [0.5, 0.72, 0.9, 0.95, 2.0] {
        table("90 % 5 ms, 10 % 100 ms", &two(0.9), 22.0, 2, load);
    }
    table("99 % 5 ms, 1 % 100 ms", &two(0.99), 22.0, 2, 0.95);
    table("50 % 5 ms, 50 % 100 ms", &two(0.5), 22.0, 2, 0.95);
    for load in [0.72, 0.9, 2.0] {
        table("90 % 5 ms, 10 % 100 ms", &two(0.9), 22.0, 8, load);
    }
    table("90 % 5 ms, 10 % 100 ms", &two(0.9), 22.0, 4, 2.0);
    table("90 % 5 ms, 10 % 100 ms", &two(0.9), 22.0, 1, 2.0);
    table("90 % 5 ms, 10 % 100 ms", &two(0.9), 22.0, 1, 0.72);
    let kind = |share, cost_ms| Kind { share, cost_ms };
    // A tenth of the CPU time goes to renders of a second; autocomplete is half of the rest's requests.
    let shop = [kind(0.5, 5.0), kind(0.2463, 50.0), kind(0.2463, 150.0), kind(0.0054, 1000.0)];
    for load in [0.5, 0.72, 0.9] {
        table("autocomplete, pages, renders", &shop, 22.0, 2, load);
    }
}

fn table(name: &str, kinds: &[Kind], cut_ms: f64, cores: usize, load: f64) {
    println!("\n{name}; {cores} cores, load {:.0} %", load * 100.0);
    println!("{:22} {:>6} {:>9} | for each kind: latency p50 p95 p99, wait p99, shed %", "policy", "used %", "mean ms");
    for (label, policy) in policies() {
        let day = Day { cores, short_workers: cores, kinds: kinds.to_vec(), cut_ms, load, requests: 150_000, seed: 1 };
        let (outcomes, used) = live(&day, policy);
        let count: usize = outcomes.iter().map(|o| o.latencies_ms.len()).sum();
        let mean: f64 = outcomes.iter().flat_map(|o| &o.latencies_ms).sum::<f64>() / count as f64;
        print!("{label:22} {:>6.1} {mean:>9.1}", used * 100.0);
        for o in &outcomes {
            let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|q| Outcome::quantile(&o.latencies_ms, q));
            let shed = o.shed as f64 * 100.0 / (o.shed + o.waits_ms.len()).max(1) as f64;
            print!(" | {p50:>6.0} {p95:>6.0} {p99:>6.0} {:>6.0} {shed:>3.0}", Outcome::quantile(&o.waits_ms, 0.99));
        }
        println!();
    }
}
