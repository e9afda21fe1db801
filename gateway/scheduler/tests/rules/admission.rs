//! Who may wait, for how long, and what the refused are told.

use sluice_scheduler::{Action, Event, Limits, Refusal, RequestId};

use crate::stage::{LIMITS, Stage};

fn refuse(request: u64, reason: Refusal, retry_after_s: u32) -> Action {
    Action::Refuse { request: RequestId(request), reason, retry_after_s }
}

/// One worker that is known to take 1 s a request, and is busy.
fn one_busy_worker(limits: Limits) -> Stage {
    let mut stage = Stage::ready(limits, 1);
    stage.arrive();
    stage.pass_ms(1_000);
    stage.finish(1, 1);
    stage.arrive();
    stage
}

#[test]
fn i6_a_request_beyond_the_queues_length_is_refused_and_the_others_keep_their_place() {
    let mut stage = one_busy_worker(Limits { queue_length_max: 2, ..LIMITS });
    assert_eq!(stage.arrive(), []);
    assert_eq!(stage.arrive(), []);
    assert_eq!(stage.arrive(), [refuse(5, Refusal::Full, 1)]);
    assert_eq!(stage.scheduler.queue_length(), 2);
}

#[test]
fn a_free_worker_takes_a_request_even_where_none_may_wait() {
    let mut stage = Stage::ready(Limits { queue_length_max: 0, queue_wait_ms_max: 1, ..LIMITS }, 1);
    assert_eq!(stage.arrive_at_worker(), 1);
    assert!(matches!(stage.arrive()[..], [Action::Refuse { reason: Refusal::Full, .. }]));
}

#[test]
fn the_predicted_wait_is_the_work_in_front_shared_by_all_slots() {
    let mut stage = one_busy_worker(LIMITS);
    assert_eq!(stage.scheduler.predicted_wait_ms(), Some(1_000));
    stage.arrive();
    stage.arrive();
    assert_eq!(stage.scheduler.predicted_wait_ms(), Some(3_000));
    let mut stage = one_busy_worker(Limits { concurrency: 4, ..LIMITS });
    assert_eq!(stage.scheduler.predicted_wait_ms(), Some(0), "three slots are free");
    for _ in 0..3 {
        stage.arrive();
    }
    assert_eq!(stage.scheduler.predicted_wait_ms(), Some(250));
}

#[test]
fn nothing_is_predicted_before_a_request_has_finished_or_while_no_worker_is_ready() {
    let mut stage = Stage::ready(LIMITS, 1);
    stage.arrive();
    assert_eq!(stage.scheduler.predicted_wait_ms(), None);
    let mut stage = one_busy_worker(LIMITS);
    stage.exit(1);
    assert_eq!(stage.scheduler.predicted_wait_ms(), None);
    assert_eq!(stage.arrive(), [], "it waits for the next worker");
}

#[test]
fn a_request_that_would_wait_too_long_is_refused_on_arrival() {
    let mut stage = one_busy_worker(Limits { queue_wait_ms_max: 3_000, ..LIMITS });
    for _ in 0..3 {
        assert_eq!(stage.arrive(), []);
    }
    assert_eq!(stage.arrive(), [refuse(6, Refusal::Predicted, 2)]);
}

#[test]
fn i6_a_request_that_has_waited_as_long_as_allowed_is_refused() {
    let mut stage = Stage::new(LIMITS);
    stage.arrive();
    assert_eq!(stage.scheduler.next_deadline(), Some(stage.now.plus_ms(10_000)));
    assert_eq!(stage.pass_ms(9_999), []);
    assert_eq!(stage.pass_ms(1), [refuse(1, Refusal::Deadline, 5)]);
    assert_eq!(stage.scheduler.next_deadline(), None);
}

#[test]
fn retry_after_lies_between_a_second_and_a_minute() {
    for (wait_ms_max, retry_after_s) in [(1, 1), (1_999, 1), (30_000, 15), (3_600_000, 60)] {
        let mut stage = Stage::new(Limits { queue_wait_ms_max: wait_ms_max, ..LIMITS });
        stage.arrive();
        assert_eq!(stage.pass_ms(wait_ms_max), [refuse(1, Refusal::Deadline, retry_after_s)]);
    }
}

#[test]
fn the_mean_service_time_follows_a_change_within_a_hundred_requests() {
    let mut stage = one_busy_worker(LIMITS);
    for request in 2..=101 {
        stage.now = stage.now.plus_ms(10);
        stage.finish(1, request);
        stage.arrive();
    }
    let wait_ms = stage.scheduler.predicted_wait_ms().unwrap();
    assert!((10..=60).contains(&wait_ms), "{wait_ms} ms");
}

#[test]
fn i3_what_waits_is_refused_when_the_gateway_leaves_and_nothing_waits_after_that() {
    let mut stage = one_busy_worker(LIMITS);
    stage.arrive();
    let actions = stage.step(Event::Stopping);
    assert_eq!(actions[0], refuse(3, Refusal::Stopping, 1));
    assert_eq!(stage.arrive(), [refuse(4, Refusal::Stopping, 1)]);
}
