//! Histograms of times, for all requests and for those of one class. This module must not know what is timed.

use sluice_catalog::metrics::{BUCKETS_SECONDS, CLASS_BUCKETS_SECONDS};

use crate::event::AccessRecord;
use crate::prometheus::{Bucket, Exemplar, Page};
use crate::window::microseconds;

/// Times of all requests, with exemplars.
#[derive(Default)]
pub(super) struct Histogram {
    /// The last has no bound.
    buckets: [u64; BUCKETS_SECONDS.len() + 1],
    exemplars: [Option<Exemplar>; BUCKETS_SECONDS.len() + 1],
    sum_us: u64,
}

impl Histogram {
    pub(super) fn record(&mut self, value_ms: f64, request: &AccessRecord<'_>) {
        self.record_times(1, value_ms, request);
    }

    /// Records a time for several requests, or for none.
    pub(super) fn record_times(&mut self, times: u32, value_ms: f64, request: &AccessRecord<'_>) {
        if times == 0 {
            return;
        }
        let whole_us = microseconds(value_ms);
        let value = seconds(whole_us);
        let place = BUCKETS_SECONDS.iter().position(|bound| value <= *bound).unwrap_or(BUCKETS_SECONDS.len());
        self.buckets[place] += u64::from(times);
        self.sum_us = self.sum_us.saturating_add(whole_us.saturating_mul(times.into()));
        if let Some(trace_id) = request.trace_id.filter(|_| request.is_traced) {
            self.exemplars[place] = Some(Exemplar { trace_id, value, at_unix_ms: request.time_unix_ms });
        }
    }

    pub(super) fn write(&self, page: &mut Page) {
        let bounds = BUCKETS_SECONDS.into_iter().chain([f64::INFINITY]);
        let buckets = bounds.zip(self.buckets.iter().zip(&self.exemplars));
        let bucket = |(bound, (own, exemplar)): (f64, (&u64, &Option<Exemplar>))| Bucket {
            bound,
            own: *own,
            exemplar: *exemplar,
        };
        page.histogram(buckets.map(bucket), seconds(self.sum_us));
    }
}

/// Times of one class.
#[derive(Default)]
pub(super) struct ClassHistogram {
    /// The last has no bound.
    buckets: [u64; CLASS_BUCKETS_SECONDS.len() + 1],
    sum_us: u64,
}

impl ClassHistogram {
    pub(super) fn record(&mut self, value_ms: f64) {
        let whole_us = microseconds(value_ms);
        let value = seconds(whole_us);
        let place = CLASS_BUCKETS_SECONDS.iter().position(|bound| value <= *bound);
        self.buckets[place.unwrap_or(CLASS_BUCKETS_SECONDS.len())] += 1;
        self.sum_us = self.sum_us.saturating_add(whole_us);
    }

    /// Nothing for a class without a time: there may be a hundred of them.
    pub(super) fn write(&self, page: &mut Page, class: &str) {
        if self.buckets.iter().any(|count| *count > 0) {
            let bounds = CLASS_BUCKETS_SECONDS.into_iter().chain([f64::INFINITY]);
            let buckets = bounds.zip(self.buckets).map(|(bound, own)| Bucket { bound, own, exemplar: None });
            page.histogram_of(&[("class", class)], buckets, seconds(self.sum_us));
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "the unit is coarse, and Prometheus has nothing but doubles")]
fn seconds(value_us: u64) -> f64 {
    value_us as f64 / 1_000_000.0
}
