//! Random days of a gateway, each from one seed: clients, workers and the operator do what they like, and after every
//! step of the scheduler all its promises (I1, I3, I4, I5, I6, I9) are checked against a model of them.
//!
//! In strict mode (`concurrency_max` 1) a worker holds one request. Where it may hold several, it never holds more than
//! `concurrency_max`, nor more than it was seen to wait with or is known to have time for; a short request joins no long one while
//! lanes are in force, and a long one joins no short one and leaves a worker of the short lane without any. All else holds in both.
//!
//! `SLUICE_SIM_DAYS` sets how many days are lived, `SLUICE_SEED` which is the first.

mod lanes;
mod limits;
mod model;
mod places;
mod plan;
mod rng;
mod theory;
mod workers;
mod world;

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use world::World;

const DAYS_DEFAULT: u64 = 10_000;
const SEED_DEFAULT: u64 = 20_250_101;

/// Lives one day. The error is a whole report.
fn live(seed: u64) -> Result<World, String> {
    let mut world = World::new(seed);
    let outcome = catch_unwind(AssertUnwindSafe(|| world.live()))
        .unwrap_or_else(|_| Err("I8: the scheduler panicked; its message is above".to_owned()));
    match outcome {
        Ok(()) => Ok(world),
        Err(broken) => {
            let skipped = world.history.len().saturating_sub(30);
            let mut report = format!("seed {seed}: {broken}\n{:#?}\nthe last events:\n", world.plan());
            for line in &world.history[skipped..] {
                let _ = writeln!(report, "{:>9} µs  {:?}  →  {:?}", line.now.0, line.event, line.actions);
            }
            let _ = write!(
                report,
                "to live this day again: SLUICE_SEED={seed} SLUICE_SIM_DAYS=1 cargo test -p sluice_scheduler --test simulation random_days"
            );
            Err(report)
        }
    }
}

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")))
}

/// Lives these days on every core. Returns how often each thing was seen, or the report of the lowest seed that failed.
fn live_all(seeds: Range<u64>) -> Result<BTreeMap<String, u64>, String> {
    let next = AtomicU64::new(seeds.start);
    let failed = AtomicU64::new(u64::MAX);
    let work = || {
        let mut counts = BTreeMap::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end || seed > failed.load(Ordering::Relaxed) {
                return counts;
            }
            match live(seed) {
                Ok(world) => {
                    for (what, count) in &world.model.seen {
                        *counts.entry(what.clone()).or_insert(0) += count;
                    }
                    *counts.entry("step".to_owned()).or_insert(0) += world.history.len() as u64;
                }
                Err(_) => {
                    failed.fetch_min(seed, Ordering::Relaxed);
                }
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let parts: Vec<BTreeMap<String, u64>> = thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().map(|thread| thread.join().expect("a day that fails is an error, not a panic")).collect()
    });
    let lowest = failed.into_inner();
    if lowest != u64::MAX {
        return Err(live(lowest)
            .err()
            .unwrap_or_else(|| format!("seed {lowest} failed once and not again: I9 is broken")));
    }
    let mut total = BTreeMap::new();
    for (what, count) in parts.into_iter().flatten() {
        *total.entry(what).or_insert(0) += count;
    }
    Ok(total)
}

#[test]
fn random_days_keep_i1_i3_i4_i5_i6() {
    let first = number("SLUICE_SEED").unwrap_or(SEED_DEFAULT);
    let days = number("SLUICE_SIM_DAYS").unwrap_or(DAYS_DEFAULT);
    let seen = live_all(first..first + days).unwrap_or_else(|report| panic!("{report}"));
    println!("{days} days: {seen:?}");
    if days < 1000 {
        println!("too few to ask what they reach");
        return;
    }
    for what in [
        "Finished",
        "Orphaned",
        "Left",
        "Detached",
        "Occupied",
        "Hand",
        "Begins",
        "TakeBack",
        "died with what it was handed",
        "Dispatch",
        "Start",
        "Stop",
        "Kill",
        "BackOff",
        "GiveUp",
        "CloseStream",
        "StartTimeout",
        "StopTimeout",
        "Retried",
        "WarmUp",
        "WarmingWith",
        "Unwarmed",
        "served instead of warmed",
        "Stuck",
        "stuck too long",
        "Abandoned",
        "Reloaded",
        "ReloadAbandoned",
        "abandoned: Exited",
        "abandoned: StartTimeout",
        "abandoned: WarmUpFailed",
        "abandoned: Superseded",
        "abandoned: Stopping",
        "abandoned after it took over",
        "a reload waited for the queue",
        "abandoned by its place's own worker",
        "batch took over together",
        "successor failed",
        "successor promoted",
        "recycled: Requests",
        "recycled: Memory",
        "recycled: Overdue",
        "granted one more",
        "in the room of a grant before",
        "in room that is known",
        "Lower",
        "Raise",
        "stand-in was needed",
        "stand-in was needless",
        "came home",
        "came to a home that is gone",
        "Home",
        "left home",
        "Short in Short",
        "Long in Short",
        "Long in Long",
        "the long lane is switched off",
        "Refused(\"full\")",
        "Refused(\"predicted\")",
        "Refused(\"deadline\")",
        "Refused(\"stopping\")",
    ] {
        let count = seen.get(what).copied().unwrap_or(0);
        assert!(count >= days / 100, "the days do not reach {what} often enough: {count} times in {days} days");
    }
}

#[test]
fn a_seed_replays_its_day_to_the_last_action_i9() {
    for seed in 0..50 {
        let days = [live(seed), live(seed)].map(|day| day.unwrap_or_else(|report| panic!("{report}")));
        let [first, second] = days
            .map(|day| day.history.into_iter().map(|line| (line.now, line.event, line.actions)).collect::<Vec<_>>());
        assert!(first == second, "seed {seed} gave two different days");
    }
}
