//! What samples seldom fall below.

/// Samples before which nothing is said.
const SAMPLES_MIN: u32 = 8;
/// How far a lower and a higher sample move it.
const LOW_FALLS: f64 = 0.3;
const LOW_RISES: f64 = 0.03;

/// About the lowest tenth of what comes: it falls fast and rises slowly, so that what is now and then much less, an error perhaps,
/// does not decide, nor what is often more.
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
