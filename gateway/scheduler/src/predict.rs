//! How long a request will wait, from what those before it took.
//!
//! Service time rather than CPU time: a worker that waits for a database holds its slot all the same, and one of low
//! priority holds it for longer than its request costs.

use std::collections::BTreeMap;

use crate::pool::Served;
use crate::{ClassId, Lane, Time};

/// An exponentially decaying mean. The last fifty or so samples decide it; the first few count alike, so that none of them
/// stands for what is normal until it has decayed.
#[derive(Debug, Default)]
pub(crate) struct Mean {
    mean_us: Option<f64>,
    /// Up to [`SAMPLES_ALIKE`].
    samples: u32,
}

const SAMPLES_ALIKE: u32 = 32;
/// Samples of a side before which nothing is predicted for it: a single slow one must not turn anybody away.
const SAMPLES_MIN: u32 = 8;

impl Mean {
    #[allow(clippy::cast_precision_loss)] // A service time of 2^53 µs is 285 years.
    pub(crate) fn record(&mut self, sample_us: u64) {
        let sample = sample_us as f64;
        self.samples = (self.samples + 1).min(SAMPLES_ALIKE);
        let weight = 1.0 / f64::from(self.samples);
        self.mean_us = Some(self.mean_us.map_or(sample, |mean| mean + (sample - mean) * weight));
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // A mean of u64 values lies within u64.
    pub(crate) fn get_us(&self) -> Option<u64> {
        self.mean_us.map(|mean| mean as u64)
    }
}

/// What is known of one side of the queue.
#[derive(Debug, Default)]
struct Pace {
    service: Mean,
    /// Between two that were given to workers while others of this side waited.
    interval: Mean,
    /// When the last was given away, if others of its side were left waiting.
    since: Option<Time>,
}

/// What is known of all.
#[derive(Debug, Default)]
pub(crate) struct Predictor {
    service: Mean,
    short: Pace,
    long: Pace,
    /// As many as there are classes, which are forgotten with them.
    classes: BTreeMap<ClassId, Mean>,
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
        self.service.record(service_us);
        self.pace_mut(side).service.record(service_us);
        self.classes.entry(class).or_default().record(service_us);
    }

    pub(crate) fn forget(&mut self, class: ClassId) {
        self.classes.remove(&class);
    }

    /// Mean service time of this class.
    pub(crate) fn service_us_of(&self, class: ClassId) -> Option<u64> {
        self.classes.get(&class).and_then(Mean::get_us)
    }

    /// One of this side was given to a worker, and so many of it wait on.
    pub(crate) fn dispatched(&mut self, now: Time, side: Lane, left: usize) {
        let pace = self.pace_mut(side);
        if let Some(since) = pace.since {
            pace.interval.record(now.since_us(since));
        }
        pace.since = (left > 0).then_some(now);
    }

    /// None of this side waits any more, whatever became of the last.
    pub(crate) fn emptied(&mut self, side: Lane) {
        self.pace_mut(side).since = None;
    }

    /// Whether enough is known of this side to turn requests away for it.
    pub(crate) fn knows(&self, side: Lane) -> bool {
        self.pace(side).service.samples >= SAMPLES_MIN
    }

    /// Mean service time of this side, or of all while nothing is known of it.
    pub(crate) fn service_us(&self, side: Lane) -> Option<u64> {
        self.pace(side).service.get_us().or(self.service.get_us())
    }

    /// The work of so many requests, shared by these slots.
    pub(crate) fn shared_us(&self, requests: usize, slots: u32) -> Option<u64> {
        self.service.get_us().map(|mean_us| requests as u64 * mean_us / u64::from(slots.max(1)))
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
        let interval_us = self.pace(side).interval.get_us().unwrap_or(least_us).clamp(least_us, most_us);
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

    #[test]
    fn mean_follows_when_what_is_normal_changes() {
        let mut mean = Mean::default();
        for sample_us in [vec![5_000; 1000], vec![50_000; 100]].concat() {
            mean.record(sample_us);
        }
        assert!(mean.get_us().is_some_and(|us| us > 45_000));
    }
}
