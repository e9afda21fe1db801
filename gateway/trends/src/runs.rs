//! Uninterrupted runs of workers' main threads, added up by worker and for the whole gateway. Workers count for themselves, so a
//! line that gets lost is made good by the next.

use std::collections::{BTreeMap, VecDeque};

use sluice_catalog::snapshot::{LongRunSnapshot, RUN_BOUNDS_US, RUN_BUCKETS, RUN_CLASSES, RunsSnapshot};

/// Maximum number of remembered long runs.
const LONGEST_MAX: usize = 20;
/// Time for which the longest runs are remembered, milliseconds.
const LONGEST_AGE_MS_MAX: u64 = 3_600_000;

/// Counts of a worker since it serves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Runs by duration, as [`RUN_BOUNDS_US`] says.
    pub counts: [u64; RUN_BUCKETS],
    /// Time in them, microseconds.
    pub time_us: [u64; RUN_BUCKETS],
    /// Watched time, microseconds.
    pub observed_us: u64,
    /// Pauses of the garbage collector.
    pub collections: u64,
    /// Time in them, microseconds.
    pub collected_us: u64,
}

/// One long run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LongRun {
    /// Duration, microseconds.
    pub us: u64,
    /// Time of the garbage collector within it, microseconds; 0 if the worker was killed in it.
    pub collected_us: u64,
    /// Code that ran when the gateway looked, if it killed the worker in it.
    pub place: Option<String>,
    /// CPU time of the main thread meanwhile, microseconds, where that is known.
    pub cpu_us: Option<u64>,
    /// Use of the time, in a word, if that is known.
    pub spent: Option<&'static str>,
    /// End of the run, Unix time in milliseconds.
    pub at_unix_ms: u64,
    /// The worker.
    pub worker: u64,
    /// `X-Request-Id` of its request, and the class.
    pub request: Option<(String, String)>,
}

/// All that is known of runs. Bounded by the number of workers.
#[derive(Debug, Default)]
pub struct Runs {
    workers: BTreeMap<u64, Totals>,
    all: Totals,
    requests: u64,
    /// Requests with a run of each class but the first, or a longer one.
    requests_with: [u64; RUN_CLASSES.len() - 1],
    longest: VecDeque<LongRun>,
}

impl Totals {
    /// Counts as workers report them, whose word may be anything; `None` if the buckets are others than here.
    pub fn told(counts: &[u64], time_us: &[u64]) -> Option<Self> {
        Some(Totals { counts: counts.try_into().ok()?, time_us: time_us.try_into().ok()?, ..Totals::default() })
    }

    /// Adds what is more than `before`.
    fn add_news(&mut self, now: &Totals, before: &Totals) {
        let news = |sums: &mut [u64], now: &[u64], before: &[u64]| {
            for ((sum, now), before) in sums.iter_mut().zip(now).zip(before) {
                *sum = sum.saturating_add(now.saturating_sub(*before));
            }
        };
        news(&mut self.counts, &now.counts, &before.counts);
        news(&mut self.time_us, &now.time_us, &before.time_us);
        let rest = |of: &Totals| [of.observed_us, of.collections, of.collected_us];
        let mut sums = rest(self);
        news(&mut sums, &rest(now), &rest(before));
        [self.observed_us, self.collections, self.collected_us] = sums;
    }

    fn snapshot(&self) -> RunsSnapshot {
        RunsSnapshot {
            upper_us: RUN_BOUNDS_US.to_vec(),
            counts: self.counts.to_vec(),
            time_us: self.time_us.to_vec(),
            observed_us: self.observed_us,
            collections: self.collections,
            collected_us: self.collected_us,
            ..RunsSnapshot::default()
        }
    }
}

impl Runs {
    /// A worker says what it has counted.
    pub fn told(&mut self, worker: u64, now: Totals) {
        let before = self.workers.entry(worker).or_default();
        self.all.add_news(&now, before);
        *before = now;
    }

    /// Counts a run that its worker cannot report, because it was killed in it.
    pub fn cut_off(&mut self, us: u64) {
        let bucket = RUN_BOUNDS_US.partition_point(|bound_us| *bound_us <= us);
        let Totals { counts, time_us, observed_us, .. } = &mut self.all;
        counts[bucket] += 1;
        time_us[bucket] = time_us[bucket].saturating_add(us);
        *observed_us = observed_us.saturating_add(us);
    }

    /// The worker is gone; what it said stays in the sum.
    pub fn gone(&mut self, worker: u64) {
        self.workers.remove(&worker);
    }

    /// A worker has let a request go that had so many runs of each class but the first.
    pub fn ended(&mut self, runs: &[u64]) {
        self.requests += 1;
        for (class, with) in self.requests_with.iter_mut().enumerate() {
            *with += u64::from(runs.iter().skip(class).any(|runs| *runs > 0));
        }
    }

    /// Remembers a long run: of more than can be, the longest of the last hour. Those of one class never take the place of another's
    /// only one.
    pub fn remember(&mut self, run: LongRun) {
        let oldest = run.at_unix_ms.saturating_sub(LONGEST_AGE_MS_MAX);
        self.longest.retain(|known| known.at_unix_ms >= oldest);
        self.longest.push_back(run);
        if self.longest.len() <= LONGEST_MAX {
            return;
        }
        let alike = |one: &LongRun| self.longest.iter().filter(|other| other.class() == one.class()).count();
        let most = self.longest.iter().map(alike).max().unwrap_or(0);
        let crowded = self.longest.iter().enumerate().filter(|(_, known)| alike(known) == most);
        if let Some((shortest, _)) = crowded.min_by_key(|(_, known)| known.us) {
            self.longest.remove(shortest);
        }
    }

    /// Runs of one worker.
    pub fn worker(&self, worker: u64) -> Option<RunsSnapshot> {
        self.workers.get(&worker).map(Totals::snapshot)
    }

    /// Runs of all workers, those that are gone as well. Unix time in milliseconds.
    pub fn snapshot(&self, now_unix_ms: u64) -> RunsSnapshot {
        let oldest = now_unix_ms.saturating_sub(LONGEST_AGE_MS_MAX);
        let recent = self.longest.iter().filter(|run| run.at_unix_ms >= oldest);
        let mut longest: Vec<_> = recent.map(LongRun::snapshot).collect();
        longest.sort_by_key(|run| std::cmp::Reverse(run.at_unix_ms));
        RunsSnapshot {
            requests: self.requests,
            requests_with: self.requests_with.to_vec(),
            longest,
            ..self.all.snapshot()
        }
    }
}

impl LongRun {
    fn class(&self) -> Option<&str> {
        self.request.as_ref().map(|(_, class)| class.as_str())
    }

    fn snapshot(&self) -> LongRunSnapshot {
        let (request, class) = self.request.clone().unzip();
        LongRunSnapshot {
            ms: in_ms(self.us),
            collected_ms: in_ms(self.collected_us),
            cpu_ms: self.cpu_us.map(in_ms),
            spent: self.spent.map(str::to_owned),
            place: self.place.clone(),
            at_unix_ms: self.at_unix_ms,
            worker: self.worker,
            request,
            class,
        }
    }
}

#[allow(clippy::cast_precision_loss)] // Runs are far below 2^53 µs.
fn in_ms(us: u64) -> f64 {
    us as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(counts: u64, observed_us: u64) -> Totals {
        Totals { counts: [counts; RUN_BUCKETS], time_us: [counts * 100; RUN_BUCKETS], observed_us, ..Totals::default() }
    }

    #[test]
    fn what_a_worker_counted_stays_when_it_goes() {
        let mut runs = Runs::default();
        runs.told(1, totals(2, 10));
        runs.told(1, totals(5, 20));
        runs.told(2, totals(1, 5));
        runs.gone(1);
        runs.told(3, totals(1, 5));
        let all = runs.snapshot(0);
        assert_eq!((all.counts[0], all.time_us[0], all.observed_us), (7, 700, 30));
        assert_eq!(runs.worker(1), None);
        assert_eq!(runs.worker(2).map(|worker| worker.counts[0]), Some(1));
        assert_eq!(Totals::told(&[1, 2], &[1, 2]), None, "other buckets");
    }

    #[test]
    fn run_that_its_worker_was_killed_in_is_counted() {
        let mut runs = Runs::default();
        runs.cut_off(10_020_000);
        let all = runs.snapshot(0);
        assert_eq!((all.by_class()[4], all.observed_us), ((1, 10_020_000), 10_020_000));
    }

    #[test]
    fn requests_count_once_for_each_length_of_runs() {
        let mut runs = Runs::default();
        runs.ended(&[3, 0, 1, 0]);
        runs.ended(&[]);
        let all = runs.snapshot(0);
        assert_eq!((all.requests, all.requests_with), (2, vec![1, 1, 1, 0]));
    }

    #[test]
    fn the_longest_of_the_last_hour_are_remembered() {
        let mut runs = Runs::default();
        let run = |us, at_unix_ms| LongRun { us, at_unix_ms, ..LongRun::default() };
        runs.remember(run(9_000_000, 0));
        (1..=30).for_each(|at| runs.remember(run(at * 1000, LONGEST_AGE_MS_MAX + at)));
        let longest = runs.snapshot(LONGEST_AGE_MS_MAX + 30).longest;
        assert_eq!(longest.len(), LONGEST_MAX);
        assert!(
            (longest[0].ms - 30.0).abs() < 1e-9 && (longest[LONGEST_MAX - 1].ms - 11.0).abs() < 1e-9,
            "{longest:?}"
        );
        let later = |ms| runs.snapshot(2 * LONGEST_AGE_MS_MAX + ms).longest.len();
        assert_eq!((later(29), later(31)), (2, 0), "though no other came meanwhile");
    }

    #[test]
    fn one_class_with_many_long_runs_does_not_hide_another() {
        let mut runs = Runs::default();
        let run =
            |us, class: &str| LongRun { us, request: Some((String::new(), class.to_owned())), ..LongRun::default() };
        runs.remember(run(20_000, "GET /rare"));
        (1..=100).for_each(|second| runs.remember(run(second * 1_000_000, "GET /often")));
        let longest = runs.snapshot(0).longest;
        assert_eq!(longest.len(), LONGEST_MAX);
        assert_eq!(longest.iter().filter(|run| run.class.as_deref() == Some("GET /rare")).count(), 1);
        assert!(longest.iter().any(|run| (run.ms - 100_000.0).abs() < 1e-9));
    }
}
