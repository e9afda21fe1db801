//! Workers that close connections, and that exit.

use sluice_catalog::errors::Code;
use sluice_dispatch::{Action, ByteEvidence, Cause, Event, Kind, Note, Phase};

use super::support::*;

fn judge(sent: bool, heard: bool, unread: bool) -> Action {
    Action::Judge { seen: ByteEvidence { sent, heard, unread }, cause: Cause::Own }
}

#[test]
fn i5_a_get_whose_worker_dies_before_a_byte_of_its_answer_gets_another_worker_once() {
    let mut story = Story::sent();
    assert_eq!(story.does(EXITED), []);
    assert_eq!(story.does(CLOSED), [judge(true, false, false)]);
    assert_eq!(story.does(judged(true)), [Action::Retry { was_sent: true, is_suspect: true }]);
    story.does(Event::Assigned { is_ahead: false, is_reused: true });
    story.does(WROTE);
    story.does(EXITED);
    story.does(CLOSED);
    assert_eq!(story.does(judged(true)), [DIED, Action::Bury]);
}

#[test]
fn i5_a_post_is_retried_only_if_no_app_has_seen_it() {
    let mut seen = Story::sent();
    seen.does(EXITED);
    seen.does(CLOSED);
    assert_eq!(seen.does(judged(false)), [DIED, Action::Bury]);
    let mut unseen = Story::given(Kind::Plain, true, true);
    unseen.does(WROTE);
    let exited = Event::Exited { is_unseen: true, cause: Cause::Own };
    assert_eq!(unseen.does(exited), [Action::Close, judge(false, false, false)]);
    assert_eq!(unseen.does(judged(false)), [Action::Retry { was_sent: false, is_suspect: false }]);
}

#[test]
fn what_a_worker_wrote_before_it_exited_is_read_and_may_be_whole() {
    let mut story = Story::answered_in_part(HEAD);
    assert_eq!(story.does(EXITED), []);
    assert!(story.is(Phase::Orphaned) && story.exchange.forwards());
    assert_eq!(story.does(COMPLETED), [FINISHED]);
}

#[test]
fn a_child_that_keeps_a_dead_worker_s_connection_open_is_waited_for_no_longer_than_200_ms() {
    let mut story = Story::answered_in_part(HEAD);
    story.does(EXITED);
    assert_eq!(story.waits(), (200, vec![Action::Close, judge(true, true, false)]));
    assert_eq!(story.does(judged(true)), [DIED, Action::Bury]);
}

#[test]
fn a_connection_closes_before_its_worker_s_exit_is_known() {
    let mut story = Story::sent();
    assert_eq!(story.does(CLOSED), []);
    assert_eq!(story.does(EXITED), [judge(true, false, false)]);
}

#[test]
fn a_worker_that_closes_its_connection_and_lives_has_cut_the_answer_off() {
    let mut story = Story::answered_in_part(HEAD);
    assert_eq!(story.does(CLOSED), []);
    assert_eq!(story.waits(), (200, vec![TRUNCATED]));
    assert!(story.exchange.holds_slot(), "i1: the app may compute on");
    assert_eq!(story.does(Event::Reported), [FINISHED]);
}

#[test]
fn a_worker_that_is_known_to_be_going_gets_two_seconds_more() {
    let mut story = Story::answered_in_part(HEAD);
    story.does(CLOSED);
    story.does(Event::Dying);
    assert_eq!(story.waits(), (200, vec![]));
    assert_eq!(story.waits(), (2000, vec![TRUNCATED]));
}

#[test]
fn a_connection_that_was_closed_while_idle_costs_a_connection_and_no_try() {
    let mut unread = Story::given(Kind::Plain, false, true);
    unread.does(WROTE);
    assert_eq!(unread.does(RESET), [Action::Connect]);
    assert_eq!(unread.does(Event::Connected), [Action::Write]);
    unread.does(WROTE);
    assert_eq!(unread.does(RESET), [], "a new one that is closed is an answer that broke");
    let mut read = Story::given(Kind::Plain, false, true);
    read.does(WROTE);
    assert_eq!(read.does(CLOSED), [], "it may have been read");
}

#[test]
fn a_report_of_what_was_not_read_counts_for_nothing_on_the_next_connection() {
    let mut story = Story::given(Kind::Plain, false, true);
    story.does(WROTE);
    story.does(Event::Reported);
    assert_eq!(story.does(RESET), [Action::Connect]);
    assert_eq!(story.exchange.wake_at(), None);
    assert!(!story.exchange.is_reported());
}

#[test]
fn of_a_request_that_a_living_worker_has_not_noticed_no_report_is_waited_for() {
    let mut story = Story::sent();
    story.does(RESET);
    assert_eq!(story.waits(), (200, vec![TRUNCATED, FINISHED]));
}

#[test]
fn a_request_alone_in_a_worker_that_was_stuck_is_not_sent_again() {
    let mut story = Story::sent();
    story.does(Event::Exited { is_unseen: false, cause: Cause::Stuck });
    story.does(CLOSED);
    assert_eq!(story.does(judged(true)), [Action::Fail(Code::WorkerStuck), Action::Bury]);
}

#[test]
fn a_warm_up_whose_worker_died_goes_to_no_other() {
    let mut story = Story::given(Kind::Own, false, false);
    story.does(WROTE);
    story.does(EXITED);
    story.does(CLOSED);
    assert_eq!(story.does(judged(true)), [Action::Fail(Code::Draining), Action::Bury]);
}

#[test]
fn i10_a_worker_that_reports_an_answered_request_as_unseen_causes_no_retry() {
    for event in [Event::Withdrawn, Event::Busy { by: sluice_scheduler::RequestId(1), is_open: true }] {
        let mut story = Story::answered_in_part(HEAD);
        assert_eq!(story.does(event), [Action::Note(Note::Foreign), MALFORMED, Action::Close]);
        assert!(story.exchange.holds_slot());
    }
}
