//! Requests whose client has a session in one worker: they wait for that worker, in nobody's way, and only while it serves.

use sluice_scheduler::{Action, Alone, ClassId, Event, Home, Limits, Need, Order, Refusal, RequestId, WorkerId};

use crate::stage::{LIMITS, Stage, dispatch};

fn at(worker: u64) -> Need {
    Need { home: Home::At(WorkerId(worker)), ..Need::default() }
}

/// Two busy workers that are known to take 100 ms a request; the next request is number 19.
fn two_busy_workers(limits: Limits) -> Stage {
    let mut stage = Stage::ready(limits, 2);
    for pair in 0..8 {
        stage.arrive();
        stage.arrive();
        stage.pass_ms(100);
        stage.finish(1, pair * 2 + 1);
        stage.finish(2, pair * 2 + 2);
    }
    stage.arrive();
    stage.arrive();
    stage
}

#[test]
fn a_session_goes_to_its_worker_whichever_is_chosen_else() {
    let mut stage = Stage::ready(LIMITS, 3);
    assert_eq!(stage.arrive_with(at(3)), [dispatch(1, 3)]);
    assert_eq!(stage.arrive(), [dispatch(2, 1)]);
}

#[test]
fn a_session_waits_for_its_worker_and_stands_in_nobodys_way() {
    let mut stage = two_busy_workers(LIMITS);
    assert_eq!(stage.arrive_with(at(2)), []);
    assert_eq!(stage.arrive_with(at(2)), []);
    assert_eq!(stage.arrive(), []);
    assert_eq!(stage.finish(1, 17), [dispatch(21, 1)], "the one behind may have any worker");
    assert_eq!(stage.finish(1, 21), [], "those that wait for worker 2 do not take worker 1");
    assert_eq!(stage.finish(2, 18), [dispatch(19, 2)]);
    assert_eq!(stage.finish(2, 19), [dispatch(20, 2)]);
}

#[test]
fn the_order_of_arrival_holds_between_sessions_and_others() {
    let mut stage = two_busy_workers(LIMITS);
    assert_eq!(stage.arrive(), []);
    assert_eq!(stage.arrive_with(at(2)), []);
    assert_eq!(stage.finish(2, 18), [dispatch(19, 2)], "it came first");
    assert_eq!(stage.finish(2, 19), [dispatch(20, 2)]);
}

#[test]
fn the_wait_of_a_session_is_that_of_its_worker() {
    let mut stage = two_busy_workers(LIMITS);
    for _ in 0..4 {
        stage.arrive_with(at(2));
    }
    let predicted = |stage: &Stage, need| stage.scheduler.predicted_wait_ms_of(need);
    assert_eq!(predicted(&stage, at(2)), Some(500), "four in front and one in service, by one worker");
    assert_eq!(predicted(&stage, at(1)), Some(100), "one in service");
    assert_eq!(predicted(&stage, Need::default()), Some(50), "whichever is free first");
    stage.finish(1, 17);
    assert_eq!(predicted(&stage, at(1)), Some(0));
}

#[test]
fn i4_requests_for_a_worker_that_exits_or_is_stuck_may_go_to_any_other() {
    for event in [
        Event::Closing { worker: WorkerId(2) },
        Event::Faulted { worker: WorkerId(2) },
        Event::Stuck { worker: WorkerId(2) },
        Event::Exited { worker: WorkerId(2) },
    ] {
        let mut stage = two_busy_workers(LIMITS);
        stage.arrive_with(at(2));
        stage.finish(1, 17);
        let actions = stage.step(event);
        assert!(actions.contains(&dispatch(19, 1)), "{event:?}: {actions:?}");
    }
}

#[test]
fn i4_a_session_of_an_exited_or_unknown_worker_may_go_to_any_worker() {
    let mut stage = Stage::ready(LIMITS, 2);
    stage.exit(1);
    assert_eq!(stage.arrive_with(at(1)), [dispatch(1, 2)]);
    assert_eq!(stage.arrive_with(at(77)), [], "the only worker that is left is busy");
    assert_eq!(stage.finish(2, 1), [dispatch(2, 2)]);
}

#[test]
fn i6_a_session_is_refused_after_its_time_limit_like_all_requests() {
    let mut stage = two_busy_workers(Limits { queue_wait_ms_max: 1_000, ..LIMITS });
    stage.arrive_with(at(2));
    stage.finish(1, 17);
    let actions = stage.pass_ms(1_000);
    assert!(
        matches!(actions[..], [Action::Refuse { request: RequestId(19), reason: Refusal::Deadline, .. }]),
        "{actions:?}"
    );
}

#[test]
fn i6_a_crowd_at_one_worker_takes_its_part_of_the_queue_and_no_more() {
    let mut stage = two_busy_workers(Limits { queue_length_max: 10, ..LIMITS });
    let mut refused = 0;
    for _ in 0..20 {
        let is_refused = matches!(stage.arrive_with(at(2))[..], [Action::Refuse { reason: Refusal::Full, .. }]);
        refused += u32::from(is_refused);
    }
    assert_eq!(refused, 15, "half of the queue is for each of two workers");
    assert_eq!(stage.arrive(), [], "others find room");
    assert_eq!(stage.arrive_with(at(1)), []);
}

#[test]
fn a_new_session_is_for_the_short_lane_however_long_its_request_takes() {
    let mut stage = Stage::ready(Limits { order: Order::Shortest, lanes: true, ..LIMITS }, 2);
    let (long, short) = (ClassId(1), ClassId(2));
    for _ in 0..200 {
        stage.learn(long, 200_000);
        stage.learn(short, 1_000);
    }
    let new = Need { class: long, home: Home::New, ..Need::default() };
    for _ in 0..3 {
        stage.arrive_with(Need { class: long, ..Need::default() });
    }
    // The third, the long lane's, was started because somebody waits.
    stage.listen(3);
    assert_eq!(stage.arrive_with(new), []);
    let actions = stage.finish(3, 3);
    assert!(!actions.contains(&dispatch(4, 3)), "{actions:?}");
    assert_eq!(stage.finish(1, 1), [dispatch(4, 1)]);
}

#[test]
fn a_session_waits_in_the_order_of_costs_and_nobody_in_front_for_ever() {
    let mut stage = Stage::ready(Limits { order: Order::Shortest, ageing: 3, ..LIMITS }, 1);
    for _ in 0..200 {
        stage.learn(ClassId(1), 100_000);
        stage.learn(ClassId(2), 1_000);
    }
    let of = |class| Need { class: ClassId(class), ..at(1) };
    stage.arrive_with(of(2));
    stage.arrive_with(of(1));
    stage.arrive_with(of(2));
    assert_eq!(stage.finish(1, 1), [dispatch(3, 1)], "the cheaper first");
    for next in 4..100 {
        stage.arrive_with(of(2));
        stage.pass_ms(10);
        let actions = stage.finish(1, next - 1);
        if actions == [dispatch(2, 1)] {
            return;
        }
        assert_eq!(actions, [dispatch(next, 1)]);
    }
    panic!("the dear one waits for ever behind cheap ones");
}

#[test]
fn a_request_that_is_to_be_alone_gets_an_empty_worker_and_not_its_sessions() {
    let mut stage = Stage::ready(Limits { concurrency: 2, concurrency_max: 2, ..LIMITS }, 2);
    assert_eq!(stage.arrive_with(at(2)), [dispatch(1, 2)]);
    assert_eq!(stage.arrive_with(Need { alone: Alone::Always, ..at(2) }), [dispatch(2, 1)]);
    assert_eq!(stage.arrive_with(at(1)), [], "nothing joins the one that is alone");
    assert_eq!(stage.finish(1, 2), [dispatch(3, 1)]);
}
