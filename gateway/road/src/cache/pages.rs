//! The page cache with what it needs of the gateway: clock, settings, and the parts of pages in workers. Its figures for operators.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use sluice_cache::{Moment, StaleLimits};
use sluice_catalog::snapshot::{CacheSnapshot, KeptSnapshot, Purge, UnkeptSnapshot};
use sluice_journal::CacheUse;
use sluice_observe::Observer;
use sluice_supervisor::PartsPurger;
use tokio::time::Instant;

use super::Cache;
use crate::road::settings::Settings;

/// Maximum number of shown variants of one page, on all hosts.
const KEPT_MAX: usize = 100;

/// See the module's text.
pub struct Pages {
    /// Reference to itself, for tasks that outlast a call.
    me: Weak<Pages>,
    /// The page cache.
    pub cache: Cache,
    /// Purges the parts of pages that workers cache.
    pub parts_purger: RefCell<Option<PartsPurger>>,
    pub(super) settings: Rc<Settings>,
    pub(super) observer: Rc<Observer>,
    pub(super) epoch: Instant,
}

impl Pages {
    pub(crate) fn new(cache: Cache, settings: &Rc<Settings>, observer: &Rc<Observer>, epoch: Instant) -> Rc<Self> {
        Rc::new_cyclic(|me| Pages {
            me: Weak::clone(me),
            cache,
            parts_purger: RefCell::default(),
            settings: Rc::clone(settings),
            observer: Rc::clone(observer),
            epoch,
        })
    }

    /// Strong reference, for a task that outlasts the call.
    pub(super) fn rc(&self) -> Rc<Self> {
        self.me.upgrade().expect("whoever calls it holds it")
    }

    /// Current time, by both clocks.
    pub(crate) fn moment(&self) -> Moment {
        let wall = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let steady_ms = self.epoch.elapsed().as_millis();
        Moment { wall_s: wall.as_secs(), steady_ms: u64::try_from(steady_ms).unwrap_or(u64::MAX) }
    }

    pub(crate) fn stale_limits(&self) -> StaleLimits {
        StaleLimits { if_error_s: self.settings.config().cache.stale_if_error_s }
    }

    /// State of the cache and the results of requests so far.
    pub fn snapshot(&self) -> CacheSnapshot {
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
