//! Service times of classes, and the pace at which requests of each side go to workers: the basis of predicted waits.
//!
//! Where a worker holds one request, service time counts and not CPU time. The request holds its slot while it waits,
//! and longer than its cost in a worker of low priority.

use std::collections::BTreeMap;

use sluice_sketch::Mean;

use crate::pool::Completion;
use crate::{ClassId, Lane, Time};

/// Decaying mean of service times, microseconds. About the last fifty samples decide it.
type Pacing = Mean<32>;

/// Samples of a side before which it has no prediction: a single slow one must not cause refusals.
const SAMPLES_MIN: u32 = 8;

#[allow(clippy::cast_precision_loss)] // A service time of 2^53 µs is 285 years.
fn record(mean: &mut Pacing, sample_us: u64) {
    mean.record(sample_us as f64);
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // A mean of u64 values lies within u64.
fn get_us(mean: &Pacing) -> Option<u64> {
    mean.get().map(|mean| mean as u64)
}

/// Pace of one side of the queue.
#[derive(Debug, Default)]
struct Pace {
    /// Finished requests of the side, up to [`SAMPLES_MIN`].
    finished: u32,
    /// Mean time between two dispatches while others of this side waited, microseconds.
    interval: Pacing,
    /// Time of the last dispatch, if others of its side still waited.
    since: Option<Time>,
}

/// Service times of a class.
#[derive(Debug, Default)]
struct Service {
    all: Pacing,
    /// Service time in workers that get the CPU when they need it.
    unhindered: Pacing,
}

/// Service times of all classes, and the pace of both sides.
#[derive(Debug, Default)]
pub(crate) struct Predictor {
    /// Service time over all classes, in workers that get the CPU when they need it.
    service: Pacing,
    short: Pace,
    long: Pace,
    /// Service times by class; the caller forgets a class here too.
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

    pub(crate) fn finished(&mut self, served: Completion) {
        let Completion { side, class, service_us, lane, .. } = served;
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

    /// Mean service time of this class, microseconds.
    pub(crate) fn service_us_of(&self, class: ClassId) -> Option<u64> {
        self.classes.get(&class).and_then(|service| get_us(&service.all))
    }

    /// Mean service time of all classes together, microseconds.
    pub(crate) fn service_us(&self) -> Option<u64> {
        get_us(&self.service)
    }

    /// Mean service time of this class in workers of the short lane, microseconds. `None` if none has finished there.
    pub(crate) fn unhindered_us_of(&self, class: ClassId) -> Option<u64> {
        self.classes.get(&class).and_then(|service| get_us(&service.unhindered))
    }

    /// Records a dispatch from this side, with `left` requests that still wait.
    pub(crate) fn dispatched(&mut self, now: Time, side: Lane, left: usize) {
        let pace = self.pace_mut(side);
        if let Some(since) = pace.since {
            record(&mut pace.interval, now.since_us(since));
        }
        pace.since = (left > 0).then_some(now);
    }

    /// Records that no request of this side waits any more.
    pub(crate) fn emptied(&mut self, side: Lane) {
        self.pace_mut(side).since = None;
    }

    /// Whether there are enough samples of this side to refuse requests by its prediction.
    pub(crate) fn knows(&self, side: Lane) -> bool {
        self.pace(side).finished >= SAMPLES_MIN
    }

    /// Time until so many requests of this side, with so much work, are dispatched, microseconds: by the recent pace,
    /// which is what the other side leaves.
    ///
    /// At least the pace of all slots and at most that of one: an outdated pace must not refuse the requests that would
    /// measure it again.
    pub(crate) fn paced_us(&self, side: Lane, requests: usize, work_us: u64, slots: u32) -> u64 {
        let least_us = work_us / u64::from(slots.max(1));
        let paced_us = get_us(&self.pace(side).interval).map(|us| us.saturating_mul(requests as u64));
        paced_us.unwrap_or(least_us).clamp(least_us, work_us.max(least_us))
    }
}
