//! A small seeded generator (`SplitMix64`), so that a run can be repeated. Not for secrets.

use std::cell::Cell;

/// A source of repeatable numbers.
pub struct Random(Cell<u64>);

impl Random {
    /// Same seed, same numbers.
    pub fn new(seed: u64) -> Self {
        Self(Cell::new(seed))
    }

    fn next(&self) -> u64 {
        let state = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(state);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Evenly spread over 0 (included) to 1 (excluded).
    pub fn unit(&self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The gap to the next arrival of a Poisson process, in seconds.
    pub fn gap_s(&self, rate_per_s: f64) -> f64 {
        -(1.0 - self.unit()).ln() / rate_per_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_have_the_mean_of_their_rate() {
        let random = Random::new(7);
        let total_s: f64 = (0..100_000).map(|_| random.gap_s(200.0)).sum();
        assert!((total_s / 100_000.0 - 0.005).abs() < 0.0001);
    }
}
