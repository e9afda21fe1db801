//! The worker that the next request of a side gets, what it asks of a worker, and the size of the long lane. It must not know what a lane's
//! size depends on.

use crate::lanes::{Lanes, Offer, Overdue, Situation};
use crate::pool::{Among, Ask, BRIEF_US, SHORT_PARTS_MAX, Seek, WHOLE};
use crate::queue::Head;
use crate::{Action, ClassId, Lane, Need, Order, Scheduler, Time, WorkerId};

/// Number of requests of a class held for longer than `BRIEF_US` above which the class is no longer brief. Its
/// upstream is slow.
const LATE_MAX: u32 = 8;
/// Time from the gateway to a worker and back, which is no wait of the app, microseconds.
const ROUND_TRIP_US: u64 = 1_000;
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
