//! Days of a whole gateway under one seed: the real scheduler and the real exchanges, joined as the driver joins them, before processes
//! that die, lie, stall and report late or never, and clients that leave. `SLUICE_SIM_DAYS` sets how many days, `SLUICE_SEED` the first.
//!
//! After every event it holds that no slot is free while an app computes for it (I1), that no app begins a request twice but by the
//! rules (I5), and that no client gets another's bytes (I10); at the end of a day, that each request has ended once and no slot is taken.

mod client;
mod day;
mod driver;
mod gateway;
mod plan;
mod process;
#[path = "../../../scheduler/tests/simulation/rng.rs"]
#[allow(dead_code)] // The scheduler's own simulation uses more of it.
mod rng;

use std::collections::BTreeSet;

use day::Day;

/// What days must lead to, or they prove nothing.
const REACHED: [&str; 21] = [
    "a request is answered",
    "a request is refused",
    "a request is handed ahead",
    "a handed request is taken back",
    "a request goes back behind one that is not ended",
    "a slot is passed to an unended request",
    "a request begins at a second worker",
    "a request of a dead worker is answered with an error",
    "a stream leaves its slot",
    "a stream ends",
    "a client leaves a request in the queue",
    "a client leaves a request at a worker",
    "a client closes its half",
    "a worker is given up",
    "a worker is killed for its loop",
    "a worker exits",
    "foreign bytes are dropped",
    "an answer is no HTTP",
    "an answer is cut off",
    "a body is lost",
    "a kept connection was closed",
];

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")))
}

#[test]
fn i1_i5_i10_hold_on_any_day() {
    let (first, days) = (number("SLUICE_SEED", 20_250_101), number("SLUICE_SIM_DAYS", 2_000));
    let mut reached = BTreeSet::new();
    for seed in first..first + days {
        let mut day = Day::of(seed);
        if let Err(broken) = day.live() {
            panic!(
                "seed {seed}: {broken}\n{}\nagain: SLUICE_SEED={seed} SLUICE_SIM_DAYS=1 cargo test -p sluice_dispatch --test days",
                day.history.join("\n")
            );
        }
        reached.append(&mut day.reached);
    }
    if days >= 1_000 {
        let missing: Vec<_> = REACHED.iter().filter(|name| !reached.contains(*name)).collect();
        assert!(missing.is_empty(), "no day leads to: {missing:?}");
    }
}
