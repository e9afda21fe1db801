//! A histogram of costs on a logarithmic scale, four buckets an octave: quantiles within a tenth in 200 bytes. Old
//! samples fade, as all counts are halved when there are enough. It must not know classes.

use sluice_sketch::scale;

const PER_OCTAVE: u64 = 4;
/// Upper bound of the first bucket, microseconds.
const LOWEST_US: u64 = 15;
const FIRST: usize = scale::bucket::<PER_OCTAVE>(LOWEST_US);
const OCTAVES: usize = 26;
const BUCKETS: usize = OCTAVES * 4 + 1;
/// Records after which all counts are halved.
const HALVE_AT: u32 = 512;

#[derive(Clone, Debug)]
pub(super) struct Sketch {
    counts: [u16; BUCKETS],
    total: u32,
}

impl Default for Sketch {
    fn default() -> Self {
        Sketch { counts: [0; BUCKETS], total: 0 }
    }
}

impl Sketch {
    pub(super) fn record(&mut self, cost_us: u64) {
        if self.total >= HALVE_AT {
            self.counts.iter_mut().for_each(|count| *count /= 2);
            self.total = self.counts.iter().map(|count| u32::from(*count)).sum();
        }
        self.counts[bucket(cost_us)] += 1;
        self.total += 1;
    }

    pub(super) fn quantile_us(&self, q: f64) -> Option<u64> {
        if self.total == 0 {
            return None;
        }
        let rank = q.clamp(0.0, 1.0) * f64::from(self.total);
        let mut below = 0;
        let mut last = 0;
        for (at, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            below += u32::from(*count);
            last = at;
            if f64::from(below) >= rank {
                break;
            }
        }
        Some(middle_us(last))
    }

    pub(super) fn export(&self) -> Vec<(u8, u16)> {
        let held = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        held.filter_map(|(at, count)| Some((u8::try_from(at).ok()?, *count))).collect()
    }

    /// Restores a sketch from saved counts, scaled down to a few records. Ignores buckets that are out of bounds.
    pub(super) fn restored(buckets: &[(u8, u16)]) -> Self {
        let mut sketch = Sketch::default();
        for (at, count) in buckets {
            if let Some(kept) = sketch.counts.get_mut(usize::from(*at)) {
                *kept = count.div_ceil(8).min(64);
            }
        }
        sketch.total = sketch.counts.iter().map(|count| u32::from(*count)).sum();
        sketch
    }
}

fn bucket(cost_us: u64) -> usize {
    scale::bucket::<PER_OCTAVE>(cost_us).saturating_sub(FIRST).min(BUCKETS - 1)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Buckets end at 2^30 µs.
fn middle_us(bucket: usize) -> u64 {
    if bucket == 0 { LOWEST_US.div_ceil(2) } else { scale::middle::<PER_OCTAVE>(bucket + FIRST) as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_what_is_within_an_eighth_of_its_middle() {
        for cost_us in (16..100_000_u64).step_by(7).chain([1 << 20, (1 << 29) + 12_345]) {
            let middle = middle_us(bucket(cost_us));
            assert!(middle.abs_diff(cost_us) * 8 <= cost_us, "{cost_us} is in the bucket of {middle}");
        }
        assert_eq!(bucket(0), 0);
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn what_was_long_ago_fades() {
        let mut sketch = Sketch::default();
        (0..5_000).for_each(|_| sketch.record(100_000));
        (0..2_000).for_each(|_| sketch.record(5_000));
        let median = sketch.quantile_us(0.9).unwrap();
        assert!((4_400..5_700).contains(&median), "{median}");
    }
}
