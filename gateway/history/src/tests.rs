use serde_json::json;

use super::*;

const DAY_S: u64 = 24 * 3600;
/// A whole number of minutes.
const EPOCH_MS: u64 = 1_800_000_000_000;

fn snapshot(workers: &[(u64, f64)]) -> Snapshot {
    let worker = |(id, cpu_ms): &(u64, f64)| {
        json!({
            "id": id, "instance": 0, "pid": 4711, "state": "busy", "age_s": 1.0, "rss_bytes": 1000, "requests_total": 0,
            "restarts_total": 0, "current": [], "cpu_ms_total": cpu_ms, "streams": 0,
        })
    };
    let percentiles = json!({ "p50": null, "p95": null, "p99": null });
    let snapshot = json!({
        "version": "", "pid": 1, "state": "serving", "url": "", "admin_url": null, "run_dir": "", "uptime_s": 0.0,
        "generation": 1, "workers": workers.iter().map(worker).collect::<Vec<_>>(),
        "queue": { "length": 3, "length_max": 10, "oldest_wait_ms": 0.0, "predicted_wait_ms": null },
        "requests": {
            "answered_total": 0, "in_service": 2, "per_second": 0.0, "refused_total": 0, "outcomes": {},
        },
        "queue_wait_ms": percentiles, "service_time_ms": percentiles, "overlaps_total": 0, "connections": 0, "streams": 0,
    });
    serde_json::from_value(snapshot).unwrap()
}

fn after(seconds: u64) -> Now {
    Now { unix_ms: EPOCH_MS + seconds * 1000, elapsed_ms: 1000, gateway_cpu_ms: 100.0 }
}

/// One request a second, of as many milliseconds as the second's number within its minute.
fn record(history: &mut History, second: u64, snapshot: &Snapshot) -> Point {
    let (queue_wait, mut service_time) = (Times::default(), Times::default());
    service_time.record((second % 60 + 1) * 1000);
    let requests =
        Requests { answered: 1, refused: 0, failed: 0, queue_wait: &queue_wait, service_time: &service_time };
    history.record(after(second), snapshot, &requests)
}

#[test]
fn history_of_a_day_is_bounded_and_holds_each_tier_whole() {
    let mut history = History::new(EPOCH_MS);
    let still = snapshot(&[(1, 5.0)]);
    for second in 1..=DAY_S {
        record(&mut history, second, &still);
    }
    for (span_s, kept) in TIERS {
        let columns = history.columns(span_s);
        assert_eq!((columns.span_s, columns.at_ms.len()), (span_s, kept));
        assert!(columns.at_ms.windows(2).all(|pair| pair[1] - pair[0] == u64::from(span_s) * 1000), "no gaps");
        assert_eq!(columns.at_ms.last(), Some(&(EPOCH_MS + DAY_S * 1000)));
        assert!(columns.answered.iter().all(|rate| (rate - 1.0).abs() < 1e-6));
        assert!(columns.queue_length.iter().all(|length| (length - 3.0).abs() < 1e-6));
    }
    let held: usize = history.tiers.iter().map(|tier| tier.points.capacity() * size_of::<Point>()).sum();
    assert!(held <= History::BYTES_MAX && History::BYTES_MAX < 1024 * 1024, "{held} of {}", History::BYTES_MAX);
}

#[test]
fn percentiles_of_a_minute_are_those_of_its_requests_and_no_mean_of_percentiles() {
    let mut history = History::new(EPOCH_MS);
    for second in 1..=120 {
        record(&mut history, second, &snapshot(&[]));
    }
    let minute = history.columns(60).service_time_ms[1].unwrap();
    for (found, truth) in minute.into_iter().zip([30.0_f32, 57.0, 60.0, 60.0]) {
        assert!((found - truth).abs() <= truth / 30.0, "{minute:?}");
    }
    assert_eq!(history.columns(60).queue_wait_ms[1], None, "nothing waited");
}

#[test]
fn cpu_time_is_counted_across_workers_that_come_and_go() {
    let mut history = History::new(EPOCH_MS);
    record(&mut history, 1, &snapshot(&[(1, 1000.0)]));
    let point = record(&mut history, 2, &snapshot(&[(1, 1500.0), (2, 250.0)]));
    assert!((point.cpu - 0.75).abs() < 1e-3, "{point:?}");
    assert_eq!((point.workers, point.rss_bytes), (2, 2000));
    let point = record(&mut history, 3, &snapshot(&[(2, 350.0)]));
    assert!((point.cpu - 0.1).abs() < 1e-3, "the first has gone: {point:?}");
}

#[test]
fn runs_are_counted_since_the_reading_before() {
    let mut history = History::new(EPOCH_MS);
    assert_eq!(history.new_runs(&[5, 1]), [5, 1]);
    assert_eq!(history.new_runs(&[7, 1, 4]), [2, 0, 4]);
    assert_eq!(history.new_runs(&[1]), [0], "never negative");
    assert!(history.new_runs(&[1; 1000]).len() <= RUNS_MAX);
}

#[test]
fn viewer_that_comes_back_gets_what_it_missed_or_is_told_to_ask_for_all() {
    let mut history = History::new(EPOCH_MS);
    for second in 1..=400 {
        record(&mut history, second, &snapshot(&[]));
    }
    let missed = history.since(EPOCH_MS + 390_000).unwrap();
    assert_eq!((missed.len(), missed[0].at_ms), (10, EPOCH_MS + 391_000));
    assert_eq!(history.since(EPOCH_MS + 400_000), Some(Vec::new()));
    assert_eq!(history.since(EPOCH_MS + 50_000), None, "it is no longer kept");
    assert_eq!(history.since(EPOCH_MS - 1), None, "that was another gateway");
}

#[test]
fn clock_that_jumps_spoils_no_rate() {
    let mut history = History::new(EPOCH_MS);
    for second in [1, 2, 100, 101, 3, 4, 5] {
        let point = record(&mut history, second, &snapshot(&[]));
        assert!((point.answered - 1.0).abs() < 1e-6, "{point:?}");
    }
    assert_eq!(history.columns(7).span_s, 10, "the next longer one");
    assert_eq!(history.columns(u32::MAX).span_s, 60);
}
