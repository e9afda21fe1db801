//! Length of a body (RFC 9112 §6), for which the two fields that say so must leave no room for two readings.

use sluice_message::bytes::{is_token, trim_spaces};
use sluice_message::{Method, Reject, Rejection};

use crate::special::{Once, Special};
use crate::version::Version;

/// Delimitation of a request's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Neither field was sent: there is no body.
    None,
    /// `Content-Length`, which may be 0.
    Length(u64),
    /// `Transfer-Encoding: chunked`.
    Chunked,
}

/// Delimitation of a response's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseFraming {
    /// No body follows, whatever the fields say: an answer to `HEAD`, or status 1xx, 204 or 304.
    None,
    /// `Content-Length`.
    Length(u64),
    /// `Transfer-Encoding: chunked`.
    Chunked,
    /// The body ends where the connection does.
    UntilClose,
}

/// Reads both fields; for requests this is the answer.
pub(crate) fn framing(special: &Special<'_>, version: Version) -> Result<Framing, Rejection> {
    match (special.content_length, special.transfer_encoding) {
        (Once::Absent, Once::Absent) => Ok(Framing::None),
        (Once::One(value), Once::Absent) => content_length(value).map(Framing::Length),
        (Once::Many, Once::Absent) => Err(invalid("Content-Length sent twice")),
        (Once::Absent, Once::One(_)) if version == Version::Http10 => {
            Err(invalid("Transfer-Encoding in an HTTP/1.0 message"))
        }
        (Once::Absent, Once::One(value)) => transfer_encoding(value).map(|()| Framing::Chunked),
        (Once::Absent, Once::Many) => Err(invalid("Transfer-Encoding sent twice")),
        _ => Err(invalid("both Content-Length and Transfer-Encoding")),
    }
}

/// Framing that follows from both fields, the status and the request's method.
pub(crate) fn response_framing(framing: Framing, status: u16, request_method: &Method) -> ResponseFraming {
    if *request_method == Method::Head || matches!(status, 100..=199 | 204 | 304) {
        return ResponseFraming::None;
    }
    match framing {
        Framing::Length(length) => ResponseFraming::Length(length),
        Framing::Chunked => ResponseFraming::Chunked,
        Framing::None => ResponseFraming::UntilClose,
    }
}

fn invalid(detail: &'static str) -> Rejection {
    Rejection::new(Reject::LengthInvalid, detail)
}

fn content_length(raw: &[u8]) -> Result<u64, Rejection> {
    let digits = trim_spaces(raw);
    if digits.is_empty() {
        return Err(invalid("Content-Length is empty"));
    }
    digits.iter().try_fold(0_u64, |length, &b| {
        if !b.is_ascii_digit() {
            return Err(invalid("Content-Length is not a number"));
        }
        length
            .checked_mul(10)
            .and_then(|tens| tens.checked_add(u64::from(b - b'0')))
            .ok_or(invalid("Content-Length is beyond 64 bits"))
    })
}

/// Accepts exactly `chunked`. Other codings get their own answer only if nobody could read `chunked` into them.
fn transfer_encoding(raw: &[u8]) -> Result<(), Rejection> {
    let value = trim_spaces(raw);
    if value.eq_ignore_ascii_case(b"chunked") {
        return Ok(());
    }
    let mut codings = value.split(|&b| b == b',').map(trim_spaces).peekable();
    while let Some(coding) = codings.next() {
        if !is_token(coding) {
            return Err(invalid("Transfer-Encoding is malformed"));
        }
        if coding.eq_ignore_ascii_case(b"chunked") && codings.peek().is_some() {
            return Err(invalid("chunked is not the last transfer coding"));
        }
    }
    Err(Rejection::new(Reject::CodingUnknown, "a transfer coding other than chunked"))
}
