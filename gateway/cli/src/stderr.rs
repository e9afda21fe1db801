//! Writing to standard error. A reader that has gone ends it with nothing worse than silence: `eprintln!` panics then, and
//! so the lints of this crate forbid it.

use std::fmt::Display;
use std::io::{self, Write};

/// A line on standard error. Where nobody reads it, there is nobody to tell.
pub fn say(line: impl Display) {
    ask(format_args!("{line}\n"));
}

/// The same without a line's end, for a question.
pub fn ask(question: impl Display) {
    let mut out = io::stderr().lock();
    let _ = write!(out, "{question}").and_then(|()| out.flush());
}
