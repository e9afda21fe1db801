//! Pages whose latest answer was for one client alone, by their keys. Requests for them wait for no other render, and the first answer that
//! may be cached ends the mark. This must not know what a page is.

use std::cell::RefCell;
use std::hash::{BuildHasher as _, RandomState};

use quick_cache::unsync::Cache;
use sluice_tier::Position;
use tokio::time::Instant;

/// Maximum number of marked pages. Further ones replace those that are asked for least.
const MARKS_MAX: usize = 20_000;

/// One mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    until: Instant,
    /// Position of the page among those of other gateways. It was known before the mark was made, so purges since then are compared with
    /// the page.
    pub(crate) position: Option<Position>,
}

/// See the module's text. Two keys with one hash cost a page its sharing for a while; whole keys could take hundreds of megabytes.
pub(crate) struct Marks {
    marks: RefCell<Cache<u64, Mark>>,
    hashes: RandomState,
}

impl Marks {
    pub(crate) fn new() -> Self {
        Marks { marks: RefCell::new(Cache::new(MARKS_MAX)), hashes: RandomState::new() }
    }

    /// The mark of a page, if it has one.
    pub(crate) fn get(&self, key: &str) -> Option<Mark> {
        let marks = self.marks.borrow();
        marks.get(&self.hashes.hash_one(key)).copied().filter(|mark| Instant::now() < mark.until)
    }

    /// Marks a page, and replaces its earlier mark.
    pub(crate) fn set(&self, key: &str, until: Instant, position: Option<Position>) {
        self.marks.borrow_mut().insert(self.hashes.hash_one(key), Mark { until, position });
    }

    /// Removes a mark, because an answer came that may be cached.
    pub(crate) fn end(&self, key: &str) {
        self.marks.borrow_mut().remove(&self.hashes.hash_one(key));
    }
}
