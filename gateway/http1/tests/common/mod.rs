//! What the tests of request heads share.
#![allow(dead_code, reason = "each test binary uses its own part")]

use sluice_http1::{HeadLimits, Parse, WireHead, parse_request};
use sluice_message::Reject;

/// Small, so that tests reach them.
pub const LIMITS: HeadLimits =
    HeadLimits { request_line_bytes_max: 200, headers_bytes_max: 2000, headers_count_max: 40 };

/// The head of an input that must be accepted whole.
pub fn accept(input: impl AsRef<[u8]>) -> WireHead {
    let input = input.as_ref();
    match parse_request(input, &LIMITS) {
        Ok(Parse::Complete { received, consumed }) => {
            assert_eq!(consumed, input.len(), "{}", input.escape_ascii());
            received
        }
        other => panic!("{} gave {other:?}", input.escape_ascii()),
    }
}

/// Checks that an input is refused for this reason.
pub fn refuse(input: impl AsRef<[u8]>, reject: Reject) {
    let input = input.as_ref();
    match parse_request(input, &LIMITS) {
        Err(rejection) => {
            assert_eq!(rejection.reject, reject, "{} ({rejection})", input.escape_ascii());
            assert_eq!(rejection.to_string(), rejection.detail);
        }
        other => panic!("{} gave {other:?}", input.escape_ascii()),
    }
}

/// A GET with these field lines after a good `Host`.
pub fn with(fields: &str) -> String {
    format!("GET / HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n")
}

/// A POST, for fields about the body.
pub fn post(fields: &str) -> String {
    format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n")
}
