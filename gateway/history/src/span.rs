//! A span of time that is not over: what its point is made from.

use sluice_catalog::dashboard::Point;
use sluice_sketch::Times;

use crate::{Reading, Requests};

#[derive(Default)]
pub(crate) struct Span {
    /// Readings so far.
    readings: u32,
    elapsed_ms: u64,
    last: Reading,
    queue_length_max: u64,
    in_service_sum: u64,
    cpu_ms: f64,
    gateway_cpu_ms: f64,
    runs: Vec<u32>,
    answered: u64,
    refused: u64,
    failed: u64,
    queue_wait: Times,
    service_time: Times,
}

impl Span {
    pub(crate) fn add(&mut self, reading: &Reading, requests: &Requests<'_>) {
        self.readings += 1;
        self.elapsed_ms += reading.elapsed_ms;
        self.queue_length_max = self.queue_length_max.max(reading.queue_length);
        self.in_service_sum += reading.in_service;
        self.cpu_ms += reading.cpu_ms;
        self.gateway_cpu_ms += reading.gateway_cpu_ms;
        if self.runs.len() < reading.runs.len() {
            self.runs.resize(reading.runs.len(), 0);
        }
        self.runs.iter_mut().zip(&reading.runs).for_each(|(all, more)| *all = all.saturating_add(*more));
        self.answered += requests.answered;
        self.refused += requests.refused;
        self.failed += requests.failed;
        self.queue_wait.add(requests.queue_wait);
        self.service_time.add(requests.service_time);
        self.last = reading.clone();
    }

    /// The point, if the span is over; another one begins. Spans end at whole multiples of their length, so that those of two
    /// gateways lie beside each other on one axis. `now_ms` may jump, as it is a wall clock.
    pub(crate) fn close(&mut self, length_ms: u64, now_ms: u64) -> Option<Point> {
        let begun_ms = now_ms.saturating_sub(self.elapsed_ms);
        // A reading comes somewhat early or late.
        let slack_ms = 500;
        let is_over = (begun_ms + slack_ms) / length_ms != (now_ms + slack_ms) / length_ms;
        if !is_over && self.elapsed_ms + slack_ms < length_ms {
            return None;
        }
        let point = self.point();
        let (mut queue_wait, mut service_time) =
            (std::mem::take(&mut self.queue_wait), std::mem::take(&mut self.service_time));
        queue_wait.clear();
        service_time.clear();
        *self = Self { queue_wait, service_time, ..Self::default() };
        Some(point)
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "figures for the eye")]
    fn point(&self) -> Point {
        let seconds = self.elapsed_ms as f64 / 1000.0;
        let rate = |count: u64| rounded(count as f64 / seconds);
        let spread = |times: &Times| {
            Times::percentiles(&[times].into_iter(), [50, 95, 99, 100])
                .map(|found| found.map(|us| rounded(us / 1000.0)))
        };
        Point {
            at_ms: self.last.at_ms,
            answered: rate(self.answered),
            refused: rate(self.refused),
            failed: rate(self.failed),
            queue_length: self.queue_length_max as f32,
            in_service: rounded(self.in_service_sum as f64 / f64::from(self.readings.max(1))),
            workers: self.last.workers,
            cpu: rounded(self.cpu_ms / 1000.0 / seconds),
            gateway_cpu: rounded(self.gateway_cpu_ms / 1000.0 / seconds),
            rss_bytes: self.last.rss_bytes,
            queue_wait_ms: spread(&self.queue_wait),
            service_time_ms: spread(&self.service_time),
            runs: self.runs.clone(),
        }
    }
}

/// Value of three digits or a whole number, so that a point is short in JSON.
#[allow(clippy::cast_possible_truncation, reason = "figures for the eye")]
fn rounded(value: f64) -> f32 {
    let digits = if value < 1.0 {
        1000.0
    } else if value < 10.0 {
        100.0
    } else if value < 100.0 {
        10.0
    } else {
        1.0
    };
    ((value * digits).round() / digits) as f32
}
