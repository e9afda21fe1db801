//! Requests that workers died with, and those that are answered without a worker for it (I5).
//!
//! Pure: the clock and the keys of the hash are passed in. It must not know queue, workers or clients.
//!
//! Method, target, body, host and headers identify a request. Two deaths put it into quarantine, if it was alone in one of the workers. A
//! death counts only if its request was dispatched after the last death that counted. A client that kills many workers at once does so with
//! the same popular page. Two requests that differ, each of which died alone, put what they have in common into quarantine: page, body and
//! those headers that no answered request had.
//!
//! Any answer to a like request is proof that it kills nobody, and clears it. Where a page was answered lately and nothing
//! tells these requests from the answered ones, they are not refused but probed: one at a time, alone in a worker.

mod answer_marks;
pub(crate) mod deaths;
mod entry;
pub(crate) mod marks;

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

use sluice_catalog::snapshot::QuarantinedRequest;

use answer_marks::AnswerMarks;
use entry::Entry;
pub(crate) use entry::Mode;
use marks::Marks;
use tokio::time::Instant;

/// Number of bytes of a body that distinguish requests. Beyond them only the length does.
pub(crate) const BODY_BYTES_MAX: usize = 1 << 20;

/// Hashes that identify a request. Nothing can be read back from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fingerprint {
    /// Method and target.
    pub(crate) route: u64,
    /// Route and body.
    page: u64,
    /// Page, host and headers; 0 stands for all requests of the page.
    whole: u64,
}

impl Fingerprint {
    fn of_page(self) -> Self {
        Fingerprint { whole: 0, ..self }
    }
}

/// A request as the table sees it.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub(crate) print: Fingerprint,
    pub(crate) marks: Marks,
}

/// Keys of the fingerprints, different in each gateway, so that no client can make two that are alike.
#[derive(Default)]
pub(crate) struct Keys {
    route: RandomState,
    whole: RandomState,
}

impl Keys {
    /// The part of the fingerprint that needs neither head nor body.
    pub(crate) fn route(&self, method: &str, target: &str) -> u64 {
        let mut hasher = self.route.build_hasher();
        write_all(&mut hasher, &[method, target]);
        hasher.finish()
    }

    /// Computes fingerprint and marks of a request. `head` is the head that a worker gets, `body` its first [`BODY_BYTES_MAX`] bytes.
    pub(crate) fn subject(&self, method: &str, target: &str, head: &[u8], body: &[u8], body_bytes: u64) -> Subject {
        let mut hasher = self.whole.build_hasher();
        write_all(&mut hasher, &[method, target]);
        hasher.write_u64(body_bytes);
        hasher.write(&body[..body.len().min(BODY_BYTES_MAX)]);
        let page = hasher.finish();
        let marks = Marks::of(head, (body_bytes > 0).then_some(page), &self.whole);
        marks.hash(&mut hasher);
        let print = Fingerprint { route: self.route(method, target), page, whole: hasher.finish().max(1) };
        Subject { print, marks }
    }
}

/// Hashes texts with their lengths, so that no two lists of texts hash alike.
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
    /// Number of the request: a retry is the same request.
    pub(crate) request: u64,
    /// Time at which that worker got the request.
    pub(crate) dispatched: Instant,
    /// Whether the worker held other requests too.
    pub(crate) shared: bool,
}

/// Decision about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    Free,
    /// A worker has died with it: it gets one to itself.
    Alone,
    /// The request may be the one that workers die with, or not. It gets a worker to itself, and [`Quarantine::probe_over`] is to follow.
    Probe(Fingerprint),
    /// A request like it is being probed at the moment.
    Wait,
    Refuse,
}

/// Table of suspected and quarantined requests; see the module's text.
pub(crate) struct Quarantine {
    ttl: Duration,
    entries_max: usize,
    entries: BTreeMap<Fingerprint, Entry>,
    /// Evidence that different requests for a page share.
    pages: BTreeMap<Fingerprint, Entry>,
    answered: AnswerMarks,
}

impl Quarantine {
    /// Makes an empty table. Without `ttl` or room, nothing is ever quarantined.
    pub(crate) fn new(ttl: Duration, entries_max: usize) -> Self {
        let (entries, pages) = <(BTreeMap<_, _>, BTreeMap<_, _>)>::default();
        Quarantine { ttl, entries_max, entries, pages, answered: AnswerMarks::default() }
    }

    /// Sets the bounds after a reload of the config; existing entries keep the time that they were given.
    pub(crate) fn set_limits(&mut self, ttl: Duration, entries_max: usize) {
        self.ttl = ttl;
        self.entries_max = entries_max;
        if ttl.is_zero() {
            self.clear();
        }
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.pages.clear();
    }

    /// Whether nothing is suspected or in quarantine.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.pages.is_empty()
    }

    /// Whether any request with this method and target is suspected or in quarantine. This is cheap while the table is empty, and saves
    /// reading heads and bodies.
    pub(crate) fn concerns(&self, route: impl FnOnce() -> u64) -> bool {
        if self.is_empty() {
            return false;
        }
        let all = of_route(route());
        self.entries.range(all.clone()).next().is_some() || self.pages.range(all).next().is_some()
    }

    /// Records that a worker died with this request. Returns what is in quarantine from now on because of it.
    pub(crate) fn died(&mut self, now: Instant, subject: &Subject, death: &Death<'_>) -> Vec<Fingerprint> {
        let mut convicted = Vec::new();
        if self.ttl.is_zero() || self.entries_max == 0 {
            return convicted;
        }
        self.expire(now);
        let expires = now + self.ttl;
        let print = subject.print;
        let entry = entry_of(&mut self.entries, self.entries_max, print, || Entry::new(subject, death, now, expires));
        if entry.count(now, subject, death, expires) && entry.convict(now) {
            convicted.push(print);
        }
        if death.shared {
            // Any of those in that worker may have been the one: no like request is accused with it.
            return convicted;
        }
        let page = print.of_page();
        let entry = entry_of(&mut self.pages, self.entries_max, page, || Entry::new(subject, death, now, expires));
        if entry.count_of_page(now, subject, death, expires) && entry.convict(now) {
            convicted.push(page);
        }
        convicted
    }

    /// Deaths of workers that were counted with exactly this request.
    pub(crate) fn deaths_with(&self, print: &Fingerprint) -> u32 {
        self.entries.get(print).map_or(0, |entry| entry.deaths)
    }

    /// Records that a worker has answered the request completely. Returns whether probed requests are refused from now on, as it is known
    /// now what distinguishes them from this one.
    pub(crate) fn answered(&mut self, now: Instant, subject: &Subject) -> bool {
        let Subject { print, marks } = subject;
        self.entries.remove(print);
        let lately = self.answered.lately(print.route, now);
        let mut is_known = false;
        for (_, entry) in self.entries.range_mut(of_route(print.route)) {
            let before = entry.mode(lately);
            entry.compare(marks);
            is_known |= entry.is_convicted(now) && before == Mode::Probed && entry.mode(lately) == Mode::Refused;
        }
        let mut empty = Vec::new();
        for (page, entry) in self.pages.range_mut(of_route(print.route)) {
            entry.compare(marks);
            empty.extend(entry.telling.is_empty().then_some(*page));
        }
        for page in empty {
            self.pages.remove(&page);
        }
        is_known
    }

    /// Records that a page without a request body was answered.
    pub(crate) fn note_answered(&mut self, now: Instant, route: u64) {
        self.answered.note(route, now);
    }

    /// Decides about a request that arrives.
    pub(crate) fn admit(&mut self, now: Instant, subject: &Subject) -> Admission {
        let Subject { print, marks } = subject;
        let lately = self.answered.lately(print.route, now);
        let page = print.of_page();
        let entry = self.entries.get_mut(print).filter(|entry| now < entry.expires);
        let is_suspect = entry.is_some();
        if let Some(entry) = entry.filter(|entry| entry.is_convicted(now)) {
            return entry.admit(now, lately, *print);
        }
        let of_page = self.pages.get_mut(&page);
        if let Some(entry) = of_page.filter(|entry| entry.is_convicted(now) && entry.telling.are_in(marks)) {
            return entry.admit(now, lately, page);
        }
        if is_suspect { Admission::Alone } else { Admission::Free }
    }

    /// Records that the request which [`Admission::Probe`] accepted has ended, with whatever result.
    pub(crate) fn probe_over(&mut self, print: Fingerprint) {
        let entry = if print.whole == 0 { self.pages.get_mut(&print) } else { self.entries.get_mut(&print) };
        if let Some(entry) = entry {
            entry.probe.is_running = false;
        }
    }

    /// Mode of a request like this in quarantine; `None` if it is not there.
    pub(crate) fn mode(&self, now: Instant, subject: &Subject) -> Option<Mode> {
        let Subject { print, marks } = subject;
        let lately = self.answered.lately(print.route, now);
        let exact = self.entries.get(print).filter(|entry| entry.is_convicted(now));
        let of_page = self.pages.get(&print.of_page());
        let of_page = of_page.filter(|entry| entry.is_convicted(now) && entry.telling.are_in(marks));
        exact.or(of_page).map(|entry| entry.mode(lately))
    }

    /// Removes expired entries.
    pub(crate) fn expire(&mut self, now: Instant) {
        for table in [&mut self.entries, &mut self.pages] {
            table.retain(|_, entry| now < entry.expires);
        }
    }

    /// Number of requests in quarantine.
    pub(crate) fn len(&self, now: Instant) -> usize {
        self.held(now).count()
    }

    /// Removes all entries, suspicions and answers.
    pub(crate) fn forget(&mut self) {
        self.clear();
        self.answered.forget();
    }

    /// Releases the request with this id, or `all`. Returns the number of released ones.
    pub(crate) fn release(&mut self, now: Instant, which: &str) -> usize {
        let is_meant = |print: &Fingerprint| which == "all" || which == id(*print);
        let meant: Vec<_> = self.held(now).map(|(print, _)| *print).filter(|it| is_meant(it)).collect();
        for print in &meant {
            self.entries.remove(print);
            // With it goes the suspicion that it left against others.
            self.pages.remove(&print.of_page());
        }
        meant.len()
    }

    /// Requests in quarantine for the operator, the latest first.
    pub(crate) fn list(&self, now: Instant) -> Vec<QuarantinedRequest> {
        let mut held: Vec<_> = self.held(now).collect();
        held.sort_by_key(|(_, entry)| std::cmp::Reverse(entry.convicted));
        let lately = |print: &Fingerprint| self.answered.lately(print.route, now);
        held.into_iter().map(|(print, entry)| entry.describe(id(*print), now, lately(print))).collect()
    }

    /// Names of the marks that distinguish a request in quarantine, for people.
    pub(crate) fn told_by(&self, print: Fingerprint) -> Vec<String> {
        let entry = if print.whole == 0 { self.pages.get(&print) } else { self.entries.get(&print) };
        entry.filter(|entry| entry.is_compared).map(|entry| entry.telling.names()).unwrap_or_default()
    }

    fn held(&self, now: Instant) -> impl Iterator<Item = (&Fingerprint, &Entry)> {
        self.entries.iter().chain(&self.pages).filter(move |(_, entry)| entry.is_convicted(now))
    }
}

fn of_route(route: u64) -> std::ops::RangeInclusive<Fingerprint> {
    Fingerprint { route, page: 0, whole: 0 }..=Fingerprint { route, page: u64::MAX, whole: u64::MAX }
}

/// Entry for a fingerprint, made if there is none; the one closest to its expiry makes room.
fn entry_of(
    table: &mut BTreeMap<Fingerprint, Entry>,
    entries_max: usize,
    print: Fingerprint,
    make: impl FnOnce() -> Entry,
) -> &mut Entry {
    if !table.contains_key(&print) && table.len() >= entries_max {
        let first = table.iter().min_by_key(|(_, entry)| entry.expires).map(|(print, _)| *print);
        first.and_then(|first| table.remove(&first));
    }
    table.entry(print).or_insert_with(make)
}

/// Name of a fingerprint for people.
pub(crate) fn id(print: Fingerprint) -> String {
    let number = if print.whole == 0 { print.page } else { print.whole };
    format!("{:08x}", number >> 32)
}

#[cfg(test)]
mod tests;
