//! Workers whose event loop stands still and which burn CPU, long before they count as stuck: they may be in a loop or
//! render something large. Nothing is done to them that a slow render could not live with.

use std::time::{Duration, Instant};

use crate::forensics::{Activity, Verdict, verdict};

use super::{Look, Silence, WINDOW_MIN};

/// Of the time between two looks, what the thread has really had of a CPU, percent. One that only queues for one is not
/// held up by itself, and a further process would make it worse.
const RUNNING_PERCENT: u128 = 33;

/// Whether it is overdue. Each look is compared with the one before it, so that what a thread did earlier does not count.
pub(super) fn judge(
    limit: Option<Duration>,
    subject: Silence,
    last: &mut Option<Look>,
    sample: impl Fn() -> Option<Activity>,
) -> bool {
    let Silence { silent, is_debugged, now } = subject;
    let Some(limit) = limit.filter(|_| !is_debugged) else { return false };
    let window = last.as_ref().map(|look| now.duration_since(look.at));
    if window.is_some_and(|window| window < WINDOW_MIN) {
        return false;
    }
    let later = sample();
    let earlier = last.replace(Look { at: now, activity: later.clone() });
    let (Some(window), Some(earlier)) = (window, earlier) else { return false };
    silent >= limit
        && verdict(earlier.activity.as_ref(), later.as_ref(), window) == Verdict::Burns
        && has_run(earlier.activity.as_ref(), later.as_ref(), window)
}

fn has_run(earlier: Option<&Activity>, later: Option<&Activity>, window: Duration) -> bool {
    let (Some(earlier), Some(later)) = (earlier, later) else { return false };
    u128::from(later.cpu_us.saturating_sub(earlier.cpu_us)) * 100 >= window.as_micros() * RUNNING_PERCENT
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(1);

    /// After how many milliseconds of silence the worker is overdue, looked at every 50 ms from 750 on. `does` says of
    /// each millisecond whether the main thread runs or queues.
    fn overdue_after_ms(limit: Option<Duration>, is_debugged: bool, does: impl Fn(u64) -> (bool, bool)) -> Option<u64> {
        let begin = Instant::now();
        let mut last = None;
        let (mut cpu_us, mut queued_us) = (0, 0);
        for at_ms in 0..20_000 {
            let (runs, queues) = does(at_ms);
            cpu_us += u64::from(runs) * 1000;
            queued_us += u64::from(queues) * 1000;
            let silent = Duration::from_millis(at_ms);
            let sample = || Some(Activity { cpu_us, queued_us, state: 'R', waits_in: None, syscall: None });
            let subject = Silence { silent, is_debugged, now: begin + silent };
            if at_ms >= 750 && at_ms % 50 == 0 && judge(limit, subject, &mut last, sample) {
                return Some(at_ms);
            }
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
        assert_eq!(overdue_after_ms(Some(LIMIT), false, |at_ms| (at_ms % 5 == 0, at_ms % 5 != 0)), None);
        assert!(overdue_after_ms(Some(LIMIT), false, |at_ms| (at_ms % 2 == 0, at_ms % 2 != 0)).is_some());
    }

    #[test]
    fn nobody_is_overdue_who_is_debugged_or_where_it_is_switched_off() {
        assert_eq!(overdue_after_ms(Some(LIMIT), true, |_| (true, false)), None);
        assert_eq!(overdue_after_ms(None, false, |_| (true, false)), None);
    }
}
