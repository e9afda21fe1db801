//! What is kept in memory: pages by their key, each with its variants.

use std::cell::RefCell;
use std::rc::Rc;

use quick_cache::Weighter;
use quick_cache::unsync::Cache;
use sluice_cache::{Dimensions, Policy};
use sluice_message::{Fields, ResponseHead};

use crate::respond::compress::KeptBody;

/// Variants of one page; further ones take the place of the oldest.
const VARIANTS_MAX: usize = 16;
/// What a variant takes besides its bytes, about.
const OVERHEAD_BYTES: usize = 600;
/// The size of a usual page, from which the number of places is guessed.
const USUAL_BYTES: usize = 16 * 1024;

/// A whole answer.
pub(crate) struct Object {
    /// As it is sent, without `Age`.
    pub(crate) head: ResponseHead,
    pub(crate) body: Rc<KeptBody>,
    pub(crate) policy: RefCell<Policy>,
    pub(crate) tags: Vec<Box<str>>,
}

impl Object {
    fn bytes(&self) -> usize {
        let fields: usize = self.head.fields.iter().map(|(name, value)| name.len() + value.len() + 48).sum();
        let tags: usize = self.tags.iter().map(|tag| tag.len() + 16).sum();
        self.body.bytes() + fields + tags + self.policy.borrow().dimensions.bytes() + OVERHEAD_BYTES
    }
}

/// The variants of a page, the latest first. It is replaced as a whole, because its weight must not change.
struct Page {
    variants: Vec<Rc<Object>>,
    bytes: u64,
}

impl Page {
    fn of(variants: Vec<Rc<Object>>) -> Self {
        let bytes = variants.iter().map(|object| object.bytes() as u64).sum();
        Page { variants, bytes }
    }
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<String, Page> for ByBytes {
    fn weight(&self, key: &String, page: &Page) -> u64 {
        page.bytes + key.len() as u64
    }
}

pub(crate) struct Store {
    pages: Cache<String, Page, ByBytes>,
}

impl Store {
    pub(crate) fn new(bytes_max: usize) -> Self {
        let pages = Cache::with_weighter((bytes_max / USUAL_BYTES).max(64), bytes_max as u64, ByBytes);
        Store { pages }
    }

    /// The variant for a request with these fields.
    pub(crate) fn find(&self, key: &str, request: &Fields) -> Option<Rc<Object>> {
        let page = self.pages.get(key)?;
        page.variants.iter().find(|object| object.policy.borrow().is_for(request)).cloned()
    }

    /// What the latest variant of a page depends on.
    pub(crate) fn dimensions(&self, key: &str) -> Option<Dimensions> {
        let latest = self.pages.get(key)?.variants.first()?;
        Some(latest.policy.borrow().dimensions.clone())
    }

    /// All variants of a page.
    pub(crate) fn variants(&self, key: &str) -> Vec<Rc<Object>> {
        self.pages.get(key).map(|page| page.variants.clone()).unwrap_or_default()
    }

    /// Keeps it in place of what was for the same requests.
    pub(crate) fn put(&mut self, key: &str, request: &Fields, object: Rc<Object>) {
        let others = self.variants(key).into_iter().filter(|other| !other.policy.borrow().is_for(request));
        let variants = std::iter::once(object).chain(others).take(VARIANTS_MAX).collect();
        self.pages.insert(key.to_owned(), Page::of(variants));
    }

    pub(crate) fn remove(&mut self, key: &str) -> usize {
        self.pages.remove(key).map_or(0, |(_, page)| page.variants.len())
    }

    /// Drops the variants for which `keeps` is false. Returns how many.
    pub(crate) fn retain(&mut self, mut keeps: impl FnMut(&str, &Object) -> bool) -> usize {
        let mut changed = Vec::new();
        for (key, page) in self.pages.iter() {
            let kept: Vec<_> = page.variants.iter().filter(|object| keeps(key, object)).cloned().collect();
            if kept.len() < page.variants.len() {
                changed.push((key.clone(), page.variants.len() - kept.len(), kept));
            }
        }
        let mut dropped = 0;
        for (key, gone, kept) in changed {
            dropped += gone;
            self.pages.remove(&key);
            if !kept.is_empty() {
                self.pages.insert(key, Page::of(kept));
            }
        }
        dropped
    }

    /// Pages, and the memory that they take.
    pub(crate) fn size(&self) -> (u64, u64) {
        (self.pages.len() as u64, self.pages.weight())
    }
}
