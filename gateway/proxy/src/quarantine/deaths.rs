//! The quarantine table with its clock and its keys, and the passes by which requests enter the queue.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use sluice_catalog::config::Config;
use sluice_message::Method;
use sluice_wire::ids::to_usize;
use sluice_wire::receive::body::Beginning;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::{Fingerprint, Keys, Quarantine, Subject};

/// Pause between two searches of the table for expired entries.
const EXPIRE_PERIOD: Duration = Duration::from_secs(1);

/// Requests that workers died with.
pub(crate) struct Deaths {
    pub(crate) keys: Keys,
    pub(crate) table: RefCell<Quarantine>,
    /// Wakes requests that waited for one like them, when that has ended.
    pub(crate) probe_over: Notify,
    expired: Cell<Option<Instant>>,
}

fn limits(config: &Config) -> (Duration, usize) {
    (Duration::from_millis(config.quarantine.ttl_ms), to_usize(config.bounds.quarantine_entries_max))
}

impl Deaths {
    pub(crate) fn new(config: &Config) -> Self {
        let (ttl, entries_max) = limits(config);
        Deaths {
            keys: Keys::default(),
            table: RefCell::new(Quarantine::new(ttl, entries_max)),
            probe_over: Notify::new(),
            expired: Cell::new(None),
        }
    }

    pub(crate) fn set_limits(&self, config: &Config) {
        let (ttl, entries_max) = limits(config);
        self.table.borrow_mut().set_limits(ttl, entries_max);
    }

    /// Removes expired entries from time to time, so that lookups cost nothing again.
    pub(crate) fn expire(&self, now: Instant) {
        if self.expired.get().is_none_or(|expired| now.saturating_duration_since(expired) >= EXPIRE_PERIOD) {
            self.expired.set(Some(now));
            self.table.borrow_mut().expire(now);
        }
    }

    /// Whether the table knows anything with this method and target.
    pub(crate) fn concerns(&self, method: &Method, target: &str) -> bool {
        self.table.borrow().concerns(|| self.keys.route(method.as_str(), target))
    }

    /// Fingerprint and marks of a request. `None` if the body cannot be read back: such a request is like no other.
    pub(crate) async fn subject(
        &self,
        method: &Method,
        target: &str,
        head: &[u8],
        beginning: Beginning,
        body_len: u64,
    ) -> Option<Subject> {
        let beginning = beginning.read().await.ok()?;
        Some(self.keys.subject(method.as_str(), target, head, &beginning, body_len))
    }
}

/// Permission of a request to enter the queue.
#[derive(Default)]
pub(crate) struct Pass {
    /// The request gets a worker to itself, so that its death takes no other request with it.
    pub(crate) alone: bool,
    /// Probe that ends with the request.
    _probe: Option<Probe>,
}

/// The one request of its kind that is tried at the moment. Requests that wait for it continue when it has ended, with whatever result.
struct Probe {
    deaths: Rc<Deaths>,
    print: Fingerprint,
}

impl Pass {
    /// Pass of a request that gets a worker to itself.
    pub(crate) fn alone() -> Self {
        Pass { alone: true, _probe: None }
    }

    /// Pass of a request that is tried for all that are like it.
    pub(crate) fn probe(deaths: &Rc<Deaths>, print: Fingerprint) -> Self {
        Pass { alone: true, _probe: Some(Probe { deaths: Rc::clone(deaths), print }) }
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        self.deaths.table.borrow_mut().probe_over(self.print);
        self.deaths.probe_over.notify_waiters();
    }
}
