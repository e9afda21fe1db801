//! How a new generation takes the pool over without anybody waiting for it, and when it is given up.

use sluice_scheduler::{
    AbandonReason, Action, Event, KillReason, Limits, Need, ReloadProgress, RequestId, Time, WorkerId, WorkerState,
};

use crate::stage::{LIMITS, Stage, abandoned, dispatch, kill, reloaded, start, start_of, stop};

pub const TWO_AT_ONCE: Limits = Limits { reload_at_once: 2, ..LIMITS };

pub fn back_off_ms(actions: &[Action]) -> u64 {
    let delays: Vec<_> = actions
        .iter()
        .filter_map(|action| if let Action::BackOff { delay_ms, .. } = action { Some(*delay_ms) } else { None })
        .collect();
    let [delay_ms] = delays[..] else { panic!("one back-off expected: {actions:?}") };
    delay_ms
}

/// Four workers, and the first two places have the new generation already; workers 7 and 8 start in the others.
fn half_way() -> Stage {
    let mut stage = Stage::ready(TWO_AT_ONCE, 4);
    stage.reload(2);
    stage.listen(5);
    stage.listen(6);
    stage
}

#[test]
fn i3_the_first_batch_takes_over_together_and_the_rest_follow_one_by_one() {
    let mut stage = Stage::ready(TWO_AT_ONCE, 4);
    assert_eq!(stage.reload(2), [start_of(5, 0, 2), start_of(6, 1, 2)]);
    assert_eq!(stage.listen(5), []);
    assert_eq!((stage.serving(), stage.scheduler.generation()), (vec![1, 2, 3, 4], 1), "5 waits for 6");
    assert_eq!(stage.listen(6), [stop(1), stop(2), start_of(7, 2, 2), start_of(8, 3, 2)]);
    assert_eq!((stage.serving(), stage.scheduler.generation()), (vec![3, 4, 5, 6], 2));
    assert_eq!(stage.listen(8), [stop(4)]);
    assert_eq!(stage.serving(), [3, 5, 6, 8]);
    assert_eq!(stage.listen(7), [stop(3), reloaded(2)]);
    assert_eq!(stage.serving(), [5, 6, 7, 8]);
    for old in 1..=4 {
        assert_eq!(stage.exit(old), [], "its place is taken");
    }
}

#[test]
fn i3_an_old_worker_finishes_its_requests_and_gets_no_more() {
    let mut stage = Stage::ready(LIMITS, 1);
    assert_eq!(stage.arrive_at_worker(), 1);
    stage.arrive();
    assert_eq!(stage.reload(2), [start_of(2, 0, 2)]);
    assert_eq!(stage.listen(2), [reloaded(2), dispatch(2, 2)]);
    assert_eq!(stage.state(1), Some(WorkerState::Leaving));
    assert_eq!(stage.arrive(), []);
    assert_eq!(stage.finish(1, 1), [stop(1)], "and does not get the one that waits");
}

#[test]
fn a_quarter_of_the_pool_starts_at_once_unless_told_otherwise() {
    for (workers, at_once, expected) in [(8, 0, 2), (3, 0, 1), (4, 3, 3), (2, 5, 2)] {
        let mut stage = Stage::ready(Limits { reload_at_once: at_once, ..LIMITS }, workers);
        assert_eq!(stage.reload(2).len(), expected, "{workers} workers, {at_once} at once");
    }
}

#[test]
fn a_generation_of_which_one_exits_in_the_first_batch_is_abandoned_and_the_old_stays() {
    let mut stage = Stage::ready(TWO_AT_ONCE, 4);
    stage.reload(2);
    stage.listen(5);
    let reason = AbandonReason::Exited { worker: WorkerId(6) };
    assert_eq!(stage.exit(6), [kill(5, KillReason::Abandoned), abandoned(2, reason)]);
    assert_eq!((stage.serving(), stage.scheduler.generation()), (vec![1, 2, 3, 4], 1));
    assert_eq!(stage.exit(5), []);
    assert_eq!(stage.scheduler.next_deadline(), None, "nothing more comes of it");
    stage.exit(1);
    assert_eq!(stage.scheduler.workers().last().map(|view| view.generation), Some(1));
}

#[test]
fn a_generation_that_does_not_listen_in_time_is_abandoned() {
    let mut stage = Stage::ready(TWO_AT_ONCE, 2);
    stage.reload(2);
    stage.listen(3);
    let reason = AbandonReason::StartTimeout { worker: WorkerId(4) };
    let killed = [kill(4, KillReason::StartTimeout), kill(3, KillReason::Abandoned)];
    assert_eq!(stage.pass_ms(1_000), [killed[0], killed[1], abandoned(2, reason)]);
    assert_eq!(stage.serving(), [1, 2]);
}

#[test]
fn a_first_worker_that_closes_faults_or_sticks_before_it_serves_ends_the_reload() {
    let (of, exited) = (WorkerId(2), AbandonReason::Exited { worker: WorkerId(2) });
    for (event, reason) in [(Event::Closing { worker: of }, exited), (Event::Faulted { worker: of }, exited)] {
        let mut stage = Stage::ready(Limits { warm_up: true, ..LIMITS }, 1);
        stage.warmed(1);
        stage.reload(2);
        stage.listen(2);
        assert_eq!(stage.step(event), [kill(2, KillReason::Abandoned), abandoned(2, reason)]);
        assert_eq!(stage.exit(2), []);
    }
    let mut stage = Stage::ready(Limits { warm_up: true, ..LIMITS }, 1);
    stage.warmed(1);
    stage.reload(2);
    stage.listen(2);
    let reason = AbandonReason::WarmUpFailed { worker: of };
    assert_eq!(stage.step(Event::Stuck { worker: of }), [Action::Examine { worker: of }, abandoned(2, reason)]);
    assert_eq!(stage.step(Event::Examined { worker: of }), [kill(2, KillReason::Stuck)]);
}

#[test]
fn a_worker_that_can_serve_takes_its_place_before_the_time_of_another_is_over_in_the_same_step() {
    let mut stage = half_way();
    stage.exit(1);
    stage.exit(2);
    for (failed, next) in [(7, 9), (9, 10)] {
        let delay_ms = back_off_ms(&stage.exit(failed));
        assert_eq!(stage.pass_ms(delay_ms), [start_of(next, 2, 2)]);
    }
    stage.now = Time(0).plus_ms(LIMITS.start_timeout_ms);
    let reason = AbandonReason::StartTimeout { worker: WorkerId(8) };
    assert_eq!(stage.listen(10), [kill(8, KillReason::StartTimeout), abandoned(2, reason), stop(3)]);
    assert_eq!(stage.serving(), [4, 5, 6, 10], "10 is not given up with its generation");
}

#[test]
fn a_later_worker_that_fails_is_tried_again_and_the_third_failure_ends_the_reload() {
    let mut stage = half_way();
    let delay_ms = back_off_ms(&stage.exit(7));
    assert_eq!(stage.listen(8), [stop(4)], "the other goes on, and none is started beside it");
    assert_eq!(stage.scheduler.next_deadline(), Some(stage.now.plus_ms(delay_ms)));
    assert_eq!(stage.pass_ms(delay_ms), [start_of(9, 2, 2)]);
    let delay_ms = back_off_ms(&stage.exit(9));
    assert!(delay_ms >= 200, "it doubles: {delay_ms}");
    assert_eq!(stage.pass_ms(delay_ms), [start_of(10, 2, 2)]);
    assert_eq!(stage.exit(10), [abandoned(2, AbandonReason::Exited { worker: WorkerId(10) })]);
    assert_eq!((stage.serving(), stage.scheduler.generation()), (vec![3, 5, 6, 8], 2), "mixed");
    assert_eq!(stage.exit(3), [start_of(11, 2, 2)], "in force is what took over");
    stage.listen(11);
    assert_eq!(stage.reload(3).len(), 2, "and the next reload replaces all of them");
}

#[test]
fn a_reload_during_a_reload_takes_its_place() {
    let mut stage = half_way();
    let killed = [kill(7, KillReason::Abandoned), kill(8, KillReason::Abandoned)];
    let superseded = abandoned(2, AbandonReason::Superseded);
    let started = [start_of(9, 0, 3), start_of(10, 1, 3)];
    assert_eq!(stage.reload(3), [killed[0], killed[1], superseded, started[0], started[1]]);
    assert_eq!(stage.serving(), [3, 4, 5, 6], "what took over is an old one now");
    assert_eq!(stage.listen(7), [], "too late");
    stage.listen(9);
    assert_eq!(stage.listen(10)[..2], [stop(5), stop(6)]);
    assert_eq!(stage.reload(3), [], "asked for already");
}

#[test]
fn i4_a_worker_of_an_abandoned_generation_gets_no_request_whatever_it_reports() {
    let mut stage = Stage::ready(LIMITS, 1);
    stage.arrive();
    stage.arrive();
    stage.reload(2);
    stage.reload(3);
    for event in [Event::Listening { worker: WorkerId(2) }, Event::Warmed { worker: WorkerId(2) }] {
        assert_eq!(stage.step(event), []);
    }
    assert_eq!(stage.scheduler.queue_length(), 1);
}

#[test]
fn an_old_worker_that_dies_before_the_first_batch_took_over_is_replaced_by_an_old_one() {
    let mut stage = Stage::ready(LIMITS, 1);
    stage.reload(2);
    assert_eq!(stage.exit(1), [start(3, 0)]);
    assert_eq!(stage.listen(2), [stop(3), reloaded(2)]);
    assert_eq!(stage.exit(3), []);
}

#[test]
fn an_old_worker_that_dies_later_leaves_its_place_to_the_successor_on_its_way() {
    let mut stage = half_way();
    assert_eq!(stage.exit(3), []);
    assert_eq!(stage.listen(8), [stop(4)]);
    assert_eq!(stage.listen(7), [reloaded(2)]);
}

#[test]
fn a_successor_that_inherited_its_place_and_fails_counts_against_the_reload() {
    let mut stage = half_way();
    stage.exit(3);
    let mut worker = 7;
    for failures in 1..=3 {
        let actions = stage.exit(worker);
        let delay_ms = back_off_ms(&actions);
        let reason = AbandonReason::Exited { worker: WorkerId(worker) };
        assert_eq!(actions.contains(&abandoned(2, reason)), failures == 3, "{actions:?}");
        let started = stage.pass_ms(delay_ms);
        let Some(Action::Start { worker: next, instance: 2, generation: 2, .. }) = started.last() else {
            panic!("the place goes on: {started:?}")
        };
        worker = next.0;
        if failures == 1 {
            stage.listen(8);
        }
    }
}

#[test]
fn a_reload_mends_a_pool_whose_every_worker_waits_in_its_back_off() {
    let mut stage = Stage::ready(LIMITS, 1);
    stage.exit(1);
    back_off_ms(&stage.exit(2));
    assert_eq!(stage.reload(2), [start_of(3, 0, 2)]);
    assert_eq!(stage.listen(3), [reloaded(2)]);
}

#[test]
fn a_generation_that_took_over_is_tried_at_once_where_the_one_before_waits_in_its_back_off() {
    let mut stage = Stage::ready(LIMITS, 2);
    stage.exit(2);
    back_off_ms(&stage.exit(3));
    assert_eq!(stage.reload(2), [start_of(4, 0, 2)]);
    assert_eq!(stage.listen(4), [stop(1), start_of(5, 1, 2)]);
    assert_eq!(stage.listen(5), [reloaded(2)]);
}

#[test]
fn the_gateway_does_not_give_up_while_a_reload_may_mend_what_is_broken() {
    let mut stage = Stage::new(LIMITS);
    stage.step(Event::Scaled { workers: 1 });
    assert_eq!(stage.reload(2), [start_of(2, 0, 2)]);
    assert!(matches!(stage.exit(1)[..], [Action::BackOff { .. }]));
    let reason = AbandonReason::Exited { worker: WorkerId(2) };
    assert_eq!(stage.exit(2), [abandoned(2, reason)]);
    stage.pass_ms(1_000);
    assert_eq!(stage.exit(3), [Action::GiveUp]);
    assert_eq!(stage.reload(3), [abandoned(3, AbandonReason::Stopping)]);
}

#[test]
fn scaling_during_a_reload_starts_and_dismisses_the_right_ones() {
    let mut stage = half_way();
    assert_eq!(stage.step(Event::Scaled { workers: 5 }), [start_of(9, 4, 2)], "a new place has the new generation");
    assert_eq!(stage.step(Event::Scaled { workers: 3 }), [stop(4), stop(8), stop(9)]);
    assert_eq!(stage.exit(8), [], "nobody's failure");
    assert_eq!(stage.listen(7), [stop(3), reloaded(2)]);
    let mut stage = Stage::ready(TWO_AT_ONCE, 3);
    stage.reload(2);
    assert_eq!(stage.step(Event::Scaled { workers: 4 }), [start(6, 3)], "the old one while the new is on trial");
    assert_eq!(stage.step(Event::Scaled { workers: 1 }), [stop(2), stop(3), stop(5), stop(6)]);
    assert_eq!(stage.listen(4), [stop(1), reloaded(2)], "the batch is what is left of it");
}

#[test]
fn the_first_batch_gets_no_more_once_it_is_chosen() {
    let mut stage = Stage::ready(TWO_AT_ONCE, 4);
    stage.reload(2);
    assert_eq!(stage.step(Event::Scaled { workers: 1 }), [stop(2), stop(3), stop(4), stop(6)]);
    let others = [start(7, 1), start(8, 2), start(9, 3)];
    assert_eq!(stage.step(Event::Scaled { workers: 4 }), others, "or it might never be whole");
    assert_eq!(stage.listen(5), [stop(1), start_of(10, 1, 2), start_of(11, 2, 2)]);
}

#[test]
fn stopping_ends_a_reload() {
    let mut stage = Stage::ready(LIMITS, 1);
    stage.reload(2);
    assert_eq!(stage.step(Event::Stopping), [abandoned(2, AbandonReason::Stopping), stop(1), stop(2)]);
    assert_eq!(stage.reload(3), [abandoned(3, AbandonReason::Stopping)]);
    stage.exit(1);
    stage.exit(2);
    assert!(stage.scheduler.is_stopped());
}

#[test]
fn a_pool_of_nothing_is_reloaded_at_once() {
    let mut stage = Stage::new(LIMITS);
    assert_eq!(stage.reload(2), [reloaded(2)]);
    assert_eq!(stage.step(Event::Scaled { workers: 1 }), [start_of(1, 0, 2)]);
}

#[test]
fn the_operator_sees_how_far_a_reload_is() {
    let mut stage = Stage::ready(TWO_AT_ONCE, 4);
    assert_eq!(stage.scheduler.reload_progress(), None);
    stage.reload(2);
    let begun =
        ReloadProgress { generation: 2, wanted: 4, taken_over: 0, starting: 2, is_held_back: false, is_held: false };
    assert_eq!(stage.scheduler.reload_progress(), Some(begun));
    stage.listen(5);
    assert_eq!(stage.scheduler.reload_progress(), Some(begun));
    stage.listen(6);
    stage.listen(7);
    let later = ReloadProgress { taken_over: 3, starting: 1, ..begun };
    assert_eq!(stage.scheduler.reload_progress(), Some(later));
    stage.listen(8);
    assert_eq!(stage.scheduler.reload_progress(), None);
}

#[test]
fn i5_a_request_that_may_be_retried_returns_to_its_old_place_with_its_old_deadline() {
    let mut stage = Stage::ready(LIMITS, 1);
    let arrived = stage.now;
    for _ in 0..3 {
        stage.arrive();
    }
    stage.pass_ms(4_000);
    stage.exit(1);
    let retried = Event::Retried { request: RequestId(1), arrived, need: Need::default() };
    assert_eq!(stage.step(retried), []);
    assert_eq!(stage.scheduler.oldest_arrival(), Some(arrived));
    assert_eq!(stage.listen(2), [dispatch(1, 2)]);
    stage.pass_ms(7_000);
    assert!(matches!(stage.exit(2)[..], [Action::Orphaned { .. }, ..]));
    assert!(matches!(stage.step(retried)[..], [Action::Refuse { .. }]), "its time is over");
}
