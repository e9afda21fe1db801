//! Requests that only wait: seen in a worker whose main thread sleeps, they are parked and take no slot. They cost memory instead, so the
//! worker's memory bounds how many may wait in it, streams among them.
//!
//! A parked request computes again when its wait ends, and nobody knows when. Where parked requests keep the main thread busy, the worker
//! gets no further ones that would wait too. Brief requests pass, up to a bound of their own.

use std::collections::btree_map::Entry;

use super::worker::{Held, Worker};
use super::{Pool, WHOLE};
use crate::{ClassId, Limits, Memory, Time, WorkerId};

/// Time after which a request must have reached its worker, and the app have seen it, microseconds.
const UNDER_WAY_US: u64 = 3_000;
/// Multiple of its known time after which a request waits for longer than its class does.
const LONGER: u64 = 2;
/// Share of the main thread's time, thousandths, from which on it is too busy with parked requests for more of them.
const LOAD_MAX: u32 = 800;
/// CPU time that may be given to a worker at once while it holds parked requests, microseconds.
const AT_ONCE_US: u64 = 2_000;
/// Longest time that brief requests stay in a worker, microseconds: as the mean of a class, and for one of them before it counts as late.
pub(crate) const BRIEF_US: u64 = 1_000_000;
/// Time for which the main thread may be awake with parked requests alone before it counts as busy with one of them, microseconds.
const AWAKE_US: u64 = 20_000;
/// Requests that pass a worker whose memory is full, beyond a quarter of those that wait.
const PASSING: usize = 8;
/// Age at which the least use of memory is forgotten, microseconds: what the app has kept since then is not of those that wait.
const LEAST_AGE_US: u64 = 600_000_000;
/// Requests that may wait in a worker which has not told its memory.
const UNWEIGHED_MAX: usize = 50;
/// Further requests that may wait before the worker tells its memory again; as many as wait already, if those are more.
const STEP: usize = 64;
/// What one request is taken to need before any has been seen to wait, bytes.
const EACH_BYTES: u64 = 1 << 20;

/// What a request asks of a worker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    /// Millionths of the worker that it takes.
    pub part: u32,
    /// CPU time that it is expected to take, microseconds.
    pub cost_us: u64,
    /// It does not add to those that wait: it stays for a moment only, or one of them waits for it.
    pub is_passing: bool,
    /// It has waited for too long, and takes what there is.
    pub is_overdue: bool,
}

impl Ask {
    /// Some request, of the kind that is easiest to seat.
    pub(crate) const ANY: Ask = Ask { part: 0, cost_us: 0, is_passing: true, is_overdue: true };
    /// A request that takes a worker whole.
    pub(crate) const WHOLE: Ask = Ask { part: WHOLE, cost_us: u64::MAX, is_passing: true, is_overdue: false };
}

/// How much of one kind of memory the worker used, with few and with many requests that wait.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    /// Requests that waited when fewest did, bytes in use then, and when that was.
    least: Option<(usize, u64, Time)>,
    /// Requests that may wait.
    waiting_max: Option<usize>,
    /// Those that wait have used up what is for them.
    is_over: bool,
}

impl Usage {
    /// Half of the memory that is free without requests is for those that wait. Bytes in use have garbage in them, which errs on the
    /// safe side. V8 collects all the time in a small heap that is fuller than that, long before it gives up.
    fn weigh(&mut self, now: Time, waiting: usize, used_bytes: u64, limit_bytes: u64) {
        let is_least = |(fewest, _, at): &(usize, u64, Time)| *fewest < waiting && now.since_us(*at) < LEAST_AGE_US;
        let least = self.least.filter(is_least).unwrap_or((waiting, used_bytes, now));
        self.least = Some(least);
        let (fewest, base_bytes, _) = least;
        if base_bytes >= limit_bytes {
            // It is over its share without them, which says nothing of those that wait.
            (self.waiting_max, self.is_over) = (None, false);
            return;
        }
        let full_bytes = base_bytes.saturating_add(limit_bytes.saturating_sub(base_bytes) / 2);
        let more = (waiting - fewest) as u64;
        let each_bytes = used_bytes.saturating_sub(base_bytes).checked_div(more).unwrap_or(EACH_BYTES).max(1);
        let room = full_bytes.saturating_sub(used_bytes) / each_bytes;
        let room = usize::try_from(room).unwrap_or(usize::MAX).min(STEP.max(waiting));
        // Where there is none left, those beyond the bound do not raise it.
        let fit = usize::try_from((full_bytes - base_bytes) / each_bytes).unwrap_or(usize::MAX);
        self.waiting_max = Some(if room > 0 { waiting + room } else { fewest.saturating_add(fit).min(waiting) });
        // A stream that has begun is let be until its memory is nearly needed.
        self.is_over = more > 0 && used_bytes >= limit_bytes - (limit_bytes - base_bytes) / 8;
    }
}

/// The worker's memory, and how many requests may wait in it by that.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Footprint {
    heap: Usage,
    resident: Usage,
}

impl Footprint {
    /// Whether a stream that has begun is one too many.
    pub(super) fn is_over(&self) -> bool {
        self.heap.is_over || self.resident.is_over
    }

    fn waiting_max(&self) -> usize {
        if self.heap.least.is_none() {
            return UNWEIGHED_MAX;
        }
        let known = [self.heap.waiting_max, self.resident.waiting_max];
        known.into_iter().flatten().min().unwrap_or(usize::MAX)
    }
}

impl Worker {
    /// Requests that the app has, as far as is known, and that are not parked.
    pub fn running(&self) -> impl Iterator<Item = &Held> {
        self.held.iter().filter(|held| held.handed.is_none() && !held.is_parked)
    }

    /// Requests that wait without a slot.
    pub fn parked(&self) -> usize {
        self.held.iter().filter(|held| held.is_parked).count()
    }

    /// All that it holds is parked, if anything.
    pub fn is_free(&self) -> bool {
        self.held.iter().all(|held| held.is_parked)
    }

    /// Requests and streams that need its memory.
    pub fn waiting(&self) -> usize {
        self.held.len() + self.streams as usize
    }

    /// No more requests that wait fit into its memory.
    pub fn is_full(&self) -> bool {
        self.waiting() >= self.footprint.waiting_max()
    }

    /// Whether one that will wait here finds memory and, when its wait has ended, a thread that is not too busy with others.
    pub fn may_wait_here(&self) -> bool {
        !self.is_full() && !self.is_busy_with_parked()
    }

    fn is_busy_with_parked(&self) -> bool {
        self.load > LOAD_MAX && !self.is_granted && self.held.iter().any(|held| held.is_parked)
    }

    /// Whether it has room for such a request beside those that wait. Those that pass have a little more of its memory.
    pub fn has_room_beside_parked(&self, ask: &Ask) -> bool {
        if !ask.is_passing {
            return !self.is_full() && (ask.is_overdue || !self.is_busy_with_parked());
        }
        let max = self.footprint.waiting_max();
        self.waiting() < max.saturating_add(max / 4).saturating_add(PASSING)
    }

    /// One of its parked requests computes, by all that is known: its thread has been awake for a while and nothing else runs.
    pub fn is_awake_with_parked(&self) -> bool {
        self.awake_us > AWAKE_US && self.running().next().is_none() && self.held.iter().any(|held| held.is_parked)
    }

    /// Whether a few cheap ones may run beside others, as the worker holds parked requests and so waits for most of its time.
    pub fn may_run_beside(&self, ask: &Ask) -> bool {
        let cost_us = self.running().map(|held| held.cost_us).fold(ask.cost_us, u64::saturating_add);
        cost_us <= AT_ONCE_US && self.may_share() && !self.holds_one && self.held.iter().any(|held| held.is_parked)
    }

    /// A request with a part of its own is parked when it has waited for longer than its class does.
    fn park(&mut self, now: Time) {
        if self.holds_one {
            return;
        }
        for held in self.held.iter_mut().filter(|held| held.handed.is_none() && !held.need.alone && !held.is_own) {
            let had_us = now.since_us(held.dispatched);
            let expected_us = if held.part < WHOLE { held.stay_us.saturating_mul(LONGER) } else { 0 };
            held.is_parked |= had_us >= UNDER_WAY_US.max(expected_us);
            if had_us >= UNDER_WAY_US {
                held.waited_us = had_us;
            }
        }
    }
}

impl Pool {
    /// Notes what a look at the worker's main thread found.
    pub(crate) fn looked(&mut self, now: Time, worker: WorkerId, sleeps: bool, load: u32) {
        let Some(w) = self.workers.get_mut(&worker) else { return };
        w.load = load;
        let since = *w.slept.get_or_insert(now);
        w.awake_us = if sleeps { 0 } else { now.since_us(since) };
        if sleeps {
            w.slept = Some(now);
        }
        if sleeps && w.takes_requests() {
            w.park(now);
        }
        let late = w.held.iter_mut().filter(|held| !held.is_late && now.since_us(held.dispatched) > BRIEF_US);
        for held in late {
            held.is_late = true;
            *self.late.entry(held.need.class).or_default() += 1;
        }
    }

    /// Requests of this class that workers hold for longer than brief ones stay.
    pub(crate) fn late_of(&self, class: ClassId) -> u32 {
        self.late.get(&class).copied().unwrap_or(0)
    }

    /// One that was late has left its worker.
    pub(super) fn forget_late(&mut self, held: &Held) {
        if held.is_late
            && let Entry::Occupied(mut late) = self.late.entry(held.need.class)
        {
            *late.get_mut() -= 1;
            if *late.get() == 0 {
                late.remove();
            }
        }
    }

    /// Takes back that its requests only wait.
    pub(crate) fn blocked(&mut self, worker: WorkerId) {
        if let Some(w) = self.workers.get_mut(&worker) {
            w.held.iter_mut().for_each(|held| held.is_parked = false);
        }
    }

    /// Notes memory in use.
    pub(crate) fn weighed(&mut self, now: Time, worker: WorkerId, memory: Memory, used_bytes: u64, limit_bytes: u64) {
        let Some(w) = self.workers.get_mut(&worker) else { return };
        let waiting = w.waiting();
        let usage = match memory {
            Memory::Heap => &mut w.footprint.heap,
            Memory::Resident => &mut w.footprint.resident,
        };
        usage.weigh(now, waiting, used_bytes, limit_bytes);
    }

    /// Classes of what runs, one for each worker that takes requests and is not free.
    pub(crate) fn running_classes(&self) -> impl Iterator<Item = ClassId> + '_ {
        let serving = self.workers.values().filter(|w| w.takes_requests());
        serving.filter_map(|w| w.running().next().filter(|held| !held.is_own).map(|held| held.need.class))
    }

    /// Whether a worker has no memory left, or no time, for further requests that wait.
    pub(crate) fn is_any_full(&self) -> bool {
        self.workers.values().any(|w| w.takes_requests() && !w.may_wait_here())
    }

    /// Whether a look at this worker's main thread may find requests to park, or parked ones that keep it busy.
    pub(crate) fn wants_looks(&self, now: Time, after_us: u64, limits: &Limits) -> bool {
        limits.concurrency_max > limits.concurrency
            && self.workers.values().filter(|w| w.takes_requests() && !w.holds_one).any(|w| {
                let is_due = |held: &Held| held.is_parked || now.since_us(held.dispatched) >= after_us;
                w.held.iter().any(is_due)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;

    #[test]
    fn polls_of_a_megabyte_stop_before_a_small_heap_is_full() {
        let (mut usage, mut waiting) = (Usage::default(), 0);
        usage.weigh(Time(0), 0, 8 * MB, 64 * MB);
        while let Some(max) = usage.waiting_max.filter(|max| *max > waiting) {
            waiting = max.min(waiting + 16);
            usage.weigh(Time(0), waiting, (8 + waiting as u64) * MB, 64 * MB);
        }
        assert_eq!(waiting, 28);
    }

    #[test]
    fn small_polls_double_from_one_report_to_the_next() {
        let mut usage = Usage::default();
        usage.weigh(Time(0), 0, 50 * MB, 4_096 * MB);
        assert_eq!(usage.waiting_max, Some(64));
        usage.weigh(Time(0), 64, 51 * MB, 4_096 * MB);
        assert_eq!(usage.waiting_max, Some(128));
        usage.weigh(Time(0), 1_000, 60 * MB, 4_096 * MB);
        assert_eq!(usage.waiting_max, Some(2_000));
    }

    #[test]
    fn worker_above_its_share_without_requests_is_not_bounded_by_it_and_loses_no_stream() {
        let mut usage = Usage::default();
        usage.weigh(Time(0), 0, 150 * MB, 112 * MB);
        usage.weigh(Time(0), 5, 151 * MB, 112 * MB);
        assert_eq!((usage.waiting_max, usage.is_over), (None, false));
    }

    #[test]
    fn least_use_is_forgotten_after_ten_minutes() {
        let mut usage = Usage::default();
        usage.weigh(Time(0), 0, 8 * MB, 100 * MB);
        usage.weigh(Time(1), 1, 60 * MB, 100 * MB);
        assert_eq!(usage.waiting_max, Some(0), "what the app has kept since seems to be of the one that waits");
        usage.weigh(Time(LEAST_AGE_US), 1, 60 * MB, 100 * MB);
        assert!(usage.waiting_max.is_some_and(|max| max > 10));
    }

    #[test]
    fn memory_that_the_app_keeps_is_not_charged_to_those_that_wait() {
        let mut usage = Usage::default();
        usage.weigh(Time(0), 0, 8 * MB, 100 * MB);
        usage.weigh(Time(0), 0, 80 * MB, 100 * MB);
        usage.weigh(Time(0), 1, 80 * MB, 100 * MB);
        assert!(usage.waiting_max.is_some_and(|max| max > 10));
    }
}
