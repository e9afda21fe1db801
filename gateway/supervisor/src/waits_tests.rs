//! What is thought of a worker, from looks that are made up.

use super::*;

fn sample(state: char, cpu_us: u64) -> Sample {
    let sleeps = (state == 'S').then_some(Sleep::Elsewhere);
    Sample { state, cpu_us, wanted_us: cpu_us, sleeps, is_exact: true }
}

#[test]
fn worker_waits_that_sleeps_at_two_looks_and_has_not_run_between_them() {
    let mut seen = ThreadHistory::default();
    assert!(!seen.look(sample('S', 100), 1, true));
    assert!(!seen.look(sample('S', 140), 1, true), "it has run in between");
    assert!(!seen.look(sample('R', 140), 1, true), "it would run if it were let");
    assert!(!seen.look(sample('S', 140), 1, true));
    assert!(seen.look(sample('S', 140), 1, true));
}

#[test]
fn worker_that_waits_for_its_own_garbage_collection_computes() {
    let mut seen = ThreadHistory::default();
    let asleep = |sleep| Sample { sleeps: Some(sleep), ..sample('S', 100) };
    for sleep in [Sleep::AtLock, Sleep::Untold] {
        for _ in 0..10 {
            assert!(!seen.look(asleep(sleep), 1, true), "{sleep:?}");
        }
    }
    assert!(!seen.look(asleep(Sleep::Elsewhere), 1, true));
    assert!(seen.look(asleep(Sleep::Elsewhere), 1, true));
}

#[test]
fn where_it_sleeps_does_not_count_where_it_cannot_be_read() {
    let mut seen = ThreadHistory::default();
    let untold = Sample { sleeps: Some(Sleep::Untold), ..sample('S', 100) };
    assert!(!seen.look(untold, 1, true));
    assert!(seen.look(untold, 1, true));
}

#[test]
fn worker_gets_no_further_request_before_it_has_picked_up_the_last() {
    let mut seen = ThreadHistory::default();
    seen.look(sample('S', 100), 1, true);
    assert!(seen.look(sample('S', 100), 1, true));
    for _ in 0..10 {
        assert!(!seen.look(sample('S', 100), 2, true), "a synchronous child sleeps as well");
    }
    assert!(!seen.look(sample('S', 150), 2, true));
    assert!(seen.look(sample('S', 150), 2, true));
}

#[test]
fn worker_whose_request_was_replaced_by_another_is_looked_at_anew() {
    let mut seen = ThreadHistory::default();
    seen.look(sample('S', 100), 2, true);
    assert!(!seen.look(sample('S', 100), 1, true));
    assert!(seen.look(sample('S', 100), 1, true));
}

#[test]
fn worker_that_has_just_been_given_one_is_not_seen_to_wait() {
    let mut seen = ThreadHistory::default();
    assert!(!seen.look(sample('S', 100), 1, true));
    assert!(!seen.look(sample('S', 100), 1, false));
    assert!(!seen.look(sample('S', 100), 1, true));
    assert!(seen.look(sample('S', 100), 1, true));
}

/// Whether a look that comes every 5 ms finds it asleep, after so many milliseconds.
fn state_at(ms: u64, asleep: u64) -> char {
    let found = |ms: u64| ms * asleep / 5_000;
    if ms > 0 && found(ms) > found(ms - 5) { 'S' } else { 'R' }
}

/// The first verdict on a worker that sleeps for so many thousandths of the time, and after how many milliseconds.
fn judged(seen: &mut ThreadHistory, asleep: u64, is_queued: bool) -> (u64, Option<Verdict>) {
    let (began, from_us) = seen.judged.unwrap_or_else(|| (Instant::now(), 1_000_000));
    for ms in (0..=1_500).step_by(5) {
        let used = sample(state_at(ms, asleep), from_us + ms * (1000 - asleep));
        let verdict = seen.judge(began + Duration::from_millis(ms), used, is_queued);
        if verdict.is_some() {
            return (ms, verdict);
        }
    }
    (1_500, None)
}

#[test]
fn worker_that_holds_several_is_judged_by_how_long_it_sleeps() {
    for (asleep, is_queued, expected) in [
        (0, true, (200, Some(Verdict::Fewer(1)))),
        (4, true, (200, Some(Verdict::Fewer(1)))),
        (10, true, (1_500, None)),
        (20, true, (1_000, Some(Verdict::More(1)))),
        (60, true, (200, Some(Verdict::More(1)))),
        (200, true, (50, Some(Verdict::More(1)))),
        (500, false, (200, Some(Verdict::Fewer(1)))),
    ] {
        assert_eq!(judged(&mut ThreadHistory::default(), asleep, is_queued), expected, "{asleep} {is_queued}");
    }
    let mut full = ThreadHistory::default();
    for by in [1, 2, 4] {
        assert_eq!(judged(&mut full, 0, true), (200, Some(Verdict::Fewer(by))));
    }
}

#[test]
fn time_in_which_no_cpu_was_free_is_no_rest() {
    let now = Instant::now();
    let mut seen = ThreadHistory::default();
    assert_eq!(seen.judge(now, sample('R', 100), true), None);
    let starved = Sample { wanted_us: 200_100, ..sample('R', 100) };
    assert_eq!(seen.judge(now + Duration::from_millis(200), starved, true), Some(Verdict::Fewer(1)));
}

#[test]
fn what_the_host_takes_from_its_cpu_is_no_rest() {
    let began = Instant::now();
    for taken in [10, 100, 400] {
        let mut seen = ThreadHistory { held: 8, ..ThreadHistory::default() };
        let verdicts: Vec<(u64, Verdict)> = (0..=2_000)
            .step_by(5)
            .filter_map(|ms| {
                let at = began + Duration::from_millis(ms);
                Some((ms, seen.judge(at, sample('R', ms * (1000 - taken)), true)?))
            })
            .collect();
        let expected = [(1_000, 1), (2_000, 2)].map(|(ms, by)| (ms, Verdict::Fewer(by)));
        assert_eq!(verdicts, expected, "{taken} thousandths");
    }
}

#[test]
fn one_rest_is_not_taken_for_many() {
    let began = Instant::now();
    let mut seen = ThreadHistory { held: 8, ..ThreadHistory::default() };
    for ms in (0..=2_500).step_by(5) {
        let state = if ms % 1_000 == 100 { 'S' } else { 'R' };
        let verdict = seen.judge(began + Duration::from_millis(ms), sample(state, ms * 800), true);
        assert_eq!(verdict, None, "after {ms} ms");
    }
}

#[test]
fn few_looks_do_not_say_that_it_never_sleeps() {
    let began = Instant::now();
    let mut seen = ThreadHistory { held: 8, ..ThreadHistory::default() };
    for ms in (0..=20_000).step_by(100) {
        let verdict = seen.judge(began + Duration::from_millis(ms), sample('R', ms * 990), true);
        assert_eq!(verdict, None, "after {ms} ms");
    }
}

#[test]
fn worker_that_blocks_is_not_thought_to_have_time() {
    let mut seen = ThreadHistory::default();
    assert_eq!(judged(&mut seen, 100, true), (200, Some(Verdict::More(1))));
    let (mut now, wanted_us) = seen.judged.unwrap();
    for _ in 0..10 {
        now += Duration::from_millis(300);
        assert_eq!(seen.judge(now, sample('S', wanted_us), true), None);
    }
    now += Duration::from_millis(300);
    assert_eq!(seen.judge(now, sample('S', wanted_us + 1), true), Some(Verdict::More(1)));
}

#[test]
fn worker_that_sleeps_much_gets_several() {
    let mut seen = ThreadHistory { held: 8, ..ThreadHistory::default() };
    assert_eq!(judged(&mut seen, 500, true), (40, Some(Verdict::More(4))));
}

#[test]
fn time_without_a_cpu_is_no_rest_before_the_kernel_tells_it_either() {
    let now = Instant::now();
    let mut seen = ThreadHistory::default();
    for ms in (0..200).step_by(10) {
        assert_eq!(seen.judge(now + Duration::from_millis(ms), sample('R', 100), true), None, "after {ms} ms");
    }
    let told = Sample { wanted_us: 200_100, ..sample('R', 100) };
    assert_eq!(seen.judge(now + Duration::from_millis(200), told, true), Some(Verdict::Fewer(1)));
}

#[test]
fn worker_that_sleeps_on_with_what_it_was_granted_blocks() {
    let mut seen = ThreadHistory::default();
    seen.look(sample('S', 100), 1, true);
    assert!(seen.look(sample('S', 100), 1, true));
    assert!(!seen.blocks(sample('S', 100), 1, true), "nothing was given to it");
    assert!(!seen.blocks(sample('S', 100), 2, false), "it has not come yet");
    assert!(!seen.blocks(sample('R', 100), 2, true));
    assert!(seen.blocks(sample('S', 100), 2, true));
    assert!(!seen.blocks(sample('S', 110), 2, true));
}
