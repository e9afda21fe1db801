//! The stream of a screen: batches of commands, and events. See docs/reference/screens-stream.md.

mod batch;
mod check;
#[allow(clippy::match_same_arms, clippy::unreadable_literal, reason = "generated")]
pub mod codes;
mod events;
mod facts;
mod text;
mod wire;

pub use batch::{Animate, Batch, Op, Ops, Transition, Value, bounded, entries};
pub use check::{Known, OUTSIDE, check};
pub use events::Events;
pub use text::{parse, print};
pub use wire::{Reader, encode, prologue};

/// Most words of a batch.
pub const WORDS_MAX: usize = 1 << 24;
/// Most strings of a batch.
pub const STRINGS_MAX: usize = 1 << 20;
/// Most bytes of a string.
pub const STRING_BYTES_MAX: usize = 1 << 24;

/// A batch, stream or text that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamError {
    /// Word of the batch, byte of the wire form, or line of the text form, from 0.
    pub at: usize,
    /// What is wrong.
    pub message: String,
}

impl StreamError {
    pub(crate) fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

impl std::fmt::Display for StreamError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for StreamError {}
