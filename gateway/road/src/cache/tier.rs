//! The cache that this gateway shares with others: its lookups and stores there, and the purges of others.
//!
//! All of it may fail or be slow: a lookup gives nothing then, within its time limit. The requests to the server are in `sluice_tier`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use sluice_cache::Page;
use sluice_catalog::snapshot::{Purge, SharedCacheSnapshot};
use sluice_journal::{Event as Happening, Level};
use sluice_message::Fields;
use sluice_tier::{Answer, Heard, Position, Tier, ToStore};
use tokio::sync::mpsc::Receiver;

use super::Cache;
use super::store::Object;
use crate::road::Road;

/// The tier and its messages, as [`Tier::start`] returns them.
pub(crate) type Started = (Tier, Receiver<Heard>);

/// The second tier of the page cache; the first one is in memory.
pub(crate) struct SecondTier {
    tier: Tier,
    heard: RefCell<Option<Receiver<Heard>>>,
    /// Whether the operator was last told that it is in use; `None` before anything was told.
    told_up: Cell<Option<bool>>,
}

impl SecondTier {
    pub(crate) fn new((tier, heard): Started) -> Self {
        SecondTier { tier, heard: RefCell::new(Some(heard)), told_up: Cell::default() }
    }

    pub(crate) fn set_time_max(&self, ms: u64) {
        self.tier.set_time_max(Duration::from_millis(ms));
    }

    /// Page that another gateway has stored for such requests, and the position of one that is rendered now.
    pub(crate) async fn look_up(&self, road: &Road, key: &str, request: &Fields) -> (Option<Page>, Option<Position>) {
        match self.tier.look_up(key, request, road.moment()).await {
            Answer::Page(page, position) => (Some(*page), position),
            Answer::Nothing(position) => (None, position),
            Answer::Away => (None, None),
        }
    }

    /// Stores a page for other gateways, in the background.
    pub(crate) fn store(&self, road: &Road, key: &str, object: &Object, position: Position) {
        let (now, policy) = (road.moment(), object.policy.borrow().clone());
        self.tier.store(ToStore {
            url: key.to_owned(),
            head: object.head.clone(),
            useful_s: policy.useful_s(now, road.stale_limits()),
            policy,
            tags: object.tags.clone(),
            body: object.body.data().clone(),
            position,
            now,
        });
    }
}

impl Cache {
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

/// Carries out the purges of other gateways, and reports to the operator when the shared cache comes and goes. It runs for as long as there
/// is one.
pub async fn hear_other_gateways(road: Rc<Road>) {
    let Some(tier) = &road.cache.tier else { return };
    let Some(mut heard) = tier.heard.take() else { return };
    while let Some(heard) = heard.recv().await {
        take(&road, tier, heard);
    }
    tier.tier.went_down();
    note(
        &road,
        Level::Error,
        "its thread was lost to a fault in the gateway; it stays out of use until the next start",
    );
}

fn take(road: &Road, second: &SecondTier, heard: Heard) {
    match heard {
        Heard::Up => {
            second.tier.came_up();
            if second.told_up.replace(Some(true)) != Some(true) {
                note(road, Level::Info, "it is in use");
            }
        }
        Heard::Down(why) => {
            second.tier.went_down();
            if second.told_up.replace(Some(false)) != Some(false) {
                let text = format!("{why}; pages are kept in this gateway's memory alone until it answers in time");
                note(road, Level::Warn, &text);
            }
        }
        Heard::Refuses(Some(why)) => note(road, Level::Warn, &format!("it refuses pages: {why}")),
        Heard::Refuses(None) => note(road, Level::Info, "it takes pages again"),
        // Workers purge what they keep themselves whatever comes of it.
        Heard::Purge(purge, is_soft) => drop(road.purge_here(purge, is_soft, Vec::new())),
        Heard::Lost => {
            drop(road.purge_pages(&Purge::Prefix(String::new()), true, Vec::new()));
            note(
                road,
                Level::Warn,
                "its purges were lost; all pages in memory count as stale, as one of them may have been purged",
            );
        }
    }
}

fn note(road: &Road, level: Level, what: &str) {
    let address = road.cache.tier.as_ref().map_or("", |tier| tier.tier.address());
    let text = format!("shared cache {address}: {what}");
    road.observer.emit(Happening::Note { level, text: &text });
}
