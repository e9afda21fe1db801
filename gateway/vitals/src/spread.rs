//! Histogram of the values of about the last one or two windows of time. It must not know what is measured.

use std::time::Duration;

use sluice_sketch::scale;

/// Buckets for each doubling: percentiles are within 3.2 % of the truth, and exact below 32.
const PER_DOUBLING: u64 = 16;
/// Largest value that is counted exactly.
const VALUE_MAX: u64 = (1 << 30) - 1;
const BUCKETS: usize = scale::bucket::<PER_DOUBLING>(VALUE_MAX) + 1;

/// Counts of values in two windows of so many seconds, the present one and the one before, each in memory that is taken with
/// its first value.
#[derive(Debug, Default)]
pub(crate) struct Spread<const WINDOW_S: u64 = 3600> {
    /// The number of the window that `windows[0]` is for, counted from the start.
    latest: u64,
    windows: [Option<Box<[u32; BUCKETS]>>; 2],
}

impl<const WINDOW_S: u64> Spread<WINDOW_S> {
    /// Takes in a value.
    pub(crate) fn record(&mut self, value: u64, now: Duration) {
        self.record_many(value, 1, now);
    }

    /// Takes in a value that came so many times.
    pub(crate) fn record_many(&mut self, value: u64, count: u64, now: Duration) {
        self.forget(now);
        let window = self.windows[0].get_or_insert_with(|| Box::new([0; BUCKETS]));
        let bucket = &mut window[scale::bucket::<PER_DOUBLING>(value.min(VALUE_MAX))];
        *bucket = bucket.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
    }

    /// The smallest value with at least so many of 100 at or below it. `None` where no value came lately.
    pub(crate) fn percentile(&mut self, hundredths: u64, now: Duration) -> Option<f64> {
        self.forget(now);
        if self.windows.iter().all(Option::is_none) {
            return None;
        }
        let count = |bucket: usize| self.windows.iter().flatten().map(|window| u64::from(window[bucket])).sum::<u64>();
        let total: u64 = (0..BUCKETS).map(count).sum();
        let rank = (total * hundredths).div_ceil(100).max(1);
        let mut below = 0;
        let found = (0..BUCKETS).find(|bucket| {
            below += count(*bucket);
            below >= rank
        });
        found.map(scale::middle::<PER_DOUBLING>)
    }

    /// Sum of the values, as exact as percentiles are.
    pub(crate) fn sum(&mut self, now: Duration) -> f64 {
        self.forget(now);
        let windows = self.windows.iter().flatten();
        let counts = windows.flat_map(|window| window.iter().enumerate().filter(|(_, count)| **count > 0));
        counts.map(|(bucket, count)| scale::middle::<PER_DOUBLING>(bucket) * f64::from(*count)).sum()
    }

    fn forget(&mut self, now: Duration) {
        let latest = now.as_secs() / WINDOW_S;
        match latest.saturating_sub(self.latest) {
            0 => return,
            1 => self.windows.rotate_right(1),
            _ => self.windows[1] = None,
        }
        self.windows[0] = None;
        self.latest = latest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn percentiles_are_near_the_truth_and_nothing_gives_none() {
        let mut spread = <Spread>::default();
        assert_eq!(spread.percentile(75, HOUR), None);
        for value in 1..=4000 {
            spread.record(value, HOUR);
        }
        let p75 = spread.percentile(75, HOUR).unwrap();
        assert!((p75 - 3000.0).abs() < 3000.0 * 0.032, "{p75}");
        spread.record(u64::MAX, HOUR);
        assert!(spread.percentile(100, HOUR).is_some_and(|max| max > 1e9));
    }

    #[test]
    fn values_are_forgotten_after_one_to_two_hours() {
        let mut spread = <Spread>::default();
        spread.record(10, HOUR / 2);
        spread.record(30, HOUR * 3 / 2);
        assert_eq!(
            (spread.percentile(50, HOUR * 3 / 2), spread.percentile(100, HOUR * 3 / 2)),
            (Some(10.0), Some(30.0))
        );
        assert_eq!(spread.percentile(50, HOUR * 2), Some(30.0), "the first window is over");
        assert_eq!(spread.percentile(50, HOUR * 9), None);
        spread.record(7, HOUR * 9);
        assert_eq!(spread.percentile(100, HOUR * 9), Some(7.0));
    }
}
