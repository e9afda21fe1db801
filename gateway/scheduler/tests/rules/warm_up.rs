//! A worker that listens is warmed before it takes requests, as long as others are there to take them.

use sluice_scheduler::{AbandonReason, Action, Event, KillReason, Limits, RequestId, WorkerId, WorkerState};

use crate::stage::{LIMITS, Stage, abandoned, dispatch, kill, reloaded, start, start_of, stop, warm_up};

const WARM: Limits = Limits { warm_up: true, reload_at_once: 2, ..LIMITS };

/// So many workers, all warm.
fn warm(limits: Limits, workers: u32) -> Stage {
    let mut stage = Stage::ready(limits, workers);
    for worker in 1..=u64::from(workers) {
        stage.warmed(worker);
    }
    stage
}

fn warm_up_failed(worker: u64) -> Event {
    Event::WarmUpFailed { worker: WorkerId(worker) }
}

#[test]
fn i4_a_worker_in_its_warm_up_gets_no_request_while_another_serves() {
    let mut stage = warm(WARM, 2);
    stage.pass_ms(10_000);
    stage.exit(2);
    assert_eq!(stage.listen(3), [warm_up(3)]);
    assert_eq!(stage.arrive_at_worker(), 1);
    assert_eq!(stage.arrive(), []);
    assert_eq!(stage.warmed(3), [dispatch(2, 3)]);
}

#[test]
fn the_first_worker_is_warmed_as_long_as_nobody_waits() {
    let mut stage = Stage::new(WARM);
    stage.step(Event::Scaled { workers: 1 });
    assert_eq!(stage.listen(1), [warm_up(1)]);
    assert!(stage.scheduler.is_warming(WorkerId(1)));
    assert!(stage.scheduler.has_free_slot(), "for it serves at once if it must");
    assert_eq!(stage.arrive(), [dispatch(1, 1)], "serving beats warming");
    assert!(!stage.scheduler.is_warming(WorkerId(1)));
    assert_eq!(stage.warmed(1), []);
}

#[test]
fn a_worker_that_listens_while_requests_wait_and_nobody_serves_is_not_warmed() {
    let mut stage = Stage::new(WARM);
    stage.step(Event::Scaled { workers: 2 });
    stage.arrive();
    assert_eq!(stage.listen(1), [start(2, 1), dispatch(1, 1)]);
    assert_eq!(stage.listen(2), [warm_up(2)], "there is one that serves");
}

#[test]
fn all_that_are_being_warmed_serve_when_the_last_that_served_dies() {
    let mut stage = Stage::ready(WARM, 3);
    stage.warmed(1);
    stage.arrive();
    stage.arrive();
    let actions = stage.exit(1);
    assert_eq!(actions.last(), Some(&dispatch(2, 2)), "{actions:?}");
    assert_eq!(stage.serving(), [2, 3]);
}

#[test]
fn a_request_is_not_refused_for_want_of_a_queue_while_a_worker_could_serve_it() {
    let mut stage = Stage::new(Limits { queue_length_max: 0, ..WARM });
    stage.step(Event::Scaled { workers: 1 });
    stage.listen(1);
    assert_eq!(stage.arrive(), [dispatch(1, 1)]);
}

#[test]
fn i1_a_warm_up_request_holds_the_slot() {
    let mut stage = Stage::ready(WARM, 1);
    assert_eq!(stage.warm_with(1, 1), []);
    assert!(!stage.scheduler.is_warming(WorkerId(1)), "its slot is taken");
    stage.warm_with(1, 2);
    assert_eq!(stage.scheduler.in_service(), 1, "a second one is not taken in");
    assert_eq!(stage.arrive(), [], "it is called when its slot is free");
    assert_eq!(stage.finish(1, 1), [dispatch(3, 1)]);
    assert_eq!(stage.state(1), Some(WorkerState::Ready));
    assert_eq!(stage.scheduler.overlaps_total(), 0);
}

#[test]
fn a_warm_up_request_never_waits_and_says_nothing_about_service_times() {
    let mut stage = Stage::ready(WARM, 1);
    stage.warm_with(1, 1);
    assert_eq!(stage.step(Event::Undelivered { worker: WorkerId(1), request: RequestId(1) }), []);
    assert_eq!(stage.scheduler.queue_length(), 0);
    stage.warm_with(1, 2);
    stage.pass_ms(5_000);
    stage.finish(1, 2);
    stage.warmed(1);
    stage.arrive();
    assert_eq!(stage.scheduler.predicted_wait_ms(), None);
}

#[test]
fn a_warm_up_that_fails_keeps_no_worker_of_the_present_generation_from_serving() {
    let mut stage = Stage::ready(WARM, 1);
    assert_eq!(stage.step(warm_up_failed(1)), []);
    assert_eq!(stage.serving(), [1]);
}

#[test]
fn a_warm_up_that_fails_ends_a_reload() {
    let mut stage = warm(WARM, 2);
    assert_eq!(stage.reload(2), [start_of(3, 0, 2), start_of(4, 1, 2)]);
    stage.listen(3);
    stage.listen(4);
    assert_eq!(stage.warmed(3), []);
    let killed = [kill(3, KillReason::Abandoned), kill(4, KillReason::Abandoned)];
    let reason = AbandonReason::WarmUpFailed { worker: WorkerId(4) };
    assert_eq!(stage.step(warm_up_failed(4)), [killed[0], killed[1], abandoned(2, reason)]);
    assert_eq!(stage.serving(), [1, 2]);
}

#[test]
fn the_first_batch_takes_over_when_the_last_of_it_is_warm() {
    let mut stage = warm(WARM, 2);
    stage.reload(2);
    assert_eq!(stage.listen(3), [warm_up(3)]);
    assert_eq!(stage.warmed(3), []);
    assert_eq!(stage.state(3), Some(WorkerState::Warming));
    assert!(!stage.scheduler.is_warming(WorkerId(3)), "it is warm and waits for the other");
    assert_eq!(stage.step(warm_up_failed(3)), [], "it has been warmed");
    stage.listen(4);
    assert_eq!(stage.warmed(4), [stop(1), stop(2), reloaded(2)]);
}

#[test]
fn a_generation_on_trial_serves_nobody_however_many_wait() {
    let mut stage = warm(WARM, 1);
    stage.arrive();
    stage.reload(2);
    stage.listen(2);
    stage.exit(1);
    assert_eq!(stage.arrive(), []);
    assert_eq!(stage.state(2), Some(WorkerState::Warming));
    assert!(!stage.scheduler.has_free_slot());
    assert_eq!(stage.listen(3)[0], dispatch(2, 3), "the old app serves again");
}

#[test]
fn a_successor_of_a_generation_in_force_takes_over_unwarmed_when_nobody_serves() {
    let mut stage = warm(WARM, 1);
    stage.step(Event::Overweight { worker: WorkerId(1) });
    stage.listen(2);
    assert_eq!(stage.step(Event::Closing { worker: WorkerId(1) }), [stop(1)]);
    assert_eq!(stage.arrive(), [dispatch(1, 2)]);
}

#[test]
fn a_worker_that_dies_while_it_is_warmed_is_a_failure_of_its_place() {
    let mut stage = Stage::ready(WARM, 1);
    stage.warm_with(1, 1);
    let actions = stage.exit(1);
    assert!(matches!(actions[..], [Action::Orphaned { .. }, Action::Start { .. }]), "{actions:?}");
}
