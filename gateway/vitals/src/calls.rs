//! HTTP calls of apps to other hosts, as workers report them. It must not know what was called there.

use std::collections::BTreeMap;
use std::time::Duration;

use sluice_catalog::snapshot::CalledHostSnapshot;

use crate::components::in_ms;
use crate::names::Names;
use crate::spread::Spread;

/// Maximum number of distinguished hosts.
const HOSTS_MAX: usize = 50;
/// Longest name of a host.
const HOST_CHARS_MAX: usize = 255;
/// Length of the windows of recent figures, seconds; one to two of them count.
const RECENT_S: u64 = 60;
/// Maximum time that one report can add, microseconds. A day, as calls overlap.
const TIME_US_MAX: u64 = 86_400_000_000;

/// Report of a worker on its calls to one host, since its report before.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallsReport<'a> {
    /// Host and port.
    pub host: &'a str,
    /// Calls that have begun.
    pub calls: u64,
    /// Calls that have ended without an answer.
    pub errors: u64,
    /// Answers with a status of 500 or above.
    pub failed: u64,
    /// Calls that wait for an answer.
    pub waiting: u64,
    /// Time for which the first of them has waited, microseconds.
    pub oldest_us: u64,
    /// Times to the heads of answers, microseconds.
    pub times_us: &'a [u64],
    /// Number of answers with each of these times.
    pub counts: &'a [u64],
}

/// Calls to one host since the start.
#[derive(Debug, Default)]
pub struct HostCalls {
    /// Calls that have begun.
    pub calls: u64,
    /// Calls that have ended without an answer.
    pub errors: u64,
    /// Answers with a status of 500 or above.
    pub failed: u64,
    /// Answers.
    pub answers: u64,
    /// Time to the heads of all answers, microseconds.
    pub time_us: u64,
    times: Spread<RECENT_S>,
    lately: Lately,
}

/// Counts of the present window and of the one before.
#[derive(Debug, Default)]
struct Lately {
    window: u64,
    windows: [[u64; 2]; 2],
}

/// Calls of one worker that wait.
#[derive(Debug)]
struct Open {
    host: String,
    waiting: u64,
    /// Beginning of the first of them, by the gateway's clock.
    since: Duration,
}

/// Calls of all workers.
#[derive(Debug, Default)]
pub struct Calls {
    hosts: Names<HostCalls, HOSTS_MAX>,
    open: BTreeMap<u64, Vec<Open>>,
}

impl Calls {
    /// Adds a worker's report. `is_there` is false for the last words of a worker that is gone, of whose calls none waits.
    pub fn told(&mut self, worker: u64, is_there: bool, reports: &[CallsReport<'_>], now: Duration) {
        let mut open = Vec::new();
        for report in reports {
            let host: String = report.host.chars().take(HOST_CHARS_MAX).collect();
            self.hosts.used(&host, now).add(report, now);
            if is_there && report.waiting > 0 {
                let since = now.saturating_sub(Duration::from_micros(report.oldest_us));
                open.push(Open { host, waiting: report.waiting, since });
            }
        }
        if open.is_empty() {
            self.open.remove(&worker);
        } else {
            self.open.insert(worker, open);
        }
    }

    /// Forgets the open calls of a worker that is gone.
    pub fn gone(&mut self, worker: u64) {
        self.open.remove(&worker);
    }

    /// Hosts with their counts, in the order of their names.
    pub fn hosts(&self) -> impl Iterator<Item = (&str, &HostCalls)> {
        self.hosts.iter()
    }

    /// Calls to this host that wait for an answer.
    pub fn waiting(&self, host: &str) -> u64 {
        self.open_to(host).map(|open| open.waiting).fold(0, u64::saturating_add)
    }

    /// Hosts for operators, those that took most time lately first.
    pub fn snapshot(&mut self, now: Duration) -> Vec<CalledHostSnapshot> {
        let names: Vec<String> = self.hosts.iter().map(|(name, _)| name.to_owned()).collect();
        let oldest: BTreeMap<&str, Duration> = names
            .iter()
            .filter_map(|name| {
                let since = self.open_to(name).map(|open| open.since).min()?;
                Some((name.as_str(), now.saturating_sub(since)))
            })
            .collect();
        let waiting: Vec<(u64, f64)> = names
            .iter()
            .map(|name| (self.waiting(name), self.open_to(name).map(|open| open.recent_ms(now)).sum()))
            .collect();
        let mut rows: Vec<(f64, CalledHostSnapshot)> = Vec::with_capacity(names.len());
        for ((name, row), (waiting, open_ms)) in self.hosts.iter_mut().zip(waiting) {
            let oldest_ms = oldest.get(name).map(|oldest| oldest.as_secs_f64() * 1000.0);
            let (time_ms, row) = row.snapshot(name, waiting, oldest_ms, now);
            rows.push((time_ms + open_ms, row));
        }
        let all: f64 = rows.iter().map(|(time_ms, _)| time_ms).sum();
        rows.sort_by(|(one, first), (other, second)| {
            other.total_cmp(one).then_with(|| second.calls_total.cmp(&first.calls_total))
        });
        let shared = |(time_ms, row)| CalledHostSnapshot { share: if all > 0.0 { time_ms / all } else { 0.0 }, ..row };
        rows.into_iter().map(shared).collect()
    }

    /// Open calls to this host; all of those without a row are of the row of the others.
    fn open_to<'a>(&'a self, host: &'a str) -> impl Iterator<Item = &'a Open> {
        self.open.values().flatten().filter(move |open| self.hosts.name_of(&open.host) == host)
    }
}

impl Open {
    /// Time for which these calls have waited within the windows of recent figures, milliseconds. Only the age of the first is known:
    /// the others count half of it.
    #[allow(clippy::cast_precision_loss, reason = "a sum of times need not be exact")]
    fn recent_ms(&self, now: Duration) -> f64 {
        let recent = Duration::from_secs(RECENT_S + now.as_secs() % RECENT_S);
        let first_ms = now.saturating_sub(self.since).min(recent).as_secs_f64() * 1000.0;
        first_ms * (self.waiting as f64 + 1.0) / 2.0
    }
}

impl HostCalls {
    fn add(&mut self, report: &CallsReport<'_>, now: Duration) {
        for (total, more) in
            [(&mut self.calls, report.calls), (&mut self.errors, report.errors), (&mut self.failed, report.failed)]
        {
            *total = total.saturating_add(more);
        }
        self.lately.add([report.calls, report.errors], now);
        let mut time_us: u64 = 0;
        for (us, count) in report.times_us.iter().zip(report.counts) {
            self.times.record_many(*us, *count, now);
            self.answers = self.answers.saturating_add(*count);
            time_us = time_us.saturating_add(us.saturating_mul(*count));
        }
        self.time_us = self.time_us.saturating_add(time_us.min(TIME_US_MAX));
    }

    /// The row for operators, and the time that calls took that were answered lately, in milliseconds.
    fn snapshot(
        &mut self,
        host: &str,
        waiting: u64,
        oldest_ms: Option<f64>,
        now: Duration,
    ) -> (f64, CalledHostSnapshot) {
        let [calls, errors] = self.lately.sums(now);
        let mut percentile_ms = |hundredths| self.times.percentile(hundredths, now).map(|us| us / 1000.0);
        let (p50_ms, p95_ms) = (percentile_ms(50), percentile_ms(95));
        let time_ms = self.times.sum(now) / 1000.0;
        let row = CalledHostSnapshot {
            host: host.to_owned(),
            calls_total: self.calls,
            errors_total: self.errors,
            failures_total: self.failed,
            calls,
            errors,
            p50_ms,
            p95_ms,
            share: 0.0,
            waiting,
            oldest_ms,
        };
        (time_ms, row)
    }

    /// Time to the heads of all answers, seconds.
    pub fn seconds(&self) -> f64 {
        in_ms(self.time_us) / 1000.0
    }
}

impl Lately {
    fn add(&mut self, more: [u64; 2], now: Duration) {
        self.forget(now);
        self.windows[0].iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.saturating_add(more));
    }

    fn sums(&mut self, now: Duration) -> [u64; 2] {
        self.forget(now);
        let [[calls, errors], [calls_before, errors_before]] = self.windows;
        [calls.saturating_add(calls_before), errors.saturating_add(errors_before)]
    }

    fn forget(&mut self, now: Duration) {
        let window = now.as_secs() / RECENT_S;
        match window.saturating_sub(self.window) {
            0 => return,
            1 => self.windows.rotate_right(1),
            _ => self.windows[1] = [0, 0],
        }
        self.windows[0] = [0, 0];
        self.window = window;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    fn report(host: &str) -> CallsReport<'_> {
        CallsReport { host, calls: 3, times_us: &[2_000, 64_000], counts: &[1, 1], errors: 1, ..CallsReport::default() }
    }

    #[test]
    fn slow_hosts_come_first_with_their_share() {
        let mut calls = Calls::default();
        calls.told(1, true, &[report("api.test:8080")], S);
        calls.told(2, true, &[CallsReport { times_us: &[640_000], counts: &[10], ..report("slow.test") }], S);
        let rows = calls.snapshot(S * 2);
        assert_eq!(rows.iter().map(|row| row.host.as_str()).collect::<Vec<_>>(), ["slow.test", "api.test:8080"]);
        assert!(rows[0].share > 0.98 && (rows[0].share + rows[1].share - 1.0).abs() < 1e-9, "{rows:?}");
        assert!(rows[0].p50_ms.is_some_and(|ms| (ms - 640.0).abs() < 20.0), "{rows:?}");
        assert_eq!((rows[1].calls, rows[1].errors, rows[1].errors_total), (3, 1, 1));
        assert_eq!((rows[1].p50_ms.map(f64::round), rows[1].p95_ms.map(f64::round)), (Some(2.0), Some(65.0)));
    }

    #[test]
    fn recent_figures_end_and_totals_stay() {
        let mut calls = Calls::default();
        calls.told(1, true, &[report("api.test")], S);
        let row = &calls.snapshot(S * 90)[0];
        assert_eq!((row.calls, row.p50_ms.is_some()), (3, true), "of the window before");
        let row = &calls.snapshot(S * 200)[0];
        assert_eq!((row.calls, row.errors, row.p50_ms, row.share), (0, 0, None, 0.0));
        assert_eq!((row.calls_total, row.errors_total), (3, 1));
    }

    #[test]
    fn a_host_that_never_answers_is_told_by_what_waits() {
        let mut calls = Calls::default();
        let stuck = CallsReport { host: "stuck.test", calls: 2, waiting: 2, oldest_us: 500_000, ..Default::default() };
        calls.told(1, true, &[stuck, report("api.test")], S);
        calls.told(2, true, &[CallsReport { waiting: 1, oldest_us: 0, ..stuck }], S * 3);
        let row = &calls.snapshot(S * 4)[0];
        assert_eq!((row.host.as_str(), row.waiting, row.oldest_ms, row.p50_ms), ("stuck.test", 3, Some(3500.0), None));
        calls.told(1, true, &[], S * 4);
        assert_eq!(calls.waiting("stuck.test"), 1, "the first worker's calls have ended");
        calls.gone(2);
        calls.told(2, false, &[stuck], S * 5);
        assert_eq!(calls.waiting("stuck.test"), 0, "of a worker that is gone none waits");
    }

    #[test]
    fn a_call_that_waits_for_hours_counts_the_recent_time_alone() {
        let mut calls = Calls::default();
        let now = S * 7_230;
        let slow = CallsReport { times_us: &[900_000], counts: &[95], ..report("slow.test") };
        let poll = CallsReport { host: "poll.test", waiting: 1, oldest_us: 7_200_000_000, ..Default::default() };
        calls.told(1, true, &[slow, poll], now);
        let shares: Vec<_> =
            calls.snapshot(now).into_iter().map(|row| (row.host, (row.share * 10.0).round())).collect();
        assert_eq!(
            shares,
            [("poll.test".to_owned(), 5.0), ("slow.test".to_owned(), 5.0)],
            "the poll has waited 90 s since 7,140 s"
        );
        let others = CallsReport { waiting: 9, oldest_us: 1_000_000, ..poll };
        calls.told(2, true, &[others], now);
        let row = &calls.snapshot(now)[0];
        assert_eq!((row.host.as_str(), row.waiting, row.oldest_ms), ("poll.test", 10, Some(7_200_000.0)));
        assert!(
            row.share > 0.5 && row.share < 0.55,
            "those of another worker are as old as its own first: {}",
            row.share
        );
    }

    #[test]
    fn i6_hosts_are_bounded_and_reports_of_a_worker_overflow_nothing() {
        let mut calls = Calls::default();
        let long = "h".repeat(10_000);
        calls.told(1, true, &[CallsReport { waiting: 1, ..report(&long) }], S);
        let names: Vec<String> = (0..200).map(|host| format!("h{host}.test")).collect();
        for name in &names {
            let most = CallsReport {
                host: name,
                calls: u64::MAX,
                errors: u64::MAX,
                failed: u64::MAX,
                waiting: u64::MAX,
                oldest_us: u64::MAX,
                times_us: &[u64::MAX, u64::MAX, 7],
                counts: &[u64::MAX, 1],
            };
            calls.told(1, true, &[most, most], S);
        }
        assert_eq!(calls.hosts().count(), HOSTS_MAX + 1);
        let rows = calls.snapshot(S);
        assert_eq!(rows[0].host, "other", "open calls of hosts without a row");
        assert_eq!(rows[0].waiting, u64::MAX);
        assert!(calls.hosts().all(|(name, _)| name.len() <= HOST_CHARS_MAX));
    }
}
