//! One field line of a head or of trailers.

use sluice_message::Rejection;
use sluice_message::bytes::{has_control, is_token, trim_ows};

/// One field line that is in order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldLine<'b> {
    pub name: &'b [u8],
    /// Value without the white space around it.
    pub value: &'b [u8],
    /// All that stood after the colon.
    pub raw: &'b [u8],
}

impl<'b> FieldLine<'b> {
    /// Parses a line without its CRLF. The caller sees to control bytes, with [`check_control`], for many lines at once.
    pub(crate) fn parse(line: &'b [u8]) -> Result<Self, Rejection> {
        if let Some(b' ' | b'\t') = line.first() {
            return Err(Rejection::malformed("a folded field line"));
        }
        let Some(colon) = memchr::memchr(b':', line) else {
            return Err(Rejection::malformed("a field line without a colon"));
        };
        let (name, raw) = (&line[..colon], &line[colon + 1..]);
        if !is_token(name) {
            return Err(Rejection::malformed("a field name is not a token"));
        }
        Ok(Self { name, value: trim_ows(raw), raw })
    }
}

/// Refuses control bytes in field lines whose line ends are known to be in order.
pub(crate) fn check_control(lines: &[u8]) -> Result<(), Rejection> {
    if has_control(lines) {
        return Err(Rejection::malformed("a control byte in a field"));
    }
    Ok(())
}
