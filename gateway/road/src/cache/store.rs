//! Pages in memory by their key, each with its variants.

use std::cell::RefCell;
use std::rc::Rc;

use quick_cache::unsync::Cache;
use quick_cache::{DefaultHashBuilder, Lifecycle, Weighter};
use sluice_cache::{Dimensions, Index, Policy, Walk};
use sluice_catalog::snapshot::Purge;
use sluice_message::{Fields, ResponseHead};

use super::log::{PurgeEntry, Tags};
use crate::respond::compress::KeptBody;

/// Maximum number of variants of one page. Further ones replace the oldest.
const VARIANTS_MAX: usize = 16;
/// Estimated bytes of a variant besides its head and body.
const OVERHEAD_BYTES: usize = 600;
/// Estimated bytes of a tag in the index.
const TAG_BYTES: usize = 64;
/// Size of a usual page in bytes, from which the number of places is estimated.
const USUAL_BYTES: usize = 16 * 1024;
/// Pages that a purge examines before requests have their turn.
pub(crate) const SLICE: usize = 256;

/// A complete answer.
pub(crate) struct Object {
    /// Response head as it is sent, without `Age`.
    pub(crate) head: ResponseHead,
    pub(crate) body: Rc<KeptBody>,
    pub(crate) policy: RefCell<Policy>,
    pub(crate) tags: Vec<Box<str>>,
    /// Number of the latest purge before its render began.
    pub(crate) born: u64,
}

impl Object {
    fn bytes(&self) -> usize {
        let fields: usize = self.head.fields.iter().map(|(name, value)| name.len() + value.len() + 48).sum();
        let tags: usize = self.tags.iter().map(|tag| tag.len() + TAG_BYTES).sum();
        self.body.bytes() + fields + tags + self.policy.borrow().dimensions.bytes() + OVERHEAD_BYTES
    }

    fn is_meant_by(&self, purged: &PurgeEntry, key: &str) -> bool {
        self.born < purged.number && purged.means(key, Tags::All(&self.tags))
    }
}

/// Variants of a page, the latest first. It is replaced as a whole, because its weight must not change.
struct Page {
    variants: Vec<Rc<Object>>,
    bytes: u64,
}

impl Page {
    fn of(variants: Vec<Rc<Object>>) -> Self {
        let bytes = variants.iter().map(|object| object.bytes() as u64).sum();
        Page { variants, bytes }
    }

    fn tags(&self) -> impl Iterator<Item = &Box<str>> {
        self.variants.iter().flat_map(|object| &object.tags)
    }
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<Rc<str>, Page> for ByBytes {
    fn weight(&self, key: &Rc<str>, page: &Page) -> u64 {
        page.bytes + key.len() as u64
    }
}

/// Collects the pages that were evicted.
struct Evictions;

impl Lifecycle<Rc<str>, Page> for Evictions {
    type RequestState = Vec<(Rc<str>, Page)>;

    fn on_evict(&self, evicted: &mut Self::RequestState, key: Rc<str>, page: Page) {
        evicted.push((key, page));
    }
}

pub(crate) struct Store {
    pages: Cache<Rc<str>, Page, ByBytes, DefaultHashBuilder, Evictions>,
    index: Index,
    /// Purges that have not reached all pages yet.
    sweeping: Vec<Rc<PurgeEntry>>,
}

impl Store {
    pub(crate) fn new(bytes_max: usize) -> Self {
        let places = (bytes_max / USUAL_BYTES).max(64);
        let pages = Cache::with(places, bytes_max as u64, ByBytes, DefaultHashBuilder::default(), Evictions);
        Store { pages, index: Index::default(), sweeping: Vec::new() }
    }

    /// Variant for a request with these fields.
    pub(crate) fn find(&self, key: &str, request: &Fields) -> Option<Rc<Object>> {
        let page = self.pages.get(key)?;
        let is_found = |object: &&Rc<Object>| object.policy.borrow().is_for(request) && self.is_left(key, object);
        page.variants.iter().find(is_found).cloned()
    }

    /// Dimensions on which the latest variant of a page depends.
    pub(crate) fn dimensions(&self, key: &str) -> Option<Dimensions> {
        let latest = self.pages.get(key)?.variants.first()?;
        Some(latest.policy.borrow().dimensions.clone())
    }

    /// All variants of a page.
    pub(crate) fn variants(&self, key: &str) -> Vec<Rc<Object>> {
        let Some(page) = self.pages.peek(key) else { return Vec::new() };
        page.variants.iter().filter(|object| self.is_left(key, object)).cloned().collect()
    }

    /// Whether no unfinished purge affects the page. A soft one is carried out here.
    fn is_left(&self, key: &str, object: &Object) -> bool {
        self.sweeping.iter().filter(|purged| object.is_meant_by(purged, key)).all(|purged| {
            object.policy.borrow_mut().expire(purged.at);
            purged.is_soft
        })
    }

    /// Stores a variant, and replaces the one for the same requests.
    pub(crate) fn put(&mut self, key: &str, request: &Fields, object: Rc<Object>) {
        let others = self.variants(key).into_iter().filter(|other| !other.policy.borrow().is_for(request));
        let variants = std::iter::once(object).chain(others).take(VARIANTS_MAX).collect();
        self.replace(key, variants);
    }

    fn replace(&mut self, key: &str, variants: Vec<Rc<Object>>) {
        if let Some(page) = self.pages.peek(key) {
            self.index.remove(key, page.tags());
        }
        let key: Rc<str> = key.into();
        let mut evicted = Vec::new();
        self.pages.insert_with_lifecycle(Rc::clone(&key), Page::of(variants), &mut evicted);
        for (other, page) in evicted.iter().filter(|(other, _)| *other != key) {
            self.index.remove(other, page.tags());
        }
        // One that is too large for the memory is not there.
        if let Some(page) = self.pages.peek(&key) {
            self.index.add(&key, page.tags());
        }
    }

    pub(crate) fn remove(&mut self, key: &str) -> usize {
        let Some((_, page)) = self.pages.remove(key) else { return 0 };
        self.index.remove(key, page.tags());
        page.variants.len()
    }

    /// Removes one variant of a page.
    pub(crate) fn remove_variant(&mut self, key: &str, object: &Rc<Object>) {
        let (meant, others): (Vec<_>, Vec<_>) =
            self.variants(key).into_iter().partition(|other| Rc::ptr_eq(other, object));
        if others.is_empty() {
            self.remove(key);
        } else if !meant.is_empty() {
            self.replace(key, others);
        }
    }

    /// Variants of pages that a purge would affect, of a limited number of pages.
    pub(crate) fn meant_by(&self, purge: &Purge, pages_max: usize) -> Vec<Rc<Object>> {
        let keys = self.index.next(&mut self.index.walk(purge), pages_max);
        keys.iter().flat_map(|key| self.variants(key)).collect()
    }

    // Walks through many pages, in slices.

    /// Begins to carry the purge out. Until [`Store::swept`] is called, affected pages that it has not reached yet are not found either.
    pub(crate) fn begin_sweep(&mut self, purged: &Rc<PurgeEntry>) -> Walk {
        self.sweeping.push(Rc::clone(purged));
        self.index.walk(&purged.purge)
    }

    /// Ends a purge that has reached all pages.
    pub(crate) fn swept(&mut self, purged: &Rc<PurgeEntry>) {
        self.sweeping.retain(|other| !Rc::ptr_eq(other, purged));
    }

    /// Carries the purge out on the next pages. Returns the number of affected variants, and whether these were the last pages.
    pub(crate) fn sweep(&mut self, walk: &mut Walk, purged: &PurgeEntry) -> (u64, bool) {
        let keys = self.index.next(walk, SLICE);
        let is_over = keys.len() < SLICE;
        let mut count = 0;
        for key in keys {
            let Some(page) = self.pages.peek(&key) else { continue };
            let (meant, others): (Vec<_>, Vec<_>) =
                page.variants.iter().cloned().partition(|object| object.is_meant_by(purged, &key));
            count += meant.len() as u64;
            if purged.is_soft {
                for object in meant {
                    object.policy.borrow_mut().expire(purged.at);
                }
            } else if others.is_empty() {
                self.remove(&key);
            } else if !meant.is_empty() {
                self.replace(&key, others);
            }
        }
        (count, is_over)
    }

    /// Pages, and the memory that they take.
    pub(crate) fn size(&self) -> (u64, u64) {
        (self.pages.len() as u64, self.pages.weight())
    }
}
