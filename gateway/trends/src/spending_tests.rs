use super::*;

const MINUTE: u64 = 60_000;

fn ended(cpu_us: Option<u64>, service_us: u64) -> RequestCost<'static> {
    RequestCost { cpu_us, service_us, runs: &[1, 0, 2], failed: false }
}

fn near(found: f64, wanted: f64) -> bool {
    (found - wanted).abs() <= wanted * 0.13
}

/// A request each second, and a worker of 200 MB.
fn serve(spending: &mut Spending, from_ms: u64, minutes: u64, generation: u64, cpu_us: u64) {
    for second in 0..minutes * 60 {
        let now_ms = from_ms + second * 1000;
        spending.held(now_ms, generation, generation, 200_000_000);
        spending.request(now_ms, generation, &Rc::from("GET /search"), &ended(Some(cpu_us), cpu_us * 2));
        spending.request(now_ms, generation, &Rc::from("GET /"), &ended(None, 10_000));
    }
}

fn class<'a>(side: &'a ReportSide, name: &str) -> &'a SpentSnapshot {
    side.classes.iter().find(|spent| spent.class == name).unwrap()
}

#[test]
fn versions_are_compared_by_what_a_thousand_requests_took() {
    let mut spending = Spending::default();
    serve(&mut spending, 0, 30, 1, 10_000);
    serve(&mut spending, 30 * MINUTE, 20, 2, 30_000);
    let ReportSnapshot { before, after, kept_since_ms, .. } = spending.report(None);
    let (before, after) = (before.unwrap(), after.unwrap());
    assert_eq!(
        (kept_since_ms, before.generations.as_slice(), after.generations.as_slice()),
        (Some(0), &[1][..], &[2][..])
    );
    assert_eq!((before.all.requests, after.all.requests), (3600, 2400));
    let (was, is) = (class(&before, "GET /search"), class(&after, "GET /search"));
    assert_eq!((was.cpu_s_per_1000, is.cpu_s_per_1000), (Some(10.0), Some(30.0)));
    assert_eq!(class(&after, "GET /").cpu_s_per_1000, None, "nothing is made up");
    assert_eq!(is.runs, [1200, 0, 2400, 0]);
    assert!(near(is.service_p50_ms, 60.0) && near(is.service_p99_ms, 60.0), "{is:?}");
    // A worker of 0.2 GB for as many seconds as there were requests of each class: 0.2 GB·s for two requests.
    assert!(near(after.all.memory_gb_s_per_1000, 100.0), "{after:?}");
    assert!(near(is.memory_gb_s_per_1000, 200.0 * 60.0 / 70.0), "{is:?}");
}

#[test]
fn a_time_is_compared_with_as_long_a_time_before_it() {
    let mut spending = Spending::default();
    serve(&mut spending, 0, 120, 1, 10_000);
    serve(&mut spending, 120 * MINUTE, 30, 1, 20_000);
    let ReportSnapshot { before, after, .. } = spending.report(Some(Since::Time(120 * MINUTE)));
    let (before, after) = (before.unwrap(), after.unwrap());
    assert_eq!((before.from_ms, before.until_ms / MINUTE, after.from_ms), (90 * MINUTE, 119, 120 * MINUTE));
    // What was put together is all there.
    let whole = spending.report(None).after.unwrap();
    assert_eq!((whole.all.requests, class(&whole, "GET /search").requests), (2 * 150 * 60, 150 * 60));
    assert!(spending.periods.len() < 60, "{}", spending.periods.len());
    assert_eq!(class(&before, "GET /search").cpu_s_per_1000, Some(10.0));
    assert_eq!(class(&after, "GET /search").cpu_s_per_1000, Some(20.0));
}

#[test]
fn the_last_seconds_are_those_of_the_last_minute_or_two() {
    let mut spending = Spending::default();
    serve(&mut spending, 0, 9, 1, 10_000);
    for ago_s in [1, 10, 45, 60, 90] {
        let since_ms = 9 * MINUTE - ago_s * 1000;
        let ReportSnapshot { before, after, .. } = spending.report(Some(Since::Time(since_ms)));
        let (before, after) = (before.unwrap(), after.unwrap());
        assert!(after.from_ms.abs_diff(since_ms) <= MINUTE && after.all.requests > 0, "{ago_s}: {after:?}");
        assert!(before.until_ms < after.from_ms && before.all.requests <= after.all.requests + 120, "{ago_s}");
    }
    assert_eq!(spending.report(Some(Since::Time(20 * MINUTE))).after, None);
}

#[test]
fn nothing_is_made_up_for_a_version_without_requests() {
    let mut spending = Spending::default();
    spending.held(0, 1, 1, 200_000_000);
    spending.held(1000, 1, 1, 200_000_000);
    let after = spending.report(None).after.unwrap();
    assert!(after.all.requests == 0 && after.all.memory_gb_s_per_1000 == 0.0 && after.classes.is_empty(), "{after:?}");
}

#[test]
fn workers_of_two_versions_beside_each_other_are_kept_apart() {
    let mut spending = Spending::default();
    serve(&mut spending, 0, 5, 1, 10_000);
    for second in 300..360 {
        spending.request(second * 1000, 2, &Rc::from("GET /search"), &ended(Some(20_000), 20_000));
        spending.request(second * 1000, 1, &Rc::from("GET /search"), &ended(Some(10_000), 10_000));
    }
    let ReportSnapshot { before, after, .. } = spending.report(Some(Since::Generation(2)));
    assert_eq!(class(&before.unwrap(), "GET /search").cpu_s_per_1000, Some(10.0));
    assert_eq!(class(&after.unwrap(), "GET /search").cpu_s_per_1000, Some(20.0));
}

#[test]
fn what_is_kept_has_a_bound() {
    let mut spending = Spending::default();
    assert_eq!(spending.report(None), ReportSnapshot::default());
    for hour in 0..100 {
        for class in 0..150 {
            spending.request(hour * 60 * MINUTE, 1, &Rc::from(format!("GET /{class}")), &ended(Some(1000), 1000));
        }
    }
    for worker in 0..1000 {
        spending.held(1, 1, worker, 1);
        spending.gone(worker);
    }
    assert!(spending.periods.len() <= PERIODS_MAX && spending.heard.is_empty());
    let side = spending.report(None).after.unwrap();
    assert_eq!(side.classes.len(), CLASSES_MAX + 1);
    assert_eq!(class(&side, CLASS_OTHER).requests, 100 * 50);
}

#[test]
fn parts_of_a_span_have_all_of_its_cpu_time_whatever_was_put_together() {
    let mut spending = Spending::default();
    for minute in 0..90 {
        for request in 0..minute {
            let at_ms = minute * MINUTE + request * 100;
            spending.request(at_ms, 1, &Rc::from("GET /"), &ended(Some(1_000 + minute), 2_000));
            let cpu_us = request.is_multiple_of(2).then_some(500);
            spending.request(at_ms, 1, &Rc::from("GET /half"), &ended(cpu_us, 2_000));
        }
        let side = spending.report(Some(Since::Generation(1))).after;
        for spent in side.iter().flat_map(|side| &side.classes) {
            let [count, us] = spent.parts.iter().fold([0, 0], |[count, us], part| [count + part[0], us + part[1]]);
            let expected = spent.cpu_s_per_1000.unwrap() * 1_000.0;
            #[allow(clippy::cast_precision_loss)] // Small.
            let mean_us = us as f64 / count as f64;
            assert!((mean_us - expected).abs() < 1e-6, "{minute}: {spent:?}");
            assert!(spent.parts.len() <= TOLD_PARTS_MAX, "{spent:?}");
        }
    }
    let side = spending.report(None).after.unwrap();
    let parts: Vec<_> = side.classes.iter().map(|spent| spent.parts.len()).collect();
    assert_eq!(parts, [TOLD_PARTS_MAX; 2]);
    // In the order of time, so the later ones have the dearer requests.
    let of_part = |at: usize| class(&side, "GET /").parts[at];
    let ([count, us], [last_count, last_us]) = (of_part(0), of_part(TOLD_PARTS_MAX - 1));
    assert!(us * last_count < last_us * count, "{side:?}");
}

#[test]
fn few_seconds_have_parts_of_requests_too() {
    let mut spending = Spending::default();
    for request in 0..300 {
        spending.request(request * 5, 1, &Rc::from("GET /"), &ended(Some(1_000), 2_000));
    }
    let side = spending.report(None).after.unwrap();
    let parts = &class(&side, "GET /").parts;
    assert!((6..=PARTS).contains(&parts.len()) && parts.iter().all(|part| part[0] <= 64), "{parts:?}");
    assert!(class(&side, "GET /").parts.iter().all(|[count, us]| *us == count * 1_000));
}

#[test]
fn parts_of_two_versions_tell_times_failures_and_holes_of_each() {
    let mut spending = Spending::default();
    serve(&mut spending, 0, 30, 1, 10_000);
    assert_eq!(spending.parts(), None, "there is no version before");
    for second in 0..600 {
        let now_ms = 30 * MINUTE + second * 1000;
        let failed = RequestCost { failed: second % 10 == 0, ..ended(None, 30_000) };
        spending.request(now_ms, 2, &Rc::from("GET /"), &failed);
        spending.rendered(now_ms, 2, "Price", 20, 1);
    }
    spending.rendered(31 * MINUTE, 2, "Price", 3, u64::MAX);
    spending.rendered(31 * MINUTE, 2, "Ad", 1, 0);
    let [before, after] = spending.parts().unwrap();
    let total = |parts: &[[u64; 2]]| parts.iter().fold([0, 0], |all, of| [all[0] + of[0], all[1] + of[1]]);
    assert!(before.holes.is_empty());
    assert_eq!((total(&after.holes["Price"]), total(&after.holes["Ad"])), ([12_003, 603], [1, 0]));
    assert_eq!(total(&before.classes["GET /"].service), [1800, 18_000_000]);
    assert_eq!(total(&before.classes["GET /search"].failures), [1800, 0]);
    assert_eq!(total(&after.classes["GET /"].failures), [600, 60]);
    assert_eq!(total(&after.classes["GET /"].service), [540, 540 * 30_000], "the time of an error says nothing");
    assert_eq!((before.classes["GET /"].failures.len(), after.holes["Ad"].len()), (TOLD_PARTS_MAX, TOLD_PARTS_MAX));
}

#[test]
fn i6_components_are_bounded_and_the_rest_counts_together() {
    let mut spending = Spending::default();
    for generation in [1, 2] {
        spending.request(0, generation, &Rc::from("GET /"), &ended(None, 1));
        for number in 0..1_000 {
            spending.rendered(0, generation, &format!("C{number:0200}"), 1, 1);
            spending.rendered(0, generation, &format!("C{number}"), 1, 1);
        }
    }
    let [before, after] = spending.parts().unwrap();
    assert_eq!(before, after);
    assert!(
        after.holes.len() <= COMPONENTS_MAX + 1 && after.holes.keys().all(|name| name.len() <= COMPONENT_CHARS_MAX)
    );
    assert_eq!(after.holes.values().flatten().map(|part| part[0]).sum::<u64>(), 2_000);
}
