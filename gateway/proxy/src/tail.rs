//! Which requests are profiled because others of their class took unusually long, and which of those profiles are kept. Pure: it
//! is told of costs and of time, and says what to do.

use std::collections::HashMap;
use std::time::Duration;

use sluice_catalog::config::Tails as Mode;
use sluice_catalog::profiles::Tail;
use sluice_scheduler::RequestId;
use tokio::time::Instant;

/// Least CPU time of a request that is looked into: what takes less, nobody waits for.
const SLOW_US_MIN: u64 = 5_000;
/// What is more than the usual by less is within the error of its histogram.
const MARGIN_PERCENT: u64 = 125;
/// Requests of a class that are profiled at most after one was slow.
const TRIES_MAX: u32 = 20;
/// Classes that are looked into at once.
const ARMED_MAX: usize = 64;
/// How long a profile is waited for.
const PROFILE_TIMEOUT: Duration = Duration::from_secs(120);
/// With `sampled`: time between two profiles, as a multiple of what the one before took of its worker beside the request, and at least.
const PAUSE_FACTOR: u32 = 200;
const PAUSE_MIN: Duration = Duration::from_secs(1);
/// Profiles of a class that are kept, the worst.
const CLASS_KEPT_MAX: usize = 3;
/// Profiles of the tail that are kept.
const KEPT_MAX: usize = 30;
/// Size of all of them.
const KEPT_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// How long one is kept.
const KEPT_MS_MAX: u64 = 24 * 3600 * 1000;

/// A class of which one request was slow.
#[derive(Debug)]
struct Armed {
    usual_us: u64,
    tries: u32,
}

/// The one request that is profiled now.
#[derive(Clone, Debug)]
struct UnderWay {
    request: RequestId,
    since: Instant,
    usual_us: u64,
}

/// What is known.
#[derive(Debug, Default)]
pub(crate) struct Tails {
    armed: HashMap<String, Armed>,
    under_way: Option<UnderWay>,
    not_before: Option<Instant>,
    kept: Vec<Tail>,
}

impl Tails {
    /// A request of this class has cost so much, and 99 of 100 at most `usual_us`.
    pub(crate) fn cost(&mut self, class: &str, cost_us: u64, usual_us: impl FnOnce() -> Option<u64>) {
        if cost_us < SLOW_US_MIN || self.armed.len() >= ARMED_MAX {
            return;
        }
        let Some(usual_us) = usual_us() else { return };
        let threshold_us = usual_us.saturating_mul(MARGIN_PERCENT) / 100;
        if cost_us > threshold_us && !self.armed.contains_key(class) {
            self.armed.insert(class.to_owned(), Armed { usual_us, tries: 0 });
        }
    }

    /// Whether this request of the class is to be profiled: then from how many microseconds of CPU on its profile is worth keeping.
    pub(crate) fn take(&mut self, now: Instant, mode: Mode, class: &str, request: RequestId) -> Option<u64> {
        if mode == Mode::Off || self.armed.is_empty() {
            return None;
        }
        let is_under_way = self.under_way.as_ref().is_some_and(|one| now.duration_since(one.since) < PROFILE_TIMEOUT);
        if is_under_way || self.not_before.is_some_and(|at| now < at) {
            return None;
        }
        let armed = self.armed.get_mut(class)?;
        armed.tries += 1;
        let usual_us = armed.usual_us;
        if armed.tries >= TRIES_MAX {
            self.armed.remove(class);
        }
        self.under_way = Some(UnderWay { request, since: now, usual_us });
        Some((usual_us.saturating_mul(MARGIN_PERCENT) / 100).max(SLOW_US_MIN))
    }

    /// The profile of this request is over. Gives what its class usually costs; `None` where nobody asked for it.
    pub(crate) fn over(&mut self, now: Instant, mode: Mode, request: RequestId, overhead: Duration) -> Option<u64> {
        let one = self.under_way.take_if(|one| one.request == request)?;
        if mode == Mode::Sampled {
            self.not_before = Some(now + (overhead * PAUSE_FACTOR).max(PAUSE_MIN));
        }
        Some(one.usual_us)
    }

    /// Keeps a profile. Gives the files that are to go: of those that are better, older, or too many.
    pub(crate) fn keep(&mut self, tail: Tail) -> Vec<String> {
        // The class has shown what it does.
        self.armed.remove(&tail.class);
        let now_ms = tail.at_unix_ms;
        self.kept.push(tail);
        // The worst of each class first, and of all of them those that are new.
        self.kept.sort_by(|a, b| b.cpu_ms.total_cmp(&a.cpu_ms));
        let mut of_class: HashMap<String, usize> = HashMap::new();
        let mut gone = Vec::new();
        self.kept.retain(|tail| {
            let count = of_class.entry(tail.class.clone()).or_default();
            *count += 1;
            let stays = *count <= CLASS_KEPT_MAX && tail.at_unix_ms.saturating_add(KEPT_MS_MAX) > now_ms;
            if !stays {
                gone.push(tail.file.clone());
            }
            stays
        });
        let too_many =
            |kept: &[Tail]| kept.len() > KEPT_MAX || kept.iter().map(|tail| tail.bytes).sum::<u64>() > KEPT_BYTES_MAX;
        while too_many(&self.kept) {
            let oldest = (0..self.kept.len()).min_by_key(|at| self.kept[*at].at_unix_ms).unwrap_or_default();
            gone.push(self.kept.remove(oldest).file);
        }
        gone
    }

    /// Those that are kept.
    pub(crate) fn kept(&self) -> &[Tail] {
        &self.kept
    }

    /// Goes on from what another gateway has kept.
    pub(crate) fn restore(&mut self, kept: Vec<Tail>) {
        self.kept = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: RequestId = RequestId(7);

    fn tail(class: &str, cpu_ms: f64, at_unix_ms: u64) -> Tail {
        let file = format!("{class}-{cpu_ms}");
        Tail { class: class.to_owned(), cpu_ms, at_unix_ms, bytes: 10, file, ..Tail::default() }
    }

    #[test]
    fn requests_are_profiled_one_at_a_time_after_one_of_their_class_was_slow() {
        let (mut tails, now) = (Tails::default(), Instant::now());
        let usual = || Some(20_000);
        tails.cost("a", 24_000, usual);
        assert_eq!(tails.take(now, Mode::On, "a", REQUEST), None, "within the error");
        tails.cost("a", 26_000, usual);
        assert_eq!(tails.take(now, Mode::Off, "a", REQUEST), None);
        assert_eq!(tails.take(now, Mode::On, "b", REQUEST), None);
        assert_eq!(tails.take(now, Mode::On, "a", REQUEST), Some(25_000));
        assert_eq!(tails.take(now, Mode::On, "a", RequestId(8)), None, "one is under way");
        assert_eq!(tails.over(now, Mode::On, RequestId(8), Duration::ZERO), None);
        assert_eq!(tails.over(now, Mode::On, REQUEST, Duration::ZERO), Some(20_000));
        for number in 8..27 {
            assert!(tails.take(now, Mode::On, "a", RequestId(number)).is_some(), "{number}");
            tails.over(now, Mode::On, RequestId(number), Duration::ZERO);
        }
        assert_eq!(tails.take(now, Mode::On, "a", REQUEST), None, "twenty were enough");
    }

    #[test]
    fn what_is_sampled_pauses_for_long_after_what_it_took() {
        let (mut tails, now) = (Tails::default(), Instant::now());
        tails.cost("a", 100_000, || Some(20_000));
        assert!(tails.take(now, Mode::Sampled, "a", REQUEST).is_some());
        tails.over(now, Mode::Sampled, REQUEST, Duration::from_millis(20));
        let after = |ms| now + Duration::from_millis(ms);
        assert_eq!(tails.take(after(3_999), Mode::Sampled, "a", REQUEST), None);
        assert!(tails.take(after(4_000), Mode::Sampled, "a", REQUEST).is_some());
        // One whose worker died is not waited for.
        assert_eq!(tails.take(after(100_000), Mode::On, "a", REQUEST), None);
        assert!(tails.take(after(200_000), Mode::On, "a", REQUEST).is_some());
    }

    #[test]
    fn classes_that_are_cheap_or_not_known_are_left_alone() {
        let (mut tails, now) = (Tails::default(), Instant::now());
        tails.cost("a", 4_999, || Some(1));
        tails.cost("b", 50_000, || None);
        assert_eq!(tails.take(now, Mode::On, "a", REQUEST), None);
        assert_eq!(tails.take(now, Mode::On, "b", REQUEST), None);
    }

    #[test]
    fn the_worst_of_each_class_are_kept_until_they_are_old() {
        let mut tails = Tails::default();
        for cpu_ms in [30.0, 10.0, 20.0] {
            assert_eq!(tails.keep(tail("a", cpu_ms, 1)), [""; 0]);
        }
        assert_eq!(tails.keep(tail("a", 15.0, 2)), ["a-10"]);
        assert_eq!(tails.keep(tail("b", 5.0, 3)), [""; 0]);
        assert_eq!(tails.keep(tail("a", 1.0, 4)), ["a-1"]);
        let mut gone = tails.keep(tail("c", 1.0, KEPT_MS_MAX + 2));
        gone.sort();
        assert_eq!(gone, ["a-15", "a-20", "a-30"]);
        assert_eq!(tails.kept().len(), 2);
    }

    #[test]
    fn they_have_bounds_in_number_and_size() {
        let mut tails = Tails::default();
        for number in 0..40_u64 {
            tails.keep(tail(&format!("class {number}"), 1.0, number));
        }
        assert_eq!(tails.kept().len(), KEPT_MAX);
        assert!(tails.kept().iter().all(|tail| tail.at_unix_ms >= 10));
        tails.keep(Tail { bytes: KEPT_BYTES_MAX, ..tail("large", 1.0, 99) });
        assert_eq!(tails.kept().len(), 1);
    }
}
