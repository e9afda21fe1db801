//! Which fields are passed on, and the heads that are written from them.

mod common;

use common::{accept, with};
use sluice_http1::{
    Framing, HeadLimits, Parse, parse_response, write_field, write_request_start, write_response_start,
};
use sluice_message::{Forwardable, Method, forwardable, is_hop_by_hop};

fn names_forwarded(fields: &str) -> Vec<String> {
    forwardable(&accept(with(fields)).head.fields).map(|(name, _)| name.to_ascii_lowercase()).skip(1).collect()
}

#[test]
fn hop_by_hop_and_private_fields_stay_behind() {
    for name in [
        "Connection",
        "Keep-Alive",
        "Proxy-Connection",
        "Proxy-Authenticate",
        "Proxy-Authorization",
        "TE",
        "Trailer",
        "Upgrade",
        "HTTP2-Settings",
        "X-Sluice-Request",
        "x-sluice-anything",
    ] {
        assert!(is_hop_by_hop(name), "{name}");
        assert_eq!(names_forwarded(&format!("{name}: a\r\nX: b")), ["x"], "{name}");
    }
    assert!(is_hop_by_hop("transfer-encoding") && is_hop_by_hop("EXPECT"));
    for name in ["Accept", "Cookie", "X-Sluice", "Content-Length", "Connections"] {
        assert!(!is_hop_by_hop(name), "{name}");
    }
}

#[test]
fn what_connection_names_stays_behind() {
    assert_eq!(names_forwarded("Connection: X-Hop, close\r\nx-hop: 1\r\nX-Hop: 2\r\nX-End: 3"), ["x-end"]);
    assert_eq!(names_forwarded("X-A: 1\r\nX-B: 2\r\nConnection: x-a\r\nConnection: x-b"), Vec::<String>::new());
}

#[test]
fn connection_cannot_name_away_what_later_readers_rely_on() {
    for name in [
        "Authorization",
        "Cookie",
        "Cache-Control",
        "Content-Type",
        "Content-Encoding",
        "X-Forwarded-For",
        "X-Forwarded-Proto",
        "Forwarded",
        "X-Real-IP",
        "X-Request-Id",
        "Traceparent",
        "Range",
        "If-None-Match",
        "Origin",
        "Accept-Encoding",
        "Sec-Fetch-Site",
        "Via",
    ] {
        let fields = format!("Connection: close, {name}\r\n{name}: 1");
        assert_eq!(names_forwarded(&fields), [name.to_ascii_lowercase()], "{name}");
    }
    let received =
        accept("POST / HTTP/1.1\r\nHost: a\r\nConnection: host, content-length\r\nContent-Length: 5\r\n\r\n");
    let names: Vec<_> = forwardable(&received.head.fields).map(|(name, _)| name).collect();
    assert_eq!(names, ["Host", "Content-Length"]);
    assert!(Forwardable::new(&received.head.fields).allows("host"));
}

#[test]
fn a_request_is_written_afresh() {
    let received = accept(
        "POST http://A/b?c HTTP/1.1\r\nX-One:\t1 \r\nHost:  A\r\nTransfer-Encoding: chunked\r\nConnection: close, x-hop\r\nX-Hop: 1\r\nX-Drop: 1\r\nExpect: 100-continue\r\nx-sluice-request: id=1\r\nX-Two:2\r\n\r\n",
    );
    let mut out = Vec::new();
    write_request_start(&mut out, &received.head, Framing::Length(5), None, |name, _| name != "X-Drop");
    write_field(&mut out, "x-sluice-request", b"id=7");
    let expected =
        "POST /b?c HTTP/1.1\r\nHost: a\r\nX-One: 1\r\nX-Two: 2\r\nContent-Length: 5\r\nx-sluice-request: id=7\r\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn an_upgrade_is_written_with_its_connection_option() {
    let received = accept(with("Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13"));
    let mut out = Vec::new();
    write_request_start(&mut out, &received.head, Framing::None, received.upgrade.as_deref(), |_, _| true);
    let expected =
        "GET / HTTP/1.1\r\nHost: a\r\nSec-WebSocket-Version: 13\r\nConnection: upgrade\r\nUpgrade: websocket\r\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn a_response_is_written_without_what_was_of_its_connection() {
    let text = "HTTP/1.1 404 Nobody\r\nKeep-Alive: timeout=5\r\nConnection: x-hop\r\nX-Hop: 1\r\nX: y\r\nX-Sluice-Secret: 1\r\n\
                Trailer: X-T\r\nUpgrade: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    let written = |text: &str| {
        let parsed = parse_response(text.as_bytes(), &HeadLimits::default(), &Method::Get);
        let Ok(Parse::Complete { received, .. }) = parsed else { panic!("{parsed:?}") };
        let mut out = Vec::new();
        write_response_start(&mut out, &received.passed_on().head, |name| name != "X-Drop");
        String::from_utf8(out).unwrap()
    };
    assert_eq!(written(text), "HTTP/1.1 404 Nobody\r\nX: y\r\nTrailer: X-T\r\n");
    assert_eq!(
        written("HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\nConnection: upgrade\r\n\r\n"),
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\n"
    );
    assert_eq!(written("HTTP/1.1 200\r\nContent-Length: 5\r\nX-Drop: 1\r\nA: b\r\n\r\n"), "HTTP/1.1 200 \r\nA: b\r\n");
}
