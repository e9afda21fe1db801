//! `Host`, with the inputs that break each rule and the neighbours that do not.

mod common;

use common::{accept, refuse};
use sluice_message::Reject;

#[test]
fn there_is_exactly_one_valid_host() {
    let request = |host: &str| format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
    for (host, expected) in [
        ("a", "a"),
        ("A.Example.", "a.example."),
        ("a_b-c~d.e", "a_b-c~d.e"),
        ("a:0", "a:0"),
        ("a:65535", "a:65535"),
        ("192.0.2.1", "192.0.2.1"),
        ("192.0.2.1:80", "192.0.2.1:80"),
        ("[2001:DB8::1]:443", "[2001:db8::1]:443"),
        ("[::ffff:192.0.2.1]", "[::ffff:192.0.2.1]"),
        ("123", "123"),
    ] {
        assert_eq!(accept(request(host)).head.authority, expected);
    }
    let long = "a".repeat(256);
    for host in [
        "",
        ":80",
        "a:",
        "a:65536",
        "a:000080",
        "a:8o",
        "a:+80",
        "a:-1",
        "a: 80",
        "a:80:80",
        "a b",
        "a,b",
        "a;b",
        "a/b",
        "a?b",
        "a#b",
        "a\\b",
        "user@a",
        "user:pass@a",
        "@",
        "a%20b",
        "%61",
        "a!",
        "a$b",
        "a..b",
        ".a",
        ".",
        "\u{e9}.fr",
        "256.0.0.1",
        "1.2.3",
        "1.2.3.4.5",
        "1.2.3.4.",
        "[::1",
        "::1",
        "[]",
        "[::1]a",
        "[::1]:",
        "[::1]80",
        "[fe80::1%25eth0]",
        "[v1.a]",
        "[127.0.0.1]",
        "[[::1]]",
        "http://a",
        "a\tb",
        "\"a\"",
        "<a>",
        &long,
    ] {
        refuse(request(host), Reject::HostInvalid);
    }
    for fields in ["Accept: a", "Host: a\r\nHost: a", "Host: a\r\nhOST: b", "X-Host: a"] {
        refuse(format!("GET / HTTP/1.1\r\n{fields}\r\n\r\n"), Reject::HostInvalid);
    }
    refuse("GET / HTTP/1.1\r\n\r\n", Reject::HostInvalid);
}

#[test]
fn host_may_be_missing_in_http_1_0_but_not_wrong() {
    assert_eq!(accept("GET / HTTP/1.0\r\n\r\n").head.authority, "");
    assert_eq!(accept("GET / HTTP/1.0\r\nHost: A\r\n\r\n").head.authority, "a");
    refuse("GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", Reject::HostInvalid);
    refuse("GET / HTTP/1.0\r\nHost:\r\n\r\n", Reject::HostInvalid);
}
