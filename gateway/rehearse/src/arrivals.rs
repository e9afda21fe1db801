//! Times at which requests are to be sent.

use std::time::Duration;

use fastrand::Rng;

/// Poisson arrivals: independent of each other and of the answers, as those of many clients are.
#[derive(Clone, Debug)]
pub struct Poisson {
    per_second: f64,
    at_s: f64,
    rng: Rng,
}

impl Poisson {
    /// Arrivals at this mean rate; the same seed gives the same times. `per_second` is above 0.
    pub fn new(per_second: f64, seed: u64) -> Self {
        Self { per_second, at_s: 0.0, rng: Rng::with_seed(seed) }
    }
}

impl Iterator for Poisson {
    type Item = Duration;

    /// Time of the next arrival, since the first moment.
    fn next(&mut self) -> Option<Duration> {
        self.at_s -= (1.0 - self.rng.f64()).ln() / self.per_second;
        Some(Duration::from_secs_f64(self.at_s.min(1e9)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::cast_precision_loss, reason = "some thousands")]
    fn arrivals_have_their_rate_and_the_scatter_of_chance() {
        let times: Vec<f64> = Poisson::new(50.0, 3).take(20_000).map(|at| at.as_secs_f64()).collect();
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        assert!((mean - 0.02).abs() < 0.000_5, "{mean}");
        // The deviation of an exponential distribution is its mean.
        let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
        assert!((deviation / mean - 1.0).abs() < 0.05, "{deviation}");
    }

    #[test]
    fn same_seed_gives_the_same_arrivals() {
        let take = |seed| Poisson::new(10.0, seed).take(50).collect::<Vec<_>>();
        assert_eq!(take(1), take(1));
        assert_ne!(take(1), take(2));
    }
}
