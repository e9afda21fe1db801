//! Counting, and that a client cannot take all labels.

use super::*;
use crate::event::tests_support::record;

fn page(counters: &Counters) -> String {
    let mut page = Page::default();
    counters.write(&mut page);
    page.into_text()
}

fn counts(text: &str) -> Vec<u64> {
    text.lines()
        .filter(|line| line.starts_with("sluice_requests_total{"))
        .map(|line| line.rsplit(' ').next().unwrap().parse().unwrap())
        .collect()
}

#[test]
fn classes_stay_bounded_and_no_request_is_lost() {
    let mut counters = Counters::new();
    for number in 0..5000_u16 {
        let class = format!("GET /{number}");
        for outcome in [Outcome::Answered, Outcome::Shed] {
            counters.count(&Event::Access(AccessRecord { class: &class, outcome, ..record() }));
        }
    }
    let text = page(&counters);
    let counts = counts(&text);
    assert_eq!(counts.len(), 2 * (AT_ONCE_MAX + 1));
    assert_eq!(counts.iter().sum::<u64>(), 10_000);
    assert!(text.contains("{class=\"other\",status=\"200\",outcome=\"shed\"} 4950"), "{text}");
}

#[test]
fn i6_made_up_classes_leave_places_for_routes_and_for_what_comes_often() {
    let mut counters = Counters::new();
    counters.reserve("checkout");
    let mut ask = |class: &str, status| counters.count(&Event::Access(AccessRecord { class, status, ..record() }));
    for number in 0..5_000_u16 {
        ask(&format!("GET /{number}"), 200);
        ask(&format!("GET /{}", number % 50), 200 + number / 50 % 20);
        if number >= 100 && number % 10 == 0 {
            ask("GET /real", 200);
        }
    }
    ask("checkout", 200);
    assert_eq!(counters.classes.len(), AT_ONCE_MAX + 3, "other, checkout and /real");
    let text = page(&counters);
    assert!(text.contains("{class=\"checkout\",status=\"200\",outcome=\"answered\"} 1\n"), "{text}");
    let real = text.lines().find(|line| line.contains("\"GET /real\"")).map(counts);
    assert!(matches!(real.as_deref(), Some([450..490])), "all but those before it was known: {real:?}");
}

#[test]
fn i6_frequent_classes_are_bounded_too() {
    let mut counters = Counters::new();
    for number in 0..10_000_u16 {
        let class = format!("GET /{}", number / 25);
        counters.count(&Event::Access(AccessRecord { class: &class, ..record() }));
    }
    counters.reserve("late");
    assert_eq!(counters.classes.len(), CLASSES_MAX);
    assert_eq!(counts(&page(&counters)).iter().sum::<u64>(), 10_000);
}

#[test]
fn label_sets_stay_bounded_whatever_the_statuses() {
    let mut counters = Counters::new();
    for class in ["a", "b", ""] {
        for status in 100..600 {
            counters.count(&Event::Access(AccessRecord { class, status, ..record() }));
        }
    }
    let counts = counts(&page(&counters));
    assert_eq!(counts.len(), LABEL_SETS_MAX + OTHER_SETS_MAX);
    assert_eq!(counts.iter().sum::<u64>(), 1500);
}

#[test]
fn a_class_that_is_called_other_counts_once() {
    let mut counters = Counters::new();
    counters.count(&Event::Access(AccessRecord { class: CLASS_OTHER, ..record() }));
    counters.count(&Event::Access(AccessRecord { class: "", ..record() }));
    assert!(page(&counters).contains("{class=\"other\",status=\"200\",outcome=\"answered\"} 2"));
}

#[test]
fn steps_are_counted_by_class_within_the_bound_of_classes() {
    let mut counters = Counters::new();
    for number in 0..300 {
        let class = format!("GET /{number}");
        for step in [None, Some(Step::Render), Some(Step::Refuse), Some(Step::Refuse)] {
            counters.count(&Event::Access(AccessRecord { class: &class, step, ..record() }));
        }
    }
    assert_eq!(Step::ALL.map(|step| counters.step_total(step)), [300, 0, 0, 600]);
    let text = page(&counters);
    assert_eq!(
        text.lines().filter(|line| line.starts_with("sluice_ladder_steps_total{")).count(),
        2 * (AT_ONCE_MAX + 1)
    );
    assert!(text.contains("sluice_ladder_steps_total{class=\"GET /7\",step=\"refuse\"} 2\n"), "{text}");
}

#[test]
fn refusals_count_as_errors_and_as_shed() {
    let mut counters = Counters::new();
    for code in [Code::QueueFull, Code::QueueFull, Code::WorkerDied] {
        counters.count(&Event::Access(AccessRecord { error: Some(code), ..record() }));
    }
    let text = page(&counters);
    assert!(text.contains("sluice_errors_total{code=\"SLU-QUEUE-FULL\"} 2"));
    assert!(text.contains("sluice_errors_total{code=\"SLU-WORKER-DIED\"} 1"));
    assert!(text.contains("sluice_shed_total{code=\"SLU-QUEUE-FULL\"} 2"));
    assert!(!text.contains("sluice_shed_total{code=\"SLU-WORKER-DIED\"}"));
}

#[test]
fn i6_times_by_class_have_a_set_for_each_class_with_a_place_and_no_other() {
    let mut counters = Counters::new();
    for number in 0..5_000_u16 {
        let class = format!("GET /{number}");
        counters.count(&Event::Access(AccessRecord { class: &class, service_ms: Some(30.0), ..record() }));
    }
    let refused = AccessRecord { class: "GET /0", queue_ms: None, service_ms: None, ..record() };
    counters.count(&Event::Access(refused));
    let text = page(&counters);
    let samples: Vec<&str> =
        text.lines().filter(|line| line.starts_with("sluice_class_service_time_seconds")).collect();
    let per_class = metrics::CLASS_BUCKETS_SECONDS.len() + 3;
    assert_eq!(samples.len(), per_class * (AT_ONCE_MAX + 1));
    assert!(samples.contains(&"sluice_class_service_time_seconds_bucket{class=\"GET /0\",le=\"0.025\"} 0"));
    assert!(samples.contains(&"sluice_class_service_time_seconds_bucket{class=\"GET /0\",le=\"0.1\"} 1"));
    assert!(samples.contains(&"sluice_class_service_time_seconds_sum{class=\"GET /0\"} 0.03"));
    assert!(samples.contains(&"sluice_class_service_time_seconds_count{class=\"other\"} 4950"));
}

#[test]
fn a_measured_request_counts_for_those_that_its_cpu_time_stands_for() {
    let mut counters = Counters::new();
    for (cpu_ms, cpu_weight) in [(Some(0.5), 16), (Some(9.0), 0), (None, 1), (Some(2.0), 1)] {
        counters.count(&Event::Access(AccessRecord { class: "GET /light", cpu_ms, cpu_weight, ..record() }));
    }
    let text = page(&counters);
    assert!(text.contains("sluice_request_cpu_seconds_count 17\n"), "{text}");
    assert!(text.contains("sluice_request_cpu_seconds_sum 0.01\n"), "{text}");
    assert!(text.contains("sluice_class_cpu_seconds_total{class=\"GET /light\"} 0.01\n"), "{text}");
}
