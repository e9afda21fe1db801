//! Releases with known truth: how often equal versions are turned back, and how often worse ones are found.
//!
//! `SLUICE_RELEASES` sets the number of releases of each kind (200 by default, 1,000 in `make test-long`), `SLUICE_SEED` the seed.
//! Figures are printed: `cargo test -p sluice_compare --test releases -- --nocapture`.

mod world;

use std::time::Duration;

use sluice_compare::{Arm, Comparison, Measure, Rule, Ruling, Sample, Verdict};
use world::{Truth, World, releases, seed};

/// Requests of both versions together within which a worse version must be found.
const REQUESTS: u64 = 20_000;
/// Requests between two looks.
const LOOK_EVERY: u64 = 100;
/// A rule whose time is over after 20,000 seconds, at a request a second.
const RULE: Rule = Rule { lasts: Duration::from_secs(REQUESTS), requests_min: 200, asks: false };

/// End of a release: after how many requests, and how.
fn judged(truth: &Truth, share: f64, seed: u64) -> (u64, Ruling) {
    let (mut world, mut comparison) = (World::new(truth.clone(), share, seed), Comparison::default());
    for request in 1..=REQUESTS {
        world.request(|sample| comparison.take(sample));
        if request % LOOK_EVERY == 0 {
            let ruling = RULE.judge(&comparison, Duration::from_secs(request));
            if ruling != Ruling::GoesOn {
                return (request, ruling);
            }
        }
    }
    unreachable!("the time has passed")
}

/// Shares of releases that were turned back, and that passed.
struct Shares {
    back: f64,
    passed: f64,
}

/// Ends of releases, which are printed with the median of the requests until one was turned back.
#[allow(clippy::cast_precision_loss)]
fn shares_of(name: &str, truth: &Truth, share: f64) -> Shares {
    let count = releases();
    let (mut back, mut passed, mut held) = (Vec::new(), 0, Vec::new());
    for release in 0..count {
        match judged(truth, share, seed() + release) {
            (request, Ruling::Back(finding)) => back.push((request, finding.measure)),
            (_, Ruling::Asks(why)) => held.push(why),
            _ => passed += 1,
        }
    }
    back.sort_unstable_by_key(|(request, _)| *request);
    let of = |part: usize| part as f64 / count as f64;
    let by = |measure: Measure| back.iter().filter(|(_, of)| *of == measure).count();
    let why = |part: &str| held.iter().filter(|why| why.contains(part)).count();
    let median = back.get(back.len() / 2).map_or_else(|| "-".to_owned(), |(request, _)| request.to_string());
    println!(
        "{name:<24} share {:>3.0} %: back {:>6.2} % (CPU time {}, failures {}; median after {median}), passed {:>6.2} %, held {:>6.2} % \
         (slower {}, fails {}, unknown {}) of {count}",
        share * 100.0,
        of(back.len()) * 100.0,
        by(Measure::Cpu),
        by(Measure::Failures),
        of(passed) * 100.0,
        of(held.len()) * 100.0,
        why("longer"),
        why("fail,"),
        why("known"),
    );
    Shares { back: of(back.len()), passed: of(passed) }
}

#[test]
fn equal_versions_are_rarely_turned_back() {
    let sum: f64 = std::thread::scope(|scope| {
        let of = |share| scope.spawn(move || shares_of("equal", &Truth::default(), share).back);
        [0.05, 0.1, 0.25, 0.5].map(of).map(|thread| thread.join().unwrap()).iter().sum()
    });
    assert!(sum / 4.0 <= 0.01, "{sum}");
}

#[test]
fn equal_versions_are_rarely_turned_back_where_chance_decides_for_each_request() {
    let by_chance = Truth { stays: false, ..Truth::default() };
    let unnumbered = Truth { numbers: false, ..by_chance.clone() };
    let by_chance = shares_of("equal, by request", &by_chance, 0.25).back;
    // Without numbers nothing tells one visitor whose requests all fail from many; no mode of the gateway is without.
    let unnumbered = shares_of("equal, no visitors", &unnumbered, 0.25).back;
    assert!(by_chance <= 0.01 && unnumbered <= 0.02, "{by_chance}, {unnumbered}");
}

/// As far apart as processes of one version were on a machine of two cores with much else to do.
#[test]
fn equal_versions_stay_where_their_processes_differ_by_some_percent() {
    let apart = Truth { processes: 0.025, ..Truth::default() };
    let back = shares_of("equal, 2.5 % apart", &apart, 0.25).back;
    let found = shares_of("10 % more, 2.5 % apart", &Truth { cpu: 1.1, ..apart }, 0.25).back;
    assert!(back <= 0.02 && found >= 0.85, "{back}, {found}");
}

#[test]
fn a_tenth_more_cpu_time_is_found() {
    let slower = Truth { cpu: 1.1, ..Truth::default() };
    shares_of("10 % more CPU time", &slower, 0.05);
    shares_of("10 % more CPU time", &slower, 0.1);
    let found = shares_of("10 % more CPU time", &slower, 0.25).back;
    assert!(found >= 0.95, "{found}");
}

#[test]
fn one_failure_more_in_a_hundred_is_found() {
    let failing = Truth { fails: 0.01, ..Truth::default() };
    shares_of("1 % more failures", &failing, 0.05);
    shares_of("1 % more failures", &failing, 0.1);
    let found = shares_of("1 % more failures", &failing, 0.25).back;
    assert!(found >= 0.95, "{found}");
}

#[test]
fn a_version_that_fails_always_is_turned_back() {
    let failing = Truth { fails: 1.0, ..Truth::default() };
    for share in [0.05, 0.25] {
        let found = shares_of("all fail", &failing, share).back;
        assert!(found >= 1.0, "{found}");
    }
}

#[test]
fn failures_of_a_rare_class_are_found_or_hold_the_version() {
    // 2 % of the requests are of this class, so the margin of all requests is hardly reached.
    let failing = Truth { fails_in: Some((13, 0.15)), ..Truth::default() };
    let Shares { passed, .. } = shares_of("15 % of a rare class fail", &failing, 0.25);
    assert!(passed <= 0.05, "{passed}");
}

/// A request of a warm worker.
fn sample(arm: Arm, class: &str, visitor: u64, failed: bool) -> Sample<'_> {
    Sample {
        arm,
        class,
        visitor: Some(visitor),
        stays: true,
        nth: 1_000,
        nth_of_class: 1_000,
        cpu_us: None,
        service_us: None,
        failed,
    }
}

#[test]
fn one_visitor_whose_requests_all_fail_holds_the_version_and_many_turn_it_back() {
    let (mut one, mut many) = (Comparison::default(), Comparison::default());
    for at in 0..4_000_u64 {
        let arm = if at % 4 == 0 { Arm::Trial } else { Arm::Present };
        one.take(&sample(arm, "GET /", at, false));
        many.take(&sample(arm, "GET /", at, arm == Arm::Trial));
        if at % 4 == 1 {
            one.take(&sample(Arm::Trial, "GET /", 1_000_000, true));
        }
    }
    assert!(matches!(RULE.judge(&one, RULE.lasts), Ruling::Asks(why) if why.contains("fail")));
    let Ruling::Back(finding) = RULE.judge(&many, RULE.lasts) else { panic!("not turned back") };
    assert!(finding.measure == Measure::Failures && finding.change.is_some_and(|change| change.value > 0.9));
}

#[test]
fn four_failures_of_one_client_turn_nothing_back_where_both_versions_serve_it() {
    let mut comparison = Comparison::default();
    for at in 0..2_000_u64 {
        let arm = if at % 20 == 0 { Arm::Trial } else { Arm::Present };
        comparison.take(&Sample { stays: false, ..sample(arm, "GET /", at % 50, false) });
    }
    for _ in 0..4 {
        comparison.take(&Sample { stays: false, ..sample(Arm::Trial, "GET /", 7, true) });
    }
    assert!(comparison.findings().iter().all(|finding| finding.verdict != Verdict::Worse));
}

#[test]
fn nothing_passes_that_was_not_compared() {
    let judge = |requests: u64, warm: u64| {
        let mut comparison = Comparison::default();
        for at in 0..requests {
            for arm in [Arm::Present, Arm::Trial] {
                let nth = if arm == Arm::Present { 1_000 } else { at + 100 - warm };
                let timed = Sample { nth, cpu_us: Some(900 + at % 7 * 100), ..sample(arm, "GET /", at, false) };
                comparison.take(&timed);
            }
        }
        RULE.judge(&comparison, RULE.lasts)
    };
    let asks = |ruling: Ruling, part: &str| matches!(ruling, Ruling::Asks(why) if why.contains(part));
    assert!(asks(judge(250, 100), "150 of 200 requests have been compared"));
    assert_eq!(judge(4_000, 0), Ruling::Passes);
    // Times of the version on trial are missing altogether.
    let mut comparison = Comparison::default();
    for at in 0..4_000 {
        comparison.take(&Sample { cpu_us: Some(900), ..sample(Arm::Present, "GET /", at, false) });
        comparison.take(&sample(Arm::Trial, "GET /", at + 10_000, false));
    }
    assert!(asks(RULE.judge(&comparison, RULE.lasts), "too little is known of CPU time"));
    let asked = Rule { asks: true, ..RULE };
    assert!(asks(asked.judge(&comparison, RULE.lasts), "the time has passed"));
}

#[test]
fn longer_service_time_alone_asks_a_person() {
    let mut comparison = Comparison::default();
    for at in 0..4_000_u64 {
        let arm = if at % 4 == 0 { Arm::Trial } else { Arm::Present };
        let service_us = Some((1_000 + at % 7 * 100) * if arm == Arm::Trial { 2 } else { 1 });
        comparison.take(&Sample { service_us, cpu_us: Some(900), ..sample(arm, "GET /", at, false) });
    }
    let ruling = RULE.judge(&comparison, Duration::from_secs(1));
    assert!(matches!(&ruling, Ruling::Asks(why) if why.contains("service time")), "{ruling:?}");
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
        let new =
            Sample { cpu_us: Some(900_000), service_us: Some(900_000), ..sample(Arm::Trial, "GET /new", at, false) };
        comparison.take(&new);
    }
    assert_eq!(comparison.only_of(Arm::Trial), ["GET /new"]);
    assert!(comparison.findings().iter().all(|finding| finding.verdict != Verdict::Worse));
}
