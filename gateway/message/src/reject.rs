//! Reasons for refusing a message. They must not know statuses or public texts; those are the catalogue's.

use std::fmt;

/// The kind of a refusal, one for each code of the catalogue that a malformed message can cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reject {
    /// The head breaks the grammar: line ends, start line, field names, control bytes.
    HeadMalformed,
    /// `Host` is missing, sent twice, or not a valid host and port.
    HostInvalid,
    /// `Content-Length` and `Transfer-Encoding` do not say one clear length.
    LengthInvalid,
    /// A well-formed transfer coding other than `chunked`.
    CodingUnknown,
    /// A chunked body breaks the grammar.
    ChunkMalformed,
    /// The request target has a form or a byte that is not accepted.
    TargetInvalid,
    /// A method that is never served: `CONNECT`, `TRACE`, or one that is too long.
    MethodUnsupported,
    /// A well-formed version other than HTTP/1.0 and HTTP/1.1.
    VersionUnsupported,
    /// A field name with `_`, which CGI-like readers take for `-`.
    HeaderAlias,
    /// The request line is longer than allowed.
    TargetTooLong,
    /// The fields, or the trailer fields, take more bytes than allowed.
    HeadersTooLarge,
    /// Surplus of fields or trailer fields.
    HeadersTooMany,
    /// An `Expect` other than one `100-continue`.
    ExpectationUnknown,
}

/// A refusal with a detail for the log. After one, the connection cannot be read any further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rejection {
    /// The kind.
    pub reject: Reject,
    /// Exact fault, for the operator's log; it holds none of the input.
    pub detail: &'static str,
}

impl Rejection {
    /// A refusal of this kind.
    pub const fn new(reject: Reject, detail: &'static str) -> Self {
        Self { reject, detail }
    }

    /// A head that breaks the grammar.
    pub const fn malformed(detail: &'static str) -> Self {
        Self::new(Reject::HeadMalformed, detail)
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.detail)
    }
}

impl std::error::Error for Rejection {}
