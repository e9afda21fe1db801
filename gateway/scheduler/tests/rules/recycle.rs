//! When a healthy worker is replaced, and that nobody notices.

use std::collections::BTreeSet;

use sluice_scheduler::{Action, Event, Limits, RecycleReason, WorkerId};

use crate::stage::{LIMITS, Stage, reloaded, start, start_of, stop};

fn recycling(worker: u64, reason: RecycleReason) -> Action {
    Action::Recycling { worker: WorkerId(worker), reason }
}

fn limits(recycle_requests_max: u64) -> Limits {
    Limits { recycle_requests_max, ..LIMITS }
}

fn overweight(worker: u64) -> Event {
    Event::Overweight { worker: WorkerId(worker) }
}

#[test]
fn i3_a_worker_serves_until_its_successor_does() {
    let mut stage = Stage::ready(LIMITS, 2);
    assert_eq!(stage.step(overweight(2)), [recycling(2, RecycleReason::Memory), start(3, 1)]);
    assert_eq!(stage.serving(), [1, 2]);
    assert_eq!(stage.listen(3), [stop(2)]);
    assert_eq!(stage.serving(), [1, 3]);
    assert_eq!(stage.exit(2), []);
}

#[test]
fn i3_workers_that_no_new_connection_can_reach_are_replaced_one_by_one() {
    let mut stage = Stage::ready(LIMITS, 2);
    let unreachable = |worker| Event::Unreachable { worker: WorkerId(worker) };
    assert_eq!(stage.step(unreachable(1)), [recycling(1, RecycleReason::Socket), start(3, 0)]);
    assert_eq!(stage.step(unreachable(2)), []);
    assert_eq!(stage.serving(), [1, 2]);
    assert_eq!(stage.listen(3), [stop(1)]);
    assert_eq!(stage.exit(1), [recycling(2, RecycleReason::Socket), start(4, 1)]);
}

#[test]
fn one_worker_is_recycled_at_a_time_and_the_oldest_first() {
    let mut stage = Stage::ready(LIMITS, 2);
    stage.pass_ms(10_000);
    stage.exit(1);
    stage.listen(3);
    assert_eq!(stage.step(overweight(3)).len(), 2);
    stage.step(overweight(2));
    let actions = stage.step(Event::Faulted { worker: WorkerId(4) });
    assert!(matches!(actions[..], [Action::BackOff { .. }, Action::Stop { .. }]), "{actions:?}");
    let actions = stage.pass_ms(1_000);
    assert_eq!(actions[1], recycling(2, RecycleReason::Memory), "{actions:?}");
    let Action::Start { worker, .. } = actions[2] else { panic!("{actions:?}") };
    let actions = stage.listen(worker.0);
    assert_eq!(actions, [stop(2)]);
    assert_eq!(stage.exit(2)[0], recycling(3, RecycleReason::Memory));
}

#[test]
fn the_next_worker_is_recycled_when_the_one_before_has_finished_what_it_held_and_has_gone() {
    let mut stage = Stage::ready(LIMITS, 2);
    assert_eq!(stage.arrive_at_worker(), 1);
    stage.step(overweight(1));
    assert_eq!(stage.step(overweight(2)), []);
    assert_eq!(stage.listen(3), [], "1 holds a request");
    assert_eq!(stage.pass_ms(60_000), []);
    assert_eq!(stage.finish(1, 1), [stop(1)]);
    assert_eq!(stage.pass_ms(400), []);
    assert_eq!(stage.exit(1), [recycling(2, RecycleReason::Memory), start(4, 1)]);
}

#[test]
fn a_worker_that_has_finished_as_many_requests_as_allowed_is_replaced() {
    let mut stage = Stage::ready(limits(10), 1);
    for request in 1.. {
        stage.arrive();
        let actions = stage.finish(1, request);
        if !actions.is_empty() {
            assert_eq!(actions, [recycling(1, RecycleReason::Requests), start(2, 0)]);
            assert!((9..=10).contains(&request), "{request} requests");
            return;
        }
    }
}

#[test]
fn workers_that_started_together_do_not_wear_out_together() {
    let mut stage = Stage::ready(limits(1_000), 1);
    let (mut ends, mut request) = (BTreeSet::new(), 0);
    for worker in 1..=8 {
        let before = request;
        let actions = loop {
            request += 1;
            stage.arrive();
            let actions = stage.finish(worker, request);
            if !actions.is_empty() {
                break actions;
            }
        };
        assert_eq!(actions, [recycling(worker, RecycleReason::Requests), start(worker + 1, 0)]);
        assert!((900..=1_000).contains(&(request - before)), "{} requests", request - before);
        ends.insert(request - before);
        assert_eq!(stage.listen(worker + 1), [stop(worker)]);
        stage.exit(worker);
    }
    assert!(ends.len() >= 6, "{ends:?}");
}

#[test]
fn a_successor_that_does_not_come_up_is_tried_again_and_the_old_one_serves_on() {
    let mut stage = Stage::ready(LIMITS, 1);
    stage.step(overweight(1));
    let mut last_ms = 0;
    for worker in 2..5 {
        let actions = stage.exit(worker);
        let [Action::BackOff { instance: 0, delay_ms, .. }] = actions[..] else { panic!("{actions:?}") };
        assert!(delay_ms > last_ms, "{delay_ms} after {last_ms}");
        last_ms = delay_ms;
        assert_eq!(stage.scheduler.next_deadline(), Some(stage.now.plus_ms(delay_ms)));
        assert_eq!(stage.pass_ms(delay_ms - 1), []);
        assert_eq!(stage.pass_ms(1), [recycling(1, RecycleReason::Memory), start(worker + 1, 0)]);
        assert_eq!(stage.serving(), [1]);
    }
    assert_eq!(stage.listen(5), [stop(1)]);
}

#[test]
fn a_worker_that_dies_while_it_is_recycled_leaves_its_place_to_its_successor() {
    let mut stage = Stage::ready(LIMITS, 1);
    stage.step(overweight(1));
    assert_eq!(stage.exit(1), []);
    assert_eq!(stage.listen(2), []);
    assert_eq!(stage.serving(), [2]);
}

#[test]
fn none_is_recycled_during_a_reload_which_replaces_it_anyway() {
    let mut stage = Stage::ready(LIMITS, 1);
    stage.step(overweight(1));
    assert_eq!(stage.reload(2), [stop(2), start_of(3, 0, 2)], "the one on its way is not needed");
    assert_eq!(stage.step(overweight(1)), []);
    assert_eq!(stage.exit(2), []);
    assert_eq!(stage.listen(3), [stop(1), reloaded(2)]);
    assert_eq!(stage.scheduler.next_deadline(), Some(stage.now.plus_ms(500)), "only the old one's stop");
}

#[test]
fn warm_up_requests_do_not_wear_a_worker_out() {
    let mut stage = Stage::new(Limits { warm_up: true, ..limits(1) });
    stage.step(Event::Scaled { workers: 1 });
    stage.listen(1);
    for request in 1..=5 {
        stage.warm_with(1, request);
        assert_eq!(stage.finish(1, request), []);
    }
    stage.warmed(1);
    assert_eq!(stage.arrive_at_worker(), 1);
    assert_eq!(stage.finish(1, 6)[0], recycling(1, RecycleReason::Requests));
}

#[test]
fn fresh_workers_that_are_too_large_are_replaced_more_and_more_seldom_and_that_is_said_once() {
    let mut stage = Stage::ready(LIMITS, 1);
    let mut last_ms = 0;
    for worker in 1..6 {
        let actions = stage.step(overweight(worker));
        if worker == 1 {
            assert_eq!(actions, [recycling(1, RecycleReason::Memory), start(2, 0)], "one alone is an accident");
        } else {
            assert_eq!(actions.contains(&Action::Bloated { worker: WorkerId(worker) }), worker == 2, "{actions:?}");
            let due = stage.scheduler.next_deadline().expect("it is replaced in the end");
            let delay_ms = due.since_us(stage.now) / 1000;
            assert!(delay_ms > last_ms, "{delay_ms} after {last_ms}");
            last_ms = delay_ms;
            assert_eq!(stage.pass_ms(delay_ms), [recycling(worker, RecycleReason::Memory), start(worker + 1, 0)]);
        }
        stage.listen(worker + 1);
        stage.exit(worker);
    }
    // One that has grown for long is not to blame for those before it.
    stage.pass_ms(LIMITS.healthy_after_ms);
    assert_eq!(stage.step(overweight(6)), [recycling(6, RecycleReason::Memory), start(7, 0)]);
}

#[test]
fn other_limits_hold_from_the_next_step() {
    let mut stage = Stage::ready(LIMITS, 1);
    for request in 1..=5 {
        stage.arrive();
        stage.finish(1, request);
    }
    stage.scheduler.set_limits(limits(3));
    assert!(stage.scheduler.next_deadline().is_some_and(|at| at <= stage.now));
    assert_eq!(stage.pass_ms(0)[0], recycling(1, RecycleReason::Requests));
}
