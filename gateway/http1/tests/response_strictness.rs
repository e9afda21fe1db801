//! Each rule for response heads with the inputs that break it. A worker's answer is input like a client's request.

use sluice_http1::{HeadLimits, Parse, ReceivedResponse, ResponseFraming, Version, parse_response};
use sluice_message::{Method, Reject};

const LIMITS: HeadLimits = HeadLimits { request_line_bytes_max: 100, headers_bytes_max: 500, headers_count_max: 10 };

fn accept_for(method: &Method, input: impl AsRef<[u8]>) -> ReceivedResponse {
    let input = input.as_ref();
    match parse_response(input, &LIMITS, method) {
        Ok(Parse::Complete { received, consumed }) => {
            assert_eq!(consumed, input.len());
            received
        }
        other => panic!("{} gave {other:?}", input.escape_ascii()),
    }
}

fn accept(input: impl AsRef<[u8]>) -> ReceivedResponse {
    accept_for(&Method::Get, input)
}

fn refuse(input: impl AsRef<[u8]>, reject: Reject) {
    let input = input.as_ref();
    match parse_response(input, &LIMITS, &Method::Get) {
        Err(rejection) => assert_eq!(rejection.reject, reject, "{} ({rejection})", input.escape_ascii()),
        other => panic!("{} gave {other:?}", input.escape_ascii()),
    }
}

fn with(fields: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n")
}

#[test]
fn a_plain_response_is_read_whole() {
    let received =
        accept("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\nX_y: 1\r\n\r\n");
    assert_eq!((received.head.status, received.head.reason(), received.version), (200, &b"OK"[..], Version::Http11));
    assert_eq!((received.framing, received.content_length), (ResponseFraming::Length(5), Some(5)));
    assert!(received.keep_alive);
    assert_eq!(received.head.fields.get_all("Set-Cookie").collect::<Vec<_>>(), [b"a=1", b"b=2"]);
    assert!(received.head.fields.contains("x_y"), "the alias rule is for requests");
}

#[test]
fn the_status_line_has_a_version_a_status_and_perhaps_a_reason() {
    for (line, status, reason) in [
        ("HTTP/1.1 200 OK", 200, &b"OK"[..]),
        ("HTTP/1.1 404 Not  Found\t!", 404, b"Not  Found\t!"),
        ("HTTP/1.1 200 ", 200, b""),
        ("HTTP/1.1 200", 200, b""),
        ("HTTP/1.0 599 \u{e9}", 599, b"\xc3\xa9"),
        ("HTTP/1.1 100 Continue", 100, b"Continue"),
    ] {
        let received = accept(format!("{line}\r\n\r\n"));
        assert_eq!((received.head.status, received.head.reason()), (status, reason), "{line}");
    }
    for line in [
        "HTTP/1.1  200 OK",
        "HTTP/1.1 99 OK",
        "HTTP/1.1 099 OK",
        "HTTP/1.1 600 OK",
        "HTTP/1.1 000 OK",
        "HTTP/1.1 2000 OK",
        "HTTP/1.1 20x OK",
        "HTTP/1.1 -20 OK",
        "HTTP/1.1 200OK",
        "HTTP/1.1\t200 OK",
        "HTTP/1.1 200\tOK",
        "HTTP/1.1",
        "HTTP/1.1 ",
        "HTTP/1.1200 OK",
        "HTTP",
        "HTTP 200 OK",
        "HTTP/1 200 OK",
        "http/1.1 200 OK",
        " HTTP/1.1 200 OK",
        "ICY 200 OK",
        "HTTP/1.1 200 O\0K",
        "HTTP/1.1 200 O\x1bK",
        "HTTP/1.1 200 O\x7fK",
        "HTTP/1.1 200 O\rK",
        "HTTP/1.1 \u{662}00 OK",
        "<html>",
        "\0",
        "",
    ] {
        refuse(format!("{line}\r\n\r\n"), Reject::HeadMalformed);
    }
    for line in ["HTTP/2.0 200 OK", "HTTP/1.2 200 OK", "HTTP/0.9 200 OK"] {
        refuse(format!("{line}\r\n\r\n"), Reject::VersionUnsupported);
    }
}

#[test]
fn line_ends_and_field_lines_are_as_strict_as_in_requests() {
    for input in [
        "HTTP/1.1 200 OK\n\n",
        "HTTP/1.1 200 OK\r\nX: y\n\r\n",
        "\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n",
    ] {
        refuse(input, Reject::HeadMalformed);
    }
    for fields in
        ["X : a", "X: a\r\n b", " X: a", "X", ": a", "X: a\0b", "X: a\x07", "X: a\x7f", "X\u{e9}: a", "Connection: a b"]
    {
        refuse(with(fields), Reject::HeadMalformed);
    }
}

#[test]
fn the_length_is_said_once_and_one_way() {
    for fields in [
        "Content-Length: 5\r\nContent-Length: 5",
        "Content-Length: 5, 5",
        "Content-Length: x",
        "Content-Length:",
        "Content-Length: +1",
        "Content-Length: 18446744073709551616",
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding:",
    ] {
        refuse(with(fields), Reject::LengthInvalid);
    }
    refuse(with("Transfer-Encoding: gzip, chunked"), Reject::CodingUnknown);
    refuse("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", Reject::LengthInvalid);
    // Also where no body follows: a worker that contradicts itself is not believed about anything.
    refuse("HTTP/1.1 304 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", Reject::LengthInvalid);
}

#[test]
fn framing_follows_from_method_status_and_fields() {
    let (length, chunked) = ("Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n");
    let (get, head) = (Method::Get, Method::Head);
    for (method, status, fields, framing, content_length, keep_alive) in [
        (&get, 200, length, ResponseFraming::Length(5), Some(5), true),
        (&get, 200, chunked, ResponseFraming::Chunked, None, true),
        (&get, 200, "", ResponseFraming::UntilClose, None, false),
        (&get, 200, "Connection: keep-alive\r\n", ResponseFraming::UntilClose, None, false),
        (&get, 204, "", ResponseFraming::None, None, true),
        (&get, 304, length, ResponseFraming::None, Some(5), true),
        (&get, 304, chunked, ResponseFraming::None, None, true),
        (&get, 103, "", ResponseFraming::None, None, true),
        (&get, 101, "", ResponseFraming::None, None, true),
        (&head, 200, length, ResponseFraming::None, Some(5), true),
        (&head, 200, chunked, ResponseFraming::None, None, true),
        (&head, 500, "", ResponseFraming::None, None, true),
        (&get, 205, length, ResponseFraming::Length(5), Some(5), true),
        (&get, 200, "Content-Length: 5\r\nConnection: close\r\n", ResponseFraming::Length(5), Some(5), false),
    ] {
        let parsed = accept_for(method, format!("HTTP/1.1 {status} X\r\n{fields}\r\n"));
        let found = (parsed.framing, parsed.content_length, parsed.keep_alive);
        assert_eq!(found, (framing, content_length, keep_alive), "{method:?} {status} {fields}");
    }
    assert!(!accept("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n").keep_alive);
    assert!(accept("HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\n").keep_alive);
}

#[test]
fn limits_hold_before_the_head_is_whole() {
    refuse("H".repeat(101), Reject::HeadersTooLarge);
    refuse(format!("HTTP/1.1 200 OK\r\nX: {}", "a".repeat(498)), Reject::HeadersTooLarge);
    refuse(format!("HTTP/1.1 200 OK\r\n{}", "A: b\r\n".repeat(11)), Reject::HeadersTooMany);
    accept(format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(10)));
}

#[test]
fn interim_heads_are_heads_of_their_own() {
    let buf = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n";
    let Ok(Parse::Complete { received, consumed }) = parse_response(buf, &LIMITS, &Method::Get) else { panic!() };
    assert_eq!((received.head.status, received.head.fields.get("link")), (103, Some(&b"</a>"[..])));
    assert_eq!(accept(&buf[consumed..]).head.status, 204);
}
