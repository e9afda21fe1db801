//! Requests that workers died with, and those that are answered without a worker for it (I5).
//!
//! Pure: the clock and the keys of the hash are passed in. It must not know queue, workers or clients.
//!
//! Two deaths make a quarantine. A death counts only if its request was dispatched after the death that was counted
//! before: whoever kills many workers at once kills many with the same popular page. Any answer to a request of the same
//! fingerprint is proof that it kills nobody, and clears it.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::{Duration, Instant};

use sluice_catalog::snapshot::QuarantinedRequest;

/// Bytes of a body that tell requests apart; beyond them only the length does.
pub(crate) const BODY_BYTES_MAX: usize = 1 << 20;
/// What of a target is shown.
const TARGET_CHARS_MAX: usize = 200;
/// Evidence that makes a quarantine.
const WEIGHT_MAX: u32 = 4;
/// A death of a worker that held nothing else, and of one that held others, each of which may have been the one.
const WEIGHT_ALONE: u32 = 2;
const WEIGHT_SHARED: u32 = 1;

/// What tells a request from others: method, target and body. Nothing can be read back from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fingerprint {
    /// Method and target alone.
    pub(crate) route: u64,
    whole: u64,
}

/// The keys that fingerprints are made with, different in each gateway, so that no client can make two that are alike.
#[derive(Default)]
pub(crate) struct Keys {
    route: RandomState,
    whole: RandomState,
}

impl Keys {
    /// The part of the fingerprint that needs no body.
    pub(crate) fn route(&self, method: &str, target: &str) -> u64 {
        let mut hasher = self.route.build_hasher();
        write_all(&mut hasher, &[method, target]);
        hasher.finish()
    }

    /// `body` is its first [`BODY_BYTES_MAX`] bytes.
    pub(crate) fn whole(&self, method: &str, target: &str, body: &[u8], body_bytes: u64) -> Fingerprint {
        let mut hasher = self.whole.build_hasher();
        write_all(&mut hasher, &[method, target]);
        hasher.write_u64(body_bytes);
        hasher.write(&body[..body.len().min(BODY_BYTES_MAX)]);
        Fingerprint { route: self.route(method, target), whole: hasher.finish() }
    }
}

/// With the lengths, so that no two lists of texts are written alike.
fn write_all(hasher: &mut impl std::hash::Hasher, texts: &[&str]) {
    for text in texts {
        hasher.write_usize(text.len());
        hasher.write(text.as_bytes());
    }
}

/// A worker's death with a request.
pub(crate) struct Death<'a> {
    pub(crate) method: &'a str,
    pub(crate) target: &'a str,
    /// When that worker got the request.
    pub(crate) dispatched: Instant,
    /// Whether the worker held other requests too.
    pub(crate) shared: bool,
}

/// What a death led to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It was not counted, or was the first.
    Suspected,
    /// From now on the request is answered without a worker.
    Quarantined,
}

struct Entry {
    method: String,
    target: String,
    deaths: u32,
    weight: u32,
    counted: Instant,
    /// Since when it is in quarantine, if it is.
    quarantined: Option<Instant>,
    expires: Instant,
}

/// The table; see the module's text.
pub(crate) struct Quarantine {
    ttl: Duration,
    entries_max: usize,
    entries: BTreeMap<Fingerprint, Entry>,
}

impl Quarantine {
    /// No `ttl`, or no room: nothing is ever quarantined.
    pub(crate) fn new(ttl: Duration, entries_max: usize) -> Self {
        Quarantine { ttl, entries_max, entries: BTreeMap::new() }
    }

    /// Bounds from a reload of the config; what is in the table keeps the time it was given.
    pub(crate) fn set_limits(&mut self, ttl: Duration, entries_max: usize) {
        self.ttl = ttl;
        self.entries_max = entries_max;
        if ttl.is_zero() {
            self.entries.clear();
        }
    }

    /// Whether nothing is suspected or in quarantine.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether any request is suspected or in quarantine with this method and target. Costs next to nothing while the table is empty,
    /// and spares looking at bodies.
    pub(crate) fn concerns(&self, route: impl FnOnce() -> u64) -> bool {
        if self.entries.is_empty() {
            return false;
        }
        let route = route();
        let all = Fingerprint { route, whole: 0 }..=Fingerprint { route, whole: u64::MAX };
        self.entries.range(all).next().is_some()
    }

    /// A worker has died with this request.
    pub(crate) fn died(&mut self, now: Instant, fingerprint: Fingerprint, death: &Death<'_>) -> Verdict {
        if self.ttl.is_zero() || self.entries_max == 0 {
            return Verdict::Suspected;
        }
        self.expire(now);
        if !self.entries.contains_key(&fingerprint) && self.entries.len() >= self.entries_max {
            let first = self.entries.iter().min_by_key(|(_, entry)| entry.expires).map(|(fingerprint, _)| *fingerprint);
            first.and_then(|first| self.entries.remove(&first));
        }
        let weight = if death.shared { WEIGHT_SHARED } else { WEIGHT_ALONE };
        let expires = now + self.ttl;
        let Some(entry) = self.entries.get_mut(&fingerprint) else {
            let target = death.target.chars().take(TARGET_CHARS_MAX).collect();
            let (method, quarantined) = (death.method.to_owned(), None);
            let entry = Entry { method, target, deaths: 1, weight, counted: now, quarantined, expires };
            self.entries.insert(fingerprint, entry);
            return Verdict::Suspected;
        };
        if death.dispatched < entry.counted || entry.quarantined.is_some() {
            return Verdict::Suspected;
        }
        entry.deaths += 1;
        entry.weight += weight;
        entry.counted = now;
        entry.expires = expires;
        if entry.weight < WEIGHT_MAX {
            return Verdict::Suspected;
        }
        entry.quarantined = Some(now);
        Verdict::Quarantined
    }

    /// A worker has answered it, whole.
    pub(crate) fn answered(&mut self, fingerprint: Fingerprint) {
        self.entries.remove(&fingerprint);
    }

    /// Whether it is to be answered without a worker.
    pub(crate) fn holds(&self, now: Instant, fingerprint: Fingerprint) -> bool {
        let entry = self.entries.get(&fingerprint);
        entry.is_some_and(|entry| entry.quarantined.is_some() && now < entry.expires)
    }

    /// Forgets what is over.
    pub(crate) fn expire(&mut self, now: Instant) {
        self.entries.retain(|_, entry| now < entry.expires);
    }

    /// Requests in quarantine.
    pub(crate) fn len(&self, now: Instant) -> usize {
        self.held(now).count()
    }

    /// Forgets all, suspicions too.
    pub(crate) fn forget(&mut self) {
        self.entries.clear();
    }

    /// Lets go of the one with this id, or of `all`. Returns how many there were.
    pub(crate) fn release(&mut self, now: Instant, which: &str) -> usize {
        let is_meant = |fingerprint: &Fingerprint| which == "all" || which == id(*fingerprint);
        let meant: Vec<_> = self.held(now).map(|(fingerprint, _)| *fingerprint).filter(|it| is_meant(it)).collect();
        for fingerprint in &meant {
            self.entries.remove(fingerprint);
        }
        meant.len()
    }

    /// What an operator sees, the latest first.
    pub(crate) fn list(&self, now: Instant) -> Vec<QuarantinedRequest> {
        let mut held: Vec<_> = self.held(now).collect();
        held.sort_by_key(|(_, entry)| std::cmp::Reverse(entry.quarantined));
        let ms = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        held.into_iter()
            .map(|(fingerprint, entry)| QuarantinedRequest {
                id: id(*fingerprint),
                method: entry.method.clone(),
                target: entry.target.clone(),
                deaths: entry.deaths,
                for_ms: entry.quarantined.map_or(0, |since| ms(now.saturating_duration_since(since))),
                expires_in_ms: ms(entry.expires.saturating_duration_since(now)),
            })
            .collect()
    }

    fn held(&self, now: Instant) -> impl Iterator<Item = (&Fingerprint, &Entry)> {
        self.entries.iter().filter(move |(_, entry)| entry.quarantined.is_some() && now < entry.expires)
    }
}

/// The name of a fingerprint for people.
pub(crate) fn id(fingerprint: Fingerprint) -> String {
    format!("{:08x}", fingerprint.whole >> 32)
}

#[cfg(test)]
mod tests;
