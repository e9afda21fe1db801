//! Requests of one class in one span of time, without what comparisons need: counts, costs and the spread of their times. It must not
//! know which span it is.

use sluice_catalog::snapshot::{RUN_CLASSES, SpentSnapshot};
use sluice_sketch::scale;

use crate::spending::RequestCost;

/// Buckets of service times in each doubling: percentiles are within an eighth of the truth.
const PER_DOUBLING: u64 = 4;
/// Longest service time that is counted exactly, two minutes, microseconds.
const SERVICE_US_MAX: u64 = 120_000_000;
const BUCKETS: usize = scale::bucket::<PER_DOUBLING>(SERVICE_US_MAX) + 1;
const GB: f64 = 1e9;

#[derive(Clone, Debug)]
pub(crate) struct RequestTotals {
    requests: u64,
    /// Requests of them whose CPU time is known, and that time.
    measured: u64,
    cpu_us: u64,
    pub(crate) service_us: u64,
    service: [u32; BUCKETS],
    runs: [u64; RUN_CLASSES.len() - 1],
}

impl Default for RequestTotals {
    fn default() -> Self {
        Self {
            requests: 0,
            measured: 0,
            cpu_us: 0,
            service_us: 0,
            service: [0; BUCKETS],
            runs: [0; RUN_CLASSES.len() - 1],
        }
    }
}

impl RequestTotals {
    pub(crate) fn record(&mut self, ended: &RequestCost<'_>) {
        self.requests += 1;
        if let Some(cpu_us) = ended.cpu_us {
            self.measured += 1;
            self.cpu_us += cpu_us;
        }
        self.service_us += ended.service_us;
        self.service[scale::bucket::<PER_DOUBLING>(ended.service_us.min(SERVICE_US_MAX))] += 1;
        self.runs.iter_mut().zip(ended.runs).for_each(|(sum, runs)| *sum += runs);
    }

    pub(crate) fn add(&mut self, more: &Self) {
        self.requests += more.requests;
        self.measured += more.measured;
        self.cpu_us += more.cpu_us;
        self.service_us += more.service_us;
        self.runs.iter_mut().zip(more.runs).for_each(|(sum, more)| *sum += more);
        self.service.iter_mut().zip(&more.service).for_each(|(sum, more)| *sum = sum.saturating_add(*more));
    }

    /// Percentile in milliseconds, by the nearest rank.
    fn percentile(&self, hundredths: u64) -> f64 {
        let rank = (self.requests * hundredths).div_ceil(100).max(1);
        let mut seen = 0;
        let found = self.service.iter().position(|count| {
            seen += u64::from(*count);
            seen >= rank
        });
        found.map_or(0.0, |bucket| scale::middle::<PER_DOUBLING>(bucket) / 1000.0)
    }

    #[allow(clippy::cast_precision_loss)] // Far below 2^53.
    pub(crate) fn snapshot(&self, class: &str, held: f64) -> SpentSnapshot {
        let thousands = |of: u64| of as f64 / 1000.0;
        // Requests whose CPU time is not known count as the mean of the others.
        let mean_us = (self.measured > 0).then(|| self.cpu_us as f64 / self.measured as f64);
        SpentSnapshot {
            class: class.to_owned(),
            requests: self.requests,
            cpu_s: mean_us.unwrap_or(0.0) * self.requests as f64 / 1e6,
            cpu_s_per_1000: mean_us.map(|mean_us| mean_us / 1000.0),
            memory_gb_s_per_1000: if self.requests == 0 { 0.0 } else { held / 1000.0 / GB / thousands(self.requests) },
            service_p50_ms: self.percentile(50),
            service_p95_ms: self.percentile(95),
            service_p99_ms: self.percentile(99),
            runs: self.runs.to_vec(),
            parts: Vec::new(),
        }
    }
}
