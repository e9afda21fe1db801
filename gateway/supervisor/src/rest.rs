//! Whether a worker's main thread sleeps with all its requests, and its load. Judged by single checks, so that it is
//! known even while requests come and go continuously. It must not know the consequences.

use std::time::Duration;

use tokio::time::Instant;

use crate::sample::Sample;

/// Time over which the load is averaged.
const AVERAGED_OVER: Duration = Duration::from_millis(50);
/// Time between two checks below which they say nothing about the load.
const APART_MIN: Duration = Duration::from_millis(2);

/// State of a worker's main thread, from checks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rest {
    /// CPU time of the thread when it was seen asleep, and the lowest number of requests that it held since without
    /// using CPU.
    slept: Option<(u64, usize)>,
    /// Share of time in which it wanted the CPU, 0 to 1, with the check up to which it is averaged and the CPU time
    /// wanted by then.
    load: f64,
    since: Option<(Instant, u64)>,
}

/// Result of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RestCheck {
    /// The thread runs, or is ready to.
    Awake,
    /// The thread sleeps, so all requests that have reached it wait.
    Asleep,
    /// The thread sleeps and has not picked up its latest request: a synchronous child blocks it, or its server is in
    /// another thread.
    Blocked,
}

impl Rest {
    /// Records a check. `rests`: the thread sleeps, and not for its own threads. `is_there`: its latest request must
    /// have reached it.
    pub(crate) fn look(&mut self, now: Instant, sample: Sample, rests: bool, held: usize, is_there: bool) -> RestCheck {
        self.weigh(now, sample.wanted_us);
        if !rests {
            self.slept = None;
            return RestCheck::Awake;
        }
        let fewest = match self.slept {
            Some((cpu_us, fewest)) if cpu_us == sample.cpu_us => fewest.min(held),
            _ => held,
        };
        self.slept = Some((sample.cpu_us, fewest));
        if is_there && held > fewest { RestCheck::Blocked } else { RestCheck::Asleep }
    }

    fn weigh(&mut self, now: Instant, wanted_us: u64) {
        let Some((then, wanted_then_us)) = self.since else {
            self.since = Some((now, wanted_us));
            return;
        };
        let elapsed = now.saturating_duration_since(then);
        if elapsed < APART_MIN {
            return;
        }
        self.since = Some((now, wanted_us));
        let wanted = Duration::from_micros(wanted_us.saturating_sub(wanted_then_us));
        let share = (wanted.as_secs_f64() / elapsed.as_secs_f64()).min(1.0);
        let weight = 1.0 - (-elapsed.as_secs_f64() / AVERAGED_OVER.as_secs_f64()).exp();
        self.load += (share - self.load) * weight;
    }

    /// Share of time in which the thread wanted the CPU, thousandths.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // From 0 to 1,000.
    pub(crate) fn load(&self) -> u32 {
        (self.load * 1_000.0).round() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sleep;

    fn sample(cpu_us: u64) -> Sample {
        Sample { state: 'S', cpu_us, wanted_us: cpu_us, sleeps: Some(Sleep::Elsewhere), is_exact: true }
    }

    #[test]
    fn thread_that_sleeps_with_all_that_came_rests_however_often_something_comes() {
        let (mut rest, now) = (Rest::default(), Instant::now());
        for look in 1..100_u32 {
            let found = rest.look(
                now + Duration::from_millis(look.into()),
                sample(u64::from(look) * 100),
                true,
                look as usize,
                false,
            );
            assert_eq!(found, RestCheck::Asleep);
        }
    }

    #[test]
    fn thread_that_has_not_run_since_it_was_given_something_is_blocked() {
        let (mut rest, now) = (Rest::default(), Instant::now());
        assert_eq!(rest.look(now, sample(100), true, 1, true), RestCheck::Asleep);
        assert_eq!(rest.look(now, sample(100), true, 2, false), RestCheck::Asleep, "it may not have come yet");
        assert_eq!(rest.look(now, sample(100), true, 2, true), RestCheck::Blocked);
        assert_eq!(rest.look(now, sample(150), true, 2, true), RestCheck::Asleep);
        assert_eq!(rest.look(now, sample(150), false, 2, true), RestCheck::Awake);
    }

    #[test]
    fn load_follows_within_a_few_looks() {
        let (mut rest, mut now, mut cpu_us) = (Rest::default(), Instant::now(), 0);
        for _ in 0..40 {
            (now, cpu_us) = (now + Duration::from_millis(5), cpu_us + 5_000);
            rest.look(now, sample(cpu_us), false, 1, true);
        }
        assert!(rest.load() > 950, "{}", rest.load());
        for _ in 0..40 {
            now += Duration::from_millis(5);
            rest.look(now, sample(cpu_us), true, 1, true);
        }
        assert!(rest.load() < 50, "{}", rest.load());
    }
}
