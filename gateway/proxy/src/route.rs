//! What a request is: one that the gateway answers by itself, or one of a class for the workers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::rc::Rc;

use sluice_http1::{Method, RequestHead};

use crate::files::FilePath;
use crate::gate::Gate;

/// Classes that are told apart; requests of further ones are counted together.
const CLASSES_MAX: usize = 400;
/// Path segments that a class keeps; what lies deeper is one class.
const SEGMENTS_MAX: usize = 6;

/// Where a request goes.
pub(crate) enum Route {
    Ping,
    Ready,
    /// Perhaps: where there is no such file, the request is for the workers.
    File(FilePath),
    Workers,
}

pub(crate) fn route(gate: &Gate, head: &RequestHead) -> Route {
    let path = path_of(&head.target);
    if !matches!(head.method, Method::Get | Method::Head) {
        return Route::Workers;
    }
    let config = gate.config();
    let edge = &config.edge;
    if path == edge.ping_path {
        Route::Ping
    } else if path == edge.ready_path {
        Route::Ready
    } else {
        // An upgrade is for the app, whatever lies at its path.
        let found = if head.upgrade.is_none() { gate.files.find(path) } else { None };
        found.map_or(Route::Workers, Route::File)
    }
}

pub(crate) fn path_of(target: &str) -> &str {
    target.split_once('?').map_or(target, |(path, _)| path)
}

/// The bounded table of classes. A class is the method and the path with what looks like an id replaced, so that
/// requests expected to cost alike share it.
#[derive(Default)]
pub(crate) struct Classes {
    known: RefCell<HashMap<String, Rc<str>>>,
    scratch: RefCell<String>,
}

impl Classes {
    pub(crate) fn classify(&self, method: &Method, target: &str) -> Rc<str> {
        let mut scratch = self.scratch.borrow_mut();
        scratch.clear();
        template(method, path_of(target), &mut scratch);
        let mut known = self.known.borrow_mut();
        if let Some(class) = known.get(scratch.as_str()) {
            return Rc::clone(class);
        }
        let class: Rc<str> = if known.len() < CLASSES_MAX { scratch.as_str().into() } else { "other".into() };
        if known.len() < CLASSES_MAX {
            known.insert(scratch.clone(), Rc::clone(&class));
        }
        class
    }
}

fn template(method: &Method, path: &str, out: &mut String) {
    out.push_str(method.as_str());
    out.push(' ');
    if path == "/" || path == "*" {
        out.push_str(path);
        return;
    }
    for (depth, segment) in path.trim_start_matches('/').split('/').enumerate() {
        if depth == SEGMENTS_MAX {
            out.push_str("/…");
            return;
        }
        let _ = write!(out, "/{}", if looks_like_an_id(segment) { ":id" } else { segment });
    }
}

/// Numbers, hex digests, UUIDs, long words with digits and anything percent-encoded vary from request to request.
fn looks_like_an_id(segment: &str) -> bool {
    let digits = segment.bytes().filter(u8::is_ascii_digit).count();
    let is_hex = segment.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    segment.len() > 40
        || (digits > 0 && digits == segment.len())
        || (digits > 0 && is_hex && segment.len() >= 8)
        || (digits >= 2 && segment.len() >= 16)
        || segment.contains('%')
        || segment.rsplit(['-', '_']).next().is_some_and(|last| {
            !last.is_empty() && last.len() < segment.len() && last.bytes().all(|byte| byte.is_ascii_digit())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_differ_only_in_ids_share_a_class() {
        let classes = Classes::default();
        let class = |target: &str| classes.classify(&Method::Get, target).to_string();
        assert_eq!(class("/"), "GET /");
        assert_eq!(class("/products/123?x=1"), "GET /products/:id");
        assert_eq!(class("/products/oak-table-0042"), "GET /products/:id");
        assert_eq!(class("/u/3f2a9c1d-7e8b-4f00-9d5e-1a2b3c4d5e6f/edit"), "GET /u/:id/edit");
        assert_eq!(class("/about"), "GET /about");
        assert_eq!(class("/a/b/c/d/e/f/g/h"), "GET /a/b/c/d/e/f/…");
    }

    #[test]
    fn table_of_classes_is_bounded() {
        let classes = Classes::default();
        for n in 0..2 * CLASSES_MAX {
            let word: String = n.to_string().bytes().map(|digit| char::from(b'a' + digit - b'0')).collect();
            classes.classify(&Method::Get, &format!("/{word}"));
        }
        assert_eq!(classes.known.borrow().len(), CLASSES_MAX);
        assert_eq!(&*classes.classify(&Method::Get, "/brand-new"), "other");
    }
}
