//! One entry of the table: a request, or the common part of several for a page, with the evidence against it.

use std::time::Duration;

use sluice_catalog::snapshot::QuarantinedRequest;
use tokio::time::Instant;

use super::marks::Marks;
use super::{Admission, Death, Fingerprint, Subject};

/// Evidence needed for quarantine: deaths of workers, and different requests if not all were the same.
const DEATHS_MIN: u32 = 2;
const DIFFERENT_MIN: usize = 2;
/// Maximum number of ids and fingerprints in an entry. It is decided before there are more.
const REMEMBERED_MAX: usize = 4;
/// Maximum shown length of a target, characters.
const TARGET_CHARS_MAX: usize = 200;
/// Pause between a failed probe and the next: doubled for each failed one before.
const PROBE_AFTER: Duration = Duration::from_secs(1);
/// Maximum pause between two probes of a quarantined request.
const PROBE_AFTER_MAX: Duration = Duration::from_secs(60);

/// Treatment of requests in quarantine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Refused,
    /// Nothing distinguishes them from answered requests: one at a time is accepted.
    Probed,
}

/// Probes of a request in quarantine: whether one runs, how many have failed, and the time of the next.
pub(super) struct ProbeState {
    pub(super) is_running: bool,
    failed: u32,
    next: Instant,
}

pub(super) struct Entry {
    method: String,
    target: String,
    pub(super) deaths: u32,
    alone: u32,
    /// Numbers of the requests that died, and their fingerprints: a retry is the same request.
    requests: Vec<u64>,
    wholes: Vec<u64>,
    /// Marks that all requests which died have, and that no answered request had.
    pub(super) telling: Marks,
    /// Names of headers that answered requests had.
    answered_names: Marks,
    /// A different request was answered.
    pub(super) is_compared: bool,
    has_body: bool,
    counted: Instant,
    pub(super) convicted: Option<Instant>,
    pub(super) expires: Instant,
    pub(super) probe: ProbeState,
}

impl Entry {
    /// Makes an entry without deaths.
    pub(super) fn new(subject: &Subject, death: &Death<'_>, now: Instant, expires: Instant) -> Self {
        Entry {
            method: death.method.to_owned(),
            target: death.target.chars().take(TARGET_CHARS_MAX).collect(),
            deaths: 0,
            alone: 0,
            requests: Vec::new(),
            wholes: Vec::new(),
            telling: subject.marks.clone(),
            answered_names: Marks::default(),
            is_compared: false,
            has_body: subject.marks.has_body(),
            counted: death.dispatched.min(now),
            convicted: None,
            expires,
            probe: ProbeState { is_running: false, failed: 0, next: now },
        }
    }

    /// Counts the death of a worker with exactly this request. Returns whether the evidence is enough.
    pub(super) fn count(&mut self, now: Instant, subject: &Subject, death: &Death<'_>, expires: Instant) -> bool {
        if death.dispatched < self.counted {
            return false;
        }
        self.add(now, subject, death, expires);
        self.deaths >= DEATHS_MIN && self.alone > 0
    }

    /// Counts the death of a worker with one of the requests for this page.
    pub(super) fn count_of_page(
        &mut self,
        now: Instant,
        subject: &Subject,
        death: &Death<'_>,
        expires: Instant,
    ) -> bool {
        let is_like = self.telling.are_in(&subject.marks);
        if death.dispatched < self.counted || self.convicted.is_some() && !is_like {
            return false;
        }
        self.telling.keep_common(&subject.marks);
        self.telling.clear_of_names(&self.answered_names);
        if self.is_compared && self.telling.is_empty() {
            // Two kinds of deaths: the evidence begins anew with the later one.
            *self = Entry::new(subject, death, now, expires);
        }
        self.add(now, subject, death, expires);
        self.requests.len() >= DIFFERENT_MIN && self.wholes.len() >= DIFFERENT_MIN
    }

    fn add(&mut self, now: Instant, subject: &Subject, death: &Death<'_>, expires: Instant) {
        self.deaths += 1;
        self.alone += u32::from(!death.shared);
        remember(&mut self.requests, death.request);
        remember(&mut self.wholes, subject.print.whole);
        self.counted = now;
        self.expires = expires;
        if self.convicted.is_some() {
            let wait = PROBE_AFTER.saturating_mul(1 << self.probe.failed.min(16)).min(PROBE_AFTER_MAX);
            self.probe.failed += 1;
            self.probe.next = now + wait;
        }
    }

    /// Puts the request into quarantine. Returns whether it was not there before.
    pub(super) fn convict(&mut self, now: Instant) -> bool {
        let is_new = self.convicted.is_none();
        self.convicted.get_or_insert(now);
        is_new
    }

    pub(super) fn is_convicted(&self, now: Instant) -> bool {
        self.convicted.is_some() && now < self.expires
    }

    /// Removes the marks of an answered request from the suspicion: they kill no worker.
    pub(super) fn compare(&mut self, answered: &Marks) {
        self.is_compared = true;
        self.telling.clear_of(answered);
        self.answered_names.add_names(answered);
    }

    /// Mode of this entry. `lately` means that its page was answered lately, for any client.
    pub(super) fn mode(&self, lately: bool) -> Mode {
        // What stands for several requests is a guess, unless all have the same body, which no answered one had.
        let is_guess = self.wholes.len() >= DIFFERENT_MIN && !self.telling.has_body();
        let is_doubtful = if self.is_compared { self.telling.is_empty() || is_guess } else { lately && !self.has_body };
        if is_doubtful { Mode::Probed } else { Mode::Refused }
    }

    /// Decides about a request that this entry holds in quarantine.
    pub(super) fn admit(&mut self, now: Instant, lately: bool, print: Fingerprint) -> Admission {
        if self.mode(lately) == Mode::Refused {
            return Admission::Refuse;
        }
        if self.probe.is_running {
            return Admission::Wait;
        }
        if now < self.probe.next {
            return Admission::Refuse;
        }
        self.probe.is_running = true;
        Admission::Probe(print)
    }

    pub(super) fn describe(&self, id: String, now: Instant, lately: bool) -> QuarantinedRequest {
        let ms = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        QuarantinedRequest {
            id,
            method: self.method.clone(),
            target: self.target.clone(),
            deaths: self.deaths,
            told_by: if self.is_compared { self.telling.names() } else { Vec::new() },
            probed: self.mode(lately) == Mode::Probed,
            for_ms: self.convicted.map_or(0, |since| ms(now.saturating_duration_since(since))),
            expires_in_ms: ms(self.expires.saturating_duration_since(now)),
        }
    }
}

fn remember(known: &mut Vec<u64>, value: u64) {
    if known.len() < REMEMBERED_MAX && !known.contains(&value) {
        known.push(value);
    }
}
