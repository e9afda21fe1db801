//! Judgements of threads of which each millisecond is known.

use super::*;
use crate::sample::{Sample, Sleep};

const LIMITS: Limits = Limits {
    overdue: Some(Duration::from_secs(1)),
    burning: Some(Duration::from_secs(10)),
    blocked: Some(Duration::from_secs(60)),
};

fn thread(cpu_ms: u64) -> Sample {
    let cpu_us = cpu_ms * 1000;
    Sample { state: 'S', cpu_us, wanted_us: cpu_us, sleeps: Some(Sleep::Elsewhere), is_exact: true }
}

/// The same for a worker of which this is the first sample, if there was none.
fn judge(limits: Limits, subject: Silence, track: &mut Option<Track>, sample: Option<Sample>) -> Option<TroubleKind> {
    let latest = Look { at: subject.now, sample };
    let known = track.get_or_insert(Track { first: latest, recent: latest, since: latest });
    super::judge(limits, subject, known, latest)
}

/// Time and kind of the judgement of a worker that last beat at 0 and is checked every 50 ms. `burns` says whether
/// its main thread runs in the millisecond; there is no sample if `known` is false.
fn judged(limits: Limits, is_debugged: bool, known: bool, burns: impl Fn(u64) -> bool) -> Option<(u64, TroubleKind)> {
    let begin = Instant::now();
    let mut track = None;
    let mut cpu_ms = 0;
    for at_ms in 0..200_000 {
        cpu_ms += u64::from(burns(at_ms));
        let silent = Duration::from_millis(at_ms);
        if at_ms % 50 == 0 && silent >= limits.late() {
            let subject = Silence { silent, is_debugged, is_lowered: false, now: begin + silent };
            let sample = known.then(|| thread(cpu_ms));
            if let Some(kind) = judge(limits, subject, &mut track, sample) {
                return Some((at_ms, kind));
            }
        }
    }
    None
}

#[test]
fn half_the_time_is_enough_where_requests_are_cheap() {
    let costing = |cost_us| move |us| cost_us <= us;
    assert_eq!(overdue_after_ms(1_000, costing(50_001)), 1_000);
    assert_eq!(overdue_after_ms(1_000, costing(50_000)), 500);
    assert_eq!(overdue_after_ms(6_000, costing(50_000)), 3_000);
    assert_eq!(overdue_after_ms(700, costing(1_000)), 500, "signs of life are a quarter of a second apart");
    assert_eq!(overdue_after_ms(0, costing(0)), 0, "switched off");
}

#[test]
fn thread_that_burns_is_stuck_when_its_time_is_over() {
    assert_eq!(judged(LIMITS, false, true, |_| true), Some((10_000, TroubleKind::Stuck)));
    let short = Limits { overdue: None, burning: Some(Duration::from_millis(1500)), blocked: None };
    assert_eq!(judged(short, false, true, |_| true), Some((1500, TroubleKind::Stuck)));
}

/// Time and kind of the judgement of a thread that is always ready to run, and gets one of so many milliseconds until
/// `starved_ms`, then all of them. Before its turn it waits for `waits_ms`.
fn judged_starved(is_lowered: bool, part: u64, waits_ms: u64, starved_ms: u64) -> Option<(u64, TroubleKind)> {
    let begin = Instant::now();
    let (mut track, mut cpu_ms, mut queued_ms) = (None, 0, 0);
    for at_ms in 0..200_000_u64 {
        let runs = at_ms >= starved_ms || at_ms.is_multiple_of(part);
        cpu_ms += u64::from(runs && at_ms >= waits_ms);
        queued_ms += u64::from(!runs && at_ms >= waits_ms);
        let silent = Duration::from_millis(at_ms);
        if !at_ms.is_multiple_of(50) || silent < LIMITS.late() {
            continue;
        }
        let subject = Silence { silent, is_debugged: false, is_lowered, now: begin + silent };
        let state = if at_ms < waits_ms { 'S' } else { 'R' };
        let sample = Sample { state, wanted_us: (cpu_ms + queued_ms) * 1000, ..thread(cpu_ms) };
        if let Some(kind) = judge(LIMITS, subject, &mut track, Some(sample)) {
            return Some((at_ms, kind));
        }
    }
    None
}

#[test]
fn thread_is_stuck_by_the_cpu_time_that_it_had() {
    for is_lowered in [false, true] {
        assert_eq!(judged_starved(is_lowered, 1, 0, 200_000), Some((10_000, TroubleKind::Stuck)));
        let (at_ms, kind) = judged_starved(is_lowered, 4, 0, 200_000).unwrap();
        assert_eq!(kind, TroubleKind::Stuck);
        assert!((36_000..40_000).contains(&at_ms), "{at_ms}");
        let (at_ms, _) = judged_starved(is_lowered, 100, 0, 40_000).unwrap();
        assert!((48_000..50_000).contains(&at_ms), "{at_ms}");
    }
}

#[test]
fn lowered_thread_that_hardly_runs_is_stuck_after_six_times_the_limit() {
    assert_eq!(judged_starved(true, 1000, 0, 200_000), Some((60_000, TroubleKind::Stuck)));
    // Its kernel does not count the time in the queue, so it seems to wait.
    let silent = Duration::from_secs(60);
    let begin = Instant::now();
    let subject = Silence { silent, is_debugged: false, is_lowered: true, now: begin + silent };
    let look = |at, sample| Look { at, sample: Some(sample) };
    let first = look(begin, thread(7));
    let mut track = Track { first, recent: first, since: first };
    let latest = look(subject.now, Sample { state: 'R', ..thread(8) });
    assert_eq!(super::judge(LIMITS, subject, &mut track, latest), Some(TroubleKind::Stuck));
}

#[test]
fn lowered_thread_that_waits_has_the_limit_of_one_that_waits() {
    let (at_ms, kind) = judged_starved(true, 1, 200_000, 0).unwrap();
    assert_eq!(kind, TroubleKind::Blocked);
    assert!((60_000..61_100).contains(&at_ms), "{at_ms}");
    // It computes after it has waited.
    let (at_ms, kind) = judged_starved(true, 1, 20_000, 0).unwrap();
    assert_eq!(kind, TroubleKind::Stuck);
    assert!((28_000..40_000).contains(&at_ms), "{at_ms}");
}

#[test]
fn thread_that_waits_has_its_own_limit() {
    let (at_ms, kind) = judged(LIMITS, false, true, |_| false).unwrap();
    assert_eq!(kind, TroubleKind::Blocked);
    assert!((60_000..61_100).contains(&at_ms), "{at_ms}");
    assert_eq!(judged(Limits { blocked: None, ..LIMITS }, false, true, |_| false), None);
}

#[test]
fn thread_that_burns_after_it_has_waited_is_stuck() {
    let (at_ms, kind) = judged(LIMITS, false, true, |at_ms| at_ms > 20_000).unwrap();
    assert_eq!(kind, TroubleKind::Stuck);
    assert!((24_000..30_000).contains(&at_ms), "{at_ms}");
}

#[test]
fn thread_that_works_for_a_moment_after_it_has_waited_is_not() {
    let (at_ms, kind) = judged(LIMITS, false, true, |at_ms| (20_000..23_000).contains(&at_ms)).unwrap();
    assert_eq!(kind, TroubleKind::Blocked);
    assert!((60_000..61_100).contains(&at_ms), "{at_ms}");
}

#[test]
fn thread_that_could_run_and_is_not_let_does_not_wait() {
    let second = Duration::from_secs(1);
    let subject = |now| Silence { silent: 100 * second, is_debugged: false, is_lowered: false, now };
    let begin = Instant::now();
    let mut track = None;
    for count in 0..10 {
        let sample = Some(Sample { state: 'R', ..thread(7) });
        assert_eq!(judge(LIMITS, subject(begin + count * second), &mut track, sample), None);
    }
    let kind = judge(LIMITS, subject(begin + 20 * second), &mut track, Some(thread(7)));
    assert_eq!(kind, Some(TroubleKind::Blocked));
}

#[test]
fn limit_that_is_switched_off_kills_nobody() {
    let never_stuck = Limits { burning: None, ..LIMITS };
    assert_eq!(judged(never_stuck, false, true, |_| true), None);
}

#[test]
fn breakpoint_is_no_block_but_a_loop_in_the_debugger_is_stuck() {
    assert_eq!(judged(LIMITS, true, true, |_| false), None);
    assert_eq!(judged(LIMITS, true, true, |_| true), Some((10_000, TroubleKind::Stuck)));
}

#[test]
fn thread_of_which_nothing_is_known_has_the_longer_time_and_is_looked_into() {
    let (at_ms, kind) = judged(LIMITS, false, false, |_| true).unwrap();
    assert_eq!(kind, TroubleKind::Stuck);
    assert!((60_000..61_100).contains(&at_ms), "{at_ms}");
}
