//! Corners of order, lanes and admission that were once missed.

use sluice_scheduler::{Action, Alone, ClassId, Event, Home, Lane, Limits, Need, Order, Refusal, WorkerId};

use crate::stage::{LIMITS, Stage, dispatch};

const SHORTEST: Limits = Limits { order: Order::Shortest, ..LIMITS };
const LANES: Limits = Limits { order: Order::Shortest, lanes: true, ..LIMITS };
const LONG: Need = Need {
    class: ClassId(1),
    priority: 0,
    deadline_ms: None,
    alone: Alone::Never,
    ahead: false,
    inner: false,
    drawn: false,
    home: Home::Any,
};
const SHORT: Need = Need {
    class: ClassId(2),
    priority: 0,
    deadline_ms: None,
    alone: Alone::Never,
    ahead: false,
    inner: false,
    drawn: false,
    home: Home::Any,
};

fn with_costs(limits: Limits, workers: u32) -> Stage {
    let mut stage = Stage::ready(limits, workers);
    for _ in 0..300 {
        stage.learn(LONG.class, 2_000_000);
        stage.learn(SHORT.class, 5_000);
    }
    stage
}

/// Two workers and one of the long lane (3), all free; requests 1 to 3 are over.
fn with_long_lane() -> Stage {
    let mut stage = with_costs(LANES, 2);
    stage.arrive_with(LONG);
    stage.arrive_with(LONG);
    stage.arrive_with(LONG);
    assert_eq!(stage.listen(3), [dispatch(3, 3)]);
    for request in 1..=3 {
        stage.finish(request, request);
    }
    stage
}

/// A render of two seconds in the long lane is what that lane is for. Its event loop does not turn meanwhile.
#[test]
fn a_long_render_in_the_long_lane_does_not_open_the_last_short_worker_to_long_ones() {
    let mut stage = with_long_lane();
    assert_eq!(stage.arrive_with(LONG), [dispatch(4, 3)]);
    stage.now = stage.now.plus_ms(1_050);
    stage.step(Event::Overdue { worker: WorkerId(3) });
    assert_eq!(stage.arrive_with(LONG), [dispatch(5, 1)], "another short worker is free");
    assert_eq!(stage.arrive_with(LONG), [], "the last one is kept for short ones");
    assert_eq!(stage.arrive_with(SHORT), [dispatch(7, 2)]);
}

/// One busy worker that takes 1 s a request, and three that wait.
fn crowded(waiting: Need) -> Stage {
    let mut stage = Stage::ready(Limits { queue_wait_ms_max: 3_000, ..SHORTEST }, 1);
    for request in 1..=9 {
        stage.arrive_with(waiting);
        stage.pass_ms(1_000);
        stage.finish(1, request);
    }
    for _ in 0..4 {
        stage.arrive_with(waiting);
    }
    stage
}

#[test]
fn who_goes_before_all_that_wait_is_not_refused_for_them() {
    let mut stage = crowded(Need { priority: -10, ..Need::default() });
    let urgent = Need { priority: 10, class: ClassId(5), ..Need::default() };
    assert_eq!(stage.arrive_with(urgent), [], "it is the next of all");
    assert_eq!(stage.finish(1, 10), [dispatch(14, 1)]);
}

#[test]
fn one_core_gets_one_worker_more_and_not_two() {
    let mut stage = with_costs(LANES, 1);
    let mut started = Vec::new();
    let mut held_short = None;
    for round in 0..2_000_u64 {
        let mut actions = Vec::new();
        if let Some(request) = held_short.take() {
            actions.extend(stage.finish(1, request));
        }
        actions.extend(stage.arrive_with(SHORT));
        actions.extend(stage.arrive_with(SHORT));
        if round % 20 == 0 {
            actions.extend(stage.arrive_with(LONG));
        }
        let mut at = 0;
        while at < actions.len() {
            match actions[at] {
                Action::Start { worker, lane: Lane::Long, .. } => {
                    started.push(worker);
                    let more = stage.listen(worker.0);
                    actions.extend(more);
                }
                Action::Dispatch { request, worker: WorkerId(1) } => held_short = Some(request.0),
                _ => {}
            }
            at += 1;
        }
        stage.now = stage.now.plus_ms(5);
    }
    assert_eq!(started.len(), 1, "{started:?}");
}

#[test]
fn what_waited_in_the_order_of_arrival_ages_in_another_order_too() {
    let mut stage = with_costs(LIMITS, 1);
    stage.arrive_with(SHORT);
    stage.arrive_with(LONG);
    stage.scheduler.set_limits(SHORTEST);
    let mut held = 1;
    let mut request = 2;
    for _ in 0..1_900 {
        stage.arrive_with(SHORT);
        request += 1;
        stage.now = stage.now.plus_ms(5);
        let actions = stage.finish(1, held);
        let [Action::Dispatch { request: next, .. }] = actions[..] else { panic!("{actions:?}") };
        if next.0 == 2 {
            return;
        }
        held = next.0;
    }
    panic!("after 9.5 s and {request} requests it still waits; in the order of arrival it would have waited 5 ms");
}

/// A class is long until it is known, is refused for the long ones' backlog, and so is never known.
#[test]
fn a_new_class_gets_a_free_worker_of_the_short_lane_however_many_long_ones_wait() {
    let mut stage = with_long_lane();
    let mut held = Vec::new();
    for request in 4..60_u64 {
        let actions = stage.arrive_with(LONG);
        held.extend(actions.iter().filter_map(|action| match action {
            Action::Dispatch { worker, .. } => Some((worker.0, request)),
            _ => None,
        }));
        if request < 24 {
            stage.now = stage.now.plus_ms(2_000);
            held.drain(..).for_each(|(worker, request)| drop(stage.finish(worker, request)));
        }
    }
    assert!(stage.scheduler.has_free_slot(), "the last worker of the short lane is free");
    let new = Need { class: ClassId(7), deadline_ms: Some(1_000), ..Need::default() };
    let actions = stage.arrive_with(new);
    assert!(matches!(actions[..], [Action::Dispatch { .. }]), "{actions:?}");
}

/// 5 ms of CPU time and half a second of waiting for a database: within 800 ms there is no time for another one before it.
#[test]
fn a_deadline_reckons_with_how_long_workers_take_and_not_with_their_cpu_time_alone() {
    let mut stage = with_costs(SHORTEST, 1);
    for request in 1..=20 {
        stage.arrive_with(SHORT);
        stage.pass_ms(500);
        stage.finish(1, request);
    }
    stage.arrive_with(SHORT);
    let within = |ms| Need { deadline_ms: Some(ms), ..SHORT };
    let actions = stage.arrive_with(within(800));
    assert!(matches!(actions[..], [Action::Refuse { reason: Refusal::Predicted, .. }]), "{actions:?}");
    assert_eq!(stage.arrive_with(within(1_100)), []);
    assert_eq!(stage.pass_ms(599), []);
    let actions = stage.pass_ms(2);
    assert!(matches!(actions[..], [Action::Refuse { reason: Refusal::Deadline, .. }]), "{actions:?}");
}
