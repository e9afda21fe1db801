//! A request and its worker: which worker has it, what both sides have had of each other, and how it ends.
//!
//! [`Exchange`] is a pure machine beside the scheduler: events and a clock go in, actions come out. It is the only place that says
//! when a slot is free (I1), when a request may be sent again (I5) and whose bytes a connection carries (I10).

#![forbid(unsafe_code)]

mod exchange;
mod fate;

pub use exchange::{
    Action, Actions, Ahead, Event, Exchange, Kind, Note, Patience, Phase, Settling, TIMERS, Timer, TimerRow,
};
pub use fate::{ByteEvidence, Cause, Fate, Judgement, QuarantineRule, fate};
