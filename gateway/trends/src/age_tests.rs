use super::*;

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const MIB: u64 = 1 << 20;

fn needs(rss_mib: u64, files: u64) -> Needs {
    Needs { rss_bytes: rss_mib * MIB, heap_used_bytes: rss_mib * MIB / 2, files: Some(files) }
}

fn took(service_us: u64, handler_us: u64) -> Took {
    Took { service_us, cpu_us: Some(500), handler_us: Some(handler_us) }
}

fn lived(worker: u64, generation: u64, started_ms: u64) -> WorkerLife {
    WorkerLife { worker, place: u32::try_from(worker % 100).unwrap(), generation, started_ms }
}

/// Workers that start at these times; `each` is told worker and age every minute until the end.
fn live(ages: &mut Ages, generation: u64, starts: &[u64], until: u64, mut each: impl FnMut(&mut Ages, u64, u64, u64)) {
    let first = starts.iter().min().copied().unwrap_or(0);
    for now in (first..until).step_by(usize::try_from(MINUTE).unwrap()) {
        for (worker, started) in (1..).zip(starts.iter().copied()) {
            if now < started {
                continue;
            }
            if ages.wants(&lived(generation * 100 + worker, generation, started), now, HOUR) {
                each(ages, generation * 100 + worker, now, now - started);
            }
        }
        ages.grown(now, HOUR);
    }
}

fn figures(ages: &Ages) -> Vec<(Option<u32>, Figure)> {
    ages.grown.iter().map(|grown| (grown.class, grown.figure)).collect()
}

#[test]
fn time_outside_the_handler_that_grows_by_ten_ms_an_hour_is_told_after_an_hour() {
    let mut ages = Ages::default();
    live(&mut ages, 12, &[0, 7 * MINUTE], 70 * MINUTE, |ages, worker, now, age| {
        ages.needs(worker, now, &needs(100, 30));
        ages.request(worker, now, 1, &took(3_000 + age * 10_000 / HOUR, 2_000));
        ages.request(worker, now, 2, &took(3_000, 2_000));
    });
    assert_eq!(figures(&ages), [(Some(1), Figure::Outside), (Some(1), Figure::Service)]);
    let outside = &ages.grown[0];
    assert!((outside.per_hour - 10.0).abs() < 0.5, "{outside:?}");
    assert!(outside.from < 3.0 && outside.to > 9.0 && outside.since_generation == 12, "{outside:?}");
    // The next version grows as well, and the one after it does not.
    live(&mut ages, 13, &[70 * MINUTE], 150 * MINUTE, |ages, worker, now, age| {
        ages.request(worker, now, 1, &took(3_000 + age * 10_000 / HOUR, 2_000));
    });
    assert_eq!(ages.grown[0].since_generation, 12);
    live(&mut ages, 14, &[150 * MINUTE], 240 * MINUTE, |ages, worker, now, _| {
        ages.request(worker, now, 1, &took(3_000, 2_000));
    });
    assert_eq!(figures(&ages), []);
    live(&mut ages, 15, &[240 * MINUTE], 320 * MINUTE, |ages, worker, now, age| {
        ages.request(worker, now, 1, &took(3_000 + age * 10_000 / HOUR, 2_000));
    });
    assert_eq!(ages.grown[0].since_generation, 15);
}

#[test]
fn a_leak_is_told_and_memory_that_goes_up_and_down_is_not() {
    let mut ages = Ages::default();
    live(&mut ages, 1, &[0], 80 * MINUTE, |ages, worker, now, age| {
        // Sockets come and go, and the collector takes back all but the leak.
        let garbage = age / MINUTE % 3 * 30;
        ages.needs(worker, now, &needs(100 + garbage + age * 120 / HOUR, 30 + garbage));
    });
    assert_eq!(figures(&ages), [(None, Figure::Resident), (None, Figure::Heap)]);
    let resident = &ages.grown[0];
    assert!((resident.per_hour / 1024.0 / 1024.0 - 120.0).abs() < 20.0, "{resident:?}");
}

#[test]
fn a_worker_that_gets_no_requests_does_not_hide_what_another_leaks() {
    let mut ages = Ages::default();
    live(&mut ages, 1, &[0, 0, 0], 80 * MINUTE, |ages, worker, now, age| {
        let leak = if worker == 102 { age * 120 / HOUR } else { 0 };
        ages.needs(worker, now, &needs(if worker == 103 { 400 } else { 60 } + leak, 30));
    });
    assert_eq!(figures(&ages), [(None, Figure::Resident), (None, Figure::Heap)]);
    let resident = &ages.grown[0];
    assert!((resident.per_hour / 1024.0 / 1024.0 - 120.0).abs() < 20.0, "{resident:?}");
}

#[test]
fn a_young_generation_that_comes_to_be_used_is_no_leak() {
    let mut ages = Ages::default();
    live(&mut ages, 1, &[0], 80 * MINUTE, |ages, worker, now, age| {
        let heap_used_bytes = (10 + age * 15 / HOUR) * MIB;
        let needs = Needs { heap_used_bytes, ..needs(60 + age * 30 / HOUR, 30) };
        ages.needs(worker, now, &needs);
    });
    assert_eq!(figures(&ages), []);
}

#[test]
fn a_few_requests_in_older_workers_do_not_hide_that_the_class_grows() {
    let mut ages = Ages::default();
    // The class has moved to a worker of its own, and hardly a request of it comes to the older one, where it takes less.
    live(&mut ages, 1, &[0, 20 * MINUTE], 84 * MINUTE, |ages, worker, now, age| {
        let is_own = worker == 102;
        for _ in 0..if is_own { 50 } else { 1 } {
            ages.request(worker, now, 1, &took(if is_own { 3_000 + age * 20_000 / HOUR } else { 3_000 }, 1_000));
        }
    });
    assert_eq!(figures(&ages), [(Some(1), Figure::Outside), (Some(1), Figure::Service)]);
}

#[test]
fn files_that_are_never_closed_are_told() {
    let mut ages = Ages::default();
    live(&mut ages, 1, &[0], 80 * MINUTE, |ages, worker, now, age| {
        ages.needs(worker, now, &needs(100, 30 + age / MINUTE));
    });
    assert_eq!(figures(&ages), [(None, Figure::Files)]);
}

#[test]
fn workers_that_are_replaced_again_and_again_hide_nothing() {
    let mut ages = Ages::default();
    let starts: Vec<u64> = (0..4).map(|worker| worker * 61 * MINUTE).collect();
    for (worker, started) in (1..).zip(starts) {
        live(&mut ages, 1, &[started], started + 61 * MINUTE, |ages, _, now, age| {
            ages.request(101, now, 1, &took(3_000 + age * 10_000 / HOUR, 2_000));
        });
        ages.gone(101);
        assert_eq!(figures(&ages).is_empty(), worker == 0, "after worker {worker}");
    }
}

#[test]
fn more_requests_explain_that_each_takes_longer() {
    let mut ages = Ages::default();
    live(&mut ages, 1, &[0], 80 * MINUTE, |ages, worker, now, age| {
        ages.needs(worker, now, &needs(100, 30));
        for _ in 0..=age / MINUTE {
            ages.request(worker, now, 1, &took(3_000 + age * 10_000 / HOUR, 2_000));
        }
    });
    assert_eq!(figures(&ages), []);
}

#[test]
fn what_takes_long_for_the_first_minutes_alone_is_no_growth() {
    let mut ages = Ages::default();
    live(&mut ages, 1, &[0], 5 * HOUR, |ages, worker, now, age| {
        let warm = 200 * (age.min(20 * MINUTE)) / HOUR;
        ages.needs(worker, now, &needs(100 + warm, 30));
        ages.request(worker, now, 1, &took(20_000u64.saturating_sub(age / 100).max(3_000), 1_000));
    });
    assert_eq!(figures(&ages), []);
}

#[test]
fn days_fit_in_the_same_windows() {
    let mut ages = Ages::default();
    live(&mut ages, 1, &[0], 72 * HOUR, |ages, worker, now, age| {
        ages.needs(worker, now, &needs(100 + 2 * age / HOUR, 30));
    });
    assert!(ages.series.values().all(|windows| windows.len() <= WINDOWS_MAX), "{}", ages.width_ms);
    assert_eq!(figures(&ages), [(None, Figure::Resident), (None, Figure::Heap)]);
}

#[test]
fn nothing_is_kept_of_what_is_not_judged_or_gone() {
    let mut ages = Ages::default();
    live(&mut ages, 1, &[0], 70 * MINUTE, |ages, worker, now, age| {
        ages.request(worker, now, 1, &took(3_000 + age * 10_000 / HOUR, 2_000));
    });
    ages.forget_class(1);
    assert!(ages.grown.is_empty() && ages.series.keys().all(|(of, _)| of.class().is_none()));
    assert!(!ages.wants(&lived(101, 1, 0), 71 * MINUTE, 0));
    assert!(ages.series.is_empty() && ages.workers.is_empty());
}
