//! Service times of classes, and the pace at which requests of each side go to workers: what the wait of a request is predicted from.
//!
//! Service time rather than CPU time where a worker holds one request: it holds its slot while it waits, and one of low priority holds
//! it for longer than its request costs.

use std::collections::BTreeMap;

use sluice_sketch::Mean;

use crate::pool::Served;
use crate::{ClassId, Lane, Time};

/// The mean of service times, in microseconds. The last fifty or so samples decide it.
type Pacing = Mean<32>;

/// Samples of a side before which nothing is predicted for it: a single slow one must not turn anybody away.
const SAMPLES_MIN: u32 = 8;

#[allow(clippy::cast_precision_loss)] // A service time of 2^53 µs is 285 years.
fn record(mean: &mut Pacing, sample_us: u64) {
    mean.record(sample_us as f64);
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // A mean of u64 values lies within u64.
fn get_us(mean: &Pacing) -> Option<u64> {
    mean.get().map(|mean| mean as u64)
}

/// What is known of one side of the queue.
#[derive(Debug, Default)]
struct Pace {
    /// Requests of it that have finished, up to [`SAMPLES_MIN`].
    finished: u32,
    /// Between two that were given to workers while others of this side waited.
    interval: Pacing,
    /// When the last was given away, if others of its side were left waiting.
    since: Option<Time>,
}

/// Service times of a class.
#[derive(Debug, Default)]
struct Service {
    all: Pacing,
    /// In workers that get the CPU when they ask for it.
    unhindered: Pacing,
}

/// What is known of all.
#[derive(Debug, Default)]
pub(crate) struct Predictor {
    /// Of all classes, in workers that get the CPU when they ask for it.
    service: Pacing,
    short: Pace,
    long: Pace,
    /// As many as there are classes, which are forgotten with them.
    classes: BTreeMap<ClassId, Service>,
}

impl Predictor {
    fn pace(&self, side: Lane) -> &Pace {
        match side {
            Lane::Short => &self.short,
            Lane::Long => &self.long,
        }
    }

    fn pace_mut(&mut self, side: Lane) -> &mut Pace {
        match side {
            Lane::Short => &mut self.short,
            Lane::Long => &mut self.long,
        }
    }

    pub(crate) fn finished(&mut self, served: Served) {
        let Served { side, class, service_us, lane, .. } = served;
        let pace = self.pace_mut(side);
        pace.finished = (pace.finished + 1).min(SAMPLES_MIN);
        let service = self.classes.entry(class).or_default();
        record(&mut service.all, service_us);
        if lane == Lane::Short {
            record(&mut service.unhindered, service_us);
            record(&mut self.service, service_us);
        }
    }

    pub(crate) fn forget(&mut self, class: ClassId) {
        self.classes.remove(&class);
    }

    /// Mean service time of this class.
    pub(crate) fn service_us_of(&self, class: ClassId) -> Option<u64> {
        self.classes.get(&class).and_then(|service| get_us(&service.all))
    }

    /// Mean service time of all classes together.
    pub(crate) fn service_us(&self) -> Option<u64> {
        get_us(&self.service)
    }

    /// The same in workers of the short lane. `None` for a class that has had none of them.
    pub(crate) fn unhindered_us_of(&self, class: ClassId) -> Option<u64> {
        self.classes.get(&class).and_then(|service| get_us(&service.unhindered))
    }

    /// One of this side was given to a worker, and so many of it wait on.
    pub(crate) fn dispatched(&mut self, now: Time, side: Lane, left: usize) {
        let pace = self.pace_mut(side);
        if let Some(since) = pace.since {
            record(&mut pace.interval, now.since_us(since));
        }
        pace.since = (left > 0).then_some(now);
    }

    /// None of this side waits any more, whatever became of the last.
    pub(crate) fn emptied(&mut self, side: Lane) {
        self.pace_mut(side).since = None;
    }

    /// Whether enough is known of this side to turn requests away for it.
    pub(crate) fn knows(&self, side: Lane) -> bool {
        self.pace(side).finished >= SAMPLES_MIN
    }

    /// How long so many requests of this side, which are so much work, take to be given away: by the pace at which those before them
    /// went, which is what the other side leaves. At least the pace of all slots and at most that of one, because a pace that was
    /// measured once must not keep away those by whom it would be measured again.
    pub(crate) fn paced_us(&self, side: Lane, requests: usize, work_us: u64, slots: u32) -> u64 {
        let least_us = work_us / u64::from(slots.max(1));
        let paced_us = get_us(&self.pace(side).interval).map(|us| us.saturating_mul(requests as u64));
        paced_us.unwrap_or(least_us).clamp(least_us, work_us.max(least_us))
    }
}
