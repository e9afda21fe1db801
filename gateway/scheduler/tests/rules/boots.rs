//! How many workers boot at once in places that have none.

use sluice_scheduler::{Action, Event, KillReason, Limits, WorkerId, WorkerState};

use crate::stage::{LIMITS, Stage, dispatch, kill, start};

fn booting(stage: &Stage) -> Vec<u64> {
    let starting = stage.scheduler.workers().filter(|view| view.state == WorkerState::Starting);
    starting.map(|view| view.worker.0).collect()
}

fn waiting(stage: &Stage) -> Vec<u32> {
    stage.scheduler.waiting_places().collect()
}

/// Workers that all serve one request each, and one more request that waits.
fn busy(limits: Limits, workers: u32) -> Stage {
    let mut stage = Stage::ready(limits, workers);
    for _ in 0..=workers {
        stage.arrive();
    }
    assert_eq!(stage.scheduler.queue_length(), 1);
    stage
}

#[test]
fn the_first_worker_boots_alone_and_the_rest_follow_together() {
    let mut stage = Stage::new(LIMITS);
    assert_eq!(stage.step(Event::Scaled { workers: 4 }), [start(1, 0)]);
    assert_eq!((stage.scheduler.awaited(), waiting(&stage)), (Some(WorkerId(1)), vec![1, 2, 3]));
    assert_eq!(stage.pass_ms(LIMITS.start_timeout_ms - 1), [], "a first boot has all its time");
    assert_eq!(stage.listen(1), [start(2, 1), start(3, 2), start(4, 3)]);
    assert_eq!((stage.scheduler.awaited(), waiting(&stage)), (None, vec![]));
}

#[test]
fn a_first_boot_that_fails_is_followed_by_one_more_and_then_the_gateway_gives_up() {
    let mut stage = Stage::new(LIMITS);
    stage.step(Event::Scaled { workers: 4 });
    let [Action::BackOff { delay_ms, .. }, second] = stage.exit(1)[..] else { panic!("no second try") };
    assert_eq!((second, booting(&stage)), (start(2, 1), vec![2]));
    assert_eq!(stage.pass_ms(delay_ms), [], "nobody boots beside it");
    assert_eq!(stage.exit(2), [Action::GiveUp]);
    assert_eq!((stage.scheduler.awaited(), waiting(&stage)), (None, vec![]));
}

#[test]
fn a_first_boot_that_had_all_its_time_is_the_last() {
    let mut stage = Stage::new(LIMITS);
    stage.step(Event::Scaled { workers: 4 });
    assert_eq!(stage.pass_ms(LIMITS.start_timeout_ms), [kill(1, KillReason::StartTimeout)]);
    assert_eq!(stage.exit(1), [Action::GiveUp]);
}

#[test]
fn after_all_died_one_boots_alone_and_then_as_many_as_the_cpus_allow() {
    let mut stage = busy(Limits { cpus: 2, ..LIMITS }, 4);
    stage.arrive();
    for worker in 1..=4 {
        stage.exit(worker);
    }
    assert_eq!(booting(&stage), [5]);
    // One CPU is free beside the one that serves.
    assert_eq!(stage.listen(5), [start(6, 1), dispatch(5, 5)]);
    assert_eq!(stage.finish(5, 5)[..1], [dispatch(6, 5)]);
    assert_eq!(booting(&stage), [6], "nobody waits any more, but requests still come");
}

#[test]
fn while_requests_wait_workers_beyond_the_cpus_boot_one_at_a_time() {
    let mut stage = busy(Limits { cpus: 2, ..LIMITS }, 2);
    assert_eq!(stage.step(Event::Scaled { workers: 4 }), [start(3, 2)]);
    assert_eq!((stage.scheduler.awaited(), waiting(&stage)), (Some(WorkerId(3)), vec![3]));
    assert_eq!(stage.listen(3), [start(4, 3), dispatch(3, 3)]);
}

#[test]
fn while_requests_come_the_rest_boot_one_at_a_time_even_if_none_of_them_waits() {
    let mut stage = busy(Limits { cpus: 2, ..LIMITS }, 2);
    assert_eq!(stage.step(Event::Scaled { workers: 5 }), [start(3, 2)]);
    assert_eq!(stage.finish(1, 1), [dispatch(3, 1)]);
    stage.finish(2, 2);
    assert_eq!(stage.finish(1, 3), [], "nothing is left to do, but a moment ago there was");
    assert_eq!(stage.listen(3), [start(4, 3)]);
}

#[test]
fn an_app_counts_as_in_use_for_five_seconds_after_its_latest_request() {
    for (after_ms, booting_at_once) in [(4_999, 1), (5_000, 3)] {
        let mut stage = Stage::ready(Limits { cpus: 2, ..LIMITS }, 2);
        let worker = stage.arrive_at_worker();
        stage.finish(worker, 1);
        stage.pass_ms(after_ms);
        assert_eq!(stage.step(Event::Scaled { workers: 5 }).len(), booting_at_once, "{after_ms} ms");
    }
}

#[test]
fn as_many_boot_at_once_as_there_are_cpus_that_no_serving_worker_needs() {
    let mut stage = Stage::ready(Limits { cpus: 4, ..LIMITS }, 2);
    stage.arrive_at_worker();
    assert_eq!(stage.step(Event::Scaled { workers: 6 }), [start(3, 2), start(4, 3)]);
    assert_eq!(stage.listen(4), [], "one boots, and one CPU is left for it");
    assert_eq!(stage.listen(3), [start(5, 4)]);
}

#[test]
fn a_worker_that_is_added_while_requests_come_boots_aside_for_a_while() {
    let mut stage = Stage::ready(LIMITS, 1);
    stage.step(Event::Scaled { workers: 2 });
    assert_eq!(stage.scheduler.aside_us(WorkerId(2)), None, "nothing has come");
    stage.listen(2);
    stage.arrive_at_worker();
    stage.step(Event::Scaled { workers: 3 });
    assert_eq!(stage.scheduler.aside_us(WorkerId(3)), Some(2_000_000));
    stage.listen(3);
    assert_eq!(stage.exit(3), [start(4, 2)]);
    assert_eq!(stage.scheduler.aside_us(WorkerId(4)), None, "it is missed");
    stage.step(Event::Scaled { workers: 2 });
    stage.step(Event::Scaled { workers: 3 });
    let added = stage.scheduler.workers().map(|view| view.worker).max().unwrap();
    assert_eq!(stage.scheduler.aside_us(added), Some(2_000_000), "the place was given up meanwhile");
}

#[test]
fn boots_that_take_long_may_take_longer_aside() {
    let mut stage = Stage::new(Limits { start_timeout_ms: 60_000, ..LIMITS });
    stage.step(Event::Scaled { workers: 1 });
    stage.pass_ms(3_000);
    stage.listen(1);
    stage.arrive_at_worker();
    stage.step(Event::Scaled { workers: 2 });
    assert_eq!(stage.scheduler.aside_us(WorkerId(2)), Some(12_000_000));
}

#[test]
fn without_load_a_larger_pool_boots_at_once() {
    let mut stage = Stage::ready(Limits { cpus: 1, ..LIMITS }, 1);
    assert_eq!(stage.step(Event::Scaled { workers: 3 }), [start(2, 1), start(3, 2)]);
}

#[test]
fn a_boot_that_takes_much_longer_than_those_before_keeps_nobody() {
    let mut stage = Stage::new(Limits { start_timeout_ms: 60_000, ..LIMITS });
    stage.step(Event::Scaled { workers: 2 });
    stage.pass_ms(2_000);
    stage.listen(1);
    stage.listen(2);
    stage.pass_ms(10_000);
    stage.exit(1);
    stage.exit(2);
    assert_eq!(booting(&stage), [3]);
    assert_eq!(stage.scheduler.next_deadline(), Some(stage.now.plus_ms(4_000)));
    assert_eq!(stage.pass_ms(3_999), []);
    assert_eq!(stage.pass_ms(1), [start(4, 1)]);
}
