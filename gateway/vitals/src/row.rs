//! Figures of pages of one kind for their visitors. It must not know what the pages have in common.

use std::time::Duration;

use sluice_catalog::metrics::BUCKETS_SECONDS;
use sluice_catalog::snapshot::VitalsSnapshot;

use crate::beacon::{Beacon, Measure};
use crate::spread::Spread;

/// Upper bounds of the buckets of layout shifts; `+Inf` follows.
pub const CLS_BOUNDS: [f64; 8] = [0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0];
/// Parts of a layout shift of 1 that are counted apart.
const CLS_PARTS: f64 = 1000.0;

/// Measures by size since the start, in buckets whose last has no bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram<const BUCKETS: usize> {
    /// Number of values in each bucket alone.
    pub counts: [u64; BUCKETS],
    /// All added up.
    pub sum: f64,
}

impl<const BUCKETS: usize> Default for Histogram<BUCKETS> {
    fn default() -> Self {
        Self { counts: [0; BUCKETS], sum: 0.0 }
    }
}

impl<const BUCKETS: usize> Histogram<BUCKETS> {
    fn record(&mut self, value: f64, bounds: &[f64]) {
        let bucket = bounds.iter().position(|bound| value <= *bound).unwrap_or(bounds.len());
        self.counts[bucket.min(BUCKETS - 1)] += 1;
        self.sum += value;
    }
}

/// The measures of one kind of page, lately.
#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) reports: u64,
    mismatches: u64,
    failed: u64,
    times: [Spread; Measure::ALL.len()],
    cls: Spread,
    html_bytes: Spread,
    js_bytes: Spread,
    memory_bytes: Spread,
}

/// The same measures since the start, for programs that compute rates.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    pub(crate) seconds: [Histogram<{ BUCKETS_SECONDS.len() + 1 }>; Measure::ALL.len()],
    pub(crate) cls: Histogram<{ CLS_BOUNDS.len() + 1 }>,
    pub(crate) html_bytes: f64,
    pub(crate) js_bytes: f64,
    pub(crate) mismatches: u64,
    pub(crate) failed: u64,
}

impl Totals {
    pub(crate) fn add(&mut self, beacon: &Beacon) {
        for (measure, histogram) in Measure::ALL.into_iter().zip(&mut self.seconds) {
            if let Some(ms) = measure.of(beacon) {
                histogram.record(ms / 1000.0, &BUCKETS_SECONDS);
            }
        }
        if let Some(cls) = beacon.cls {
            self.cls.record(cls, &CLS_BOUNDS);
        }
        self.html_bytes += beacon.html_bytes.unwrap_or_default();
        self.js_bytes += beacon.js_bytes.unwrap_or_default();
        self.mismatches += beacon.mismatches;
        self.failed += beacon.failed;
    }
}

impl Row {
    pub(crate) fn add(&mut self, beacon: &Beacon, now: Duration) {
        self.reports += 1;
        self.mismatches += beacon.mismatches;
        self.failed += beacon.failed;
        for (measure, spread) in Measure::ALL.into_iter().zip(&mut self.times) {
            if let Some(ms) = measure.of(beacon) {
                spread.record(whole(ms), now);
            }
        }
        if let Some(cls) = beacon.cls {
            self.cls.record(whole(cls * CLS_PARTS), now);
        }
        for (bytes, spread) in [
            (beacon.html_bytes, &mut self.html_bytes),
            (beacon.js_bytes, &mut self.js_bytes),
            (beacon.memory_bytes, &mut self.memory_bytes),
        ] {
            if let Some(bytes) = bytes {
                spread.record(whole(bytes), now);
            }
        }
    }

    pub(crate) fn snapshot(&mut self, name: &str, now: Duration) -> VitalsSnapshot {
        let p75 = |spread: &mut Spread| spread.percentile(75, now);
        let [ttfb, fcp, lcp, inp, tti, key, long] = &mut self.times;
        VitalsSnapshot {
            name: name.to_owned(),
            reports_total: self.reports,
            mismatches_total: self.mismatches,
            failed_total: self.failed,
            ttfb_ms: p75(ttfb),
            fcp_ms: p75(fcp),
            lcp_ms: p75(lcp),
            inp_ms: p75(inp),
            tti_ms: p75(tti),
            key_ms: p75(key),
            long_ms: p75(long),
            memory_bytes: p75(&mut self.memory_bytes),
            cls: p75(&mut self.cls).map(|parts| parts / CLS_PARTS),
            html_bytes: p75(&mut self.html_bytes),
            js_bytes: p75(&mut self.js_bytes),
        }
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "beacons hold no negative and no large numbers"
)]
fn whole(value: f64) -> u64 {
    value.round() as u64
}
