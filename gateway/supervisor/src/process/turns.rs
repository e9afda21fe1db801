//! Activity of a worker's event loop over the last minute: its utilization and its longest delay, so that a reader
//! every 15 seconds misses nothing. Pure: times are passed in.

use std::collections::VecDeque;
use std::time::Duration;

use sluice_catalog::metrics::BUCKETS_SECONDS;
use tokio::time::Instant;

/// Time over which the longest delay is known.
const WINDOW: Duration = Duration::from_secs(60);
/// Silence that does not count as a delay: workers report once a second.
const SILENCE_MIN: Duration = Duration::from_millis(1_500);

/// The event loop of one worker since its start.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    heard: Option<Instant>,
    /// Reports of the last minute: time of the report, busy time before it, and length of that period.
    spans: VecDeque<(Instant, Duration, Duration)>,
    /// Delays that no later one exceeds: times rise and delays fall, so the first is the longest.
    delays: VecDeque<(Instant, Duration)>,
}

impl Turns {
    /// Records a report: the loop's busy share of the time since the last one, and its longest delay.
    pub(crate) fn hear(&mut self, now: Instant, utilization: f64, delay: Duration) {
        let is_old = |at: Instant| now.saturating_duration_since(at) >= WINDOW;
        while self.spans.front().is_some_and(|(at, ..)| is_old(*at)) {
            self.spans.pop_front();
        }
        if let Some(before) = self.heard.replace(now) {
            let span = now.saturating_duration_since(before);
            self.spans.push_back((now, span.mul_f64(utilization.clamp(0.0, 1.0)), span));
        }
        while self.delays.front().is_some_and(|(at, _)| is_old(*at)) {
            self.delays.pop_front();
        }
        while self.delays.back().is_some_and(|(_, shorter)| *shorter <= delay) {
            self.delays.pop_back();
        }
        self.delays.push_back((now, delay));
    }

    /// Share of the last minute, or of the time since the first report, in which the loop was busy. Silence counts as
    /// busy.
    pub(crate) fn utilization(&self, now: Instant) -> Option<f64> {
        let silent = Some(now.saturating_duration_since(self.heard?)).filter(|silent| *silent >= SILENCE_MIN);
        let recent = self.spans.iter().filter(|(at, ..)| now.saturating_duration_since(*at) < WINDOW);
        let (busy, all) =
            recent.fold((Duration::ZERO, Duration::ZERO), |(busy, all), (_, own, span)| (busy + *own, all + *span));
        let (busy, all) = (busy + silent.unwrap_or_default(), all + silent.unwrap_or_default());
        (!all.is_zero()).then(|| busy.div_duration_f64(all))
    }

    /// Longest delay within the last minute, including one that has not ended. `None` before the first report.
    pub(crate) fn delay_max(&self, now: Instant) -> Option<Duration> {
        let silent = now.saturating_duration_since(self.heard?);
        let within = self.delays.iter().find(|(at, _)| now.saturating_duration_since(*at) < WINDOW);
        let told = within.map_or(Duration::ZERO, |(_, delay)| *delay);
        Some(if silent >= SILENCE_MIN { told.max(silent) } else { told })
    }
}

/// Longest delay of each second, of all workers, as a histogram.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoopDelays {
    /// Number of delays within each of [`BUCKETS_SECONDS`] and above the one before; the last bucket has no bound.
    pub counts: [u64; BUCKETS_SECONDS.len() + 1],
    /// Sum of all these delays.
    pub sum: Duration,
}

impl LoopDelays {
    pub(crate) fn count(&mut self, delay: Duration) {
        let place = BUCKETS_SECONDS.iter().position(|bound| delay.as_secs_f64() <= *bound);
        self.counts[place.unwrap_or(BUCKETS_SECONDS.len())] += 1;
        self.sum = self.sum.saturating_add(delay);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn utilization_is_that_of_the_last_minute() {
        let (mut turns, start) = (Turns::default(), Instant::now());
        assert_eq!((turns.utilization(start), turns.delay_max(start)), (None, None));
        let at = |second: u64| start + ms(second * 1_000);
        turns.hear(at(0), 1.0, Duration::ZERO);
        assert_eq!(turns.utilization(at(0)), None, "nobody knows since when");
        for second in 1..=120 {
            turns.hear(at(second), if second <= 60 { 1.0 } else { 0.25 }, Duration::ZERO);
        }
        assert_eq!(turns.utilization(at(120)), Some(0.25));
        assert!(turns.spans.len() <= 60);
        // A loop that stands still is busy.
        assert_eq!(turns.utilization(at(150)), Some((0.25 * 30.0 + 30.0) / 60.0));
    }

    #[test]
    fn the_longest_delay_is_known_for_a_minute_and_then_the_next_one() {
        let (mut turns, start) = (Turns::default(), Instant::now());
        for second in 0..90 {
            let delay = match second {
                5 => 900,
                30 => 400,
                _ => 2,
            };
            turns.hear(start + ms(second * 1_000), 0.1, ms(delay));
            let longest = match second {
                5..65 => 900,
                65..90 => 400,
                _ => 2,
            };
            assert_eq!(turns.delay_max(start + ms(second * 1_000)), Some(ms(longest)), "second {second}");
        }
        assert!(turns.delays.len() <= 3, "{} delays are kept", turns.delays.len());
    }

    #[test]
    fn a_delay_that_has_not_ended_counts_as_long_as_it_is() {
        let (mut turns, start) = (Turns::default(), Instant::now());
        turns.hear(start, 0.1, ms(3));
        assert_eq!(turns.delay_max(start + ms(1_400)), Some(ms(3)));
        assert_eq!(turns.delay_max(start + ms(9_000)), Some(ms(9_000)));
    }

    #[test]
    fn delays_are_counted_in_the_bucket_whose_bound_they_do_not_exceed() {
        let mut delays = LoopDelays::default();
        for delay in [ms(0), ms(1), ms(2), ms(120_000)] {
            delays.count(delay);
        }
        assert_eq!((delays.counts[0], delays.counts[1], delays.counts[BUCKETS_SECONDS.len()]), (2, 1, 1));
        assert_eq!(delays.sum, ms(120_003));
    }
}
