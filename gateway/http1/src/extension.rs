//! Chunk extensions (RFC 9112 §7.1.1): checked byte by byte, and thrown away.

use sluice_message::bytes::is_token_byte;

/// State of a parser in `;name=value;name="value"`, by the next byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extension {
    /// State after `;`: a name must begin.
    NameStart,
    Name,
    /// State after `=`: a value must begin.
    ValueStart,
    Value,
    Quoted,
    /// State after a backslash in a quoted value.
    Escaped,
    /// State after the closing quote.
    QuotedEnd,
}

impl Extension {
    /// The place after `b`, or `None` if `b` may not stand here.
    pub(crate) fn after(self, b: u8) -> Option<Self> {
        let is_text = b == b'\t' || (b >= b' ' && b != 0x7f);
        match self {
            Self::NameStart | Self::Name if is_token_byte(b) => Some(Self::Name),
            Self::Name if b == b'=' => Some(Self::ValueStart),
            Self::ValueStart | Self::Value if is_token_byte(b) => Some(Self::Value),
            Self::ValueStart if b == b'"' => Some(Self::Quoted),
            Self::Name | Self::Value | Self::QuotedEnd if b == b';' => Some(Self::NameStart),
            Self::Quoted if b == b'"' => Some(Self::QuotedEnd),
            Self::Quoted if b == b'\\' => Some(Self::Escaped),
            Self::Quoted | Self::Escaped if is_text => Some(Self::Quoted),
            _ => None,
        }
    }

    /// True if the line may end here.
    pub(crate) fn is_whole(self) -> bool {
        matches!(self, Self::Name | Self::Value | Self::QuotedEnd)
    }
}
