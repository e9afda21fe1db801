//! Who may wait, for how long, and what the refused are told.

use sluice_scheduler::{Action, ClassId, Event, Limits, Need, Order, Refusal, RequestId};

use crate::stage::{LIMITS, Stage};

fn refuse(request: u64, reason: Refusal, retry_after_s: u32) -> Action {
    Action::Refuse { request: RequestId(request), reason, retry_after_s }
}

/// Requests after which a wait is predicted: the worker's first, which says nothing, and eight more.
const KNOWN: u64 = 9;

/// One worker that is known to take 1 s a request, and is busy with number 10.
fn one_busy_worker(limits: Limits) -> Stage {
    let mut stage = Stage::ready(limits, 1);
    for request in 1..=KNOWN {
        stage.arrive();
        stage.pass_ms(1_000);
        stage.finish(1, request);
    }
    stage.arrive();
    stage
}

#[test]
fn i6_a_request_beyond_the_queues_length_is_refused_and_the_others_keep_their_place() {
    let mut stage = one_busy_worker(Limits { queue_length_max: 2, ..LIMITS });
    assert_eq!(stage.arrive(), []);
    assert_eq!(stage.arrive(), []);
    assert_eq!(stage.arrive(), [refuse(13, Refusal::Full, 1)]);
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
fn nothing_is_predicted_before_some_requests_have_finished_or_while_no_worker_is_ready() {
    let mut stage = Stage::ready(LIMITS, 1);
    for request in 1..=KNOWN {
        stage.arrive();
        assert_eq!(stage.scheduler.predicted_wait_ms(), None, "{request}");
        stage.pass_ms(10);
        stage.finish(1, request);
    }
    stage.arrive();
    assert_eq!(stage.scheduler.predicted_wait_ms(), Some(10));
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
    assert_eq!(stage.arrive(), [refuse(14, Refusal::Predicted, 2)]);
}

#[test]
fn a_first_burst_on_cold_workers_is_not_refused_for_their_slow_first_requests() {
    let mut stage = Stage::ready(LIMITS, 2);
    for _ in 0..80 {
        assert!(!stage.arrive().iter().any(is_refusal));
    }
    stage.pass_ms(3_000);
    let mut held = [(1, 1), (2, 2)];
    for round in 0..60 {
        for (worker, request) in &mut held {
            let actions = stage.finish(*worker, *request);
            let [Action::Dispatch { request: next, .. }] = actions[..] else { panic!("round {round}: {actions:?}") };
            *request = next.0;
            let actions = stage.arrive();
            assert!(!actions.iter().any(is_refusal), "round {round}: {actions:?}");
        }
        stage.pass_ms(5);
    }
    assert!(stage.scheduler.predicted_wait_ms().is_some_and(|ms| ms < 300));
}

fn is_refusal(action: &Action) -> bool {
    matches!(action, Action::Refuse { .. })
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
    for request in 10..=109 {
        stage.now = stage.now.plus_ms(10);
        stage.finish(1, request);
        stage.arrive();
    }
    let wait_ms = stage.scheduler.predicted_wait_ms().unwrap();
    assert!((10..=60).contains(&wait_ms), "{wait_ms} ms");
}

#[test]
fn i3_queued_requests_are_refused_when_the_gateway_stops_and_none_waits_after_that() {
    let mut stage = one_busy_worker(LIMITS);
    stage.arrive();
    let actions = stage.step(Event::Stopping);
    assert_eq!(actions[0], refuse(11, Refusal::Stopping, 1));
    assert_eq!(stage.arrive(), [refuse(12, Refusal::Stopping, 1)]);
}

#[test]
fn strict_workers_are_expected_to_take_what_others_took_for_a_class_that_is_new() {
    let mut stage = Stage::ready(Limits { order: Order::Shortest, ..LIMITS }, 1);
    for request in 1..=9 {
        stage.arrive_with(Need { class: ClassId(request), ..Need::default() });
        stage.pass_ms(100);
        stage.step(Event::Measured { class: ClassId(request), cost_us: 500 });
        stage.finish(1, request.into());
    }
    stage.arrive_with(Need { class: ClassId(20), ..Need::default() });
    let wait_ms = stage.scheduler.predicted_wait_ms_of(Need { class: ClassId(21), ..Need::default() });
    assert_eq!(wait_ms, Some(100));
}
