//! Which of the waiting goes next, and when a request is refused because its time is over.

use sluice_scheduler::{Action, ClassId, Limits, Need, Order, Refusal, RequestId, SavedCosts};

use crate::stage::{LIMITS, Stage, dispatch};

const SHORTEST: Limits = Limits { order: Order::Shortest, lanes: false, ..LIMITS };

fn class(class: u16) -> Need {
    Need { class: ClassId(class), ..Need::default() }
}

/// A stage with one busy worker (request 1), where class 1 costs 100 ms, 2 costs 10 ms and 3 costs 1 ms.
fn stage(limits: Limits) -> Stage {
    let mut stage = Stage::ready(limits, 1);
    for _ in 0..200 {
        for (class, cost_us) in [(1, 100_000), (2, 10_000), (3, 1_000)] {
            stage.learn(ClassId(class), cost_us);
        }
    }
    stage.arrive();
    stage
}

/// The order in which these are given away, the first of which is number 2.
fn order_of(mut stage: Stage, needs: &[Need]) -> Vec<u64> {
    for need in needs {
        assert!(stage.arrive_with(*need).is_empty());
    }
    let mut order = Vec::new();
    let mut held = 1;
    for _ in needs {
        let actions = stage.finish(1, held);
        let [Action::Dispatch { request, .. }] = actions[..] else { panic!("{actions:?}") };
        held = request.0;
        order.push(held);
    }
    order
}

#[test]
fn fifo_is_the_order_of_arrival_whatever_it_costs() {
    let needs = [class(1), Need { priority: 9, ..class(3) }, class(2), Need { deadline_ms: Some(500), ..class(3) }];
    assert_eq!(order_of(stage(LIMITS), &needs), [2, 3, 4, 5]);
}

#[test]
fn the_cheapest_class_goes_first_and_within_a_class_who_came_first() {
    let needs = [class(1), class(2), class(3), class(2), class(3), class(1)];
    assert_eq!(order_of(stage(SHORTEST), &needs), [4, 6, 3, 5, 2, 7]);
}

#[test]
fn priority_beats_cost_and_among_equals_the_earliest_deadline_goes_first() {
    let urgent = Need { priority: 1, ..class(1) };
    let late = Need { priority: -1, ..class(3) };
    let soon = Need { deadline_ms: Some(5_000), ..class(2) };
    let sooner = Need { deadline_ms: Some(2_000), ..class(2) };
    assert_eq!(order_of(stage(SHORTEST), &[late, class(2), soon, sooner, urgent]), [6, 5, 4, 3, 2]);
}

#[test]
fn one_that_has_waited_for_too_long_goes_before_what_is_cheaper() {
    for (ageing, first) in [(3, 2), (0, 3)] {
        let mut stage = stage(Limits { ageing, ..SHORTEST });
        stage.arrive_with(class(1));
        // Four times its cost; nothing was queued before it.
        stage.pass_ms(401);
        stage.arrive_with(class(3));
        assert_eq!(stage.finish(1, 1), [dispatch(first, 1)], "ageing {ageing}");
    }
}

#[test]
fn a_request_is_refused_when_its_deadline_can_no_longer_be_met() {
    let mut stage = stage(SHORTEST);
    stage.arrive_with(Need { deadline_ms: Some(150), ..class(1) });
    assert!(stage.pass_ms(49).is_empty());
    assert_eq!(stage.scheduler.next_deadline(), Some(stage.now.plus_ms(1)));
    let actions = stage.pass_ms(1);
    assert!(
        matches!(actions[..], [Action::Refuse { request: RequestId(2), reason: Refusal::Deadline, .. }]),
        "{actions:?}"
    );
}

#[test]
fn a_free_worker_takes_even_what_costs_more_than_its_deadline_allows() {
    let mut stage = stage(SHORTEST);
    stage.finish(1, 1);
    assert_eq!(stage.arrive_with(Need { deadline_ms: Some(1), ..class(1) }), [dispatch(2, 1)]);
}

#[test]
fn another_order_holds_for_those_that_wait_already() {
    let mut stage = stage(LIMITS);
    stage.arrive_with(class(1));
    stage.arrive_with(class(3));
    stage.scheduler.set_limits(SHORTEST);
    assert_eq!(stage.finish(1, 1), [dispatch(3, 1)]);
    stage.arrive_with(class(3));
    stage.scheduler.set_limits(LIMITS);
    assert_eq!(stage.finish(1, 3), [dispatch(2, 1)]);
}

#[test]
fn neither_long_nor_short_requests_fill_the_whole_queue() {
    let mut stage = stage(Limits { queue_length_max: 8, ageing: 0, ..SHORTEST });
    for _ in 0..6 {
        assert!(stage.arrive_with(class(1)).is_empty());
    }
    let actions = stage.arrive_with(class(1));
    assert!(matches!(actions[..], [Action::Refuse { reason: Refusal::Full, .. }]), "{actions:?}");
    assert!(stage.arrive_with(class(3)).is_empty(), "there is room for short ones");
}

#[test]
fn those_that_wait_go_by_what_is_known_of_their_class_now() {
    let mut stage = stage(Limits { ageing: 0, ..SHORTEST });
    stage.arrive_with(class(2));
    stage.arrive_with(class(1));
    for _ in 0..1_000 {
        stage.learn(ClassId(1), 1_000);
    }
    assert_eq!(stage.finish(1, 1), [dispatch(3, 1)]);
}

#[test]
fn those_that_wait_go_by_what_their_class_is_said_to_be_when_it_falls_into_parts() {
    let mut stage = stage(Limits { ageing: 0, ..SHORTEST });
    stage.arrive_with(class(2));
    stage.arrive_with(class(1));
    let mean_us = 1_000.0;
    let rest =
        SavedCosts { records: 25, mean_us, mean_square: mean_us * mean_us, long_mean_us: mean_us, buckets: vec![] };
    stage.scheduler.forget_class(ClassId(1));
    stage.scheduler.restore_class(ClassId(1), &rest);
    assert_eq!(stage.finish(1, 1), [dispatch(3, 1)]);
}
