//! The fields that say how long a request is, and what smuggles elsewhere.

mod common;

use common::{LIMITS, accept, post, refuse};
use sluice_http1::{ChunkedDecoder, Framing, Parse, parse_request};
use sluice_message::{Reject, Underscores, check_underscores};

#[test]
fn content_length_is_one_number() {
    for (fields, length) in [
        ("Content-Length: 0", 0),
        ("content-length:5", 5),
        ("Content-Length:  007 ", 7),
        ("Content-Length: 18446744073709551615", u64::MAX),
    ] {
        assert_eq!(accept(post(fields)).framing, Framing::Length(length), "{fields}");
    }
    for fields in [
        "Content-Length:",
        "Content-Length: ",
        "Content-Length: +5",
        "Content-Length: -5",
        "Content-Length: 5a",
        "Content-Length: 0x5",
        "Content-Length: 5 5",
        "Content-Length: 5,5",
        "Content-Length: 5, 5",
        "Content-Length: 5,",
        "Content-Length: 1e3",
        "Content-Length: 5.0",
        "Content-Length: 1_000",
        "Content-Length: \"5\"",
        "Content-Length: 5;a",
        "Content-Length: \u{665}",
        "Content-Length:\t5",
        "Content-Length: 5\t",
        "Content-Length: 18446744073709551616",
        "Content-Length: 99999999999999999999999999",
        "Content-Length: 5\r\nContent-Length: 5",
        "Content-Length: 5\r\ncontent-LENGTH: 6",
        "Content-Length: 5\r\nX: y\r\nContent-Length: 5",
    ] {
        refuse(post(fields), Reject::LengthInvalid);
    }
}

#[test]
fn transfer_encoding_is_chunked_and_nothing_beside_it() {
    for fields in ["Transfer-Encoding: chunked", "transfer-encoding:CHUNKED", "Transfer-Encoding:  Chunked "] {
        assert_eq!(accept(post(fields)).framing, Framing::Chunked, "{fields}");
    }
    for fields in [
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: gzip",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: chunkedx",
        "Transfer-Encoding: gzip,deflate",
        "Transfer-Encoding: chunke",
    ] {
        refuse(post(fields), Reject::CodingUnknown);
    }
    for fields in [
        "Transfer-Encoding:",
        "Transfer-Encoding: ",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked,",
        "Transfer-Encoding: ,chunked",
        "Transfer-Encoding: chunked, gzip",
        "Transfer-Encoding:\tchunked",
        "Transfer-Encoding: chunked\t",
        "Transfer-Encoding: \"chunked\"",
        "Transfer-Encoding: chunked;q=1",
        "Transfer-Encoding: chunked chunked",
        "Transfer-Encoding: 'chunked' x",
        "Transfer-Encoding: gzip;q=1",
        "Transfer-Encoding: ch\u{fc}nked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Content-Length: 5\r\nTransfer-Encoding: identity",
        "Content-Length: 5\r\nTransfer-Encoding:",
        "Content-Length: 5\r\nContent-Length: 5\r\nTransfer-Encoding: chunked",
    ] {
        refuse(post(fields), Reject::LengthInvalid);
    }
    refuse("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", Reject::LengthInvalid);
}

#[test]
fn what_smuggles_elsewhere_is_refused_here() {
    // Heads with a body after them; either the head or the body must be refused.
    let corpus = [
        ("CL.TE", "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG"),
        ("TE.CL", "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n8\r\nSMUGGLED\r\n0\r\n\r\n"),
        ("TE.TE", "Transfer-Encoding: chunked\r\nTransfer-encoding: x\r\n\r\n0\r\n\r\n"),
        ("CL.CL", "Content-Length: 0\r\nContent-Length: 44\r\n\r\n"),
        ("space before colon", "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"),
        ("tab value", "Transfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n"),
        ("vertical tab value", "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n"),
        ("form feed value", "Transfer-Encoding: chunked\x0c\r\n\r\n0\r\n\r\n"),
        ("folded value", "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n"),
        ("folded name", " Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("bare LF", "X: y\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("bare CR", "X: y\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("NUL in value", "Content-Length: 5\0\r\n\r\nhello"),
        ("underscore", "Transfer_Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("signed", "Content-Length: +5\r\n\r\nhello"),
        ("list", "Content-Length: 5, 5\r\n\r\nhello"),
        ("hex size prefix", "Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n"),
        ("size overflow", "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n"),
        ("size with space", "Transfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\n\r\n"),
        ("size with bare LF", "Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n"),
        ("extension with LF", "Transfer-Encoding: chunked\r\n\r\n5;\nxx\r\nhello\r\n0\r\n\r\n"),
        ("extension with CR", "Transfer-Encoding: chunked\r\n\r\n5;a\rb\r\nhello\r\n0\r\n\r\n"),
        ("bare semicolon", "Transfer-Encoding: chunked\r\n\r\n5;\r\nhello\r\n0\r\n\r\n"),
        ("no CRLF after data", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello0\r\n\r\n"),
        ("two bytes for CRLF", "Transfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n"),
        ("negative size", "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n"),
        ("trailer with LF", "Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\n\r\n"),
        ("trailer with space", "Transfer-Encoding: chunked\r\n\r\n0\r\nX : y\r\n\r\n"),
        ("last chunk with LF", "Transfer-Encoding: chunked\r\n\r\n0\r\n\n"),
    ];
    for (name, rest) in corpus {
        let input = format!("POST / HTTP/1.1\r\nHost: a\r\n{rest}");
        match parse_request(input.as_bytes(), &LIMITS) {
            Err(_) => {}
            Ok(Parse::Complete { received, .. })
                if check_underscores(&received.head.fields, Underscores::Distinct).is_err() => {}
            Ok(Parse::Complete { received, consumed }) => {
                assert_eq!(received.framing, Framing::Chunked, "{name}: accepted");
                let mut body = &input.as_bytes()[consumed..];
                let mut decoder = ChunkedDecoder::for_request(&LIMITS);
                let refused = loop {
                    match decoder.decode(body) {
                        Err(_) => break true,
                        Ok(step) if step.consumed == 0 => break false,
                        Ok(step) => body = &body[step.consumed..],
                    }
                };
                assert!(refused, "{name}: the body was accepted");
            }
            Ok(Parse::Incomplete) => panic!("{name}: waits for more"),
        }
    }
}
