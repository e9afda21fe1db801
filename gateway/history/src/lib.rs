//! Hours of what the gateway was like, in bounded memory: each second for five minutes, each 10 s for an hour, each minute
//! for twelve hours. Percentiles are exact for each span, because every span has a histogram of its own until it ends.
//!
//! Pure: readings and their times go in, points come out. It must not know who reads or draws.

mod span;

use std::collections::{HashMap, VecDeque};

use sluice_catalog::dashboard::{Columns, Point};
use sluice_catalog::snapshot::{Snapshot, WorkerState};
use sluice_sketch::Times;

use span::Span;

/// Maximum number of buckets of runs in a point.
pub const RUNS_MAX: usize = 32;

/// Lengths of spans in seconds, and how many are kept of each.
const TIERS: [(u32, usize); 3] = [(1, 300), (10, 360), (60, 720)];

/// Moment of a reading.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Unix time in milliseconds; may jump.
    pub unix_ms: u64,
    /// Time since the reading before, milliseconds of a clock that does not jump.
    pub elapsed_ms: u64,
    /// CPU time that the gateway has used since its start, milliseconds.
    pub gateway_cpu_ms: f64,
}

/// Figures of requests since the reading before.
#[derive(Clone, Copy, Debug)]
pub struct Requests<'a> {
    /// Requests that workers answered.
    pub answered: u64,
    /// Requests that the gateway refused.
    pub refused: u64,
    /// Answers with a status of 500 or above.
    pub failed: u64,
    /// Queue waits.
    pub queue_wait: &'a Times,
    /// Service times.
    pub service_time: &'a Times,
}

/// Figures of the gateway at a moment, with the differences to the reading before.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reading {
    at_ms: u64,
    /// Time since the reading before.
    elapsed_ms: u64,
    queue_length: u64,
    in_service: u64,
    workers: u32,
    cpu_ms: f64,
    gateway_cpu_ms: f64,
    rss_bytes: u64,
    runs: Vec<u32>,
}

struct Tier {
    span_s: u32,
    kept: usize,
    open: Span,
    points: VecDeque<Point>,
}

/// The history of one gateway.
pub struct History {
    /// Start of the history, Unix time in milliseconds.
    epoch: u64,
    tiers: [Tier; TIERS.len()],
    gateway_cpu_ms: f64,
    /// CPU time of each worker at the last reading, by its id.
    cpu_ms: HashMap<u64, f64>,
    runs: Vec<u64>,
}

impl History {
    /// Maximum memory of all points, bytes.
    pub const BYTES_MAX: usize = {
        let (mut points, mut tier) = (0, 0);
        while tier < TIERS.len() {
            points += TIERS[tier].1;
            tier += 1;
        }
        points * (size_of::<Point>() + RUNS_MAX * size_of::<u32>()) + TIERS.len() * 2 * Times::BYTES
    };

    /// An empty one that begins now, in Unix milliseconds.
    pub fn new(now_ms: u64) -> Self {
        let tier = |(span_s, kept)| Tier { span_s, kept, open: Span::default(), points: VecDeque::with_capacity(kept) };
        Self { epoch: now_ms, tiers: TIERS.map(tier), gateway_cpu_ms: 0.0, cpu_ms: HashMap::new(), runs: Vec::new() }
    }

    /// Start of the history, Unix time in milliseconds.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Takes in how things are, about once a second. Returns the second's point.
    pub fn record(&mut self, now: Now, snapshot: &Snapshot, requests: &Requests<'_>) -> Point {
        let reading = self.reading(now, snapshot);
        let now_ms = now.unix_ms;
        for tier in &mut self.tiers {
            tier.open.add(&reading, requests);
            if let Some(point) = tier.open.close(u64::from(tier.span_s) * 1000, now_ms) {
                if tier.points.len() == tier.kept {
                    tier.points.pop_front();
                }
                tier.points.push_back(point);
            }
        }
        self.tiers[0].points.back().cloned().unwrap_or_default()
    }

    fn reading(&mut self, now: Now, snapshot: &Snapshot) -> Reading {
        let Now { unix_ms, elapsed_ms, gateway_cpu_ms } = now;
        let gateway_before = std::mem::replace(&mut self.gateway_cpu_ms, gateway_cpu_ms);
        let live = snapshot.workers.iter().filter(|worker| worker.pid.is_some());
        let cpu_now: HashMap<u64, f64> =
            live.clone().filter_map(|worker| Some((worker.id, worker.cpu_ms_total?))).collect();
        // A worker that was not there before has used all of it since.
        let used = |(id, now): (&u64, &f64)| (now - self.cpu_ms.get(id).copied().unwrap_or(0.0)).max(0.0);
        let cpu_ms = cpu_now.iter().map(used).sum();
        self.cpu_ms = cpu_now;
        let serves = |state| matches!(state, WorkerState::Ready | WorkerState::Busy);
        Reading {
            at_ms: unix_ms,
            elapsed_ms: elapsed_ms.max(1),
            queue_length: snapshot.queue.length,
            in_service: snapshot.requests.in_service,
            workers: u32::try_from(live.clone().filter(|worker| serves(worker.state)).count()).unwrap_or(u32::MAX),
            cpu_ms,
            gateway_cpu_ms: if gateway_before > 0.0 { (gateway_cpu_ms - gateway_before).max(0.0) } else { 0.0 },
            rss_bytes: live.filter_map(|worker| worker.rss_bytes).sum(),
            runs: self.new_runs(&snapshot.runs.counts),
        }
    }

    /// Additional runs of each length since the reading before.
    fn new_runs(&mut self, counts: &[u64]) -> Vec<u32> {
        let counts = &counts[..counts.len().min(RUNS_MAX)];
        let before = |bucket: usize| self.runs.get(bucket).copied().unwrap_or(0);
        let more = |(bucket, now): (usize, &u64)| u32::try_from(now.saturating_sub(before(bucket))).unwrap_or(u32::MAX);
        let new = counts.iter().enumerate().map(more).collect();
        self.runs = counts.to_vec();
        new
    }

    /// Points after this moment second by second, oldest first; `None` where some of them are no longer kept.
    pub fn since(&self, at_ms: u64) -> Option<Vec<Point>> {
        let points = &self.tiers[0].points;
        let is_whole = at_ms >= self.epoch && points.front().is_none_or(|first| first.at_ms <= at_ms + 1500);
        is_whole.then(|| points.iter().filter(|point| point.at_ms > at_ms).cloned().collect())
    }

    /// All points that are kept second by second, oldest first.
    pub fn latest(&self) -> Vec<Point> {
        self.tiers[0].points.iter().cloned().collect()
    }

    /// All spans of this length, or else of the next longer one that is kept.
    pub fn columns(&self, span_s: u32) -> Columns {
        let [.., longest] = &self.tiers;
        let tier = self.tiers.iter().find(|tier| tier.span_s >= span_s).unwrap_or(longest);
        let mut columns = Columns { epoch: self.epoch, span_s: tier.span_s, ..Columns::default() };
        tier.points.iter().for_each(|point| columns.push(point));
        columns
    }
}

#[cfg(test)]
mod tests;
