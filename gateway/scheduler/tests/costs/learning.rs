//! What a class is expected to cost, from its first report on.

use crate::support::{Dice, Traffic, seeds};
use sluice_scheduler::{ClassId, Costs, SavedCosts, Time};

const CLASS: ClassId = ClassId(1);
const NEW: ClassId = ClassId(7);

fn record(costs: &mut Costs, class: ClassId, times: u32, cost_us: u64) {
    (0..times).for_each(|_| costs.record(Time(0), class, cost_us));
}

fn within(value: u64, expected: u64, part: f64) -> bool {
    value.abs_diff(expected) as f64 <= expected as f64 * part
}

#[test]
fn a_class_is_expected_at_its_mean_after_a_hundred_requests() {
    for seed in seeds() {
        let mut dice = Dice::new(seed);
        let mut costs = Costs::default();
        for _ in 0..100 {
            costs.record(Time(0), CLASS, dice.around(20_000.0, 0.5));
        }
        assert!(costs.is_known(CLASS));
        assert!(within(costs.expected_us(CLASS), 20_000, 0.1), "seed {seed}: {}", costs.expected_us(CLASS));
        let median = costs.quantile_us(CLASS, 0.5).unwrap();
        assert!(within(median, 20_000, 0.2), "seed {seed}: {median}");
        assert!(costs.quantile_us(CLASS, 0.95).unwrap() > median);
    }
}

#[test]
fn a_class_of_one_cost_is_expected_within_a_quarter_after_ten_reports_from_either_side() {
    for (others, own) in [(5_000, 100_000), (100_000, 5_000)] {
        let mut costs = Costs::default();
        record(&mut costs, CLASS, 1_000, others);
        record(&mut costs, NEW, 10, own);
        let expected = costs.expected_us(NEW);
        assert!(!costs.is_known(NEW) && expected.max(own) < 2 * expected.min(own), "{expected} for {own}");
        record(&mut costs, NEW, 10, own);
        assert!(costs.is_known(NEW) && within(costs.expected_us(NEW), own, 0.01));
    }
}

#[test]
fn a_new_class_is_expected_between_the_short_and_the_long() {
    for seed in seeds() {
        let mut traffic = Traffic::new(seed);
        traffic.run(2_000, &[(90.0, 5.0), (10.0, 100.0)], |_, _| {});
        let guess = traffic.costs.expected_us(NEW);
        assert!((7_000..50_000).contains(&guess), "seed {seed}: {guess}");
        assert!(!traffic.costs.is_known(NEW) && traffic.costs.is_long(NEW));
    }
    assert!(!Costs::default().is_long(NEW), "without a cut nothing is long");
}

#[test]
fn a_class_that_changes_is_followed_within_its_memory() {
    let mut costs = Costs::default();
    record(&mut costs, CLASS, 5_000, 100_000);
    record(&mut costs, CLASS, 500, 10_000);
    assert!(within(costs.expected_us(CLASS), 10_000, 0.1), "{}", costs.expected_us(CLASS));
}

#[test]
fn a_drift_is_seen_while_it_is_new_and_noise_is_none() {
    for seed in seeds() {
        let mut dice = Dice::new(seed);
        let mut costs = Costs::default();
        let mut noisy = |costs: &mut Costs, mean_us: f64| {
            // A tenth of the requests cost ten times as much.
            let factor = if dice.part() < 0.1 { 10.0 } else { 1.0 };
            costs.record(Time(0), CLASS, dice.around(mean_us * factor, 0.3));
        };
        for _ in 0..999 {
            noisy(&mut costs, 5_000.0);
        }
        assert_eq!(costs.drift(CLASS), None, "no long term yet");
        for _ in 0..20_000 {
            noisy(&mut costs, 5_000.0);
            let drift = costs.drift(CLASS).unwrap();
            assert!((0.6..1.6).contains(&drift), "seed {seed}: {drift}");
        }
        for _ in 0..1_000 {
            noisy(&mut costs, 15_000.0);
        }
        assert!(costs.drift(CLASS).unwrap() > 1.6, "seed {seed}");
        for _ in 0..20_000 {
            noisy(&mut costs, 15_000.0);
        }
        assert!(costs.drift(CLASS).unwrap() < 1.6, "seed {seed}: what lasts is no drift");
    }
}

#[test]
fn what_was_saved_is_known_at_once_and_soon_outweighed() {
    let mut before = Costs::default();
    record(&mut before, CLASS, 10_000, 40_000);
    let saved = before.export(CLASS).unwrap();
    let mut after = Costs::default();
    after.restore(CLASS, &saved);
    assert!(after.is_known(CLASS) && after.expected_us(CLASS) == 40_000);
    assert_eq!(after.quantile_us(CLASS, 0.5), before.quantile_us(CLASS, 0.5));
    record(&mut after, CLASS, 100, 4_000);
    assert!(after.expected_us(CLASS) < 14_000, "{}", after.expected_us(CLASS));
    assert_eq!(before.export(NEW), None);
}

#[test]
fn i8_an_impossible_saved_row_is_ignored() {
    let good = SavedCosts {
        records: 50,
        mean_us: 5.0,
        mean_square: 30.0,
        long_mean_us: 5.0,
        buckets: vec![(255, u16::MAX), (3, u16::MAX)],
    };
    for bad in [
        SavedCosts { records: 0, ..good.clone() },
        SavedCosts { mean_us: f64::NAN, ..good.clone() },
        SavedCosts { mean_us: -1.0, ..good.clone() },
        SavedCosts { mean_square: f64::INFINITY, ..good.clone() },
        SavedCosts { long_mean_us: 0.0, ..good.clone() },
    ] {
        let mut costs = Costs::default();
        costs.restore(CLASS, &bad);
        assert_eq!(costs.records(CLASS), 0, "{bad:?}");
    }
    let mut costs = Costs::default();
    costs.restore(CLASS, &good);
    assert!(costs.is_known(CLASS) && costs.quantile_us(CLASS, 1.0).is_some());
}

#[test]
fn a_number_that_is_given_to_another_class_starts_anew() {
    let mut costs = Costs::default();
    record(&mut costs, CLASS, 100, 50_000);
    costs.arrived(Time(0), CLASS);
    costs.forget(CLASS);
    assert_eq!((costs.records(CLASS), costs.share_of_arrivals(CLASS)), (0, 0.0));
}

#[test]
fn i6_numbers_beyond_the_table_share_one_row() {
    let mut costs = Costs::default();
    for number in 0..=u16::MAX {
        costs.record(Time(0), ClassId(number), 1_000);
        costs.arrived(Time(u64::from(number)), ClassId(number));
    }
    assert_eq!(costs.records(ClassId(u16::MAX)), costs.records(ClassId::OTHER));
    assert!(costs.records(ClassId::OTHER) > 60_000);
}

#[test]
fn i8_any_cost_is_accepted() {
    let mut costs = Costs::default();
    for cost_us in [0, 1, u64::MAX, 1 << 40, 15, 16, 17] {
        for _ in 0..30 {
            costs.arrived(Time(u64::MAX), CLASS);
            costs.record(Time(u64::MAX), CLASS, cost_us);
        }
        assert!(costs.expected_us(CLASS) > 0 && costs.mean_us().is_some());
    }
}

#[test]
fn a_class_is_light_once_nearly_all_of_many_reports_were_and_until_it_is_doubted() {
    let mut costs = Costs::default();
    record(&mut costs, CLASS, 59, 150);
    assert!(!costs.is_light(CLASS, 1_500), "too few reports");
    record(&mut costs, CLASS, 1, 150);
    assert!(costs.is_light(CLASS, 1_500) && !costs.is_light(NEW, 1_500));
    costs.doubt(CLASS);
    record(&mut costs, CLASS, 59, 150);
    assert!(!costs.is_light(CLASS, 1_500), "a request took long without a report that teaches");
    record(&mut costs, CLASS, 1, 150);
    assert!(costs.is_light(CLASS, 1_500));
    record(&mut costs, CLASS, 20, 9_000);
    assert!(!costs.is_light(CLASS, 1_500), "more than one of a hundred takes long");
}

#[test]
fn a_drift_is_over_the_requests_that_a_sample_stands_for() {
    let mut costs = Costs::default();
    for _ in 0..70 {
        record(&mut costs, CLASS, 1, 150);
        costs.repeat(CLASS, 150, 15);
    }
    assert!(costs.drift(CLASS).is_some_and(|drift| (drift - 1.0).abs() < 0.01), "70 reports of 1,120 requests");
    assert_eq!(costs.records(CLASS), 70);
    record(&mut costs, CLASS, 300, 15_000);
    assert!(costs.drift(CLASS).is_some_and(|drift| drift > 2.0), "{:?}", costs.drift(CLASS));
}
