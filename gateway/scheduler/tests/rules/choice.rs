//! Which of the free workers gets the next request.

use sluice_scheduler::{Event, Limits, WorkerId};

use crate::stage::{LIMITS, Stage, dispatch};

fn stage(concurrency: u32) -> Stage {
    Stage::ready(Limits { concurrency, ..LIMITS }, 3)
}

#[test]
fn first_takes_the_lowest_free_place() {
    let mut stage = stage(1);
    assert_eq!([stage.arrive_at_worker(), stage.arrive_at_worker(), stage.arrive_at_worker()], [1, 2, 3]);
    stage.finish(2, 2);
    stage.finish(3, 3);
    assert_eq!(stage.arrive_at_worker(), 2);
    stage.finish(1, 1);
    assert_eq!(stage.arrive_at_worker(), 1);
}

#[test]
fn first_keeps_one_worker_hot_under_light_load() {
    let mut stage = stage(1);
    for request in 1..=10 {
        assert_eq!(stage.arrive_at_worker(), 1);
        stage.finish(1, request);
    }
}

#[test]
fn with_more_slots_the_least_occupied_worker_comes_first() {
    let mut stage = stage(2);
    let given: Vec<u64> = (0..6).map(|_| stage.arrive_at_worker()).collect();
    assert_eq!(given, [1, 2, 3, 1, 2, 3]);
}

#[test]
fn i1_no_worker_gets_more_requests_than_slots() {
    let mut stage = stage(2);
    for _ in 0..6 {
        stage.arrive_at_worker();
    }
    assert_eq!(stage.arrive(), []);
    assert_eq!(stage.scheduler.queue_length(), 1);
    assert_eq!(stage.finish(2, 2), [dispatch(7, 2)]);
    assert_eq!(stage.finish(2, 2), [], "the same request frees nothing a second time");
}

#[test]
fn a_worker_keeps_the_room_that_it_was_seen_to_have_until_it_is_said_to_have_less() {
    let mut stage = Stage::ready(Limits { concurrency_max: 3, ..LIMITS }, 1);
    for _ in 1..=5 {
        stage.arrive();
    }
    assert_eq!(stage.step(Event::Waits { worker: WorkerId(1) }), [dispatch(2, 1)]);
    assert_eq!(stage.finish(1, 1), [dispatch(3, 1)], "it had two");
    assert_eq!(stage.step(Event::Crowded { worker: WorkerId(1), by: 1 }), []);
    assert_eq!(stage.finish(1, 2), [], "it still has one");
    assert_eq!(stage.finish(1, 3), [dispatch(4, 1)]);
    assert_eq!(stage.step(Event::Waits { worker: WorkerId(1) }), [dispatch(5, 1)]);
    assert_eq!(stage.step(Event::Waits { worker: WorkerId(1) }), [], "nobody waits");
    assert_eq!(stage.arrive(), [], "what was not needed is not kept");
    assert_eq!(stage.step(Event::Waits { worker: WorkerId(1) }), [dispatch(6, 1)]);
    assert_eq!(stage.arrive(), []);
    assert_eq!(stage.step(Event::Waits { worker: WorkerId(1) }), [], "three are the most");
}
