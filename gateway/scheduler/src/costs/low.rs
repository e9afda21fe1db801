//! Estimate of a low quantile of samples.

/// Samples before which there is no estimate.
const SAMPLES_MIN: u32 = 8;
/// Factors by which a lower and a higher sample move the estimate.
const LOW_FALLS: f64 = 0.3;
const LOW_RISES: f64 = 0.03;

/// Estimate of about the lowest tenth of the samples. It falls fast and rises slowly, so that neither rare low samples,
/// perhaps errors, nor frequent high ones decide.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Low {
    us: f64,
    samples: u32,
}

impl Low {
    #[allow(clippy::cast_precision_loss)] // A wait of 2^53 µs is 285 years.
    pub(super) fn record(&mut self, sample_us: u64) {
        let apart = sample_us as f64 - self.us;
        self.samples = (self.samples + 1).min(SAMPLES_MIN);
        let weight = if apart < 0.0 { LOW_FALLS } else { LOW_RISES };
        self.us += apart * if self.samples == 1 { 1.0 } else { weight };
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // It lies between u64 values.
    pub(super) fn get_us(&self) -> Option<u64> {
        (self.samples >= SAMPLES_MIN).then_some(self.us as u64)
    }
}
