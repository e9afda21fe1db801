//! Index of stored pages by URL and tag, so that a purge looks at those that it means and at no others. It must not know what a page
//! is.

use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;
use std::rc::Rc;

use sluice_catalog::snapshot::Purge;

use crate::key::{begins, is_page, is_path, site_of};

/// Keys of pages in their order, and by tag.
#[derive(Debug, Default)]
pub struct Index {
    keys: BTreeSet<Rc<str>>,
    by_tag: HashMap<Box<str>, BTreeSet<Rc<str>>>,
}

/// Progress of a walk through the pages that a purge means.
#[derive(Debug)]
pub enum Walk {
    /// Walk through the pages with this tag.
    Tag {
        /// The tag.
        tag: Box<str>,
        /// The latest page.
        after: Option<Rc<str>>,
    },
    /// Walk through the pages whose keys begin so, on each of these sites.
    Keys {
        /// Schemes and hosts that are still to come.
        sites: Vec<String>,
        /// Part of a key's beginning that follows the site.
        target: String,
        /// The target is a page and not a prefix.
        is_whole: bool,
        /// The latest page.
        after: Option<Rc<str>>,
    },
}

impl Index {
    /// Adds a page with its tags.
    pub fn add<'t>(&mut self, key: &Rc<str>, tags: impl Iterator<Item = &'t Box<str>>) {
        self.keys.insert(Rc::clone(key));
        for tag in tags {
            if let Some(keys) = self.by_tag.get_mut(tag) {
                keys.insert(Rc::clone(key));
            } else {
                self.by_tag.insert(tag.clone(), BTreeSet::from([Rc::clone(key)]));
            }
        }
    }

    /// Removes a page that was added with these tags.
    pub fn remove<'t>(&mut self, key: &str, tags: impl Iterator<Item = &'t Box<str>>) {
        self.keys.remove(key);
        for tag in tags {
            if let Some(keys) = self.by_tag.get_mut(tag) {
                keys.remove(key);
                if keys.is_empty() {
                    self.by_tag.remove(tag);
                }
            }
        }
    }

    /// A walk through what the purge means.
    pub fn walk(&self, purge: &Purge) -> Walk {
        let (url, is_whole) = match purge {
            Purge::Tag(tag) => return Walk::Tag { tag: tag.as_str().into(), after: None },
            Purge::All => ("", false),
            Purge::Prefix(prefix) => (prefix.as_str(), false),
            Purge::Url(url) => (url.as_str(), true),
        };
        let sites = if is_path(url) { self.sites() } else { vec![String::new()] };
        Walk::Keys { sites, target: url.to_owned(), is_whole, after: None }
    }

    /// Schemes and hosts that there are pages of, found by leaps.
    fn sites(&self) -> Vec<String> {
        let mut sites = Vec::new();
        let mut next = self.keys.first();
        while let Some(key) = next {
            let site = site_of(key).to_owned();
            // Behind a host comes a slash, and `0` comes behind that.
            let behind = format!("{site}0");
            sites.push(site);
            next = self.keys.range::<str, _>((Bound::Included(behind.as_str()), Bound::Unbounded)).next();
        }
        sites
    }

    /// The next of the walk, `count_max` of them at most; none when it is over. What was added meanwhile may be left out.
    pub fn next(&self, walk: &mut Walk, count_max: usize) -> Vec<Rc<str>> {
        match walk {
            Walk::Tag { tag, after } => {
                let Some(keys) = self.by_tag.get(tag) else { return Vec::new() };
                let found: Vec<_> = from(keys, after.as_deref(), "").take(count_max).cloned().collect();
                *after = found.last().cloned();
                found
            }
            Walk::Keys { sites, target, is_whole, after } => {
                let mut found = Vec::new();
                while let Some(site) = sites.last() {
                    let begin = format!("{site}{target}");
                    let of_site = from(&self.keys, after.as_deref(), &begin).take_while(|key| key.starts_with(&begin));
                    let room = count_max - found.len();
                    if *is_whole {
                        // The page itself comes first, then those of it behind proxies, of which there are few.
                        let pages = of_site.take_while(|key| key.len() == begin.len() || !is_beyond(key, &begin));
                        found.extend(pages.filter(|key| is_page(key, &begin)).take(room).cloned());
                    } else {
                        found.extend(of_site.filter(|key| begins(key, &begin)).take(room).cloned());
                    }
                    if found.len() == count_max {
                        *after = found.last().cloned();
                        return found;
                    }
                    *after = None;
                    sites.pop();
                }
                found
            }
        }
    }
}

/// Whether a key that begins with a URL comes behind all those of its page: a space is the lowest of what may follow.
fn is_beyond(key: &str, url: &str) -> bool {
    key.as_bytes().get(url.len()).is_some_and(|byte| *byte > b' ')
}

/// Keys behind this one, or from where they begin so.
fn from<'k>(keys: &'k BTreeSet<Rc<str>>, after: Option<&'k str>, begin: &'k str) -> impl Iterator<Item = &'k Rc<str>> {
    let bound = after.map_or(Bound::Included(begin), Bound::Excluded);
    keys.range::<str, _>((bound, Bound::Unbounded))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(pages: &[(&str, &[&str])]) -> Index {
        let mut index = Index::default();
        for (key, tags) in pages {
            let tags: Vec<Box<str>> = tags.iter().map(|tag| Box::from(*tag)).collect();
            index.add(&Rc::from(*key), tags.iter());
        }
        index
    }

    /// Pages of the next step of a walk, so many at a time.
    fn walked(index: &Index, purge: &Purge, step: usize) -> Vec<String> {
        let (mut walk, mut all) = (index.walk(purge), Vec::new());
        loop {
            let found = index.next(&mut walk, step);
            all.extend(found.iter().map(ToString::to_string));
            if found.len() < step {
                all.sort();
                return all;
            }
        }
    }

    #[test]
    fn a_walk_comes_to_each_page_that_is_meant_and_to_no_other_however_long_its_steps_are() {
        let pages: [(&str, &[&str]); 7] = [
            ("http://a.test/p", &["one"]),
            ("http://a.test/p?q", &["one", "two"]),
            ("http://a.test/p 10.0.0.1", &[]),
            ("http://a.test/p/q", &["two"]),
            ("https://a.test/p", &["one"]),
            ("https://b.test/", &[]),
            ("https://b.test/pp", &["one"]),
        ];
        let index = index(&pages);
        for (purge, expected) in [
            (Purge::All, vec![0, 1, 2, 3, 4, 5, 6]),
            (Purge::Tag("one".to_owned()), vec![0, 1, 4, 6]),
            (Purge::Tag("none".to_owned()), vec![]),
            (Purge::Url("http://a.test/p".to_owned()), vec![0, 2]),
            (Purge::Url("/p".to_owned()), vec![0, 2, 4]),
            (Purge::Url("/".to_owned()), vec![5]),
            (Purge::Prefix("http://a.test/p".to_owned()), vec![0, 1, 2, 3]),
            (Purge::Prefix("/p/".to_owned()), vec![3]),
            (Purge::Prefix("/p".to_owned()), vec![0, 1, 2, 3, 4, 6]),
        ] {
            let mut expected: Vec<_> = expected.into_iter().map(|at: usize| pages[at].0.to_owned()).collect();
            expected.sort();
            for step in [1, 2, 3, 100] {
                assert_eq!(walked(&index, &purge, step), expected, "{purge:?} by {step}");
            }
        }
    }

    #[test]
    fn what_is_removed_is_found_no_more_and_leaves_nothing() {
        let mut index = index(&[("http://a.test/", &["one"]), ("http://b.test/", &["one", "two"])]);
        let tags = [Box::from("one"), Box::from("two")];
        index.remove("http://b.test/", tags.iter());
        assert_eq!(walked(&index, &Purge::Tag("one".to_owned()), 9), ["http://a.test/"]);
        index.remove("http://a.test/", tags.iter());
        assert!(index.keys.is_empty() && index.by_tag.is_empty());
    }
}
