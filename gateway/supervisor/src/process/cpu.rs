//! Recent CPU use of a worker, from the totals in its reports. Pure.

use std::time::Duration;

use tokio::time::Instant;

/// Time over which the figure is averaged: shorter ones are noisy, longer ones hide the start of a loop.
const OVER: Duration = Duration::from_secs(2);

/// Mean CPU use over about the last [`OVER`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CpuLately {
    last: Option<(Instant, u64)>,
    cores: Option<f64>,
}

impl CpuLately {
    /// Adds one more total, in microseconds since the process started.
    pub(crate) fn with(self, now: Instant, cpu_us_total: u64) -> Self {
        let last = Some((now, cpu_us_total));
        let Some((then, before_us)) = self.last else { return Self { last, cores: None } };
        let elapsed = now.saturating_duration_since(then);
        if elapsed.is_zero() {
            return self;
        }
        let used = Duration::from_micros(cpu_us_total.saturating_sub(before_us));
        let cores = used.as_secs_f64() / elapsed.as_secs_f64();
        let weight = (elapsed.as_secs_f64() / OVER.as_secs_f64()).min(1.0);
        let mean = self.cores.map_or(cores, |mean| mean + weight * (cores - mean));
        Self { last, cores: Some(mean) }
    }

    pub(crate) fn cores(self) -> Option<f64> {
        self.cores
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loop_shows_within_seconds_and_its_end_too() {
        let start = Instant::now();
        let mut cpu = CpuLately::default().with(start, 5_000_000);
        assert_eq!(cpu.cores(), None, "one total says nothing");
        let beat = |n: u32| start + Duration::from_millis(250) * n;
        for n in 1..=20 {
            cpu = cpu.with(beat(n), 5_000_000 + 250_000 * u64::from(n));
        }
        assert!(cpu.cores().is_some_and(|cores| (cores - 1.0).abs() < 0.01), "{cpu:?}");
        for n in 21..=60 {
            cpu = cpu.with(beat(n), 10_000_000);
        }
        assert!(cpu.cores().is_some_and(|cores| cores < 0.01), "{cpu:?}");
    }

    #[test]
    fn total_that_falls_is_no_negative_use() {
        let start = Instant::now();
        let cpu = CpuLately::default().with(start, 9).with(start + Duration::from_secs(3), 1);
        assert_eq!(cpu.cores(), Some(0.0));
    }
}
