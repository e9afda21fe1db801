//! Where the cut lies for traffic of several shapes.

use crate::support::{Traffic, seeds};
use sluice_scheduler::{ClassId, Uncut};

fn cut_of(seed: u64, classes: &[(f64, f64)]) -> Option<f64> {
    let mut traffic = Traffic::new(seed);
    traffic.run(4_000, classes, |_, _| {});
    traffic.cut_ms()
}

#[test]
fn ninety_short_and_ten_long_are_cut_between() {
    for seed in seeds() {
        let cut = cut_of(seed, &[(90.0, 5.0), (10.0, 100.0)]).expect("two kinds");
        assert!((8.0..60.0).contains(&cut), "seed {seed}: {cut}");
    }
}

#[test]
fn traffic_of_a_kind_has_no_cut() {
    for seed in seeds() {
        for classes in [
            &[(1.0, 5.0)][..],
            &[(1.0, 100.0)],
            &[(1.0, 5.0), (1.0, 7.0), (1.0, 4.0), (1.0, 9.0)],
            &[(1.0, 100.0), (1.0, 130.0), (1.0, 80.0)],
            // Health checks among pages: nobody gains from a lane for them.
            &[(2.0, 1.0), (98.0, 4.0)],
        ] {
            assert_eq!(cut_of(seed, classes), None, "seed {seed}, {classes:?}");
        }
    }
}

#[test]
fn the_reason_for_no_cut_is_told() {
    let reason = |requests, classes: &[(f64, f64)]| {
        let mut traffic = Traffic::new(1);
        traffic.run(requests, classes, |_, _| {});
        traffic.costs.uncut()
    };
    assert_eq!(reason(5, &[(1.0, 5.0)]), Some(Uncut::TooFew));
    assert_eq!(reason(4_000, &[(1.0, 5.0)]), Some(Uncut::Alike), "a class");
    assert_eq!(reason(4_000, &[(1.0, 5.0), (1.0, 9.0)]), Some(Uncut::Alike), "two that cost alike");
    assert_eq!(reason(40_000, &[(300.0, 5.0), (1.0, 20.0)]), Some(Uncut::Rare));
    assert_eq!(reason(4_000, &[(2.0, 1.0), (98.0, 4.0)]), Some(Uncut::NoGain), "health checks among pages");
    assert_eq!(reason(4_000, &[(90.0, 5.0), (10.0, 100.0)]), None, "there is a cut");
}

#[test]
fn half_and_half_are_cut_between_and_so_are_a_few_short_among_many_long() {
    for seed in seeds() {
        for classes in [&[(50.0, 5.0), (50.0, 100.0)], &[(4.0, 5.0), (96.0, 100.0)]] {
            let cut = cut_of(seed, classes).expect("two kinds");
            assert!((8.0..60.0).contains(&cut), "seed {seed}: {cut}");
        }
    }
}

/// As a shop has it: many light pages, some heavier, and rarely one of a second that takes a tenth of all CPU time.
const SHOP: &[(f64, f64)] = &[(500.0, 2.0), (300.0, 8.0), (200.0, 14.0), (0.8, 1_000.0)];

#[test]
fn rare_renders_of_a_second_are_cut_off_from_everything_else() {
    for seed in seeds() {
        let mut traffic = Traffic::new(seed);
        // They are so rare that they need a while to be known.
        traffic.run(40_000, SHOP, |_, _| {});
        let cut = traffic.cut_ms().expect("two kinds");
        assert!((20.0..700.0).contains(&cut), "seed {seed}: {cut}");
        assert!(!traffic.costs.is_long(ClassId(3)) && traffic.costs.is_long(ClassId(4)), "seed {seed}");
    }
}

#[test]
fn the_cut_is_there_after_a_hundred_requests_of_each_class() {
    for seed in seeds() {
        let mut traffic = Traffic::new(seed);
        let mut first_cut = None;
        traffic.run(4_000, &[(90.0, 5.0), (10.0, 100.0)], |number, costs| {
            if costs.cut_us().is_some() && first_cut.is_none() {
                first_cut = Some(number);
            }
        });
        // A hundred of the rarer class are a thousand of both.
        assert!(first_cut.is_some_and(|number| number < 1_000), "seed {seed}: {first_cut:?}");
    }
}

#[test]
fn the_cut_stays_while_the_traffic_does() {
    for seed in seeds() {
        let mut traffic = Traffic::new(seed);
        traffic.run(2_000, &[(90.0, 5.0), (10.0, 100.0)], |_, _| {});
        let mut sides = None;
        let mut changes = 0;
        traffic.run(50_000, &[(90.0, 5.0), (10.0, 100.0)], |_, costs| {
            let now = Some((costs.is_long(ClassId(1)), costs.is_long(ClassId(2)), costs.cut_us().is_some()));
            changes += u32::from(sides.is_some() && sides != now);
            sides = now;
        });
        assert_eq!((changes, sides), (0, Some((false, true, true))), "seed {seed}");
    }
}

#[test]
fn the_cut_follows_a_slow_drift_without_a_class_changing_sides() {
    for seed in seeds() {
        let mut traffic = Traffic::new(seed);
        traffic.run(2_000, &[(90.0, 5.0), (10.0, 100.0)], |_, _| {});
        for step in 0..60_u32 {
            let grown = 1.05_f64.powi(step.try_into().unwrap());
            traffic.run(1_000, &[(90.0, 5.0 * grown), (10.0, 100.0 * grown)], |_, costs| {
                assert!(!costs.is_long(ClassId(1)) && costs.is_long(ClassId(2)), "seed {seed}, step {step}");
            });
        }
        let cut = traffic.cut_ms().unwrap();
        assert!((130.0..1_500.0).contains(&cut), "seed {seed}: {cut}");
    }
}

#[test]
fn the_cut_goes_when_one_kind_stops_coming_and_only_minutes_later() {
    for seed in seeds() {
        let mut traffic = Traffic::new(seed);
        traffic.run(4_000, &[(90.0, 5.0), (10.0, 100.0)], |_, _| {});
        traffic.run(2_000, &[(1.0, 5.0)], |_, costs| assert!(costs.cut_us().is_some(), "seed {seed}: gone too soon"));
        traffic.run(80_000, &[(1.0, 5.0)], |_, _| {});
        assert_eq!(traffic.cut_ms(), None, "seed {seed}");
    }
}
