//! Weights of requests by how many their visitor made before. Requests of one visitor are alike, so the hundredth says less than the
//! first.

/// Counters. Visitors that share one count as one.
const COUNTERS: usize = 1 << 16;
/// Variance between visitors as a share of that between requests: a usual one.
const ALIKE: f64 = 0.1;

#[derive(Debug)]
pub(crate) struct Visitors(Box<[u16]>);

impl Default for Visitors {
    fn default() -> Self {
        Visitors(vec![0; COUNTERS].into_boxed_slice())
    }
}

impl Visitors {
    /// Weight of a visitor's next request, from 1 downwards.
    pub(crate) fn weigh(&mut self, visitor: u64) -> f64 {
        let at = usize::try_from(visitor.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48).unwrap_or(0);
        let count = &mut self.0[at % COUNTERS];
        let before = *count;
        *count = count.saturating_add(1);
        1.0 / (1.0 + ALIKE * f64::from(before))
    }
}
