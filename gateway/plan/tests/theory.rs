//! Replays against the textbook, and what every replay keeps. Logs are made of exponential gaps, so that the waits are
//! those of M/D/1 and M/M/1.

#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]

use std::fmt::Write as _;

use proptest::prelude::*;
use sluice_plan::{Balancer, Format, LogReader, Question, Setup, Stretch, Target, plan, replay, text};

const ONE: Setup =
    Setup { workers: 1, instances: 1, balancer: Balancer::RoundRobin, lanes: true, traffic: 1_000, seed: 1 };

struct Rng(u64);

impl Rng {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -(1.0 - self.unit()).ln() * mean
    }
}

/// A log of `nginx` with microseconds, of requests with these gaps and times in milliseconds.
fn log(requests: usize, mut next: impl FnMut() -> (f64, &'static str, f64)) -> Stretch {
    let (mut text, mut at_us) = (String::new(), 0.0);
    for _ in 0..requests {
        let (gap_ms, path, took_ms) = next();
        at_us += gap_ms * 1_000.0;
        let (end, took) = (1_700_000_000_000_000 + at_us as u64, (took_ms * 1_000.0) as u64);
        let _ = writeln!(text, "{end} {path} {took}");
    }
    let mut reader = LogReader::new("%{usec}t %U %D".parse::<Format>().expect("a format"), 1);
    reader.read("log", &mut text.as_bytes()).expect("memory can be read");
    reader.busiest(usize::MAX).0
}

/// Latencies in milliseconds: p50, p95 and p99.
fn percentiles(stretch: &Stretch, setup: &Setup) -> [f64; 3] {
    let outcome = replay(stretch, setup, &[0, 0]).all;
    assert_eq!(outcome.refused, 0);
    sluice_sketch::Times::percentiles(&[&outcome.times].into_iter(), [50, 95, 99])
        .expect("some were served")
        .map(|us| us / 1_000.0)
}

#[test]
fn exponential_service_has_the_percentiles_of_theory() {
    // The latency of M/M/1 is exponential with the mean 1/(mu - lambda).
    for load in [0.5, 0.8] {
        let mut rng = Rng(3);
        let stretch = log(400_000, || (rng.exponential(10.0 / load), "/", rng.exponential(10.0)));
        let mean = 10.0 / (1.0 - load);
        for (found, part) in percentiles(&stretch, &ONE).into_iter().zip([0.5_f64, 0.95, 0.99]) {
            let wanted = -(1.0 - part).ln() * mean;
            assert!((found - wanted).abs() < wanted * 0.06, "{load}: {found} ms, theory {wanted} ms at {part}");
        }
    }
}

#[test]
fn constant_service_waits_as_long_as_theory_says() {
    // M/D/1: P(no wait) is 1 - load; the 95th percentile of the wait is 1.96 services at 0.5, 6.4 at 0.8 (Erlang 1909).
    for (load, wanted) in [(0.5, 29.6), (0.8, 74.0)] {
        let mut rng = Rng(5);
        let stretch = log(400_000, || (rng.exponential(10.0 / load), "/", 10.0));
        let [p50, p95, _] = percentiles(&stretch, &ONE);
        assert!((p95 - wanted).abs() < wanted * 0.06, "{load}: p95 {p95} ms, theory {wanted} ms");
        assert!(load > 0.5 || (10.0..11.0).contains(&p50), "half wait for nobody: {p50} ms");
    }
}

fn shop(seed: u64, requests: usize, load: f64) -> Stretch {
    let mut rng = Rng(seed);
    let (mut short, mut long) = (true, 0.0);
    log(requests, || {
        short = rng.unit() < 0.9;
        long = if short { 5.0 } else { 100.0 };
        (rng.exponential(14.5 / load), if short { "/" } else { "/report" }, long)
    })
}

#[test]
fn lanes_keep_short_requests_from_long_ones() {
    let stretch = shop(1, 60_000, 1.4);
    let columns = [2, 0, 1];
    let p99 = |lanes, class: usize| {
        let replayed = replay(&stretch, &Setup { workers: 2, lanes, ..ONE }, &columns);
        sluice_sketch::Times::percentiles(&[&replayed.classes[class].times].into_iter(), [99]).unwrap()[0] / 1_000.0
    };
    let (on, off) = (p99(true, 0), p99(false, 0));
    assert!(on < off / 2.0, "short p99: {on} ms with lanes, {off} without");
}

#[test]
fn a_fleet_with_one_queue_beats_round_robin_over_many() {
    let stretch = shop(2, 40_000, 2.8);
    let p95 = |instances, workers, balancer| {
        percentiles(&stretch, &Setup { instances, workers, balancer, lanes: false, ..ONE })[1]
    };
    let one = p95(1, 4, Balancer::RoundRobin);
    let [robin, least, two, weights] = Balancer::ALL.map(|balancer| p95(4, 1, balancer));
    assert!(one < least && least < robin && two < robin, "{one} {least} {two} {robin}");
    assert!(weights > one, "{weights}");
}

#[test]
fn the_answer_of_a_target_is_the_fewest_workers_and_says_what_the_last_one_buys() {
    let stretch = shop(3, 20_000, 1.4);
    let target = Some(Target { percentile: 95, ms: 150.0 });
    let question = |threads| Question {
        workers: None,
        traffic: vec![1_000, 2_000],
        target,
        fleets: vec![(2, 1)],
        seed: 1,
        threads,
    };
    let made = plan(&stretch, &question(1));
    for (answer, traffic) in made.answers.iter().zip([1.0, 2.0]) {
        let workers = answer.workers.expect("some number does");
        let p95 = |workers| made.row(workers, true, traffic).and_then(|row| row.all.as_ref()?.ms).map(|ms| ms[1]);
        assert!(p95(workers).is_some_and(|ms| ms <= 150.0));
        assert!(p95(workers - 1).is_none_or(|ms| ms > 150.0));
        assert_eq!(answer.workers_one_lost, Some(workers + 1));
        assert_eq!(answer.without_last.as_ref().and_then(|latency| latency.ms).map(|ms| ms[1]), p95(workers - 1));
    }
    assert!(made.answers[1].workers > made.answers[0].workers);
    assert_eq!(made.fleets.len(), 4);
    // The same on any number of threads.
    assert_eq!(format!("{:?}", plan(&stretch, &question(3))), format!("{made:?}"));
}

#[test]
fn fewer_workers_than_asked_for_are_tried_for_a_target_and_what_is_measured_stands_under_the_logs_traffic() {
    let line = |at: u32| {
        format!(
            r#"{{"time":"2026-11-28T20:55:{:02}.000Z","event":"access","class":"a","queue_ms":0,"service_ms":30,"cpu_ms":30}}"#,
            at % 60
        )
    };
    let mut reader = LogReader::new(Format::default(), 1);
    reader.read("log", &mut (0..60).map(line).collect::<Vec<_>>().join("\n").as_bytes()).unwrap();
    let (stretch, counts) = reader.busiest(1_000);
    let target = Some(Target { percentile: 95, ms: 12_000.0 });
    let made = |traffic: &[u64]| {
        let question = Question {
            workers: Some((4, 4)),
            traffic: traffic.to_vec(),
            target,
            fleets: Vec::new(),
            seed: 1,
            threads: 1,
        };
        text(&plan(&stretch, &question), &counts)
    };
    let both = made(&[2_000, 1_000]);
    assert!(both.contains("Target: p95 of at most 12 s, lanes on\nx2: 1 worker, 2 if one may be lost\n"), "{both}");
    assert!(both.contains("\nBy class, 1 worker at x1\n"), "{both}");
    let measured = |text: &str| text.lines().find(|line| line.starts_with("measured")).map(str::len);
    let head = both.lines().find(|line| line.starts_with("WORKERS")).map(str::len);
    assert!(measured(&both).is_some() && measured(&both) == head, "{both}");
    assert_eq!(measured(&made(&[2_000])), None);
}

#[test]
fn a_small_plan_is_this_table() {
    let lines: Vec<String> = (0..200)
        .map(|at| {
            let (path, ms) = if at % 10 == 0 { ("/report", 90) } else { ("/", 10) };
            format!("{} {path} {}", 1_700_000_000_000_000_u64 + at * 15_000, ms * 1_000)
        })
        .collect();
    let mut reader = LogReader::new("%{usec}t %U %D".parse::<Format>().unwrap(), 1);
    reader.read("small.log", &mut format!("{}\nnone\n", lines.join("\n")).as_bytes()).unwrap();
    let (stretch, counts) = reader.busiest(1_000);
    let question = Question {
        workers: Some((1, 3)),
        traffic: vec![1_000, 2_000],
        target: Some(Target { percentile: 95, ms: 120.0 }),
        fleets: vec![(2, 1)],
        seed: 1,
        threads: 1,
    };
    let made = text(&plan(&stretch, &question), &counts);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/small.txt");
    if std::env::var_os("SLUICE_WRITE_GOLDEN").is_some() {
        std::fs::write(file, &made).unwrap();
    }
    assert_eq!(made, std::fs::read_to_string(file).unwrap(), "SLUICE_WRITE_GOLDEN=1 writes it anew");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    #[test]
    fn every_request_ends_once_and_gets_its_cpu_time(
        seed: u64,
        load in 0.1_f64..3.0,
        workers in 1_usize..5,
        instances in 1_usize..4,
        which in 0_usize..4,
        traffic in 500_u64..2_500,
        lanes: bool,
    ) {
        let stretch = shop(seed, 600, load);
        let setup = Setup { workers, instances, balancer: Balancer::ALL[which], lanes, traffic, seed };
        let replayed = replay(&stretch, &setup, &[2, 0, 1]);
        prop_assert_eq!(replayed.requests, replayed.ended);
        let classes: u64 = replayed.classes.iter().map(sluice_plan::Outcome::total).sum();
        prop_assert_eq!(classes, replayed.all.total());
        if traffic % 1_000 == 0 && replayed.all.refused == 0 {
            let asked_us = stretch.busy_workers() * stretch.span_us() as f64 * traffic as f64 / 1e3;
            prop_assert!((replayed.worked_us - asked_us).abs() <= asked_us * 1e-6);
        }
        // No request is faster than alone.
        prop_assert!(replayed.all.times.total() == 0
            || sluice_sketch::Times::percentiles(&[&replayed.all.times].into_iter(), [1]).unwrap()[0] >= 4_800.0);
    }

    #[test]
    fn requests_that_wait_in_workers_all_end(seed: u64, share in 0.05_f64..1.0, workers in 1_usize..4) {
        let mut rng = Rng(seed);
        let mut text = String::new();
        for at in 0..500 {
            let (ms, service_ms) = (at * 4, 5.0 + rng.exponential(40.0));
            let _ = writeln!(
                text,
                r#"{{"time":"2026-11-28T20:55:{:02}.{:03}Z","event":"access","class":"a","service_ms":{service_ms},"cpu_ms":{}}}"#,
                ms / 1_000, ms % 1_000, service_ms * share
            );
        }
        let mut reader = LogReader::new(Format::default(), 1);
        reader.read("log", &mut text.as_bytes()).unwrap();
        let (stretch, counts) = reader.busiest(1_000);
        prop_assert_eq!(counts.requests, 500);
        let replayed = replay(&stretch, &Setup { workers, ..ONE }, &[0, 0]);
        prop_assert_eq!((replayed.requests, replayed.ended), (500, 500));
    }
}
