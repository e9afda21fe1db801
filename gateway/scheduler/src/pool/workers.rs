//! The workers by number, with their total offer. Only workers that have changed are counted again, on demand, so that
//! a decision does not check all of them.

use std::cell::{Cell, Ref, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use super::worker::Worker;
use crate::lanes::Offer;
use crate::{Limits, WorkerId};

#[derive(Debug, Default)]
pub(super) struct Workers {
    all: BTreeMap<WorkerId, Worker>,
    /// Workers that have changed since they were counted; all of them if `is_stale`.
    changed: RefCell<Vec<WorkerId>>,
    is_stale: Cell<bool>,
    tally: RefCell<Tally>,
}

/// Each worker's offer when it was last counted, and the sum.
#[derive(Debug, Default)]
struct Tally {
    each: BTreeMap<WorkerId, Offer>,
    /// Workers that have a seat.
    seats: BTreeSet<WorkerId>,
    sum: Offer,
}

impl Workers {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "as the map has it")]
    pub(super) fn get_mut(&mut self, id: &WorkerId) -> Option<&mut Worker> {
        self.note(*id);
        self.all.get_mut(id)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&WorkerId, &mut Worker)> {
        self.is_stale.set(true);
        self.all.iter_mut()
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Worker> {
        self.iter_mut().map(|(_, w)| w)
    }

    pub(super) fn insert(&mut self, id: WorkerId, w: Worker) {
        self.note(id);
        self.all.insert(id, w);
    }

    pub(super) fn remove(&mut self, id: WorkerId) -> Option<Worker> {
        self.note(id);
        self.all.remove(&id)
    }

    /// Total offer of the workers to the next request.
    pub(super) fn offer(&self, limits: &Limits) -> Offer {
        self.count(limits);
        self.tally.borrow().sum
    }

    /// Workers that have room for some request.
    pub(super) fn with_seats(&self, limits: &Limits) -> Ref<'_, BTreeSet<WorkerId>> {
        self.count(limits);
        Ref::map(self.tally.borrow(), |tally| &tally.seats)
    }

    fn count(&self, limits: &Limits) {
        let mut changed = self.changed.borrow_mut();
        if self.is_stale.take() {
            *self.tally.borrow_mut() = Tally::default();
            changed.clear();
            changed.extend(self.all.keys());
        }
        if changed.is_empty() {
            return;
        }
        let mut tally = self.tally.borrow_mut();
        for id in changed.drain(..) {
            tally.put(id, self.all.get(&id).map(|w| w.offer(limits)));
        }
    }

    fn note(&self, id: WorkerId) {
        let mut changed = self.changed.borrow_mut();
        if changed.last() == Some(&id) {
            return;
        }
        if changed.len() <= self.all.len() {
            changed.push(id);
        } else {
            self.is_stale.set(true);
        }
    }
}

impl Tally {
    fn put(&mut self, id: WorkerId, now: Option<Offer>) {
        let before = match now {
            Some(now) => self.each.insert(id, now),
            None => self.each.remove(&id),
        };
        if now.is_some_and(|now| now.seats > 0) {
            self.seats.insert(id);
        } else {
            self.seats.remove(&id);
        }
        self.sum = self.sum.with(&before.unwrap_or_default(), u32::saturating_sub);
        self.sum = self.sum.with(&now.unwrap_or_default(), u32::saturating_add);
    }
}

impl Deref for Workers {
    type Target = BTreeMap<WorkerId, Worker>;

    fn deref(&self) -> &Self::Target {
        &self.all
    }
}
