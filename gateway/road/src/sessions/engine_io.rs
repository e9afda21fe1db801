//! Sessions of Engine.IO, on which Socket.IO runs: a worker gives out a `sid` in its answer to the first poll, and every request
//! that follows carries it in its query. A bounded table says which worker gave out which.
//!
//! The table is filled by the answers of workers, never by the requests of clients. A `sid` counts only at the path where it was given out,
//! so no client makes another request of the app look like a poll. If an endpoint repeats parts of the request, they may look like a `sid`,
//! at as many paths as the client likes. Such entries keep their place only while they are used.

use std::rc::Rc;

use sluice_message::Method;
use sluice_scheduler::WorkerId;

use super::table::Table;

/// Maximum number of paths at which sessions begin. Those that were used last stay; an app has one, or a few.
pub(crate) const PATHS_MAX: usize = 16;
/// Maximum length of a path with remembered sessions, bytes. Each of them stores it.
const PATH_BYTES_MAX: usize = 256;
/// Bytes of an answer in which the `sid` is searched.
const ANSWER_BYTES: usize = 256;

/// Request in the terms of Engine.IO.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asks<'r> {
    /// Request for a new session.
    Open { path: &'r str },
    /// Request within this session. `polls`: it is answered when there is data to send.
    In { sid: &'r str, path: &'r str, polls: bool },
}

/// Splits a target into path and query.
pub(crate) fn split(target: &str) -> (&str, &str) {
    target.split_once('?').unwrap_or((target, ""))
}

/// Parsed request, if it is one of Engine.IO 3 or 4.
pub(crate) fn asks<'r>(method: &Method, target: &'r str) -> Option<Asks<'r>> {
    let (path, query) = split(target);
    if !query.contains("EIO=") {
        return None;
    }
    let value = |name: &str| {
        query.split('&').find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name).map(|(_, value)| value))
    };
    value("EIO").filter(|version| matches!(*version, "3" | "4"))?;
    let is_poll = *method == Method::Get && value("transport") == Some("polling");
    match value("sid") {
        Some(sid) => Some(Asks::In { sid, path, polls: is_poll }),
        None => is_poll.then_some(Asks::Open { path }),
    }
}

/// Finds the `sid` in the first bytes of an answer: `0{"sid":"…"`, after a length in version 3, and with its quotes escaped in JSONP.
pub(crate) fn sid_in(answer: &[u8]) -> Option<&str> {
    let answer = &answer[..answer.len().min(ANSWER_BYTES)];
    let at = answer.windows(4).position(|window| window == b"\"sid")? + 4;
    let rest = &answer[at..];
    let from = rest.iter().position(|byte| !matches!(byte, b'\\' | b'"' | b':' | b' '))?;
    let to = from + rest[from..].iter().position(|byte| matches!(byte, b'\\' | b'"'))?;
    let sid = std::str::from_utf8(&rest[from..to]).ok()?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    ((8..=128).contains(&sid.len()) && sid.bytes().all(is_plain)).then_some(sid)
}

/// Sessions that workers have given out, each with its path.
#[derive(Default)]
pub(crate) struct SessionTable {
    sids: Table<Box<str>, Rc<str>>,
    /// Paths, the one that was used last at the end.
    paths: Vec<Rc<str>>,
}

impl SessionTable {
    /// Whether a session was ever given out at this path.
    pub(crate) fn is_known(&self, path: &str) -> bool {
        self.paths.iter().any(|known| **known == *path)
    }

    pub(crate) fn learn(&mut self, sid: &str, path: &Rc<str>, worker: WorkerId) {
        if path.len() > PATH_BYTES_MAX {
            return;
        }
        let path = self.used(path).unwrap_or_else(|| {
            if self.paths.len() >= PATHS_MAX {
                self.paths.remove(0);
            }
            self.paths.push(Rc::clone(path));
            Rc::clone(path)
        });
        self.sids.insert(sid.into(), worker, path);
    }

    /// The worker that gave out this session at this path.
    pub(crate) fn find(&mut self, sid: &str, path: &str) -> Option<WorkerId> {
        let found = self.sids.find(sid, |_, at| **at == *path);
        if found.is_some() {
            self.used(path);
        }
        found
    }

    /// Stored path equal to this one, marked as used.
    fn used(&mut self, path: &str) -> Option<Rc<str>> {
        let at = self.paths.iter().rposition(|known| **known == *path)?;
        self.paths[at..].rotate_left(1);
        self.paths.last().cloned()
    }

    /// Removes the sessions of a worker.
    pub(crate) fn forget(&mut self, worker: WorkerId) {
        self.sids.forget(worker);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_told_apart_by_their_query() {
        let get = |target| asks(&Method::Get, target);
        let path = "/socket.io/";
        assert_eq!(get("/socket.io/?EIO=4&transport=polling&t=x"), Some(Asks::Open { path }));
        assert_eq!(
            get("/socket.io/?EIO=3&transport=polling&sid=abc"),
            Some(Asks::In { sid: "abc", path, polls: true })
        );
        assert_eq!(
            get("/socket.io/?transport=websocket&EIO=4&sid=abc"),
            Some(Asks::In { sid: "abc", path, polls: false })
        );
        let posted = asks(&Method::Post, "/socket.io/?EIO=4&transport=polling&sid=abc");
        assert_eq!(posted, Some(Asks::In { sid: "abc", path, polls: false }));
        for target in
            ["/socket.io/", "/?EIO=5&transport=polling", "/?XEIO=4&transport=polling", "/?EIO=4&transport=websocket"]
        {
            assert_eq!(get(target), None, "{target}");
        }
    }

    #[test]
    fn a_sid_is_found_in_every_form_of_the_first_answer() {
        for answer in [
            "0{\"sid\":\"lv_VI97HAXpY6yYWAAAB\",\"upgrades\":[\"websocket\"]}",
            "96:0{\"sid\":\"lv_VI97HAXpY6yYWAAAB\",\"upgrades\":[]}2:40",
            "\u{0}\u{9}\u{6}\u{7f}0{\"sid\":\"lv_VI97HAXpY6yYWAAAB\"}",
            "___eio[0](\"0{\\\"sid\\\":\\\"lv_VI97HAXpY6yYWAAAB\\\",\\\"upgrades\\\":[]}\");",
        ] {
            assert_eq!(sid_in(answer.as_bytes()), Some("lv_VI97HAXpY6yYWAAAB"), "{answer}");
        }
        for answer in [
            "",
            "\"sid",
            "\"sid\":\"",
            "0{\"sid\":\"short\"}",
            "0{\"sid\":\"with<html>inside\"}",
            "0{\"sid\":12345678901}",
        ] {
            assert_eq!(sid_in(answer.as_bytes()), None, "{answer}");
        }
    }

    #[test]
    fn a_session_counts_at_its_path_and_ends_with_its_worker() {
        let mut issued = SessionTable::default();
        let path: Rc<str> = "/socket.io/".into();
        issued.learn("aaaaaaaa", &path, WorkerId(1));
        issued.learn("bbbbbbbb", &path, WorkerId(2));
        assert_eq!(issued.find("aaaaaaaa", "/socket.io/"), Some(WorkerId(1)));
        assert_eq!(issued.find("aaaaaaaa", "/expensive"), None);
        issued.forget(WorkerId(1));
        assert_eq!(issued.find("aaaaaaaa", "/socket.io/"), None);
        assert_eq!(issued.find("bbbbbbbb", "/socket.io/"), Some(WorkerId(2)));
        assert!(issued.is_known("/socket.io/") && !issued.is_known("/"));
    }

    #[test]
    fn i6_paths_are_bounded() {
        let mut issued = SessionTable::default();
        for at in 0..100 {
            issued.learn(&format!("path-{at:04}"), &format!("/{at}").into(), WorkerId(1));
        }
        assert_eq!(issued.paths.len(), PATHS_MAX);
        assert!(issued.is_known("/99") && !issued.is_known("/0"));
        let long = "/".repeat(PATH_BYTES_MAX + 1);
        issued.learn("path-long", &long.as_str().into(), WorkerId(1));
        assert_eq!(issued.find("path-long", &long), None);
    }

    #[test]
    fn paths_at_which_anything_looks_like_a_session_displace_none_that_is_used() {
        let mut issued = SessionTable::default();
        let echo = |issued: &mut SessionTable, at: usize| {
            issued.learn(&format!("echo-{at:04}"), &format!("/echo/{at}").into(), WorkerId(1));
        };
        (0..PATHS_MAX).for_each(|at| echo(&mut issued, at));
        let path: Rc<str> = "/socket.io/".into();
        issued.learn("aaaaaaaa", &path, WorkerId(2));
        assert!(issued.is_known("/socket.io/"), "there is room for a path that is new");
        for at in 0..100 * PATHS_MAX {
            echo(&mut issued, at);
            if at % (PATHS_MAX - 1) == 0 {
                assert_eq!(issued.find("aaaaaaaa", "/socket.io/"), Some(WorkerId(2)));
            }
            assert!(issued.is_known("/socket.io/"), "after {at}");
        }
        // A session outlives its path's place.
        (0..PATHS_MAX).for_each(|at| echo(&mut issued, at));
        assert!(!issued.is_known("/socket.io/"));
        assert_eq!(issued.find("aaaaaaaa", "/socket.io/"), Some(WorkerId(2)));
        issued.learn("bbbbbbbb", &path, WorkerId(2));
        assert!(issued.is_known("/socket.io/"));
    }
}
