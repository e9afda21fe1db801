//! A version that is tried before it takes over: beside the present one, or with the first batch.

use sluice_scheduler::{
    AbandonReason, Action, Event, Hold, Home, KillReason, Limits, Need, RequestId, WorkerId, WorkerState,
};

use crate::stage::{LIMITS, Stage, abandoned, dispatch, kill, reloaded, start, start_of, stop};

const TURNED_BACK: AbandonReason = AbandonReason::TurnedBack;

fn of(worker: u64) -> Need {
    Need { home: Home::At(WorkerId(worker)), ..Need::default() }
}

/// A visitor without a session, who was drawn for this worker.
fn drawn(worker: u64) -> Need {
    Need { drawn: true, ..of(worker) }
}

fn tried(stage: &Stage) -> Vec<u64> {
    stage.scheduler.tried().map(|worker| worker.0).collect()
}

fn is_held(stage: &Stage) -> bool {
    stage.scheduler.reload_progress().is_some_and(|progress| progress.is_held)
}

fn try_beside(stage: &mut Stage, generation: u64, workers: u32) -> Vec<Action> {
    stage.step(Event::TrialAsked { generation, hold: Hold::Beside { workers } })
}

/// Two workers, and worker 3 of generation 2 on trial.
fn on_trial(limits: Limits) -> Stage {
    let mut stage = Stage::ready(limits, 2);
    assert_eq!(try_beside(&mut stage, 2, 1), [start_of(3, 0, 2)]);
    assert_eq!(stage.listen(3), []);
    stage
}

#[test]
fn a_version_on_trial_takes_only_requests_that_are_for_it_and_the_present_one_keeps_its_workers() {
    let mut stage = on_trial(LIMITS);
    assert_eq!((stage.serving(), tried(&stage), stage.scheduler.generation()), (vec![1, 2], vec![3], 1));
    assert!(is_held(&stage));
    assert_eq!(stage.scheduler.ready_count(), 2);
    assert_eq!([stage.arrive_at_worker(), stage.arrive_at_worker()], [1, 2]);
    assert_eq!(stage.arrive(), [], "worker 3 is free, and not for it");
    assert_eq!(stage.arrive_with(of(3)), [dispatch(4, 3)]);
    assert_eq!(stage.arrive_with(of(3)), []);
    assert_eq!(stage.finish(3, 4), [dispatch(5, 3)]);
    assert_eq!(stage.finish(1, 1), [dispatch(3, 1)]);
}

#[test]
fn a_version_that_passes_takes_the_places_over_and_its_worker_stays() {
    let mut stage = on_trial(LIMITS);
    assert_eq!(stage.arrive_with(of(3)), [dispatch(1, 3)]);
    assert_eq!(stage.step(Event::TrialPassed { generation: 2 }), [stop(1), start_of(4, 1, 2)]);
    assert_eq!((stage.serving(), tried(&stage), stage.scheduler.generation()), (vec![2, 3], vec![], 2));
    assert_eq!(stage.listen(4), [stop(2), reloaded(2)]);
    assert_eq!(stage.finish(3, 1), []);
    assert_eq!(stage.step(Event::TrialFailed { generation: 2 }), [], "too late");
}

#[test]
fn a_version_that_fails_finishes_what_it_holds_and_others_get_what_waits_for_it() {
    let mut stage = on_trial(LIMITS);
    assert_eq!(stage.arrive_with(of(3)), [dispatch(1, 3)]);
    assert_eq!(stage.arrive_with(of(3)), []);
    assert_eq!(stage.step(Event::TrialFailed { generation: 2 }), [abandoned(2, TURNED_BACK), dispatch(2, 1)]);
    assert_eq!((stage.state(3), stage.scheduler.generation()), (Some(WorkerState::Leaving), 1));
    assert_eq!(stage.finish(3, 1), [stop(3)]);
    assert_eq!(stage.exit(3), []);
    assert_eq!(stage.scheduler.next_deadline(), None);
}

#[test]
fn a_version_that_does_not_come_up_is_abandoned_at_once_and_one_that_served_at_its_third_death() {
    let mut stage = Stage::ready(LIMITS, 2);
    try_beside(&mut stage, 2, 1);
    assert_eq!(stage.exit(3), [abandoned(2, AbandonReason::Exited { worker: WorkerId(3) })]);

    let mut stage = on_trial(LIMITS);
    assert_eq!(stage.arrive_with(of(3)), [dispatch(1, 3)]);
    let died = stage.exit(3);
    assert!(matches!(died[..], [Action::Orphaned { .. }, Action::BackOff { .. }]), "{died:?}");
    assert_eq!(stage.arrive_with(of(3)), [dispatch(2, 1)], "nobody waits for a worker that is gone");
    assert_eq!(stage.pass_ms(1_000), [start_of(4, 0, 2)]);
    assert!(matches!(stage.exit(4)[..], [Action::BackOff { .. }]), "it never listened, but the version did");
    assert_eq!(stage.pass_ms(2_000), [start_of(5, 0, 2)]);
    assert_eq!(stage.exit(5), [abandoned(2, AbandonReason::Exited { worker: WorkerId(5) })]);
    assert_eq!((stage.serving(), stage.scheduler.generation()), (vec![1, 2], 1));
}

#[test]
fn a_crowd_that_tries_a_version_gets_the_present_one_rather_than_a_refusal() {
    let mut stage = on_trial(LIMITS);
    for _ in 0..5 {
        stage.arrive_with(drawn(3));
    }
    assert_eq!(stage.scheduler.queue_length(), 4, "one is served, and four may wait");
    assert_eq!(stage.arrive_with(drawn(3)), [dispatch(6, 1)]);
    assert_eq!(stage.arrive_with(of(3)), [], "what a session needs is in its worker alone");
}

#[test]
fn who_waits_for_a_blocked_worker_on_trial_gets_the_present_version_unless_his_session_is_there() {
    let mut stage = on_trial(LIMITS);
    stage.arrive_with(of(3));
    assert_eq!([stage.arrive_with(of(3)), stage.arrive_with(drawn(3))], [[], []]);
    assert_eq!(stage.step(Event::Overdue { worker: WorkerId(3) }), [dispatch(3, 1)]);
    assert_eq!(stage.arrive_with(drawn(3)), [dispatch(4, 2)]);
    assert_eq!(stage.scheduler.queue_length(), 1);
}

#[test]
fn a_worker_of_the_present_version_that_dies_meanwhile_is_replaced_by_one_of_its_own() {
    let mut stage = on_trial(LIMITS);
    assert_eq!(stage.exit(1), [start(4, 0)]);
    assert_eq!(stage.exit(2), [start(5, 1)]);
    assert_eq!(stage.arrive(), [], "worker 3 does not stand in");
    assert_eq!(stage.listen(4), [dispatch(1, 4)]);
}

#[test]
fn a_present_worker_is_recycled_meanwhile_by_one_of_its_version() {
    let mut stage = on_trial(LIMITS);
    let recycled = stage.step(Event::Overweight { worker: WorkerId(2) });
    assert_eq!(recycled.last(), Some(&start(4, 1)), "{recycled:?}");
    assert_eq!(stage.listen(4), [stop(2)]);
    assert_eq!((stage.serving(), tried(&stage), is_held(&stage)), (vec![1, 4], vec![3], true));
    assert_eq!(stage.step(Event::TrialPassed { generation: 2 }), [stop(1), start_of(5, 1, 2)]);
}

#[test]
fn another_reload_ends_a_trial_and_a_stop_too() {
    let mut stage = on_trial(LIMITS);
    assert_eq!(stage.reload(3), [abandoned(2, AbandonReason::Superseded), stop(3), start_of(4, 0, 3)]);

    let mut stage = on_trial(LIMITS);
    assert_eq!(stage.step(Event::Stopping), [abandoned(2, AbandonReason::Stopping), stop(1), stop(2), stop(3)]);
}

#[test]
fn a_stuck_worker_on_trial_is_killed_and_started_again() {
    let mut stage = on_trial(LIMITS);
    assert_eq!(stage.arrive_with(of(3)), [dispatch(1, 3)]);
    stage.step(Event::Overdue { worker: WorkerId(3) });
    assert_eq!(tried(&stage), [], "nobody is sent to it");
    let stuck = stage.step(Event::Stuck { worker: WorkerId(3) });
    assert!(matches!(stuck[..], [Action::Examine { .. }, Action::BackOff { .. }]), "{stuck:?}");
    assert_eq!(stage.step(Event::Examined { worker: WorkerId(3) }), [kill(3, KillReason::Stuck)]);
    stage.exit(3);
    assert_eq!(stage.pass_ms(1_000), [start_of(4, 0, 2)]);
}

#[test]
fn scaling_leaves_the_trial_alone() {
    let mut stage = on_trial(LIMITS);
    assert_eq!(stage.step(Event::Scaled { workers: 3 }), [start(4, 2)]);
    stage.listen(4);
    assert_eq!(stage.step(Event::Scaled { workers: 1 }), [stop(2), stop(4)]);
    assert_eq!((stage.serving(), tried(&stage)), (vec![1], vec![3]));
    assert_eq!(stage.step(Event::TrialPassed { generation: 2 }), [stop(1), reloaded(2)]);
}

#[test]
fn several_workers_on_trial_begin_together() {
    let mut stage = Stage::ready(LIMITS, 4);
    assert_eq!(try_beside(&mut stage, 2, 2), [start_of(5, 0, 2), start_of(6, 1, 2)]);
    stage.listen(5);
    assert_eq!((tried(&stage), is_held(&stage)), (vec![], false));
    stage.listen(6);
    assert_eq!((tried(&stage), is_held(&stage)), (vec![5, 6], true));
}

#[test]
fn a_reload_stops_after_the_batches_that_it_may_replace() {
    let mut stage = Stage::ready(LIMITS, 3);
    let hold = Hold::Batches { batches: 1 };
    assert_eq!(stage.step(Event::TrialAsked { generation: 2, hold }), [start_of(4, 0, 2)]);
    assert_eq!(stage.listen(4), [stop(1)]);
    assert!(is_held(&stage));
    stage.exit(1);
    assert_eq!((stage.serving(), stage.pass_ms(10_000)), (vec![2, 3, 4], vec![]));
    assert_eq!(stage.arrive_at_worker(), 4, "it serves like any");
    assert_eq!(stage.step(Event::TrialPassed { generation: 2 }), [start_of(5, 1, 2)]);
    stage.listen(5);
    assert_eq!(stage.listen(6).last(), Some(&reloaded(2)));
}

#[test]
fn a_version_that_has_taken_over_and_fails_gives_its_places_back() {
    let mut stage = Stage::ready(LIMITS, 3);
    stage.step(Event::TrialAsked { generation: 2, hold: Hold::Batches { batches: 1 } });
    stage.listen(4);
    assert_eq!(stage.arrive_at_worker(), 4);
    assert_eq!(stage.step(Event::TrialFailed { generation: 2 }), [start(5, 0)]);
    assert_eq!(stage.scheduler.generation(), 1);
    assert_eq!(stage.listen(5), [abandoned(2, TURNED_BACK)]);
    assert_eq!((stage.serving(), stage.state(4)), (vec![2, 3, 5], Some(WorkerState::Leaving)));
    assert_eq!(stage.step(Event::Finished { worker: WorkerId(4), request: RequestId(1) }), [stop(4)]);
}

/// Three workers, of which the first one was replaced by worker 4 of generation 2.
fn held_in_batches() -> Stage {
    let mut stage = Stage::ready(LIMITS, 3);
    stage.step(Event::TrialAsked { generation: 2, hold: Hold::Batches { batches: 1 } });
    stage.listen(4);
    stage.exit(1);
    stage
}

#[test]
fn batches_that_cover_the_pool_leave_a_worker_to_compare_with() {
    let mut stage = Stage::ready(LIMITS, 2);
    stage.step(Event::TrialAsked { generation: 2, hold: Hold::Batches { batches: 5 } });
    assert_eq!(stage.listen(3), [stop(1)]);
    stage.exit(1);
    assert_eq!((is_held(&stage), stage.serving(), stage.pass_ms(10_000)), (true, vec![2, 3], vec![]));
    stage.step(Event::Scaled { workers: 1 });
    stage.exit(2);
    assert_eq!((is_held(&stage), stage.serving()), (true, vec![3]), "a trial ends by its own end alone");
    assert_eq!(stage.step(Event::TrialPassed { generation: 2 }), [reloaded(2)]);
    assert_eq!(stage.scheduler.generation(), 2);
}

#[test]
fn what_dies_or_is_recycled_while_batches_are_held_gets_a_worker_of_its_own_version() {
    let mut stage = held_in_batches();
    assert_eq!(stage.scheduler.generation(), 1, "what is on trial is not in force");
    assert_eq!(stage.exit(2), [start(5, 1)]);
    stage.listen(5);
    assert_eq!(stage.exit(4), [start_of(6, 0, 2)]);
    stage.listen(6);
    let recycled = stage.step(Event::Overweight { worker: WorkerId(3) });
    assert_eq!(recycled.last(), Some(&start(7, 2)), "{recycled:?}");
    assert_eq!(stage.listen(7), [stop(3)]);
    assert_eq!((is_held(&stage), stage.scheduler.generation()), (true, 1));
    stage.exit(3);
    let recycled = stage.step(Event::Overweight { worker: WorkerId(6) });
    assert_eq!(recycled.last(), Some(&start_of(8, 0, 2)), "{recycled:?}");
}

#[test]
fn a_reload_during_held_batches_falls_back_to_what_was_in_force_before_them() {
    let mut stage = held_in_batches();
    assert_eq!(stage.reload(3), [abandoned(2, AbandonReason::Superseded), start_of(5, 0, 3)]);
    let given_up = abandoned(3, AbandonReason::Exited { worker: WorkerId(5) });
    assert_eq!(stage.exit(5), [given_up, start(6, 0)], "worker 4 is of a version that has not passed");
    assert_eq!(stage.listen(6), [stop(4)]);
    assert_eq!((stage.serving(), stage.scheduler.generation()), (vec![2, 3, 6], 1));
}
