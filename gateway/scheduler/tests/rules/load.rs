//! Load that balancers are told of: waits, free workers, and workers that do not serve.

use sluice_scheduler::{Event, Limits, Load, WorkerId};

use crate::stage::{LIMITS, Stage};

/// Workers that have each finished so many requests of 100 ms that waits are predicted.
fn stage(limits: Limits, workers: u32) -> Stage {
    let mut stage = Stage::ready(limits, workers);
    for _ in 0..20 {
        let worker = stage.arrive_at_worker();
        stage.pass_ms(100);
        let request = stage.requests();
        stage.finish(worker, request);
    }
    stage
}

fn load(stage: &Stage) -> Load {
    stage.scheduler.load(stage.now)
}

#[track_caller]
fn assert_weight(stage: &Stage, expected: f64) {
    let load = load(stage);
    assert!((load.weight() - expected).abs() < 0.5, "{} of {load:?}", load.weight());
}

#[test]
fn weights_and_utilization_follow_from_waits_and_workers() {
    let idle = Load { wait_ms: 0, queued: 0, wanted: 4, serving: 4, free: 4 };
    for (load, weight, utilization) in [
        (idle, 100.0, 0.01),
        (Load { free: 1, ..idle }, 100.0, 0.75),
        (Load { free: 0, ..idle }, 100.0, 1.0),
        (Load { free: 0, wait_ms: 100, ..idle }, 50.0, 2.0),
        (Load { free: 0, wait_ms: 300, ..idle }, 25.0, 4.0),
        (Load { free: 0, wait_ms: 1_000_000, ..idle }, 1.0, 10_001.0),
        (Load { free: 1, serving: 1, ..idle }, 25.0, 0.75),
        (Load { free: 0, serving: 2, wait_ms: 100, ..idle }, 25.0, 2.0),
        // A stand-in serves besides the worker that it stands in for.
        (Load { free: 5, serving: 5, ..idle }, 100.0, 0.01),
        (Load { free: 0, serving: 0, ..idle }, 1.0, 1.0),
        (Load::default(), 1.0, 0.01),
        (Load { wait_ms: u64::MAX, queued: usize::MAX, wanted: u32::MAX, serving: u32::MAX, free: 0 }, 1.0, f64::MAX),
    ] {
        assert!((load.weight() - weight).abs() < 0.01, "{} of {load:?}", load.weight());
        let is_as_expected = (load.utilization() - utilization).abs() < 0.01;
        assert!(is_as_expected || utilization.to_bits() == f64::MAX.to_bits(), "{} of {load:?}", load.utilization());
    }
}

#[test]
fn a_free_worker_keeps_the_full_weight_and_a_queue_lowers_it() {
    let mut stage = stage(LIMITS, 2);
    assert_weight(&stage, 100.0);
    stage.arrive();
    assert_weight(&stage, 100.0);
    stage.arrive();
    assert_eq!(load(&stage), Load { wait_ms: 50, queued: 0, wanted: 2, serving: 2, free: 0 });
    for _ in 0..4 {
        stage.arrive();
    }
    assert_eq!(load(&stage).queued, 4);
    assert_weight(&stage, 100.0 / 3.5);
}

#[test]
fn a_worker_that_does_not_end_lowers_the_weight_though_predictions_know_nothing_of_it() {
    let mut stage = stage(LIMITS, 1);
    stage.arrive();
    stage.pass_ms(900);
    assert_eq!(load(&stage).wait_ms, 900, "nobody waits, but the worker has not ended for so long");
    stage.arrive();
    stage.pass_ms(2_000);
    assert_eq!(load(&stage).wait_ms, 2_900);
    assert!(load(&stage).weight() < 4.0);
    let held = stage.requests() - 1;
    stage.finish(1, held);
    stage.pass_ms(10);
    // The mean of service times knows that request now.
    assert!(load(&stage).wait_ms < 500, "{:?}", load(&stage));
}

#[test]
fn a_blocked_worker_takes_its_part_of_the_weight() {
    let mut stage = stage(LIMITS, 2);
    let worker = stage.arrive_at_worker();
    stage.pass_ms(1_000);
    stage.step(Event::Overdue { worker: WorkerId(worker) });
    assert_weight(&stage, 50.0);
    stage.listen(3);
    assert_weight(&stage, 100.0);
}

#[test]
fn nothing_serves_before_the_first_worker_listens() {
    let mut stage = Stage::new(LIMITS);
    stage.step(Event::Scaled { workers: 2 });
    assert_weight(&stage, 1.0);
    stage.listen(1);
    assert_weight(&stage, 50.0);
    stage.listen(2);
    assert_weight(&stage, 100.0);
}
