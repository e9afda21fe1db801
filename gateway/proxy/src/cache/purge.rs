//! What is kept no more, or only while a new one is fetched.

use sluice_cache::TAG_FIELDS;
use sluice_catalog::config::OnReload;
use sluice_catalog::snapshot::{CacheSnapshot, KeptSnapshot, Purge};
use sluice_journal::CacheUse;
use sluice_message::ResponseHead;

use super::Cache;
use super::store::Object;
use crate::gate::Gate;

fn is_meant(purge: &Purge, key: &str, object: &Object) -> bool {
    match purge {
        Purge::Tag(tag) => object.tags.iter().any(|own| **own == **tag),
        _ => is_url_meant(purge, key),
    }
}

/// A page that is still being rendered has its tags in a head that may not have come: it counts as meant.
fn is_url_meant(purge: &Purge, key: &str) -> bool {
    match purge {
        Purge::All | Purge::Tag(_) => true,
        Purge::Url(url) => key == url,
        Purge::Prefix(prefix) => key.starts_with(prefix),
    }
}

impl Cache {
    /// The page was changed: what is kept of it, and what is on its way, is old.
    pub(super) fn outdate(&self, key: &str) {
        self.store.borrow_mut().remove(key);
        self.flights.outdate(|url| url == key);
    }
}

impl Gate {
    /// Drops what is meant, or with `is_soft` lets it count as stale. Returns how many variants of pages.
    pub fn purge(&self, purge: &Purge, is_soft: bool) -> u64 {
        let (cache, now) = (&self.cache, self.moment());
        cache.flights.outdate(|url| is_url_meant(purge, url));
        let mut softened = 0;
        let dropped = cache.store.borrow_mut().retain(|key, object| {
            let is_meant = is_meant(purge, key, object);
            if is_meant && is_soft {
                object.policy.borrow_mut().expire(now);
                softened += 1;
            }
            is_soft || !is_meant
        });
        let purged = dropped as u64 + softened;
        cache.counts.purged.update(|count| count + purged);
        purged
    }

    /// A new version of the app has taken over.
    pub fn outdate_pages(&self) {
        match self.config().cache.on_reload {
            OnReload::Keep => {}
            OnReload::Stale => _ = self.purge(&Purge::All, true),
            OnReload::Drop => _ = self.purge(&Purge::All, false),
        }
    }

    /// What is kept, and what came of requests so far.
    pub fn cache_snapshot(&self) -> CacheSnapshot {
        let (pages, bytes) = self.cache.store.borrow().size();
        let count = |how| self.cache.counts.of(how);
        CacheSnapshot {
            enabled: self.cache.is_on(),
            pages,
            bytes,
            bytes_max: self.config().cache.bytes_max,
            hits: count(CacheUse::Hit),
            stale: count(CacheUse::Stale),
            joined: count(CacheUse::Joined),
            misses: count(CacheUse::Miss),
            bypassed: count(CacheUse::Bypass),
            stored: self.cache.counts.stored.get(),
            purged: self.cache.counts.purged.get(),
        }
    }

    /// What is kept of a page, by its URL.
    pub fn kept(&self, url: &str) -> Vec<KeptSnapshot> {
        let (now, limits) = (self.moment(), self.stale_limits());
        let variants = self.cache.store.borrow().variants(url);
        let told = variants.iter().map(|object| {
            let policy = object.policy.borrow();
            KeptSnapshot {
                status: object.head.status,
                bytes: object.body.data().len() as u64,
                age_s: policy.age_s(now),
                fresh_s: policy.lifetime_s().saturating_sub(policy.age_s(now)),
                useful_s: policy.useful_s(now, limits),
                tags: object.tags.iter().map(ToString::to_string).collect(),
            }
        });
        told.collect()
    }
}

/// Tags are between the app and the gateway.
pub(super) fn hide_tags(head: &mut ResponseHead) {
    if TAG_FIELDS.iter().any(|name| head.fields.contains(name)) {
        head.fields.retain(|name, _| !TAG_FIELDS.iter().any(|tag| name.eq_ignore_ascii_case(tag)));
    }
}

/// The path and query of a place that an answer names, if it is on the same host.
pub(super) fn target_of(place: &[u8], authority: &str) -> Option<String> {
    let place = std::str::from_utf8(place).ok()?;
    let rest =
        place.strip_prefix("http://").or_else(|| place.strip_prefix("https://")).or_else(|| place.strip_prefix("//"));
    let target = match rest {
        Some(rest) => {
            let at = rest.find('/')?;
            rest[..at].eq_ignore_ascii_case(authority).then(|| &rest[at..])?
        }
        None => place,
    };
    let target = target.split('#').next().unwrap_or(target);
    target.starts_with('/').then(|| target.to_owned())
}
