//! Workers whose event loop is blocked and which use CPU, long before they count as stuck: they may be in an infinite
//! loop or render something large. All measures are harmless to a slow render.

use std::time::Duration;

use crate::sample::{Sample, Verdict};

use super::{Look, Silence, Track, WINDOW_MIN};

/// Minimum share of the limit that the main thread must have run since its first sample, percent. A thread that only
/// queues does not block itself, and an additional process would make it worse.
const RUNNING_PERCENT: u128 = 20;

impl Track {
    /// Advances the sample for comparison to one that is far enough from the latest to say something.
    pub(super) fn move_on(&mut self, latest: Look) {
        if latest.at.duration_since(self.recent.at) >= WINDOW_MIN {
            self.recent = latest;
        }
    }
}

/// Whether the worker is overdue: it has used CPU, and still does.
pub(super) fn judge(limit: Option<Duration>, subject: Silence, track: &Track, latest: &Look) -> bool {
    let Silence { silent, is_debugged, now, .. } = subject;
    let Some(limit) = limit.filter(|_| !is_debugged) else { return false };
    let (Some(first), Some(last)) = (track.first.sample, latest.sample) else { return false };
    silent >= limit
        && now.duration_since(track.recent.at) >= WINDOW_MIN
        && latest.verdict_since(&track.recent) == Verdict::Burns
        && u128::from(last.cpu_us.saturating_sub(first.cpu_us)) * 100 >= limit.as_micros() * RUNNING_PERCENT
}

/// Whether a thread had less than a fifth of a CPU between two samples. False if the system does not report it.
pub(super) fn has_hardly_run(earlier: Option<Sample>, later: Option<Sample>, elapsed: Duration) -> bool {
    let (Some(earlier), Some(later)) = (earlier, later) else { return false };
    let has_run_us = later.cpu_us.saturating_sub(earlier.cpu_us);
    u128::from(has_run_us) * 100 < elapsed.as_micros() * RUNNING_PERCENT
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(1);

    fn running(cpu_us: u64) -> Sample {
        Sample { state: 'R', cpu_us, wanted_us: cpu_us, sleeps: None, is_exact: true }
    }

    /// Silence in milliseconds after which the worker is overdue, checked every 50 ms from 750 on. `does` says of each
    /// millisecond whether the main thread runs or queues.
    fn overdue_after_ms(limit: Option<Duration>, is_debugged: bool, does: impl Fn(u64) -> (bool, bool)) -> Option<u64> {
        let begin = Instant::now();
        let mut track = None;
        let (mut cpu_us, mut wanted_us) = (0, 0);
        for at_ms in 0..20_000 {
            let (runs, queues) = does(at_ms);
            cpu_us += u64::from(runs) * 1000;
            wanted_us += u64::from(runs || queues) * 1000;
            let silent = Duration::from_millis(at_ms);
            if at_ms < 750 || at_ms % 50 > 0 {
                continue;
            }
            let subject = Silence { silent, is_debugged, is_lowered: false, now: begin + silent };
            let latest = Look { at: subject.now, sample: Some(Sample { wanted_us, ..running(cpu_us) }) };
            let known = track.get_or_insert(Track { first: latest, recent: latest, since: latest });
            if judge(limit, subject, known, &latest) {
                return Some(at_ms);
            }
            known.move_on(latest);
        }
        None
    }

    #[test]
    fn thread_that_burns_is_overdue_at_once_when_its_time_is_over() {
        let after_ms = overdue_after_ms(Some(LIMIT), false, |_| (true, false)).unwrap();
        assert!((1000..=1150).contains(&after_ms), "{after_ms}");
    }

    #[test]
    fn thread_that_waits_is_not_overdue_until_it_burns() {
        assert_eq!(overdue_after_ms(Some(LIMIT), false, |_| (false, false)), None);
        let after_ms = overdue_after_ms(Some(LIMIT), false, |at_ms| (at_ms > 5000, false)).unwrap();
        assert!((5100..=5450).contains(&after_ms), "{after_ms}");
    }

    #[test]
    fn thread_that_is_kept_from_running_is_not_helped_by_one_process_more() {
        let share_of = |part: u64| move |at_ms: u64| (at_ms.is_multiple_of(part), !at_ms.is_multiple_of(part));
        assert_eq!(overdue_after_ms(Some(LIMIT), false, share_of(200)), None);
        // It takes longer to tell a loop that has a fifth of a CPU.
        let after_ms = overdue_after_ms(Some(LIMIT), false, share_of(5)).unwrap();
        assert!((1700..=2000).contains(&after_ms), "{after_ms}");
    }

    #[test]
    fn thread_that_gets_less_than_a_fifth_of_a_cpu_is_starved() {
        let starves = |later| has_hardly_run(Some(running(300_000)), later, Duration::from_secs(5));
        let at = |cpu_ms: u64| Some(running(cpu_ms * 1000));
        assert_eq!((starves(at(300)), starves(at(1299)), starves(at(1300))), (true, true, false));
        assert!(!starves(None), "where the system does not tell");
    }

    #[test]
    fn nobody_is_overdue_who_is_debugged_or_where_it_is_switched_off() {
        assert_eq!(overdue_after_ms(Some(LIMIT), true, |_| (true, false)), None);
        assert_eq!(overdue_after_ms(None, false, |_| (true, false)), None);
    }
}
