//! A worker whose event loop stands still for a while: it is lowered, another takes its place, and nothing is taken from it.

use sluice_scheduler::{Action, Event, KillReason, Limits, RecycleReason, WorkerId, WorkerState};

use crate::stage::{LIMITS, Stage, dispatch, kill, reloaded, start, start_of, stop};

fn overdue(worker: u64) -> Event {
    Event::Overdue { worker: WorkerId(worker) }
}

fn turned(worker: u64) -> Event {
    Event::Turned { worker: WorkerId(worker) }
}

fn lower(worker: u64) -> Action {
    Action::Lower { worker: WorkerId(worker) }
}

fn stands_in_for(worker: u64) -> Action {
    Action::Recycling { worker: WorkerId(worker), reason: RecycleReason::Overdue }
}

/// So many workers; the first holds request 1 and stands still, and worker `workers + 1` is to stand in for it.
fn overdue_stage(limits: Limits, workers: u32) -> Stage {
    let mut stage = Stage::ready(limits, workers);
    stage.pass_ms(10_000);
    assert_eq!(stage.arrive_at_worker(), 1);
    let stand_in = u64::from(workers) + 1;
    assert_eq!(stage.step(overdue(1)), [lower(1), stands_in_for(1), start(stand_in, 0)]);
    stage
}

#[test]
fn i1_i3_a_stand_in_takes_the_position_and_the_slow_request_finishes() {
    let mut stage = overdue_stage(LIMITS, 2);
    stage.arrive();
    stage.arrive();
    assert_eq!(stage.listen(3), [dispatch(3, 3)]);
    assert_eq!(stage.state(1), Some(WorkerState::Leaving));
    assert_eq!(stage.scheduler.in_service(), 3, "the slot of the slow one stays held");
    stage.step(turned(1));
    assert_eq!(stage.finish(1, 1), [stop(1)]);
    assert_eq!(stage.serving(), [2, 3]);
}

#[test]
fn a_loop_is_examined_and_killed_on_its_way_out() {
    let mut stage = overdue_stage(LIMITS, 1);
    stage.listen(2);
    let stuck = Event::Stuck { worker: WorkerId(1) };
    assert_eq!(stage.step(stuck), [Action::Examine { worker: WorkerId(1) }]);
    assert_eq!(stage.step(Event::Examined { worker: WorkerId(1) }), [kill(1, KillReason::Stuck)]);
    assert!(matches!(stage.exit(1)[..], [Action::Orphaned { .. }]), "its place is taken");
    assert_eq!(stage.serving(), [2]);
}

#[test]
fn a_stand_in_that_still_starts_when_the_worker_is_killed_has_the_place() {
    let mut stage = overdue_stage(LIMITS, 1);
    stage.step(Event::Stuck { worker: WorkerId(1) });
    stage.step(Event::Examined { worker: WorkerId(1) });
    assert!(matches!(stage.exit(1)[..], [Action::Orphaned { .. }]));
    assert_eq!(stage.listen(2), []);
    assert_eq!(stage.serving(), [2]);
}

#[test]
fn i4_a_blocked_worker_without_a_request_gets_none() {
    let mut stage = Stage::ready(LIMITS, 2);
    stage.step(overdue(1));
    assert_eq!(stage.arrive_at_worker(), 2);
    assert_eq!(stage.arrive(), [], "the first has a free slot, and would keep it");
    assert_eq!(stage.step(turned(1)), [dispatch(2, 1)]);
}

#[test]
fn i6_one_stand_in_runs_at_a_time_and_the_next_after_the_slow_worker_has_exited() {
    let mut stage = overdue_stage(LIMITS, 2);
    assert_eq!(stage.arrive_at_worker(), 2);
    assert_eq!(stage.step(overdue(2)), [], "nor is it lowered for nothing");
    stage.listen(3);
    assert_eq!(stage.pass_ms(0), []);
    stage.step(Event::Stuck { worker: WorkerId(1) });
    stage.step(Event::Examined { worker: WorkerId(1) });
    let actions = stage.exit(1);
    assert_eq!(actions[1..], [lower(2), stands_in_for(2), start(4, 1)]);
}

#[test]
fn a_needless_stand_in_makes_the_next_one_wait_and_longer_each_time() {
    let mut stage = overdue_stage(LIMITS, 1);
    let mut serves = 1;
    for wait_ms in [2_000, 4_000, 8_000, 16_000, 16_000] {
        stage.listen(serves + 1);
        // That it finishes something says as much as a word, and the word may never come.
        stage.finish(serves, serves);
        stage.exit(serves);
        serves += 1;
        assert_eq!(stage.arrive_at_worker(), serves);
        assert_eq!(stage.step(overdue(serves)), []);
        assert_eq!(stage.scheduler.next_deadline(), Some(stage.now.plus_ms(wait_ms)));
        assert_eq!(stage.pass_ms(wait_ms - 1), []);
        assert_eq!(stage.pass_ms(1), [lower(serves), stands_in_for(serves), start(serves + 1, 0)]);
    }
}

#[test]
fn a_worker_that_turns_in_time_is_left_alone() {
    let mut stage = overdue_stage(LIMITS, 1);
    stage.listen(2);
    stage.step(turned(1));
    stage.exit(1);
    assert_eq!(stage.step(overdue(2)), []);
    assert_eq!(stage.step(turned(2)), []);
    assert_eq!(stage.pass_ms(100_000), []);
    assert_eq!(stage.serving(), [2]);
}

#[test]
fn a_lowered_worker_is_replaced_even_if_its_first_stand_in_does_not_come_up() {
    let mut stage = overdue_stage(LIMITS, 1);
    stage.step(turned(1));
    let actions = stage.exit(2);
    let [Action::BackOff { instance: 0, delay_ms, .. }] = actions[..] else { panic!("{actions:?}") };
    assert_eq!(stage.serving(), [1]);
    assert_eq!(stage.pass_ms(delay_ms), [stands_in_for(1), start(3, 0)]);
}

#[test]
fn where_priorities_can_be_raised_a_worker_that_turns_in_time_is_kept() {
    let mut stage = overdue_stage(Limits { may_raise: true, ..LIMITS }, 1);
    assert_eq!(stage.step(turned(1)), [Action::Raise { worker: WorkerId(1) }, stop(2)]);
    assert_eq!(stage.finish(1, 1), []);
    assert_eq!(stage.serving(), [1]);
}

#[test]
fn a_reload_on_trial_goes_first_and_lowers_whom_it_replaces() {
    let mut stage = Stage::ready(LIMITS, 1);
    stage.reload(2);
    assert_eq!(stage.step(overdue(1)), [lower(1)], "its successor is on its way");
    assert_eq!(stage.listen(2), [stop(1), reloaded(2)]);
    let mut stage = Stage::ready(Limits { reload_at_once: 1, ..LIMITS }, 2);
    stage.reload(2);
    assert_eq!(stage.step(overdue(2)), []);
    assert_eq!(stage.listen(3), [stop(1), start_of(4, 1, 2), lower(2)]);
}

#[test]
fn worker_that_is_looked_into_gets_nothing_and_nothing_stands_in_for_it() {
    let paused = |is_paused| Event::Paused { worker: WorkerId(1), is_paused };
    let mut stage = Stage::ready(LIMITS, 1);
    assert_eq!(stage.step(paused(true)), []);
    assert_eq!(stage.arrive(), []);
    assert_eq!(stage.step(Event::Tick), []);
    assert_eq!(stage.step(paused(false)), [dispatch(1, 1)]);
    // What it held when it was paused it ends as ever, and gets nothing for it.
    assert_eq!(stage.arrive(), []);
    assert_eq!(stage.step(paused(true)), []);
    assert_eq!(stage.finish(1, 1), []);
    assert_eq!(stage.step(paused(false)), [dispatch(2, 1)]);
}
