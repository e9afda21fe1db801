//! Histograms of times.

use crate::scale;

/// Buckets for each doubling: percentiles are within 1.6 % of the truth, and within half a microsecond below 64 µs.
const PER_DOUBLING: u64 = 32;
/// Longest time that is counted exactly, about 71 minutes, microseconds. Longer ones count as this.
const TIME_US_MAX: u64 = (1 << 32) - 1;
const BUCKETS: usize = scale::bucket::<PER_DOUBLING>(TIME_US_MAX) + 1;

/// Histogram of times in constant memory.
#[derive(Clone, Debug)]
pub struct Times {
    total: u64,
    buckets: Box<[u32; BUCKETS]>,
}

impl Default for Times {
    fn default() -> Self {
        Self { total: 0, buckets: Box::new([0; BUCKETS]) }
    }
}

impl Times {
    /// Bytes of memory that one takes.
    pub const BYTES: usize = size_of::<Self>() + size_of::<[u32; BUCKETS]>();

    /// Takes in a time in microseconds.
    pub fn record(&mut self, us: u64) {
        self.total += 1;
        let bucket = &mut self.buckets[scale::bucket::<PER_DOUBLING>(us.min(TIME_US_MAX))];
        *bucket = bucket.saturating_add(1);
    }

    /// Takes in all of another's.
    pub fn add(&mut self, other: &Self) {
        self.total += other.total;
        if other.total > 0 {
            self.buckets.iter_mut().zip(&*other.buckets).for_each(|(one, more)| *one = one.saturating_add(*more));
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        if self.total > 0 {
            self.total = 0;
            self.buckets.fill(0);
        }
    }

    /// Times so far.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Percentiles of several histograms together, in microseconds: by the nearest rank, the smallest time with at least so
    /// many of 100 at or below it. `None` where there are no times. `hundredths` ascend.
    pub fn percentiles<'a, const N: usize>(
        parts: &(impl Iterator<Item = &'a Self> + Clone),
        hundredths: [u64; N],
    ) -> Option<[f64; N]> {
        let total: u64 = parts.clone().map(|part| part.total).sum();
        if total == 0 {
            return None;
        }
        let mut ranks = hundredths.map(|of_100| (total * of_100).div_ceil(100)).into_iter().enumerate().peekable();
        let (mut found, mut below) = ([0.0; N], 0);
        for bucket in 0..BUCKETS {
            below += parts.clone().map(|part| u64::from(part.buckets[bucket])).sum::<u64>();
            while let Some((place, _)) = ranks.next_if(|(_, rank)| below >= *rank) {
                found[place] = scale::middle::<PER_DOUBLING>(bucket);
            }
            if ranks.peek().is_none() {
                break;
            }
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_parts_are_those_of_the_whole() {
        let mut parts = [Times::default(), Times::default(), Times::default()];
        let mut whole = Times::default();
        for us in 1..=30_000 {
            parts[usize::try_from(us % 3).unwrap()].record(us);
            whole.record(us);
        }
        let ranks = [50, 95, 99, 100];
        let of_parts = Times::percentiles(&parts.iter(), ranks).unwrap();
        assert_eq!(Some(of_parts), Times::percentiles(&[&whole].into_iter(), ranks));
        for (found, truth) in of_parts.iter().zip([15_000.0, 28_500.0, 29_700.0, 30_000.0]) {
            assert!((found - truth).abs() <= truth / 60.0, "{found} for {truth}");
        }
        let mut sum = Times::default();
        for part in &parts {
            sum.add(part);
        }
        assert_eq!((sum.total(), Times::percentiles(&[&sum].into_iter(), ranks)), (30_000, Some(of_parts)));
        sum.clear();
        assert_eq!(Times::percentiles(&[&sum].into_iter(), ranks), None);
    }

    #[test]
    fn absurd_times_do_no_harm() {
        let mut times = Times::default();
        times.record(u64::MAX);
        assert!(Times::percentiles(&[&times].into_iter(), [100]).is_some_and(|[max]| max > 4e9));
    }
}
