//! Releases with known truth: how often equal versions are turned back, and how often worse ones are found.
//!
//! `SLUICE_RELEASES` sets the number of releases of each kind (200 by default, 1,000 in `make test-long`), `SLUICE_SEED` the seed.
//! Figures are printed: `cargo test -p sluice_compare --test releases -- --nocapture`.

mod world;

use sluice_compare::{Arm, Comparison, Measure, Verdict};
use world::{Truth, World, releases, seed};

/// Requests of both versions together within which a worse version must be found.
const REQUESTS: u64 = 20_000;
/// Requests between two looks.
const LOOK_EVERY: u64 = 100;

/// Number of requests after which the version was turned back, and for what.
fn turned_back(truth: &Truth, share: f64, seed: u64) -> Option<(u64, Measure)> {
    let (mut world, mut comparison) = (World::new(truth.clone(), share, seed), Comparison::default());
    for request in 1..=REQUESTS {
        world.request(|sample| comparison.take(sample));
        if request % LOOK_EVERY == 0 {
            let worse = comparison.findings().into_iter().find(|finding| finding.verdict == Verdict::Worse);
            if let Some(finding) = worse {
                return Some((request, finding.measure));
            }
        }
    }
    None
}

/// Share of releases that were turned back, with the median of the requests that this took.
#[allow(clippy::cast_precision_loss)]
fn share_of(name: &str, truth: &Truth, share: f64, wanted: Option<Measure>) -> f64 {
    let count = releases();
    let mut found = Vec::new();
    let (mut others, mut measures) = (0, Vec::new());
    for release in 0..count {
        let back = turned_back(truth, share, seed() + release);
        measures.extend(back.map(|(_, measure)| measure));
        match back {
            Some((request, measure)) if wanted.is_none_or(|wanted| wanted == measure) => found.push(request),
            Some(_) => others += 1,
            None => {}
        }
    }
    found.sort_unstable();
    let part = (found.len() + others) as f64 / count as f64;
    let by = |measure: Measure| measures.iter().filter(|of| **of == measure).count();
    let measures: Vec<String> = [Measure::Cpu, Measure::Service, Measure::Failures]
        .into_iter()
        .map(|measure| format!("{} {}", measure.name(), by(measure)))
        .collect();
    let median = found.get(found.len() / 2).map_or_else(|| "-".to_owned(), ToString::to_string);
    println!(
        "{name:<28} share {:>3.0} %: turned back {:>6.2} % of {count} ({}), median after {median} requests",
        share * 100.0,
        part * 100.0,
        measures.join(", ")
    );
    part
}

#[test]
fn equal_versions_are_rarely_turned_back() {
    let equal = Truth::default();
    let mut sum = 0.0;
    for share in [0.05, 0.1, 0.25, 0.5] {
        sum += share_of("equal", &equal, share, None);
    }
    assert!(sum / 4.0 <= 0.01, "{sum}");
}

#[test]
fn a_tenth_more_cpu_time_is_found() {
    let slower = Truth { cpu: 1.1, ..Truth::default() };
    share_of("10 % more CPU time", &slower, 0.05, Some(Measure::Cpu));
    share_of("10 % more CPU time", &slower, 0.1, Some(Measure::Cpu));
    let quarter = share_of("10 % more CPU time", &slower, 0.25, Some(Measure::Cpu));
    assert!(quarter >= 0.95, "{quarter}");
}

#[test]
fn one_failure_more_in_a_hundred_is_found() {
    let failing = Truth { fails: 0.01, ..Truth::default() };
    share_of("1 % more failures", &failing, 0.05, Some(Measure::Failures));
    share_of("1 % more failures", &failing, 0.1, Some(Measure::Failures));
    let quarter = share_of("1 % more failures", &failing, 0.25, Some(Measure::Failures));
    assert!(quarter >= 0.95, "{quarter}");
}

#[test]
fn a_faster_version_is_called_better_and_an_equal_one_equal() {
    for (truth, verdict) in
        [(Truth { cpu: 0.8, ..Truth::default() }, Verdict::Better), (Truth::default(), Verdict::Equal)]
    {
        let (mut world, mut comparison) = (World::new(truth, 0.25, seed()), Comparison::default());
        for _ in 0..40_000 {
            world.request(|sample| comparison.take(sample));
        }
        let [cpu, ..] = comparison.findings();
        assert_eq!(cpu.verdict, verdict, "{cpu:?}");
    }
}

#[test]
fn classes_of_one_version_are_named_and_change_nothing() {
    let (mut world, mut comparison) = (World::new(Truth::default(), 0.25, seed()), Comparison::default());
    for at in 0..8_000_u64 {
        world.request(|sample| comparison.take(sample));
        let new = sluice_compare::Sample {
            arm: Arm::Trial,
            class: "GET /new",
            visitor: Some(at),
            nth: 1_000,
            nth_of_class: 1_000,
            cpu_us: Some(900_000),
            service_us: Some(900_000),
            failed: false,
        };
        comparison.take(&new);
    }
    assert_eq!(comparison.only_of(Arm::Trial), ["GET /new"]);
    assert!(comparison.findings().iter().all(|finding| finding.verdict != Verdict::Worse));
}
