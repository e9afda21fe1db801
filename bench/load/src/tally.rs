//! Result of a run: counts and exact percentiles, and their form as JSON. Every list in it is bounded by the plan.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

/// Times of one kind, in microseconds. Kept whole, so that percentiles are exact.
#[derive(Default)]
pub struct Times(Vec<u32>);

impl Times {
    /// Adds one.
    pub fn add(&mut self, time: Duration) {
        self.0.push(u32::try_from(time.as_micros()).unwrap_or(u32::MAX));
    }

    fn report<'a>(all: impl Iterator<Item = &'a Times>) -> Value {
        let mut sorted: Vec<u32> = all.flat_map(|times| times.0.iter().copied()).collect();
        sorted.sort_unstable();
        let Some(&max) = sorted.last() else {
            return json!({ "count": 0 });
        };
        let ms = |time_us: u32| f64::from(time_us) / 1000.0;
        let sum_us: u64 = sorted.iter().map(|&time_us| u64::from(time_us)).sum();
        json!({
            "count": sorted.len(),
            "mean": sum_us as f64 / sorted.len() as f64 / 1000.0,
            "min": ms(sorted[0]),
            "p50": ms(percentile(&sorted, 500)),
            "p90": ms(percentile(&sorted, 900)),
            "p95": ms(percentile(&sorted, 950)),
            "p99": ms(percentile(&sorted, 990)),
            "p999": ms(percentile(&sorted, 999)),
            "max": ms(max),
        })
    }
}

/// The smallest value that at least `per_mille` of all are not above (nearest rank).
fn percentile(sorted: &[u32], per_mille: usize) -> u32 {
    let rank = (sorted.len() * per_mille).div_ceil(1000).max(1);
    sorted[rank - 1]
}

/// End of one request.
#[derive(Clone, Copy, Debug)]
pub enum Outcome {
    /// A whole answer.
    Answered {
        /// Status of the answer.
        status: u16,
        /// Length of its body.
        body_bytes: u64,
        /// Time in the server's queue, if the server reports it.
        queue: Option<Duration>,
    },
    /// The client gave up on purpose.
    Aborted,
    /// Failure; the name of its kind.
    Failed(&'static str),
}

#[derive(Default)]
struct Class {
    ok: Times,
    refused: Times,
    failed: u64,
    aborted: u64,
    samples: Vec<Sample>,
}

/// One request that was not given up: when it was meant to be sent, how long it took, how it ended.
struct Sample {
    at: Duration,
    took: Duration,
    /// 0 where no whole answer came.
    status: u16,
    queue: Option<Duration>,
}

impl Sample {
    /// Microseconds, and a status between.
    fn report(&self) -> Value {
        let us = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        json!([us(self.at), us(self.took), self.status, self.queue.map(us)])
    }
}

#[derive(Clone, Copy, Default)]
struct Second {
    ok: u32,
    refused: u32,
    failed: u32,
}

/// The counts of one run.
pub struct Tally {
    started: Instant,
    started_at: SystemTime,
    finished: Instant,
    classes: BTreeMap<String, Class>,
    statuses: BTreeMap<u16, u64>,
    errors: BTreeMap<&'static str, u64>,
    late: Times,
    seconds: Vec<Second>,
    body_bytes: u64,
    ok_in_window: u64,
    window: Option<(Instant, Instant)>,
    keeps_samples: bool,
    /// Exchanges begun.
    pub sent: u64,
    /// Connections made.
    pub connections: u64,
    /// Requests sent again because a kept connection turned out to be closed before any answer.
    pub stale_retries: u64,
    /// Further figures of a mode.
    pub extra: BTreeMap<&'static str, Value>,
}

/// Number of seconds after which the timeline's last entry takes the rest.
const SECONDS_MAX: usize = 7_200;

impl Tally {
    /// Starts the clock.
    pub fn new(now: Instant, keeps_samples: bool) -> Self {
        Self {
            started: now,
            started_at: SystemTime::now(),
            finished: now,
            classes: BTreeMap::new(),
            statuses: BTreeMap::new(),
            errors: BTreeMap::new(),
            late: Times::default(),
            seconds: Vec::new(),
            body_bytes: 0,
            ok_in_window: 0,
            window: None,
            keeps_samples,
            sent: 0,
            connections: 0,
            stale_retries: 0,
            extra: BTreeMap::new(),
        }
    }

    /// Goodput is counted between these moments.
    pub fn measure_between(&mut self, from: Instant, to: Instant) {
        self.window = Some((from, to));
    }

    /// Notes by how much a request was sent after its intended moment.
    pub fn late(&mut self, by: Duration) {
        self.late.add(by);
    }

    /// An answer that belongs to another request; counted besides its outcome.
    pub fn mixed_up(&mut self) {
        *self.errors.entry("mixed_up").or_default() += 1;
    }

    /// A request ended.
    pub fn end(&mut self, class: &str, outcome: Outcome, from: Instant, now: Instant) {
        self.finished = now;
        if !self.classes.contains_key(class) {
            self.classes.insert(class.to_owned(), Class::default());
        }
        let Some(counts) = self.classes.get_mut(class) else {
            return;
        };
        let at = usize::try_from((now - self.started).as_secs()).unwrap_or(SECONDS_MAX).min(SECONDS_MAX);
        if self.seconds.len() <= at {
            self.seconds.resize(at + 1, Second::default());
        }
        let second = &mut self.seconds[at];
        if self.keeps_samples && !matches!(outcome, Outcome::Aborted) {
            let (status, queue) = match outcome {
                Outcome::Answered { status, queue, .. } => (status, queue),
                Outcome::Aborted | Outcome::Failed(_) => (0, None),
            };
            counts.samples.push(Sample { at: from - self.started, took: now - from, status, queue });
        }
        match outcome {
            Outcome::Answered { status, body_bytes, .. } => {
                *self.statuses.entry(status).or_default() += 1;
                self.body_bytes += body_bytes;
                match status {
                    200..=399 => {
                        counts.ok.add(now - from);
                        second.ok += 1;
                        if self.window.is_some_and(|(start, end)| now >= start && now < end) {
                            self.ok_in_window += 1;
                        }
                    }
                    503 => {
                        counts.refused.add(now - from);
                        second.refused += 1;
                    }
                    _ => {
                        counts.failed += 1;
                        second.failed += 1;
                        *self.errors.entry("status").or_default() += 1;
                    }
                }
            }
            Outcome::Aborted => counts.aborted += 1,
            Outcome::Failed(kind) => {
                counts.failed += 1;
                second.failed += 1;
                *self.errors.entry(kind).or_default() += 1;
            }
        }
    }

    /// The result.
    pub fn report(&self) -> Value {
        let classes: BTreeMap<_, _> = self
            .classes
            .iter()
            .map(|(name, class)| {
                let mut figures = json!({
                    "ok": class.ok.0.len(),
                    "refused": class.refused.0.len(),
                    "failed": class.failed,
                    "aborted": class.aborted,
                    "latency_ms": Times::report([&class.ok].into_iter()),
                    "refused_ms": Times::report([&class.refused].into_iter()),
                });
                if self.keeps_samples {
                    figures["samples"] = class.samples.iter().map(Sample::report).collect();
                }
                (name, figures)
            })
            .collect();
        let window_s = self.window.map(|(start, end)| (end - start).as_secs_f64());
        // Places the samples on the clock of whoever breaks the server meanwhile.
        let started_unix_ms =
            self.started_at.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64() * 1000.0);
        json!({
            "started_unix_ms": started_unix_ms,
            "elapsed_s": (self.finished - self.started).as_secs_f64(),
            "sent": self.sent,
            "ok": self.classes.values().map(|class| class.ok.0.len()).sum::<usize>(),
            "refused": self.classes.values().map(|class| class.refused.0.len()).sum::<usize>(),
            "failed": self.classes.values().map(|class| class.failed).sum::<u64>(),
            "aborted": self.classes.values().map(|class| class.aborted).sum::<u64>(),
            "errors": self.errors,
            "statuses": self.statuses,
            "body_bytes": self.body_bytes,
            "connections": self.connections,
            "stale_retries": self.stale_retries,
            "latency_ms": Times::report(self.classes.values().map(|class| &class.ok)),
            "refused_ms": Times::report(self.classes.values().map(|class| &class.refused)),
            "late_ms": Times::report([&self.late].into_iter()),
            "ok_in_window": self.ok_in_window,
            "window_s": window_s,
            "classes": classes,
            "timeline": self.seconds.iter().map(|second| json!([second.ok, second.refused, second.failed])).collect::<Vec<_>>(),
            "generator_cpu_s": own_cpu_s(),
            "extra": self.extra,
        })
    }
}

/// CPU seconds of this process so far, where the system tells.
fn own_cpu_s() -> Option<f64> {
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    let total_ns: u64 = tasks
        .flatten()
        .filter_map(|task| std::fs::read_to_string(task.path().join("schedstat")).ok())
        .filter_map(|text| text.split_whitespace().next()?.parse::<u64>().ok())
        .sum();
    Some(total_ns as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_rank() {
        let sorted: Vec<u32> = (1..=100).collect();
        assert_eq!(percentile(&sorted, 500), 50);
        assert_eq!(percentile(&sorted, 990), 99);
        assert_eq!(percentile(&sorted, 999), 100);
        assert_eq!(percentile(&[7], 500), 7);
    }

    #[test]
    fn refusals_do_not_count_as_answers_or_failures() {
        let start = Instant::now();
        let mut tally = Tally::new(start, false);
        for status in [200, 503, 500] {
            tally.end(
                "a",
                Outcome::Answered { status, body_bytes: 1, queue: None },
                start,
                start + Duration::from_millis(3),
            );
        }
        tally.end("b", Outcome::Failed("timeout"), start, start + Duration::from_millis(3));
        let report = tally.report();
        assert_eq!((&report["ok"], &report["refused"], &report["failed"]), (&json!(1), &json!(1), &json!(2)));
        assert_eq!(report["refused_ms"]["p50"], json!(3.0));
    }

    #[test]
    fn samples_tell_when_a_request_was_meant_to_be_sent_and_what_became_of_it() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut tally = Tally::new(start, true);
        let queue = Some(Duration::from_millis(2));
        tally.end("a", Outcome::Answered { status: 200, body_bytes: 1, queue }, at(4), at(9));
        tally.end("a", Outcome::Failed("timeout"), at(5), at(9));
        tally.end("a", Outcome::Aborted, at(5), at(9));
        let samples = &tally.report()["classes"]["a"]["samples"];
        assert_eq!(samples, &json!([[4_000, 5_000, 200, 2_000], [5_000, 4_000, 0, null]]));
    }
}
