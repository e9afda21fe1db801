//! Chance that one seed repeats on every machine.

/// The splitmix64 generator.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `below`, which is at least 1.
    pub(crate) fn below(&mut self, below: u64) -> u64 {
        self.next() % below.max(1)
    }
}

/// A number from 0 to 999 that depends on both.
pub(crate) fn thousandth(seed: u64, at: usize) -> u64 {
    Rng(seed ^ (at as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93)).next() % 1_000
}
