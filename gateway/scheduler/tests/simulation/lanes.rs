//! The scheduler on cores that are shared by priority, against the model by which its policy was chosen, and against the
//! figures that it has to reach.

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
mod day;
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
mod gateway;
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
mod loops;
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
mod toy;
mod waiting;

use sluice_scheduler::{Limits, Order};

use crate::limits::LIMITS;
use day::{live, live_from};
use toy::{Day, Kind, Outcome};

const FIFO: Limits = Limits { order: Order::Fifo, lanes: false, ..LIMITS };

fn day(kinds: &[(f64, f64)], load: f64) -> Day {
    let kinds = kinds.iter().map(|(share, cost_ms)| Kind::known(*share, *cost_ms)).collect();
    Day { cores: 2, short_workers: 2, kinds, cut_ms: 22.0, load, requests: 60_000, seed: 7 }
}

fn mixed(load: f64) -> Day {
    day(&[(0.9, 5.0), (0.1, 100.0)], load)
}

fn latency(outcome: &Outcome, q: f64) -> f64 {
    Outcome::quantile(&outcome.latencies_ms, q)
}

fn wait(outcome: &Outcome, q: f64) -> f64 {
    Outcome::quantile(&outcome.waits_ms, q)
}

#[test]
fn short_requests_wait_a_tenth_of_what_they_would_first_come_first_served() {
    let (fifo, _) = live(&mixed(0.72), FIFO);
    let (lanes, _) = live(&mixed(0.72), LIMITS);
    let [f, l] = [&fifo, &lanes].map(|day| latency(&day[0], 0.99));
    println!("short, p99: {f:.0} ms fifo, {l:.0} ms with lanes");
    assert!(l <= f / 10.0, "{l:.0} ms, first come first served {f:.0} ms");
    for (q, most) in [(0.95, 1.4), (0.99, 1.5)] {
        let [f, l] = [&fifo, &lanes].map(|day| latency(&day[1], q));
        println!("long, at {q}: {f:.0} ms fifo, {l:.0} ms with lanes");
        assert!(l <= f * most, "long at {q}: {l:.0} ms, first come first served {f:.0} ms");
    }
}

#[test]
fn overload_costs_neither_throughput_nor_the_short_requests() {
    let (usual, _) = live(&mixed(0.72), LIMITS);
    let (outcomes, used) = live(&mixed(2.0), LIMITS);
    let [before, after] = [&usual, &outcomes].map(|day| latency(&day[0], 0.99));
    println!("at 200 %: {:.1} % of the cores used, short p99 {after:.0} ms, {before:.0} ms at 72 %", used * 100.0);
    assert!(used >= 0.95, "{used}");
    assert!(after <= before * 2.0, "{after:.0} ms, {before:.0} ms at 72 %");
    assert_eq!(outcomes[0].shed, 0, "short requests are shed for long ones");
    assert!(outcomes[1].shed > 0);
}

/// Long requests that come when it begins are told a short wait, so that all of them have waited for too long soon. At the
/// higher load short ones alone need six sevenths of the cores.
#[test]
fn an_overload_that_begins_lets_no_short_request_wait_for_long_ones_that_are_overdue() {
    let (usual, _) = live(&mixed(0.72), LIMITS);
    let before = latency(&usual[0], 0.99);
    for (load, most) in [(2.0, 2.0), (2.6, 4.0)] {
        for seed in 1..=5 {
            let (outcomes, used) = live_from(0.72, &Day { requests: 6_000, seed, ..mixed(load) }, LIMITS);
            let after = latency(&outcomes[0], 0.99);
            println!(
                "{load}, seed {seed}: {used:.3} of the cores used, short p99 {after:.0} ms, {before:.0} ms at 72 %"
            );
            assert!(used >= 0.95, "{load}, seed {seed}: {used}");
            assert!(after <= before * most, "{load}, seed {seed}: {after:.0} ms, {before:.0} ms at 72 %");
        }
    }
}

#[test]
fn requests_of_a_kind_are_served_first_come_first_served() {
    for cost_ms in [5.0, 100.0] {
        let day = day(&[(1.0, cost_ms)], 0.9);
        let [(fifo, _), (lanes, _)] = [FIFO, LIMITS].map(|limits| live(&day, limits));
        assert!(fifo[0].latencies_ms == lanes[0].latencies_ms, "{cost_ms} ms alone");
    }
}

#[test]
fn no_class_waits_more_than_five_times_its_wait_in_the_order_of_arrival() {
    let kinds: [&[(f64, f64)]; 4] = [
        &[(0.9, 5.0), (0.1, 100.0)],
        &[(0.99, 5.0), (0.01, 100.0)],
        &[(0.5, 5.0), (0.5, 100.0)],
        &[(0.5, 5.0), (0.2463, 50.0), (0.2463, 150.0), (0.0054, 1000.0)],
    ];
    for kinds in kinds {
        for load in [0.5, 0.72, 0.9, 0.95] {
            let day = Day { requests: 100_000, ..day(kinds, load) };
            let patient = |limits| Limits { queue_wait_ms_max: 60_000, ..limits };
            let [(fifo, _), (lanes, _)] = [FIFO, LIMITS].map(|limits| live(&day, patient(limits)));
            for (kind, (fifo, lanes)) in kinds.iter().zip(fifo.iter().zip(&lanes)) {
                let [f, l] = [fifo, lanes].map(|outcome| wait(outcome, 0.99));
                println!("{:6} ms at {load}: p99 of waits {f:.0} ms fifo, {l:.0} ms with lanes", kind.1);
                assert!(l <= f * 5.0, "{} ms at {load}: {l:.0} ms, first come first served {f:.0} ms", kind.1);
                assert_eq!(lanes.shed, 0, "{} ms at {load}", kind.1);
            }
        }
    }
}

#[test]
fn autocomplete_is_quick_beside_renders_of_a_second() {
    let kinds = [(0.5, 5.0), (0.2463, 50.0), (0.2463, 150.0), (0.0054, 1000.0)];
    for (load, p95_max) in [(0.5, 40.0), (0.72, 40.0), (0.9, 60.0)] {
        let (outcomes, _) = live(&day(&kinds, load), LIMITS);
        let p95 = latency(&outcomes[0], 0.95);
        println!("{p95:.0} ms at {load}");
        assert!(p95 <= p95_max, "{p95:.0} ms at {load}");
    }
}

#[test]
fn the_scheduler_does_what_the_model_does_by_which_its_policy_was_chosen() {
    let chosen = toy::Policy { long_workers: 2, need_margin: 0.25, ..toy::LANES };
    for (load, limits, policy) in [
        (0.72, FIFO, toy::FIFO),
        (0.9, FIFO, toy::FIFO),
        (0.72, Limits { lanes: false, ..LIMITS }, toy::Policy { ageing: 3.0, ..toy::SHORTEST }),
        (0.9, Limits { lanes: false, ..LIMITS }, toy::Policy { ageing: 3.0, ..toy::SHORTEST }),
        (0.5, LIMITS, chosen),
        (0.72, LIMITS, chosen),
        (0.9, LIMITS, chosen),
    ] {
        let day = Day { requests: 100_000, ..mixed(load) };
        let ((ours, _), (theirs, _)) = (live(&day, limits.clone()), toy::live(&day, policy));
        for (kind, (ours, theirs)) in day.kinds.iter().zip(ours.iter().zip(&theirs)) {
            for q in [0.5, 0.95, 0.99] {
                let [o, t] = [ours, theirs].map(|outcome| latency(outcome, q));
                println!(
                    "{:?}, {} at {load}: {} ms at {q}: {o:.1} ms, the model {t:.1} ms",
                    limits.order, limits.lanes, kind.cost_ms
                );
                assert!((o - t).abs() <= t * 0.1 + 2.0, "{} ms at {load}, {q}: {o:.1} and {t:.1} ms", kind.cost_ms);
            }
        }
    }
}
