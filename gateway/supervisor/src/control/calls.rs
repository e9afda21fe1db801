//! Reports of workers about the app's HTTP calls to other hosts. It must not know what becomes of them.

use sluice_vitals::CallsReport;

use super::record::ControlRecord;

/// Hosts accepted in one line.
const HOSTS_MAX: usize = 100;
/// Different times accepted of one host.
const TIMES_MAX: usize = 1000;

/// Reports that a line holds.
pub(super) fn told(said: &ControlRecord) -> Vec<CallsReport<'_>> {
    let reports = said.hosts.iter().take(HOSTS_MAX).map(|one| CallsReport {
        host: &one.host,
        calls: one.calls,
        errors: one.errors,
        failed: one.failed,
        waiting: one.waiting,
        oldest_us: one.oldest_us,
        times_us: &one.times_us[..one.times_us.len().min(TIMES_MAX)],
        counts: &one.counts,
    });
    reports.collect()
}
