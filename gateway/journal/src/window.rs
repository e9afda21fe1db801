//! Percentiles and rates over the last minute, in constant memory.
//!
//! A histogram for each of six slices of ten seconds; the oldest slice is dropped as a whole. This module must not know what is
//! measured, nor read a clock.

use sluice_catalog::snapshot::Percentiles;
use sluice_sketch::Times;

const SLICES: usize = 6;
const SLICE_MS: u64 = 10_000;

#[derive(Default)]
struct Slice {
    /// Number of the ten-second slice, counted from the clock's zero.
    number: u64,
    times: Times,
}

/// Measurements of the last 50 to 60 seconds.
#[derive(Default)]
pub(crate) struct Window {
    slices: [Slice; SLICES],
}

impl Window {
    /// Records a value in microseconds, at a time of a monotonic clock in milliseconds.
    pub(crate) fn record(&mut self, now_ms: u64, value_us: u64) {
        let number = now_ms / SLICE_MS;
        let slice = &mut self.slices[place(number, SLICES)];
        if slice.number != number {
            slice.number = number;
            slice.times.clear();
        }
        slice.times.record(value_us);
    }

    pub(crate) fn percentiles(&self, now_ms: u64) -> Percentiles {
        let number = now_ms / SLICE_MS;
        let live = |slice: &&Slice| slice.number + SLICES as u64 > number && slice.number <= number;
        let found = Times::percentiles(&self.slices.iter().filter(live).map(|slice| &slice.times), [50, 95, 99]);
        let [p50, p95, p99] = found.map_or([None; 3], |found| found.map(|us| Some(us / 1000.0)));
        Percentiles { p50, p95, p99 }
    }
}

/// Converts floating-point milliseconds to whole microseconds; NaN and negative values become 0.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, and turns NaN and negatives into 0"
)]
pub(crate) fn microseconds(value_ms: f64) -> u64 {
    value_ms.mul_add(1000.0, 0.5) as u64
}

fn place(number: u64, of: usize) -> usize {
    usize::try_from(number % of as u64).unwrap_or(0)
}

const RATE_SECONDS: usize = 10;

/// Events per second over the last ten whole seconds.
pub(crate) struct Rate {
    started_ms: u64,
    /// One more than are read, as the present second is not over.
    seconds: [(u64, u64); RATE_SECONDS + 1],
}

impl Rate {
    pub(crate) fn new(now_ms: u64) -> Self {
        Self { started_ms: now_ms, seconds: [(u64::MAX, 0); RATE_SECONDS + 1] }
    }

    pub(crate) fn count(&mut self, now_ms: u64) {
        let second = now_ms / 1000;
        let slot = &mut self.seconds[place(second, RATE_SECONDS + 1)];
        if slot.0 == second {
            slot.1 += 1;
        } else {
            *slot = (second, 1);
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "counts of ten seconds are far below 2^52")]
    pub(crate) fn per_second(&self, now_ms: u64) -> f64 {
        let now = now_ms / 1000;
        let started = self.started_ms / 1000;
        // In the first second there is nothing better than what has come so far.
        if now == started {
            return self.sum(|second| second == now) as f64;
        }
        let span = (now - started).min(RATE_SECONDS as u64);
        self.sum(|second| second < now && second + span >= now) as f64 / span as f64
    }

    fn sum(&self, wanted: impl Fn(u64) -> bool) -> u64 {
        self.seconds.iter().filter(|(second, _)| *second != u64::MAX && wanted(*second)).map(|(_, count)| count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_what_was_recorded() {
        let mut window = Window::default();
        for value in 1..=1000 {
            window.record(1000, microseconds(f64::from(value)));
        }
        let Percentiles { p50: Some(p50), p95: Some(p95), p99: Some(p99) } = window.percentiles(1000) else {
            panic!("there are values");
        };
        assert!(
            (p50 - 500.0).abs() < 10.0 && (p95 - 950.0).abs() < 19.0 && (p99 - 990.0).abs() < 20.0,
            "{p50} {p95} {p99}"
        );
    }

    #[test]
    fn what_is_older_than_a_minute_is_forgotten() {
        let mut window = Window::default();
        window.record(0, microseconds(700.0));
        window.record(30_000, microseconds(5.0));
        assert!(window.percentiles(59_999).p99.unwrap() > 600.0);
        assert!(window.percentiles(60_000).p99.unwrap() < 6.0);
        assert_eq!(window.percentiles(95_000), Percentiles::default());
        window.record(600_000, microseconds(1.0));
        assert!((window.percentiles(600_000).p99.unwrap() - 1.0).abs() < 0.02);
    }

    #[test]
    fn absurd_values_do_no_harm() {
        let mut window = Window::default();
        for value in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
            window.record(0, microseconds(value));
        }
        assert!(window.percentiles(0).p99.unwrap() > 4_000_000.0);
        assert!(window.percentiles(0).p50.unwrap().abs() < 0.001);
    }

    #[test]
    fn the_rate_is_that_of_the_last_ten_seconds() {
        let mut rate = Rate::new(500);
        for ms in (500..20_000).step_by(10) {
            rate.count(ms);
        }
        assert!((rate.per_second(20_000) - 100.0).abs() < 0.001);
        assert!((rate.per_second(25_500) - 50.0).abs() < 0.001);
        assert!(rate.per_second(40_000).abs() < 0.001);
    }
}
