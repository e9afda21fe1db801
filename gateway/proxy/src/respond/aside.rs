//! Where bytes go that a slow client does not take, so that they leave the memory: to its answer's file, which may be in another
//! thread's hands.

use std::io;

use super::answer::Answer;
use crate::fronts::link::AtCore;

#[derive(Clone, Copy)]
pub(crate) enum Aside<'a> {
    /// They stay.
    Nowhere,
    Answer(&'a Answer),
    /// The core has the answer.
    Core(&'a AtCore<'a>),
}

impl<'a> Aside<'a> {
    pub(crate) fn of(answer: Option<&'a Answer>) -> Self {
        answer.map_or(Aside::Nowhere, Aside::Answer)
    }

    /// Takes `rest`, which was framed, and all that the answer has in memory.
    ///
    /// # Errors
    /// When nobody takes them; nothing has changed then.
    pub(crate) async fn take(&self, rest: &[u8]) -> io::Result<()> {
        match self {
            Aside::Nowhere => Err(io::ErrorKind::Unsupported.into()),
            Aside::Answer(answer) => answer.set_aside(rest).await,
            Aside::Core(core) => core.set_aside(rest).await,
        }
    }

    /// Whether bytes that were framed and set aside are still to be sent, which come before the answer's end.
    pub(crate) fn has_framed(&self) -> bool {
        match self {
            Aside::Nowhere => false,
            Aside::Answer(answer) => answer.has_framed(),
            Aside::Core(core) => core.has_framed(),
        }
    }
}
