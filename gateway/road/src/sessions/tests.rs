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

/// Visits of many addresses while a quarter of them try workers 7 and 8.
fn visit_in_trial(sessions: &Sessions, head: &RequestHead, last: u8) -> Visit {
    let client = std::net::IpAddr::from([192, 0, 2, last]);
    let asked = SessionQuery { head, client, is_secure: false, is_upgrade: false };
    sessions.visit(&asked, None, || vec![(0, WorkerId(1)), (1, WorkerId(2))])
}

fn on_trial(by: Sticky) -> Sessions {
    let sessions = sessions(by);
    for worker in [7, 8] {
        sessions.listening(WorkerId(worker));
    }
    sessions.trial.set(Some(TrialShare { millionths: 250_000 }));
    sessions.trial.set_workers([7, 8].map(WorkerId).into_iter());
    sessions
}

#[test]
fn a_share_of_addresses_tries_a_version_and_each_keeps_its_worker() {
    for by in [Sticky::Off, Sticky::Address] {
        let sessions = on_trial(by);
        let places = || (0..=255).map(|last| visit_in_trial(&sessions, &request("/", ""), last).place());
        let first: Vec<Home> = places().collect();
        assert_eq!(first, places().collect::<Vec<_>>(), "{by:?}");
        let tried = first.iter().filter(|home| matches!(home, Home::At(WorkerId(7 | 8)))).count();
        assert!((35..95).contains(&tried), "{tried} of 256 by {by:?}");
        sessions.trial.set_workers(std::iter::empty());
        let left = places().filter(|home| matches!(home, Home::At(WorkerId(7 | 8)))).count();
        assert_eq!(left, 0, "nobody waits for workers that have gone");
    }
}

#[test]
fn a_session_goes_before_the_share_and_a_cookie_keeps_the_version() {
    let sessions = on_trial(Sticky::Cookie);
    let old = cookie_of(&sessions, &Visit::default(), 1);
    assert_eq!(old, None, "no cookie without a rule");
    for last in 0..=255 {
        let first = visit_in_trial(&sessions, &request("/", ""), last);
        let again = visit_in_trial(&sessions, &request("/style.css", ""), last);
        assert_eq!((again.place(), again.arm), (first.place(), first.arm), "an answer for all set no cookie");
        let worker = if first.arm == Some(Arm::Trial) { 7 } else { 1 };
        let cookie = cookie_of(&sessions, &first, worker).unwrap();
        let second = visit_in_trial(&sessions, &request("/", &cookie), last);
        assert_eq!((second.place(), second.arm), (Home::At(WorkerId(worker)), first.arm));
        assert_eq!((first.is_drawn(), second.is_drawn()), (first.arm == Some(Arm::Trial), false));
    }
}

#[test]
fn nobody_tries_anything_without_a_trial() {
    let sessions = on_trial(Sticky::Off);
    sessions.trial.set(None);
    let visit = visit_in_trial(&sessions, &request("/", ""), 1);
    assert_eq!((visit.place(), visit.arm), (Home::Any, None));
}

#[test]
fn addresses_whose_worker_has_gone_are_drawn_like_new_ones_and_each_trial_draws_others() {
    let sessions = on_trial(Sticky::Address);
    sessions.trial.set(None);
    let arms = |sessions: &Sessions| -> Vec<Option<Arm>> {
        (0..=255).map(|last| visit_in_trial(sessions, &request("/", ""), last).arm).collect()
    };
    assert!(arms(&sessions).iter().all(Option::is_none), "each has a worker of the present version now");
    let begin = || {
        sessions.trial.set(Some(TrialShare { millionths: 250_000 }));
        sessions.trial.set_workers([7, 8].map(WorkerId).into_iter());
    };
    begin();
    assert!(arms(&sessions).iter().all(|arm| *arm == Some(Arm::Present)), "a session goes before the share");
    for worker in [1, 2] {
        sessions.exited(WorkerId(worker));
    }
    let first = arms(&sessions);
    let tried = first.iter().filter(|arm| **arm == Some(Arm::Trial)).count();
    assert!((35..95).contains(&tried), "{tried} of 256");
    let others = on_trial(Sticky::Off);
    assert_ne!(arms(&others), first);
}

#[test]
fn a_call_of_the_app_itself_is_not_drawn() {
    let sessions = on_trial(Sticky::Off);
    for last in 0..=255 {
        let (head, client) = (request("/", ""), std::net::IpAddr::from([192, 0, 2, last]));
        let asked = SessionQuery { head: &head, client, is_secure: false, is_upgrade: false };
        assert_eq!(sessions.visit(&asked, Some(Arm::Present), Vec::new).place(), Home::Any);
    }
}

#[test]
fn a_share_of_a_librarys_clients_tries_a_version_with_its_pages_and_messages() {
    let sessions = on_trial(Sticky::Off);
    sessions.keeps_clients(WorkerId(1), Some("/faye"), None);
    let mut tried = 0;
    for last in 0..=255 {
        let page = visit_in_trial(&sessions, &request("/", ""), last);
        let first = visit_in_trial(&sessions, &request("/faye/handshake", ""), last);
        let again = visit_in_trial(&sessions, &request("/faye", ""), last);
        assert!(matches!(first.place(), Home::At(_)) && first.place() == again.place(), "{first:?} {again:?}");
        assert_eq!((first.arm, again.arm), (page.arm, page.arm));
        assert_eq!((first.is_drawn(), again.is_drawn()), (false, false), "no other worker has its messages");
        let next = visit_in_trial(&sessions, &request("/", ""), last);
        assert_eq!((next.arm, next.is_drawn()), (page.arm, page.arm == Some(Arm::Trial)), "any worker has its pages");
        tried += u32::from(page.arm == Some(Arm::Trial));
    }
    assert!((35..95).contains(&tried), "{tried} of 256");
    // Those that came before the trial keep the version that has their messages, in their pages too.
    sessions.trial.set(None);
    sessions.exited(WorkerId(7));
    sessions.exited(WorkerId(8));
    for last in 0..=255 {
        visit_in_trial(&sessions, &request("/faye", ""), last);
    }
    sessions.trial.set(Some(TrialShare { millionths: 250_000 }));
    sessions.listening(WorkerId(9));
    sessions.trial.set_workers([WorkerId(9)].into_iter());
    for last in 0..=255 {
        for path in ["/faye", "/"] {
            assert_eq!(visit_in_trial(&sessions, &request(path, ""), last).arm, Some(Arm::Present), "{path}");
        }
    }
}

#[test]
fn clients_of_a_library_come_back_by_address_at_its_path_alone_and_by_name_at_upgrades() {
    let sessions = sessions(Sticky::Off);
    sessions.keeps_clients(WorkerId(1), Some("/faye"), None);
    sessions.keeps_clients(WorkerId(2), None, Some("wXyZ12345"));
    assert_eq!(visit(&sessions, &request("/", "")).home, Home::Any);
    let first = visit(&sessions, &request("/faye", "")).home;
    assert!(matches!(first, Home::At(_)), "{first:?}");
    let second = visit(&sessions, &request("/faye/handshake", ""));
    assert_eq!((second.home, cookie_of(&sessions, &second, 1)), (first, None));

    let head = request("/wXyZ12345/room?sessionId=a", "");
    assert_eq!(visit(&sessions, &head).home, Home::Any, "it is no upgrade");
    let asked = SessionQuery { head: &head, client: "192.0.2.1".parse().unwrap(), is_secure: false, is_upgrade: true };
    assert_eq!(sessions.visit(&asked, None, Vec::new).home, Home::At(WorkerId(2)));
    sessions.exited(WorkerId(2));
    assert_eq!(sessions.visit(&asked, None, Vec::new).home, Home::Any);
}
