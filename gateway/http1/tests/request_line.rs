//! The request line, with the inputs that break each rule and the neighbours that do not.

mod common;

use common::{LIMITS, accept, refuse};
use sluice_http1::{Version, parse_request};
use sluice_message::Reject;

#[test]
fn the_request_line_is_three_parts_with_one_space_between() {
    for line in [
        "GET  / HTTP/1.1",
        "GET /  HTTP/1.1",
        "GET / HTTP/1.1 ",
        "GET / a HTTP/1.1",
        "GET /",
        "GET",
        "GET\t/\tHTTP/1.1",
        "GET\t/ HTTP/1.1",
        "G(T / HTTP/1.1",
        "G\u{e9}T / HTTP/1.1",
        "GE\0T / HTTP/1.1",
        "GET / http/1.1",
        "GET / HTTP/1",
        "GET / HTTP/2",
        "GET / HTTP/1.10",
        "GET / HTTP/11.1",
        "GET / HTTP/1.1x",
        "GET / HTTP/-1.1",
        "GET / HTTPS/1.1",
        "GET / ",
    ] {
        refuse(format!("{line}\r\nHost: a\r\n\r\n"), Reject::HeadMalformed);
    }
}

#[test]
fn foreign_protocols_are_refused_at_their_first_byte() {
    for input in [&b"\x16\x03\x01"[..], b" GET", b"\0", b"\x80", b"\t", b":", b"\r\n "] {
        refuse(input, Reject::HeadMalformed);
    }
}

#[test]
fn only_http_1_0_and_1_1_are_spoken() {
    for line in
        ["PRI * HTTP/2.0", "GET / HTTP/2.0", "GET / HTTP/0.9", "GET / HTTP/1.2", "GET / HTTP/3.0", "CONNECT a HTTP/2.0"]
    {
        refuse(format!("{line}\r\n\r\n"), Reject::VersionUnsupported);
    }
    assert_eq!(accept("GET / HTTP/1.0\r\n\r\n").version, Version::Http10);
}

#[test]
fn methods_are_tokens_of_at_most_32_bytes_and_neither_connect_nor_trace() {
    let line = |method: &str| format!("{method} / HTTP/1.1\r\nHost: a\r\n\r\n");
    for method in ["GET", "get", "PROPFIND", "M-SEARCH", "X!#$%&'*+.^_`|~9", &"M".repeat(32)] {
        assert_eq!(accept(line(method)).head.method.as_str(), method);
    }
    refuse(line(&"M".repeat(33)), Reject::MethodUnsupported);
    refuse(line("TRACE"), Reject::MethodUnsupported);
    refuse("CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", Reject::MethodUnsupported);
}

#[test]
fn targets_in_origin_form_hold_no_space_control_or_fragment() {
    let line = |target: &str| format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n");
    for target in ["/", "/a/../b?c=d&e", "//b/c", "/%zz", "/a|b[c]{d}^`\"<>\\e?[]{}|'", "/a@b:c", "/*", "/http://b/"] {
        assert_eq!(accept(line(target)).head.path_and_query, target);
    }
    for target in
        ["/a#b", "#", "/\u{e9}", "/a\tb", "/a\0b", "/a\x7fb", "/a\x0bb", "a", "a/b", "?a", "a:443", "**", "*/"]
    {
        refuse(line(target), Reject::TargetInvalid);
    }
    refuse(b"GET /\x80 HTTP/1.1\r\nHost: a\r\n\r\n", Reject::TargetInvalid);
}

#[test]
fn the_asterisk_is_for_options() {
    assert_eq!(accept("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").head.path_and_query, "*");
    refuse("GET * HTTP/1.1\r\nHost: a\r\n\r\n", Reject::TargetInvalid);
    refuse("options * HTTP/1.1\r\nHost: a\r\n\r\n", Reject::TargetInvalid);
}

#[test]
fn absolute_form_becomes_origin_form_if_it_names_the_same_host() {
    for (method, target, host, origin) in [
        ("GET", "http://a/b?c", "a", "/b?c"),
        ("GET", "HTTP://A/b", "a", "/b"),
        ("GET", "https://a:8443/", "A:8443", "/"),
        ("GET", "http://a", "a", "/"),
        ("GET", "http://a?b", "a", "/?b"),
        ("GET", "http://[::1]:80/b", "[::1]:80", "/b"),
        ("OPTIONS", "http://a", "a", "*"),
        ("OPTIONS", "http://a/", "a", "/"),
        ("GET", "http://a/b@c", "a", "/b@c"),
    ] {
        let received = accept(format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert_eq!(received.head.path_and_query, origin, "{target}");
    }
    for target in [
        "http://b/",
        "http://a:80/",
        "http://a.b/",
        "http://user@a/",
        "http://user:pass@a/",
        "http://@a/",
        "http:///b",
        "http://",
        "http:/a",
        "http:a",
        "ftp://a/",
        "ws://a/",
        "http://a#b",
        "http://a\\b/",
        "xhttp://a/",
    ] {
        refuse(format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n"), Reject::TargetInvalid);
    }
    refuse("GET http://a/ HTTP/1.0\r\n\r\n", Reject::TargetInvalid);
    let with_user = parse_request(b"GET http://user@a/ HTTP/1.1\r\nHost: a\r\n\r\n", &LIMITS);
    assert_eq!(with_user.map_err(|rejection| rejection.detail), Err("user information in the target"));
}
