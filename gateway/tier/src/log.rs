//! The purges that gateways tell each other, and the stored pages that they concern. It is pure.
//!
//! The server keeps the last purges in one stream, whose ids only grow. A page is stored with the id up to which its writer knew the
//! purges when it asked for the render. A gateway may use it if it knows all later ones and finds none among them that means it. So
//! a purge needs to find nothing in the server, and a render that began before it can bring nothing back.

mod entry;
mod marks;

use sluice_catalog::snapshot::Purge;

use crate::resp::Reply;
pub(crate) use entry::{Entry, Id, Kind};
use marks::Marks;

/// Approximate number of purges stored on the server.
pub(crate) const KEPT_MAX: usize = 10_000;

/// Purges that were known when the render of a page was asked for: the log, and its last purge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// A log that begins anew, because the server has lost it, has another number.
    pub(crate) log: u64,
    pub(crate) id: Id,
}

/// Effect of purges on a stored page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    Valid,
    /// Page that counts as stale.
    Stale,
    Purged,
}

/// Result of a reading of the log.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// Purges may have been missed: the log is gone, was begun anew, or is longer than what is kept of it.
    pub(crate) is_lost: bool,
    /// Purges of other gateways, the first one first.
    pub(crate) purges: Vec<(Purge, bool)>,
}

/// The log up to the place that this gateway knows.
pub(crate) struct Log {
    /// The name of this gateway in it.
    own: u64,
    /// `None` while nothing is known.
    known: Option<Position>,
    marks: Marks,
}

impl Log {
    pub(crate) fn new(own: u64) -> Self {
        Log { own, known: None, marks: Marks::default() }
    }

    /// Place up to which it is known.
    pub(crate) fn known(&self) -> Option<Position> {
        self.known
    }

    /// Takes the whole log, as it was read from its beginning. Returns what of it is new to the pages in memory: all after the
    /// last one that was known, or, if none was, after `since_ms`. `None` if there is no log.
    pub(crate) fn load(&mut self, entries: &[Entry], since_ms: u64) -> Option<News> {
        let (first, last) = (entries.first()?, entries.last()?);
        // Who adds to a log that was lost meanwhile does so by its old number; whoever began the new one has said so.
        let begun = entries.iter().rev().find(|entry| entry.kind == Kind::Begin);
        let log = begun.unwrap_or(last).log;
        let is_known = |known: &Position| known.log == log && entries.iter().any(|entry| entry.id == known.id);
        let (is_lost, after) = match self.known {
            Some(known) if is_known(&known) => (false, Some(known.id)),
            Some(_) => (true, None),
            None => (first.kind != Kind::Begin && first.id.ms > since_ms, Id { ms: since_ms, number: 0 }.before()),
        };
        // Where something was lost, what is there counts as new: a purge weighs more than to be stale.
        let new = entries.iter().filter(|entry| after.is_none_or(|after| entry.id > after));
        let news = News { is_lost, purges: self.purges(new) };
        self.marks = Marks::beginning_at(first.id);
        for entry in entries {
            self.marks.note(entry);
        }
        self.known = Some(Position { log, id: last.id });
        Some(news)
    }

    fn purges<'e>(&self, entries: impl Iterator<Item = &'e Entry>) -> Vec<(Purge, bool)> {
        let others = entries.filter(|entry| entry.origin != self.own);
        others.filter_map(|entry| Some((entry.purge()?, entry.is_soft))).collect()
    }

    /// Takes what was read from the last known one on, with that one.
    /// Returns the purges of other gateways; `None` where some may have been missed, so that all has to be read again.
    pub(crate) fn hear(&mut self, entries: &[Entry]) -> Option<Vec<(Purge, bool)>> {
        let known = self.known?;
        let (first, new) = entries.split_first().filter(|(first, _)| first.id == known.id)?;
        if new.iter().any(|entry| entry.kind == Kind::Begin && entry.log != known.log) {
            return None;
        }
        for entry in new {
            self.marks.note(entry);
        }
        let id = new.last().map_or(first.id, |entry| entry.id);
        self.known = Some(Position { id, ..known });
        Some(self.purges(new.iter()))
    }

    /// Takes what a look-up has read from this id on, with it, and says up to where the log is known there. `None` where that is
    /// not all.
    pub(crate) fn peek(&mut self, entries: &[Entry], from: Id, count_max: usize) -> Option<Position> {
        let known = self.known?;
        let begins_anew = |entry: &Entry| entry.kind == Kind::Begin && entry.log != known.log;
        let is_gap = entries.first().is_none_or(|first| first.id != from);
        if is_gap || entries.len() >= count_max || entries.iter().skip(1).any(begins_anew) {
            return None;
        }
        for entry in entries {
            self.marks.note(entry);
        }
        let last = entries.last().map_or(known.id, |entry| entry.id);
        Some(Position { id: last.max(known.id), ..known })
    }

    /// The server has this from this gateway now, by this id.
    pub(crate) fn told(&mut self, kind: &Kind, is_soft: bool, id: Id) {
        self.marks.note(&Entry { id, log: 0, origin: self.own, kind: kind.clone(), is_soft });
    }

    pub(crate) fn own(&self) -> u64 {
        self.own
    }

    /// Whether a stored page may be used.
    pub(crate) fn judge(&self, stored: Position, url: &str, tags: &[Box<str>]) -> Verdict {
        if self.known.is_none_or(|known| known.log != stored.log) {
            return Verdict::Purged;
        }
        self.marks.judge(stored.id, url, tags)
    }
}

/// The entries of a reply to `XRANGE`. `None` where it is none, or holds what this version does not know.
pub(crate) fn entries(reply: &Reply) -> Option<Vec<Entry>> {
    reply.list()?.iter().map(Entry::read).collect()
}

#[cfg(test)]
mod tests;
