//! Share of the time that workers sleep while they hold requests: whether `workers.concurrency` fits the app.
//!
//! A worker's preload beats once a second, and the supervisor then reports for how long its main thread was awake. Samples at
//! the gateway's ticks give the part of that second in which the worker held a request, and whether others waited. This module
//! is pure, and must not know how sleep is measured.

use std::collections::HashMap;
use std::time::Duration;

use sluice_catalog::config::Concurrency;
use sluice_journal::Level;
use sluice_scheduler::WorkerId;
use sluice_sketch::Fading;

/// Smallest number of ticks for which a beat counts, a quarter of those in a second.
const TICKS_MIN: u32 = 10;
/// Factor by which a measurement's weight falls each second: about the last minute counts.
const WEIGHT: f64 = 0.983;
/// Same factor for seconds in which others waited all the time: about the last ten count.
const QUEUED_WEIGHT: f64 = 0.9;
/// Shortest total time with requests from which a share is reported, seconds.
const HELD_S_MIN: f64 = 1.0;
/// Smallest factor of requests served that is worth a change of the mode.
const GAIN_MIN: f64 = 1.5;
/// Largest factor that is reported exactly.
const GAIN_TOLD_MAX: f64 = 20.0;

/// One worker's ticks since its last beat.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    ticks: u32,
    /// Ticks at which the worker held a request.
    occupied: u32,
    /// Ticks at which other requests waited.
    queued: u32,
}

/// Measurements of the sleep of all workers.
#[derive(Debug, Default)]
pub(crate) struct Sleep {
    windows: HashMap<WorkerId, Window>,
    /// Part of the time with requests that workers were awake.
    all: Fading,
    /// Part of the time that workers were awake, for workers that always held a request while others waited.
    queued: Fading,
}

impl Sleep {
    /// Records a tick of the gateway. `workers` are those that take requests, each with whether it holds one.
    pub(crate) fn tick(&mut self, is_queued: bool, workers: impl Iterator<Item = (WorkerId, bool)>) {
        for (worker, is_occupied) in workers {
            let window = self.windows.entry(worker).or_default();
            window.ticks += 1;
            window.occupied += u32::from(is_occupied);
            window.queued += u32::from(is_queued);
        }
    }

    /// Records for how much of the time since the worker's last beat its main thread was awake.
    pub(crate) fn beat(&mut self, worker: WorkerId, elapsed: Duration, awake: Duration) {
        let Some(window) = self.windows.insert(worker, Window::default()) else { return };
        if window.ticks < TICKS_MIN {
            return;
        }
        let held_s = elapsed.as_secs_f64() * f64::from(window.occupied) / f64::from(window.ticks);
        let awake_s = awake.as_secs_f64().min(held_s);
        self.all.add(awake_s, held_s);
        if window.occupied == window.ticks && window.queued == window.ticks {
            self.queued.add(awake_s, held_s);
        }
    }

    /// Reduces the weight of past measurements. Called once a second.
    pub(crate) fn decay(&mut self) {
        self.all.fade(WEIGHT);
        self.queued.fade(QUEUED_WEIGHT);
    }

    pub(crate) fn forget(&mut self, worker: WorkerId) {
        self.windows.remove(&worker);
    }

    /// Share of the time for which workers held requests that they slept, 0 to 1; about the last minute.
    pub(crate) fn share(&self) -> Option<f64> {
        self.all.get(HELD_S_MIN).map(|awake| 1.0 - awake)
    }

    /// Share of time that workers slept while each held a request and others waited, 0 to 1; about the last ten seconds.
    pub(crate) fn share_while_queued(&self) -> Option<f64> {
        self.queued.get(HELD_S_MIN).map(|awake| 1.0 - awake)
    }
}

/// Factor by which workers could serve more requests if they took others while they sleep. Bounded by the end of sleep and by
/// the number of CPUs.
pub(crate) fn gain(asleep: f64, workers: u32, cpus: u32) -> f64 {
    let awake = (1.0 - asleep).max(0.001);
    (1.0 / awake).min(f64::from(cpus.max(1)) / (f64::from(workers.max(1)) * awake))
}

/// Whether this factor is worth a change of the mode.
pub(crate) fn is_worth_it(gain: f64) -> bool {
    gain >= GAIN_MIN
}

/// `3.5 times`, `more than 20 times`.
pub(crate) fn times(gain: f64) -> String {
    if gain > GAIN_TOLD_MAX { format!("more than {GAIN_TOLD_MAX} times") } else { format!("about {gain:.1} times") }
}

/// Log level and text about the mode that fits an app whose workers sleep for this share of the time that they hold requests.
pub(crate) fn advice(concurrency: Concurrency, asleep: f64, gain: f64) -> (Level, String) {
    let percent = asleep * 100.0;
    match concurrency {
        Concurrency::Fixed(count) if is_worth_it(gain) => {
            let held = if count == 1 { "one request".to_owned() } else { format!("up to {count} requests") };
            let text = format!(
                "workers.concurrency = {count}: workers sleep for {percent:.0} % of the time for which they hold {held}, which \
                 wait for data. workers.concurrency = \"while-waiting\" would serve {} as many requests, if the app \
                 stores no data of a request in module variables",
                times(gain)
            );
            (Level::Warn, text)
        }
        Concurrency::Fixed(count) => {
            let text = format!(
                "workers.concurrency = {count} fits this app: workers sleep for {percent:.0} % of the time for which they hold \
                 requests, so \"while-waiting\" would serve hardly more"
            );
            (Level::Info, text)
        }
        Concurrency::WhileWaiting => {
            let does = if percent < 10.0 {
                "it computes, so a worker gets one request at a time"
            } else {
                "it waits for data, and the gateway gives a waiting worker further requests when some are queued"
            };
            let text = format!(
                "workers.concurrency = \"while-waiting\" fits this app: workers sleep for {percent:.0} % of the time for which \
                 they hold requests; {does}. No action is needed"
            );
            (Level::Info, text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: WorkerId = WorkerId(1);

    /// Seconds of a worker that is awake for so many milliseconds of each.
    fn seconds(sleep: &mut Sleep, count: u32, is_occupied: bool, is_queued: bool, awake_ms: u64) {
        for _ in 0..count {
            for _ in 0..40 {
                sleep.tick(is_queued, [(ONE, is_occupied)].into_iter());
            }
            sleep.beat(ONE, Duration::from_secs(1), Duration::from_millis(awake_ms));
            sleep.decay();
        }
    }

    fn near(share: Option<f64>, wanted: f64) -> bool {
        share.is_some_and(|share| (share - wanted).abs() < 0.01)
    }

    #[test]
    fn share_is_of_the_time_for_which_requests_are_held() {
        let mut sleep = Sleep::default();
        seconds(&mut sleep, 20, false, false, 10);
        assert_eq!(sleep.share(), None, "an idle worker says nothing");
        seconds(&mut sleep, 5, true, false, 100);
        assert!(near(sleep.share(), 0.9), "{:?}", sleep.share());
        assert_eq!(sleep.share_while_queued(), None, "nobody waited");
    }

    #[test]
    fn queued_share_counts_full_seconds_alone_and_is_soon_forgotten() {
        let mut sleep = Sleep::default();
        seconds(&mut sleep, 5, true, true, 200);
        assert!(near(sleep.share_while_queued(), 0.8));
        seconds(&mut sleep, 10, false, true, 0);
        assert!(near(sleep.share_while_queued(), 0.8), "what waits for another worker changes nothing");
        seconds(&mut sleep, 20, true, false, 0);
        assert_eq!(sleep.share_while_queued(), None);
    }

    #[test]
    fn app_that_computes_never_sleeps_even_where_its_clock_says_more_than_a_second() {
        let mut sleep = Sleep::default();
        seconds(&mut sleep, 10, true, true, 1_200);
        assert!(near(sleep.share_while_queued(), 0.0));
        assert!(!is_worth_it(gain(0.0, 2, 2)));
    }

    #[test]
    fn worker_that_has_just_come_says_nothing() {
        let mut sleep = Sleep::default();
        sleep.beat(ONE, Duration::from_secs(1), Duration::ZERO);
        sleep.tick(true, [(ONE, true)].into_iter());
        sleep.beat(ONE, Duration::from_secs(1), Duration::ZERO);
        assert!(sleep.all.get(0.001).is_none());
        sleep.forget(ONE);
        assert!(sleep.windows.is_empty());
    }

    #[test]
    fn gain_is_bounded_by_the_cpus() {
        assert!((gain(0.9, 2, 2) - 10.0).abs() < 0.01);
        assert!((gain(0.9, 20, 2) - 1.0).abs() < 0.01, "as many workers as sleep leaves room for");
        assert!((gain(0.5, 1, 4) - 2.0).abs() < 0.01);
        assert!(gain(1.0, 1, 1) > 20.0 && gain(1.0, 1, 1).is_finite());
    }

    #[test]
    fn advice_names_the_mode_that_fits() {
        let (level, text) = advice(Concurrency::Fixed(1), 0.8, 5.0);
        assert_eq!(level, Level::Warn);
        assert!(text.contains("sleep for 80 % ") && text.contains("\"while-waiting\" would serve about 5.0 times"));
        let (level, text) = advice(Concurrency::Fixed(1), 0.02, 1.02);
        assert!(level == Level::Info && text.contains("= 1 fits"));
        let (level, text) = advice(Concurrency::WhileWaiting, 0.0, 1.0);
        assert!(level == Level::Info && text.contains("one request at a time. No action is needed"));
    }
}
