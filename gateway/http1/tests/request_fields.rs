//! Field lines and connection options of requests, with the inputs that break each rule.

mod common;

use common::{accept, post, refuse, with};
use sluice_http1::{Framing, Version};
use sluice_message::{Method, Reject, Underscores, check_underscores};

#[test]
fn a_plain_request_is_read_whole() {
    let received = accept("GET /a?b=c HTTP/1.1\r\nHost: Example.COM:8080\r\nAccept:  text/html \t\r\nX-Empty:\r\n\r\n");
    assert_eq!(received.head.method, Method::Get);
    assert_eq!(received.head.path_and_query, "/a?b=c");
    assert_eq!(received.head.authority, "example.com:8080");
    assert_eq!(received.version, Version::Http11);
    assert_eq!(received.framing, Framing::None);
    assert!(received.keep_alive);
    assert!(!received.expect_continue);
    assert_eq!(received.upgrade, None);
    let fields: Vec<_> = received.head.fields.iter().collect();
    assert_eq!(fields, [("Host", &b"Example.COM:8080"[..]), ("Accept", b"text/html"), ("X-Empty", b"")]);
    assert_eq!(received.head.fields.get("accept"), Some(&b"text/html"[..]));
    assert_eq!(received.head.fields.get("ACCEPT"), Some(&b"text/html"[..]));
    assert!(received.head.fields.contains("x-empty") && !received.head.fields.contains("x-other"));
    assert_eq!((received.head.fields.len(), received.head.fields.is_empty()), (3, false));
}

#[test]
fn repeated_fields_keep_their_order() {
    let received = accept(with("X-A: 1\r\nx-b: 2\r\nx-a: 3"));
    assert_eq!(received.head.fields.get_all("x-a").collect::<Vec<_>>(), [b"1", b"3"]);
}

#[test]
fn one_empty_line_before_the_request_is_forgiven_and_no_more() {
    assert_eq!(accept("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").head.path_and_query, "/");
    for input in
        ["\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "\rGET /", "\r\n\n"]
    {
        refuse(input, Reject::HeadMalformed);
    }
}

#[test]
fn line_ends_are_crlf_only() {
    for input in [
        "GET / HTTP/1.1\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n\n",
        "GET / HTTP/1.1\rHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: b\rc\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n\rX",
        "GET / HTTP/1.1\n\n",
    ] {
        refuse(input, Reject::HeadMalformed);
    }
}

#[test]
fn field_lines_are_a_token_a_colon_and_a_value_without_control_bytes() {
    for fields in [
        "X : a",
        "X\t: a",
        " X: a",
        "\tX: a",
        "X: a\r\n b",
        "X: a\r\n\tb",
        "X",
        ": a",
        "X Y: a",
        "X\u{e9}: a",
        "X\0: a",
        "X(: a",
        "X[]: a",
        "X\"Y: a",
        "X: a\0b",
        "X: a\x01",
        "X: a\x0b",
        "X: a\x0c",
        "X: a\x1b",
        "X: a\x7f",
        "X/Y: a",
        "X@: a",
        "X{: a",
        "Content-Length : 5",
        "Transfer-Encoding : chunked",
        "Content-Length\0: 5",
        "Content-Length\x0b: 5",
    ] {
        refuse(with(fields), Reject::HeadMalformed);
    }
    // The first field line has no line before it that it could continue.
    refuse("GET / HTTP/1.1\r\n Host: a\r\n\r\n", Reject::HeadMalformed);
    for (line, value) in
        [("X:a", &b"a"[..]), ("X: \t a\tb \t", b"a\tb"), ("X: \u{e9}", b"\xc3\xa9"), ("X: a:b", b"a:b"), ("X:", b"")]
    {
        assert_eq!(accept(with(line)).head.fields.get("x"), Some(value), "{line:?}");
    }
    assert_eq!(
        accept([&b"GET / HTTP/1.0\r\nX: \x80\xff\r\n\r\n"[..]].concat()).head.fields.get("x"),
        Some(&b"\x80\xff"[..])
    );
}

#[test]
fn names_with_an_underscore_are_refused_where_they_stand_for_another_field() {
    use Underscores::{Distinct, Pass, Refuse};
    let verdict = |lines: &str, rule| check_underscores(&accept(with(lines)).head.fields, rule).map_err(|no| no.reject);
    let refused = Err(Reject::HeaderAlias);
    for plain in ["X: a_b", "X-A: 1"] {
        assert_eq!([Distinct, Refuse, Pass].map(|rule| verdict(plain, rule)), [Ok(()); 3], "{plain}");
    }
    for own in ["api_key: 1", "_: 1", "api_key: 1\r\nAPI_KEY: 2", "x-a_b: 1\r\nx-a: 2", "Content_Type: a"] {
        assert_eq!([Distinct, Refuse, Pass].map(|rule| verdict(own, rule)), [Ok(()), refused, Ok(())], "{own}");
    }
    for alias in [
        "content_length: 1",
        "X_Forwarded_For: 1",
        "X-Forwarded_Anything: 1",
        "Transfer_Encoding: chunked",
        "X_Real_IP: 1",
        "X_Request_Id: 1",
        "Keep_Alive: 1",
        "api_key: 1\r\nApi-Key: 2",
        "Api-Key: 2\r\napi_key: 1",
        "x_a-b: 1\r\nx-a_b: 2",
    ] {
        assert_eq!([Distinct, Refuse, Pass].map(|rule| verdict(alias, rule)), [refused, refused, Ok(())], "{alias}");
    }
    for private in ["X_Sluice_Request: id=1", "x-sluice_x: 1", "Sluice_Warm_Up: 1"] {
        assert_eq!([Distinct, Refuse, Pass].map(|rule| verdict(private, rule)), [refused; 3], "{private}");
    }
}

#[test]
fn the_only_expectation_is_one_100_continue() {
    assert!(accept(post("Content-Length: 5\r\nExpect: 100-Continue")).expect_continue);
    assert!(!accept(post("Expect: 100-continue")).expect_continue, "there is no body to wait for");
    assert!(!accept("POST / HTTP/1.0\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n").expect_continue);
    for fields in [
        "Expect: 200-ok",
        "Expect:",
        "Expect: 100-continue, x",
        "Expect: 100-continue\r\nExpect: 100-continue",
        "Expect: \u{e9}",
    ] {
        refuse(post(fields), Reject::ExpectationUnknown);
    }
}

#[test]
fn connection_says_whether_it_stays_open() {
    for (version, connection, keep_alive) in [
        ("1.1", "x", true),
        ("1.1", "close", false),
        ("1.1", "x, CLOSE", false),
        ("1.1", "keep-alive, close", false),
        ("1.1", ", ,", true),
        ("1.0", "x", false),
        ("1.0", "Keep-Alive", true),
        ("1.0", "keep-alive, close", false),
    ] {
        let received = accept(format!("GET / HTTP/{version}\r\nHost: a\r\nConnection: {connection}\r\n\r\n"));
        assert_eq!(received.keep_alive, keep_alive, "HTTP/{version} {connection}");
    }
    assert!(!accept(with("Connection: x\r\nConnection: close")).keep_alive);
    for connection in ["a b", "\"close\"", "close;x", &["x"; 33].join(",")] {
        refuse(with(&format!("Connection: {connection}")), Reject::HeadMalformed);
    }
}

#[test]
fn an_upgrade_needs_the_connection_option_and_another_protocol_than_http() {
    let upgrade = |fields: &str| accept(with(fields)).upgrade;
    assert_eq!(upgrade("Connection: Upgrade\r\nUpgrade: websocket").as_deref(), Some("websocket"));
    assert_eq!(
        upgrade("Connection: keep-alive, upgrade\r\nUpgrade: a/1, b\r\nUpgrade: c").as_deref(),
        Some("a/1, b, c")
    );
    assert_eq!(upgrade("Connection: upgrade\r\nUpgrade: h2c, websocket").as_deref(), Some("websocket"));
    assert_eq!(upgrade("Upgrade: websocket"), None);
    assert_eq!(upgrade("Connection: upgrade"), None);
    for transport in ["h2c", "H2C", "HTTP/2.0", "TLS/1.0", "h2"] {
        assert_eq!(upgrade(&format!("Connection: upgrade\r\nUpgrade: {transport}")), None, "{transport}");
    }
    assert_eq!(accept("GET / HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n").upgrade, None);
    for protocol in ["a b", "a/", "/1", "a/b/c", "\"a\""] {
        refuse(with(&format!("Connection: upgrade\r\nUpgrade: {protocol}")), Reject::HeadMalformed);
    }
}
