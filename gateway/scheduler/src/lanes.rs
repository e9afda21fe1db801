//! Lanes: the number of workers in the long lane, and the worker that a request may have.
//!
//! Short requests use the short lane. Long ones use the long lane, whose workers get the CPU time that the others
//! leave, and after it workers of the short lane, but never the last free one.
//!
//! Where short requests need most of their lane, a long one there would make them wait, and a single long-lane worker
//! would leave cores idle. Then the long lane gets a second worker, and the short lane takes short requests only.
//! `docs/decisions/0020-order-and-lanes.md` has the figures behind each rule.

use crate::pool::{Among, Ask, BRIEF_US, SHORT_PARTS_MAX, Seek, WHOLE};
use crate::queue::Head;
use crate::{Action, ClassId, Lane, Need, Order, Scheduler, Time, WorkerId};

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
/// Average number of short-lane workers held by long requests above which no long request gets a turn there.
const TAKEN_MAX: f64 = 0.1;
/// Requests of a class held for longer than [`BRIEF_US`] above which the class is no longer brief: its upstream is
/// slow.
const LATE_MAX: u32 = 8;
/// Time from the gateway to a worker and back, which is no wait of the app, microseconds.
const ROUND_TRIP_US: u64 = 1_000;
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
    fn seeks(&self, side: Lane, overdue: Option<Overdue>, offer: &Offer) -> [Option<Seek>; 4] {
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

impl Scheduler {
    /// Whether the config permits lanes. In a worker that always holds several requests, long and short ones would
    /// delay each other whatever its priority.
    fn may_have_lanes(&self) -> bool {
        self.limits.lanes && self.limits.order == Order::Shortest && self.limits.concurrency <= 1
    }

    /// Whether lanes are wanted and the traffic has long and short requests.
    pub(crate) fn is_mixed(&self) -> bool {
        self.may_have_lanes() && self.costs.cut_us().is_some()
    }

    /// Whether lanes are in force: both have workers.
    pub(crate) fn has_lanes(&self, offer: &Offer) -> bool {
        self.is_mixed() && offer.short_ready > 0 && offer.long_ready + offer.long_overdue > 0
    }

    /// Worker that such a request of this side may have. `first` is the side's first request now; without it, the
    /// request is behind all others.
    pub(crate) fn place(
        &self,
        side: Lane,
        need: Need,
        first: Option<(&Head, Time)>,
        offer: &Offer,
    ) -> Option<WorkerId> {
        let overdue = first.filter(|(head, _)| head.is_overdue());
        let ask = Ask { is_overdue: overdue.is_some(), ..self.ask(need) };
        let overdue = overdue.map(|(_, now)| Overdue { now, cost_us: self.costs.expected_us(need.class) });
        let is_awaited = |worker| {
            let is_behind = match first {
                Some((head, now)) => self.queue.head_at(worker, now).is_some_and(|before| before < *head),
                None => self.queue.len_at(worker) > 0,
            };
            is_behind && !self.pool.has_room(worker, &Ask::WHOLE, &self.limits)
        };
        let seat = |seek| self.pool.seat(seek, &ask, &self.limits, is_awaited);
        if self.has_lanes(offer) {
            return self.lanes.seeks(side, overdue, offer).into_iter().flatten().find_map(seat);
        }
        // Where nobody else serves, the long lane does; else it is for lanes alone.
        let lane = if offer.short_ready == 0 { Lane::Long } else { Lane::Short };
        seat(Seek::in_lane(lane, Among::All))
    }

    /// Share, cost and urgency with which a request asks for a seat.
    pub(crate) fn ask(&self, need: Need) -> Ask {
        let (part, cost_us) = (self.part_of(need.class), self.costs.expected_us(need.class));
        Ask { part, cost_us, is_passing: self.is_passing(need), is_overdue: false }
    }

    /// Whether a request is no burden to those that wait: it is known to be brief, or one of them waits for it.
    pub(crate) fn is_passing(&self, need: Need) -> bool {
        let is_brief = || self.predictor.service_us_of(need.class).is_some_and(|us| us <= BRIEF_US);
        need.inner || self.costs.is_known(need.class) && self.pool.late_of(need.class) <= LATE_MAX && is_brief()
    }

    /// Part of a worker that a request of this class takes, in millionths: the share of its time in which it computes.
    /// All of it where no worker may hold several requests, or while too little is known.
    #[must_use]
    pub fn part_of(&self, class: ClassId) -> u32 {
        if self.limits.concurrency_max <= self.limits.concurrency || !self.costs.is_known(class) {
            return WHOLE;
        }
        let cost_us = self.costs.expected_us(class).max(1);
        let wait_us = self.costs.wait_us(class).unwrap_or(0).saturating_sub(ROUND_TRIP_US);
        let part = u64::from(WHOLE).saturating_mul(cost_us).div_ceil(cost_us.saturating_add(wait_us));
        u32::try_from(part).ok().filter(|part| *part <= SHORT_PARTS_MAX).unwrap_or(WHOLE)
    }

    /// Sets the number of long-lane workers that are needed now.
    pub(crate) fn size_long_lane(&mut self, now: Time, actions: &mut Vec<Action>) {
        let is_mixed = self.is_mixed();
        if self.stopping || !is_mixed && self.lanes.next_deadline().is_none() {
            return;
        }
        let long_waiting = self.queue.len_of(Lane::Long);
        let each_us = self.queue.head(Lane::Long, now).map_or(0, |head| self.costs.expected_us(head.need.class));
        let left = Situation {
            is_mixed,
            short_waiting: self.queue.len_of(Lane::Short) + self.pool.handed(),
            long_waiting,
            long_waiting_us: each_us.saturating_mul(long_waiting as u64),
            short_wanted: self.pool.wanted(),
        };
        let wanted = self.lanes.note(now, &self.offer(), &left);
        if wanted != self.pool.long_wanted() {
            self.pool.scale_long(wanted);
            self.pool.unsettle();
            self.settle(now, actions);
        }
    }

    /// Removes the long lane when the config no longer permits lanes, unless only its workers serve.
    pub(crate) fn close_long_lane(&mut self) {
        let is_needless = self.lanes.next_deadline().is_some() && !self.may_have_lanes();
        if is_needless && self.pool.keeps_short() {
            self.lanes = Lanes::default();
            self.pool.scale_long(0);
            self.pool.unsettle();
        }
    }
}
