//! Requests that only wait: they leave their slots, and memory bounds how many wait in a worker.

use sluice_scheduler::{Action, ClassId, Event, Limits, Memory, Need, Order, RequestId, WorkerId};

use crate::stage::{LIMITS, Stage};

const MB: u64 = 1 << 20;
const WAITING: Limits =
    Limits { order: Order::Shortest, concurrency_max: 10_000, streams_per_worker_max: 1_000, ..LIMITS };
/// Stays for a moment; waits for seconds; nothing is known of it.
const PAGE: ClassId = ClassId(1);
const POLL: ClassId = ClassId(2);
const NEW: ClassId = ClassId(3);

fn of(class: ClassId) -> Need {
    Need { class, ..Need::default() }
}

/// Workers that have served pages of half a millisecond, alone and at once.
fn stage(limits: Limits, workers: u32) -> Stage {
    let mut stage = Stage::ready(limits, workers);
    for _ in 0..40 {
        let (request, worker) = given(&mut stage, PAGE).expect("a worker is free");
        stage.now.0 += 500;
        stage.step(Event::Measured { class: PAGE, cost_us: 500 });
        stage.finish(worker, request);
    }
    stage
}

/// The request, and the worker that it is given to at once.
fn given(stage: &mut Stage, class: ClassId) -> Option<(u64, u64)> {
    let request = stage.requests() + 1;
    worker_of(&stage.arrive_with(of(class)), request).map(|worker| (request, worker))
}

fn worker_of(actions: &[Action], request: u64) -> Option<u64> {
    actions.iter().find_map(|action| match action {
        Action::Dispatch { request: id, worker } if id.0 == request => Some(worker.0),
        _ => None,
    })
}

fn looked(stage: &mut Stage, worker: u64, load: u32) -> Vec<Action> {
    stage.step(Event::Looked { worker: WorkerId(worker), sleeps: true, load })
}

fn weighed(stage: &mut Stage, worker: u64, used_mb: u64, limit_mb: u64) -> Vec<Action> {
    let (used_bytes, limit_bytes) = (used_mb * MB, limit_mb * MB);
    stage.step(Event::Weighed { worker: WorkerId(worker), memory: Memory::Heap, used_bytes, limit_bytes })
}

/// So many polls come, and the workers are looked at every 5 ms until all of them wait in one.
fn poll(stage: &mut Stage, polls: u64) {
    let first = stage.requests() + 1;
    (0..polls).for_each(|_| _ = stage.arrive_with(of(POLL)));
    for _ in 0..polls {
        stage.pass_ms(5);
        for worker in 1..=2 {
            let waiting = u64::try_from(stage.scheduler.in_service()).expect("a small number");
            weighed(stage, worker, 50 + waiting / 100, 4_096);
            looked(stage, worker, 20);
        }
    }
    assert_eq!(stage.scheduler.queue_length(), 0, "polls from {first} on wait for a worker");
}

#[test]
fn pages_go_at_once_beside_a_thousand_polls() {
    let mut stage = stage(Limits { queue_length_max: 1_000, ..WAITING }, 2);
    poll(&mut stage, 1_000);
    for _ in 0..20 {
        let (request, worker) = given(&mut stage, PAGE).expect("both workers only wait");
        stage.now.0 += 500;
        stage.finish(worker, request);
    }
    let held: Vec<_> = stage.scheduler.workers().map(|view| (view.in_service, view.parked)).collect();
    assert!(held.iter().all(|(held, parked)| held == parked && (468..=532).contains(held)), "{held:?}");
}

#[test]
fn a_worker_has_one_that_is_new_until_it_is_seen_to_wait_with_it() {
    let mut stage = stage(WAITING, 1);
    // So long that it may not run beside another.
    (0..40).for_each(|_| stage.learn(NEW, 60_000));
    poll(&mut stage, 1);
    assert!(given(&mut stage, NEW).is_some());
    assert_eq!(given(&mut stage, NEW), None);
    stage.pass_ms(2);
    assert_eq!(looked(&mut stage, 1, 20), [], "it may not have come yet");
    stage.pass_ms(5);
    let actions = looked(&mut stage, 1, 20);
    assert!(matches!(actions[..], [Action::Dispatch { .. }]), "{actions:?}");
}

#[test]
fn cheap_ones_run_beside_each_other_in_a_worker_that_waits() {
    let mut stage = stage(WAITING, 1);
    poll(&mut stage, 1);
    let workers: Vec<_> = (0..5).map(|_| given(&mut stage, PAGE).is_some()).collect();
    assert_eq!(workers, [true, true, true, true, false], "2 ms of CPU time at once");
}

#[test]
fn i6_polls_stop_at_the_memory_limit_and_pages_pass_them() {
    let mut stage = stage(WAITING, 1);
    weighed(&mut stage, 1, 8, 64);
    for _ in 0..300 {
        stage.arrive_with(of(POLL));
        stage.pass_ms(5);
        let polls = stage.scheduler.in_service() as u64;
        weighed(&mut stage, 1, 8 + polls, 64);
        looked(&mut stage, 1, 20);
    }
    assert_eq!(stage.scheduler.in_service(), 28, "half of 56 MB");
    assert_eq!(stage.scheduler.queue_length(), 100, "the queue's length, and others are refused");
    let (request, worker) = given(&mut stage, PAGE).expect("polls wait in front, for memory that it does not need");
    stage.finish(worker, request);
    assert_eq!(given(&mut stage, NEW), None, "it may be a poll");
    stage.finish(1, 41);
    let actions = weighed(&mut stage, 1, 34, 64);
    assert!(actions.iter().any(|action| matches!(action, Action::Dispatch { .. })), "{actions:?}");
}

#[test]
fn those_that_waited_long_say_nothing_of_those_that_come() {
    let mut stage = stage(Limits { queue_wait_ms_max: 3_000, ..WAITING }, 2);
    poll(&mut stage, 60);
    stage.pass_ms(8_000);
    let held = 41..=100;
    for request in held {
        for worker in 1..=2 {
            looked(&mut stage, worker, 20);
            stage.step(Event::Measured { class: POLL, cost_us: 600 });
            stage.finish(worker, request);
        }
    }
    assert_eq!(stage.scheduler.in_service(), 0);
    for _ in 0..90 {
        let actions = stage.arrive_with(of(NEW));
        assert!(!actions.iter().any(|action| matches!(action, Action::Refuse { .. })), "{actions:?}");
    }
    assert_eq!(stage.scheduler.idle_refusals_total(), 0);
}

#[test]
fn class_that_waits_is_known_by_requests_that_were_seen_to_wait() {
    let mut stage = stage(WAITING, 2);
    poll(&mut stage, 60);
    stage.pass_ms(2_000);
    for request in 41..=100 {
        for worker in 1..=2 {
            looked(&mut stage, worker, 20);
            stage.step(Event::Measured { class: POLL, cost_us: 600 });
            stage.finish(worker, request);
        }
    }
    assert!(stage.scheduler.part_of(POLL) < 1_000, "{} millionths", stage.scheduler.part_of(POLL));
    let workers: Vec<_> = (0..50).map(|_| given(&mut stage, POLL).is_some()).collect();
    assert!(workers.iter().all(|given| *given), "nobody needs to look");
}

#[test]
fn worker_whose_parked_requests_keep_it_busy_gets_no_more_of_them() {
    let mut stage = stage(WAITING, 1);
    poll(&mut stage, 100);
    looked(&mut stage, 1, 950);
    assert_eq!(given(&mut stage, NEW), None);
    assert!(given(&mut stage, PAGE).is_some(), "it stays for a moment only");
    looked(&mut stage, 1, 300);
    assert_eq!(stage.scheduler.queue_length(), 0);
}

#[test]
fn i1_worker_that_does_not_pick_up_its_requests_counts_as_busy_with_all_of_them() {
    let mut stage = stage(WAITING, 1);
    poll(&mut stage, 3);
    stage.step(Event::Blocked { worker: WorkerId(1) });
    assert_eq!(given(&mut stage, PAGE), None);
    looked(&mut stage, 1, 20);
    assert_eq!(stage.scheduler.queue_length(), 0, "it picks up again");
}

#[test]
fn app_that_puts_its_state_back_has_one_request_however_long_that_waits() {
    let mut stage = stage(WAITING, 1);
    stage.step(Event::HoldsOne { worker: WorkerId(1) });
    stage.arrive_with(of(POLL));
    stage.pass_ms(50);
    looked(&mut stage, 1, 20);
    assert_eq!(given(&mut stage, PAGE), None);
}

#[test]
fn request_that_a_workers_own_request_waits_for_goes_first_and_needs_no_room() {
    let mut stage = stage(WAITING, 1);
    weighed(&mut stage, 1, 8, 10);
    (0..20).for_each(|_| _ = stage.arrive_with(of(POLL)));
    for _ in 0..20 {
        stage.pass_ms(5);
        let used_mb = 8 + stage.scheduler.in_service() as u64;
        weighed(&mut stage, 1, used_mb, 10);
        looked(&mut stage, 1, 20);
    }
    assert!(stage.scheduler.queue_length() > 0, "no memory is left");
    let request = stage.requests() + 1;
    let actions = stage.arrive_with(Need { inner: true, ..of(NEW) });
    assert_eq!(worker_of(&actions, request), Some(1));
}

#[test]
fn streams_are_spread_until_no_worker_takes_more() {
    let mut stage = stage(WAITING, 2);
    for _ in 0..2_000 {
        let (request, worker) = given(&mut stage, NEW).expect("streams hold no slot");
        stage.now.0 += 500;
        let actions = stage.step(Event::Detached { worker: WorkerId(worker), request: RequestId(request) });
        assert!(!actions.iter().any(|action| matches!(action, Action::CloseStream { .. })), "{request}");
        weighed(&mut stage, worker, 50, 4_096);
    }
    let streams: Vec<_> = stage.scheduler.workers().map(|view| view.streams).collect();
    assert_eq!(streams, [1_000, 1_000]);
}

#[test]
fn i5_polls_of_a_worker_that_died_are_distinguished_from_running_requests() {
    let mut stage = stage(WAITING, 1);
    poll(&mut stage, 2);
    let (crashes, _) = given(&mut stage, PAGE).unwrap();
    let orphans: Vec<_> = stage
        .exit(1)
        .into_iter()
        .filter_map(|action| match action {
            Action::Orphaned { request, is_shared: true, is_parked, .. } => Some((request.0 == crashes, is_parked)),
            _ => None,
        })
        .collect();
    assert_eq!(orphans, [(false, true), (false, true), (true, false)]);
}

#[test]
fn i6_class_whose_upstream_hangs_is_no_longer_brief() {
    let mut stage = stage(WAITING, 1);
    weighed(&mut stage, 1, 8, 64);
    // Pages wait from now on, a hundred a second, and hold a megabyte each.
    for _ in 0..400 {
        stage.arrive_with(of(PAGE));
        stage.pass_ms(10);
        let used_mb = 8 + stage.scheduler.in_service() as u64;
        weighed(&mut stage, 1, used_mb, 64);
        looked(&mut stage, 1, 20);
    }
    assert!((28..=43).contains(&stage.scheduler.in_service()), "{} pages", stage.scheduler.in_service());
}

#[test]
fn worker_that_is_awake_with_parked_requests_alone_computes_one_of_them() {
    let mut stage = stage(WAITING, 2);
    poll(&mut stage, 1);
    let busy = |stage: &mut Stage| stage.step(Event::Looked { worker: WorkerId(1), sleeps: false, load: 100 });
    stage.pass_ms(25);
    busy(&mut stage);
    assert_eq!(given(&mut stage, PAGE).map(|(_, worker)| worker), Some(2));
    assert_eq!(given(&mut stage, PAGE), None, "the poll renders, for as long as it likes");
    looked(&mut stage, 1, 100);
    assert_eq!(stage.scheduler.queue_length(), 0);
}
