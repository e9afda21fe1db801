//! What leaves its slot: event streams, polls, other protocols.

use sluice_dispatch::{Action, Event, Kind, Phase};

use super::support::*;

fn polling() -> Story {
    let mut story = Story::given(Kind::Poll, false, false);
    story.does(WROTE);
    story
}

#[test]
fn an_event_stream_leaves_its_slot_at_its_head() {
    let mut story = Story::sent();
    story.does(Event::Heard);
    assert_eq!(story.does(Event::StreamCame), [Action::Detach]);
    assert_eq!(story.does(Event::Reported), []);
    assert_eq!(story.does(LEFT), [Action::Close, Action::EndStream]);
}

#[test]
fn a_stream_whose_connection_closes_is_cut_off_and_its_worker_may_have_died() {
    for (event, code) in [(Event::TimedOut, TRUNCATED), (EXITED, DIED), (Event::Dying, DIED)] {
        let mut story = Story::sent();
        story.does(Event::Heard);
        story.does(Event::StreamCame);
        story.does(Event::Taken);
        story.does(Event::Reported);
        assert_eq!(story.does(CLOSED), [], "a stream is reported at its head");
        let done = if event == Event::TimedOut { story.waits().1 } else { story.does(event) };
        assert_eq!(done, [code, Action::Close, Action::EndStream]);
    }
}

#[test]
fn a_poll_leaves_its_slot_while_its_app_waits_and_not_before_it_is_written() {
    let mut story = Story::given(Kind::Poll, false, false);
    story.does(Event::Wrote { is_whole: false, is_one_piece: false });
    assert_eq!(story.does(Event::Waits), []);
    assert_eq!(story.does(Event::Wrote { is_whole: true, is_one_piece: false }), [Action::Detach]);
    assert_eq!(story.does(Event::Reported), []);
    story.does(Event::Heard);
    assert_eq!(story.does(COMPLETED), [Action::EndStream]);
    assert_eq!(Story::sent().does(Event::Waits), [], "a plain request has no such leave");
}

#[test]
fn an_answer_that_has_begun_ends_where_it_began() {
    let mut story = polling();
    story.does(Event::Heard);
    story.does(HEAD);
    assert_eq!(story.does(Event::Waits), []);
    assert_eq!(story.does(Event::Reported), []);
    assert_eq!(story.exchange.wake_at(), None, "its last bytes come when they come");
    assert_eq!(story.does(COMPLETED), [KEPT]);
}

#[test]
fn an_upgrade_leaves_its_slot_when_the_app_has_it_and_ends_with_its_connection() {
    let mut story = Story::given(Kind::Upgrade, false, false);
    story.does(WROTE);
    assert_eq!(story.does(Event::Taken), [Action::Detach]);
    story.does(Event::Heard);
    assert_eq!(story.does(Event::Switched), [Action::SwitchOver]);
    assert!(story.is(Phase::Ended));
    let mut at_once = Story::given(Kind::Upgrade, false, false);
    at_once.does(WROTE);
    at_once.does(Event::Heard);
    assert_eq!(at_once.does(Event::Switched), [Action::Detach, Action::SwitchOver]);
}

#[test]
fn a_poll_that_nothing_is_heard_of_ends_with_the_config_s_patience() {
    let mut story = polling();
    story.does(Event::Waits);
    let (ms, done) = story.waits();
    assert_eq!((ms, done.len()), (SILENCE_MS, 3));
    assert!(story.is(Phase::Ended));
}
