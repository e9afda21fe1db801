//! The one writer of response heads for clients of HTTP/1. Every answer carries a date and its request's id. The head says in the same way
//! how the body is delimited and whether the connection persists.

use std::io::Write as _;
use std::time::SystemTime;

use sluice_http1::{Version, write_decimal, write_field, write_response_start};
use sluice_message::ResponseHead;

use crate::respond::outgoing::BodyFraming;

/// Length of a body as its head tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Neither the head nor a body gives a length.
    Untold,
    /// Length in bytes; it stands in the head even if no body follows, as in the answer to HEAD.
    Known(u64),
    /// Unknown until the body ends.
    Unknown,
}

/// Transport of a response: version, framing and persistence.
#[derive(Clone, Copy)]
pub(crate) struct Carriage {
    /// Version of the client's request.
    pub(crate) version: Version,
    /// Framing of the body.
    pub(crate) framed: BodyFraming,
    /// The connection can carry another request after this one.
    pub(crate) persists: bool,
}

/// Appends the head, with its empty line.
pub(crate) fn write_head(out: &mut Vec<u8>, head: &ResponseHead, size: Size, carriage: Carriage, request_id: &str) {
    let Carriage { version, framed, persists } = carriage;
    write_response_start(out, head, |name| framed == BodyFraming::Chunked || !is_of_chunks(name));
    if !head.fields.contains("x-request-id") {
        write_field(out, "X-Request-Id", request_id.as_bytes());
    }
    if !head.fields.contains("date") {
        // Writing to a `Vec` cannot fail.
        let _ = write!(out, "Date: {}\r\n", httpdate::HttpDate::from(SystemTime::now()));
    }
    if framed == BodyFraming::Chunked {
        out.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
    }
    // RFC 9110 §8.6: a 204 has no length; the answer to HEAD, or a 304, has that of what it stands for.
    if let Size::Known(bytes) = size
        && head.status != 204
    {
        out.extend_from_slice(b"Content-Length: ");
        write_decimal(out, bytes);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(match (head.status, persists, version) {
        (101, ..) => b"Connection: Upgrade\r\n\r\n",
        (_, false, _) => b"Connection: close\r\n\r\n",
        (_, true, Version::Http10) => b"Connection: keep-alive\r\n\r\n",
        (_, true, Version::Http11) => b"\r\n",
    });
}

/// Appends the head of an interim response, with only its own fields.
pub(crate) fn write_interim(out: &mut Vec<u8>, head: &ResponseHead) {
    write_response_start(out, head, |name| !is_of_chunks(name));
    out.extend_from_slice(b"\r\n");
}

/// Whether the field announces trailers, which only chunks can carry.
fn is_of_chunks(name: &str) -> bool {
    name.eq_ignore_ascii_case("trailer")
}

#[cfg(test)]
mod tests {
    use sluice_message::Fields;

    use super::*;

    fn written(status: u16, fields: &[(&str, &[u8])], size: Size, carriage: Carriage) -> String {
        let mut out = Vec::new();
        let head = ResponseHead::new(status, fields.iter().copied().collect::<Fields>());
        write_head(&mut out, &head, size, carriage, "r-1");
        let text = String::from_utf8(out).unwrap();
        let (start, rest) = text.split_once("Date: ").unwrap();
        let (_, end) = rest.split_once(" GMT\r\n").unwrap();
        format!("{start}{end}")
    }

    const PLAIN: Carriage = Carriage { version: Version::Http11, framed: BodyFraming::Plain, persists: true };

    #[test]
    fn every_head_has_a_date_and_the_id_of_its_request_unless_it_brings_them() {
        assert_eq!(
            written(200, &[("A", b"b")], Size::Known(3), PLAIN),
            "HTTP/1.1 200 OK\r\nA: b\r\nX-Request-Id: r-1\r\nContent-Length: 3\r\n\r\n"
        );
        let own: &[(&str, &[u8])] = &[("x-request-ID", b"own"), ("date", b"x GMT")];
        let head = ResponseHead::new(200, own.iter().copied().collect::<Fields>());
        let mut out = Vec::new();
        write_head(&mut out, &head, Size::Known(0), PLAIN, "r-1");
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "HTTP/1.1 200 OK\r\nx-request-ID: own\r\ndate: x GMT\r\nContent-Length: 0\r\n\r\n");
    }

    #[test]
    fn trailers_are_announced_only_where_chunks_can_carry_them() {
        let trailer: &[(&str, &[u8])] = &[("Trailer", b"X-T")];
        let chunked = Carriage { framed: BodyFraming::Chunked, ..PLAIN };
        assert!(written(200, trailer, Size::Unknown, chunked).contains("Trailer: X-T\r\n"));
        assert!(!written(200, trailer, Size::Known(1), PLAIN).contains("Trailer"));
    }

    #[test]
    fn the_connection_is_told_of_by_version_and_status() {
        let told = |status, version, persists| {
            let text = written(status, &[], Size::Untold, Carriage { version, persists, ..PLAIN });
            text.split("X-Request-Id: r-1\r\n").nth(1).unwrap().to_owned()
        };
        assert_eq!(told(304, Version::Http11, true), "\r\n");
        assert_eq!(told(304, Version::Http10, true), "Connection: keep-alive\r\n\r\n");
        assert_eq!(told(304, Version::Http10, false), "Connection: close\r\n\r\n");
        assert_eq!(told(101, Version::Http11, false), "Connection: Upgrade\r\n\r\n");
        assert!(!written(204, &[], Size::Known(5), PLAIN).contains("Content-Length"));
    }
}
