//! One request from its arrival in the queue to its end, as a machine: a phase, events, actions.
//!
//! Reading order: [`Phase`], then [`Exchange::on`], which has an arm for each phase. Each phase has a file for its arms:
//!
//! - `waiting`: no byte was written.
//! - `open`: bytes go both ways.
//! - `settling`: the answer is over, the slot is not free.
//! - `detached`: the slot is free, the answer is not over.
//! - `orphaned`: the worker has exited.

mod detached;
mod interface;
mod open;
mod orphaned;
mod settling;
mod timers;
mod waiting;

pub use interface::{Action, Actions, Ahead, Event, Kind, Note, Patience};
pub use timers::{TIMERS, Timer, TimerRow};

use sluice_catalog::errors::Code;
use sluice_scheduler::Time;

use crate::fate::{ByteEvidence, Cause};

/// Phase of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The request waits for a worker.
    Queued,
    /// A worker's slot is taken for it, and nothing is written.
    Handed,
    /// Bytes of it are written, and none of its answer came.
    Sent,
    /// Bytes of its answer's head came.
    Head,
    /// The answer's head has gone to the client, and the body follows.
    Body,
    /// The connection has ended a body that only this ends, and nobody knows yet whether the worker died.
    Ending,
    /// The answer is over, and the slot is free when the worker says so.
    Settling(Settling),
    /// The request has left its slot, and the answer continues.
    Detached,
    /// The worker has exited, and the gateway reads its last bytes.
    Orphaned,
    /// The worker has exited, and the quarantine is asked.
    Judged,
    /// Nothing is to come.
    Ended,
}

/// Reason for a slot that is not free although its request's answer is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settling {
    /// The worker closed the connection.
    Closed,
    /// The worker wrote what is not its answer.
    Broken,
    /// The client has left, and the connection was closed to tell the app.
    Left,
    /// The client had left, and the worker has had its time.
    Cut,
    /// The app is still at it after its answer.
    StillOpen,
    /// The worker is being replaced.
    GivenUp,
}

/// The machine. See the module's text.
#[derive(Clone, Debug)]
pub struct Exchange {
    phase: Phase,
    kind: Kind,
    patience: Patience,
    attempt: Attempt,
    is_wanted: bool,
    was_retried: bool,
    /// Times that a worker gave it back for a request that it had reported as ended.
    returns: u8,
    unwanted_since: Option<Time>,
}

/// Facts of one attempt at one worker. The next attempt begins without them.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools)] // Facts of which none excludes another; what excludes is in the phase.
struct Attempt {
    ahead: Ahead,
    seen: ByteEvidence,
    /// The connection has carried another request.
    is_reused: bool,
    is_written: bool,
    is_one_piece: bool,
    is_until_close: bool,
    /// The client has closed its sending side, and the app is to see it.
    is_half_closed: bool,
    /// The app sees that its client has left.
    has_left: bool,
    is_reported: bool,
    is_taken: bool,
    app_waits: bool,
    is_dying: bool,
    cause: Cause,
    last_heard: Time,
    timer: Option<(Timer, Time)>,
}

impl Attempt {
    const NONE: Self = Attempt {
        ahead: Ahead::No,
        seen: ByteEvidence::NOTHING,
        is_reused: false,
        is_written: false,
        is_one_piece: false,
        is_until_close: false,
        is_half_closed: false,
        has_left: false,
        is_reported: false,
        is_taken: false,
        app_waits: false,
        is_dying: false,
        cause: Cause::Own,
        last_heard: Time(0),
        timer: None,
    };

    fn wait(&mut self, timer: Timer, now: Time) {
        self.timer = Some((timer, now.plus_us(timer.us())));
    }

    fn is_over(&self, timer: Timer, now: Time) -> bool {
        self.timer.is_some_and(|(set, at)| set == timer && at <= now)
    }
}

impl Exchange {
    /// A request that waits for a worker.
    pub fn new(kind: Kind, patience: Patience) -> Self {
        Exchange {
            phase: Phase::Queued,
            kind,
            patience,
            attempt: Attempt::NONE,
            is_wanted: true,
            was_retried: false,
            returns: 0,
            unwanted_since: None,
        }
    }

    /// Takes one event, and appends what is to be done to `actions`. `now` must not run backwards.
    pub fn on(&mut self, now: Time, event: Event, actions: &mut Actions) {
        match self.phase {
            Phase::Queued => self.while_queued(now, event, actions),
            Phase::Handed => self.while_handed(now, event, actions),
            Phase::Sent | Phase::Head | Phase::Body | Phase::Ending => self.while_open(now, event, actions),
            Phase::Settling(why) => self.while_settling(why, now, event, actions),
            Phase::Detached => self.while_detached(now, event, actions),
            Phase::Orphaned => self.while_orphaned(now, event, actions),
            Phase::Judged => self.while_judged(event, actions),
            Phase::Ended => self.after_its_end(now, event, actions),
        }
    }

    /// Time at which the exchange is to be told [`Event::TimedOut`], if nothing else happens.
    pub fn wake_at(&self) -> Option<Time> {
        self.attempt.timer.map(|(_, at)| at)
    }

    /// End of the config's two times, which are long and may be looked at late.
    pub fn patience_ends(&self) -> Option<Time> {
        match self.phase {
            Phase::Handed | Phase::Sent | Phase::Head | Phase::Body if self.is_wanted => {
                Some(self.attempt.last_heard.plus_us(self.patience.silence_us))
            }
            Phase::Detached if self.is_wanted && !self.attempt.seen.heard => {
                Some(self.attempt.last_heard.plus_us(self.patience.silence_us))
            }
            Phase::Handed
            | Phase::Sent
            | Phase::Head
            | Phase::Body
            | Phase::Settling(Settling::Left | Settling::StillOpen) => {
                self.unwanted_since.map(|since| since.plus_us(self.patience.abandoned_us))
            }
            _ => None,
        }
    }

    /// Phase that the request is in.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Place among the requests that its worker has.
    pub fn ahead(&self) -> Ahead {
        self.attempt.ahead
    }

    /// Whether a slot is taken for it (I1).
    pub fn holds_slot(&self) -> bool {
        match self.phase {
            Phase::Handed | Phase::Sent | Phase::Head | Phase::Body | Phase::Ending | Phase::Settling(_) => true,
            Phase::Queued | Phase::Detached | Phase::Orphaned | Phase::Judged | Phase::Ended => false,
        }
    }

    /// Whether bytes that come on its connection are its answer's (I10).
    #[must_use]
    pub fn forwards(&self) -> bool {
        match self.phase {
            Phase::Sent | Phase::Head | Phase::Body | Phase::Detached | Phase::Orphaned => true,
            Phase::Queued | Phase::Handed | Phase::Ending | Phase::Settling(_) | Phase::Judged | Phase::Ended => false,
        }
    }

    /// Whether the worker has reported its end.
    pub fn is_reported(&self) -> bool {
        self.attempt.is_reported
    }

    /// Whether its app writes when it likes: to another protocol, to an event stream, or to a poll that it waits with.
    pub fn is_taken(&self) -> bool {
        self.attempt.is_taken
    }

    /// Whether somebody waits for its answer.
    pub fn is_wanted(&self) -> bool {
        self.is_wanted
    }

    // What the arms share.

    fn fail(&mut self, now: Time, code: Code, actions: &mut Actions) {
        if self.is_wanted {
            actions.push(Action::Fail(code));
            self.unwanted(now);
        }
    }

    fn unwanted(&mut self, now: Time) {
        self.is_wanted = false;
        self.unwanted_since.get_or_insert(now);
    }

    /// The slot is free, and the request is over.
    fn finish(&mut self, keeps: bool, actions: &mut Actions) {
        self.end();
        actions.push(Action::Finish { keeps });
    }

    /// The slot is free, and the request waits again: no app has seen it.
    fn give_back(&mut self, is_fault: bool, actions: &mut Actions) {
        self.wait_again(actions);
        actions.push(Action::GiveBack { is_fault });
    }

    fn end(&mut self) {
        self.phase = Phase::Ended;
        self.attempt.timer = None;
    }

    /// The request is in the queue once more, if somebody waits for it.
    fn wait_again(&mut self, actions: &mut Actions) {
        if self.kind == Kind::Own && self.is_wanted {
            actions.push(Action::Fail(Code::Draining));
            self.is_wanted = false;
        }
        self.phase = if self.is_wanted { Phase::Queued } else { Phase::Ended };
        self.attempt = Attempt::NONE;
    }

    /// The worker has exited, and the connection has nothing more.
    fn judge(&mut self, seen: ByteEvidence, actions: &mut Actions) {
        self.phase = Phase::Judged;
        self.attempt.timer = None;
        self.attempt.seen = seen;
        actions.push(Action::Judge { seen, cause: self.attempt.cause });
    }
}
