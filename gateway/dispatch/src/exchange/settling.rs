//! The answer is over, and the slot is not free: the worker has not said that it has ended the request, nor exited (I1). A worker
//! that does neither in time is replaced.

use sluice_catalog::errors::Code;
use sluice_scheduler::Time;

use super::{Action, Actions, Ahead, Event, Exchange, Note, Phase, Settling, Timer};
use crate::fate::{ByteEvidence, Cause};

impl Exchange {
    /// The connection is over.
    pub(super) fn settle(&mut self, why: Settling, now: Time, actions: &mut Actions) {
        self.phase = Phase::Settling(why);
        self.attempt.timer = None;
        if self.attempt.is_reported {
            return self.reported(why, now, actions);
        }
        match why {
            Settling::Closed => self.attempt.wait(Timer::Exit, now),
            Settling::Broken => self.attempt.wait(Timer::Report, now),
            Settling::Cut => self.attempt.wait(Timer::CutReport, now),
            Settling::Left | Settling::StillOpen | Settling::GivenUp => {}
        }
        // From then on its number is not in the pipe: either it is free, or the worker has it and will report its end.
        if self.attempt.ahead != Ahead::No {
            actions.push(Action::TakeBack);
        }
    }

    pub(super) fn while_settling(&mut self, why: Settling, now: Time, event: Event, actions: &mut Actions) {
        match event {
            Event::Reported => self.reported(why, now, actions),
            Event::Exited { is_unseen, cause } => self.settled_by_exit(why, is_unseen, cause, actions),
            // What was heard of is settled by its report alone.
            Event::Withdrawn if self.may_be_unseen(why) => self.withdrawn(now, actions),
            Event::Busy { by, is_open } if self.may_be_unseen(why) => {
                self.busy(now, by, is_open, actions);
            }
            Event::TimedOut => self.wait_no_longer(why, now, actions),
            Event::ClientLeft { .. } => self.unwanted(now),
            Event::Begun | Event::Dying | Event::Unwanted | Event::ClientHalfClosed { .. } => self.note(now, event),
            // What the connection still brings is nobody's.
            Event::Withdrawn
            | Event::Busy { .. }
            | Event::Assigned { .. }
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
            | Event::Taken
            | Event::Waits
            | Event::StillOpen
            | Event::Judged(_) => {}
        }
    }

    fn may_be_unseen(&self, why: Settling) -> bool {
        !self.attempt.seen.heard && !matches!(why, Settling::StillOpen | Settling::GivenUp)
    }

    fn reported(&mut self, why: Settling, now: Time, actions: &mut Actions) {
        self.attempt.is_reported = true;
        match why {
            // Only its exit frees the slot of a worker that was given up.
            Settling::GivenUp => return,
            Settling::Closed => self.fail(now, Code::WorkerAnswerTruncated, actions),
            Settling::Broken | Settling::Left | Settling::Cut | Settling::StillOpen => {}
        }
        self.finish(false, actions);
    }

    fn settled_by_exit(&mut self, why: Settling, is_unseen: bool, cause: Cause, actions: &mut Actions) {
        self.attempt.cause = cause;
        if why == Settling::StillOpen {
            return self.finish(false, actions);
        }
        let seen = match why {
            _ if is_unseen && !self.attempt.seen.heard => ByteEvidence::NOTHING,
            Settling::Closed => self.attempt.seen,
            _ => ByteEvidence { sent: true, heard: true, unread: false },
        };
        self.judge(seen, actions);
    }

    fn wait_no_longer(&mut self, why: Settling, now: Time, actions: &mut Actions) {
        if self.attempt.is_over(Timer::Exit, now) && self.attempt.is_dying {
            return self.attempt.wait(Timer::DyingExit, now);
        }
        if self.attempt.is_over(Timer::Exit, now) || self.attempt.is_over(Timer::DyingExit, now) {
            self.fail(now, Code::WorkerAnswerTruncated, actions);
            // Of what it has not noticed it reports no end.
            if self.attempt.seen.is_unnoticed() {
                return self.finish(false, actions);
            }
            return self.attempt.wait(Timer::Report, now);
        }
        if self.attempt.is_over(Timer::Report, now) || self.attempt.is_over(Timer::CutReport, now) {
            return self.give_worker_up(actions);
        }
        if self.patience_ends().is_some_and(|end| end <= now) {
            if why == Settling::StillOpen {
                return self.give_worker_up(actions);
            }
            self.phase = Phase::Settling(Settling::Cut);
            self.attempt.wait(Timer::CutReport, now);
        }
    }

    fn give_worker_up(&mut self, actions: &mut Actions) {
        self.phase = Phase::Settling(Settling::GivenUp);
        self.attempt.timer = None;
        actions.extend([Action::Note(Note::NotEnded), Action::GiveUpWorker]);
    }

    pub(super) fn after_its_end(&mut self, now: Time, event: Event, actions: &mut Actions) {
        match event {
            Event::Reported => self.attempt.is_reported = true,
            Event::StillOpen if !self.attempt.is_reported => {
                self.is_wanted = false;
                self.unwanted_since = Some(now);
                self.settle(Settling::StillOpen, now, actions);
            }
            Event::StillOpen
            | Event::Assigned { .. }
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
            | Event::Taken
            | Event::Waits
            | Event::Busy { .. }
            | Event::Withdrawn
            | Event::Dying
            | Event::Exited { .. }
            | Event::Judged(_)
            | Event::ClientLeft { .. }
            | Event::ClientHalfClosed { .. }
            | Event::Unwanted
            | Event::TimedOut => {}
        }
    }
}
