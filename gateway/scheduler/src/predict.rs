//! How long a request will wait, from what those before it took.
//!
//! Service time rather than CPU time: a worker that waits for a database holds its slot all the same, and one of low
//! priority holds it for longer than its request costs.

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
    service: Pacing,
    /// Between two that were given to workers while others of this side waited.
    interval: Pacing,
    /// When the last was given away, if others of its side were left waiting.
    since: Option<Time>,
}

/// What is known of all.
#[derive(Debug, Default)]
pub(crate) struct Predictor {
    service: Pacing,
    short: Pace,
    long: Pace,
    /// As many as there are classes, which are forgotten with them.
    classes: BTreeMap<ClassId, Pacing>,
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
        let Served { side, class, service_us, .. } = served;
        record(&mut self.service, service_us);
        record(&mut self.pace_mut(side).service, service_us);
        record(self.classes.entry(class).or_default(), service_us);
    }

    pub(crate) fn forget(&mut self, class: ClassId) {
        self.classes.remove(&class);
    }

    /// Mean service time of this class.
    pub(crate) fn service_us_of(&self, class: ClassId) -> Option<u64> {
        self.classes.get(&class).and_then(get_us)
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
        self.pace(side).service.count() >= SAMPLES_MIN
    }

    /// Mean service time of this side, or of all while nothing is known of it.
    pub(crate) fn service_us(&self, side: Lane) -> Option<u64> {
        get_us(&self.pace(side).service).or(get_us(&self.service))
    }

    /// The work of so many requests, shared by these slots.
    pub(crate) fn shared_us(&self, requests: usize, slots: u32) -> Option<u64> {
        get_us(&self.service).map(|mean_us| requests as u64 * mean_us / u64::from(slots.max(1)))
    }

    /// The same by side.
    pub(crate) fn both_us(&self, short: usize, long: usize, slots: u32) -> Option<u64> {
        let of = |side, requests: usize| self.service_us(side).map(|mean_us| requests as u64 * mean_us);
        Some((of(Lane::Short, short)? + of(Lane::Long, long)?) / u64::from(slots.max(1)))
    }

    /// How long so many requests of this side take to be given away: by the pace at which those before them went, which
    /// is what the other side leaves. At least one slot's pace and at most that of all its slots, because a pace that was
    /// measured once must not keep away those by whom it would be measured again.
    pub(crate) fn paced_us(&self, side: Lane, requests: usize, slots: u32) -> Option<u64> {
        let service_us = self.service_us(side)?;
        let most_us = service_us.max(1);
        let least_us = (service_us / u64::from(slots.max(1))).min(most_us);
        let interval_us = get_us(&self.pace(side).interval).unwrap_or(least_us).clamp(least_us, most_us);
        Some(requests as u64 * interval_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(service_us: u64) -> Served {
        Served { side: Lane::Short, class: ClassId(1), service_us, is_undisturbed: true }
    }

    #[test]
    fn first_request_of_all_is_no_measure_for_the_others() {
        let mut predictor = Predictor::default();
        predictor.finished(served(3_000_000));
        for _ in 0..9 {
            predictor.finished(served(5_000));
        }
        assert!(predictor.shared_us(1, 1).is_some_and(|us| us < 310_000));
    }
}
