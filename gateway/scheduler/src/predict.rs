//! What a request costs in time at a worker, on average, as far as is known.

/// An exponentially decaying mean of service times. The last fifty or so requests decide it.
#[derive(Debug, Default)]
pub(crate) struct ServiceMean {
    mean_us: Option<f64>,
}

const WEIGHT: f64 = 1.0 / 32.0;

impl ServiceMean {
    #[allow(clippy::cast_precision_loss)] // A service time of 2^53 µs is 285 years.
    pub(crate) fn record(&mut self, service_us: u64) {
        let sample = service_us as f64;
        self.mean_us = Some(self.mean_us.map_or(sample, |mean| mean + (sample - mean) * WEIGHT));
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // A mean of u64 values lies within u64.
    pub(crate) fn mean_us(&self) -> Option<u64> {
        self.mean_us.map(|mean| mean as u64)
    }
}
