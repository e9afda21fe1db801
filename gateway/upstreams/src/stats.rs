//! Counts of an upstream since the start, and their metrics. A reload keeps them for the upstream of the same name.

use std::cell::Cell;
use std::time::Duration;

use sluice_catalog::metrics::{self, BUCKETS_SECONDS};
use sluice_journal::{Bucket, Page};

use crate::balance::Health;
use crate::upstream::Upstream;
use std::rc::Rc;

/// End of a request at its upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Answered,
    Unreachable,
    Timeout,
    Malformed,
    Truncated,
    Full,
    Abandoned,
}

/// Words of [`End`], in its order.
const ENDS: [&str; 7] = ["answered", "unreachable", "timeout", "malformed", "truncated", "full", "abandoned"];

/// Counts of one upstream.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    ended: [Cell<u64>; ENDS.len()],
    pub(crate) retries: Cell<u64>,
    first_byte: [Cell<u64>; BUCKETS_SECONDS.len() + 1],
    first_byte_s: Cell<f64>,
}

impl Stats {
    pub(crate) fn ended(&self, end: End) {
        self.ended[end as usize].update(|count| count + 1);
    }

    pub(crate) fn retried(&self) {
        self.retries.update(|count| count + 1);
    }

    pub(crate) fn first_byte(&self, after: Duration) {
        let after_s = after.as_secs_f64();
        let bucket = BUCKETS_SECONDS.iter().position(|bound| after_s <= *bound).unwrap_or(BUCKETS_SECONDS.len());
        self.first_byte[bucket].update(|count| count + 1);
        self.first_byte_s.update(|sum| sum + after_s);
    }

    /// Requests that ended.
    pub(crate) fn requests(&self) -> u64 {
        self.ended.iter().map(Cell::get).sum()
    }

    /// Requests that ended without an answer, through no fault of their client.
    pub(crate) fn failures(&self) -> u64 {
        let ended = |end: End| self.ended[end as usize].get();
        self.requests() - ended(End::Answered) - ended(End::Abandoned)
    }
}

/// Writes the metrics of all upstreams.
pub(crate) fn write(page: &mut Page, upstreams: &[Rc<Upstream>]) {
    page.metric(&metrics::UPSTREAM_REQUESTS_TOTAL);
    for upstream in upstreams {
        for (word, count) in ENDS.iter().zip(&upstream.stats.ended) {
            page.sample(&[("upstream", &upstream.name), ("ended", word)], count.get());
        }
    }
    page.metric(&metrics::UPSTREAM_RETRIES_TOTAL);
    for upstream in upstreams {
        page.sample(&[("upstream", &upstream.name)], upstream.stats.retries.get());
    }
    page.metric(&metrics::UPSTREAM_FIRST_BYTE_SECONDS);
    for upstream in upstreams {
        let bounds = BUCKETS_SECONDS.into_iter().chain([f64::INFINITY]);
        let buckets =
            bounds.zip(&upstream.stats.first_byte).map(|(bound, own)| Bucket { bound, own: own.get(), exemplar: None });
        page.histogram_of(&[("upstream", &upstream.name)], buckets, upstream.stats.first_byte_s.get());
    }
    page.metric(&metrics::UPSTREAM_TARGETS);
    for upstream in upstreams {
        for (word, health) in [("healthy", Health::Healthy), ("ejected", Health::Ejected), ("down", Health::Down)] {
            page.sample(&[("upstream", &upstream.name), ("health", word)], upstream.count(health));
        }
    }
    page.metric(&metrics::UPSTREAM_CONNECTIONS);
    for upstream in upstreams {
        page.sample(&[("upstream", &upstream.name)], upstream.connections());
    }
}
