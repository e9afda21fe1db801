use sluice_http1::{HeadLimits, HeadReader, Parse};
use sluice_message::Fields;

use super::*;

fn request(target: &str, fields: &str) -> RequestHead {
    let text = format!("GET {target} HTTP/1.1\r\nHost: shop.example\r\n{fields}\r\n");
    let limits = HeadLimits { request_line_bytes_max: 1000, headers_bytes_max: 1000, headers_count_max: 10 };
    match HeadReader::new().request(text.as_bytes(), &limits) {
        Ok(Parse::Complete { received, .. }) => received.head,
        other => panic!("{other:?}"),
    }
}

fn response() -> ResponseHead {
    ResponseHead::new(200, Fields::default())
}

fn sessions(by: Sticky) -> Sessions {
    let mut config = Config::default();
    config.sticky.by = by;
    let sessions = Sessions::new(&config);
    sessions.listening(WorkerId(1));
    sessions.listening(WorkerId(2));
    sessions
}

fn visit(sessions: &Sessions, head: &RequestHead) -> Visit {
    let asked = SessionQuery { head, client: "192.0.2.1".parse().unwrap(), is_secure: false, is_upgrade: false };
    sessions.visit(&asked, None, || vec![(0, WorkerId(1)), (1, WorkerId(2))])
}

/// The cookie that an answer sets, as the client sends it.
fn cookie_of(sessions: &Sessions, visit: &Visit, worker: u64) -> Option<String> {
    let value = sessions.cookie(visit, Some(WorkerId(worker)), &response())?;
    Some(format!("Cookie: {}\r\n", value.split(';').next()?))
}

#[test]
fn a_cookie_leads_back_to_the_worker_that_answered_until_that_has_gone() {
    let sessions = sessions(Sticky::Cookie);
    let first = visit(&sessions, &request("/", ""));
    assert_eq!((first.home, first.session(Some(WorkerId(2)))), (Home::New, Some(Session::New)));
    let cookie = cookie_of(&sessions, &first, 2).unwrap();
    let second = visit(&sessions, &request("/", &cookie));
    assert_eq!((second.home, second.session(Some(WorkerId(2)))), (Home::At(WorkerId(2)), Some(Session::Kept)));
    assert_eq!(cookie_of(&sessions, &second, 2), None, "it has it");
    assert!(cookie_of(&sessions, &second, 1).is_some(), "another has answered");
    sessions.exited(WorkerId(2));
    let third = visit(&sessions, &request("/", &cookie));
    assert_eq!((third.home, third.session(Some(WorkerId(1)))), (Home::New, Some(Session::Moved)));
    let other_gateway = self::sessions(Sticky::Cookie);
    assert_eq!(visit(&other_gateway, &request("/", &cookie)).home, Home::New, "the numbers begin anew there");
}

#[test]
fn requests_of_no_route_are_anybodys_and_hide_the_cookie_all_the_same() {
    let mut config = Config::default();
    (config.sticky.by, config.sticky.routes) = (Sticky::Cookie, vec!["shop.example/chat/*".to_owned()]);
    let sessions = self::sessions(Sticky::Cookie);
    sessions.set_config(&config);
    assert_eq!(visit(&sessions, &request("/chat/1", "")).home, Home::New);
    let page = visit(&sessions, &request("/page", "Cookie: sluice=x; a=b\r\n"));
    assert_eq!((page.home, page.session(Some(WorkerId(1))), cookie_of(&sessions, &page, 1)), (Home::Any, None, None));
    let head = sessions.dress(&page, b"GET /page HTTP/1.1\r\nCookie: sluice=x; a=b\r\nX: 1\r\n\r\n".to_vec());
    assert_eq!(head, b"GET /page HTTP/1.1\r\nCookie: a=b\r\nX: 1\r\n\r\n");
}

#[test]
fn an_address_has_one_worker() {
    let sessions = sessions(Sticky::Address);
    let homes = [0, 1, 2].map(|_| visit(&sessions, &request("/", "")).home);
    assert!(matches!(homes[0], Home::At(_)) && homes.iter().all(|home| *home == homes[0]), "{homes:?}");
}

#[test]
fn a_session_of_engine_io_is_known_by_its_sid_without_any_setting() {
    let sessions = sessions(Sticky::Off);
    let open = visit(&sessions, &request("/socket.io/?EIO=4&transport=polling", ""));
    assert_eq!(open.home, Home::Any);
    sessions.learn(&open, Some(WorkerId(2)), b"0{\"sid\":\"0123456789\",\"upgrades\":[]}");
    let poll = visit(&sessions, &request("/socket.io/?EIO=4&transport=polling&sid=0123456789", ""));
    assert_eq!((poll.home, poll.waits), (Home::At(WorkerId(2)), true));
    let head = sessions.dress(&poll, b"GET / HTTP/1.1\r\nX-Sluice-Request: id=1;proto=http\r\n\r\n".to_vec());
    assert_eq!(head, b"GET / HTTP/1.1\r\nX-Sluice-Request: id=1;proto=http;waits=1\r\n\r\n");
    let upgrade = visit(&sessions, &request("/socket.io/?EIO=4&transport=websocket&sid=0123456789", ""));
    assert_eq!((upgrade.home, upgrade.waits), (Home::At(WorkerId(2)), false));
    let elsewhere = visit(&sessions, &request("/expensive?EIO=4&transport=polling&sid=0123456789", ""));
    assert_eq!((elsewhere.home, elsewhere.waits), (Home::Any, false), "nobody leaves its slot by what it asks");
    sessions.exited(WorkerId(2));
    let lost = visit(&sessions, &request("/socket.io/?EIO=4&transport=polling&sid=0123456789", ""));
    assert_eq!((lost.home, lost.waits, lost.session(Some(WorkerId(1)))), (Home::Any, false, Some(Session::Moved)));
}
