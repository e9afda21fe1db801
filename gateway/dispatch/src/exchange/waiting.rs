//! Requests of which no byte was written: in the queue, and with a worker whose connection is being made.

use sluice_catalog::errors::Code;
use sluice_scheduler::Time;

use super::{Action, Actions, Ahead, Event, Exchange, Kind, Note, Phase};
use crate::fate::ByteEvidence;

impl Exchange {
    pub(super) fn while_queued(&mut self, now: Time, event: Event, actions: &mut Actions) {
        match event {
            Event::Assigned { is_ahead, is_reused } => {
                self.phase = Phase::Handed;
                self.attempt.ahead = if is_ahead { Ahead::Handed } else { Ahead::No };
                self.attempt.is_reused = is_reused;
                self.attempt.last_heard = now;
                actions.push(if is_reused { Action::Write } else { Action::Connect });
            }
            // The scheduler takes it out of the queue.
            Event::ClientLeft { .. } | Event::Unwanted => self.unwanted(now),
            // Late words of a worker that had the request before. A client that has closed its side is said again with a worker.
            Event::ClientHalfClosed { .. }
            | Event::Begun
            | Event::Connected
            | Event::ConnectFailed
            | Event::Wrote { .. }
            | Event::BodyLost
            | Event::Heard
            | Event::HeadCame { .. }
            | Event::StreamCame
            | Event::Switched
            | Event::Completed { .. }
            | Event::Closed { .. }
            | Event::Malformed
            | Event::Foreign
            | Event::Reported
            | Event::Taken
            | Event::Waits
            | Event::Busy { .. }
            | Event::StillOpen
            | Event::Withdrawn
            | Event::Dying
            | Event::Exited { .. }
            | Event::Judged(_)
            | Event::TimedOut => {}
        }
    }

    pub(super) fn while_handed(&mut self, now: Time, event: Event, actions: &mut Actions) {
        match event {
            Event::Connected => {
                self.attempt.is_reused = false;
                actions.push(Action::Write);
            }
            Event::ConnectFailed => self.give_back(true, actions),
            Event::Wrote { is_whole, is_one_piece } => {
                self.phase = Phase::Sent;
                self.wrote(is_whole, is_one_piece, actions);
            }
            Event::BodyLost => {
                self.fail(now, Code::TempFull, actions);
                actions.push(Action::Close);
                self.finish(false, actions);
            }
            // Nothing was asked of the worker yet.
            Event::Heard
            | Event::HeadCame { .. }
            | Event::StreamCame
            | Event::Switched
            | Event::Completed { .. }
            | Event::Malformed
            | Event::Foreign => {
                actions.push(Action::Note(Note::Foreign));
                self.fail(now, Code::WorkerAnswerMalformed, actions);
                actions.push(Action::Close);
                self.finish(false, actions);
            }
            Event::Closed { is_reset } => self.closed(now, is_reset, actions),
            Event::Exited { cause, .. } => {
                self.attempt.cause = cause;
                actions.push(Action::Close);
                self.judge(ByteEvidence::NOTHING, actions);
            }
            Event::ClientLeft { is_shown } => {
                self.unwanted(now);
                if is_shown && self.kind != Kind::Own {
                    self.finish(true, actions);
                }
            }
            Event::Withdrawn => self.withdrawn(now, actions),
            Event::Busy { by, is_open } => self.busy(now, by, is_open, actions),
            Event::TimedOut => self.lose_patience(now, actions),
            Event::ClientHalfClosed { .. } | Event::Unwanted | Event::Begun | Event::Dying => self.note(now, event),
            // Words about a request that the worker has not got are about an earlier try.
            Event::Reported
            | Event::Taken
            | Event::Waits
            | Event::Assigned { .. }
            | Event::StillOpen
            | Event::Judged(_) => {}
        }
    }
}
