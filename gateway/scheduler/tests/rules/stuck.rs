//! A worker whose event loop does not turn: it gets nothing, is looked into, and is killed.

use sluice_scheduler::{Action, Event, KillReason, WorkerId, WorkerState};

use crate::stage::{LIMITS, Stage, dispatch, kill, start, stop};

fn stuck(worker: u64) -> Event {
    Event::Stuck { worker: WorkerId(worker) }
}

fn examined(worker: u64) -> Event {
    Event::Examined { worker: WorkerId(worker) }
}

fn examine(worker: u64) -> Action {
    Action::Examine { worker: WorkerId(worker) }
}

#[test]
fn i4_a_stuck_worker_gets_no_request_even_if_it_finishes() {
    let mut stage = Stage::ready(LIMITS, 1);
    stage.arrive();
    stage.arrive();
    assert_eq!(stage.step(stuck(1)), [examine(1)]);
    assert_eq!(stage.state(1), Some(WorkerState::Stuck));
    assert_eq!(stage.finish(1, 1), []);
    assert_eq!(stage.step(examined(1)), [kill(1, KillReason::Stuck)]);
    assert_eq!(stage.step(examined(1)), []);
    assert_eq!(stage.exit(1), [start(2, 0)]);
    assert_eq!(stage.listen(2), [dispatch(2, 2)]);
}

#[test]
fn i6_an_examination_that_takes_too_long_is_not_waited_for() {
    let mut stage = Stage::ready(LIMITS, 1);
    stage.step(stuck(1));
    assert_eq!(stage.scheduler.next_deadline(), Some(stage.now.plus_ms(900)));
    assert_eq!(stage.pass_ms(899), []);
    assert_eq!(stage.pass_ms(1), [kill(1, KillReason::Stuck)]);
    assert_eq!(stage.step(examined(1)), []);
}

#[test]
fn i1_the_slot_stays_in_use_and_the_position_empty_until_the_stuck_worker_has_exited() {
    let mut stage = Stage::ready(LIMITS, 1);
    stage.pass_ms(10_000);
    stage.arrive();
    stage.step(stuck(1));
    assert_eq!(stage.step(examined(1)), [kill(1, KillReason::Stuck)], "and nothing is started beside it");
    assert_eq!(stage.scheduler.in_service(), 1);
    assert!(matches!(stage.exit(1)[..], [Action::Orphaned { .. }, Action::Start { .. }]));
}

#[test]
fn a_worker_on_its_way_out_may_be_stuck_too_and_is_killed() {
    let mut stage = Stage::ready(LIMITS, 1);
    stage.arrive();
    stage.step(Event::Closing { worker: WorkerId(1) });
    assert_eq!(stage.step(stuck(1)), [examine(1)]);
    assert_eq!(stage.step(examined(1)), [kill(1, KillReason::Stuck)]);
}

#[test]
fn a_worker_that_starts_or_stops_has_a_deadline_already() {
    let mut stage = Stage::new(LIMITS);
    stage.step(Event::Scaled { workers: 1 });
    assert_eq!(stage.step(stuck(1)), []);
    assert_eq!(stage.step(Event::Stopping), [stop(1)]);
    assert_eq!(stage.step(stuck(1)), []);
}

#[test]
fn a_gateway_that_leaves_does_not_ask_a_stuck_worker_to_stop_but_kills_it() {
    let mut stage = Stage::ready(LIMITS, 2);
    stage.step(stuck(1));
    assert_eq!(stage.step(Event::Stopping), [stop(2)]);
    assert_eq!(stage.pass_ms(500), [kill(2, KillReason::StopTimeout)]);
    assert_eq!(stage.pass_ms(400), [kill(1, KillReason::Stuck)]);
}

#[test]
fn a_reload_starts_nothing_beside_a_stuck_worker() {
    let mut stage = Stage::ready(LIMITS, 1);
    stage.pass_ms(10_000);
    stage.step(stuck(1));
    assert_eq!(stage.reload(2), []);
    stage.step(examined(1));
    let actions = stage.exit(1);
    assert!(matches!(actions[..], [Action::Start { generation: 1, .. }, Action::Start { generation: 2, .. }]));
}

#[test]
fn an_old_worker_that_sticks_while_its_successor_starts_is_taken_over_and_killed() {
    let mut stage = Stage::ready(LIMITS, 1);
    stage.reload(2);
    assert_eq!(stage.step(stuck(1)), [examine(1)]);
    assert!(stage.listen(2).contains(&Action::Reloaded { generation: 2 }));
    assert_eq!(stage.step(examined(1)), [kill(1, KillReason::Stuck)]);
    assert_eq!(stage.exit(1), []);
}
