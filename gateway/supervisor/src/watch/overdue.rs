//! Workers whose event loop stands still and which burn CPU, long before they count as stuck: they may be in a loop or
//! render something large. Nothing is done to them that a slow render could not live with.

use std::time::Duration;

use crate::forensics::{Activity, Verdict, verdict};

use super::{Look, Silence, WINDOW_MIN};

/// Of the limit, what the main thread has to have had of a CPU since it was first looked at, percent. One that only queues
/// is not held up by itself, and a further process would make it worse.
const RUNNING_PERCENT: u128 = 20;

/// The looks at a main thread since the worker was last heard.
#[derive(Clone, Debug)]
pub(crate) struct Looks {
    first: Option<Activity>,
    last: Look,
}

/// Whether it is overdue: it has burnt CPU, and still does.
pub(super) fn judge(
    limit: Option<Duration>,
    subject: Silence,
    looks: &mut Option<Looks>,
    sample: impl Fn() -> Option<Activity>,
) -> bool {
    let Silence { silent, is_debugged, now, .. } = subject;
    let Some(limit) = limit.filter(|_| !is_debugged) else { return false };
    let Some(known) = looks else {
        let activity = sample();
        *looks = Some(Looks { first: activity.clone(), last: Look { at: now, activity } });
        return false;
    };
    let window = now.duration_since(known.last.at);
    if window < WINDOW_MIN {
        return false;
    }
    let earlier = std::mem::replace(&mut known.last, Look { at: now, activity: sample() }).activity;
    let (Some(first), Some(latest)) = (&known.first, &known.last.activity) else { return false };
    let has_run_us = latest.cpu_us.saturating_sub(first.cpu_us);
    silent >= limit
        && verdict(earlier.as_ref(), Some(latest), window) == Verdict::Burns
        && u128::from(has_run_us) * 100 >= limit.as_micros() * RUNNING_PERCENT
}

/// Whether one that is overdue has hardly run: lowered on a machine that is full, it would not get to its end, and be taken for
/// a loop.
pub(super) fn is_starved(silent: Duration, looks: Option<&Looks>, latest: Option<&Activity>) -> bool {
    has_hardly_run(looks.and_then(|looks| looks.first.as_ref()), latest, silent)
}

/// Whether a thread had less than a fifth of a CPU between two looks. Not where the system does not tell.
pub(super) fn has_hardly_run(earlier: Option<&Activity>, later: Option<&Activity>, elapsed: Duration) -> bool {
    let (Some(earlier), Some(later)) = (earlier, later) else { return false };
    let has_run_us = later.cpu_us.saturating_sub(earlier.cpu_us);
    u128::from(has_run_us) * 100 < elapsed.as_micros() * RUNNING_PERCENT
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(1);

    /// After how many milliseconds of silence the worker is overdue, looked at every 50 ms from 750 on. `does` says of
    /// each millisecond whether the main thread runs or queues.
    fn overdue_after_ms(limit: Option<Duration>, is_debugged: bool, does: impl Fn(u64) -> (bool, bool)) -> Option<u64> {
        let begin = Instant::now();
        let mut looks = None;
        let (mut cpu_us, mut queued_us) = (0, 0);
        for at_ms in 0..20_000 {
            let (runs, queues) = does(at_ms);
            cpu_us += u64::from(runs) * 1000;
            queued_us += u64::from(queues) * 1000;
            let silent = Duration::from_millis(at_ms);
            let sample = || Some(Activity { cpu_us, queued_us, state: 'R', waits_in: None, syscall: None });
            let subject = Silence { silent, is_debugged, has_leftovers: false, now: begin + silent };
            if at_ms >= 750 && at_ms % 50 == 0 && judge(limit, subject, &mut looks, sample) {
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
        let share_of = |part: u64| move |at_ms: u64| (at_ms.is_multiple_of(part), !at_ms.is_multiple_of(part));
        assert_eq!(overdue_after_ms(Some(LIMIT), false, share_of(200)), None);
        // It takes longer to tell a loop that has a fifth of a CPU.
        let after_ms = overdue_after_ms(Some(LIMIT), false, share_of(5)).unwrap();
        assert!((1700..=2000).contains(&after_ms), "{after_ms}");
    }

    #[test]
    fn thread_that_gets_less_than_a_fifth_of_a_cpu_is_starved() {
        let at =
            |cpu_ms: u64| Activity { cpu_us: cpu_ms * 1000, queued_us: 0, state: 'R', waits_in: None, syscall: None };
        let first = at(300);
        let looks = Looks { first: Some(first.clone()), last: Look { at: Instant::now(), activity: Some(first) } };
        let starves = |cpu_ms| is_starved(Duration::from_secs(5), Some(&looks), Some(&at(cpu_ms)));
        assert_eq!((starves(300), starves(1299), starves(1300)), (true, true, false));
        assert!(!is_starved(Duration::from_secs(5), Some(&looks), None), "where the system does not tell");
    }

    #[test]
    fn nobody_is_overdue_who_is_debugged_or_where_it_is_switched_off() {
        assert_eq!(overdue_after_ms(Some(LIMIT), true, |_| (true, false)), None);
        assert_eq!(overdue_after_ms(None, false, |_| (true, false)), None);
    }
}
