//! Requests whose lines are in order but for what the input puts in them, so that more of them are accepted.
#![no_main]

#[path = "../../http1/tests/common/invariants.rs"]
mod invariants;

use libfuzzer_sys::fuzz_target;

use sluice_http1::{Parse, parse_request};

fuzz_target!(|input: &[u8]| {
    let mut head = b"GET /".to_vec();
    let mut lines = input.split(|&b| b == b'\n');
    head.extend_from_slice(lines.next().unwrap_or_default());
    head.extend_from_slice(b" HTTP/1.1\r\nHost: a\r\n");
    for line in lines {
        head.extend_from_slice(line);
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    if let Ok(Parse::Complete { received, .. }) = parse_request(&head, &invariants::LIMITS) {
        invariants::rewritten_request(&received);
    }
});
