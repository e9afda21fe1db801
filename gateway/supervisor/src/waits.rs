//! Finds workers that only wait while requests are queued, for `workers.concurrency = "auto"`: what they hold is with a
//! database or another server, and their main thread sleeps. It is seen from outside, so apps need not say anything.
//!
//! It tells the gate; who gets a request is the scheduler's decision. While nothing is queued and no worker holds more than
//! one, it does nothing at all.

use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use sluice_scheduler::{WorkerId, WorkerState, WorkerView};

use crate::Supervisor;
use crate::forensics::{Glance, main_thread_glance};

/// Between two looks at all workers. A thread that has not run between them and sleeps at both waits.
const PERIOD: Duration = Duration::from_millis(1);
/// The same when all of them hold several.
const PERIOD_SHARED: Duration = Duration::from_millis(5);
/// A request that was given to a worker so long ago has reached it.
const UNDER_WAY_MAX: Duration = Duration::from_millis(3);
/// Looking takes at most this part of the gateway's time.
const SHARE: u32 = 10;
/// Over how long a worker is judged that holds several: some of them compute while others wait, so that it seldom sleeps for
/// long. It has time for more if it slept for so many thousandths. The kernel's figures are up to 4 ms old, so the sooner, the more.
const ASLEEP_MIN: [(Duration, u32); 3] =
    [(Duration::from_millis(40), 150), (Duration::from_millis(200), 50), (Duration::from_secs(1), 15)];
/// It holds too many if it slept for no more.
const ASLEEP_LITTLE: (Duration, u32) = (Duration::from_millis(200), 5);

/// What was seen of a worker's main thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    /// CPU time at the last look, if it slept.
    asleep_at_us: Option<u64>,
    held: usize,
    /// CPU time when it was granted a request, and what it held; until it has run since, it has not picked that up.
    granted: Option<(u64, usize)>,
    /// If it was about to run: since which look with the same figures, and what it had wanted of the CPU.
    runnable: Option<(Instant, u64)>,
    /// Since when it is judged, what it had wanted of the CPU then, and whether anybody waited for a worker since.
    judged: Option<(Instant, u64)>,
    was_queued: bool,
    /// At how many looks since then, and at how many of them it did not run nor want to.
    looks: u32,
    looks_asleep: u32,
    /// For how long it had too many, as a count of the least time after which that is said.
    crowded: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// It may have so many requests more.
    More(u32),
    /// It has so many too many, or room that nobody needs.
    Fewer(u32),
}

impl Seen {
    /// Takes in a look; true when all that it holds waits. `is_there`: what it was given last must have reached it.
    fn look(&mut self, Glance { state, cpu_us, is_at_lock, .. }: Glance, held: usize, is_there: bool) -> bool {
        let was = *self;
        let is_asleep = state == 'S' && !is_at_lock;
        *self = Seen { asleep_at_us: (is_asleep && is_there).then_some(cpu_us), held, ..was };
        let is_still = self.asleep_at_us.is_some() && was.asleep_at_us == self.asleep_at_us && was.held == held;
        let waits = is_still && self.has_run_since_grant(cpu_us);
        if waits {
            *self = Seen { granted: Some((cpu_us, held)), asleep_at_us: None, ..*self };
        }
        waits
    }

    /// A thread that blocks, in a synchronous child for instance, sleeps as well.
    fn has_run_since_grant(&self, cpu_us: u64) -> bool {
        self.granted.is_none_or(|(granted_at_us, _)| cpu_us > granted_at_us)
    }

    /// What it was granted has come, and it sleeps on: it blocks, or its server is in another thread.
    fn blocks(&self, Glance { state, cpu_us, .. }: Glance, held: usize, is_there: bool) -> bool {
        let is_untouched = |(granted_at_us, before)| cpu_us <= granted_at_us && held > before;
        is_there && state == 'S' && self.granted.is_some_and(is_untouched)
    }

    /// What it has wanted of the CPU until now. The kernel tells how long a thread was without one only once it has one.
    fn wanted_us(&mut self, now: Instant, Glance { state, wanted_us, .. }: Glance) -> u64 {
        let before = self.runnable.filter(|(_, before_us)| *before_us == wanted_us);
        let since = before.map_or(now, |(since, _)| since);
        self.runnable = (state == 'R').then_some((since, wanted_us));
        let pending = self.runnable.map_or(Duration::ZERO, |(since, _)| now.saturating_duration_since(since));
        wanted_us.saturating_add(u64::try_from(pending.as_micros()).unwrap_or(u64::MAX))
    }

    /// For how long it slept at most, to go by the looks: for twice their share. What a host takes from a virtual machine, and
    /// interrupts on many kernels, is in none of a thread's times, and would seem sleep.
    fn asleep_max(&self, elapsed: Duration) -> Duration {
        elapsed * (2 * self.looks_asleep) / self.looks.max(1)
    }

    /// Takes in the same look for a worker that holds several.
    fn judge(&mut self, now: Instant, glance: Glance, is_queued: bool) -> Option<Verdict> {
        self.was_queued |= is_queued;
        let wanted_now_us = self.wanted_us(now, glance);
        let Some((since, wanted_us)) = self.judged else {
            *self = Seen { judged: Some((now, wanted_now_us)), looks: 0, looks_asleep: 0, ..*self };
            return None;
        };
        self.looks += 1;
        self.looks_asleep += u32::from(glance.state != 'R' && !glance.is_at_lock);
        let elapsed = now.saturating_duration_since(since);
        let wanted = Duration::from_micros(wanted_now_us.saturating_sub(wanted_us));
        let not_wanted = elapsed.saturating_sub(wanted);
        let asleep = not_wanted.min(self.asleep_max(elapsed));
        let is_longest = elapsed >= Duration::from_secs(1);
        let share = |(after, thousandths): (Duration, u32)| (elapsed >= after).then(|| elapsed * thousandths / 1000);
        let is_crowded =
            share(ASLEEP_LITTLE).is_some_and(|little| not_wanted <= little) || is_longest && self.looks_asleep == 0;
        let is_needless = !self.was_queued && elapsed >= ASLEEP_LITTLE.0;
        let has_time = is_queued
            && self.has_run_since_grant(glance.cpu_us)
            && ASLEEP_MIN.into_iter().filter_map(share).any(|much| asleep >= much);
        if !(is_crowded || is_needless || has_time || is_longest) {
            return None;
        }
        *self = Seen { judged: Some((now, wanted_now_us)), was_queued: false, looks: 0, looks_asleep: 0, ..*self };
        if is_crowded || is_needless {
            // A little may be chance.
            let by = 1 << self.crowded.min(16);
            let times = elapsed.as_millis() / ASLEEP_LITTLE.0.as_millis();
            self.crowded = self.crowded.saturating_add(u32::try_from(times).unwrap_or(u32::MAX));
            return Some(Verdict::Fewer(by));
        }
        self.crowded = 0;
        if !has_time {
            return None;
        }
        self.granted = Some((glance.cpu_us, self.held));
        // As many as fill the time that is left, if they are like those that it holds.
        let more = self.held as u128 * asleep.as_micros() / elapsed.as_micros().max(1);
        Some(Verdict::More(u32::try_from(more).unwrap_or(u32::MAX).max(1)))
    }
}

/// Looks for as long as the gateway runs.
pub(crate) async fn run(supervisor: Rc<Supervisor>) {
    let mut seen: HashMap<WorkerId, Seen> = HashMap::new();
    loop {
        supervisor.gate.queue_waits().await;
        // How long ago that was is not known any more. Who was granted a request and has not run since still has not.
        for known in seen.values_mut() {
            *known = Seen { granted: known.granted, ..Seen::default() };
        }
        let has_room = |view: WorkerView| view.has_more_room && view.state == WorkerState::Ready;
        while supervisor.gate.scheduler(|scheduler| scheduler.queue_length() > 0 || scheduler.workers().any(has_room)) {
            let began = Instant::now();
            let period = look(&supervisor, &mut seen);
            tokio::time::sleep(period.max(began.elapsed() * SHARE)).await;
        }
    }
}

/// Returns when to look again.
fn look(supervisor: &Supervisor, seen: &mut HashMap<WorkerId, Seen>) -> Duration {
    let held_max = supervisor.gate.config().workers.held_max() as usize;
    let is_looked_at =
        |view: &WorkerView| view.state == WorkerState::Ready && (view.in_service > 0 || view.has_more_room);
    let mut busy: Vec<WorkerView> =
        supervisor.gate.scheduler(|scheduler| scheduler.workers().filter(is_looked_at).collect());
    seen.retain(|worker, _| busy.iter().any(|view| view.worker == *worker));
    let period = if busy.iter().all(|view| view.has_more_room) { PERIOD_SHARED } else { PERIOD };
    // Whoever holds least gets the next one.
    busy.sort_by_key(|view| (view.in_service, view.worker));
    for WorkerView { worker, in_service, has_more_room, .. } in busy {
        let pid = supervisor.view(worker).pid;
        let Some(glance) = pid.and_then(main_thread_glance) else {
            if has_more_room {
                supervisor.gate.crowded(worker, u32::MAX);
            }
            continue;
        };
        let is_queued = supervisor.gate.scheduler(sluice_scheduler::Scheduler::queue_length) > 0;
        // Before that it sleeps because nothing has come yet.
        let is_there = supervisor.gate.latest_given(worker).is_some_and(|given| given.elapsed() >= UNDER_WAY_MAX);
        let known = seen.entry(worker).or_default();
        let waits = known.look(glance, in_service, is_there) && in_service > 0;
        if has_more_room && known.blocks(glance, in_service, is_there) {
            known.judged = None;
            supervisor.gate.crowded(worker, u32::MAX);
            continue;
        }
        if !has_more_room {
            (known.judged, known.crowded) = (None, 0);
        }
        let verdict = if has_more_room { known.judge(Instant::now(), glance, is_queued) } else { None };
        let more = match verdict {
            Some(Verdict::Fewer(by)) => {
                supervisor.gate.crowded(worker, by);
                0
            }
            Some(Verdict::More(more)) => more as usize,
            None => usize::from(waits && is_queued),
        };
        for _ in 0..more.min(held_max.saturating_sub(in_service)) {
            supervisor.gate.waits(worker);
        }
    }
    period
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glance(state: char, cpu_us: u64) -> Glance {
        Glance { state, cpu_us, wanted_us: cpu_us, is_at_lock: false }
    }

    #[test]
    fn worker_waits_that_sleeps_at_two_looks_and_has_not_run_between_them() {
        let mut seen = Seen::default();
        assert!(!seen.look(glance('S', 100), 1, true));
        assert!(!seen.look(glance('S', 140), 1, true), "it has run in between");
        assert!(!seen.look(glance('R', 140), 1, true), "it would run if it were let");
        assert!(!seen.look(glance('S', 140), 1, true));
        assert!(seen.look(glance('S', 140), 1, true));
    }

    #[test]
    fn worker_that_waits_for_its_own_garbage_collection_computes() {
        let mut seen = Seen::default();
        let at_lock = Glance { is_at_lock: true, ..glance('S', 100) };
        for _ in 0..10 {
            assert!(!seen.look(at_lock, 1, true));
        }
        assert!(!seen.look(glance('S', 100), 1, true));
        assert!(seen.look(glance('S', 100), 1, true));
    }

    #[test]
    fn worker_gets_no_further_request_before_it_has_picked_up_the_last() {
        let mut seen = Seen::default();
        seen.look(glance('S', 100), 1, true);
        assert!(seen.look(glance('S', 100), 1, true));
        for _ in 0..10 {
            assert!(!seen.look(glance('S', 100), 2, true), "a synchronous child sleeps as well");
        }
        assert!(!seen.look(glance('S', 150), 2, true));
        assert!(seen.look(glance('S', 150), 2, true));
    }

    #[test]
    fn worker_whose_request_was_replaced_by_another_is_looked_at_anew() {
        let mut seen = Seen::default();
        seen.look(glance('S', 100), 2, true);
        assert!(!seen.look(glance('S', 100), 1, true));
        assert!(seen.look(glance('S', 100), 1, true));
    }

    #[test]
    fn worker_that_has_just_been_given_one_is_not_seen_to_wait() {
        let mut seen = Seen::default();
        assert!(!seen.look(glance('S', 100), 1, true));
        assert!(!seen.look(glance('S', 100), 1, false));
        assert!(!seen.look(glance('S', 100), 1, true));
        assert!(seen.look(glance('S', 100), 1, true));
    }

    /// Whether a look that comes every 5 ms finds it asleep, after so many milliseconds.
    fn state_at(ms: u64, asleep: u64) -> char {
        let found = |ms: u64| ms * asleep / 5_000;
        if ms > 0 && found(ms) > found(ms - 5) { 'S' } else { 'R' }
    }

    /// The first verdict on a worker that sleeps for so many thousandths of the time, and after how many milliseconds.
    fn judged(seen: &mut Seen, asleep: u64, is_queued: bool) -> (u64, Option<Verdict>) {
        let (began, from_us) = seen.judged.unwrap_or_else(|| (Instant::now(), 1_000_000));
        for ms in (0..=1_500).step_by(5) {
            let used = glance(state_at(ms, asleep), from_us + ms * (1000 - asleep));
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
            (200, true, (40, Some(Verdict::More(1)))),
            (500, false, (200, Some(Verdict::Fewer(1)))),
        ] {
            assert_eq!(judged(&mut Seen::default(), asleep, is_queued), expected, "{asleep} {is_queued}");
        }
        let mut full = Seen::default();
        for by in [1, 2, 4] {
            assert_eq!(judged(&mut full, 0, true), (200, Some(Verdict::Fewer(by))));
        }
    }

    #[test]
    fn time_in_which_no_cpu_was_free_is_no_rest() {
        let now = Instant::now();
        let mut seen = Seen::default();
        assert_eq!(seen.judge(now, glance('R', 100), true), None);
        let starved = Glance { wanted_us: 200_100, ..glance('R', 100) };
        assert_eq!(seen.judge(now + Duration::from_millis(200), starved, true), Some(Verdict::Fewer(1)));
    }

    #[test]
    fn what_the_host_takes_from_its_cpu_is_no_rest() {
        let began = Instant::now();
        for taken in [10, 100, 400] {
            let mut seen = Seen { held: 8, ..Seen::default() };
            let verdicts: Vec<(u64, Verdict)> = (0..=2_000)
                .step_by(5)
                .filter_map(|ms| {
                    let at = began + Duration::from_millis(ms);
                    Some((ms, seen.judge(at, glance('R', ms * (1000 - taken)), true)?))
                })
                .collect();
            let expected = [(1_000, 1), (2_000, 32)].map(|(ms, by)| (ms, Verdict::Fewer(by)));
            assert_eq!(verdicts, expected, "{taken} thousandths");
        }
    }

    #[test]
    fn one_rest_is_not_taken_for_what_the_host_takes() {
        let began = Instant::now();
        let mut seen = Seen { held: 8, ..Seen::default() };
        for ms in (0..200).step_by(5) {
            let state = if ms == 100 { 'S' } else { 'R' };
            let verdict = seen.judge(began + Duration::from_millis(ms), glance(state, ms * 800), true);
            assert_eq!(verdict, None, "after {ms} ms");
        }
    }

    #[test]
    fn worker_that_blocks_is_not_thought_to_have_time() {
        let mut seen = Seen::default();
        assert_eq!(judged(&mut seen, 100, true), (200, Some(Verdict::More(1))));
        let (mut now, wanted_us) = seen.judged.unwrap();
        for _ in 0..10 {
            now += Duration::from_millis(300);
            assert_eq!(seen.judge(now, glance('S', wanted_us), true), None);
        }
        now += Duration::from_millis(300);
        assert_eq!(seen.judge(now, glance('S', wanted_us + 1), true), Some(Verdict::More(1)));
    }

    #[test]
    fn worker_that_sleeps_much_gets_several() {
        let mut seen = Seen { held: 8, ..Seen::default() };
        assert_eq!(judged(&mut seen, 500, true), (40, Some(Verdict::More(4))));
    }

    #[test]
    fn time_without_a_cpu_is_no_rest_before_the_kernel_tells_it_either() {
        let now = Instant::now();
        let mut seen = Seen::default();
        for ms in (0..200).step_by(10) {
            assert_eq!(seen.judge(now + Duration::from_millis(ms), glance('R', 100), true), None, "after {ms} ms");
        }
        let told = Glance { wanted_us: 200_100, ..glance('R', 100) };
        assert_eq!(seen.judge(now + Duration::from_millis(200), told, true), Some(Verdict::Fewer(1)));
    }

    #[test]
    fn worker_that_sleeps_on_with_what_it_was_granted_blocks() {
        let mut seen = Seen::default();
        seen.look(glance('S', 100), 1, true);
        assert!(seen.look(glance('S', 100), 1, true));
        assert!(!seen.blocks(glance('S', 100), 1, true), "nothing was given to it");
        assert!(!seen.blocks(glance('S', 100), 2, false), "it has not come yet");
        assert!(!seen.blocks(glance('R', 100), 2, true));
        assert!(seen.blocks(glance('S', 100), 2, true));
        assert!(!seen.blocks(glance('S', 110), 2, true));
    }
}
