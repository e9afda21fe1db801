//! A logarithmic scale for whole numbers: `PER` buckets of equal width in each doubling, and one for each number below `2 * PER`.
//! `PER` is a power of two. A value is within `1 / (2 * PER)` of the middle of its bucket.

/// The bucket of a value, from 0.
#[allow(clippy::cast_possible_truncation, reason = "there are at most 64 * PER buckets")]
pub const fn bucket<const PER: u64>(value: u64) -> usize {
    let shift = if value < 2 * PER { 0 } else { value.ilog2() - PER.ilog2() };
    (shift as u64 * PER + (value >> shift)) as usize
}

/// The value in the middle of a bucket.
#[allow(clippy::cast_precision_loss, reason = "a bucket's middle need not be exact")]
pub fn middle<const PER: u64>(bucket: usize) -> f64 {
    let bucket = bucket as u64;
    let shift = (bucket / PER).saturating_sub(1);
    let (lowest, width) = ((bucket - shift * PER) << shift, 1_u64 << shift);
    lowest as f64 + if shift > 0 { width as f64 / 2.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_each_other_without_gaps() {
        for value in 1..2_000_000_u64 {
            assert!(bucket::<32>(value) - bucket::<32>(value - 1) <= 1, "a gap before {value}");
            assert!(bucket::<4>(value) - bucket::<4>(value - 1) <= 1, "a gap before {value}");
        }
        assert_eq!((bucket::<2>(0), bucket::<2>(3), bucket::<2>(4), bucket::<2>(6)), (0, 3, 4, 5));
        assert!(bucket::<32>(u64::MAX) < 64 * 32);
    }

    #[test]
    #[allow(clippy::cast_precision_loss)]
    fn every_value_comes_back_near_enough() {
        for value in (0..100_000_u64).chain((0..60).map(|log2| (1 << log2) + (1 << log2) / 3)) {
            let truth = value as f64;
            assert!((middle::<32>(bucket::<32>(value)) - truth).abs() <= truth / 64.0, "{value}");
            assert!((middle::<4>(bucket::<4>(value)) - truth).abs() <= truth / 8.0, "{value}");
        }
    }
}
