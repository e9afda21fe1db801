//! When a reload lets the queue go first, and for how long.

use sluice_scheduler::{AbandonReason, Event, Limits, Time, WorkerId};

use crate::reload::{TWO_AT_ONCE, back_off_ms};
use crate::stage::{LIMITS, Stage, abandoned, dispatch, start_of};

/// Two workers that are busy, 11 requests in the queue where a tenth of its length is 10, and a reload that was asked for.
fn pressed() -> Stage {
    let mut stage = Stage::ready(LIMITS, 2);
    for _ in 0..13 {
        stage.arrive();
    }
    assert_eq!(stage.reload(2), []);
    stage
}

fn is_held_back(stage: &Stage) -> Option<bool> {
    stage.scheduler.reload_progress().map(|progress| progress.is_held_back)
}

#[test]
fn i3_a_reload_resumes_when_the_queue_has_recovered() {
    let mut stage = pressed();
    assert_eq!(is_held_back(&stage), Some(true));
    assert_eq!(stage.finish(1, 1), [dispatch(3, 1), start_of(3, 0, 2)], "10 are no reason to wait");
    stage.arrive();
    stage.arrive();
    assert_eq!(stage.listen(3), [dispatch(4, 3)], "the next has to wait again");
    assert_eq!(is_held_back(&stage), Some(true));
    stage.arrive();
    assert_eq!(stage.finish(3, 4), [dispatch(5, 3)]);
    assert_eq!(stage.finish(3, 5), [dispatch(6, 3), start_of(4, 1, 2)]);
    assert_eq!(is_held_back(&stage), Some(false));
}

#[test]
fn one_that_has_waited_for_long_holds_a_reload_back() {
    for (ms, expected) in [(500, false), (501, true)] {
        let mut stage = Stage::ready(LIMITS, 1);
        stage.arrive();
        stage.arrive();
        stage.pass_ms(ms);
        stage.reload(2);
        assert_eq!(is_held_back(&stage), Some(expected), "{ms} ms");
    }
}

#[test]
fn i6_a_reload_waits_for_the_queue_no_longer_than_a_request_may() {
    let mut stage = Stage::ready(Limits { queue_wait_ms_max: 10_000, queue_length_max: 10, ..LIMITS }, 2);
    for _ in 0..4 {
        stage.arrive();
    }
    stage.pass_ms(4_000);
    stage.reload(2);
    assert_eq!(stage.scheduler.next_deadline(), Some(Time(10_000_000)), "those who wait");
    stage.pass_ms(4_000);
    assert_eq!(stage.finish(1, 1), [dispatch(3, 1)], "one waits for 8 s");
    assert_eq!(stage.finish(1, 3), [dispatch(4, 1), start_of(3, 0, 2)]);
    // It has waited for 4 s of its 10, and the queue is pressed again when the next is due.
    for _ in 0..3 {
        stage.arrive();
    }
    assert_eq!(stage.listen(3), [dispatch(5, 3)]);
    assert_eq!((is_held_back(&stage), stage.scheduler.next_deadline()), (Some(true), Some(Time(14_000_000))));
    assert_eq!(stage.pass_ms(5_999), []);
    assert_eq!(stage.pass_ms(1), [start_of(4, 1, 2)]);
}

#[test]
fn i6_reloads_that_replace_each_other_wait_no_longer_than_one() {
    let mut stage = pressed();
    stage.pass_ms(6_000);
    for _ in 0..13 {
        stage.arrive();
    }
    assert_eq!(stage.reload(3), [abandoned(2, AbandonReason::Superseded)]);
    assert_eq!(is_held_back(&stage), Some(true));
    let actions = stage.pass_ms(4_000);
    assert!(actions.contains(&start_of(3, 0, 3)), "{actions:?}");
}

#[test]
fn a_reload_that_is_held_back_goes_on_when_a_worker_stands_still() {
    let mut stage = pressed();
    assert_eq!(stage.step(Event::Overdue { worker: WorkerId(1) })[0], start_of(3, 0, 2));
}

#[test]
fn a_reload_that_waits_for_its_back_off_does_not_wait_for_the_queue() {
    let mut stage = Stage::ready(TWO_AT_ONCE, 6);
    stage.reload(2);
    stage.listen(7);
    stage.listen(8);
    for _ in 0..30 {
        stage.arrive();
    }
    stage.listen(9);
    assert_eq!(is_held_back(&stage), Some(true));
    let delay_ms = back_off_ms(&stage.exit(10));
    assert_eq!(
        (is_held_back(&stage), stage.scheduler.next_deadline()),
        (Some(false), Some(stage.now.plus_ms(delay_ms)))
    );
}

#[test]
fn a_reload_does_not_wait_for_a_queue_that_waits_for_a_missing_worker() {
    let mut stage = Stage::ready(LIMITS, 2);
    for _ in 0..13 {
        stage.arrive();
    }
    stage.step(Event::Stuck { worker: WorkerId(1) });
    assert_eq!(stage.reload(2), [start_of(3, 1, 2)]);
}
