//! Purges: pages that are dropped from the cache, or used only while new ones are fetched.

use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use sluice_cache::{Moment, TAG_FIELDS, Walk, prefix_of};
use sluice_catalog::config::OnReload;
use sluice_catalog::snapshot::{CacheSnapshot, KeptSnapshot, Purge, UnkeptSnapshot};
use sluice_journal::CacheUse;
use sluice_message::ResponseHead;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::Cache;
use super::log::PurgeEntry;
use crate::road::Road;

/// Most variants of one page, on all hosts, that are shown.
const KEPT_MAX: usize = 100;
/// Longest time that a client which asked for a purge waits for workers that do not report that they have purged their parts of pages.
const PARTS_MAX: Duration = Duration::from_secs(5);

/// Longest time that the answer to a change waits until the purge is in force in all stores that outlive this gateway.
const CHANGE_MAX: Duration = Duration::from_secs(1);

/// Receivers for the purges that others carry out besides this gateway's thread.
pub(crate) type Others = Vec<oneshot::Receiver<()>>;

/// A purge on its way through the pages.
struct Sweep {
    purged: Rc<PurgeEntry>,
    walk: Walk,
    /// Variants that it has dropped, or made stale.
    count: u64,
    is_over: bool,
}

impl Cache {
    /// Begins a purge. From now on no client gets a page that it affects, and no such render under way is cached.
    fn begin_sweep(&self, purge: &Purge, is_soft: bool, at: Moment) -> Sweep {
        let purged = self.log.add(purge.clone(), is_soft, at);
        let walk = self.store.borrow_mut().begin_sweep(&purged);
        let mut sweep = Sweep { purged, walk, count: 0, is_over: false };
        self.step(&mut sweep);
        sweep
    }

    /// Continues with the next pages.
    fn step(&self, sweep: &mut Sweep) {
        let mut store = self.store.borrow_mut();
        let (count, is_over) = store.sweep(&mut sweep.walk, &sweep.purged);
        sweep.count += count;
        self.counts.purged.update(|purged| purged + count);
        if is_over {
            sweep.is_over = true;
            store.swept(&sweep.purged);
        }
    }

    /// Continues to the end, a slice at a time, so that requests have their turn. Returns the number of purged variants.
    async fn finish(&self, mut sweep: Sweep) -> u64 {
        while !sweep.is_over {
            tokio::task::yield_now().await;
            self.step(&mut sweep);
        }
        sweep.count
    }

    /// Passes the purge to other gateways: those that share a cache with this one, and its successor.
    fn tell_others(&self, purge: &Purge, is_soft: bool) -> Others {
        self.tell_sharers(purge, is_soft);
        self.successor.purge(purge, is_soft).into_iter().collect()
    }

    /// Purge with its URL or prefix in the form of cache keys.
    fn normal(&self, purge: &Purge) -> Purge {
        match purge {
            Purge::Url(url) => Purge::Url(self.keys.rules.url(url)),
            Purge::Prefix(prefix) => Purge::Prefix(prefix_of(prefix)),
            Purge::Tag(_) | Purge::All => purge.clone(),
        }
    }
}

impl Road {
    /// Drops the pages that a purge affects, or marks them as stale with `is_soft`; all purges come this way. No client gets an affected
    /// page from now on. The receiver gets the number of affected variants, after the pages are gone and the workers have purged the parts
    /// of pages that they cache themselves.
    ///
    /// The other gateways that share a cache with this one purge it too, and so does the successor in an upgrade.
    pub fn purge(&self, purge: &Purge, is_soft: bool) -> oneshot::Receiver<u64> {
        let purge = self.cache.normal(purge);
        let others = self.cache.tell_others(&purge, is_soft);
        self.purge_here(purge, is_soft, others)
    }

    /// Purges this gateway and its workers. The receiver also waits for `others`.
    pub(crate) fn purge_here(&self, purge: Purge, is_soft: bool, mut others: Others) -> oneshot::Receiver<u64> {
        let parts = self.purge_parts(&purge);
        if parts.is_empty() {
            return self.purge_pages(&purge, is_soft, others);
        }
        let (sender, receiver) = oneshot::channel();
        let sweep = self.cache.begin_sweep(&purge, is_soft, self.moment());
        others.extend(self.cache.disk.purge(&purge, is_soft));
        let road = self.rc();
        tokio::task::spawn_local(async move {
            let mut count = road.cache.finish(sweep).await;
            let mut purged = pin!(all(parts.into_iter().chain(others)));
            let mut sender = Some(sender);
            if timeout(PARTS_MAX, &mut purged).await.is_err() {
                let _ = sender.take().map(|sender| sender.send(count));
                purged.await;
            }
            // A page that was rendered meanwhile may have a part that was not purged yet.
            let again = road.cache.begin_sweep(&purge, is_soft, road.moment());
            let on_disk = road.cache.disk.purge(&purge, is_soft);
            let more = road.cache.finish(again).await;
            let _ = timeout(PARTS_MAX, all(on_disk)).await;
            // What was softened before is come to once more.
            count = if is_soft { count.max(more) } else { count + more };
            let _ = sender.map(|sender| sender.send(count));
        });
        receiver
    }

    /// Makes workers purge the parts of pages that they cache. They know parts by tags alone.
    fn purge_parts(&self, purge: &Purge) -> Others {
        let purger = self.parts_purger.borrow().clone();
        match purge {
            Purge::Tag(_) | Purge::All => purger.map(|purger| purger(purge)).unwrap_or_default(),
            Purge::Url(_) | Purge::Prefix(_) => Vec::new(),
        }
    }

    /// Outdates a page that was changed: its cached variants and its renders under way.
    pub(crate) fn outdate(&self, key: String) -> oneshot::Receiver<u64> {
        let purge = Purge::Url(key);
        let others = self.cache.tell_others(&purge, false);
        self.purge_pages(&purge, false, others)
    }

    /// Purges pages alone. The receiver gets the number of variants, when no client gets them any more.
    pub(crate) fn purge_pages(&self, purge: &Purge, is_soft: bool, mut others: Others) -> oneshot::Receiver<u64> {
        let (sender, receiver) = oneshot::channel();
        let sweep = self.cache.begin_sweep(purge, is_soft, self.moment());
        others.extend(self.cache.disk.purge(purge, is_soft));
        if sweep.is_over && others.is_empty() {
            let _ = sender.send(sweep.count);
            return receiver;
        }
        let road = self.rc();
        tokio::task::spawn_local(async move {
            let count = road.cache.finish(sweep).await;
            let _ = timeout(PARTS_MAX, all(others)).await;
            let _ = sender.send(count);
        });
        receiver
    }

    /// Outdates pages, because a new version of the app has taken over.
    pub fn outdate_pages(&self) {
        let is_soft = match self.config().cache.on_reload {
            OnReload::Keep => return,
            OnReload::Stale => true,
            OnReload::Drop => false,
        };
        // All pages, and not what the workers of other gateways keep of parts.
        let purge = Purge::Prefix(String::new());
        let others = self.cache.tell_others(&purge, is_soft);
        drop(self.purge_pages(&purge, is_soft, others));
    }

    /// State of the cache and the results of requests so far.
    pub fn cache_snapshot(&self) -> CacheSnapshot {
        let (pages, bytes) = self.cache.store.borrow().size();
        let count = |how| self.cache.counts.of(how);
        CacheSnapshot {
            enabled: self.cache.is_on(),
            pages,
            bytes,
            bytes_max: self.cache.bytes_max,
            hits: count(CacheUse::Hit),
            stale: count(CacheUse::Stale),
            joined: count(CacheUse::Joined),
            misses: count(CacheUse::Miss),
            bypassed: count(CacheUse::Bypass),
            stored: self.cache.counts.stored.get(),
            purged: self.cache.counts.purged.get(),
            disk: self.disk_snapshot(),
            shared: self.cache.shared_snapshot(),
        }
    }

    /// Reason why the latest answer for a page was not cached, if it was not.
    pub fn unkept(&self, url: &str) -> Option<UnkeptSnapshot> {
        let path = url.split_once("://").and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..]))?;
        if self.cache.keys.is_bypassed(path) {
            return Some(UnkeptSnapshot { why: "its path is in cache.bypass".to_owned(), ..UnkeptSnapshot::default() });
        }
        self.cache.unkept.told(&self.cache.keys.rules.url(url))
    }

    /// Cached variants of a page, by its URL, or its path on all hosts.
    pub fn kept(&self, url: &str) -> Vec<KeptSnapshot> {
        let (now, limits) = (self.moment(), self.stale_limits());
        let url = Purge::Url(self.cache.keys.rules.url(url));
        let variants = self.cache.store.borrow().meant_by(&url, KEPT_MAX);
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

/// Waits until changes are known in all stores that outlive this gateway, so that the client which has made them finds no older page.
pub(crate) async fn known(changes: Vec<oneshot::Receiver<u64>>) {
    let _ = timeout(CHANGE_MAX, all(changes)).await;
}

/// Waits until all are done or given up.
async fn all<T>(receivers: impl IntoIterator<Item = oneshot::Receiver<T>>) {
    for receiver in receivers {
        let _ = receiver.await;
    }
}

/// Removes tags from an answer: they are between the app and the gateway.
pub(crate) fn hide_tags(head: &mut ResponseHead) {
    if TAG_FIELDS.iter().any(|name| head.fields.contains(name)) {
        head.fields.retain(|name, _| !TAG_FIELDS.iter().any(|tag| name.eq_ignore_ascii_case(tag)));
    }
}

/// Path and query of a URL that an answer names, if it is on the same host.
pub(crate) fn target_of(place: &[u8], authority: &str) -> Option<String> {
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
