//! The cache that this gateway shares with others: its lookups and stores there, and the purges of others.
//!
//! All of it may fail or be slow: a lookup gives nothing then, within its time limit. The requests to the server are in `sluice_tier`.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use sluice_cache::{Moment, Page, StaleLimits};
use sluice_catalog::snapshot::{Purge, SharedCacheSnapshot};
use sluice_message::Fields;
use sluice_tier::{Allowance, Answer, Position, Tier, TierEvent, ToStore};
use tokio::sync::mpsc::Receiver;

use super::Cache;
use super::store::Object;

/// The tier and its messages, as [`Tier::start`] returns them.
pub(crate) type TierStart = (Tier, Receiver<TierEvent>);

/// The second tier of the page cache; the first one is in memory.
pub(crate) struct SecondTier {
    pub(super) tier: Tier,
    pub(super) heard: RefCell<Option<Receiver<TierEvent>>>,
    /// Whether the operator was last told that it is in use; `None` before anything was told.
    pub(super) told_up: Cell<Option<bool>>,
}

impl SecondTier {
    pub(crate) fn new((tier, heard): TierStart) -> Self {
        SecondTier { tier, heard: RefCell::new(Some(heard)), told_up: Cell::default() }
    }

    pub(crate) fn set_time_max(&self, ms: u64) {
        self.tier.set_time_max(Duration::from_millis(ms));
    }

    /// Page that another gateway has stored for such requests, and the position of one that is rendered now.
    pub(crate) async fn look_up(&self, now: Moment, key: &str, request: &Fields) -> (Option<Page>, Option<Position>) {
        match self.tier.look_up(key, request, now).await {
            Answer::Page(page, position) => (Some(*page), position),
            Answer::Nothing(position) => (None, position),
            Answer::Away => (None, None),
        }
    }

    /// Stores a page for other gateways, in the background.
    pub(crate) fn store(&self, (now, limits): (Moment, StaleLimits), key: &str, object: &Object, position: Position) {
        let policy = object.policy.borrow().clone();
        self.tier.store(ToStore {
            url: key.to_owned(),
            head: object.head.clone(),
            useful_s: policy.useful_s(now, limits),
            policy,
            tags: object.tags.clone(),
            body: object.body.data().clone(),
            position,
            now,
        });
    }
}

impl Cache {
    /// Charges allowances that other gateways charge too. Returns the time in microseconds for which they are used up; `None` without
    /// an answer in time.
    pub(crate) async fn charge(&self, allowances: Vec<Allowance>) -> Option<u64> {
        self.tier.as_ref()?.tier.charge(allowances).await
    }

    /// Passes the purge to the gateways that share a cache with this one.
    pub(crate) fn tell_sharers(&self, purge: &Purge, is_soft: bool) {
        if let Some(tier) = &self.tier {
            tier.tier.purge(purge, is_soft);
        }
    }

    pub(crate) fn shared_snapshot(&self) -> Option<SharedCacheSnapshot> {
        let tier = &self.tier.as_ref()?.tier;
        let counts = tier.counts();
        Some(SharedCacheSnapshot {
            address: tier.address().to_owned(),
            up: tier.is_up(),
            hits: counts.hits.get(),
            misses: counts.misses.get(),
            timeouts: counts.timeouts.get(),
            errors: counts.errors.get(),
            skipped: counts.skipped.get(),
            written: counts.written.get(),
            dropped: counts.dropped.get(),
            refused: counts.refused.get(),
            purges_told: counts.purges_told.get(),
            purges_heard: counts.purges_heard.get(),
        })
    }
}
