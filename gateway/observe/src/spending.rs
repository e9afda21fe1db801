//! Cost of requests, for the report that compares before and after.

use std::cell::RefCell;
use std::rc::Rc;

use sluice_catalog::snapshot::{DeploySnapshot, ReportSnapshot};
use sluice_trends::{RequestCost, Since, Spending};

use crate::context::unix_ms;
use crate::deploys;

/// Maximum age of a comparison, milliseconds. It takes about a millisecond where many classes have a long history.
const DEPLOY_AGE_MS_MAX: u64 = 10_000;

/// Cost of all requests, by class and version of the app.
#[derive(Default)]
pub struct Spendings {
    spending: RefCell<Spending>,
    /// Latest comparison of the versions, and the time at which it was made.
    deploy: RefCell<(u64, Option<DeploySnapshot>)>,
}

impl Spendings {
    /// Records a request of this class that has left a worker of this version of the app.
    pub(crate) fn request(&self, generation: u64, class: &Rc<str>, ended: &RequestCost<'_>) {
        self.spending.borrow_mut().request(unix_ms(), generation, class, ended);
    }

    /// Records the memory that a worker has held since its last report.
    pub(crate) fn held(&self, generation: u64, worker: u64, rss_bytes: u64) {
        self.spending.borrow_mut().held(unix_ms(), generation, worker, rss_bytes);
    }

    /// Records renders of a component by a worker of this version of the app, and those that left a hole in their page.
    pub fn rendered(&self, generation: u64, component: &str, renders: u64, holes: u64) {
        self.spending.borrow_mut().rendered(unix_ms(), generation, component, renders, holes);
    }

    /// Changes since the latest version of the app came; `None` while only one has served. Up to 10 s old.
    pub fn deploy(&self) -> Option<DeploySnapshot> {
        let (now_ms, mut latest) = (unix_ms(), self.deploy.borrow_mut());
        if now_ms.abs_diff(latest.0) >= DEPLOY_AGE_MS_MAX {
            let spending = self.spending.borrow();
            *latest = (now_ms, spending.parts().and_then(|parts| deploys::compare(&spending.report(None), &parts)));
        }
        latest.1.clone()
    }

    pub(crate) fn gone(&self, worker: u64) {
        self.spending.borrow_mut().gone(worker);
    }

    /// Cost of requests since this version of the app, or since so long ago; the default is the latest version.
    pub fn report(&self, generation: Option<u64>, ago_ms: Option<u64>) -> ReportSnapshot {
        let ago = ago_ms.map(|ago_ms| Since::Time(unix_ms().saturating_sub(ago_ms)));
        self.spending.borrow().report(generation.map(Since::Generation).or(ago))
    }
}
