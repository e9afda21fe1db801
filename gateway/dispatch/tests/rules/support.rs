//! An exchange whose story is told event by event.

use sluice_catalog::errors::Code;
use sluice_dispatch::{Action, Actions, Cause, Event, Exchange, Judgement, Kind, Patience, Phase};
use sluice_scheduler::Time;

pub const SILENCE_MS: u64 = 30_000;
pub const ABANDONED_MS: u64 = 10_000;
pub const WROTE: Event = Event::Wrote { is_whole: true, is_one_piece: true };
pub const HEAD: Event = Event::HeadCame { is_until_close: false };
pub const COMPLETED: Event = Event::Completed { is_reusable: true };
pub const CLOSED: Event = Event::Closed { is_reset: false };
pub const RESET: Event = Event::Closed { is_reset: true };
pub const LEFT: Event = Event::ClientLeft { is_shown: true };
pub const EXITED: Event = Event::Exited { is_unseen: false, cause: Cause::Own };
pub const KEPT: Action = Action::Finish { keeps: true };
pub const FINISHED: Action = Action::Finish { keeps: false };
pub const TRUNCATED: Action = Action::Fail(Code::WorkerAnswerTruncated);
pub const MALFORMED: Action = Action::Fail(Code::WorkerAnswerMalformed);
pub const DIED: Action = Action::Fail(Code::WorkerDied);

/// What is known of a request alone in its worker, with no quarantine.
pub fn judged(is_safe: bool) -> Event {
    Event::Judged(Judgement { is_safe, was_shared: false, was_parked: false, held: None, deaths: 1 })
}

pub struct Story {
    pub exchange: Exchange,
    now: Time,
}

impl Story {
    /// A request that a worker has just been given, on a connection that has carried none (`is_reused`: that has).
    pub fn given(kind: Kind, is_ahead: bool, is_reused: bool) -> Self {
        let patience = Patience { silence_us: SILENCE_MS * 1000, abandoned_us: ABANDONED_MS * 1000 };
        let mut story = Story { exchange: Exchange::new(kind, patience), now: Time(0) };
        let begun = story.does(Event::Assigned { is_ahead, is_reused });
        assert_eq!(begun, [if is_reused { Action::Write } else { Action::Connect }]);
        if !is_reused {
            assert_eq!(story.does(Event::Connected), [Action::Write]);
        }
        story
    }

    /// A plain request that was written whole.
    pub fn sent() -> Self {
        let mut story = Story::given(Kind::Plain, false, false);
        assert_eq!(story.does(WROTE), []);
        story
    }

    /// One whose answer's head has come.
    pub fn answered_in_part(head: Event) -> Self {
        let mut story = Story::sent();
        assert_eq!(story.does(Event::Heard), []);
        assert_eq!(story.does(head), []);
        story
    }

    pub fn does(&mut self, event: Event) -> Vec<Action> {
        let mut actions = Actions::new();
        self.exchange.on(self.now, event, &mut actions);
        actions.into_vec()
    }

    /// So much time passes that the next thing it waits for is over; says how much, milliseconds.
    pub fn waits(&mut self) -> (u64, Vec<Action>) {
        let ends = [self.exchange.wake_at(), self.exchange.patience_ends()];
        let end = ends.into_iter().flatten().min().expect("it waits for something");
        let ms = end.since_us(self.now) / 1000;
        self.now = end;
        (ms, self.does(Event::TimedOut))
    }

    pub fn is(&self, phase: Phase) -> bool {
        self.exchange.phase() == phase
    }
}
