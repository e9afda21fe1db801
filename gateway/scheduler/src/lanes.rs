//! Lanes: the number of workers in the long lane, and the worker that a request may have.
//!
//! Short requests use the short lane. Long ones use the long lane, whose workers get the CPU time that the others
//! leave, and after it workers of the short lane, but never the last free one.
//!
//! Where short requests need most of their lane, a long one there would make them wait, and a single long-lane worker
//! would leave cores idle. Then the long lane gets a second worker, and the short lane takes short requests only.
//! `docs/decisions/0020-order-and-lanes.md` has the figures behind each rule.

use crate::pool::{Among, Seek, WHOLE};
use crate::{Lane, Time};

/// Time that a worker of the long lane is kept after it was last needed, milliseconds.
const KEPT_MS: u64 = 300_000;
/// Time over which the use of the short lane's workers is averaged, microseconds.
const AVERAGED_OVER_US: f64 = 2_000_000.0;
/// Margin added to the average need of short requests, because it varies.
const NEED_MARGIN: f64 = 0.25;
/// Waiting CPU time of long requests per worker of the short lane from which the long lane gets a second worker,
/// microseconds. Starting one takes about as much, while the long requests lag behind.
const WAITING_FOR_SECOND_US: u64 = 400_000;
/// Time between two turns of overdue long requests on the short lane, where short ones need all of it, as a multiple of
/// the request's cost.
///
/// Long requests must also hold less than [`TAKEN_MAX`] workers there on average, because they may also wait for
/// something else than the CPU. In an overload all long requests are overdue, and would make all others wait without
/// being served in time themselves.
const TURN_COSTS: u64 = 10;
/// Average number of short-lane workers with long requests above which no long request starts there.
const TAKEN_MAX: f64 = 0.1;
/// Maximum number of long-lane workers: enough to use two cores in turn.
pub(crate) const LONG_WORKERS_MAX: u32 = 2;

/// Capacity that the workers offer to a request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Offer {
    /// Workers that have room for some request.
    pub seats: u32,
    /// Workers of each lane that take requests, the requests that these may hold, and the workers with a free slot.
    pub short_ready: u32,
    pub long_ready: u32,
    pub short_slots: u32,
    pub long_slots: u32,
    pub short_free: u32,
    pub long_free: u32,
    /// Workers of the short lane that hold a long request, and those without one that have room.
    pub short_with_long: u32,
    pub short_open: u32,
    /// Millionths of the short lane's workers that short requests take.
    pub short_parts: u32,
    /// Workers of the long lane that would take requests, but are blocked: long renders are their purpose.
    pub long_overdue: u32,
    /// Workers of the long lane that are being started, and those that hold a request.
    pub long_starting: u32,
    pub long_held: u32,
}

impl Offer {
    /// Combines each number with that of another offer.
    pub(crate) fn with(self, other: &Offer, put: fn(u32, u32) -> u32) -> Offer {
        Offer {
            seats: put(self.seats, other.seats),
            short_ready: put(self.short_ready, other.short_ready),
            long_ready: put(self.long_ready, other.long_ready),
            short_slots: put(self.short_slots, other.short_slots),
            long_slots: put(self.long_slots, other.long_slots),
            short_free: put(self.short_free, other.short_free),
            long_free: put(self.long_free, other.long_free),
            short_with_long: put(self.short_with_long, other.short_with_long),
            short_open: put(self.short_open, other.short_open),
            short_parts: put(self.short_parts, other.short_parts),
            long_overdue: put(self.long_overdue, other.long_overdue),
            long_starting: put(self.long_starting, other.long_starting),
            long_held: put(self.long_held, other.long_held),
        }
    }
}

/// An overdue request: the present time and its expected cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overdue {
    pub now: Time,
    pub cost_us: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Lanes {
    /// Times until which the first and the second worker of the long lane are kept.
    kept_until: [Option<Time>; LONG_WORKERS_MAX as usize],
    /// Average number of short requests that hold a worker or wait for one.
    need: f64,
    /// Average number of short-lane workers that long requests hold.
    taken: f64,
    /// Latest values of both, and the time up to which they are averaged.
    short_now: f64,
    long_now: u32,
    averaged: Time,
    /// Time at which a long request was last given to a worker.
    long_given: Time,
}

/// State of the queue and the pool at the end of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation {
    /// Whether there are short and long requests, so that lanes are wanted.
    pub is_mixed: bool,
    pub short_waiting: usize,
    pub long_waiting: usize,
    /// CPU time that the waiting long requests will take, in microseconds, if all cost what the next one is expected
    /// to.
    pub long_waiting_us: u64,
    /// Workers that the short lane is to have.
    pub short_wanted: u32,
}

impl Lanes {
    /// Records how a step has ended. Returns the number of workers that the long lane should have.
    pub(crate) fn note(&mut self, now: Time, offer: &Offer, left: &Situation) -> u32 {
        self.average(now, offer, left);
        let is_needed = left.is_mixed && left.short_wanted > 0;
        let waits = left.short_waiting + left.long_waiting > 0;
        let has_first = self.kept_until[0].is_some_and(|until| until > now);
        let lags = left.long_waiting_us >= WAITING_FOR_SECOND_US.saturating_mul(left.short_wanted.into());
        let is_crowded = offer.long_held > 0 && lags && self.leaves_no_room();
        // A single worker has one core to give, which the first one fills.
        let has_room = left.short_wanted > 1;
        let asks = [is_needed && (has_first || waits), is_needed && has_first && is_crowded && has_room];
        for (until, asks) in self.kept_until.iter_mut().zip(asks) {
            if asks {
                *until = Some(now.plus_ms(KEPT_MS));
            }
            *until = until.filter(|until| *until > now);
        }
        if !has_room {
            self.kept_until[1] = None;
        }
        u32::try_from(self.kept_until.iter().take_while(|until| until.is_some()).count()).unwrap_or(0)
    }

    #[allow(clippy::cast_precision_loss)] // Time apart in µs, far below 2^53.
    fn average(&mut self, now: Time, offer: &Offer, left: &Situation) {
        let weight = 1.0 - (-(now.since_us(self.averaged) as f64) / AVERAGED_OVER_US).exp();
        self.need += (self.short_now - self.need) * weight;
        self.taken += (f64::from(self.long_now) - self.taken) * weight;
        self.averaged = now;
        let waiting = u32::try_from(left.short_waiting).unwrap_or(u32::MAX);
        let held = f64::from(offer.short_parts) / f64::from(WHOLE);
        self.short_now = (held + f64::from(waiting)).min(offer.short_ready.into());
        self.long_now = offer.short_with_long;
    }

    /// Records that a long request was given to a worker.
    pub(crate) fn gave_long(&mut self, now: Time) {
        self.long_given = now;
    }

    /// Time at which a worker of the long lane may be stopped.
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        self.kept_until.iter().copied().flatten().min()
    }

    /// Number of workers that short requests need for themselves.
    fn needed(&self) -> f64 {
        (self.need + NEED_MARGIN).ceil()
    }

    fn leaves_no_room(&self) -> bool {
        self.needed() >= 2.0
    }

    /// Seats that a request of this side may have, best first. Both lanes must have workers that take requests.
    pub(crate) fn seeks(&self, side: Lane, overdue: Option<Overdue>, offer: &Offer) -> [Option<Seek>; 4] {
        if side == Lane::Short {
            // Nobody is put beside a long one that may be about to compute, unless there is no other worker at all.
            let is_beset = offer.short_with_long >= offer.short_ready;
            let among = if is_beset { Among::All } else { Among::WithoutLong };
            return [Some(Seek { lane: Lane::Short, among, packs: true }), None, None, None];
        }
        // One that stands still is no reason to open the short lane. Nor is one that starts: short ones would wait meanwhile, and
        // its start takes the CPU time that long ones would. One that has failed and will be tried again later is.
        let starting = self.kept_until[1].map_or(0, |_| offer.long_starting);
        let has_second = offer.long_ready + offer.long_overdue + starting >= 2;
        let is_crowded = has_second && self.leaves_no_room();
        // The second one is not for more long requests at a time, which would only share what the first one gets.
        let among = if offer.long_held == 0 || is_crowded { Among::All } else { Among::WithLongOnly };
        let of_long = Seek::in_lane(Lane::Long, among);
        let has_room = !is_crowded || f64::from(offer.short_with_long) < f64::from(offer.short_ready) - self.needed();
        let of_short = |among, leaves_one| (has_room && leaves_one).then_some(Seek::in_lane(Lane::Short, among));
        // Nobody waits for ever: one that has waited for far too long may have the last.
        let has_turn = overdue.is_some_and(|Overdue { now, cost_us }| {
            let is_due = now.since_us(self.long_given) >= cost_us.saturating_mul(TURN_COSTS);
            !is_crowded || is_due && self.taken < TAKEN_MAX
        });
        let empty = of_short(Among::Empty, offer.short_open >= 2);
        let beside_long = of_short(Among::WithLongOnly, offer.short_open >= 1);
        let last = has_turn.then_some(Seek::in_lane(Lane::Short, Among::All));
        // Of two that share a worker one waits for the other in the end.
        if offer.long_held > 0 && !is_crowded {
            return [empty, Some(of_long), beside_long, last];
        }
        [Some(of_long), empty, beside_long, last]
    }
}
