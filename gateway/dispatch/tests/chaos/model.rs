//! An exchange under any events in any order, and what must hold whatever they are. The events are drawn from a list of numbers, so
//! that a seed and a fuzzer can both choose them.

use sluice_dispatch::{
    Action, Actions, Ahead, Cause, Event, Exchange, Judgement, Kind, Patience, Phase, QuarantineRule,
};
use sluice_scheduler::{RequestId, Time};

/// What is known of the request by watching it from outside.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // Facts of which none excludes another.
struct Watch {
    /// A slot was given, and not given back.
    has_slot: bool,
    /// Bytes were written that the app may be at.
    may_compute: bool,
    is_safe: bool,
    was_heard: bool,
    was_sent: bool,
    retries: u32,
    is_failed: bool,
    has_stream: bool,
    has_exited: bool,
    is_judged: bool,
}

/// A request that lives through what the numbers say.
pub struct Model {
    exchange: Exchange,
    now: Time,
    watch: Watch,
    /// Every event and what followed.
    pub history: Vec<String>,
}

/// A source of numbers.
pub trait Choices {
    /// The next one, below `bound`; `None` ends the life.
    fn below(&mut self, bound: u64) -> Option<u64>;
}

const PATIENCE: Patience = Patience { silence_us: 30_000_000, abandoned_us: 10_000_000 };

impl Model {
    /// A request that waits.
    pub fn new(choices: &mut impl Choices) -> Option<Self> {
        let kind = [Kind::Plain, Kind::Plain, Kind::Poll, Kind::Upgrade, Kind::Own];
        let kind = kind[usize::try_from(choices.below(5)?).unwrap_or(0)];
        let is_safe = choices.below(2)? == 0;
        let watch = Watch { is_safe, ..Watch::default() };
        Some(Model { exchange: Exchange::new(kind, PATIENCE), now: Time(0), watch, history: Vec::new() })
    }

    /// Lives until the numbers end, and then brings the request to its end.
    pub fn live(&mut self, choices: &mut impl Choices) -> Result<(), String> {
        while let Some(event) = self.choose(choices) {
            self.step(event)?;
        }
        self.conclude()
    }

    fn choose(&self, choices: &mut impl Choices) -> Option<Event> {
        let bit = |choices: &mut dyn FnMut(u64) -> Option<u64>| choices(2).map(|bit| bit == 1);
        let mut next = |bound| choices.below(bound);
        let cause = [Cause::Own, Cause::Stuck, Cause::Gateway];
        Some(match next(25)? {
            0 | 1 => Event::Assigned { is_ahead: bit(&mut next)?, is_reused: bit(&mut next)? },
            2 => Event::Begun,
            3 => Event::Connected,
            4 => Event::ConnectFailed,
            5 => Event::Wrote { is_whole: bit(&mut next)?, is_one_piece: bit(&mut next)? },
            6 => Event::BodyLost,
            7 => Event::Heard,
            8 => Event::HeadCame { is_until_close: bit(&mut next)? },
            9 => Event::StreamCame,
            10 => Event::Switched,
            11 => Event::Completed { is_reusable: bit(&mut next)? },
            12 => Event::Closed { is_reset: bit(&mut next)? },
            13 => Event::Malformed,
            14 => Event::Foreign,
            15 => Event::Reported,
            16 => Event::Taken,
            17 => Event::Waits,
            18 => Event::Busy { by: RequestId(7), is_open: bit(&mut next)? },
            19 => {
                if bit(&mut next)? {
                    Event::StillOpen
                } else {
                    Event::Withdrawn
                }
            }
            20 => Event::Dying,
            21 => {
                // The number of a request that the app has answered is not in the pipe.
                let is_unseen = bit(&mut next)? && self.exchange.ahead() != Ahead::No && !self.watch.was_heard;
                Event::Exited { is_unseen, cause: cause[usize::try_from(next(3)?).unwrap_or(0)] }
            }
            22 => Event::Judged(self.judgement(next(16)?)),
            23 => match next(3)? {
                0 => Event::ClientLeft { is_shown: bit(&mut next)? },
                1 => Event::ClientHalfClosed { is_shown: bit(&mut next)? },
                _ => Event::Unwanted,
            },
            _ => Event::TimedOut,
        })
    }

    fn judgement(&self, bits: u64) -> Judgement {
        let held = [None, Some(QuarantineRule::Refused), Some(QuarantineRule::Probed), None];
        Judgement {
            is_safe: self.watch.is_safe,
            was_shared: bits & 1 == 1,
            was_parked: bits & 2 == 2,
            held: held[usize::try_from(bits >> 2).unwrap_or(0)],
            deaths: 1,
        }
    }

    /// What can not happen to a request that has no worker, or twice, is left out.
    fn is_possible(&self, event: Event) -> bool {
        match event {
            Event::Assigned { .. } => self.exchange.phase() == Phase::Queued && self.exchange.is_wanted(),
            Event::StillOpen => {
                self.exchange.phase() == Phase::Ended && !self.exchange.is_reported() && !self.watch.has_exited
            }
            Event::Judged(_) => self.watch.is_judged,
            Event::Exited { .. } | Event::Dying => !self.watch.has_exited,
            _ => true,
        }
    }

    fn step(&mut self, event: Event) -> Result<(), String> {
        if !self.is_possible(event) {
            return Ok(());
        }
        if event == Event::TimedOut {
            let ends = [self.exchange.wake_at(), self.exchange.patience_ends()];
            self.now = self.now.max(ends.into_iter().flatten().min().unwrap_or(self.now));
        } else {
            self.now = self.now.plus_us(1000);
        }
        let before = self.exchange.phase();
        self.watch.note(event, before);
        let mut actions = Actions::new();
        self.exchange.on(self.now, event, &mut actions);
        let after = self.exchange.phase();
        self.history.push(format!("{:>9} µs {before:?} {event:?} → {after:?} {actions:?}", self.now.0));
        for action in actions {
            self.watch.check(action)?;
        }
        self.check_phase()
    }

    fn check_phase(&self) -> Result<(), String> {
        let (exchange, watch) = (&self.exchange, &self.watch);
        let is_at_worker = exchange.holds_slot() || matches!(exchange.phase(), Phase::Orphaned | Phase::Judged);
        if is_at_worker != watch.has_slot {
            return Err(format!("I1: it is {:?}, and a slot is taken: {}", exchange.phase(), watch.has_slot));
        }
        if watch.is_failed && exchange.phase() == Phase::Queued && exchange.is_wanted() {
            return Err("I5: it waits for another worker after its client had an error".to_owned());
        }
        if watch.is_failed && exchange.is_wanted() {
            return Err("its client had an error, and it counts as wanted".to_owned());
        }
        Ok(())
    }

    /// The worker exits, its connections close and all times pass: nothing may be left.
    fn conclude(&mut self) -> Result<(), String> {
        for _ in 0..3 {
            for event in [
                Event::ConnectFailed,
                Event::Exited { is_unseen: false, cause: Cause::Own },
                Event::Closed { is_reset: false },
                Event::TimedOut,
                Event::TimedOut,
                Event::Judged(self.judgement(0)),
            ] {
                self.step(event)?;
            }
        }
        match self.exchange.phase() {
            Phase::Queued | Phase::Ended => Ok(()),
            phase => Err(format!("it never ends: {phase:?}")),
        }
    }
}

impl Watch {
    fn note(&mut self, event: Event, phase: Phase) {
        let is_open = matches!(phase, Phase::Handed | Phase::Sent | Phase::Head | Phase::Body);
        match event {
            Event::Assigned { .. } => {
                let (is_safe, retries) = (self.is_safe, self.retries);
                let is_failed = self.is_failed;
                *self = Watch { has_slot: true, is_safe, retries, is_failed, ..Watch::default() };
            }
            Event::Wrote { .. } if is_open || phase == Phase::Orphaned => {
                // The rest of a body may follow its app's last word.
                self.may_compute |= !self.was_sent;
                self.was_sent = true;
            }
            Event::Heard if is_open || phase == Phase::Orphaned => self.was_heard = true,
            Event::Completed { .. } | Event::Reported | Event::Withdrawn | Event::Busy { .. } => {
                self.may_compute = false;
            }
            Event::Closed { is_reset } => {
                let is_unread = is_reset && !self.was_heard;
                // The end of a body that only the connection's end ends, or bytes that nobody has read.
                self.may_compute &= !is_unread && phase != Phase::Body;
            }
            Event::Exited { .. } => {
                self.has_exited = true;
                self.may_compute = false;
            }
            Event::StillOpen => self.has_slot = true,
            Event::Judged(_) => self.is_judged = false,
            _ => {}
        }
    }

    fn check(&mut self, action: Action) -> Result<(), String> {
        match action {
            Action::Connect => {
                if self.was_heard {
                    return Err("I5, I10: it is written again after bytes of an answer came".to_owned());
                }
                self.was_sent = false;
                self.may_compute = false;
            }
            Action::Fail(_) => {
                if self.is_failed {
                    return Err("its client gets two errors".to_owned());
                }
                self.is_failed = true;
            }
            Action::Finish { .. } | Action::GiveBack { .. } | Action::PassTo { .. } => {
                if self.may_compute {
                    return Err(format!("I1: {action:?} while the app may be at it"));
                }
                if self.was_heard && !matches!(action, Action::Finish { .. }) {
                    return Err(format!("I10: {action:?} after bytes of an answer came"));
                }
                self.give_slot_back(action)?;
            }
            Action::Detach => {
                self.has_stream = true;
                self.give_slot_back(action)?;
            }
            Action::EndStream | Action::SwitchOver => {
                if !std::mem::take(&mut self.has_stream) {
                    return Err(format!("{action:?} of what has no place among streams"));
                }
            }
            Action::Judge { .. } => self.is_judged = true,
            Action::Retry { was_sent, .. } => {
                self.retries += u32::from(was_sent);
                if was_sent && (!self.is_safe || self.was_heard || self.retries > 1) {
                    return Err(format!("I5: it is sent again: {self:?}"));
                }
                self.give_slot_back(action)?;
            }
            Action::Bury => self.give_slot_back(action)?,
            Action::Write
            | Action::ShutDown
            | Action::Close
            | Action::Leave
            | Action::Complete
            | Action::TakeBack
            | Action::GiveUpWorker
            | Action::Note(_) => {}
        }
        Ok(())
    }

    fn give_slot_back(&mut self, action: Action) -> Result<(), String> {
        if std::mem::take(&mut self.has_slot) { Ok(()) } else { Err(format!("I1: {action:?} of no slot")) }
    }
}
