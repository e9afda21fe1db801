//! Cost of requests, for the report that compares before and after.

use std::cell::RefCell;
use std::rc::Rc;

use sluice_catalog::snapshot::ReportSnapshot;
use sluice_trends::{RequestCost, Since, Spending};

use crate::context::unix_ms;

/// Cost of all requests, by class and version of the app.
#[derive(Default)]
pub struct Spendings(RefCell<Spending>);

impl Spendings {
    /// Records a request of this class that has left a worker of this version of the app.
    pub(crate) fn request(&self, generation: u64, class: &Rc<str>, ended: &RequestCost<'_>) {
        self.0.borrow_mut().request(unix_ms(), generation, class, ended);
    }

    /// Records the memory that a worker has held since its last report.
    pub(crate) fn held(&self, generation: u64, worker: u64, rss_bytes: u64) {
        self.0.borrow_mut().held(unix_ms(), generation, worker, rss_bytes);
    }

    pub(crate) fn gone(&self, worker: u64) {
        self.0.borrow_mut().gone(worker);
    }

    /// Cost of requests since this version of the app, or since so long ago; the default is the latest version.
    pub fn report(&self, generation: Option<u64>, ago_ms: Option<u64>) -> ReportSnapshot {
        let ago = ago_ms.map(|ago_ms| Since::Time(unix_ms().saturating_sub(ago_ms)));
        self.0.borrow().report(generation.map(Since::Generation).or(ago))
    }
}
