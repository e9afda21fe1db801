//! Bytes go both ways.

use sluice_catalog::errors::Code;
use sluice_scheduler::{RequestId, Time};

use super::{Action, Actions, Ahead, Event, Exchange, Kind, Note, Phase, Settling, Timer};
use crate::fate::ByteEvidence;

/// Maximum number of times that workers may return a request without a slot. That one may have got its slot again
/// shortly before. A worker that continues has reported the end of a request that it has not ended, and the request
/// would never get out of it.
const RETURNS_MAX: u8 = 8;

impl Exchange {
    pub(super) fn while_open(&mut self, now: Time, event: Event, actions: &mut Actions) {
        match event {
            Event::Wrote { is_whole, is_one_piece } => self.wrote(is_whole, is_one_piece, actions),
            Event::BodyLost => {
                self.fail(now, Code::TempFull, actions);
                self.cut(now, actions);
            }
            Event::Heard => {
                self.heard(now);
                if self.phase == Phase::Sent {
                    self.phase = Phase::Head;
                }
            }
            Event::HeadCame { is_until_close } => {
                self.phase = Phase::Body;
                self.attempt.is_until_close = is_until_close;
            }
            Event::StreamCame => self.detach(actions),
            Event::Switched => {
                self.detach(actions);
                self.end();
                actions.push(Action::SwitchOver);
            }
            Event::Completed { is_reusable } => {
                self.finish(is_reusable && self.attempt.is_written && !self.attempt.has_left, actions);
            }
            Event::Closed { is_reset } => self.closed(now, is_reset, actions),
            Event::Malformed | Event::Foreign => {
                let note = if event == Event::Foreign { Note::Foreign } else { Note::Malformed };
                actions.push(Action::Note(note));
                self.fail(now, Code::WorkerAnswerMalformed, actions);
                actions.push(Action::Close);
                self.settle(Settling::Broken, now, actions);
            }
            Event::Reported => {
                self.attempt.is_reported = true;
                if self.phase == Phase::Ending {
                    self.complete(actions);
                } else if !self.attempt.is_taken {
                    self.attempt.wait(Timer::LastBytes, now);
                }
            }
            Event::Taken => {
                self.attempt.is_taken = true;
                if self.kind == Kind::Upgrade {
                    self.detach(actions);
                }
            }
            Event::Waits => {
                self.note(now, event);
                self.leave_while_app_waits(actions);
            }
            Event::Busy { by, is_open } => self.busy(now, by, is_open, actions),
            Event::Withdrawn => self.withdrawn(now, actions),
            Event::Exited { is_unseen, cause } => self.exited(now, is_unseen, cause, actions),
            Event::ClientLeft { is_shown } => {
                self.unwanted(now);
                if is_shown && self.kind != Kind::Own {
                    self.client_left(now, actions);
                }
            }
            Event::ClientHalfClosed { .. } => {
                self.note(now, event);
                self.half_close(actions);
            }
            Event::TimedOut => self.time_out(now, actions),
            Event::Begun | Event::Dying | Event::Unwanted => self.note(now, event),
            Event::Assigned { .. } | Event::Connected | Event::ConnectFailed | Event::StillOpen | Event::Judged(_) => {}
        }
    }

    /// Remembers what has no consequence of its own in this phase.
    pub(super) fn note(&mut self, now: Time, event: Event) {
        match event {
            Event::Begun => {
                self.attempt.ahead = Ahead::Begun;
                self.attempt.last_heard = self.attempt.last_heard.max(now);
            }
            Event::Dying => self.attempt.is_dying = true,
            Event::Unwanted => self.unwanted(now),
            Event::ClientHalfClosed { is_shown } => self.attempt.is_half_closed |= is_shown && self.kind != Kind::Own,
            Event::Reported => self.attempt.is_reported = true,
            Event::Taken => self.attempt.is_taken = true,
            Event::Waits => {
                self.attempt.app_waits |= self.kind == Kind::Poll;
                self.attempt.is_taken |= self.attempt.app_waits;
            }
            _ => {}
        }
    }

    pub(super) fn heard(&mut self, now: Time) {
        self.attempt.seen.heard = true;
        self.attempt.last_heard = now;
        self.attempt.timer = self.attempt.timer.filter(|(timer, _)| *timer != Timer::LastBytes);
        if self.attempt.is_reported && !self.attempt.is_taken && self.phase != Phase::Detached {
            self.attempt.wait(Timer::LastBytes, now);
        }
    }

    pub(super) fn wrote(&mut self, is_whole: bool, is_one_piece: bool, actions: &mut Actions) {
        self.attempt.seen.sent = true;
        self.attempt.is_one_piece = is_one_piece;
        self.attempt.is_written = is_whole;
        self.half_close(actions);
        self.leave_while_app_waits(actions);
    }

    /// The app reads the whole request and then its end, as from the client itself.
    pub(super) fn half_close(&mut self, actions: &mut Actions) {
        if self.attempt.is_half_closed && self.attempt.is_written && !self.attempt.has_left {
            self.attempt.has_left = true;
            actions.push(Action::ShutDown);
        }
    }

    /// An app does not wait with what it has not read whole, and an answer that has begun ends where it began.
    fn leave_while_app_waits(&mut self, actions: &mut Actions) {
        if self.attempt.app_waits && self.attempt.is_written && matches!(self.phase, Phase::Sent | Phase::Head) {
            self.detach(actions);
        }
    }

    fn detach(&mut self, actions: &mut Actions) {
        self.phase = Phase::Detached;
        self.attempt.timer = None;
        actions.push(Action::Detach);
    }

    pub(super) fn closed(&mut self, now: Time, is_reset: bool, actions: &mut Actions) {
        self.attempt.seen.unread = is_reset && !self.attempt.seen.heard && self.attempt.is_one_piece;
        if self.attempt.has_left {
            return self.client_left(now, actions);
        }
        if self.phase == Phase::Body && self.attempt.is_until_close && !is_reset {
            if self.attempt.is_reported {
                return self.complete(actions);
            }
            self.phase = Phase::Ending;
            return self.attempt.wait(Timer::LastWord, now);
        }
        if self.attempt.is_reused && self.attempt.seen.is_unnoticed() {
            // It had been closed while it was idle.
            self.phase = Phase::Handed;
            self.attempt.is_reused = false;
            self.attempt.is_written = false;
            self.attempt.is_reported = false;
            self.attempt.timer = None;
            self.attempt.seen = ByteEvidence::NOTHING;
            return actions.push(Action::Connect);
        }
        self.settle(Settling::Closed, now, actions);
    }

    /// The end of the connection was that of the answer.
    pub(super) fn complete(&mut self, actions: &mut Actions) {
        actions.push(Action::Complete);
        self.finish(false, actions);
    }

    /// The app is to see that its client has left.
    fn client_left(&mut self, now: Time, actions: &mut Actions) {
        actions.extend([Action::Leave, Action::Close]);
        self.unwanted(now);
        self.settle(Settling::Left, now, actions);
    }

    fn cut(&mut self, now: Time, actions: &mut Actions) {
        actions.push(Action::Close);
        self.settle(Settling::Cut, now, actions);
    }

    pub(super) fn withdrawn(&mut self, now: Time, actions: &mut Actions) {
        if self.attempt.seen.heard {
            return self.lied(now, actions);
        }
        let is_fault = self.returns > RETURNS_MAX;
        if is_fault {
            self.returns = 0;
        }
        actions.push(Action::Close);
        self.give_back(is_fault, actions);
    }

    /// The worker has given the request back, unseen. The slot is that of one it answered, if it is still at that.
    pub(super) fn busy(&mut self, now: Time, by: RequestId, is_open: bool, actions: &mut Actions) {
        if self.attempt.seen.heard {
            self.lied(now, actions);
        } else if is_open && self.attempt.ahead != Ahead::Handed {
            self.wait_again(actions);
            actions.push(Action::PassTo { by });
        } else {
            self.returns = self.returns.saturating_add(u8::from(self.attempt.ahead != Ahead::Handed));
            self.withdrawn(now, actions);
        }
    }

    /// Bytes of an answer have come to what is said to be unseen: they may be with the client, and none may follow them.
    fn lied(&mut self, now: Time, actions: &mut Actions) {
        actions.push(Action::Note(Note::Foreign));
        self.fail(now, Code::WorkerAnswerMalformed, actions);
        actions.push(Action::Close);
        self.settle(Settling::Broken, now, actions);
    }

    fn exited(&mut self, now: Time, is_unseen: bool, cause: crate::Cause, actions: &mut Actions) {
        self.attempt.cause = cause;
        if is_unseen && !self.attempt.seen.heard {
            actions.push(Action::Close);
            return self.judge(ByteEvidence::NOTHING, actions);
        }
        if self.phase == Phase::Ending {
            return self.judge(self.attempt.seen, actions);
        }
        self.phase = Phase::Orphaned;
        self.attempt.wait(Timer::LastRead, now);
    }

    fn time_out(&mut self, now: Time, actions: &mut Actions) {
        if self.attempt.is_over(Timer::LastWord, now) {
            return self.complete(actions);
        }
        if !self.attempt.is_over(Timer::LastBytes, now) {
            return self.lose_patience(now, actions);
        }
        if self.phase == Phase::Body && self.attempt.is_until_close {
            actions.push(Action::Close);
            return self.complete(actions);
        }
        if self.attempt.has_left {
            return self.client_left(now, actions);
        }
        actions.push(Action::Note(Note::Short));
        self.fail(now, Code::WorkerAnswerTruncated, actions);
        actions.push(Action::Close);
        self.finish(false, actions);
    }

    /// Ends the config's two times: a silent worker's client is answered, and a worker that works for nobody is cut off. Neither
    /// frees the slot.
    pub(super) fn lose_patience(&mut self, now: Time, actions: &mut Actions) {
        if self.patience_ends().is_none_or(|end| end > now) {
            return;
        }
        if self.is_wanted {
            self.fail(now, Code::WorkerTimeout, actions);
        } else {
            self.cut(now, actions);
        }
    }
}
