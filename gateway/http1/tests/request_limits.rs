//! Limits on request heads, and heads that follow one another.

mod common;

use common::{LIMITS, accept, refuse, with};
use sluice_http1::{HeadReader, Parse, parse_request};
use sluice_message::Reject;

#[test]
fn i6_limits_hold_exactly_and_before_the_head_is_whole() {
    let line = |bytes: usize| format!("GET /{} HTTP/1.1", "a".repeat(bytes - 14));
    accept(format!("{}\r\nHost: a\r\n\r\n", line(200)));
    refuse(format!("{}\r\n", line(201)), Reject::TargetTooLong);
    refuse("G".repeat(201), Reject::TargetTooLong);
    assert_eq!(parse_request("G".repeat(200).as_bytes(), &LIMITS), Ok(Parse::Incomplete));

    let fields = |bytes: usize| format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}", "a".repeat(bytes - 14));
    accept(format!("{}\r\n\r\n", fields(2000)));
    refuse(format!("{}\r", fields(2001)), Reject::HeadersTooLarge);
    refuse(fields(2003), Reject::HeadersTooLarge);
    assert_eq!(parse_request(fields(2002).as_bytes(), &LIMITS), Ok(Parse::Incomplete));

    accept(with(&["A: b"; 39].join("\r\n")));
    refuse(format!("GET / HTTP/1.1\r\nHost: a\r\n{}", "A: b\r\n".repeat(40)), Reject::HeadersTooMany);
}

#[test]
fn pipelined_requests_are_taken_one_by_one() {
    let buf = b"GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\nGET /3";
    let mut reader = HeadReader::new();
    let mut at = 0;
    for expected in ["/1", "/2"] {
        let Ok(Parse::Complete { received, consumed }) = reader.request(&buf[at..], &LIMITS) else {
            panic!("{expected}")
        };
        assert_eq!(received.head.path_and_query, expected);
        at += consumed;
    }
    assert!(!reader.has_begun());
    assert_eq!(reader.request(&buf[at..], &LIMITS), Ok(Parse::Incomplete));
    assert!(reader.has_begun());
}
