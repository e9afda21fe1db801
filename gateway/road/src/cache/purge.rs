//! Purges: pages that are dropped from the cache, or used only while new ones are fetched.

use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use sluice_cache::{Moment, TAG_FIELDS, Walk, prefix_of};
use sluice_catalog::config::OnReload;
use sluice_catalog::snapshot::Purge;
use sluice_message::ResponseHead;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::log::PurgeEntry;
use super::pages::Pages;
use super::{Cache, SuccessorPurger};

/// Maximum time that a client which requested a purge waits for workers that do not report the purge of their parts.
const PARTS_MAX: Duration = Duration::from_secs(5);

/// Maximum time that the answer to a change waits until the purge has reached all stores that outlive this gateway.
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

impl Pages {
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
        let pages = self.rc();
        tokio::task::spawn_local(async move {
            let mut count = pages.cache.finish(sweep).await;
            let mut purged = pin!(all(parts.into_iter().chain(others)));
            let mut sender = Some(sender);
            if timeout(PARTS_MAX, &mut purged).await.is_err() {
                let _ = sender.take().map(|sender| sender.send(count));
                purged.await;
            }
            // A page that was rendered meanwhile may have a part that was not purged yet.
            let again = pages.cache.begin_sweep(&purge, is_soft, pages.moment());
            let on_disk = pages.cache.disk.purge(&purge, is_soft);
            let more = pages.cache.finish(again).await;
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
        let pages = self.rc();
        tokio::task::spawn_local(async move {
            let count = pages.cache.finish(sweep).await;
            let _ = timeout(PARTS_MAX, all(others)).await;
            let _ = sender.send(count);
        });
        receiver
    }

    /// Outdates pages, because a new version of the app has taken over.
    pub fn outdate_all(&self) {
        let is_soft = match self.settings.config().cache.on_reload {
            OnReload::Keep => return,
            OnReload::Stale => true,
            OnReload::Drop => false,
        };
        // All pages, and not what the workers of other gateways keep of parts.
        let purge = Purge::Prefix(String::new());
        let others = self.cache.tell_others(&purge, is_soft);
        drop(self.purge_pages(&purge, is_soft, others));
    }

    /// Answers no client from the page cache from now on, because a successor is about to serve. Purges reach it by `purger`.
    pub fn leave_to(&self, purger: SuccessorPurger) {
        self.cache.successor.0.replace(Some(purger));
    }

    /// Uses the page cache again, empty, because the successor has failed: its purges are not known here.
    pub fn take_back(&self) {
        if self.cache.successor.0.take().is_some() {
            drop(self.purge_pages(&Purge::Prefix(String::new()), false, Vec::new()));
        }
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

#[cfg(test)]
#[path = "purge_tests.rs"]
mod tests;
