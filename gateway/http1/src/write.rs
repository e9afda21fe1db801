//! Writes messages afresh, so that no byte of the framing is the sender's.

use std::io::Write as _;

use sluice_message::{RequestHead, ResponseHead, forwardable};

use crate::framing::Framing;

/// Ends the data of a chunk.
pub const CHUNK_END: &[u8] = b"\r\n";

/// Ends a chunked body without trailers.
pub const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// Begins a chunk of `len` bytes; write the bytes and [`CHUNK_END`] after it.
///
/// Writes nothing for 0, which would end the body; write no [`CHUNK_END`] then either.
pub fn write_chunk_header(out: &mut Vec<u8>, len: usize) {
    if len > 0 {
        write_text(out, format_args!("{len:x}\r\n"));
    }
}

/// Ends a chunked body with trailers, as [`crate::ChunkedDecoder::trailers`] gives them.
pub fn write_last_chunk(out: &mut Vec<u8>, trailers: &[(String, Vec<u8>)]) {
    out.extend_from_slice(b"0\r\n");
    for (name, value) in trailers {
        write_field(out, name, value);
    }
    out.extend_from_slice(b"\r\n");
}

/// Writes one field line. The caller vouches that `name` is a token and `value` holds no CR, LF or NUL.
pub fn write_field(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

/// Writes an HTTP/1.1 request head without the empty line at its end, so that more fields can follow.
///
/// `Host` comes first, then the forwardable fields for which `keep` is true. The delimitation of the body follows
/// (`body`, not what the client said), then `Connection` and `Upgrade` for an `upgrade` to these protocols. `keep` sees
/// neither `Host` nor `Content-Length`.
pub fn write_request_start(
    out: &mut Vec<u8>,
    head: &RequestHead,
    body: Framing,
    upgrade: Option<&str>,
    mut keep: impl FnMut(&str, &[u8]) -> bool,
) {
    let (method, target) = (head.method.as_str(), head.path_and_query.as_str());
    for part in [method, " ", target, " HTTP/1.1\r\nHost: ", &head.authority, "\r\n"] {
        out.extend_from_slice(part.as_bytes());
    }
    for (name, value) in forwardable(&head.fields) {
        let is_written = name.eq_ignore_ascii_case("host") || name.eq_ignore_ascii_case("content-length");
        if !is_written && keep(name, value) {
            write_field(out, name, value);
        }
    }
    match body {
        Framing::None => {}
        Framing::Length(length) => {
            out.extend_from_slice(b"Content-Length: ");
            write_decimal(out, length);
            out.extend_from_slice(b"\r\n");
        }
        Framing::Chunked => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
    }
    if let Some(protocols) = upgrade {
        out.extend_from_slice(b"Connection: upgrade\r\n");
        write_field(out, "Upgrade", protocols.as_bytes());
    }
}

/// Writes an HTTP/1.1 response head without the empty line at its end, so that more fields can follow.
///
/// All its fields for which `keep` is true are written; how the body is delimited is for the caller to add.
pub fn write_response_start(out: &mut Vec<u8>, head: &ResponseHead, keep: impl Fn(&str) -> bool) {
    out.extend_from_slice(b"HTTP/1.1 ");
    write_decimal(out, head.status.into());
    out.push(b' ');
    out.extend_from_slice(head.reason());
    out.extend_from_slice(b"\r\n");
    for (name, value) in head.fields.iter().filter(|(name, _)| keep(name)) {
        write_field(out, name, value);
    }
}

/// Writes a number in decimal digits. Every message has one or two, and the standard library's way costs several times as much.
pub fn write_decimal(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

fn write_text(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to a `Vec` cannot fail.
    let _ = out.write_fmt(text);
}
