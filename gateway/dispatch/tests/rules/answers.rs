//! Answers, whole and broken.

use sluice_catalog::errors::Code;
use sluice_dispatch::{Action, Event, Kind, Note, Phase, Settling};

use super::support::*;

#[test]
fn a_whole_answer_frees_the_slot_and_keeps_the_connection() {
    let mut story = Story::answered_in_part(HEAD);
    assert_eq!(story.does(COMPLETED), [KEPT]);
    assert!(story.is(Phase::Ended));
    assert_eq!(story.does(Event::Reported), []);
    assert!(story.exchange.is_reported());
}

#[test]
fn a_connection_whose_request_was_not_written_whole_carries_no_other() {
    let mut story = Story::given(Kind::Plain, false, false);
    story.does(Event::Wrote { is_whole: false, is_one_piece: false });
    story.does(Event::Heard);
    assert_eq!(story.does(COMPLETED), [FINISHED]);
}

#[test]
fn an_answer_that_its_app_has_ended_may_take_ten_milliseconds_for_its_last_bytes() {
    let mut story = Story::answered_in_part(HEAD);
    assert_eq!(story.does(Event::Reported), []);
    assert_eq!(story.does(Event::Heard), []);
    let cut_off = vec![Action::Note(Note::Short), TRUNCATED, Action::Close, FINISHED];
    assert_eq!(story.waits(), (10, cut_off));
}

#[test]
fn i1_a_malformed_answer_ends_for_its_client_but_frees_the_slot_only_after_the_report() {
    for event in [Event::Malformed, Event::Foreign] {
        let mut story = Story::sent();
        story.does(Event::Heard);
        let done = story.does(event);
        assert_eq!(done[1..], [MALFORMED, Action::Close]);
        assert!(story.exchange.holds_slot() && !story.exchange.forwards());
        assert_eq!(story.does(COMPLETED), [], "i10: nothing of it counts any more");
        assert_eq!(story.does(Event::Reported), [FINISHED]);
    }
}

#[test]
fn a_worker_that_reports_no_end_in_seven_seconds_is_replaced_and_its_exit_frees_the_slot() {
    let mut story = Story::sent();
    story.does(Event::Heard);
    story.does(Event::Malformed);
    assert_eq!(story.waits(), (7000, vec![Action::Note(Note::NotEnded), Action::GiveUpWorker]));
    assert!(story.is(Phase::Settling(Settling::GivenUp)));
    assert_eq!(story.does(Event::Reported), []);
    assert!(matches!(story.does(EXITED)[..], [Action::Judge { .. }]));
    assert_eq!(story.does(judged(true)), [Action::Bury]);
}

#[test]
fn a_body_that_ends_with_its_connection_is_whole_if_its_worker_lives() {
    let until_close = Event::HeadCame { is_until_close: true };
    let mut lives = Story::answered_in_part(until_close);
    assert_eq!(lives.does(CLOSED), []);
    assert_eq!(lives.waits(), (60, vec![Action::Complete, FINISHED]));
    let mut reports = Story::answered_in_part(until_close);
    reports.does(CLOSED);
    assert_eq!(reports.does(Event::Reported), [Action::Complete, FINISHED]);
    let mut dies = Story::answered_in_part(until_close);
    dies.does(CLOSED);
    dies.does(EXITED);
    assert_eq!(dies.does(judged(true)), [DIED, Action::Bury]);
}

#[test]
fn a_silent_worker_s_client_is_answered_and_its_slot_stays_taken() {
    let mut story = Story::sent();
    assert_eq!(story.waits(), (SILENCE_MS, vec![Action::Fail(Code::WorkerTimeout)]));
    assert!(story.is(Phase::Sent) && story.exchange.holds_slot());
    assert_eq!(story.waits(), (ABANDONED_MS, vec![Action::Close]));
    assert_eq!(story.waits(), (10_000, vec![Action::Note(Note::NotEnded), Action::GiveUpWorker]));
}

#[test]
fn an_answer_before_its_request_is_nobody_s() {
    let mut story = Story::given(Kind::Plain, false, true);
    let done = story.does(Event::Foreign);
    assert_eq!(done, [Action::Note(Note::Foreign), MALFORMED, Action::Close, FINISHED]);
}
