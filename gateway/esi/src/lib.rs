//! Edge Side Includes (W3C note of 2001, the part that caches implement): a page in pieces of any cut goes in; its text and its
//! includes come out, in order.
//!
//! `<esi:include>`, `<esi:remove>`, `<esi:comment>` and `<!--esi … -->` are understood. Everything else is text, and stays as it is
//! byte for byte: the parser knows no HTML.
//!
//! This crate is pure. It must not know who asks for an include, HTTP, sockets, clocks or the config.
#![forbid(unsafe_code)]

mod parser;
mod tag;

pub use parser::{Parser, TAG_BYTES_MAX};
pub use tag::Include;

use bytes::Bytes;

/// A part of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Bytes that are sent as they are; never empty.
    Text(Bytes),
    /// A place for another answer.
    Include(Include),
}

/// Whether an answer announces ESI for its body: `Surrogate-Control: content="ESI/1.0"`, perhaps among other directives, with
/// other languages in the same value.
pub fn is_announced(surrogate_control: &[u8]) -> bool {
    surrogate_control.split(|byte| *byte == b',').any(|directive| {
        // Parameters name the gateway that is meant: this one, as another would have taken the directive away.
        let directive = directive.split(|byte| *byte == b';').next().unwrap_or_default();
        let Some(at) = directive.iter().position(|byte| *byte == b'=') else { return false };
        let (name, value) = (directive[..at].trim_ascii(), directive[at + 1..].trim_ascii());
        let value = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")).unwrap_or(value);
        let mut languages = value.split(|byte| *byte == b' ');
        name.eq_ignore_ascii_case(b"content") && languages.any(|language| language.eq_ignore_ascii_case(b"ESI/1.0"))
    })
}

#[cfg(test)]
mod tests;
