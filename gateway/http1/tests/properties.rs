//! Properties of every input, tried on messages that are nearly in order and on noise. A failure prints its input and
//! the seed that replays it.

#[path = "common/invariants.rs"]
mod invariants;

use proptest::prelude::*;
use sluice_message::Method;

/// Lines of requests, right and wrong.
const REQUEST_PARTS: &[&str] = &[
    "GET / HTTP/1.1\r\n",
    "POST /a?b=c HTTP/1.1\r\n",
    "GET http://a/b HTTP/1.1\r\n",
    "OPTIONS * HTTP/1.1\r\n",
    "HEAD /%zz HTTP/1.0\r\n",
    "GET * HTTP/1.1\r\n",
    "OPTIONS http://a HTTP/1.1\r\n",
    "X-Y /|{} HTTP/1.1\r\n",
    "GET / HTTP/2.0\r\n",
    "Host: a\r\n",
    "Host: A:80\r\n",
    "hOST:[::1]\r\n",
    "Content-Length: 5\r\n",
    "Content-Length: 05 \r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: gzip, chunked\r\n",
    "Connection: close\r\n",
    "Connection: upgrade, x-a, cookie\r\n",
    "Upgrade: websocket, h2c\r\n",
    "Upgrade: a/1\r\n",
    "Expect: 100-continue\r\n",
    "X-A: 1\r\n",
    "x-a:\t2 \r\n",
    "Cookie: a=b; c=d\r\n",
    "X-Sluice-Request: id=1\r\n",
    "X_A: 1\r\n",
    "X: \u{e9}\r\n",
    "X:\r\n",
    "Te: trailers\r\n",
    " folded\r\n",
    "\r\n",
    "\r\n\r\n",
    "\n",
    "\r",
    "x",
    ":",
    " ",
];

const RESPONSE_PARTS: &[&str] = &[
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.0 404 Not Found\r\n",
    "HTTP/1.1 204\r\n",
    "HTTP/1.1 103 Early Hints\r\n",
    "HTTP/1.1 304 \r\n",
    "HTTP/1.1 600 X\r\n",
    "Content-Length: 5\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Connection: close\r\n",
    "Set-Cookie: a=b\r\n",
    "x_y:1\r\n",
    "X : y\r\n",
    "\r\n",
    "\n",
    "\r",
    "\0",
    "H",
];

const CHUNK_PARTS: &[&str] = &[
    "0\r\n",
    "\r\n",
    "1\r\nx\r\n",
    "5\r\nhello\r\n",
    "00a\r\n0123456789\r\n",
    "2\r\n\r\n\r\n",
    "1;a\r\nx\r\n",
    "1;a=b\r\nx\r\n",
    "1;a=\"b;\\\"\"\r\nx\r\n",
    "0;a=\"\u{e9}\"\r\n",
    "X: y\r\n",
    "Content-Length: 5\r\n",
    "x_y: z\r\n",
    "ffffffffffffffff\r\n",
    ";",
    "=",
    "\"",
    " ",
    "\n",
    "\r",
    "\t",
    "5",
    "g",
    "\0",
    "\\",
];

/// A few parts in a row, some of them first in order, with a few bytes changed or cut off.
fn nearly(parts: &'static [&'static str], first: &'static str, last: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let middle = prop::collection::vec(prop::sample::select(parts), 0..12);
    let flaws = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3);
    (any::<bool>(), middle, flaws, prop::bool::weighted(0.3)).prop_map(move |(framed, middle, flaws, flawed)| {
        let mut input = middle.concat().into_bytes();
        if framed {
            input = [first.as_bytes(), &input, last.as_bytes()].concat();
        }
        if flawed && !input.is_empty() {
            for (index, b) in flaws {
                let at = index.index(input.len());
                input[at] = b;
            }
        }
        input
    })
}

fn noise() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn i8_requests_are_parsed_equally_in_every_split_and_survive_rewriting(
        input in nearly(REQUEST_PARTS, "GET /a HTTP/1.1\r\nHost: a\r\n", "\r\n"), step in 1_usize..40
    ) {
        invariants::request_head(&input, step);
        invariants::request_head(&input, 1);
    }

    #[test]
    fn accepted_requests_survive_rewriting(
        method in "(GET|HEAD|POST|[A-Z!#$%&'*+.^`|~-]{1,20})",
        target in "/[!-\"$-~]{0,60}",
        host in "([a-z0-9-]{1,10}(\\.[a-z][A-Za-z0-9-]{0,8}){0,3}|\\[::[0-9a-f]{1,4}\\])(:[0-9]{1,4})?",
        fields in prop::collection::vec(("[A-Za-z0-9!#$%&'*+.^`|~-]{1,12}", "[ -~\\t\u{80}-\u{ff}]{0,30}"), 0..8),
        body in prop::sample::select(&["", "Content-Length: 12\r\n", "Transfer-Encoding: chunked\r\n"][..]),
    ) {
        use std::fmt::Write;
        let mut input = format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\n{body}");
        for (name, value) in &fields {
            write!(input, "{name}:{value}\r\n").unwrap();
        }
        input.push_str("\r\n");
        invariants::request_head(input.as_bytes(), 7);
    }

    #[test]
    fn responses_are_judged_alike_in_every_split(
        input in nearly(RESPONSE_PARTS, "HTTP/1.1 200 OK\r\n", "\r\n"), step in 1_usize..40, is_head in any::<bool>()
    ) {
        let method = if is_head { Method::Head } else { Method::Get };
        invariants::response_head(&input, step, &method);
        invariants::response_head(&input, 1, &method);
    }

    #[test]
    fn chunked_bodies_are_decoded_alike_in_every_split_and_as_the_grammar_says(
        input in nearly(CHUNK_PARTS, "3\r\nabc\r\n", "0\r\n\r\n"), step in 1_usize..40
    ) {
        invariants::chunked(&input, step);
        invariants::chunked(&input, 1);
    }

    #[test]
    fn i8_noise_is_parsed_without_a_panic(input in noise(), step in 1_usize..40) {
        invariants::request_head(&input, step);
        invariants::response_head(&input, step, &Method::Get);
        invariants::chunked(&input, step);
    }
}

#[test]
fn every_split_in_two_of_a_request_gives_the_same_head() {
    use sluice_http1::{HeadReader, Parse, parse_request};
    let input = b"\r\nPOST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nX-A: b\r\n\r\nabc";
    let whole = parse_request(input, &invariants::LIMITS);
    assert!(matches!(whole, Ok(Parse::Complete { .. })));
    for split in 0..input.len() {
        let mut reader = HeadReader::new();
        match reader.request(&input[..split], &invariants::LIMITS) {
            Ok(Parse::Incomplete) => assert_eq!(reader.request(input, &invariants::LIMITS), whole, "split at {split}"),
            verdict => assert_eq!(verdict, whole, "split at {split}"),
        }
    }
}
