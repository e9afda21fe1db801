//! Purges of late, each with a number. Renders that are under way, pages that come from another gateway and walks through the
//! pages ask whether a purge since their beginning means what they have. It must not know how pages are kept.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use sluice_cache::{Moment, begins, is_page};
use sluice_catalog::snapshot::Purge;

/// Purges that are remembered for who is under way. Whoever began before them counts as meant by what is forgotten.
const PURGES_MAX: usize = 10_000;

/// One purge.
#[derive(Debug)]
pub(super) struct Purged {
    pub(super) number: u64,
    pub(super) purge: Purge,
    pub(super) is_soft: bool,
    pub(super) at: Moment,
}

/// What is known of a page's tags.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tags<'t> {
    /// All of them.
    All(&'t [Box<str>]),
    /// Nothing, or not all: it may have any.
    Unknown,
}

impl Purged {
    pub(super) fn means(&self, key: &str, tags: Tags<'_>) -> bool {
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

/// See the module's text.
#[derive(Default)]
pub(super) struct Log {
    /// The latest purge.
    number: Cell<u64>,
    purges: RefCell<VecDeque<Rc<Purged>>>,
    /// The latest that is not remembered although somebody may ask.
    forgotten: Cell<u64>,
    /// Since when somebody may ask, with how many.
    asked: RefCell<BTreeMap<u64, u32>>,
}

impl Log {
    pub(super) fn add(&self, purge: Purge, is_soft: bool, at: Moment) -> Rc<Purged> {
        let number = self.number.get() + 1;
        self.number.set(number);
        let purged = Rc::new(Purged { number, purge, is_soft, at });
        if !self.asked.borrow().is_empty() {
            let mut purges = self.purges.borrow_mut();
            purges.push_back(Rc::clone(&purged));
            if purges.len() > PURGES_MAX
                && let Some(oldest) = purges.pop_front()
            {
                self.forgotten.set(oldest.number);
            }
        }
        purged
    }

    /// The number of the latest purge.
    pub(super) fn latest(&self) -> u64 {
        self.number.get()
    }

    /// Begins to remember, for as long as the value lives.
    pub(super) fn since_now(self: &Rc<Self>) -> Since {
        *self.asked.borrow_mut().entry(self.number.get()).or_default() += 1;
        Since { log: Rc::clone(self), number: self.number.get() }
    }
}

/// Something that began after the purge of this number and before the next.
pub(super) struct Since {
    log: Rc<Log>,
    pub(super) number: u64,
}

impl Since {
    /// Whether a purge since then means a page.
    pub(super) fn is_purged(&self, key: &str, tags: Tags<'_>) -> bool {
        self.is_purged_until(u64::MAX, key, tags)
    }

    /// Whether one since then and up to this number does.
    pub(super) fn is_purged_until(&self, last: u64, key: &str, tags: Tags<'_>) -> bool {
        if self.log.number.get() <= self.number || last <= self.number {
            return false;
        }
        if self.number < self.log.forgotten.get() {
            return true;
        }
        let purges = self.log.purges.borrow();
        let recent = purges.iter().rev().take_while(|purged| purged.number > self.number);
        recent.filter(|purged| purged.number <= last).any(|purged| purged.means(key, tags))
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
