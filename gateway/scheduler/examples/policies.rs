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

/// What may be done about a request that costs far more than its class does.
fn outliers() {
    let chosen = Policy { long_workers: 2, need_margin: 0.25, ..LANES };
    let policies = [
        ("as it is", chosen),
        ("lowered after 8 times", Policy { lower_after: 8.0, ..chosen }),
        ("lowered after 20 times", Policy { lower_after: 20.0, ..chosen }),
    ];
    for (cores, workers) in [(2, 2), (4, 4), (2, 4), (4, 8)] {
        for (share, cost_ms) in [(0.005, 300.0), (0.001, 1000.0)] {
            // They are of the class of the short ones, and its mean is all that is known of them.
            let expected_ms = ((0.9 - share) * 5.0 + share * cost_ms) / 0.9;
            let kind = |share, cost_ms| Kind { share, cost_ms, expected_ms };
            let kinds = [kind(0.9 - share, 5.0), Kind::known(0.1, 100.0), kind(share, cost_ms)];
            for load in [0.72, 0.9] {
                let name = format!("5 ms, 100 ms, and {} % that cost {cost_ms} ms", share * 100.0);
                table(&name, &policies, &kinds, (cores, workers), load);
            }
        }
    }
}

fn main() {
    let two = |short: f64| vec![Kind::known(short, 5.0), Kind::known(1.0 - short, 100.0)];
    for load in [0.5, 0.72, 0.9, 0.95, 2.0] {
        table("90 % 5 ms, 10 % 100 ms", &policies(), &two(0.9), (2, 2), load);
    }
    table("99 % 5 ms, 1 % 100 ms", &policies(), &two(0.99), (2, 2), 0.95);
    table("50 % 5 ms, 50 % 100 ms", &policies(), &two(0.5), (2, 2), 0.95);
    for load in [0.72, 0.9, 2.0] {
        table("90 % 5 ms, 10 % 100 ms", &policies(), &two(0.9), (8, 8), load);
    }
    table("90 % 5 ms, 10 % 100 ms", &policies(), &two(0.9), (4, 4), 2.0);
    table("90 % 5 ms, 10 % 100 ms", &policies(), &two(0.9), (1, 1), 2.0);
    table("90 % 5 ms, 10 % 100 ms", &policies(), &two(0.9), (1, 1), 0.72);
    // A tenth of the CPU time goes to renders of a second; autocomplete is half of the rest's requests.
    let shop = [(0.5, 5.0), (0.2463, 50.0), (0.2463, 150.0), (0.0054, 1000.0)]
        .map(|(share, cost_ms)| Kind::known(share, cost_ms));
    for load in [0.5, 0.72, 0.9] {
        table("autocomplete, pages, renders", &policies(), &shop, (2, 2), load);
    }
    outliers();
}

/// Everything at least as dear as 22 ms is long.
fn table(name: &str, policies: &[(&str, Policy)], kinds: &[Kind], (cores, workers): (usize, usize), load: f64) {
    println!("\n{name}; {cores} cores, {workers} short-lane workers, load {:.0} %", load * 100.0);
    println!("{:22} {:>6} {:>9} | for each kind: latency p50 p95 p99, wait p99, shed %", "policy", "used %", "mean ms");
    for (label, policy) in policies {
        let kinds = kinds.to_vec();
        let day = Day { cores, short_workers: workers, kinds, cut_ms: 22.0, load, requests: 150_000, seed: 1 };
        let (outcomes, used) = live(&day, *policy);
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
