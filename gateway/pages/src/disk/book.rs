//! Places of pages in the log. It is made from the log and is nowhere else; it must not know files.

use std::collections::HashMap;
use std::rc::Rc;

use sluice_cache::Index;
use sluice_catalog::snapshot::Purge;

use super::record::{PageMeta, PurgeMeta};

/// Maximum number of variants of one page. Further ones take the place of the oldest.
const VARIANTS_MAX: usize = 16;
/// Approximate bytes of a page in the book besides its key and its tags.
const PAGE_BYTES: usize = 300;
/// Approximate bytes of a tag besides its name.
const TAG_BYTES: usize = 64;
/// Pages that a purge handles before it pauses for other work.
const STEP: usize = 256;

/// Place of a page's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BodyExtent {
    pub(super) segment: u64,
    pub(super) at: u64,
    pub(super) len: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) place: BodyExtent,
    tags: Vec<Box<str>>,
    variant: u32,
    /// Time at which it was made stale, by [`crate::clock_ms`].
    pub(super) softened_ms: Option<u64>,
}

/// See the module's text.
#[derive(Default)]
pub(super) struct Book {
    /// The latest variant first.
    pages: HashMap<Rc<str>, Vec<Entry>>,
    index: Index,
    segments: HashMap<u64, Contents>,
    /// Bytes of all segments in the book.
    bytes: usize,
}

/// Everything that was ever put into a segment.
#[derive(Default)]
struct Contents {
    keys: Vec<Rc<str>>,
    /// Part of that which is left.
    live: usize,
    bytes: usize,
}

impl Book {
    pub(super) fn len(&self) -> usize {
        self.pages.len()
    }

    /// The variants of a page, the latest first.
    pub(super) fn variants(&self, key: &str) -> &[Entry] {
        self.pages.get(key).map_or(&[], Vec::as_slice)
    }

    /// Pages of a segment that are still of use.
    pub(super) fn live(&self, segment: u64) -> usize {
        self.segments.get(&segment).map_or(0, |contents| contents.live)
    }

    /// Memory that it takes, about. Pages that went before their segment count until that goes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn put(&mut self, meta: PageMeta, place: BodyExtent) {
        let PageMeta { key, tags, variant } = meta;
        let bytes = PAGE_BYTES + key.len() + tags.iter().map(|tag| tag.len() + TAG_BYTES).sum::<usize>();
        let key: Rc<str> = key.into();
        let mut entries = self.pages.get(&key).cloned().unwrap_or_default();
        entries.retain(|entry| entry.variant != variant);
        entries.insert(0, Entry { place, tags, variant, softened_ms: None });
        entries.truncate(VARIANTS_MAX);
        let contents = self.segments.entry(place.segment).or_default();
        contents.keys.push(Rc::clone(&key));
        contents.bytes += bytes;
        self.bytes += bytes;
        // It is counted here, and what is not there any more below.
        contents.live += 1;
        self.replace(&key, entries, Some(place));
    }

    /// Puts these in the place of what there is of a page. `new` is counted already.
    fn replace(&mut self, key: &Rc<str>, entries: Vec<Entry>, new: Option<BodyExtent>) {
        let old = self.pages.remove(key).unwrap_or_default();
        self.index.remove(key, old.iter().flat_map(|entry| &entry.tags));
        for entry in &old {
            if !entries.iter().any(|other| other.place == entry.place)
                && let Some(contents) = self.segments.get_mut(&entry.place.segment)
            {
                contents.live -= 1;
            }
        }
        debug_assert!(new.is_none_or(|new| entries.iter().any(|entry| entry.place == new)));
        if !entries.is_empty() {
            self.index.add(key, entries.iter().flat_map(|entry| &entry.tags));
            self.pages.insert(Rc::clone(key), entries);
        }
    }

    /// Leaves out one that cannot be read.
    pub(super) fn forget(&mut self, key: &str, place: BodyExtent) {
        let entries = self.variants(key).iter().filter(|entry| entry.place != place).cloned().collect();
        self.replace(&key.into(), entries, None);
    }

    /// Leaves out what stands in a segment.
    pub(super) fn forget_segment(&mut self, segment: u64) {
        let contents = self.segments.remove(&segment).unwrap_or_default();
        self.bytes -= contents.bytes;
        for key in contents.keys {
            let entries = self.variants(&key).iter().filter(|entry| entry.place.segment != segment).cloned().collect();
            self.replace(&key, entries, None);
        }
    }

    /// Pages that a purge means.
    pub(super) fn meant(&self, purge: &Purge) -> Vec<Rc<str>> {
        let (mut walk, mut all) = (self.index.walk(purge), Vec::new());
        loop {
            let keys = self.index.next(&mut walk, STEP);
            let is_over = keys.len() < STEP;
            all.extend(keys);
            if is_over {
                return all;
            }
        }
    }

    /// Carries a purge out on these pages.
    pub(super) fn purge(&mut self, purged: &PurgeMeta, keys: &[Rc<str>]) {
        for key in keys {
            let mut entries = self.variants(key).to_vec();
            let is_meant = |entry: &Entry| match &purged.purge {
                Purge::Tag(tag) => entry.tags.iter().any(|own| **own == **tag),
                Purge::All | Purge::Url(_) | Purge::Prefix(_) => true,
            };
            if purged.is_soft {
                for entry in entries.iter_mut().filter(|entry| is_meant(entry)) {
                    // What is stale already stays so since then.
                    entry.softened_ms.get_or_insert(purged.clock_ms);
                }
            } else {
                entries.retain(|entry| !is_meant(entry));
            }
            self.replace(key, entries, None);
        }
    }
}
