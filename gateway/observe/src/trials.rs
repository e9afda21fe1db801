//! A version on trial: the samples of its requests and of those of the present version, for the comparison of both.
//!
//! It costs a branch a request while no version is tried.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use sluice_catalog::metrics;
use sluice_compare::{Arm, Comparison, Sample};
use sluice_journal::{Outcome, Page};
use sluice_vitals::{ComponentReport, is_hole};

use crate::record::{AccessLine, RequestRecord};

/// Comparison of the version on trial with the present one.
#[derive(Default)]
pub struct Trials {
    is_on: Cell<bool>,
    trial: RefCell<Option<Trial>>,
}

struct Trial {
    comparison: Comparison,
    /// Workers of the version on trial, also those that have gone.
    tried: BTreeSet<u64>,
    /// Workers of the start of the trial, which are warm.
    warm: BTreeSet<u64>,
    /// Requests that other workers have ended, of those that live.
    served: HashMap<u64, Served>,
    /// Whether all requests of an address go to one version.
    by_address: bool,
    visitors: VisitorKey,
}

/// Numbers of visitors, which nobody can foresee: the key is random, another one for each trial.
#[derive(Clone, Debug, Default)]
pub struct VisitorKey(RandomState);

impl VisitorKey {
    /// Number of the visitor with this address. A network of 64 bits is one visitor with IPv6, because a client changes the rest at will.
    pub fn number(&self, address: IpAddr) -> u64 {
        match address.to_canonical() {
            IpAddr::V4(v4) => self.0.hash_one(v4),
            IpAddr::V6(v6) => self.0.hash_one(u128::from(v6) >> 64),
        }
    }
}

/// Requests that a worker has ended, and those of each class.
#[derive(Default)]
struct Served {
    all: u64,
    classes: HashMap<Rc<str>, u64>,
}

impl Served {
    /// Counts a request. Returns the numbers of those before it.
    fn count(&mut self, class: &Rc<str>) -> (u64, u64) {
        let of_class = self.classes.entry(Rc::clone(class)).or_default();
        let before = (self.all, *of_class);
        (self.all, *of_class) = (self.all + 1, *of_class + 1);
        before
    }
}

impl Trial {
    fn arm(&self, worker: u64) -> Arm {
        if self.tried.contains(&worker) { Arm::Trial } else { Arm::Present }
    }
}

impl Trials {
    /// Begins a comparison. `warm` are the workers of the present version; `by_address` says that all requests of an address go to one
    /// version.
    pub fn begin(&self, warm: impl Iterator<Item = u64>, by_address: bool) {
        let trial = Trial {
            comparison: Comparison::default(),
            tried: BTreeSet::new(),
            warm: warm.collect(),
            served: HashMap::new(),
            by_address,
            visitors: VisitorKey::default(),
        };
        self.trial.replace(Some(trial));
        self.is_on.set(true);
    }

    /// Ends the comparison.
    pub fn end(&self) {
        self.is_on.set(false);
        self.trial.replace(None);
    }

    /// Adds workers of the version on trial.
    pub fn see(&self, tried: impl Iterator<Item = u64>) {
        if let Some(trial) = &mut *self.trial.borrow_mut() {
            trial.tried.extend(tried);
        }
    }

    /// Reads the comparison, if there is one.
    pub fn read<T>(&self, read: impl FnOnce(&Comparison) -> T) -> Option<T> {
        self.trial.borrow().as_ref().map(|trial| read(&trial.comparison))
    }

    /// Records that a worker ended unexpectedly.
    pub fn died(&self, worker: u64) {
        if let Some(trial) = &mut *self.trial.borrow_mut() {
            trial.comparison.died(trial.arm(worker));
        }
    }

    /// Forgets a worker whose process is gone, but not which version it ran.
    pub(crate) fn exited(&self, worker: u64) {
        if let Some(trial) = &mut *self.trial.borrow_mut() {
            trial.served.remove(&worker);
            trial.comparison.exited(worker);
        }
    }

    /// Records the heap of a worker, so long after the trial began.
    pub fn heap(&self, at: Duration, worker: u64, used_bytes: u64) {
        if let Some(trial) = &mut *self.trial.borrow_mut() {
            trial.comparison.heap(at, trial.arm(worker), worker, used_bytes);
        }
    }

    /// Records components that a worker rendered.
    pub fn rendered(&self, worker: u64, components: &[ComponentReport<'_>]) {
        if !self.is_on.get() {
            return;
        }
        if let Some(trial) = &mut *self.trial.borrow_mut() {
            let arm = trial.arm(worker);
            for ComponentReport { component, outcome, count, .. } in components {
                let holes = if is_hole(outcome) { *count } else { 0 };
                trial.comparison.rendered(arm, component, *count, holes);
            }
        }
    }

    pub(crate) fn write_metrics(&self, page: &mut Page) {
        page.metric(&metrics::TRIAL_REQUESTS);
        let counts = self.read(|comparison| [Arm::Present, Arm::Trial].map(|arm| comparison.requests(arm)));
        for (version, count) in ["present", "trial"].into_iter().zip(counts.into_iter().flatten()) {
            page.sample(&[("version", version)], count);
        }
    }

    /// Records a request that has ended for its client.
    pub(crate) fn ended(&self, record: &RequestRecord, line: &AccessLine) {
        if !self.is_on.get() {
            return;
        }
        let Some(worker) = line.rest.worker else { return };
        let outcome = line.rest.outcome;
        // A client that leaves says nothing of the version.
        let is_gone =
            matches!(outcome, Outcome::ClientGoneReceiving | Outcome::ClientGoneQueued | Outcome::ClientGoneInService);
        if is_gone {
            return;
        }
        let Some(trial) = &mut *self.trial.borrow_mut() else { return };
        let (nth, nth_of_class) = if trial.warm.contains(&worker) {
            (u64::MAX, u64::MAX)
        } else {
            trial.served.entry(worker).or_default().count(&record.class)
        };
        let cpu_us = record.work.filter(|work| work.cpu_weight > 0).and_then(|work| work.cpu_us);
        let arm = trial.arm(worker);
        trial.comparison.take(&Sample {
            arm,
            class: &record.class,
            visitor: Some(trial.visitors.number(line.rest.peer)),
            stays: trial.by_address,
            nth,
            nth_of_class,
            cpu_us,
            service_us: record.work.and_then(|work| work.service_us),
            failed: line.rest.status >= 500 || outcome == Outcome::WorkerDied,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visitor_is_an_address_or_a_network_and_its_number_is_of_one_trial() {
        let (key, other) = (VisitorKey::default(), VisitorKey::default());
        let number = |text: &str| key.number(text.parse().unwrap());
        assert_eq!(number("2001:db8::1"), number("2001:db8::ffff:0:0:2"));
        assert_ne!(number("2001:db8::1"), number("2001:db8:0:1::1"));
        assert_eq!(number("::ffff:192.0.2.1"), number("192.0.2.1"));
        assert_ne!(number("192.0.2.1"), number("192.0.2.2"));
        assert_ne!(number("192.0.2.1"), other.number("192.0.2.1".parse().unwrap()));
    }

    #[test]
    fn workers_that_have_gone_are_forgotten() {
        let trials = Trials::default();
        trials.begin([1].into_iter(), true);
        let class: Rc<str> = "GET /".into();
        trials.trial.borrow_mut().as_mut().unwrap().served.entry(2).or_default().count(&class);
        trials.exited(2);
        assert!(trials.trial.borrow().as_ref().unwrap().served.is_empty());
    }
}
