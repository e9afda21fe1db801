//! Answers that continue outside of any slot: an event stream, a poll that the app waits with, an upgrade that is not answered yet.

use sluice_catalog::errors::Code;
use sluice_scheduler::Time;

use super::{Action, Actions, Event, Exchange, Note, Phase, Timer};

impl Exchange {
    pub(super) fn while_detached(&mut self, now: Time, event: Event, actions: &mut Actions) {
        match event {
            Event::Wrote { is_whole, is_one_piece } => self.wrote(is_whole, is_one_piece, actions),
            Event::Heard => self.heard(now),
            Event::HeadCame { is_until_close } => self.attempt.is_until_close = is_until_close,
            Event::Switched => {
                self.end();
                actions.push(Action::SwitchOver);
            }
            Event::Completed { .. } => self.end_stream(actions),
            Event::Closed { is_reset } => self.stream_closed(now, is_reset, actions),
            Event::Malformed | Event::Foreign => {
                let note = if event == Event::Foreign { Note::Foreign } else { Note::Malformed };
                actions.push(Action::Note(note));
                self.break_off(now, Code::WorkerAnswerMalformed, actions);
            }
            Event::BodyLost => self.break_off(now, Code::TempFull, actions),
            Event::Reported => {
                self.attempt.is_reported = true;
                match self.attempt.timer {
                    Some((Timer::LastWord, _)) => self.stream_complete(actions),
                    Some((Timer::Exit, _)) => self.break_off(now, self.stream_error(), actions),
                    _ => {}
                }
            }
            Event::Dying => {
                self.attempt.is_dying = true;
                if matches!(self.attempt.timer, Some((Timer::Exit, _))) {
                    self.break_off(now, Code::WorkerDied, actions);
                }
            }
            Event::Exited { cause, .. } => {
                self.attempt.cause = cause;
                self.attempt.is_dying = true;
                match self.attempt.timer {
                    Some((Timer::LastWord | Timer::Exit, _)) => self.break_off(now, Code::WorkerDied, actions),
                    _ => self.attempt.wait(Timer::LastRead, now),
                }
            }
            Event::ClientLeft { .. } | Event::Unwanted => {
                self.unwanted(now);
                actions.push(Action::Close);
                self.end_stream(actions);
            }
            Event::ClientHalfClosed { .. } => {
                self.note(now, event);
                self.half_close(actions);
            }
            Event::TimedOut => self.stream_times_out(now, actions),
            Event::StreamCame
            | Event::Taken
            | Event::Waits
            | Event::Assigned { .. }
            | Event::Begun
            | Event::Connected
            | Event::ConnectFailed
            | Event::Busy { .. }
            | Event::StillOpen
            | Event::Withdrawn
            | Event::Judged(_) => {}
        }
    }

    /// Whether a stream ended because its worker died, or the worker lives and ended it, shows a little later.
    fn stream_closed(&mut self, now: Time, is_reset: bool, actions: &mut Actions) {
        if self.attempt.has_left {
            actions.push(Action::Leave);
            self.end_stream(actions);
        } else if self.attempt.is_dying {
            self.break_off(now, Code::WorkerDied, actions);
        } else if self.attempt.is_until_close && !is_reset {
            if self.attempt.is_reported {
                return self.stream_complete(actions);
            }
            self.attempt.wait(Timer::LastWord, now);
        } else {
            self.attempt.wait(Timer::Exit, now);
        }
    }

    fn stream_times_out(&mut self, now: Time, actions: &mut Actions) {
        if self.attempt.is_over(Timer::LastWord, now) {
            self.stream_complete(actions);
        } else if self.attempt.is_over(Timer::Exit, now) || self.attempt.is_over(Timer::LastRead, now) {
            self.break_off(now, self.stream_error(), actions);
        } else if self.patience_ends().is_some_and(|end| end <= now) {
            self.break_off(now, Code::WorkerTimeout, actions);
        }
    }

    fn stream_error(&self) -> Code {
        if self.attempt.is_dying { Code::WorkerDied } else { Code::WorkerAnswerTruncated }
    }

    fn break_off(&mut self, now: Time, code: Code, actions: &mut Actions) {
        self.fail(now, code, actions);
        actions.push(Action::Close);
        self.end_stream(actions);
    }

    fn stream_complete(&mut self, actions: &mut Actions) {
        actions.push(Action::Complete);
        self.end_stream(actions);
    }

    fn end_stream(&mut self, actions: &mut Actions) {
        debug_assert_eq!(self.phase, Phase::Detached);
        self.end();
        actions.push(Action::EndStream);
    }
}
