//! Growth of heaps. A trial has one or a few workers, which is no sample, and the heap of a young process grows for a while anyway. So a
//! heap that rises and rises above all others asks for a person's look; it turns no version back.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::{Arm, Change, Finding, Measure, Verdict};

/// Time of which the least reading is taken, which is the heap after a garbage collection.
const WINDOW: Duration = Duration::from_secs(30);
/// Floors that must rise one after the other.
const RISING: usize = 5;
/// Growth of each floor over the one before, and of the last one over the highest heap of the present version, as ratios.
const RISE_MIN: f64 = 1.02;
const ABOVE_MIN: f64 = 1.25;
/// Excess over the highest heap of the present version up to which a heap counts as equal.
const ALIKE: f64 = 1.1;
/// Maximum number of remembered workers.
const WORKERS_MAX: usize = 256;

#[derive(Debug)]
struct Heap {
    arm: Arm,
    window: Duration,
    least: u64,
    /// Least readings of whole windows, the latest last.
    floors: Vec<f64>,
}

#[derive(Debug, Default)]
pub(crate) struct Heaps(BTreeMap<u64, Heap>);

impl Heaps {
    #[allow(clippy::cast_precision_loss)] // Bytes of a heap.
    pub(crate) fn take(&mut self, at: Duration, arm: Arm, worker: u64, used_bytes: u64) {
        if self.0.len() >= WORKERS_MAX && !self.0.contains_key(&worker) {
            self.0.pop_first();
        }
        let heap =
            self.0.entry(worker).or_insert_with(|| Heap { arm, window: at, least: u64::MAX, floors: Vec::new() });
        heap.least = heap.least.min(used_bytes);
        if at.saturating_sub(heap.window) >= WINDOW {
            if heap.floors.len() > RISING {
                heap.floors.remove(0);
            }
            heap.floors.push(heap.least as f64);
            (heap.window, heap.least) = (at, u64::MAX);
        }
    }

    /// Forgets a worker that has gone: the heap that it had hides no other's growth.
    pub(crate) fn exited(&mut self, worker: u64) {
        self.0.remove(&worker);
    }

    pub(crate) fn finding(&self) -> Finding {
        let last = |arm| {
            let of = self.0.values().filter(move |heap| heap.arm == arm);
            of.filter_map(|heap| heap.floors.last().copied()).fold(0.0, f64::max)
        };
        let (present, trial) = (last(Arm::Present), last(Arm::Trial));
        let unknown = Finding { measure: Measure::Heap, verdict: Verdict::Unknown, change: None, sure: 0.0 };
        if present <= 0.0 || trial <= 0.0 {
            return unknown;
        }
        let value = trial / present - 1.0;
        let rises = |heap: &Heap| {
            let floors = &heap.floors;
            floors.len() > RISING && floors.windows(2).all(|pair| pair[1] >= pair[0] * RISE_MIN)
        };
        let does_rise = self.0.values().any(|heap| heap.arm == Arm::Trial && rises(heap));
        let verdict = if does_rise && trial > present * ABOVE_MIN {
            Verdict::Worse
        } else if trial <= present * ALIKE {
            Verdict::Equal
        } else {
            Verdict::Unknown
        };
        // Readings of a few processes have no interval.
        Finding { verdict, change: Some(Change { value, low: value, high: value }), ..unknown }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(of_trial: impl Fn(u64) -> u64) -> Verdict {
        let mut heaps = Heaps::default();
        for second in 0..400_u64 {
            let noise = (second % 7) * 3_000_000;
            heaps.take(Duration::from_secs(second), Arm::Present, 1, 60_000_000 + noise);
            heaps.take(Duration::from_secs(second), Arm::Trial, 2, of_trial(second) + noise);
        }
        heaps.finding().verdict
    }

    #[test]
    fn a_heap_that_rises_above_all_others_is_worse_and_a_young_one_that_settles_is_not() {
        assert_eq!(verdict(|second| 40_000_000 + second * 200_000), Verdict::Worse);
        assert_eq!(verdict(|second| 40_000_000 + second.min(60) * 300_000), Verdict::Equal);
        assert_eq!(verdict(|_| 90_000_000), Verdict::Unknown);
    }

    #[test]
    fn a_worker_that_has_gone_hides_no_growth() {
        let mut heaps = Heaps::default();
        for second in 0..400_u64 {
            let at = Duration::from_secs(second);
            heaps.take(at, Arm::Present, 1, 60_000_000);
            heaps.take(at, Arm::Trial, 2, 40_000_000 + second * 200_000);
            if second < 100 {
                heaps.take(at, Arm::Present, 3, 900_000_000);
            }
        }
        assert_eq!(heaps.finding().verdict, Verdict::Equal);
        heaps.exited(3);
        assert_eq!(heaps.finding().verdict, Verdict::Worse);
    }
}
