//! Chance that can be repeated: the same seed gives the same day on every machine.
//!
//! Knows nothing of the scheduler.

/// The splitmix64 generator: small, well spread from any seed, and the same everywhere.
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Rng(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from `low` to `high`, both possible.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    /// The same for a small number of things.
    #[allow(clippy::cast_possible_truncation)] // At most `high`, which is a u32.
    pub fn count(&mut self, low: u32, high: u32) -> u32 {
        low + self.index((high - low + 1) as usize) as u32
    }

    /// True in so many of a hundred cases.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.index(of.len())]
    }

    #[allow(clippy::cast_possible_truncation)] // Less than `below`, which is a usize.
    fn index(&mut self, below: usize) -> usize {
        (self.next() % below as u64) as usize
    }

    /// From 0, included, to 1, excluded.
    #[allow(clippy::cast_precision_loss)] // 53 bits fit.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Exponentially distributed with this mean: the time between events that know nothing of each other.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    pub fn exponential(&mut self, mean: u64) -> u64 {
        (-(1.0 - self.unit()).ln() * mean as f64) as u64
    }
}
