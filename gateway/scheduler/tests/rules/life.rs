//! How workers are started, stopped, killed, and started again; and what becomes of the requests they held.

use sluice_scheduler::{Action, Event, KillReason, Limits, Refusal, RequestId, Time, WorkerId, WorkerState};

use crate::stage::{LIMITS, Stage, dispatch, kill, start, stop};

fn faulted(worker: u64) -> Event {
    Event::Faulted { worker: WorkerId(worker) }
}

fn listening(worker: u64) -> Event {
    Event::Listening { worker: WorkerId(worker) }
}

fn undelivered(worker: u64, request: u64) -> Event {
    Event::Undelivered { worker: WorkerId(worker), request: RequestId(request) }
}

/// The delays of a place whose workers never listen, while another place does well.
fn delays(limits: Limits, failures: usize) -> Vec<u64> {
    let mut stage = Stage::new(limits);
    stage.step(Event::Scaled { workers: 2 });
    stage.step(listening(1));
    let mut delays = Vec::new();
    for worker in (2..).take(failures) {
        let actions = stage.exit(worker);
        let [Action::BackOff { instance: 1, delay_ms, .. }] = actions[..] else { panic!("{actions:?}") };
        assert_eq!(stage.pass_ms(delay_ms - 1), []);
        assert_eq!(stage.pass_ms(1), [start(worker + 1, 1)]);
        delays.push(delay_ms);
    }
    delays
}

#[test]
fn queued_request_survives_the_death_of_every_worker() {
    let mut stage = Stage::ready(Limits { healthy_after_ms: 0, ..LIMITS }, 2);
    for _ in 0..3 {
        stage.arrive();
    }
    let orphaned = Action::Orphaned {
        request: RequestId(1),
        worker: WorkerId(1),
        arrived: Time(0),
        is_shared: false,
        is_parked: false,
    };
    assert_eq!(stage.exit(1), [orphaned, start(3, 0)]);
    assert!(matches!(stage.exit(2)[..], [Action::Orphaned { .. }]), "one boots alone while none serves");
    assert_eq!(stage.step(listening(3)), [start(4, 1), dispatch(3, 3)]);
}

#[test]
fn i5_a_request_that_no_worker_saw_returns_to_its_old_place() {
    let mut stage = Stage::ready(LIMITS, 2);
    for _ in 0..4 {
        stage.arrive();
    }
    assert_eq!(stage.step(faulted(1)), [stop(1)]);
    assert_eq!(stage.step(undelivered(1, 1)), []);
    assert_eq!(stage.finish(2, 2), [dispatch(1, 2)]);
}

#[test]
fn i1_a_worker_that_returns_a_request_is_still_held_by_its_unended_request() {
    let mut stage = Stage::ready(LIMITS, 1);
    for _ in 0..3 {
        stage.arrive();
    }
    assert_eq!(stage.finish(1, 1), [dispatch(2, 1)]);
    let occupied = Event::Occupied { worker: WorkerId(1), request: RequestId(2), by: RequestId(1) };
    assert_eq!(stage.step(occupied), []);
    assert_eq!((stage.scheduler.in_service(), stage.scheduler.queue_length()), (1, 2));
    assert_eq!(stage.finish(1, 1), [dispatch(2, 1)], "in its old place");
}

#[test]
fn i3_a_request_that_returns_while_the_gateway_stops_is_refused_immediately() {
    let mut stage = Stage::ready(LIMITS, 1);
    stage.arrive();
    stage.step(Event::Stopping);
    let refused = Action::Refuse { request: RequestId(1), reason: Refusal::Stopping, retry_after_s: 1 };
    assert_eq!(stage.step(undelivered(1, 1)), [refused]);
}

#[test]
fn i1_a_client_that_leaves_frees_no_slot() {
    let mut stage = Stage::ready(LIMITS, 1);
    stage.arrive();
    stage.arrive();
    assert_eq!(stage.step(Event::Left { request: RequestId(1) }), []);
    assert_eq!(stage.finish(1, 1), [dispatch(2, 1)]);
}

#[test]
fn a_stream_leaves_its_slot_and_counts_against_its_own_limit() {
    let mut stage = Stage::ready(LIMITS, 1);
    for request in 1..=3 {
        stage.arrive();
        let detached = Event::Detached { worker: WorkerId(1), request: RequestId(request) };
        let expected = Action::CloseStream { request: RequestId(request), worker: WorkerId(1) };
        assert_eq!(stage.step(detached), if request == 3 { vec![expected] } else { vec![] });
    }
    assert_eq!(stage.scheduler.in_service(), 0);
}

#[test]
fn a_worker_that_does_not_listen_in_time_is_killed_once() {
    let mut stage = Stage::new(LIMITS);
    stage.step(Event::Scaled { workers: 1 });
    assert_eq!(stage.pass_ms(1_000), [kill(1, KillReason::StartTimeout)]);
    assert_eq!(stage.pass_ms(1_000), []);
    assert_eq!(stage.step(listening(1)), [], "too late");
    assert_eq!(stage.scheduler.worker_state(WorkerId(1)), Some(WorkerState::Killed));
}

#[test]
fn scaling_down_lets_a_request_finish_then_stops_then_kills() {
    let mut stage = Stage::ready(LIMITS, 2);
    stage.arrive();
    stage.arrive();
    assert_eq!(stage.step(Event::Scaled { workers: 1 }), []);
    assert_eq!(stage.finish(2, 2), [stop(2)]);
    assert_eq!(stage.pass_ms(500), [kill(2, KillReason::StopTimeout)]);
    assert_eq!(stage.exit(2), []);
}

#[test]
fn a_worker_with_a_stuck_request_is_stopped_without_waiting_for_it() {
    let mut stage = Stage::ready(LIMITS, 1);
    stage.arrive();
    assert_eq!(stage.step(faulted(1)), [stop(1)]);
}

#[test]
fn the_other_requests_of_a_faulted_worker_have_the_stop_timeout_to_finish() {
    let mut stage = Stage::ready(Limits { concurrency: 3, ..LIMITS }, 1);
    for _ in 0..3 {
        stage.arrive();
    }
    assert_eq!(stage.step(faulted(1)), []);
    assert_eq!(stage.pass_ms(499), []);
    assert_eq!(stage.pass_ms(1), [stop(1)]);
}

#[test]
fn a_back_off_doubles_and_stays_within_its_bounds() {
    let delays = delays(LIMITS, 10);
    for (failures, delay_ms) in (0_u32..).zip(&delays) {
        let base_ms = (100 << failures).min(1_000);
        assert!((base_ms * 3 / 4..=base_ms * 5 / 4).contains(delay_ms), "{delays:?}");
        assert!((100..=1_000).contains(delay_ms), "{delays:?}");
    }
    assert!(delays[4..].windows(2).any(|pair| pair[0] != pair[1]), "places at the maximum start in step: {delays:?}");
}

#[test]
fn a_healthy_worker_that_dies_is_replaced_at_once() {
    let mut stage = Stage::ready(LIMITS, 1);
    stage.pass_ms(10_000);
    assert_eq!(stage.exit(1), [start(2, 0)]);
}

#[test]
fn workers_that_fault_soon_after_each_start_are_a_crash_loop() {
    let mut stage = Stage::ready(LIMITS, 1);
    stage.step(faulted(1));
    assert_eq!(stage.exit(1), [start(2, 0)], "once is an accident");
    stage.step(listening(2));
    stage.step(faulted(2));
    assert!(matches!(stage.exit(2)[..], [Action::BackOff { .. }]));
}

#[test]
fn a_worker_that_worked_before_it_died_is_followed_soon_however_often_that_happens() {
    let mut stage = Stage::ready(LIMITS, 1);
    let mut delays = Vec::new();
    for round in 1..=8 {
        stage.arrive();
        stage.finish(round, round);
        match stage.exit(round)[..] {
            [Action::Start { .. }] => delays.push(0),
            [Action::BackOff { delay_ms, .. }] => {
                stage.pass_ms(delay_ms);
                delays.push(delay_ms);
            }
            ref actions => panic!("{actions:?}"),
        }
        stage.step(listening(round + 1));
    }
    assert_eq!(delays[0], 0, "once is an accident");
    assert!(delays[1..].iter().all(|delay_ms| (100..=125).contains(delay_ms)), "{delays:?}");
}

#[test]
fn a_worker_dismissed_before_it_listened_is_no_failure_of_the_app() {
    let mut stage = Stage::new(LIMITS);
    stage.step(Event::Scaled { workers: 1 });
    assert_eq!(stage.step(Event::Scaled { workers: 0 }), [stop(1)]);
    assert_eq!(stage.step(Event::Scaled { workers: 1 }), [start(2, 0)]);
    assert_eq!(stage.exit(1), []);
}

#[test]
fn scaling_up_again_does_not_wait_for_what_a_dismissed_worker_holds() {
    let mut stage = Stage::ready(LIMITS, 2);
    stage.arrive();
    stage.arrive();
    assert_eq!(stage.step(Event::Scaled { workers: 1 }), []);
    assert_eq!(stage.step(Event::Scaled { workers: 2 }), [start(3, 1)]);
    stage.listen(3);
    assert_eq!(stage.arrive(), [dispatch(3, 3)]);
    assert_eq!(stage.finish(2, 2), [stop(2)]);
    assert_eq!(stage.exit(2), [], "its place has another");
}

#[test]
fn the_gateway_gives_up_once_when_two_places_failed_and_none_was_ever_ready() {
    let mut stage = Stage::new(LIMITS);
    stage.step(Event::Scaled { workers: 4 });
    assert!(matches!(stage.exit(1)[..], [Action::BackOff { instance: 0, .. }, Action::Start { instance: 1, .. }]));
    assert_eq!(stage.exit(2), [Action::GiveUp]);
    assert_eq!(stage.pass_ms(60_000), []);
    assert_eq!(stage.scheduler.next_deadline(), None);
}

#[test]
fn i4_an_exiting_worker_gets_no_request() {
    let mut stage = Stage::ready(LIMITS, 2);
    stage.step(Event::Scaled { workers: 1 });
    stage.arrive();
    assert_eq!(stage.arrive(), []);
    assert_eq!(stage.finish(1, 1), [dispatch(2, 1)]);
}

#[test]
fn a_worker_that_closes_leaves_its_place_to_another_while_it_holds_a_request() {
    let mut stage = Stage::ready(LIMITS, 1);
    stage.arrive();
    let closing = |worker| Event::Closing { worker: WorkerId(worker) };
    assert_eq!(stage.step(closing(1)), [start(2, 0)], "once is an accident");
    stage.listen(2);
    stage.arrive();
    assert!(matches!(stage.step(closing(2))[..], [Action::BackOff { instance: 0, .. }]), "a crash loop");
    assert_eq!(stage.finish(1, 1), [stop(1)]);
    assert_eq!(stage.exit(1), []);
    assert_eq!(stage.pass_ms(500), [start(3, 0)]);
}

#[test]
fn app_in_development_that_has_ended_waits_for_a_change_and_its_clients_are_told() {
    let mut stage = Stage::ready(Limits { holds_failed: true, ..LIMITS }, 1);
    stage.arrive();
    stage.arrive();
    let orphaned = Action::Orphaned {
        request: RequestId(1),
        worker: WorkerId(1),
        arrived: Time(0),
        is_shared: false,
        is_parked: false,
    };
    let down = |request| Action::Refuse { request: RequestId(request), reason: Refusal::Down, retry_after_s: 1 };
    assert_eq!(stage.exit(1), [orphaned, Action::Hold { worker: WorkerId(1) }, down(2)]);
    assert_eq!(stage.pass_ms(3_600_000), [], "no time starts it");
    assert_eq!(stage.arrive(), [down(3)]);
    assert_eq!(stage.step(Event::Changed), [start(2, 0)]);
    assert_eq!(stage.arrive(), [], "who comes while it starts waits for it");
    assert_eq!(stage.step(listening(2)), [dispatch(4, 2)]);
}

#[test]
fn app_in_development_whose_files_change_is_ended_and_started_at_once() {
    let mut stage = Stage::ready(Limits { holds_failed: true, ..LIMITS }, 1);
    assert_eq!(stage.step(Event::Changed), [kill(1, KillReason::Changed)]);
    assert_eq!(stage.arrive(), []);
    assert_eq!(stage.step(Event::Changed), [], "it is being ended already");
    assert_eq!(stage.exit(1), [start(2, 0)]);
    assert_eq!(stage.step(Event::Changed), [kill(2, KillReason::Changed)], "one that starts is out of date too");
    assert_eq!(stage.exit(2), [start(3, 0)]);
    assert_eq!(stage.step(listening(3)), [dispatch(1, 3)]);
}

#[test]
fn app_in_development_that_never_listened_is_no_reason_to_leave() {
    let mut stage = Stage::new(Limits { holds_failed: true, ..LIMITS });
    stage.step(Event::Scaled { workers: 1 });
    for worker in 1..4 {
        assert_eq!(stage.exit(worker), [Action::Hold { worker: WorkerId(worker) }]);
        assert_eq!(stage.step(Event::Changed), [start(worker + 1, 0)]);
    }
}
