//! Finds workers that only wait while requests are queued, for `workers.concurrency = "while-waiting"`: their requests
//! wait for a database or another server, and their main thread sleeps. [`crate::looks`] checks that; apps need not
//! report anything.
//!
//! A worker whose main thread is in a loop that lets others in (`packages/breathe`) reports this itself, and gets one
//! request for each report.
//!
//! It notifies the gate; the scheduler decides who gets a request. The same checks park requests that have waited for a
//! while ([`crate::rest`]). While nothing is queued and no worker has a request for longer than a moment, it does
//! nothing at all.

use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use sluice_scheduler::Event::{Blocked, Crowded, Looked as Rests, Waits};
use sluice_scheduler::{WorkerId, WorkerState, WorkerView};
use tokio::time::Instant;

use crate::Supervisor;
use crate::looks::LookResult;
use crate::rest::{Rest, RestCheck};
use crate::sample::{Sample, Sleep};

/// Time between two checks of all workers. A thread that has not run between them and sleeps at both waits.
const PERIOD: Duration = Duration::from_millis(1);
/// Time between two checks if all workers hold several requests.
const PERIOD_SHARED: Duration = Duration::from_millis(5);
/// Time between two checks if no request waits.
const PERIOD_CALM: Duration = Duration::from_millis(10);
/// Time after which a request has certainly reached its worker.
const UNDER_WAY_MAX: Duration = Duration::from_millis(3);
/// Divisor of the gateway's time: checks take at most one part in this many.
const SHARE: u32 = 10;
/// Periods over which a worker with several requests is judged, with the minimum sleep in thousandths from which it has
/// time for more. Some of its requests compute while others wait, so it rarely sleeps for long. The kernel's figures
/// are up to 4 ms old, so shorter periods need more sleep.
const ASLEEP_MIN: [(Duration, u32); 3] =
    [(Duration::from_millis(40), 150), (Duration::from_millis(200), 50), (Duration::from_secs(1), 15)];
/// Period and sleep in thousandths up to which it holds too many.
const ASLEEP_LITTLE: (Duration, u32) = (Duration::from_millis(200), 5);
/// Periods after which judging starts anew: the first, or the second if there were few checks by then.
const LONGEST: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(5));
/// Number of checks after which the share of sleep counts. A worker never found asleep holds too many; one found asleep
/// fewer times than [`LOOKS_ASLEEP_MIN`] has no time.
const LOOKS_MIN: u32 = 100;
const LOOKS_ASLEEP_MIN: u32 = 2;

/// Smallest change of a load that is reported, thousandths.
const LOAD_STEP: u32 = 10;

/// History of a worker's main thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct ThreadHistory {
    /// CPU time at the last check, if it slept.
    asleep_at_us: Option<u64>,
    held: usize,
    /// Whether the reason for its sleep has been read once.
    is_told: bool,
    /// CPU time when it was granted a request, and number of requests then. Until it has run since, it has not picked
    /// that up.
    granted: Option<(u64, usize)>,
    /// Time of the first check with the same figures if it was about to run, and the CPU time that it had wanted.
    runnable: Option<(Instant, u64)>,
    /// Start of the present judgement, the CPU time wanted by then, and whether any request waited since.
    judged: Option<(Instant, u64)>,
    was_queued: bool,
    /// Number of checks since then, and number of those that found it asleep.
    looks: u32,
    looks_asleep: u32,
    /// Number of consecutive judgements that it holds too many.
    crowded: u32,
    /// State from single checks.
    rest: Rest,
    /// Load last reported to the scheduler.
    load_told: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// The worker may hold this many more requests.
    More(u32),
    /// The worker holds this many too many, or has this much unneeded room.
    Fewer(u32),
}

impl ThreadHistory {
    /// Records a check. Returns true if all that it holds waits. `is_there`: its latest request must have reached it.
    fn look(&mut self, sample: Sample, held: usize, is_there: bool) -> bool {
        let was = *self;
        let Sample { cpu_us, sleeps, .. } = sample;
        let is_told = was.is_told || matches!(sleeps, Some(Sleep::AtLock | Sleep::Elsewhere));
        let asleep_at_us = (self.rests(sample) && is_there).then_some(cpu_us);
        *self = ThreadHistory { asleep_at_us, held, is_told, ..was };
        let is_still = self.asleep_at_us.is_some() && was.asleep_at_us == self.asleep_at_us && was.held == held;
        let waits = is_still && self.has_run_since_grant(cpu_us);
        if waits {
            *self = ThreadHistory { granted: Some((cpu_us, held)), asleep_at_us: None, ..*self };
        }
        waits
    }

    /// Whether it sleeps, and not for its own threads. If the reason could be read before, an unreadable one does not
    /// count as sleep.
    fn rests(&self, sample: Sample) -> bool {
        match sample.sleeps {
            Some(Sleep::Elsewhere) => true,
            Some(Sleep::Untold) => !self.is_told,
            Some(Sleep::AtLock) | None => false,
        }
    }

    /// Whether it has run since it was granted a request. A thread blocked by, for example, a synchronous child sleeps
    /// as well.
    fn has_run_since_grant(&self, cpu_us: u64) -> bool {
        self.granted.is_none_or(|(granted_at_us, _)| cpu_us > granted_at_us)
    }

    /// Whether it is blocked, or its server is in another thread: its granted request has come, and it still sleeps.
    fn blocks(&self, Sample { state, cpu_us, .. }: Sample, held: usize, is_there: bool) -> bool {
        let is_untouched = |(granted_at_us, before)| cpu_us <= granted_at_us && held > before;
        is_there && state == 'S' && self.granted.is_some_and(is_untouched)
    }

    /// CPU time that it has wanted until now, microseconds. The kernel reports time without a CPU only after the thread
    /// gets one.
    fn wanted_us(&mut self, now: Instant, Sample { state, wanted_us, .. }: Sample) -> u64 {
        let before = self.runnable.filter(|(_, before_us)| *before_us == wanted_us);
        let since = before.map_or(now, |(since, _)| since);
        self.runnable = (state == 'R').then_some((since, wanted_us));
        let pending = self.runnable.map_or(Duration::ZERO, |(since, _)| now.saturating_duration_since(since));
        wanted_us.saturating_add(u64::try_from(pending.as_micros()).unwrap_or(u64::MAX))
    }

    /// Upper bound of its sleep, from twice the share of checks that found it asleep. CPU time stolen by a virtual
    /// machine's host, and interrupts on many kernels, are in none of a thread's times and would look like sleep.
    fn asleep_max(&self, elapsed: Duration) -> Duration {
        elapsed * (2 * self.looks_asleep) / self.looks.max(1)
    }

    /// Records the same check for a worker that holds several requests.
    fn judge(&mut self, now: Instant, sample: Sample, is_queued: bool) -> Option<Verdict> {
        self.was_queued |= is_queued;
        let wanted_now_us = self.wanted_us(now, sample);
        let Some((since, wanted_us)) = self.judged else {
            *self = ThreadHistory { judged: Some((now, wanted_now_us)), looks: 0, looks_asleep: 0, ..*self };
            return None;
        };
        self.looks += 1;
        self.looks_asleep += u32::from(self.rests(sample));
        let elapsed = now.saturating_duration_since(since);
        let wanted = Duration::from_micros(wanted_now_us.saturating_sub(wanted_us));
        let not_wanted = elapsed.saturating_sub(wanted);
        let asleep = not_wanted.min(self.asleep_max(elapsed));
        let has_looks = self.looks >= LOOKS_MIN;
        let is_longest = elapsed >= LONGEST.0 && has_looks || elapsed >= LONGEST.1;
        let share = |(after, thousandths): (Duration, u32)| (elapsed >= after).then(|| elapsed * thousandths / 1000);
        let is_crowded = share(ASLEEP_LITTLE).is_some_and(|little| not_wanted <= little)
            || is_longest && has_looks && self.looks_asleep == 0;
        let is_needless = !self.was_queued && elapsed >= ASLEEP_LITTLE.0;
        let has_time = is_queued
            && self.has_run_since_grant(sample.cpu_us)
            && self.looks_asleep >= LOOKS_ASLEEP_MIN
            && ASLEEP_MIN.into_iter().filter_map(share).any(|much| asleep >= much);
        if !(is_crowded || is_needless || has_time || is_longest) {
            return None;
        }
        *self =
            ThreadHistory { judged: Some((now, wanted_now_us)), was_queued: false, looks: 0, looks_asleep: 0, ..*self };
        if is_crowded || is_needless {
            // A little may be chance.
            let by = 1 << self.crowded.min(16);
            self.crowded += 1;
            return Some(Verdict::Fewer(by));
        }
        self.crowded = 0;
        if !has_time {
            return None;
        }
        self.granted = Some((sample.cpu_us, self.held));
        // As many as fill the time that is left, if they are like those that it holds.
        let more = self.held as u128 * asleep.as_micros() / elapsed.as_micros().max(1);
        Some(Verdict::More(u32::try_from(more).unwrap_or(u32::MAX).max(1)))
    }
}

/// Checks the workers until the gateway exits.
pub(crate) async fn run(supervisor: Rc<Supervisor>) {
    let mut seen: HashMap<WorkerId, ThreadHistory> = HashMap::new();
    loop {
        supervisor.gate.workers().queue_waits().notified().await;
        // So is what preloads answered before.
        for process in supervisor.processes.borrow().values() {
            process.forget_look();
        }
        // How long ago that was is not known any more. Who was granted a request and has not run since still has not.
        for known in seen.values_mut() {
            *known = ThreadHistory {
                granted: known.granted,
                is_told: known.is_told,
                rest: known.rest,
                ..ThreadHistory::default()
            };
        }
        while supervisor.gate.workers().wants_looks() {
            let began = Instant::now();
            let period = look(&supervisor, &mut seen);
            tokio::time::sleep(period.max(began.elapsed() * SHARE)).await;
        }
    }
}

/// Checks all workers. Returns the time until the next check.
fn look(supervisor: &Supervisor, seen: &mut HashMap<WorkerId, ThreadHistory>) -> Duration {
    let held_max = supervisor.gate.config().workers.held_max() as usize;
    let is_looked_at = |view: &WorkerView| {
        matches!(view.state, WorkerState::Ready | WorkerState::Trial)
            && !view.holds_one
            && (view.in_service > 0 || view.has_more_room)
    };
    let mut busy: Vec<WorkerView> =
        supervisor.gate.scheduler(|scheduler| scheduler.workers().filter(is_looked_at).collect());
    seen.retain(|worker, _| busy.iter().any(|view| view.worker == *worker));
    let is_calm = supervisor.gate.scheduler(|scheduler| scheduler.queue_length() == 0);
    let is_shared = busy.iter().all(|view| view.has_more_room);
    let mut period = match (is_shared, is_calm && busy.iter().all(|view| !view.has_more_room)) {
        (_, true) => PERIOD_CALM,
        (true, _) => PERIOD_SHARED,
        _ => PERIOD,
    };
    // Whoever holds least gets the next one.
    busy.sort_by_key(|view| (view.in_service, view.worker));
    for WorkerView { worker, in_service, parked, has_more_room, .. } in busy {
        let process = supervisor.processes.borrow().get(&worker).cloned();
        if let Some(process) = process.as_ref().filter(|process| process.breathes()) {
            period = PERIOD;
            let is_queued = supervisor.gate.scheduler(sluice_scheduler::Scheduler::queue_length) > 0;
            if is_queued && in_service < held_max && !process.is_breath_taken.replace(true) {
                supervisor.gate.tell(Waits { worker });
            }
            continue;
        }
        // Before that it sleeps because nothing has come yet.
        let is_there =
            supervisor.gate.workers().latest_given(worker).is_some_and(|given| given.elapsed() >= UNDER_WAY_MAX);
        if !is_there && !has_more_room && parked == 0 {
            // A look could find nothing, and costs more than a light request.
            let known = seen.entry(worker).or_default();
            *known =
                ThreadHistory { asleep_at_us: None, held: in_service - parked, judged: None, crowded: 0, ..*known };
            continue;
        }
        let seen_now = process.map_or(LookResult::Nothing, |process| process.look());
        let LookResult::At(sample) = seen_now else {
            if has_more_room && seen_now == LookResult::Nothing {
                supervisor.gate.tell(Crowded { worker, by: u32::MAX });
            }
            continue;
        };
        let is_queued = supervisor.gate.scheduler(sluice_scheduler::Scheduler::queue_length) > 0;
        let known = seen.entry(worker).or_default();
        let rests = known.rests(sample);
        let found = known.rest.look(Instant::now(), sample, rests, in_service, is_there);
        let running = in_service - parked;
        let waits = known.look(sample, running, is_there) && running > 0;
        if found == RestCheck::Blocked {
            supervisor.gate.tell(Blocked { worker });
        }
        if has_more_room && known.blocks(sample, running, is_there) {
            known.judged = None;
            supervisor.gate.tell(Crowded { worker, by: u32::MAX });
            continue;
        }
        let load = known.rest.load();
        let has_changed = load.abs_diff(known.load_told) >= LOAD_STEP || parked > 0;
        if found != RestCheck::Blocked && (has_changed || running > 0 && found == RestCheck::Asleep) {
            known.load_told = load;
            supervisor.gate.tell(Rests { worker, sleeps: found == RestCheck::Asleep, load });
        }
        if !has_more_room {
            (known.judged, known.crowded) = (None, 0);
        }
        let verdict = if has_more_room { known.judge(Instant::now(), sample, is_queued) } else { None };
        let more = match verdict {
            Some(Verdict::Fewer(by)) => {
                supervisor.gate.tell(Crowded { worker, by });
                0
            }
            // It does not pick up what it has.
            _ if found == RestCheck::Blocked => 0,
            Some(Verdict::More(more)) => more as usize,
            None => usize::from(waits && is_queued),
        };
        for _ in 0..more.min(held_max.saturating_sub(in_service)) {
            if supervisor.gate.scheduler(sluice_scheduler::Scheduler::queue_length) == 0 {
                break;
            }
            supervisor.gate.tell(Waits { worker });
        }
    }
    period
}

#[cfg(test)]
#[path = "waits_tests.rs"]
mod tests;
