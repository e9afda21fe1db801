//! The worker has exited. What it wrote before is read; then the rules of I5 decide.

use sluice_catalog::errors::Code;
use sluice_scheduler::Time;

use super::{Action, Actions, Event, Exchange, Kind, Note, Timer};
use crate::fate::{ByteEvidence, Fate, Judgement, fate};

/// Bytes as of a request whose answer cannot be given to the client any more: it is never sent again.
const ANSWERED: ByteEvidence = ByteEvidence { sent: true, heard: true, unread: false };

impl Exchange {
    pub(super) fn while_orphaned(&mut self, now: Time, event: Event, actions: &mut Actions) {
        match event {
            Event::Wrote { .. } => self.attempt.seen.sent = true,
            Event::Heard => self.attempt.seen.heard = true,
            Event::HeadCame { is_until_close } => self.attempt.is_until_close = is_until_close,
            Event::Completed { .. } => self.finish(false, actions),
            Event::Closed { is_reset } => {
                self.attempt.seen.unread = is_reset && !self.attempt.seen.heard && self.attempt.is_one_piece;
                if self.attempt.is_until_close && self.attempt.is_reported && !is_reset {
                    return self.complete(actions);
                }
                self.judge(self.attempt.seen, actions);
            }
            Event::TimedOut if self.attempt.is_over(Timer::LastRead, now) => {
                actions.push(Action::Close);
                self.judge(self.attempt.seen, actions);
            }
            Event::Malformed | Event::Foreign => {
                let note = if event == Event::Foreign { Note::Foreign } else { Note::Malformed };
                actions.push(Action::Note(note));
                self.fail(now, Code::WorkerAnswerMalformed, actions);
                actions.push(Action::Close);
                self.judge(ANSWERED, actions);
            }
            // Neither goes on without its worker.
            Event::StreamCame | Event::Switched => {
                actions.push(Action::Close);
                self.judge(ANSWERED, actions);
            }
            Event::BodyLost => {
                self.fail(now, Code::TempFull, actions);
                actions.push(Action::Close);
                self.judge(ANSWERED, actions);
            }
            Event::Withdrawn | Event::Busy { .. } => {
                actions.push(Action::Close);
                self.judge(if self.attempt.seen.heard { ANSWERED } else { ByteEvidence::NOTHING }, actions);
            }
            Event::ClientLeft { .. } => {
                self.unwanted(now);
                actions.extend([Action::Leave, Action::Close]);
                self.judge(ANSWERED, actions);
            }
            Event::Reported | Event::Unwanted | Event::ClientHalfClosed { .. } | Event::Taken | Event::Begun => {
                self.note(now, event);
            }
            Event::TimedOut
            | Event::Waits
            | Event::Assigned { .. }
            | Event::Connected
            | Event::ConnectFailed
            | Event::StillOpen
            | Event::Dying
            | Event::Exited { .. }
            | Event::Judged(_) => {}
        }
    }

    pub(super) fn while_judged(&mut self, event: Event, actions: &mut Actions) {
        match event {
            Event::Judged(judged) => self.decide(judged, actions),
            Event::ClientLeft { .. } | Event::Unwanted => self.is_wanted = false,
            Event::Assigned { .. }
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
            | Event::ClientHalfClosed { .. }
            | Event::TimedOut => {}
        }
    }

    fn decide(&mut self, judged: Judgement, actions: &mut Actions) {
        let seen = self.attempt.seen;
        let mut verdict = fate(seen, self.attempt.cause, self.was_retried, judged);
        if verdict == Fate::Again && self.kind == Kind::Own {
            verdict = Fate::Fail(Code::Draining);
        }
        match verdict {
            Fate::Fail(code) => {
                if self.is_wanted {
                    actions.push(Action::Fail(code));
                }
                self.is_wanted = false;
                self.end();
                actions.push(Action::Bury);
            }
            Fate::Again if !self.is_wanted => {
                self.end();
                actions.push(Action::Bury);
            }
            Fate::Again => {
                // Should it be what its worker died with, it shall not end others' requests with the next. Of many that only waited none is,
                // before a second worker has died with one like it: each would have to wait until a worker is empty.
                let only_waited = judged.was_parked && judged.was_shared && judged.deaths <= 1;
                self.was_retried |= seen.sent;
                self.wait_again(actions);
                actions.push(Action::Retry { was_sent: seen.sent, is_suspect: seen.sent && !only_waited });
            }
        }
    }
}
