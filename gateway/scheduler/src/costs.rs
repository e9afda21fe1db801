//! What the requests of each class are expected to cost, and from what cost on a request is long.

use crate::Time;

/// A class of requests: a row of the caller's table. 0 is "other".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub u16);

/// Costs by class.
#[derive(Debug, Default)]
pub struct Costs {
    rows: Vec<Row>,
    mean_us: Option<f64>,
    /// Of logarithmic costs, decaying.
    histogram: Vec<f64>,
    since_cut: u32,
    cut_us: Option<u64>,
}

#[derive(Clone, Debug, Default)]
struct Row {
    count: u64,
    mean_us: f64,
}

const PRIOR_US: u64 = 20_000;
const KNOWN_AFTER: u64 = 10;
const CUT_EVERY: u32 = 64;
const WEIGHT_MIN: f64 = 1.0 / 32.0;
const BINS: usize = 128;

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
impl Costs {
    /// Takes in what a request of this class has cost.
    pub fn record(&mut self, _now: Time, class: ClassId, cost_us: u64) {
        let at = usize::from(class.0);
        if self.rows.len() <= at {
            self.rows.resize(at + 1, Row::default());
        }
        let (row, cost) = (&mut self.rows[at], cost_us as f64);
        row.count += 1;
        row.mean_us += (cost - row.mean_us) * (1.0 / row.count as f64).max(WEIGHT_MIN);
        self.mean_us = Some(self.mean_us.map_or(cost, |mean| mean + (cost - mean) * WEIGHT_MIN));
        self.histogram.resize(BINS, 0.0);
        let bin = ((cost.max(1.0).log2() * 4.0) as usize).min(BINS - 1);
        self.histogram[bin] += 1.0;
        self.since_cut += 1;
        if self.since_cut >= CUT_EVERY {
            self.since_cut = 0;
            self.cut_us = split(&self.histogram);
            self.histogram.iter_mut().for_each(|weight| *weight *= 0.95);
        }
    }

    /// What a request of this class is expected to cost; a prior while that is not known.
    #[must_use]
    pub fn expected_us(&self, class: ClassId) -> u64 {
        match self.rows.get(usize::from(class.0)) {
            Some(row) if row.count >= KNOWN_AFTER => row.mean_us as u64,
            _ => self.mean_us().unwrap_or(PRIOR_US),
        }
    }

    /// Whether enough requests of this class have been seen.
    #[must_use]
    pub fn is_known(&self, class: ClassId) -> bool {
        self.rows.get(usize::from(class.0)).is_some_and(|row| row.count >= KNOWN_AFTER)
    }

    /// This quantile of what its requests have cost.
    #[must_use]
    pub fn quantile_us(&self, _class: ClassId, _q: f64) -> Option<u64> {
        None
    }

    /// What costs at least that is long. `None` while the traffic is of a kind.
    #[must_use]
    pub fn cut_us(&self) -> Option<u64> {
        self.cut_us
    }

    /// Whether requests of this class are long. One that is not known counts as long while there is a cut.
    #[must_use]
    pub fn is_long(&self, class: ClassId) -> bool {
        self.cut_us.is_some_and(|cut| !self.is_known(class) || self.expected_us(class) >= cut)
    }

    /// What a request costs on average.
    #[must_use]
    pub fn mean_us(&self) -> Option<u64> {
        self.mean_us.map(|mean| mean as u64)
    }
}

/// Otsu's threshold between two groups of logarithmic costs; `None` where they do not differ enough.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn split(histogram: &[f64]) -> Option<u64> {
    let total: f64 = histogram.iter().sum();
    let sum: f64 = histogram.iter().enumerate().map(|(bin, weight)| bin as f64 * weight).sum();
    let (mut low, mut low_sum, mut best) = (0.0, 0.0, (0.0, None));
    for (bin, weight) in histogram.iter().enumerate() {
        low += weight;
        low_sum += bin as f64 * weight;
        let high = total - low;
        if low < total * 0.02 || high < total * 0.02 {
            continue;
        }
        let apart = (sum - low_sum) / high - low_sum / low;
        let between = low * high * apart * apart;
        if between > best.0 {
            let middle = f64::midpoint(low_sum / low, (sum - low_sum) / high) + 0.5;
            best = (between, (apart >= 3.0_f64.log2() * 4.0).then_some(middle));
        }
    }
    best.1.map(|middle| (middle / 4.0).exp2() as u64)
}
