//! Uninterrupted runs of workers' main threads, as `sluice status --json` shows them.

use serde::{Deserialize, Serialize};

/// Upper bounds of the buckets of every histogram of runs, microseconds: 1, 2 and 5 of each decade. Longer runs are in one bucket more.
pub const RUN_BOUNDS_US: [u64; 19] = [
    10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000,
    2_000_000, 5_000_000, 10_000_000,
];

/// Buckets of a histogram of runs.
pub const RUN_BUCKETS: usize = RUN_BOUNDS_US.len() + 1;

/// Shortest run of each class of runs, microseconds; the first class has all that are shorter than the second. Bounds of buckets.
pub const RUN_CLASSES_US: [u64; 5] = [0, 1_000, 10_000, 100_000, 1_000_000];

/// Names of the classes of runs, in their order; the values of the metric label `run`.
pub const RUN_CLASSES: [&str; 5] = ["below_1ms", "1ms", "10ms", "100ms", "1s"];

/// Runs of a main thread: from the event loop's call into JavaScript until the callbacks, ticks and microtasks of that call are done.
/// Nothing else of the worker runs meanwhile. Counts since the gateway or the worker started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunsSnapshot {
    /// Upper bounds of the buckets, microseconds.
    pub upper_us: Vec<u64>,
    /// Runs in each bucket: one number for each bound, and one for those above the last.
    pub counts: Vec<u64>,
    /// Wall-clock time in them, microseconds, by bucket as `counts`.
    pub time_us: Vec<u64>,
    /// Time for which workers were watched, microseconds, added up. The part of it that is in runs of a class is the chance that
    /// a request which arrives at a worker has to wait behind one.
    #[serde(default)]
    pub observed_us: u64,
    /// Pauses of the garbage collector.
    pub collections: u64,
    /// Time in them, microseconds. It is in `time_us` as well.
    pub collected_us: u64,
    /// Requests of which it is known which runs were theirs.
    #[serde(default)]
    pub requests: u64,
    /// Requests of them with a run of at least 1 ms, 10 ms, 100 ms and 1 s.
    #[serde(default)]
    pub requests_with: Vec<u64>,
    /// The longest of the latest hours, the latest first.
    #[serde(default)]
    pub longest: Vec<LongRunSnapshot>,
}

/// One long run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LongRunSnapshot {
    /// Duration, milliseconds.
    pub ms: f64,
    /// Time of the garbage collector within it, milliseconds.
    #[serde(default)]
    pub collected_ms: f64,
    /// CPU time of the main thread meanwhile, milliseconds; `None` where that is not known.
    #[serde(default)]
    pub cpu_ms: Option<f64>,
    /// Use of the time, as the log's `spent` says; `None` if it is not known.
    #[serde(default)]
    pub spent: Option<String>,
    /// Function, file and line that ran when the gateway looked, before it killed the worker in the run; `None` for runs
    /// that ended by themselves.
    #[serde(default)]
    pub place: Option<String>,
    /// End of the run, Unix time in milliseconds.
    pub at_unix_ms: u64,
    /// The worker.
    pub worker: u64,
    /// `X-Request-Id` of the request whose run it was; `None` where it was none's, or where that is not known.
    pub request: Option<String>,
    /// Class of that request.
    pub class: Option<String>,
}

impl RunsSnapshot {
    /// Runs of each class of [`RUN_CLASSES`], and the time in them, microseconds.
    pub fn by_class(&self) -> [(u64, u64); RUN_CLASSES.len()] {
        let mut classes = [(0, 0); RUN_CLASSES.len()];
        for (bucket, (count, time_us)) in self.counts.iter().zip(&self.time_us).enumerate() {
            // A run of a bucket is longer than the bound of the one before, or just as long.
            let lowest_us = bucket.checked_sub(1).and_then(|before| self.upper_us.get(before)).copied().unwrap_or(0);
            let class = RUN_CLASSES_US.iter().rposition(|from_us| lowest_us >= *from_us).unwrap_or(0);
            classes[class].0 += count;
            classes[class].1 += time_us;
        }
        classes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_add_up_what_is_in_buckets() {
        for from_us in &RUN_CLASSES_US[1..] {
            assert!(RUN_BOUNDS_US.contains(from_us), "{from_us} is no bound");
        }
        let runs = RunsSnapshot {
            upper_us: RUN_BOUNDS_US.to_vec(),
            counts: vec![1; RUN_BUCKETS],
            time_us: (0..).map(|bucket| bucket * 100).take(RUN_BUCKETS).collect(),
            ..RunsSnapshot::default()
        };
        let classes = runs.by_class();
        assert_eq!(classes.map(|(count, _)| count), [7, 3, 3, 3, 4]);
        assert_eq!(classes[4].1, 1600 + 1700 + 1800 + 1900);
        assert_eq!(RunsSnapshot::default().by_class(), [(0, 0); 5]);
    }
}
