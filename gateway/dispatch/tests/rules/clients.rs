//! Clients that leave.

use sluice_catalog::errors::Code;
use sluice_dispatch::{Action, Event, Kind, Phase, Settling};

use super::support::*;

#[test]
fn i1_a_client_that_leaves_frees_no_slot_of_an_app_that_may_still_compute() {
    let mut story = Story::answered_in_part(HEAD);
    assert_eq!(story.does(LEFT), [Action::Leave, Action::Close]);
    assert!(story.exchange.holds_slot());
    assert_eq!(story.does(Event::Reported), [FINISHED]);
}

#[test]
fn a_request_whose_client_left_before_its_first_byte_leaves_its_connection_to_the_next() {
    let mut story = Story::given(Kind::Plain, false, true);
    assert_eq!(story.does(LEFT), [KEPT]);
}

#[test]
fn a_worker_that_shows_no_departures_goes_on_for_nobody_until_its_time_is_over() {
    let mut story = Story::sent();
    assert_eq!(story.does(Event::ClientLeft { is_shown: false }), []);
    assert_eq!(story.waits(), (ABANDONED_MS, vec![Action::Close]));
    assert!(story.is(Phase::Settling(Settling::Cut)));
}

#[test]
fn an_app_reads_the_whole_request_before_it_sees_that_its_client_closed_its_side() {
    let mut story = Story::given(Kind::Plain, false, false);
    assert_eq!(story.does(Event::Wrote { is_whole: false, is_one_piece: false }), []);
    assert_eq!(story.does(Event::ClientHalfClosed { is_shown: true }), []);
    assert_eq!(story.does(Event::Wrote { is_whole: true, is_one_piece: false }), [Action::ShutDown]);
    story.does(Event::Heard);
    assert_eq!(story.does(CLOSED), [Action::Leave, Action::Close]);
    assert_eq!(story.does(Event::Reported), [FINISHED]);
}

#[test]
fn a_warm_up_has_no_client_whose_leaving_could_be_shown() {
    let mut story = Story::given(Kind::Own, false, false);
    story.does(WROTE);
    assert_eq!(story.does(LEFT), []);
    assert!(story.is(Phase::Sent));
}

#[test]
fn a_body_that_is_lost_ends_the_request_for_its_client_and_the_app() {
    let mut story = Story::given(Kind::Plain, false, false);
    story.does(Event::Wrote { is_whole: false, is_one_piece: false });
    assert_eq!(story.does(Event::BodyLost), [Action::Fail(Code::TempFull), Action::Close]);
    assert!(story.is(Phase::Settling(Settling::Cut)));
}
