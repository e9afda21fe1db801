//! Visitors who try a version that runs beside the present one: a share of them, each of whom stays with one version.
//!
//! A session is worth more than a share: a visitor whose session lives in a worker stays there. Other visitors are drawn by their address,
//! until a cookie keeps them with the worker that answers.

use std::cell::{Cell, RefCell};
use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;

use sluice_scheduler::WorkerId;

use super::address::Client;

/// Share of visitors who try a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrialShare {
    /// Share in millionths.
    pub millionths: u32,
}

/// The version on trial, if there is one.
#[derive(Default)]
pub struct Trial {
    share: Cell<Option<TrialShare>>,
    workers: RefCell<Vec<WorkerId>>,
    /// Key of the draw, which nobody can guess. The next trial draws other visitors.
    key: RefCell<RandomState>,
}

impl Trial {
    /// Begins a trial, or ends it with `None`.
    pub fn set(&self, share: Option<TrialShare>) {
        self.share.set(share);
        self.key.replace(RandomState::new());
        self.workers.borrow_mut().clear();
    }

    /// Sets the workers of the version on trial that serve now.
    pub fn set_workers(&self, workers: impl Iterator<Item = WorkerId>) {
        let mut known = self.workers.borrow_mut();
        known.clear();
        known.extend(workers);
    }

    /// Whether this worker runs the version on trial.
    pub fn has(&self, worker: WorkerId) -> bool {
        self.workers.borrow().contains(&worker)
    }

    pub(super) fn share(&self) -> Option<TrialShare> {
        self.share.get()
    }

    /// Worker of the version on trial for this client: always the same one while the workers stay.
    pub(super) fn worker(&self, client: IpAddr) -> Option<WorkerId> {
        let workers = self.workers.borrow();
        let at = self.hash(client) / 1_000_003 % workers.len().max(1) as u64;
        workers.get(usize::try_from(at).unwrap_or(0)).copied()
    }

    /// Whether this client is of those who try the version.
    pub(super) fn draws(&self, share: TrialShare, client: IpAddr) -> bool {
        self.hash(client) % 1_000_000 < u64::from(share.millionths)
    }

    fn hash(&self, client: IpAddr) -> u64 {
        self.key.borrow().hash_one(Client::of(client))
    }
}
