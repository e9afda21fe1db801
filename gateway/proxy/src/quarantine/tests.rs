//! The rules of the quarantine, by example and by chance.

use std::time::Duration;

use tokio::time::Instant;

use super::*;

const TTL: Duration = Duration::from_secs(600);

struct Stage {
    keys: Keys,
    table: Quarantine,
    start: Instant,
    requests: u64,
}

impl Stage {
    fn new(entries_max: usize) -> Self {
        let table = Quarantine::new(TTL, entries_max);
        Stage { keys: Keys::default(), table, start: Instant::now(), requests: 0 }
    }

    fn at(&self, ms: u64) -> Instant {
        self.start + Duration::from_millis(ms)
    }

    /// A GET of this target with these header lines.
    fn subject(&self, target: &str, headers: &str) -> Subject {
        let head = format!("GET {target} HTTP/1.1\r\nHost: shop\r\n{headers}\r\n");
        self.keys.subject("GET", target, head.as_bytes(), b"", 0)
    }

    /// Another request dies. Returns whether anything is in quarantine because of it.
    fn dies(&mut self, target: &str, dispatched_ms: u64, now_ms: u64, shared: bool) -> bool {
        self.requests += 1;
        self.dies_with(self.requests, (target, ""), dispatched_ms, now_ms, shared)
    }

    /// A request dies, alone, in a worker that it got a millisecond ago.
    fn dies_alone(&mut self, request: u64, target: &str, headers: &str, now_ms: u64) -> bool {
        self.dies_with(request, (target, headers), now_ms - 1, now_ms, false)
    }

    fn dies_with(&mut self, request: u64, of: (&str, &str), dispatched_ms: u64, now_ms: u64, shared: bool) -> bool {
        let death = Death { method: "GET", target: of.0, request, dispatched: self.at(dispatched_ms), shared };
        let subject = self.subject(of.0, of.1);
        !self.table.died(self.at(now_ms), &subject, &death).is_empty()
    }

    fn is_answered(&mut self, target: &str, headers: &str, now_ms: u64) {
        let (subject, now) = (self.subject(target, headers), self.at(now_ms));
        self.table.note_answered(now, subject.print.route);
        self.table.answered(now, &subject);
    }

    fn admits(&mut self, target: &str, headers: &str, now_ms: u64) -> Admission {
        let (subject, now) = (self.subject(target, headers), self.at(now_ms));
        self.table.admit(now, &subject)
    }

    fn holds(&self, target: &str, now_ms: u64) -> bool {
        self.table.mode(self.at(now_ms), &self.subject(target, "")) == Some(Mode::Refused)
    }
}

#[test]
fn two_deaths_one_after_the_other_make_a_quarantine_and_one_does_not() {
    let mut stage = Stage::new(10);
    assert!(!stage.dies("/poison", 0, 10, false));
    assert!(!stage.holds("/poison", 11));
    assert!(stage.dies("/poison", 10, 20, false));
    assert!(stage.holds("/poison", 21) && !stage.holds("/other", 21));
    assert_eq!(stage.table.len(stage.at(21)), 1);
}

#[test]
fn a_popular_page_that_dies_with_many_workers_at_once_is_never_quarantined() {
    let mut stage = Stage::new(10);
    for worker in 0..50 {
        assert!(!stage.dies("/", worker, 100 + worker, false));
    }
    assert!(!stage.holds("/", 200));
    // It is answered before the next disaster.
    stage.is_answered("/", "", 250);
    for worker in 0..50 {
        assert!(!stage.dies("/", 300 + worker, 400 + worker, false));
    }
    assert!(!stage.holds("/", 500));
}

#[test]
fn an_answer_clears_a_suspicion_and_a_quarantine() {
    let mut stage = Stage::new(10);
    stage.dies("/page", 0, 1, false);
    stage.is_answered("/page", "", 7);
    assert!(!stage.dies("/page", 2, 3, false));
    assert!(stage.dies("/page", 4, 5, false));
    stage.is_answered("/page", "", 7);
    assert!(!stage.holds("/page", 6));
}

#[test]
fn with_other_requests_in_the_worker_nobody_is_convicted_but_runs_alone_from_then_on() {
    let mut stage = Stage::new(10);
    for death in 0..20 {
        assert!(!stage.dies("/one-of-many", death * 10, death * 10 + 1, true));
        assert_eq!(stage.admits("/one-of-many", "", death * 10 + 2), Admission::Alone);
    }
    assert!(stage.dies("/one-of-many", 300, 301, false));
    assert_eq!(stage.admits("/one-of-many", "", 302), Admission::Refuse);
}

#[test]
fn one_request_that_ends_two_workers_says_nothing_about_others_for_the_page() {
    let mut stage = Stage::new(10);
    let hostile = "X-Evil: 1\r\n";
    assert!(!stage.dies_alone(1, "/", hostile, 10));
    assert!(stage.dies_alone(1, "/", hostile, 20), "I5: two workers");
    assert_eq!(stage.admits("/", hostile, 21), Admission::Refuse);
    for headers in ["", "Cookie: a\r\n", "X-Evil: 2\r\n"] {
        assert_eq!(stage.admits("/", headers, 22), Admission::Free, "{headers}");
    }
    let other_host = stage.keys.subject("GET", "/", b"GET / HTTP/1.1\r\nHost: other\r\nX-Evil: 1\r\n\r\n", b"", 0);
    assert_eq!(stage.table.admit(stage.at(23), &other_host), Admission::Free);
}

#[test]
fn different_requests_are_caught_by_what_only_they_have() {
    let mut stage = Stage::new(10);
    stage.is_answered("/", "Accept: a\r\n", 1);
    assert!(!stage.dies_alone(1, "/", "X-Evil: 1\r\nAccept: a\r\n", 10));
    stage.is_answered("/", "Accept: a\r\nCookie: b\r\n", 11);
    assert!(stage.dies_alone(2, "/", "X-Evil: 2\r\nAccept: a\r\n", 20));
    assert_eq!(stage.table.list(stage.at(21))[0].told_by, ["x-evil"]);
    assert_eq!(stage.admits("/", "Accept: a\r\n", 22), Admission::Free);
    // What was learned from a few is a guess: now and then it is tried.
    let Admission::Probe(print) = stage.admits("/", "X-Evil: 3\r\n", 23) else { panic!("it is a guess") };
    assert_eq!(stage.admits("/", "X-Evil: 4\r\n", 24), Admission::Wait);
    stage.dies_alone(3, "/", "X-Evil: 3\r\n", 30);
    stage.table.probe_over(print);
    assert_eq!(stage.admits("/", "X-Evil: 5\r\n", 1029), Admission::Refuse);
    assert!(matches!(stage.admits("/", "X-Evil: 6\r\n", 1030), Admission::Probe(_)));
    stage.dies_alone(4, "/", "X-Evil: 6\r\n", 1040);
    stage.table.probe_over(print);
    assert_eq!(stage.admits("/", "X-Evil: 7\r\n", 3039), Admission::Refuse, "the time doubles");
    stage.is_answered("/", "X-Evil: 8\r\n", 3040);
    assert_eq!(stage.admits("/", "X-Evil: 9\r\n", 3041), Admission::Free, "it was not that");
}

#[test]
fn a_page_that_nobody_gets_is_refused_whoever_asks() {
    let mut stage = Stage::new(10);
    assert!(!stage.dies_alone(1, "/broken", "Accept: a\r\nCookie: a\r\n", 10));
    assert!(stage.dies_alone(2, "/broken", "Accept: b\r\n", 20));
    assert_eq!(stage.admits("/broken", "Accept: c\r\n", 21), Admission::Refuse);
    assert_eq!(stage.admits("/other", "Accept: c\r\n", 22), Admission::Free);
}

#[test]
fn a_page_that_others_got_lately_is_probed_one_at_a_time() {
    let mut stage = Stage::new(10);
    stage.is_answered("/", "", 1);
    assert!(!stage.dies("/", 2, 3, false));
    assert!(stage.dies("/", 4, 5, false));
    let Admission::Probe(print) = stage.admits("/", "", 6) else { panic!("others got it") };
    assert_eq!(stage.admits("/", "", 7), Admission::Wait);
    stage.is_answered("/", "", 8);
    stage.table.probe_over(print);
    assert_eq!(stage.admits("/", "", 9), Admission::Free);
    assert!(stage.table.is_empty());
}

#[test]
fn what_is_probed_is_refused_once_it_is_known_what_tells_it_apart() {
    let mut stage = Stage::new(10);
    let hostile = "X-Evil: 1\r\n";
    stage.is_answered("/", "", 1);
    stage.dies_alone(1, "/", hostile, 10);
    assert!(stage.dies_alone(1, "/", hostile, 20));
    assert!(stage.table.list(stage.at(21))[0].probed);
    let (innocent, now) = (stage.subject("/", ""), stage.at(22));
    assert!(stage.table.answered(now, &innocent), "those that wait are looked at again");
    assert_eq!(stage.admits("/", hostile, 23), Admission::Refuse);
    let listed = &stage.table.list(stage.at(24))[0];
    assert_eq!((&*listed.told_by, listed.probed, listed.deaths), (&["x-evil".to_owned()][..], false, 2));
}

#[test]
fn another_body_is_another_request_even_where_headers_differ_too() {
    let mut stage = Stage::new(10);
    let subject = |stage: &Stage, body: &[u8], cookie: &str| {
        let head = format!("POST /form HTTP/1.1\r\nHost: shop\r\nCookie: {cookie}\r\n\r\n");
        stage.keys.subject("POST", "/form", head.as_bytes(), body, body.len() as u64)
    };
    let dies = |stage: &mut Stage, request: u64, body: &[u8], cookie: &str, now_ms: u64| {
        let dispatched = stage.at(now_ms - 1);
        let death = Death { method: "POST", target: "/form", request, dispatched, shared: false };
        let (subject, now) = (subject(stage, body, cookie), stage.at(now_ms));
        !stage.table.died(now, &subject, &death).is_empty()
    };
    assert!(!dies(&mut stage, 1, b"poison", "a", 10));
    assert!(dies(&mut stage, 2, b"poison", "b", 20), "one body, two users");
    for (body, cookie, expected) in [(&b"poison"[..], "c", Admission::Refuse), (b"plain.", "a", Admission::Free)] {
        let (subject, now) = (subject(&stage, body, cookie), stage.at(30));
        assert_eq!(stage.table.admit(now, &subject), expected);
    }
    let (plain, now) = (subject(&stage, b"plain.", "a"), stage.at(40));
    stage.table.answered(now, &plain);
    assert_eq!(stage.table.list(stage.at(41))[0].told_by, ["(body)"]);
}

#[test]
fn a_quarantine_and_a_suspicion_end_by_themselves() {
    let mut stage = Stage::new(10);
    stage.dies("/poison", 0, 1, false);
    stage.dies("/poison", 2, 3, false);
    let end_ms = 3 + 600_000;
    assert!(stage.holds("/poison", end_ms - 1) && !stage.holds("/poison", end_ms));
    stage.dies("/suspect", 0, 4, false);
    assert!(!stage.dies("/suspect", end_ms, 4 + 600_000, false), "the first death is forgotten");
    stage.table.expire(stage.at(4 + 1_200_000));
    assert!(stage.table.entries.is_empty());
}

#[test]
fn the_entry_closest_to_its_end_makes_room() {
    let mut stage = Stage::new(3);
    for (index, target) in (0..).zip(["/a", "/b", "/c"]) {
        stage.dies(target, index * 10, index * 10 + 1, false);
        stage.dies(target, index * 10 + 2, index * 10 + 3, false);
    }
    stage.dies("/d", 50, 51, false);
    assert_eq!(stage.table.entries.len(), 3);
    assert!(!stage.holds("/a", 52) && stage.holds("/b", 52) && stage.holds("/c", 52));
}

#[test]
fn without_time_nothing_is_quarantined() {
    let mut stage = Stage::new(10);
    stage.table = Quarantine::new(Duration::ZERO, 10);
    for death in 0..5 {
        assert!(!stage.dies("/poison", death * 2, death * 2 + 1, false));
    }
    assert!(stage.table.entries.is_empty());
}

#[test]
fn method_target_body_host_and_headers_tell_requests_apart() {
    let keys = Keys::default();
    let print = |method: &str, target: &str, body: &[u8], body_bytes: u64, headers: &str| {
        let head = format!("{method} {target} HTTP/1.1\r\n{headers}\r\n");
        keys.subject(method, target, head.as_bytes(), body, body_bytes).print
    };
    let prints = [
        print("GET", "/a", b"", 0, ""),
        print("POST", "/a", b"", 0, ""),
        print("GET", "/a?", b"", 0, ""),
        print("POST", "/a", b"1", 1, ""),
        print("POST", "/a", b"2", 1, ""),
        print("POST", "/a", b"2", 2, ""),
        print("POST", "/", b"a2", 2, ""),
        print("GET", "/a", b"", 0, "Host: a\r\n"),
        print("GET", "/a", b"", 0, "Host: b\r\n"),
        print("GET", "/a", b"", 0, "Host: a\r\nCookie: a\r\n"),
    ];
    for (at, print) in prints.iter().enumerate() {
        assert!(!prints[..at].contains(print), "{at}");
    }
    assert_eq!(print("GET", "/a", b"", 0, ""), prints[0]);
    let long = vec![7; BODY_BYTES_MAX + 1];
    let print = |body: &[u8]| print("POST", "/", body, BODY_BYTES_MAX as u64 + 1, "");
    assert_eq!(print(&long), print(&long[..BODY_BYTES_MAX]), "beyond it only the length counts");
}

#[test]
fn what_is_shown_is_cut_and_can_be_released_by_its_id() {
    let mut stage = Stage::new(10);
    let target = format!("/{}", "é".repeat(500));
    for target in [&*target, "/short"] {
        stage.dies(target, 0, 1, false);
        stage.dies(target, 2, 3, false);
    }
    stage.dies("/suspect", 0, 1, false);
    let list = stage.table.list(stage.at(1003));
    assert_eq!(list.len(), 2);
    let long = list.iter().find(|entry| entry.target != "/short").unwrap();
    assert_eq!((long.target.chars().count(), long.deaths, long.for_ms, long.expires_in_ms), (200, 2, 1000, 599_000));
    assert_eq!(stage.table.release(stage.at(5), "no such id"), 0);
    assert_eq!(stage.table.release(stage.at(5), &long.id), 1);
    assert!(!stage.holds(&target, 6) && stage.holds("/short", 6));
    assert_eq!(stage.table.release(stage.at(6), "all"), 1);
    assert_eq!(stage.table.len(stage.at(6)), 0);
    assert_eq!(stage.table.entries.len(), 1, "a suspicion is not released");
    stage.table.forget();
    assert!(stage.table.is_empty(), "but forgotten with the version of the app that it came from");
}

#[test]
fn only_routes_that_are_in_the_table_are_looked_at() {
    let mut stage = Stage::new(10);
    assert!(!stage.table.concerns(|| unreachable!("an empty table asks for nothing")));
    stage.dies("/poison", 0, 1, false);
    let route = |target: &str| stage.keys.route("GET", target);
    assert!(stage.table.concerns(|| route("/poison")) && !stage.table.concerns(|| route("/other")));
}

#[test]
fn i5_in_random_runs_tables_keep_their_bounds_and_only_two_crashes_with_one_alone_quarantine() {
    for seed in 0..300 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut stage = Stage::new(4);
        for step in 1..400_u64 {
            let now_ms = step * 10;
            let (target, headers) = (format!("/{}", rng.u8(..6)), format!("X: {}\r\n", rng.u8(..3)));
            let print = stage.subject(&target, &headers).print;
            if rng.u8(..4) == 0 {
                stage.is_answered(&target, &headers, now_ms);
                assert!(!stage.table.entries.contains_key(&print), "seed {seed}");
                continue;
            }
            let before = stage.table.entries.get(&print).map(|entry| (entry.deaths, entry.convicted.is_some()));
            let dispatched_ms = now_ms.saturating_sub(rng.u64(..40));
            let shared = rng.bool();
            stage.dies_with(step, (&target, &headers), dispatched_ms, now_ms, shared);
            let entry = &stage.table.entries[&print];
            if before.is_none_or(|(deaths, _)| deaths == 0) {
                assert!(
                    entry.deaths == 1 && entry.convicted.is_none(),
                    "seed {seed}, step {step}: one death is not two"
                );
            }
            assert!(entry.convicted.is_none() || entry.deaths >= 2, "seed {seed}, step {step}");
            assert!(stage.table.entries.len() <= 4 && stage.table.pages.len() <= 4, "seed {seed}");
        }
    }
}

#[test]
fn i5_in_random_runs_no_innocent_request_is_refused_while_hostile_ones_come_for_its_page() {
    for seed in 0..200 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut stage = Stage::new(100);
        let agents: Vec<_> = (0..5).map(|agent| format!("User-Agent: {agent}\r\n")).collect();
        // What kills is a header with one value, or with another in each request, or one that many send with other values.
        let kind = rng.u8(..3);
        let (mut now_ms, mut deaths) = (1000, 0);
        stage.is_answered("/", &agents[0], 1);
        for request in 0..1000 {
            now_ms += rng.u64(1..40);
            let agent = &agents[rng.usize(..5)];
            let cookie = if rng.bool() { format!("Cookie: {}\r\n", rng.u8(..50)) } else { String::new() };
            if rng.u8(..10) > 0 {
                let headers = format!("{agent}{cookie}");
                let admission = stage.admits("/", &headers, now_ms);
                // One that waits is let through soon after.
                assert_ne!(admission, Admission::Refuse, "seed {seed}, request {request}");
                stage.is_answered("/", &headers, now_ms);
                if let Admission::Probe(print) = admission {
                    stage.table.probe_over(print);
                }
                continue;
            }
            let evil = match kind {
                0 => "X-Evil: 1\r\n".to_owned(),
                1 => format!("X-Evil: {request}\r\n"),
                _ => "Cookie: evil\r\n".to_owned(),
            };
            let headers = if kind == 2 { format!("{agent}{evil}") } else { format!("{agent}{cookie}{evil}") };
            let admission = stage.admits("/", &headers, now_ms);
            if admission == Admission::Refuse || admission == Admission::Wait {
                continue;
            }
            deaths += 1;
            now_ms += 2;
            stage.dies_alone(request, "/", &headers, now_ms);
            let subject = stage.subject("/", &headers);
            if stage.table.mode(stage.at(now_ms), &subject).is_none() {
                deaths += 1;
                now_ms += 2;
                stage.dies_alone(request, "/", &headers, now_ms);
            }
            if let Admission::Probe(print) = admission {
                stage.table.probe_over(print);
            }
        }
        // 20 s; each of the five agents with the same header is another request.
        assert!(deaths <= 24, "seed {seed}, kind {kind}: {deaths} workers died");
    }
}
