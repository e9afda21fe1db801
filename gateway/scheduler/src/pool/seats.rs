//! Room in workers: the capacity of each lane, and the worker that has a seat for the next request.
//!
//! A worker that may hold several requests has room for as many as it was seen to wait with
//! ([`Event::Waits`](crate::Event::Waits)). It also has room for those that are known to leave it the time. Each takes
//! the part of its worker in which it computes, by its own CPU time and its undisturbed service time. A request that
//! only computes takes the whole worker.

use super::worker::Worker;
use super::{Ask, Pool, WorkerState};
use crate::lanes::Offer;
use crate::{Lane, Limits, WorkerId};

/// A whole worker, in millionths: a request that polls for seconds takes a few hundred of them.
pub(crate) const WHOLE: u32 = 1_000_000;
/// Maximum parts of a short-lane worker, so that its requests rarely compute at the same time. A request that takes
/// more is alone.
pub(crate) const SHORT_PARTS_MAX: u32 = 800_000;
/// Maximum parts of a long-lane worker, which should compute while its other requests wait.
const LONG_PARTS_MAX: u32 = 1_300_000;
/// Maximum parts of a worker that was observed to wait. More requests that wait at once would soon compute at once.
const SEEN_PARTS_MAX: u32 = 2_500_000;
/// Difference below which two workers' numbers of waiting requests and streams count as equal.
const WAITING_ALIKE: usize = 32;
/// Maximum parts in use of a short-lane worker that still counts as available for short requests.
const OPEN_PARTS_MAX: u32 = 650_000;

/// Workers to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Among {
    All,
    /// Workers that hold no long request.
    WithoutLong,
    /// Workers that hold long requests only, at least one.
    WithLongOnly,
    /// Workers that hold nothing.
    Empty,
}

/// A search for a seat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seek {
    pub lane: Lane,
    pub among: Among,
    /// Whether the fullest worker that has time for it comes first. Short requests then leave as many workers as
    /// possible empty for long ones.
    pub packs: bool,
}

impl Seek {
    pub(crate) fn in_lane(lane: Lane, among: Among) -> Seek {
        Seek { lane, among, packs: false }
    }
}

impl Worker {
    /// Parts of it that are taken.
    fn parts(&self) -> u32 {
        self.running().map(|held| held.part).fold(0, u32::saturating_add)
    }

    fn holds(&self, side: Lane) -> bool {
        self.running().any(|held| held.side == side)
    }

    /// Whether it may take a request with this demand.
    pub fn has_seat(&self, ask: &Ask, limits: &Limits) -> bool {
        if self.held.is_empty() {
            return self.has_free_slot(limits.concurrency);
        }
        // What it was handed before comes first.
        if self.is_asked_back || self.handed().next().is_some() {
            return false;
        }
        if limits.concurrency_max <= limits.concurrency {
            return self.has_free_slot(limits.concurrency);
        }
        let is_awake = self.is_awake_with_parked() && !ask.is_overdue && !self.is_granted;
        if self.held.len() >= limits.concurrency_max as usize || is_awake || !self.has_room_beside_parked(ask) {
            return false;
        }
        if self.has_free_slot(limits.concurrency) {
            // Nothing is known of those that take it whole, but that it waited with them.
            let known = self.running().map(|held| held.part).chain([ask.part]).filter(|part| *part < WHOLE);
            return known.fold(0, u32::saturating_add) <= SEEN_PARTS_MAX;
        }
        let parts_max = if self.lane == Lane::Short { SHORT_PARTS_MAX } else { LONG_PARTS_MAX };
        let fits = self.may_share() && !self.holds_one && self.parts().saturating_add(ask.part) <= parts_max;
        fits || self.may_run_beside(ask)
    }

    /// Capacity that it adds to the total offer.
    pub fn offer(&self, limits: &Limits) -> Offer {
        if !self.takes_requests() {
            let is_ready = self.state == WorkerState::Ready;
            let is_starting = matches!(self.state, WorkerState::Starting | WorkerState::Warming);
            let of_long = |is: bool| u32::from(is && self.lane == Lane::Long);
            return Offer { long_overdue: of_long(is_ready), long_starting: of_long(is_starting), ..Offer::default() };
        }
        let has_seat = self.has_seat(&Ask::ANY, limits);
        let free = u32::from(self.has_free_slot(limits.concurrency));
        let held = u32::try_from(self.held.len() - self.parked()).unwrap_or(u32::MAX);
        // One that is full holds what it can: that says more than any rule how many it may.
        let slots = self.slots(limits.concurrency).max(held);
        let offer = Offer { seats: u32::from(has_seat), ..Offer::default() };
        if self.lane == Lane::Long {
            return Offer { long_ready: 1, long_slots: slots, long_held: held.min(1), long_free: free, ..offer };
        }
        let shorts = self.running().filter(|held| held.side == Lane::Short);
        let has_long = self.holds(Lane::Long);
        Offer {
            short_ready: 1,
            short_slots: slots,
            short_free: free,
            short_parts: shorts.map(|held| held.part).fold(0, u32::saturating_add),
            short_with_long: u32::from(has_long),
            short_open: u32::from(!has_long && has_seat && self.parts() <= OPEN_PARTS_MAX),
            ..offer
        }
    }

    fn is_among(&self, among: Among) -> bool {
        match among {
            Among::All => true,
            Among::WithoutLong => !self.holds(Lane::Long),
            Among::WithLongOnly => self.holds(Lane::Long) && !self.holds(Lane::Short),
            Among::Empty => self.is_free(),
        }
    }
}

impl Pool {
    pub(crate) fn holds_one(&mut self, worker: WorkerId) {
        if let Some(w) = self.workers.get_mut(&worker) {
            (w.holds_one, w.room) = (true, 0);
        }
    }

    /// Total capacity that the workers offer to the next request.
    pub(crate) fn offer(&self, limits: &Limits) -> Offer {
        self.workers.offer(limits)
    }

    /// First worker with such a seat, by the ranking. An awaited worker (`is_awaited`) must get empty first, for
    /// requests that can use no other worker.
    pub(crate) fn seat(
        &self,
        seek: Seek,
        ask: &Ask,
        limits: &Limits,
        is_awaited: impl Fn(WorkerId) -> bool,
    ) -> Option<WorkerId> {
        let Seek { lane, among, packs } = seek;
        let has_seat = |id: WorkerId, w: &Worker| {
            w.lane == lane
                && w.takes_requests()
                && w.is_among(among)
                && w.has_seat(ask, limits)
                && (w.is_free() || !is_awaited(id))
        };
        let rank = |w: &Worker| {
            let held = w.held.len() - w.parked();
            let is_packed = packs && w.parts().saturating_add(ask.part) <= SHORT_PARTS_MAX;
            // Those that wait are spread, as is the memory that they take.
            let has_streams = w.streams >= limits.streams_per_worker_max;
            let waiting = (has_streams, (w.parked() + w.streams as usize) / WAITING_ALIKE, w.parked() > 0);
            (packs && !is_packed, waiting, if is_packed { usize::MAX - held } else { held }, w.instance)
        };
        let seats = self.workers.with_seats(limits);
        let open = seats.iter().filter_map(|id| self.workers.get(id).map(|w| (id, w)));
        open.filter(|(id, w)| has_seat(**id, w)).min_by_key(|(_, w)| rank(w)).map(|(id, _)| *id)
    }
}
