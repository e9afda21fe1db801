//! Pages that are rendered once and sent to many: the cached pages, and the clients that wait for a render under way (I7).
//!
//! The crate `sluice_cache` has the rules of HTTP. This module has the memory (`store`), renders for many (`flight`, begun by `fetch`), and
//! heads of answers (`reply`). The road asks [`look_up::answer`] before it asks a worker. This must not know how a worker is chosen.

mod disk;
mod fetch;
pub(crate) mod flight;
mod log;
pub(crate) mod look_up;
mod marks;
mod on_disk;
pub(crate) mod pages;
mod paths;
mod purge;
mod reasons;
mod reply;
mod rules;
mod shared;
mod sharers;
mod source;
mod store;
mod successor;
mod tier;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use sluice_cache::{KeyRules, Rule, Site, key_of};
use sluice_catalog::config::{self, Span};
use sluice_journal::CacheUse;
use sluice_message::RequestHead;
use tokio::sync::Semaphore;

use disk::DiskTier;
use flight::Flights;
use log::Log;
use marks::Marks;
use reasons::StorageReasons;
pub(crate) use shared::settings as shared_settings;
pub use sharers::hear_other_gateways;
use sluice_wire::front::origin::Origin;
use sluice_wire::ids::to_usize;
use store::Store;
use successor::Successor;
pub use successor::SuccessorPurger;
use tier::SecondTier;

/// The page cache: stored pages, and pages that are being fetched.
pub struct Cache {
    is_on: bool,
    keys: Keys,
    vary_by: Vec<String>,
    /// Time to live by prefix, longest prefix first.
    ttl_s: Vec<(String, u64)>,
    store: RefCell<Store>,
    bytes_max: u64,
    flights: Flights,
    /// Permit to copy a page into one piece; one page at a time.
    gathers: Semaphore,
    log: Rc<Log>,
    /// Pages that turned out to be for one client alone.
    marks: Marks,
    unkept: StorageReasons,
    /// Results of lookups.
    pub counts: Counts,
    /// Cache that is shared with other gateways.
    tier: Option<SecondTier>,
    /// Pages on disk, which outlive this gateway.
    disk: DiskTier,
    /// The gateway that takes over, in an upgrade.
    successor: Successor,
}

/// Results of cache lookups, since the start.
#[derive(Default)]
pub struct Counts {
    uses: [Cell<u64>; CacheUse::ALL.len()],
    pub(crate) stored: Cell<u64>,
    pub(crate) purged: Cell<u64>,
}

impl Counts {
    fn count(&self, how: CacheUse) {
        self.uses[how as usize].update(|count| count + 1);
    }

    /// Lookups with this result.
    pub fn of(&self, how: CacheUse) -> u64 {
        self.uses[how as usize].get()
    }
}

impl Cache {
    pub(crate) fn new(settings: &config::PageCache, tier: Option<tier::TierStart>) -> Self {
        let seconds = |text: &String| Span::parse(text).map_or(0, |span| span.seconds);
        let mut ttl_s: Vec<_> = settings.ttl.iter().map(|(prefix, time)| (prefix.clone(), seconds(time))).collect();
        ttl_s.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        Cache {
            is_on: settings.enabled,
            keys: Keys::new(settings),
            vary_by: settings.vary_by.clone(),
            ttl_s,
            store: RefCell::new(Store::new(to_usize(settings.bytes_max))),
            bytes_max: settings.bytes_max,
            flights: Flights::default(),
            gathers: Semaphore::new(1),
            log: Rc::default(),
            marks: Marks::new(),
            unkept: StorageReasons::new(),
            counts: Counts::default(),
            tier: tier.map(SecondTier::new),
            disk: DiskTier::default(),
            successor: Successor::default(),
        }
    }

    /// Applies the settings that a reload may change.
    pub(crate) fn set_config(&self, settings: &config::PageCache) {
        if let Some(tier) = &self.tier {
            tier.set_time_max(settings.shared_timeout_ms);
        }
    }

    /// Begins or ends a trial: visitors who try a version get its pages, and nobody else does.
    pub fn set_trial(&self, is_on: bool) {
        self.keys.trial.set(if is_on { fastrand::u64(1..) } else { 0 });
    }

    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Rule of the config for a page. A path that an app may read as another one has no rule: that one may be for one user alone.
    fn rule(&self, path: &str) -> Rule {
        let found = self.ttl_s.iter().find(|(prefix, _)| paths::lies_surely_below(path, prefix));
        Rule { ttl_s: found.map(|(_, seconds)| *seconds) }
    }
}

/// Rules that distinguish pages.
struct Keys {
    rules: KeyRules,
    /// Number of the trial of a version, which distinguishes its pages; 0 while there is none.
    trial: Cell<u64>,
    /// Beginnings of paths, in lower case.
    bypass: Vec<String>,
}

impl Keys {
    fn new(settings: &config::PageCache) -> Self {
        Keys {
            rules: KeyRules { ignored_params: settings.ignored_params.clone() },
            trial: Cell::new(0),
            bypass: settings.bypass.iter().map(|prefix| prefix.to_ascii_lowercase()).collect(),
        }
    }

    /// Key of the same page of the version on trial, if there is one. No other gateway has such a key.
    fn in_trial(&self, key: &str) -> Option<String> {
        let trial = self.trial.get();
        (trial > 0).then(|| format!("{key} trial-{trial:x}"))
    }

    fn is_bypassed(&self, path: &str) -> bool {
        !self.bypass.is_empty() && paths::may_lie_below(path, &self.bypass)
    }

    /// Key of a page that may be cached; none for other requests.
    fn key(&self, head: &RequestHead, origin: &Origin) -> Option<String> {
        if self.is_bypassed(head.path()) {
            return None;
        }
        self.key_of(head, origin)
    }

    /// Key of any page. None if a trusted proxy sends an unusual origin, which an app may write into its page.
    fn key_of(&self, head: &RequestHead, origin: &Origin) -> Option<String> {
        let told = |name| head.fields.get_all(name).filter(|_| origin.is_trusted);
        let is_scheme = |proto: &[u8]| [&b"http"[..], b"https"].iter().any(|known| proto.eq_ignore_ascii_case(known));
        let mut hosts = told("x-forwarded-host");
        let forwarded_host = hosts.next();
        if hosts.next().is_some() || !told("x-forwarded-proto").all(is_scheme) {
            return None;
        }
        key_of(head, Site { is_https: origin.is_https(head), forwarded_host }, &self.rules)
    }
}
