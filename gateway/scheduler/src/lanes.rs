//! Lanes: how many workers the long one has, and which worker a request may have.
//!
//! Short requests have the short lane. Long ones have the long lane, whose workers get the CPU time that the others leave,
//! and beyond it workers of the short lane, but never the last free one. Where short requests need most of their lane by
//! themselves, a long one there would make them wait, and a single long-lane worker would leave cores idle in between:
//! then the long lane gets a second one and the short lane is left to what it is for.
//! `docs/decisions/0020-order-and-lanes.md` has the figures behind each rule.

use crate::pool::{Among, Ask, BRIEF_US, SHORT_PARTS_MAX, Seek, WHOLE};
use crate::queue::Head;
use crate::{Action, ClassId, Lane, Need, Order, Scheduler, Time, WorkerId};

/// How long a worker of the long lane is kept when nothing asks for it any more.
const KEPT_MS: u64 = 300_000;
/// Over how long the use of the short lane's workers is averaged, in microseconds.
const AVERAGED_OVER_US: f64 = 2_000_000.0;
/// Added to that need, because it varies.
const NEED_MARGIN: f64 = 0.25;
/// CPU time that long requests wait for, in microseconds and for each worker of the short lane, before the long lane gets a second
/// one: to start it takes about as much, just when they lag behind.
const WAITING_FOR_SECOND_US: u64 = 400_000;
/// Where short requests need the whole lane, a long one that has waited for too long may have one of its workers when none has
/// been given any for so many times its cost, and long ones hold less of a worker there on average: they may wait for something else than
/// the CPU, too. In an overload all long ones have waited for too long, and would make everybody wait for the sake of what they
/// can not have.
const TURN_COSTS: u64 = 10;
/// Where long requests hold more workers of the short lane than this on average, none gets a turn there.
const TAKEN_MAX: f64 = 0.1;
/// Requests of a class that workers may hold for longer than [`BRIEF_US`] before the class is no longer brief: its upstream is slow.
const LATE_MAX: u32 = 8;
/// From the gateway to a worker and back, which is no wait of the app.
const ROUND_TRIP_US: u64 = 1_000;
/// Long-lane workers that there may be: as many as it takes to use two cores in turn.
pub(crate) const LONG_WORKERS_MAX: u32 = 2;

/// What the workers look like to a request that wants one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Offer {
    /// Workers that have room for some request.
    pub seats: u32,
    /// Workers of each lane that take requests, how many requests these may hold, and which of them have a free slot.
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
    /// Workers of the long lane that would take requests, but stand still: a long render is what they are for.
    pub long_overdue: u32,
    /// Workers of the long lane that are being started, and those that hold a request.
    pub long_starting: u32,
    pub long_held: u32,
}

impl Offer {
    /// Each number put together with that of another offer.
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

/// That a request has waited for too long, and what it is expected to cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overdue {
    pub now: Time,
    pub cost_us: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Lanes {
    /// Until when the first and the second worker of the long lane are kept.
    kept_until: [Option<Time>; LONG_WORKERS_MAX as usize],
    /// Short requests that hold a worker or wait for one, on average.
    need: f64,
    /// Workers of the short lane that long requests hold, on average.
    taken: f64,
    /// How many both are, and since when that is averaged.
    short_now: f64,
    long_now: u32,
    averaged: Time,
    /// When a long request was given to a worker last.
    long_given: Time,
}

/// What a step has left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation {
    /// Lanes are wanted: there are short and long requests.
    pub is_mixed: bool,
    pub short_waiting: usize,
    pub long_waiting: usize,
    /// The CPU time that the long ones will take, in microseconds, if all cost what the next of them is expected to.
    pub long_waiting_us: u64,
    /// Workers that the short lane is to have.
    pub short_wanted: u32,
}

impl Lanes {
    /// Notes how a step has ended. Returns how many workers the long lane is to have.
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

    /// A long request was given to a worker.
    pub(crate) fn gave_long(&mut self, now: Time) {
        self.long_given = now;
    }

    /// When a worker of the long lane may be let go.
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        self.kept_until.iter().copied().flatten().min()
    }

    /// Workers that short requests need for themselves.
    fn needed(&self) -> f64 {
        (self.need + NEED_MARGIN).ceil()
    }

    fn leaves_no_room(&self) -> bool {
        self.needed() >= 2.0
    }

    /// The seats that a request of this side may have, the best first. Both lanes have workers that take requests.
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
    /// Whether the config leaves room for lanes. In a worker that holds several whatever they do, long and short ones would get
    /// in each other's way whatever its priority.
    fn may_have_lanes(&self) -> bool {
        self.limits.lanes && self.limits.order == Order::Shortest && self.limits.concurrency <= 1
    }

    /// Whether there are long and short requests, to be kept apart.
    pub(crate) fn is_mixed(&self) -> bool {
        self.may_have_lanes() && self.costs.cut_us().is_some()
    }

    /// Whether lanes are in force: both of them have somebody.
    pub(crate) fn has_lanes(&self, offer: &Offer) -> bool {
        self.is_mixed() && offer.short_ready > 0 && offer.long_ready + offer.long_overdue > 0
    }

    /// The worker that such a request of this side may have: the first of its side now, or one that comes behind all.
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

    /// What a request asks of its worker.
    pub(crate) fn ask(&self, need: Need) -> Ask {
        let (part, cost_us) = (self.part_of(need.class), self.costs.expected_us(need.class));
        Ask { part, cost_us, is_passing: self.is_passing(need), is_overdue: false }
    }

    /// Whether a request is no burden to those that wait: it is known to stay for a moment only, or one of them waits for it.
    pub(crate) fn is_passing(&self, need: Need) -> bool {
        let is_brief = || self.predictor.service_us_of(need.class).is_some_and(|us| us <= BRIEF_US);
        need.inner || self.costs.is_known(need.class) && self.pool.late_of(need.class) <= LATE_MAX && is_brief()
    }

    /// The part of a worker that a request of this class takes, in millionths: that in which it computes. All of it where no
    /// worker may hold several, and as long as too little is known.
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

    /// Gives the long lane the workers that it needs now.
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

    /// Where the config leaves no room for lanes any more, nobody wants to pay for their workers, unless they alone serve.
    pub(crate) fn close_long_lane(&mut self) {
        let is_needless = self.lanes.next_deadline().is_some() && !self.may_have_lanes();
        if is_needless && self.pool.keeps_short() {
            self.lanes = Lanes::default();
            self.pool.scale_long(0);
            self.pool.unsettle();
        }
    }
}
