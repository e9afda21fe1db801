//! Parked requests: those that only wait, as seen in a worker whose main thread sleeps, and take no slot. They cost
//! memory instead, so the worker's memory limits how many may wait in it, including streams.
//!
//! A parked request computes again when its wait ends, at an unknown time. Where parked requests keep the main thread
//! busy, the worker gets no further ones that would wait too. Brief requests pass, up to a limit of their own.

use std::collections::btree_map::Entry;

use super::worker::{SlotEntry, Worker};
use super::{Pool, WHOLE};
use crate::{Alone, ClassId, Limits, Memory, Need, Time, WorkerId};

/// Time after which a request must have reached its worker and the app, microseconds.
const UNDER_WAY_US: u64 = 3_000;
/// Multiple of its class's known time after which a request waits for longer than its class does.
const LONGER: u64 = 2;
/// Share of the main thread's time above which a worker accepts no more parked requests, thousandths.
const LOAD_MAX: u32 = 800;
/// Maximum CPU time of the requests that a worker gets at once while it holds parked ones, microseconds.
const AT_ONCE_US: u64 = 2_000;
/// Longest time that brief requests stay in a worker, microseconds. It bounds the mean of a class, and a single request
/// counts as late beyond it.
pub(crate) const BRIEF_US: u64 = 1_000_000;
/// Time that the main thread may be awake with only parked requests before it counts as busy with one of them,
/// microseconds.
const AWAKE_US: u64 = 20_000;
/// Requests that may pass through a worker whose memory is full, in addition to a quarter of those that wait.
const PASSING: usize = 8;
/// Age at which the lowest use of memory is forgotten, microseconds: memory that the app has retained since then does
/// not belong to waiting requests.
const LEAST_AGE_US: u64 = 600_000_000;
/// Maximum number of requests that wait in a worker that has not reported its memory.
const UNWEIGHED_MAX: usize = 50;
/// Further requests that may wait before the worker reports its memory again; or as many as wait already, if those are
/// more.
const STEP: usize = 64;
/// Assumed memory of a waiting request before any was measured, bytes.
const EACH_BYTES: u64 = 1 << 20;

/// A request's demand on a worker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    /// Part of the worker that it takes, in millionths.
    pub part: u32,
    /// Expected CPU time, microseconds.
    pub cost_us: u64,
    /// Whether it does not add to the waiting requests: it is brief, or one of them waits for it.
    pub is_passing: bool,
    /// Whether it is overdue and takes any seat.
    pub is_overdue: bool,
}

impl Ask {
    /// The demand that is easiest to meet.
    pub(crate) const ANY: Ask = Ask { part: 0, cost_us: 0, is_passing: true, is_overdue: true };
    /// The demand of a request that takes a complete worker.
    pub(crate) const WHOLE: Ask = Ask { part: WHOLE, cost_us: u64::MAX, is_passing: true, is_overdue: false };
}

/// Use of one kind of memory, with few and with many waiting requests.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    /// Lowest number of waiting requests, the bytes in use then, and the time.
    least: Option<(usize, u64, Time)>,
    /// Maximum number of requests that may wait.
    waiting_max: Option<usize>,
    /// Whether the waiting requests have used up their memory.
    is_over: bool,
}

impl Usage {
    /// Updates the limit. Waiting requests may use half of the memory that is free without them. Garbage counts as
    /// used, which errs on the safe side: V8 collects continuously in a small heap that is fuller than that, long
    /// before it fails.
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

/// Memory of the worker, and the number of requests that may wait in it.
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
    /// Requests that the app has, according to reports, and that are not parked.
    pub fn running(&self) -> impl Iterator<Item = &SlotEntry> {
        self.held.iter().filter(|held| held.handed.is_none() && !held.is_parked)
    }

    /// Number of parked requests.
    pub fn parked(&self) -> usize {
        self.held.iter().filter(|held| held.is_parked).count()
    }

    /// Whether all that it holds is parked, or it holds nothing.
    pub fn is_free(&self) -> bool {
        self.held.iter().all(|held| held.is_parked)
    }

    /// Number of requests and streams that use its memory.
    pub fn waiting(&self) -> usize {
        self.held.len() + self.streams as usize
    }

    /// Whether its memory has no room for further waiting requests.
    pub fn is_full(&self) -> bool {
        self.waiting() >= self.footprint.waiting_max()
    }

    /// Whether a request that will wait here finds memory and, after its wait, a thread that is not too busy.
    pub fn may_wait_here(&self) -> bool {
        !self.is_full() && !self.is_busy_with_parked()
    }

    fn is_busy_with_parked(&self) -> bool {
        self.load > LOAD_MAX && !self.is_granted && self.held.iter().any(|held| held.is_parked)
    }

    /// Whether it has room for such a request beside the parked ones. Passing requests may use a little more of its
    /// memory.
    pub fn has_room_beside_parked(&self, ask: &Ask) -> bool {
        if !ask.is_passing {
            return !self.is_full() && (ask.is_overdue || !self.is_busy_with_parked());
        }
        let max = self.footprint.waiting_max();
        self.waiting() < max.saturating_add(max / 4).saturating_add(PASSING)
    }

    /// Whether one of its parked requests probably computes: its thread has been awake for a while and nothing else
    /// runs.
    pub fn is_awake_with_parked(&self) -> bool {
        self.awake_us > AWAKE_US && self.running().next().is_none() && self.held.iter().any(|held| held.is_parked)
    }

    /// Whether a few cheap requests may run beside others, because the worker holds parked requests and so mostly
    /// waits.
    pub fn may_run_beside(&self, ask: &Ask) -> bool {
        let cost_us = self.running().map(|held| held.cost_us).fold(ask.cost_us, u64::saturating_add);
        cost_us <= AT_ONCE_US && self.may_share() && !self.holds_one && self.held.iter().any(|held| held.is_parked)
    }

    /// Parks requests that wait. One with a part of its own is parked only after it has waited for longer than its
    /// class does.
    fn park(&mut self, now: Time) {
        if self.holds_one {
            return;
        }
        let may_park = |need: &Need| need.alone != Alone::Always;
        for held in self.held.iter_mut().filter(|held| held.handed.is_none() && may_park(&held.need) && !held.is_own) {
            let had_us = now.since_us(held.dispatched);
            let expected_us = if held.part < WHOLE { held.stay_us.saturating_mul(LONGER) } else { 0 };
            held.is_parked |= had_us >= UNDER_WAY_US.max(expected_us);
            if held.is_parked {
                held.need.alone = Alone::Never;
            }
            if had_us >= UNDER_WAY_US {
                held.waited_us = had_us;
            }
        }
    }
}

impl Pool {
    /// Records what a check of the worker's main thread found.
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

    /// Number of requests of this class that workers hold for longer than brief ones stay.
    pub(crate) fn late_of(&self, class: ClassId) -> u32 {
        self.late.get(&class).copied().unwrap_or(0)
    }

    /// Uncounts a late request that has left its worker.
    pub(super) fn forget_late(&mut self, held: &SlotEntry) {
        if held.is_late
            && let Entry::Occupied(mut late) = self.late.entry(held.need.class)
        {
            *late.get_mut() -= 1;
            if *late.get() == 0 {
                late.remove();
            }
        }
    }

    /// Marks the worker's requests as not parked.
    pub(crate) fn blocked(&mut self, worker: WorkerId) {
        if let Some(w) = self.workers.get_mut(&worker) {
            w.held.iter_mut().for_each(|held| held.is_parked = false);
        }
    }

    /// Records memory in use.
    pub(crate) fn weighed(&mut self, now: Time, worker: WorkerId, memory: Memory, used_bytes: u64, limit_bytes: u64) {
        let Some(w) = self.workers.get_mut(&worker) else { return };
        let waiting = w.waiting();
        let usage = match memory {
            Memory::Heap => &mut w.footprint.heap,
            Memory::Resident => &mut w.footprint.resident,
        };
        usage.weigh(now, waiting, used_bytes, limit_bytes);
    }

    /// Classes of the running requests, one for each worker that takes requests and is not free.
    pub(crate) fn running_classes(&self) -> impl Iterator<Item = ClassId> + '_ {
        let serving = self.workers.values().filter(|w| w.takes_requests());
        serving.filter_map(|w| w.running().next().filter(|held| !held.is_own).map(|held| held.need.class))
    }

    /// Shortest time for which a worker that takes requests has had its present one, microseconds. `None` where none has any.
    pub(crate) fn busy_us(&self, now: Time) -> Option<u64> {
        let serving = self.workers.values().filter(|w| w.takes_requests());
        serving.filter_map(|w| w.running().map(|held| now.since_us(held.dispatched)).min()).min()
    }

    /// Whether a worker has no memory or time left for further requests that wait.
    pub(crate) fn is_any_full(&self) -> bool {
        self.workers.values().any(|w| w.takes_requests() && !w.may_wait_here())
    }

    /// Whether a check of this worker's main thread may find requests to park, or parked ones that keep it busy.
    pub(crate) fn wants_looks(&self, now: Time, after_us: u64, limits: &Limits) -> bool {
        limits.concurrency_max > limits.concurrency
            && self.workers.values().filter(|w| w.takes_requests() && !w.holds_one).any(|w| {
                let is_due = |held: &SlotEntry| held.is_parked || now.since_us(held.dispatched) >= after_us;
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
