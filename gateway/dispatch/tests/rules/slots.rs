//! Slots: requests ahead of time, and apps that go on after their answer.

use sluice_dispatch::{Action, Event, Kind, Note, Phase};
use sluice_scheduler::RequestId;

use super::support::*;

const BY: RequestId = RequestId(41);

#[test]
fn a_request_that_was_taken_back_waits_again_unseen() {
    let mut story = Story::given(Kind::Plain, true, true);
    story.does(WROTE);
    assert_eq!(story.does(Event::Withdrawn), [Action::Close, Action::GiveBack { is_fault: false }]);
    assert!(story.is(Phase::Queued));
    assert_eq!(story.does(Event::Assigned { is_ahead: false, is_reused: true }), [Action::Write]);
}

#[test]
fn a_worker_that_cannot_be_reached_gives_its_request_back() {
    let mut story = Story::given(Kind::Plain, false, true);
    story.does(WROTE);
    assert_eq!(story.does(RESET), [Action::Connect]);
    assert_eq!(story.does(Event::ConnectFailed), [Action::GiveBack { is_fault: true }]);
    assert!(story.is(Phase::Queued));
}

#[test]
fn i1_a_slot_returns_to_the_request_that_its_app_has_not_ended() {
    let mut next = Story::sent();
    assert_eq!(next.does(Event::Busy { by: BY, is_open: true }), [Action::PassTo { by: BY }]);
    assert!(next.is(Phase::Queued));
    let mut before = Story::answered_in_part(HEAD);
    before.does(COMPLETED);
    assert_eq!(before.does(Event::StillOpen), []);
    assert!(before.exchange.holds_slot());
    assert_eq!(before.does(Event::Reported), [FINISHED]);
}

#[test]
fn an_app_that_never_ends_an_answered_request_loses_its_worker() {
    let mut story = Story::answered_in_part(HEAD);
    story.does(COMPLETED);
    story.does(Event::StillOpen);
    assert_eq!(story.waits(), (ABANDONED_MS, vec![Action::Note(Note::NotEnded), Action::GiveUpWorker]));
}

#[test]
fn a_request_that_its_worker_refuses_for_one_that_has_ended_meanwhile_just_waits_again() {
    let mut story = Story::sent();
    let back = [Action::Close, Action::GiveBack { is_fault: false }];
    assert_eq!(story.does(Event::Busy { by: BY, is_open: false }), back);
}

#[test]
fn what_a_worker_was_handed_is_looked_for_before_its_end_is_waited_for() {
    let mut story = Story::given(Kind::Plain, true, true);
    story.does(WROTE);
    assert_eq!(story.does(LEFT), [Action::Leave, Action::Close, Action::TakeBack]);
    assert_eq!(story.does(Event::Withdrawn), [Action::Close, Action::GiveBack { is_fault: false }]);
    assert!(story.is(Phase::Ended), "nobody waits for it");
}

#[test]
fn a_worker_that_gives_a_request_back_again_and_again_for_one_that_has_ended_is_replaced() {
    let mut story = Story::sent();
    let mut faults = 0;
    for _ in 0..9 {
        let actions = story.does(Event::Busy { by: BY, is_open: false });
        faults += usize::from(actions.contains(&Action::GiveBack { is_fault: true }));
        assert!(story.is(Phase::Queued));
        story.does(Event::Assigned { is_ahead: false, is_reused: true });
        story.does(WROTE);
    }
    assert_eq!(faults, 1);
    // The next worker is trusted anew.
    let back = [Action::Close, Action::GiveBack { is_fault: false }];
    assert_eq!(story.does(Event::Busy { by: BY, is_open: false }), back);
}
