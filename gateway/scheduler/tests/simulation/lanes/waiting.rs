//! Apps that wait: light requests are as well off as in processes of their own, and heavy ones not much worse than anywhere.
//!
//! The figures of all mixes: `cargo run --release -p sluice_scheduler --example waiting`.

use sluice_scheduler::Limits;

use super::gateway::Gateway;
use super::loops::{Clients, Day, DayResult, Kind, Rule, Unlimited, live, live_all};
use super::toy::Outcome;
use crate::limits::LIMITS;

/// As installed.
const WHILE_WAITING: Limits = Limits { concurrency_max: 50, ..LIMITS };
/// What waits 20 ms and computes 3, and what waits 60 and computes 60.
const LIGHT: Kind = Kind { share: 0.9, phases: &[(20.0, 2.8)] };
const HEAVY: Kind = Kind { share: 0.1, phases: &[(60.0, 59.8)] };
/// The same heavy ones, in two goes.
const HEAVY_TWICE: Kind = Kind { share: 0.1, phases: &[(30.0, 29.8), (30.0, 30.0)] };
/// What only computes.
const RENDERS: [Kind; 2] = [Kind { share: 0.9, phases: &[(0.0, 4.8)] }, Kind { share: 0.1, phases: &[(0.0, 99.8)] }];

fn day(kinds: &[Kind], cores: usize, clients: Clients) -> Day {
    Day { cores, workers: cores, kinds: kinds.to_vec(), clients, requests: 20_000, seed: 3 }
}

fn unlimited(day: &Day, rule: Rule) -> DayResult {
    live(day, &mut Unlimited::new(rule, day.workers))
}

fn gateway(day: &Day, limits: &Limits) -> (DayResult, Gateway) {
    let costs_ms = day.kinds.iter().map(Kind::cost_ms).collect();
    let mut gateway = Gateway::new(limits.clone(), costs_ms, day.workers, true);
    (live(day, &mut gateway), gateway)
}

#[test]
fn light_requests_of_an_app_that_waits_are_not_behind_heavy_ones() {
    for heavy in [HEAVY, HEAVY_TWICE] {
        for load in [0.26, 0.52, 0.72] {
            let day = day(&[LIGHT, heavy], 2, Clients::Open(load));
            let peers = [Rule::InTurn, Rule::LeastHeld].map(|rule| unlimited(&day, rule));
            let best = |of: fn(&DayResult) -> f64| peers.iter().map(of).fold(f64::INFINITY, f64::min);
            let (ours, _) = gateway(&day, &WHILE_WAITING);
            let [p99, p95] = [ours.latency_ms(0, 0.99), ours.latency_ms(1, 0.95)];
            println!("at {load}: light p99 {p99:.0} ms, heavy p95 {p95:.0} ms, mean {:.0} ms", ours.mean_ms());
            // At a quarter of the CPU a light one cannot take a quarter of the time: it waits 20 ms of it.
            let most = (best(|lived| lived.latency_ms(0, 0.99)) / 4.0).max(36.0);
            assert!(p99 <= most, "light p99 at {load}: {p99:.0} ms of {most:.0}");
            let most = best(|lived| lived.latency_ms(1, 0.95)) * 1.4;
            assert!(p95 <= most, "heavy p95 at {load}: {p95:.0} ms of {most:.0}");
            assert!(ours.mean_ms() < best(DayResult::mean_ms), "mean at {load}");
            assert_eq!(ours.outcomes.iter().map(|outcome| outcome.shed).sum::<usize>(), 0);
        }
    }
}

#[test]
fn an_app_that_waits_has_the_throughput_of_workers_without_a_limit() {
    for (kinds, clients) in
        [(vec![LIGHT, HEAVY], 64), (vec![LIGHT, HEAVY], 16), (vec![Kind { share: 1.0, phases: &[(50.0, 4.8)] }], 64)]
    {
        let day = day(&kinds, 2, Clients::Closed(clients));
        let [theirs, ours] = [unlimited(&day, Rule::InTurn), gateway(&day, &WHILE_WAITING).0];
        println!("{clients} clients: {:.0} a second, {:.0} without a limit", ours.per_second, theirs.per_second);
        assert!(ours.per_second >= theirs.per_second * 0.95, "{} {}", ours.per_second, theirs.per_second);
    }
}

#[test]
fn pure_renders_are_served_as_in_strict_mode() {
    for (cores, load) in [(1, 0.72), (2, 0.72), (2, 0.9)] {
        let day = day(&RENDERS, cores, Clients::Open(load));
        let [(strict, _), (shared, gateway)] = [LIMITS, WHILE_WAITING].map(|limits| gateway(&day, &limits));
        assert_eq!(gateway.held_max, 1, "{cores} cores at {load}");
        for kind in 0..2 {
            assert_eq!(
                strict.outcomes[kind].latencies_ms, shared.outcomes[kind].latencies_ms,
                "{cores} cores at {load}"
            );
        }
    }
}

#[test]
fn a_single_core_keeps_light_requests_from_heavy_ones() {
    for kinds in [[LIGHT, HEAVY], RENDERS] {
        let day = day(&kinds, 1, Clients::Open(0.72));
        let (ours, plain) = (gateway(&day, &WHILE_WAITING).0, unlimited(&day, Rule::InTurn));
        let [ours, plain] = [ours, plain].map(|lived| lived.latency_ms(0, 0.99));
        println!("one core: {ours:.0} ms, plain {plain:.0} ms");
        // What waits 20 ms cannot be faster.
        assert!(ours <= (plain / 20.0).max(36.0), "{ours:.0} ms, plain {plain:.0} ms");
    }
}

/// What is refused is what there is no CPU time for.
#[test]
fn overload_is_refused_alike_whether_workers_share_or_not() {
    let day = day(&RENDERS, 2, Clients::Open(1.5));
    let [strict, shared] = [LIMITS, WHILE_WAITING].map(|limits| gateway(&day, &limits).0);
    for kind in 0..2 {
        assert_eq!(strict.outcomes[kind].shed, shared.outcomes[kind].shed);
    }
    // Of what waits, as much CPU time is served and as much refused as of what only computes.
    let day = Day { requests: 40_000, ..day_of_waiting(1.5) };
    let (waiting, _) = gateway(&day, &WHILE_WAITING);
    println!(
        "at 150 %: {:.3} of the CPU used, {:?}",
        waiting.used,
        waiting.outcomes.iter().map(|o| o.shed).collect::<Vec<_>>()
    );
    assert!(waiting.used >= 0.95, "{}", waiting.used);
    assert_eq!(waiting.outcomes[0].shed, 0, "light ones are refused for heavy ones");
    assert!(waiting.outcomes[1].shed > 0);
    assert!(Outcome::quantile(&waiting.outcomes[1].waits_ms, 0.99) <= 10_000.0);
}

fn day_of_waiting(load: f64) -> Day {
    day(&[LIGHT, HEAVY], 2, Clients::Open(load))
}

/// Thirty starts of a minute and more, of which everything counts.
#[test]
fn classes_that_are_unknown_at_the_start_cost_the_others_little() {
    let lived = |limits: &Limits| {
        let mut all = [Outcome::default(), Outcome::default()];
        for seed in 1..=30 {
            let day = Day { requests: 3_000, seed, ..day(&RENDERS, 2, Clients::Open(0.72)) };
            let costs_ms = day.kinds.iter().map(Kind::cost_ms).collect();
            let mut gateway = Gateway::new(limits.clone(), costs_ms, day.workers, true);
            for (all, of) in all.iter_mut().zip(live_all(&day, &mut gateway).outcomes) {
                all.latencies_ms.extend(of.latencies_ms);
            }
        }
        all.map(|outcome| [0.95, 0.99].map(|q| Outcome::quantile(&outcome.latencies_ms, q)))
    };
    let (fifo, ours) = (lived(&super::FIFO), lived(&WHILE_WAITING));
    println!("short and long, p95 and p99: {ours:.0?} ms, in the order of arrival {fifo:.0?}");
    assert!(ours[0][1] <= fifo[0][1] / 6.0, "short p99 {:.0} of {:.0} ms", ours[0][1], fifo[0][1]);
    assert!(ours[1][0] <= fifo[1][0] * 1.4, "long p95 {:.0} of {:.0} ms", ours[1][0], fifo[1][0]);
    assert!(ours[1][1] <= fifo[1][1] * 1.5, "long p99 {:.0} of {:.0} ms", ours[1][1], fifo[1][1]);
}
