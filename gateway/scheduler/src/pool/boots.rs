//! Limit of simultaneous boots in places without a worker.
//!
//! Many apps migrate their database, write a lock file or build a cache at their first boot, and two that do so at once
//! break each other. So a worker boots alone while none serves. The rest follow together, or, while requests come, as
//! many as there are CPUs that no serving worker needs, and at least one. A boot that takes much longer than those
//! before does not delay others.
//!
//! A worker that is added while requests come boots aside: at a lower priority, for a while. Successors have limits of
//! their own: see `replace` and `overdue`.

use super::{Demand, Pool, WorkerSlot, WorkerState};
use crate::{Limits, Time, WorkerId};

/// Duration after which a normal boot no longer delays others, as a multiple of the longest boot so far.
const PATIENCE: u64 = 2;
/// Minimum of that duration, for apps that boot quickly, microseconds.
const PATIENCE_US_MIN: u64 = 1_000_000;
/// Time after its latest request for which an app counts as in use, microseconds. Between two clicks of one visitor it
/// may boot any number of workers.
const IN_USE_US: u64 = 5_000_000;
/// Maximum duration of a boot aside, as a multiple of the longest boot so far. On a machine without free CPU it would
/// otherwise last until the worker is killed for being late.
const ASIDE: u64 = 4;
/// Minimum of that duration, for apps that boot quickly, microseconds.
const ASIDE_US_MIN: u64 = 2_000_000;

impl Pool {
    /// Maximum number of workers that may boot at once now.
    pub(super) fn boots_max(&self, now: Time, limits: &Limits, demand: Demand) -> u32 {
        let serving = self.count(|w| w.serves() || w.state == WorkerState::Warming);
        match demand {
            _ if serving == 0 => 1,
            Demand::None if !self.is_in_use(now) => u32::MAX,
            Demand::None | Demand::Waiting | Demand::Pressing => limits.cpus.saturating_sub(serving).max(1),
        }
    }

    /// Whether requests come, even if none waits now.
    pub(crate) fn is_in_use(&self, now: Time) -> bool {
        let is_given = self.given.is_some_and(|given| now.since_us(given) < IN_USE_US);
        is_given || self.workers.values().any(|w| !w.held.is_empty())
    }

    /// Time for which a boot that begins now leaves the CPU to the serving workers, microseconds; 0 if it need not.
    pub(super) fn aside_us(&self, now: Time) -> u64 {
        if !self.is_in_use(now) || self.ready_count == 0 {
            return 0;
        }
        self.longest_boot_us.map_or(ASIDE_US_MIN, |us| us.saturating_mul(ASIDE).max(ASIDE_US_MIN))
    }

    /// Time for which the worker boots aside, in microseconds; `None` if it does not.
    pub(crate) fn aside_us_of(&self, worker: WorkerId) -> Option<u64> {
        self.workers.get(&worker).map(|w| w.aside_us).filter(|us| *us > 0)
    }

    /// Workers of places that boot, without those that take too long.
    pub(super) fn boots(&self, now: Time) -> u32 {
        let boots = self.places.iter().filter_map(|place| self.boot_ends(place)).filter(|end| *end > now);
        u32::try_from(boots.count()).unwrap_or(u32::MAX)
    }

    /// Time until which the place's worker may delay other boots; `None` if it does not boot.
    fn boot_ends(&self, place: &WorkerSlot) -> Option<Time> {
        let w = place.worker.and_then(|id| self.workers.get(&id)).filter(|w| w.listened.is_none())?;
        // What a killed one has locked, it gives back when it is gone.
        if !matches!(w.state, WorkerState::Starting | WorkerState::Killed) {
            return None;
        }
        let patience_us = self.longest_boot_us.map(|us| us.saturating_mul(PATIENCE).max(PATIENCE_US_MIN));
        Some(patience_us.map_or(Time(u64::MAX), |us| Time(w.started.0.saturating_add(us).saturating_add(w.aside_us))))
    }

    /// Time at which the first boot stops delaying others, if that is a matter of time alone.
    pub(super) fn boot_patience_ends(&self, now: Time) -> Option<Time> {
        let ends = self.places.iter().filter_map(|place| self.boot_ends(place));
        ends.filter(|end| *end > now && *end < Time(u64::MAX)).min()
    }

    pub(super) fn note_boot(&mut self, started: Time, now: Time) {
        let took_us = now.since_us(started);
        self.longest_boot_us = Some(self.longest_boot_us.map_or(took_us, |longest| longest.max(took_us)));
    }

    /// Whether the first start has failed for good: nothing ever listened, and no place is on its first try any more.
    /// Either two tries must have ended, or one must have timed out.
    pub(super) fn has_failed_to_start(&self, was_timeout: bool) -> bool {
        if self.ever_listened || self.reload.is_some() {
            return false;
        }
        let wanted = self.wanted_places().count();
        let failed = self.wanted_places().filter(|(_, place)| place.failures > 0).count();
        let is_first_try = |place: &WorkerSlot| place.failures == 0 && place.worker.is_some();
        (was_timeout || failed >= wanted.min(2)) && !self.wanted_places().any(|(_, place)| is_first_try(place))
    }

    /// Places whose start waits for another worker's boot.
    pub(crate) fn waiting_places(&self) -> impl Iterator<Item = u32> + '_ {
        self.wanted_places().filter(|(_, place)| place.is_held_back && self.starts_wait()).map(|(instance, _)| instance)
    }

    /// Worker whose boot others wait for: the one that has booted for longest.
    pub(crate) fn awaited(&self) -> Option<WorkerId> {
        self.waiting_places().next()?;
        let booting = self.places.iter().filter(|place| self.boot_ends(place).is_some());
        booting.filter_map(|place| place.worker).min()
    }
}
