//! What requests took, on its way to the report of before and after.

use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use sluice_catalog::snapshot::ReportSnapshot;
use sluice_scheduler::WorkerId;
use sluice_supervisor::Vitals;
use sluice_trends::{Ended, Since};

use super::Gate;

impl Gate {
    /// A worker has held so much memory since it said so last.
    pub(super) fn note_held(&self, worker: WorkerId, vitals: Vitals) {
        if let Some(generation) = self.scheduler.borrow().generation_of(worker) {
            self.spending.borrow_mut().held(unix_ms(), generation, worker.0, vitals.rss_bytes);
        }
    }

    pub(super) fn note_spent(&self, worker: WorkerId, class: &Rc<str>, ended: &Ended<'_>) {
        if let Some(generation) = self.scheduler.borrow().generation_of(worker) {
            self.spending.borrow_mut().request(unix_ms(), generation, class, ended);
        }
    }

    /// What requests took since this version of the app, or so long ago; since the latest version unless either is said.
    pub fn report(&self, generation: Option<u64>, ago_ms: Option<u64>) -> ReportSnapshot {
        let ago = ago_ms.map(|ago_ms| Since::Time(unix_ms().saturating_sub(ago_ms)));
        self.spending.borrow().report(generation.map(Since::Generation).or(ago))
    }
}

fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
