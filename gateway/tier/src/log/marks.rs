//! The latest purge of each thing that was purged.

use std::collections::HashMap;

use sluice_cache::{begins, site_of};

use super::entry::{Entry, Id, Kind};
use super::{KEPT_MAX, Verdict};

/// URLs and tags that are remembered. Where there are more, the older half is forgotten, and with it that pages from before may be
/// used.
const NAMED_MAX: usize = 10 * KEPT_MAX;
/// Prefixes that are remembered, each of which is compared with each page that is looked up.
const PREFIXES_MAX: usize = 1_000;

#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    hard: Id,
    soft: Id,
}

impl Mark {
    fn note(&mut self, id: Id, is_soft: bool) {
        let place = if is_soft { &mut self.soft } else { &mut self.hard };
        *place = id.max(*place);
    }

    fn latest(self) -> Id {
        self.hard.max(self.soft)
    }

    fn judge(self, stored: Id) -> Verdict {
        if self.hard > stored {
            Verdict::Purged
        } else if self.soft > stored {
            Verdict::Stale
        } else {
            Verdict::Valid
        }
    }
}

#[derive(Default)]
pub(super) struct Marks {
    /// Nothing is known of what was before.
    floor: Id,
    all: Mark,
    urls: HashMap<Box<str>, Mark>,
    tags: HashMap<Box<str>, Mark>,
    prefixes: HashMap<Box<str>, Mark>,
}

impl Marks {
    pub(super) fn beginning_at(first: Id) -> Self {
        Marks { floor: first, ..Marks::default() }
    }

    /// Takes an entry, perhaps again.
    pub(super) fn note(&mut self, entry: &Entry) {
        let (id, is_soft) = (entry.id, entry.is_soft);
        match &entry.kind {
            Kind::Begin | Kind::Clock => self.all.note(id, false),
            Kind::All => self.all.note(id, is_soft),
            Kind::Url(url) => note(&mut self.urls, url, id, is_soft),
            Kind::Tag(tag) => note(&mut self.tags, tag, id, is_soft),
            Kind::Prefix(prefix) => note(&mut self.prefixes, prefix, id, is_soft),
        }
        for (marks, max) in
            [(&mut self.urls, NAMED_MAX), (&mut self.tags, NAMED_MAX), (&mut self.prefixes, PREFIXES_MAX)]
        {
            if marks.len() > max {
                self.floor = self.floor.max(forget_half(marks));
            }
        }
    }

    pub(super) fn judge(&self, stored: Id, url: &str, tags: &[Box<str>]) -> Verdict {
        if stored < self.floor {
            return Verdict::Purged;
        }
        let prefixes = self.prefixes.iter().filter(|(prefix, _)| begins(url, prefix)).map(|(_, mark)| mark);
        let urls = names_of(url).into_iter().filter_map(|name| self.urls.get(name));
        let named = tags.iter().filter_map(|tag| self.tags.get(tag)).chain(urls);
        let marks = named.chain(prefixes).chain([&self.all]);
        marks.map(|mark| mark.judge(stored)).max().unwrap_or(Verdict::Valid)
    }
}

/// All that [`sluice_cache::is_page`] takes for the page's: it, and its path on all hosts, with and without the host that a proxy asks for.
fn names_of(url: &str) -> [&str; 4] {
    let page = url.split(' ').next().unwrap_or_default();
    let path = |of: &'_ str| site_of(of).len();
    [url, page, &url[path(url)..], &page[path(page)..]]
}

fn note(marks: &mut HashMap<Box<str>, Mark>, name: &str, id: Id, is_soft: bool) {
    if let Some(mark) = marks.get_mut(name) {
        return mark.note(id, is_soft);
    }
    let mut mark = Mark::default();
    mark.note(id, is_soft);
    marks.insert(name.into(), mark);
}

/// Returns the latest that was forgotten.
fn forget_half(marks: &mut HashMap<Box<str>, Mark>) -> Id {
    let mut ids: Vec<_> = marks.values().map(|mark| mark.latest()).collect();
    let middle = ids.len() / 2;
    let (_, latest, _) = ids.select_nth_unstable(middle);
    let latest = *latest;
    marks.retain(|_, mark| mark.latest() > latest);
    latest
}
