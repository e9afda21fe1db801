//! The last minute of requests by how they ended, from totals that only grow. Pure: readings go in, differences come out.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use sluice_catalog::dashboard::Point;
use sluice_catalog::snapshot::LatelySnapshot;

/// Readings, about one a second, that the minute spans.
const READINGS: usize = 60;
/// Points that CPU time is the mean of.
const CPU_POINTS: usize = 5;

type Counts = BTreeMap<String, u64>;

/// Readings of the last minute.
#[derive(Default)]
pub(crate) struct Minute {
    readings: VecDeque<Reading>,
    cpu: VecDeque<(f32, f32)>,
}

struct Reading {
    /// Time since the reading before.
    elapsed: Duration,
    outcomes: Counts,
    errors: Counts,
}

impl Minute {
    pub(crate) fn add(&mut self, elapsed: Duration, outcomes: &Counts, errors: &Counts, point: &Point) {
        let (outcomes, errors) = (outcomes.clone(), errors.clone());
        if self.readings.is_empty() {
            // What there was before the first reading counts from the start on.
            let (outcomes, errors) = (Counts::new(), Counts::new());
            self.readings.push_back(Reading { elapsed: Duration::ZERO, outcomes, errors });
        }
        self.readings.push_back(Reading { elapsed, outcomes, errors });
        if self.readings.len() > READINGS + 1 {
            self.readings.pop_front();
        }
        self.cpu.push_back((point.cpu, point.gateway_cpu));
        if self.cpu.len() > CPU_POINTS {
            self.cpu.pop_front();
        }
    }

    pub(crate) fn lately(&self) -> LatelySnapshot {
        let (Some(first), Some(last)) = (self.readings.front(), self.readings.back()) else {
            return LatelySnapshot::default();
        };
        let elapsed: Duration = self.readings.iter().skip(1).map(|reading| reading.elapsed).sum();
        #[allow(clippy::cast_precision_loss, reason = "at most five")]
        let mean = |of: fn(&(f32, f32)) -> f32| {
            let sum: f64 = self.cpu.iter().map(|both| f64::from(of(both))).sum();
            (!self.cpu.is_empty()).then(|| sum / self.cpu.len() as f64)
        };
        LatelySnapshot {
            over_s: elapsed.as_secs_f64(),
            outcomes: more(&last.outcomes, &first.outcomes),
            errors: more(&last.errors, &first.errors),
            cpu: mean(|both| both.0),
            gateway_cpu: mean(|both| both.1),
        }
    }
}

/// Growth of each count; counts that did not grow are left out.
fn more(now: &Counts, before: &Counts) -> Counts {
    now.iter()
        .map(|(name, count)| (name.clone(), count.saturating_sub(before.get(name).copied().unwrap_or(0))))
        .filter(|(_, count)| *count > 0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minute_has_what_grew_in_it_and_forgets_what_is_older() {
        let (mut outcomes, errors) = (Counts::new(), Counts::new());
        let mut minute = Minute::default();
        let mut second = |minute: &mut Minute, name: &str, count: u64| {
            outcomes.insert(name.to_owned(), count);
            minute.add(Duration::from_secs(1), &outcomes, &errors, &Point { cpu: 1.5, ..Point::default() });
        };
        second(&mut minute, "shed", 7);
        assert_eq!(minute.lately().outcomes, Counts::from([("shed".to_owned(), 7)]), "since the start");
        for n in 1..=59 {
            second(&mut minute, "answered", n);
        }
        let lately = minute.lately();
        assert_eq!((lately.outcomes["shed"], lately.outcomes["answered"]), (7, 59));
        second(&mut minute, "answered", 61);
        let lately = minute.lately();
        assert!(!lately.outcomes.contains_key("shed"), "a minute ago: {lately:?}");
        assert!((lately.over_s - 60.0).abs() < 1e-9 && lately.cpu == Some(1.5), "{lately:?}");
    }
}
