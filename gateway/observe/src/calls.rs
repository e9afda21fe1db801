//! Reports of workers about the app's HTTP calls to other hosts. This module must not know which request made a call.

use std::cell::RefCell;
use std::rc::Rc;

use sluice_catalog::metrics;
use sluice_catalog::snapshot::CalledHostSnapshot;
use sluice_journal::Page;
use sluice_vitals::{Calls, CallsReport, HostCalls};
use tokio::time::Instant;

use crate::context::Context;

/// Reads one count of a host.
type Count = fn(&HostCalls) -> u64;

/// Calls by host, collected for metrics and snapshots.
pub struct OutgoingCalls {
    context: Rc<Context>,
    calls: RefCell<Calls>,
}

impl OutgoingCalls {
    pub(crate) fn new(context: &Rc<Context>) -> Self {
        OutgoingCalls { context: Rc::clone(context), calls: RefCell::default() }
    }

    /// Records a worker's report. `is_there` is false for the last words of a worker that is gone.
    pub fn told(&self, worker: u64, is_there: bool, reports: &[CallsReport<'_>]) {
        let now = self.context.since_start(Instant::now());
        self.calls.borrow_mut().told(worker, is_there, reports, now);
    }

    /// Hosts for operators, those that took most time lately first.
    pub fn snapshot(&self) -> Vec<CalledHostSnapshot> {
        self.calls.borrow_mut().snapshot(self.context.since_start(Instant::now()))
    }

    pub(crate) fn gone(&self, worker: u64) {
        self.calls.borrow_mut().gone(worker);
    }

    pub(crate) fn write_metrics(&self, page: &mut Page) {
        let calls = self.calls.borrow();
        let counts: [(_, Count); 4] = [
            (&metrics::APP_CALLS_TOTAL, |host| host.calls),
            (&metrics::APP_CALL_ERRORS_TOTAL, |host| host.errors),
            (&metrics::APP_CALL_FAILURES_TOTAL, |host| host.failed),
            (&metrics::APP_CALL_ANSWERS_TOTAL, |host| host.answers),
        ];
        for (metric, of) in counts {
            page.metric(metric);
            for (host, row) in calls.hosts() {
                page.sample(&[("called", host)], of(row));
            }
        }
        page.metric(&metrics::APP_CALL_SECONDS_TOTAL);
        for (host, row) in calls.hosts() {
            page.sample(&[("called", host)], row.seconds());
        }
        page.metric(&metrics::APP_CALLS_WAITING);
        for (host, _) in calls.hosts() {
            page.sample(&[("called", host)], calls.waiting(host));
        }
    }
}
