//! Recent purges, each with a number. Renders under way and walks through the pages ask whether a purge since their beginning affects their
//! pages. It must not know how pages are stored.
//!
//! The remembered form of a purge is short, however long a client's URL is.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::rc::Rc;

use sluice_cache::{Moment, begins, coarse, is_page, names_of};
use sluice_catalog::snapshot::Purge;

/// Maximum number of purges remembered for running renders and walks. One that began before them counts as affected
/// by any forgotten purge.
const PURGES_MAX: usize = 10_000;

/// One purge.
#[derive(Debug)]
pub(crate) struct PurgeEntry {
    pub(crate) number: u64,
    pub(crate) purge: Purge,
    pub(crate) is_soft: bool,
    pub(crate) at: Moment,
}

/// Knowledge of a page's tags.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tags<'t> {
    /// All of them.
    All(&'t [Box<str>]),
    /// Nothing, or not all: it may have any.
    Unknown,
}

impl PurgeEntry {
    pub(crate) fn means(&self, key: &str, tags: Tags<'_>) -> bool {
        match &self.purge {
            Purge::All => true,
            Purge::Url(url) => is_page(key, url),
            Purge::Prefix(prefix) => begins(key, prefix),
            Purge::Tag(tag) => match tags {
                Tags::All(tags) => tags.iter().any(|own| **own == **tag),
                Tags::Unknown => true,
            },
        }
    }
}

/// Short form of a purge: it affects the pages that the purge affects, and seldom more. Names are stored as their hashes.
#[derive(Debug)]
struct PurgeDigest {
    number: u64,
    meant: PurgeScope,
}

#[derive(Debug)]
enum PurgeScope {
    All,
    Url(u64),
    Tag(u64),
    Prefix(Box<str>),
}

/// Key, names and tags of a page, as purges compare them.
struct PageMarks<'p> {
    key: &'p str,
    names: [u64; 4],
    /// `None` if not all are known.
    tags: Option<Vec<u64>>,
}

impl PurgeDigest {
    fn means(&self, page: &PageMarks<'_>) -> bool {
        match &self.meant {
            PurgeScope::All => true,
            PurgeScope::Url(url) => page.names.contains(url),
            PurgeScope::Tag(tag) => page.tags.as_ref().is_none_or(|tags| tags.contains(tag)),
            PurgeScope::Prefix(prefix) => begins(page.key, prefix),
        }
    }
}

/// See the module's text.
#[derive(Default)]
pub(crate) struct Log {
    /// Number of the latest purge.
    number: Cell<u64>,
    purges: RefCell<VecDeque<PurgeDigest>>,
    hashes: RandomState,
    /// Latest purge that was forgotten although a render or walk may ask for it.
    forgotten: Cell<u64>,
    /// Number of values of [`Since`] by the purge after which they began.
    asked: RefCell<BTreeMap<u64, u32>>,
}

impl Log {
    pub(crate) fn add(&self, purge: Purge, is_soft: bool, at: Moment) -> Rc<PurgeEntry> {
        let number = self.number.get() + 1;
        self.number.set(number);
        if !self.asked.borrow().is_empty() {
            let mut purges = self.purges.borrow_mut();
            purges.push_back(PurgeDigest { number, meant: self.meant(&purge) });
            if purges.len() > PURGES_MAX
                && let Some(oldest) = purges.pop_front()
            {
                self.forgotten.set(oldest.number);
            }
        }
        Rc::new(PurgeEntry { number, purge, is_soft, at })
    }

    fn meant(&self, purge: &Purge) -> PurgeScope {
        match purge {
            Purge::All => PurgeScope::All,
            Purge::Url(url) => PurgeScope::Url(self.hashes.hash_one(url.as_str())),
            Purge::Tag(tag) => PurgeScope::Tag(self.hashes.hash_one(tag.as_str())),
            Purge::Prefix(prefix) => PurgeScope::Prefix(coarse(prefix).into()),
        }
    }

    fn seen<'p>(&self, key: &'p str, tags: Tags<'_>) -> PageMarks<'p> {
        let tags = match tags {
            Tags::All(tags) => Some(tags.iter().map(|tag| self.hashes.hash_one(&**tag)).collect()),
            Tags::Unknown => None,
        };
        PageMarks { key, names: names_of(key).map(|name| self.hashes.hash_one(name)), tags }
    }

    /// Begins to remember purges, for as long as the value lives.
    pub(crate) fn since_now(self: &Rc<Self>) -> Since {
        *self.asked.borrow_mut().entry(self.number.get()).or_default() += 1;
        Since { log: Rc::clone(self), number: self.number.get() }
    }
}

/// Mark of a time, after the purge of this number and before the next.
pub(crate) struct Since {
    log: Rc<Log>,
    pub(crate) number: u64,
}

impl Since {
    /// Whether a purge since then affects a page.
    pub(crate) fn is_purged(&self, key: &str, tags: Tags<'_>) -> bool {
        self.is_purged_until(u64::MAX, key, tags)
    }

    /// Whether a purge since then and up to this number affects a page.
    pub(crate) fn is_purged_until(&self, last: u64, key: &str, tags: Tags<'_>) -> bool {
        if self.log.number.get() <= self.number || last <= self.number {
            return false;
        }
        if self.number < self.log.forgotten.get() {
            return true;
        }
        let purges = self.log.purges.borrow();
        let recent = purges.iter().rev().take_while(|purged| purged.number > self.number);
        let page = self.log.seen(key, tags);
        recent.filter(|purged| purged.number <= last).any(|purged| purged.means(&page))
    }
}

impl Drop for Since {
    fn drop(&mut self) {
        let mut asked = self.log.asked.borrow_mut();
        if let Some(count) = asked.get_mut(&self.number) {
            *count -= 1;
            if *count == 0 {
                asked.remove(&self.number);
            }
        }
        // What nobody can ask for any more.
        let mut purges = self.log.purges.borrow_mut();
        match asked.keys().next() {
            Some(first) => {
                while purges.front().is_some_and(|purged| purged.number <= *first) {
                    purges.pop_front();
                }
            }
            None => *purges = VecDeque::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(name: &str) -> Purge {
        Purge::Tag(name.to_owned())
    }

    fn meant(key: &str, purge: Purge) -> bool {
        let log = Rc::new(Log::default());
        let since = log.since_now();
        log.add(purge, false, Moment::default());
        since.is_purged(key, Tags::All(&["a".into()]))
    }

    #[test]
    fn what_is_remembered_means_what_the_purge_means() {
        let key = "https://a.test/p?q=1 b.test";
        for url in [key, "https://a.test/p?q=1", "/p?q=1", "/p?q=1 b.test"] {
            assert!(is_page(key, url) && meant(key, Purge::Url(url.to_owned())), "{url}");
        }
        for url in ["https://a.test/p", "/p", "https://b.test/p?q=1", "/p?q=1 c.test", ""] {
            assert!(!is_page(key, url) && !meant(key, Purge::Url(url.to_owned())), "{url}");
        }
        assert!(meant(key, tag("a")) && !meant(key, tag("b")) && meant(key, Purge::All));
        assert!(meant(key, Purge::Prefix("/p".to_owned())) && !meant(key, Purge::Prefix("/q".to_owned())));
        let long = format!("/{}", "é".repeat(4000));
        assert!(meant(&format!("https://a.test{long}"), Purge::Prefix(long.clone())));
        assert!(meant(&format!("https://a.test{long}"), Purge::Url(long)));
    }

    #[test]
    fn i6_remembered_purges_use_little_memory_even_with_long_names() {
        let log = Rc::new(Log::default());
        let since = log.since_now();
        for at in 0..2 * PURGES_MAX {
            let long = format!("https://a.test/{at}/{}", "x".repeat(4000));
            log.add(if at % 2 == 0 { Purge::Url(long) } else { Purge::Prefix(long) }, false, Moment::default());
        }
        let bytes = |one: &PurgeDigest| {
            size_of::<PurgeDigest>() + if let PurgeScope::Prefix(prefix) = &one.meant { prefix.len() } else { 0 }
        };
        let bytes: usize = log.purges.borrow().iter().map(bytes).sum();
        assert!(bytes < 2 << 20, "{bytes}");
        assert!(since.is_purged("k", Tags::All(&[])), "whoever began before those that are forgotten is old");
    }

    #[test]
    fn a_render_is_old_by_the_purges_since_it_began_that_mean_its_page() {
        let log = Rc::new(Log::default());
        log.add(Purge::All, false, Moment::default());
        let since = log.since_now();
        let tags: [Box<str>; 1] = ["a".into()];
        assert!(!since.is_purged("k", Tags::Unknown));
        log.add(tag("b"), false, Moment::default());
        assert!(!since.is_purged("k", Tags::All(&tags)), "another's tag");
        assert!(since.is_purged("k", Tags::Unknown), "it may have that tag");
        let joined = log.since_now().number;
        log.add(tag("a"), true, Moment::default());
        assert!(since.is_purged("k", Tags::All(&tags)));
        assert!(!since.is_purged_until(joined, "k", Tags::All(&tags)), "who came before it may have the old one");
        assert_eq!(log.purges.borrow().len(), 2);
    }

    #[test]
    fn purges_are_remembered_for_who_is_under_way_and_not_without_end() {
        let log = Rc::new(Log::default());
        let (first, second) = (log.since_now(), log.since_now());
        log.add(tag("a"), false, Moment::default());
        let later = log.since_now();
        drop(first);
        assert_eq!(log.purges.borrow().len(), 1);
        drop(second);
        assert!(log.purges.borrow().is_empty(), "nobody asks for it");
        for _ in 0..=PURGES_MAX {
            log.add(tag("b"), false, Moment::default());
        }
        assert_eq!(log.purges.borrow().len(), PURGES_MAX);
        assert!(later.is_purged("k", Tags::All(&[])), "one is forgotten");
        drop(later);
        assert!(log.purges.borrow().is_empty() && log.asked.borrow().is_empty());
        let since = log.since_now();
        assert!(!since.is_purged("k", Tags::Unknown));
    }
}
