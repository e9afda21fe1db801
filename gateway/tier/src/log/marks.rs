//! The latest purge of each thing that was purged. URLs and tags go by their hashes, so that long ones take no more memory than others; two
//! with one hash are purged together.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash, RandomState};

use sluice_cache::{begins, coarse, names_of};

use super::entry::{Entry, Id, Kind};
use super::{KEPT_MAX, Verdict};

/// Maximum number of remembered URLs and tags. Where there are more, the older half is forgotten, and with it that
/// pages from before may be used.
const NAMED_MAX: usize = 10 * KEPT_MAX;
/// Maximum number of remembered prefixes, each of which is compared with each page in a look-up.
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
    urls: HashMap<u64, Mark>,
    tags: HashMap<u64, Mark>,
    prefixes: HashMap<Box<str>, Mark>,
    hashes: RandomState,
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
            Kind::Url(url) => note(&mut self.urls, self.hashes.hash_one(&**url), id, is_soft),
            Kind::Tag(tag) => note(&mut self.tags, self.hashes.hash_one(&**tag), id, is_soft),
            Kind::Prefix(prefix) => note(&mut self.prefixes, coarse(prefix).into(), id, is_soft),
        }
        let forgotten = [
            forget_above(&mut self.urls, NAMED_MAX),
            forget_above(&mut self.tags, NAMED_MAX),
            forget_above(&mut self.prefixes, PREFIXES_MAX),
        ];
        self.floor = forgotten.into_iter().flatten().fold(self.floor, Id::max);
    }

    pub(super) fn judge(&self, stored: Id, url: &str, tags: &[Box<str>]) -> Verdict {
        if stored < self.floor {
            return Verdict::Purged;
        }
        let prefixes = self.prefixes.iter().filter(|(prefix, _)| begins(url, prefix)).map(|(_, mark)| mark);
        let urls = names_of(url).into_iter().filter_map(|name| self.urls.get(&self.hashes.hash_one(name)));
        let named = tags.iter().filter_map(|tag| self.tags.get(&self.hashes.hash_one(&**tag))).chain(urls);
        let marks = named.chain(prefixes).chain([&self.all]);
        marks.map(|mark| mark.judge(stored)).max().unwrap_or(Verdict::Valid)
    }
}

fn note<K: Eq + Hash>(marks: &mut HashMap<K, Mark>, name: K, id: Id, is_soft: bool) {
    marks.entry(name).or_default().note(id, is_soft);
}

/// Forgets the older half where there are more than so many. Returns the latest that was forgotten.
fn forget_above<K: Eq + Hash>(marks: &mut HashMap<K, Mark>, max: usize) -> Option<Id> {
    if marks.len() <= max {
        return None;
    }
    let mut ids: Vec<_> = marks.values().map(|mark| mark.latest()).collect();
    let middle = ids.len() / 2;
    let (_, latest, _) = ids.select_nth_unstable(middle);
    let latest = *latest;
    marks.retain(|_, mark| mark.latest() > latest);
    Some(latest)
}
