//! Route tables that grow while their workers serve. A router looks through its table for each request, so that one that keeps
//! growing makes every request slower. Apps that register late, or part by part as parts are first used, come to an end of that.

use std::collections::BTreeMap;

/// Windows with growth from which on a table keeps growing: a late start is one, perhaps two.
const WINDOWS_MIN: u64 = 3;
/// Multiple of the usual distance between two windows with growth that may pass without any.
const PATIENCE: u64 = 3;
const HOUR_MS: u64 = 3_600_000;

/// Code that adds entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adder {
    /// Path of the file, or its URL.
    pub file: String,
    /// Line, from 1.
    pub line: u64,
    /// Entries that it has added while the worker served.
    pub added: u64,
}

/// Report of a worker on its tables. Entries of all of them count together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouteGrowth {
    /// The worker.
    pub worker: u64,
    /// Entries now.
    pub size: u64,
    /// Number of entries beyond those when the worker had served for a second.
    pub added: u64,
    /// Time from the first growth to the latest, milliseconds.
    pub for_ms: u64,
    /// Entries that are added in an hour at this pace.
    pub per_hour: u64,
    /// Code that has added most.
    pub places: Vec<Adder>,
}

/// The tables of all workers. Bounded by the number of workers.
#[derive(Debug, Default)]
pub struct GrowingRoutes {
    workers: BTreeMap<u64, Growth>,
}

#[derive(Debug)]
struct Growth {
    told: RouteGrowth,
    first: u64,
    most: u64,
    windows: u64,
    first_ms: u64,
    last_ms: u64,
}

impl GrowingRoutes {
    /// A worker says how long its tables are. Growth within one window of `window_ms` counts once.
    pub fn told(&mut self, now_ms: u64, window_ms: u64, told: RouteGrowth) {
        let growth = self.workers.entry(told.worker).or_insert_with(|| Growth {
            told: RouteGrowth::default(),
            first: told.added,
            most: 0,
            windows: 0,
            first_ms: now_ms,
            last_ms: now_ms,
        });
        if told.added > growth.most {
            let window = |ms: u64| ms / window_ms.max(1);
            if growth.windows == 0 || window(now_ms) > window(growth.last_ms) {
                growth.windows += 1;
            }
            growth.most = told.added;
            growth.last_ms = now_ms;
        }
        growth.told = told;
    }

    /// The worker is gone, and its tables with it.
    pub fn gone(&mut self, worker: u64) {
        self.workers.remove(&worker);
    }

    /// The worker whose tables keep growing, and have grown most.
    pub fn growing(&self, now_ms: u64, window_ms: u64) -> Option<RouteGrowth> {
        let grows = |growth: &&Growth| {
            let usual_ms = growth.for_ms() / growth.windows.saturating_sub(1).max(1);
            let patience_ms = (usual_ms * PATIENCE).max(window_ms);
            growth.windows >= WINDOWS_MIN
                && growth.told.added > 0
                && now_ms.saturating_sub(growth.last_ms) <= patience_ms
        };
        let most = self.workers.values().filter(grows).max_by_key(|growth| growth.told.added)?;
        let (for_ms, since_first) = (most.for_ms(), most.told.added.saturating_sub(most.first));
        let per_hour = since_first.saturating_mul(HOUR_MS) / for_ms.max(1);
        Some(RouteGrowth { for_ms, per_hour, ..most.told.clone() })
    }
}

impl Growth {
    fn for_ms(&self) -> u64 {
        self.last_ms - self.first_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: u64 = 60_000;

    fn told(worker: u64, added: u64) -> RouteGrowth {
        RouteGrowth { worker, size: 20 + added, added, ..RouteGrowth::default() }
    }

    #[test]
    fn ten_an_hour_are_growth_after_the_third_and_until_they_end() {
        let mut routes = GrowingRoutes::default();
        for added in 1..=2 {
            routes.told(added * 6 * MINUTE, MINUTE, told(1, added));
            assert_eq!(routes.growing(added * 6 * MINUTE, MINUTE), None, "{added}");
        }
        for added in 3..=10 {
            routes.told(added * 6 * MINUTE, MINUTE, told(1, added));
            let growing = routes.growing((added * 6 + 5) * MINUTE, MINUTE).unwrap();
            assert_eq!((growing.worker, growing.added), (1, added));
        }
        let growing = routes.growing(60 * MINUTE, MINUTE).unwrap();
        assert_eq!((growing.for_ms, growing.per_hour), (54 * MINUTE, 10));
        assert!(routes.growing((60 + 18) * MINUTE, MINUTE).is_some());
        assert_eq!(routes.growing((60 + 19) * MINUTE, MINUTE), None);
    }

    #[test]
    fn a_late_start_is_no_growth() {
        let mut routes = GrowingRoutes::default();
        for second in 0..50 {
            routes.told(MINUTE + second * 1000, MINUTE, told(1, second * 10));
        }
        assert_eq!(routes.growing(2 * MINUTE, MINUTE), None);
    }

    #[test]
    fn entries_that_come_and_go_are_no_growth() {
        let mut routes = GrowingRoutes::default();
        for minute in 1..100 {
            routes.told(minute * MINUTE, MINUTE, told(1, minute % 2));
        }
        assert_eq!(routes.growing(100 * MINUTE, MINUTE), None);
    }

    #[test]
    fn what_has_gone_grows_no_longer() {
        let mut routes = GrowingRoutes::default();
        for minute in 1..5 {
            routes.told(minute * MINUTE, MINUTE, told(1, minute));
            routes.told(minute * MINUTE, MINUTE, told(2, minute * 2));
        }
        assert_eq!(routes.growing(5 * MINUTE, MINUTE).unwrap().worker, 2);
        routes.gone(2);
        assert_eq!(routes.growing(5 * MINUTE, MINUTE).unwrap().worker, 1);
        routes.gone(1);
        assert_eq!(routes.growing(5 * MINUTE, MINUTE), None);
    }
}
