//! Choice of requests to profile, after others of their class took unusually long, and of profiles to keep. Pure: costs and
//! times go in, decisions come out.

use std::collections::HashMap;
use std::time::Duration;

use sluice_catalog::config::Tails as Mode;
use sluice_catalog::profiles::Tail;
use sluice_scheduler::RequestId;
use tokio::time::Instant;

/// Minimum CPU time of a slow request, microseconds: nobody waits for less.
const SLOW_US_MIN: u64 = 5_000;
/// CPU time from which a request is slow, percent of the usual. A smaller excess is within the error of the class's histogram.
const MARGIN_PERCENT: u64 = 125;
/// Maximum number of requests of a class that are profiled after a slow one.
const TRIES_MAX: u32 = 20;
/// Maximum number of classes that are profiled at once: those with the latest slow requests.
const ARMED_MAX: usize = 64;
/// Longest wait for a profile.
const PROFILE_TIMEOUT: Duration = Duration::from_secs(120);
/// Pause after a profile with `sampled`, as a multiple of the time that it took of the worker beside the request.
const PAUSE_FACTOR: u32 = 200;
/// Pause as a multiple of the time that its request had the worker to itself, because others would have shared it.
const PAUSE_ALONE_FACTOR: u32 = 50;
const PAUSE_MIN: Duration = Duration::from_secs(1);
/// Maximum number of profiles kept for a class, the slowest.
const CLASS_KEPT_MAX: usize = 3;
/// Maximum number of profiles of the tail that are kept.
const KEPT_MAX: usize = 30;
/// Maximum total size of kept profiles, bytes.
const KEPT_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Longest time that a profile is kept, milliseconds.
const KEPT_MS_MAX: u64 = 24 * 3600 * 1000;

/// A class of which one request was slow.
#[derive(Debug)]
struct TailTrigger {
    usual_us: u64,
    tries: u32,
    /// Number of the class's latest slow request, counted over all classes.
    slow_at: u64,
}

/// A profile that a worker is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileOrder {
    /// Number that names the profile's file. It is unique in the directory, also among profiles that another gateway ordered.
    pub number: u64,
    /// CPU time from which the profile is worth keeping, microseconds.
    pub from_us: u64,
}

/// The one request that is profiled now.
#[derive(Clone, Debug)]
struct UnderWay {
    request: RequestId,
    since: Instant,
    number: u64,
    usual_us: u64,
}

/// Classes with slow requests, the profile in progress, and the profiles that are kept.
#[derive(Debug, Default)]
pub(crate) struct Tails {
    armed: HashMap<String, TailTrigger>,
    slow_total: u64,
    under_way: Option<UnderWay>,
    not_before: Option<Instant>,
    latest_number: u64,
    kept: Vec<Tail>,
}

impl Tails {
    /// Records the CPU time of a request; 99 of 100 requests of its class take at most `usual_us`.
    pub(crate) fn cost(&mut self, class: &str, cost_us: u64, usual_us: impl FnOnce() -> Option<u64>) {
        if cost_us < SLOW_US_MIN {
            return;
        }
        let Some(usual_us) = usual_us() else { return };
        if cost_us <= worth_us(usual_us) {
            return;
        }
        self.slow_total += 1;
        let slow_at = self.slow_total;
        if let Some(armed) = self.armed.get_mut(class) {
            armed.slow_at = slow_at;
            return;
        }
        if self.armed.len() >= ARMED_MAX
            && let Some((oldest, _)) = self.armed.iter().min_by_key(|(_, armed)| armed.slow_at)
        {
            let oldest = oldest.clone();
            self.armed.remove(&oldest);
        }
        self.armed.insert(class.to_owned(), TailTrigger { usual_us, tries: 0, slow_at });
    }

    /// Whether this request of the class is to be profiled, and how.
    pub(crate) fn take(&mut self, now: Instant, mode: Mode, class: &str, request: RequestId) -> Option<ProfileOrder> {
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
        self.latest_number += 1;
        let number = self.latest_number;
        self.under_way = Some(UnderWay { request, since: now, number, usual_us });
        Some(ProfileOrder { number, from_us: worth_us(usual_us).max(SLOW_US_MIN) })
    }

    /// Ends the profile of this request. Returns its number and the usual cost of its class in microseconds; `None` if nobody
    /// waits for it.
    pub(crate) fn over(
        &mut self,
        now: Instant,
        mode: Mode,
        request: RequestId,
        overhead: Duration,
    ) -> Option<(u64, u64)> {
        let one = self.under_way.take_if(|one| one.request == request)?;
        if mode == Mode::Sampled {
            let alone = now.saturating_duration_since(one.since);
            let pause = (overhead * PAUSE_FACTOR).max(alone * PAUSE_ALONE_FACTOR).max(PAUSE_MIN);
            self.not_before = Some(now + pause);
        }
        Some((one.number, one.usual_us))
    }

    /// Keeps a profile. Returns files to remove: profiles that are less slow, too old, or too many.
    pub(crate) fn keep(&mut self, tail: Tail) -> Vec<String> {
        // The class has shown what it does.
        self.armed.remove(&tail.class);
        let mut gone = self.expire(tail.at_unix_ms);
        self.kept.push(tail);
        // The worst of each class first.
        self.kept.sort_by(|a, b| b.cpu_ms.total_cmp(&a.cpu_ms));
        let mut of_class: HashMap<String, usize> = HashMap::new();
        gone.extend(self.leave_only(|tail| {
            let count = of_class.entry(tail.class.clone()).or_default();
            *count += 1;
            *count <= CLASS_KEPT_MAX
        }));
        let too_many =
            |kept: &[Tail]| kept.len() > KEPT_MAX || kept.iter().map(|tail| tail.bytes).sum::<u64>() > KEPT_BYTES_MAX;
        while too_many(&self.kept) {
            let oldest = (0..self.kept.len()).min_by_key(|at| self.kept[*at].at_unix_ms).unwrap_or_default();
            gone.push(self.kept.remove(oldest).file);
        }
        gone
    }

    /// Drops profiles that are too old at this time, Unix time in milliseconds. Returns their files.
    pub(crate) fn expire(&mut self, now_unix_ms: u64) -> Vec<String> {
        self.leave_only(|tail| tail.at_unix_ms.saturating_add(KEPT_MS_MAX) > now_unix_ms)
    }

    /// Drops the other profiles. Returns their files.
    fn leave_only(&mut self, mut stays: impl FnMut(&Tail) -> bool) -> Vec<String> {
        self.kept.extract_if(.., |tail| !stays(tail)).map(|tail| tail.file).collect()
    }

    /// Profiles that are kept.
    pub(crate) fn kept(&self) -> &[Tail] {
        &self.kept
    }

    /// Takes over the profiles that another gateway kept.
    pub(crate) fn restore(&mut self, kept: Vec<Tail>) {
        // A worker of that gateway may still write the one after its last.
        self.latest_number = kept.iter().map(|tail| tail.id).max().unwrap_or_default().saturating_add(1);
        self.kept = kept;
    }
}

/// CPU time from which a request is slow, given the usual one, microseconds.
fn worth_us(usual_us: u64) -> u64 {
    usual_us.saturating_mul(MARGIN_PERCENT) / 100
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
        assert_eq!(tails.take(now, Mode::On, "a", REQUEST), Some(ProfileOrder { number: 1, from_us: 25_000 }));
        assert_eq!(tails.take(now, Mode::On, "a", RequestId(8)), None, "one is under way");
        assert_eq!(tails.over(now, Mode::On, RequestId(8), Duration::ZERO), None);
        assert_eq!(tails.over(now, Mode::On, REQUEST, Duration::ZERO), Some((1, 20_000)));
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
        // It had a worker for itself for 200 ms.
        tails.over(after(4_200), Mode::Sampled, REQUEST, Duration::ZERO);
        assert_eq!(tails.take(after(14_199), Mode::Sampled, "a", REQUEST), None);
        assert!(tails.take(after(14_200), Mode::Sampled, "a", REQUEST).is_some());
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
    fn they_go_when_they_are_old_though_no_other_comes() {
        let mut tails = Tails::default();
        tails.keep(tail("a", 1.0, 5));
        tails.keep(tail("b", 1.0, 7));
        assert_eq!(tails.expire(KEPT_MS_MAX + 4), [""; 0]);
        assert_eq!(tails.expire(KEPT_MS_MAX + 5), ["a-1"]);
        assert_eq!(tails.kept().len(), 1);
    }

    /// Requests of each gateway count from 1.
    #[test]
    fn no_profile_gets_the_number_of_one_that_another_gateway_asked_for() {
        let mut tails = Tails::default();
        tails.restore(vec![Tail { id: 4, ..tail("a", 1.0, 5) }, Tail { id: 9, ..tail("a", 2.0, 5) }]);
        tails.cost("a", 26_000, || Some(20_000));
        let wanted = tails.take(Instant::now(), Mode::On, "a", RequestId(1)).unwrap();
        assert_eq!(wanted.number, 11, "the other gateway may have asked for a tenth");
    }

    #[test]
    fn classes_that_were_slow_long_ago_make_room_for_others() {
        let (mut tails, now) = (Tails::default(), Instant::now());
        for number in 0..=ARMED_MAX {
            tails.cost(&format!("class {number}"), 100_000, || Some(20_000));
            tails.cost("class 0", 100_000, || Some(20_000));
        }
        assert_eq!(tails.armed.len(), ARMED_MAX);
        let mut is_taken = |number: usize| {
            let is_taken = tails.take(now, Mode::On, &format!("class {number}"), REQUEST).is_some();
            tails.over(now, Mode::On, REQUEST, Duration::ZERO);
            is_taken
        };
        assert!(is_taken(ARMED_MAX), "the latest");
        assert!(is_taken(0), "slow again and again");
        assert!(!is_taken(1), "slow before all others");
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
