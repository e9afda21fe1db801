//! Requests that are handed to workers ahead of time.

use sluice_scheduler::{Action, Alone, ClassId, Event, Limits, Need, Order, RequestId, WorkerId};

use crate::stage::{LIMITS, Stage, dispatch, stop};

const AHEAD: Limits = Limits { ahead_max: 2, ..LIMITS };
const CHEAP: Need = need(1);
const DEAR: Need = need(2);

const fn need(class: u16) -> Need {
    let home = sluice_scheduler::Home::Any;
    Need {
        class: ClassId(class),
        priority: 0,
        deadline_ms: None,
        alone: Alone::Never,
        ahead: true,
        inner: false,
        home,
        drawn: false,
    }
}

fn hand(request: u64, worker: u64) -> Action {
    Action::Hand { request: RequestId(request), worker: WorkerId(worker) }
}

fn begins(request: u64, worker: u64) -> Action {
    Action::Begins { request: RequestId(request), worker: WorkerId(worker) }
}

fn take_back(worker: u64) -> Action {
    Action::TakeBack { worker: WorkerId(worker) }
}

fn undelivered(worker: u64, request: u64) -> Event {
    Event::Undelivered { worker: WorkerId(worker), request: RequestId(request) }
}

/// So many workers that take requests ahead of time, a cheap class and a dear one, both known. The next request has number 101.
fn stage(limits: Limits, workers: u32) -> Stage {
    let mut stage = Stage::ready(limits, workers);
    for worker in 1..=u64::from(workers) {
        stage.step(Event::TakesAhead { worker: WorkerId(worker), takes: true });
    }
    for _ in 0..40 {
        stage.learn(CHEAP.class, 300);
        stage.learn(DEAR.class, 20_000);
    }
    for request in 1..=100 {
        let [Action::Dispatch { worker, .. }] = stage.arrive_with(CHEAP)[..] else { panic!("all workers are free") };
        stage.now.0 += 300;
        stage.finish(worker.0, request);
    }
    stage
}

#[test]
fn cheap_requests_are_handed_to_a_worker_that_has_a_cheap_one_and_begin_in_order() {
    let mut stage = stage(AHEAD, 1);
    assert_eq!(stage.arrive_with(CHEAP), [dispatch(101, 1)]);
    assert_eq!(stage.arrive_with(CHEAP), [hand(102, 1)]);
    assert_eq!(stage.arrive_with(CHEAP), [hand(103, 1)]);
    assert_eq!(stage.arrive_with(CHEAP), [], "two are enough");
    let view = |stage: &Stage| stage.scheduler.workers().map(|w| (w.in_service, w.handed)).collect::<Vec<_>>();
    assert_eq!(view(&stage), [(1, 2)]);
    assert_eq!((stage.scheduler.handed(), stage.scheduler.queue_length()), (2, 1));
    assert_eq!(stage.finish(1, 101), [begins(102, 1), hand(104, 1)]);
    assert_eq!(stage.finish(1, 102), [begins(103, 1)]);
    assert_eq!(stage.finish(1, 103), [begins(104, 1)]);
    assert_eq!(view(&stage), [(1, 0)]);
    assert_eq!(stage.finish(1, 104), []);
    assert_eq!((view(&stage), stage.scheduler.overlaps_total()), (vec![(0, 0)], 0));
}

#[test]
fn no_more_is_handed_than_a_cheap_request_may_wait_for() {
    let mut stage = stage(Limits { ahead_max: 20, ..AHEAD }, 1);
    assert_eq!(stage.arrive_with(CHEAP), [dispatch(101, 1)]);
    let service_us = stage.scheduler.expected_service_us(CHEAP.class);
    let mut handed = 0;
    while stage.arrive_with(CHEAP) == [hand(102 + handed, 1)] {
        handed += 1;
    }
    assert!(handed > 2 && handed * service_us <= 2_000, "{handed} of {service_us} us stand before the last");
    assert!((handed + 1) * service_us > 2_000, "{handed} of {service_us} us, and there was time for one more");
}

#[test]
fn an_idle_worker_goes_first() {
    let mut stage = stage(AHEAD, 2);
    assert_eq!(stage.arrive_with(CHEAP), [dispatch(101, 1)]);
    assert_eq!(stage.arrive_with(CHEAP), [dispatch(102, 2)]);
    assert_eq!(stage.arrive_with(CHEAP), [hand(103, 1)]);
    assert_eq!(stage.arrive_with(CHEAP), [hand(104, 2)]);
}

#[test]
fn nothing_is_handed_that_is_dear_or_unknown_or_may_not_be_nor_behind_what_is() {
    for (first, second) in [
        (DEAR, CHEAP),
        (CHEAP, DEAR),
        (need(9), CHEAP),
        (CHEAP, need(9)),
        (CHEAP, Need { ahead: false, ..CHEAP }),
        (CHEAP, Need { alone: Alone::Always, ..CHEAP }),
        (Need { alone: Alone::Always, ..CHEAP }, CHEAP),
    ] {
        let mut stage = stage(AHEAD, 1);
        assert_eq!(stage.arrive_with(first), [dispatch(101, 1)]);
        assert_eq!(stage.arrive_with(second), [], "{second:?} behind {first:?}");
        assert_eq!(stage.finish(1, 101), [dispatch(102, 1)]);
    }
}

#[test]
fn nothing_is_handed_to_a_worker_that_has_had_its_request_for_longer_than_a_cheap_one_takes() {
    let mut stage = stage(AHEAD, 1);
    stage.arrive_with(CHEAP);
    stage.now.0 += 1_900;
    assert_eq!(stage.arrive_with(CHEAP), [hand(102, 1)]);
    stage.now.0 += 200;
    assert_eq!(stage.arrive_with(CHEAP), []);
}

#[test]
fn a_class_whose_requests_wait_for_long_is_not_cheap() {
    let mut stage = stage(AHEAD, 1);
    for request in 101..=160 {
        stage.arrive_with(CHEAP);
        stage.pass_ms(20);
        stage.finish(1, request);
    }
    stage.arrive_with(CHEAP);
    assert_eq!(stage.arrive_with(CHEAP), []);
}

#[test]
fn a_worker_that_does_not_take_them_gets_none() {
    let mut stage = stage(AHEAD, 1);
    stage.step(Event::TakesAhead { worker: WorkerId(1), takes: false });
    stage.arrive_with(CHEAP);
    assert_eq!(stage.arrive_with(CHEAP), []);
}

#[test]
fn another_worker_that_is_free_gets_what_has_not_begun_in_time() {
    let mut stage = stage(AHEAD, 2);
    stage.arrive_with(CHEAP);
    stage.arrive_with(CHEAP);
    assert_eq!(stage.arrive_with(CHEAP), [hand(103, 1)]);
    assert_eq!(stage.scheduler.take_back_due(), None, "nobody else could have it");
    stage.now.0 += 400;
    assert_eq!(stage.finish(2, 102), [], "it has not waited for long");
    let due = stage.scheduler.take_back_due().expect("it is watched");
    assert!(due.since_us(stage.now) <= 1_000, "{due:?}");
    stage.now = due;
    assert_eq!(stage.step(Event::Tick), [take_back(1)]);
    assert_eq!(stage.step(Event::Tick), [], "it is asked for once");
    assert_eq!(stage.scheduler.take_back_due(), None);
    assert_eq!(stage.step(undelivered(1, 103)), [dispatch(103, 2)]);
    // And the first goes on where it is.
    assert_eq!(stage.finish(1, 101), []);
    assert_eq!(stage.finish(2, 103), []);
}

#[test]
fn where_none_is_free_the_first_that_gets_free_takes_what_is_late() {
    let mut stage = stage(AHEAD, 2);
    stage.arrive_with(CHEAP);
    stage.arrive_with(CHEAP);
    stage.arrive_with(CHEAP);
    stage.pass_ms(50);
    assert_eq!(stage.finish(2, 102), [take_back(1)]);
    assert_eq!(stage.step(undelivered(1, 103)), [dispatch(103, 2)]);
}

#[test]
fn a_dear_request_does_not_get_a_worker_before_a_cheap_one_that_waits_elsewhere() {
    let shortest = Limits { order: Order::Shortest, ..AHEAD };
    let mut stage = stage(shortest, 2);
    stage.arrive_with(CHEAP);
    stage.arrive_with(CHEAP);
    assert_eq!(stage.arrive_with(CHEAP), [hand(103, 1)]);
    assert_eq!(stage.arrive_with(DEAR), []);
    assert_eq!(stage.finish(2, 102), [take_back(1)], "the free worker waits for the answer");
    assert_eq!(stage.step(undelivered(1, 103)), [dispatch(103, 2)]);
    assert_eq!(stage.finish(1, 101), [dispatch(104, 1)]);
}

#[test]
fn a_dear_request_goes_on_when_the_cheap_one_turns_out_to_have_begun() {
    let mut stage = stage(Limits { order: Order::Shortest, ..AHEAD }, 2);
    stage.arrive_with(CHEAP);
    stage.arrive_with(CHEAP);
    stage.arrive_with(CHEAP);
    stage.arrive_with(DEAR);
    assert_eq!(stage.finish(2, 102), [take_back(1)]);
    let begun = Event::Begun { worker: WorkerId(1), request: RequestId(103) };
    assert_eq!(stage.step(begun), [begins(103, 1), dispatch(104, 2)]);
}

#[test]
fn i4_a_worker_that_stops_serving_returns_requests_that_it_has_not_begun() {
    let worker = WorkerId(1);
    for event in [Event::Overdue { worker }, Event::Stuck { worker }, Event::Closing { worker }] {
        let mut stage = stage(AHEAD, 2);
        stage.arrive_with(CHEAP);
        stage.arrive_with(DEAR);
        assert_eq!(stage.arrive_with(CHEAP), [hand(103, 1)]);
        let actions = stage.step(event);
        assert!(actions.contains(&take_back(1)), "{event:?}: {actions:?}");
        assert!(!actions.contains(&stop(1)), "{event:?}: {actions:?}");
        assert_eq!(stage.step(undelivered(1, 103)), [], "{event:?}: it waits for the other");
        assert_eq!(stage.scheduler.queue_length(), 1);
    }
}

#[test]
fn i3_a_worker_that_dies_returns_requests_handed_ahead() {
    let mut stage = stage(AHEAD, 1);
    stage.arrive_with(CHEAP);
    stage.arrive_with(CHEAP);
    let actions = stage.exit(1);
    for request in [101, 102] {
        let is_told = |action: &Action| matches!(action, Action::Orphaned { request: told, .. } if told.0 == request);
        assert!(actions.iter().any(is_told), "{request}: {actions:?}");
    }
    assert_eq!(stage.scheduler.handed(), 0);
}

#[test]
fn the_service_time_begins_when_the_one_before_has_ended() {
    // Each of them takes 1.5 ms, so what waits for one before it would seem to take 3.
    let mut stage = stage(AHEAD, 1);
    stage.arrive_with(CHEAP);
    for request in 101..=200 {
        assert_eq!(stage.arrive_with(CHEAP).last(), Some(&hand(request + 1, 1)));
        stage.now.0 += 1_500;
        stage.finish(1, request);
    }
    let service_us = stage.scheduler.expected_service_us(CHEAP.class);
    assert!((1_200..=1_500).contains(&service_us), "{service_us}");
}

#[test]
fn what_the_app_has_not_ended_gets_its_slot_back_from_one_that_was_handed_behind_it() {
    let mut stage = stage(AHEAD, 1);
    stage.arrive_with(CHEAP);
    stage.arrive_with(CHEAP);
    assert_eq!(stage.finish(1, 101), [begins(102, 1)]);
    let (worker, request, by) = (WorkerId(1), RequestId(102), RequestId(101));
    assert_eq!(stage.step(Event::Occupied { worker, request, by }), []);
    assert_eq!(stage.scheduler.queue_length(), 1);
    assert_eq!(stage.finish(1, 101), [dispatch(102, 1)]);
}

#[test]
fn a_worker_that_waits_has_begun_all_that_it_was_handed() {
    let mut stage = stage(Limits { concurrency_max: 10, ..AHEAD }, 1);
    stage.arrive_with(CHEAP);
    assert_eq!(stage.arrive_with(CHEAP), [hand(102, 1)]);
    stage.arrive_with(DEAR);
    let waits = Event::Waits { worker: WorkerId(1) };
    assert_eq!(stage.step(waits), [begins(102, 1), dispatch(103, 1)]);
    let views: Vec<_> = stage.scheduler.workers().map(|w| (w.in_service, w.handed)).collect();
    assert_eq!(views, [(3, 0)]);
}

#[test]
fn a_worker_never_has_more_than_its_slots_and_what_may_be_handed() {
    let mut stage = stage(AHEAD, 1);
    for expected in [dispatch(101, 1), hand(102, 1), hand(103, 1)] {
        assert_eq!(stage.arrive_with(CHEAP), [expected]);
    }
    stage.arrive_with(CHEAP);
    stage.step(Event::Overdue { worker: WorkerId(1) });
    for request in [102, 103] {
        // The app has ended those before, which is not known yet.
        let begun = Event::Begun { worker: WorkerId(1), request: RequestId(request) };
        assert_eq!(stage.step(begun), [begins(request, 1)]);
    }
    assert_eq!(stage.step(Event::Turned { worker: WorkerId(1) }), [], "three are with it");
    assert_eq!(stage.finish(1, 101), [hand(104, 1)]);
}
