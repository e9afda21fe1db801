//! Who may join the queue, by its length and by how long the wait will be.

use crate::lanes::Offer;
use crate::pool::{Demand, SHORT_PARTS_MAX, WHOLE};
use crate::queue::Waiting;
use crate::{Action, ClassId, Home, Lane, Need, Order, Refusal, RequestId, Scheduler, Time};

/// How many times its own cost a request may wait before it can be overdue: below that, waiting is no hardship.
const AGEING_COSTS: u64 = 4;
/// Time of a worker that requests are taken to need at most, as a multiple of their CPU time: in a worker that others wait in, the rest
/// of their service time is waiting.
const WORK_COSTS: u64 = 2;

/// Requests that wait, and how long a worker will take for them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Backlog {
    requests: usize,
    pub(crate) work_us: u64,
}

impl Scheduler {
    pub(crate) fn arrive(&mut self, now: Time, request: RequestId, need: Need, actions: &mut Vec<Action>) {
        let need = self.with_home(need);
        if self.stopping {
            actions.push(Action::Refuse { request, reason: Refusal::Stopping, retry_after_s: 1 });
            return;
        }
        if self.pool.short_taking() == 0 {
            // One that is being warmed may have to serve.
            self.pool.unsettle();
        }
        let offer = self.offer();
        if self.goes_at_once(need, &offer) || self.passes_all(need, &offer) {
            // The common case: a free worker and nobody in front; `dispatch` gives it away in this very step. It needs no place in
            // the queue, and no forecast turns it away.
            self.enqueue(now, request, need, &offer);
            return;
        }
        let wait_ms = self.predict_ms(need, &offer);
        let deadline_ms =
            need.deadline_ms.map(|ms| u64::from(ms).saturating_sub(self.expected_service_us(need.class) / 1000));
        let wait_ms_max = deadline_ms.map_or(self.limits.queue_wait_ms_max, |ms| ms.min(self.limits.queue_wait_ms_max));
        let reason = if self.is_full(need) {
            Refusal::Full
        } else if wait_ms.is_some_and(|wait| wait > wait_ms_max) {
            if self.is_on_trial(need) {
                // Who is never let in is never known. It goes before the others, as one that has waited for too long.
                self.enqueue_overdue(now, request, need, now);
                return;
            }
            Refusal::Predicted
        } else {
            self.enqueue(now, request, need, &offer);
            return;
        };
        self.idle_refusals_total += u64::from(self.has_seat_for(need, &offer));
        actions.push(Action::Refuse { request, reason, retry_after_s: self.retry_after_s(wait_ms) });
    }

    /// Whether a worker has a seat for it that nobody in front can have, because those wait for memory.
    fn passes_all(&self, need: Need, offer: &Offer) -> bool {
        need.home == Home::Any
            && !need.alone
            && self.is_passing(need)
            && self.pool.is_any_full()
            && self.place(self.side(need), need, None, offer).is_some()
    }

    /// Whether such a request could begin now. Where nobody else waits, refusing it is a mistake.
    fn has_seat_for(&self, need: Need, offer: &Offer) -> bool {
        let may_begin = need.home == Home::Any && !need.alone && self.queue.is_empty();
        may_begin && self.place(self.side(need), need, None, offer).is_some()
    }

    fn enqueue(&mut self, now: Time, request: RequestId, need: Need, offer: &Offer) {
        let overdue = if need.inner { now } else { self.overdue_at(now, need, offer) };
        self.enqueue_overdue(now, request, need, overdue);
    }

    fn enqueue_overdue(&mut self, now: Time, request: RequestId, need: Need, overdue: Time) {
        let latest_start = self.latest_start(now, need);
        self.queue.push(request, Waiting { arrived: now, need, overdue, latest_start }, &self.costs);
    }

    /// When a request must have a worker if its deadline is to be met. A free worker gets it all the same, or a class that
    /// is wrongly thought to cost too much would stay so.
    pub(crate) fn latest_start(&self, arrived: Time, need: Need) -> Option<Time> {
        let deadline = arrived.plus_ms(u64::from(need.deadline_ms?));
        Some(Time(deadline.0.saturating_sub(self.expected_service_us(need.class)).max(arrived.0 + 1)))
    }

    /// How long a worker is likely to take for a request of this class, in microseconds: its CPU time, or more where it waits
    /// meanwhile or gets the CPU late.
    #[must_use]
    pub fn expected_service_us(&self, class: ClassId) -> u64 {
        self.costs.expected_us(class).max(self.predictor.service_us_of(class).unwrap_or(0))
    }

    /// Whether it counts as long only because too little is known of its class, and none of it waits that would tell.
    fn is_on_trial(&self, need: Need) -> bool {
        let is_taken_for_long = self.side(need) == Lane::Long && !self.costs.is_known(need.class);
        is_taken_for_long && !self.queue.has_strand(need)
    }

    /// When a request of this class that arrives now has waited for too long: a multiple of what it would have waited in
    /// the order of arrival.
    fn overdue_at(&self, now: Time, need: Need, offer: &Offer) -> Time {
        if self.limits.ageing == 0 || self.limits.order == Order::Fifo {
            return Time(u64::MAX);
        }
        let fifo_us = match need.home {
            Home::At(worker) => self.at_home_us(worker, need),
            Home::Any | Home::New => Some(self.in_order_us(offer)),
        };
        let fifo_us = fifo_us.unwrap_or(0);
        let floor_us = self.costs.expected_us(need.class).saturating_mul(AGEING_COSTS);
        Time(now.0.saturating_add(fifo_us.saturating_mul(u64::from(self.limits.ageing))).saturating_add(floor_us))
    }

    /// The work of all that wait, shared by all that serve.
    fn in_order_us(&self, offer: &Offer) -> u64 {
        let work_us = self.queue.before(i8::MIN).map(|((_, class, _), requests)| self.work_of_us(class, requests));
        work_us.sum::<u64>() / u64::from(self.servers(offer).max(1))
    }

    /// What waits on this side before a request of this priority.
    pub(crate) fn before(&self, side: Lane, priority: i8) -> Backlog {
        let mut backlog = Backlog::default();
        for ((_, class, is_any), requests) in self.queue.before(priority) {
            let of_kind = if is_any { self.side_of(class) } else { Lane::Short };
            if of_kind == side {
                backlog.requests += requests;
                backlog.work_us = backlog.work_us.saturating_add(self.work_of_us(class, requests));
            }
        }
        backlog
    }

    /// Mean time that what runs takes of its worker, microseconds: about what a request finds left of it in all workers together.
    fn running_us(&self) -> Option<u64> {
        let works = self.pool.running_classes().map(|class| self.work_us(class));
        let (count, sum_us) = works.fold((0, 0_u64), |(count, sum_us), us| (count + 1, sum_us.saturating_add(us)));
        sum_us.checked_div(count)
    }

    /// Work of so many requests of a class, microseconds.
    pub(crate) fn work_of_us(&self, class: ClassId, requests: usize) -> u64 {
        self.work_us(class).saturating_mul(requests as u64)
    }

    /// Time of a worker that a request of this class takes from the others, microseconds. Where workers share, that is CPU time, and a
    /// class of which little is known is expected to cost what requests cost on average: how long others waited says nothing of it.
    pub(crate) fn work_us(&self, class: ClassId) -> u64 {
        let cost_us = self.costs.expected_us(class);
        let of_class_us = self.predictor.unhindered_us_of(class);
        // A worker that holds one request waits with it, so that a class of which nothing is known is expected to be like the others.
        let of_all_us = || if self.may_share_while_waiting() { None } else { self.predictor.service_us() };
        let Some(service_us) = of_class_us.or_else(of_all_us) else { return cost_us };
        // What is only guessed does not count against what was seen.
        let cost_us = if self.costs.records(class) > 0 { cost_us } else { cost_us.min(service_us) };
        if !self.may_share_while_waiting() {
            return service_us.max(cost_us);
        }
        let part = self.part_of(class);
        let of_part_us =
            if part < WHOLE { service_us.saturating_mul(part.into()) / u64::from(SHORT_PARTS_MAX) } else { service_us };
        // What takes longer now than it is known to wait for has a slow upstream, and not less of the worker's time.
        of_part_us.clamp(cost_us, cost_us.saturating_mul(WORK_COSTS))
    }

    fn may_share_while_waiting(&self) -> bool {
        self.limits.concurrency_max > self.limits.concurrency
    }

    /// Where such a request waits. Sessions are for workers of the short lane.
    pub(crate) fn side(&self, need: Need) -> Lane {
        if need.home == Home::Any { self.side_of(need.class) } else { Lane::Short }
    }

    /// What a request of this class counts as.
    pub(crate) fn side_of(&self, class: ClassId) -> Lane {
        if self.limits.order == Order::Shortest && self.costs.is_long(class) { Lane::Long } else { Lane::Short }
    }

    /// Whether the queue has short and long requests, of which neither may crowd the other out.
    fn has_two_sides(&self) -> bool {
        self.limits.order == Order::Shortest && self.costs.cut_us().is_some()
    }

    /// A quarter of the queue is kept from each side for the other.
    fn is_full(&self, need: Need) -> bool {
        let max = self.limits.queue_length_max;
        if let Home::At(worker) = need.home {
            return self.queue.len() >= max || self.queue.len_at(worker) >= self.share_of_home();
        }
        let side = self.side(need);
        let side_max = if self.has_two_sides() { max - max / 4 } else { max };
        self.queue.len() >= max || self.queue.len_of(side) >= side_max
    }

    /// Far from refusing anybody, and clearly more than chance: a tenth of the queue's length, or a twentieth of its time.
    pub(crate) fn demand(&self, now: Time) -> Demand {
        let Some((_, oldest)) = self.queue.oldest() else { return Demand::None };
        let is_long = self.queue.len() > self.limits.queue_length_max / 10;
        let is_late = now.since_us(oldest) > self.limits.queue_wait_ms_max.saturating_mul(1000) / 20;
        if is_long || is_late { Demand::Pressing } else { Demand::Waiting }
    }

    fn goes_at_once(&self, need: Need, offer: &Offer) -> bool {
        if let Home::At(worker) = need.home {
            return self.queue.len_at(worker) == 0 && self.pool.has_room(worker, &self.ask(need), &self.limits);
        }
        self.side_goes_at_once(self.side(need), need, offer)
    }

    fn side_goes_at_once(&self, side: Lane, need: Need, offer: &Offer) -> bool {
        if self.queue.len_of(side) > 0 {
            return false;
        }
        let is_rushed = self.pool.may_rush_one(self.limits.concurrency);
        if is_rushed && self.is_mixed() && offer.long_ready > 0 {
            // One that is called from its warm-up brings lanes into force, and is kept for short ones then.
            return side == Lane::Short || offer.long_held == 0;
        }
        if is_rushed {
            return true;
        }
        // Without lanes, those of the other side that wait for more of a worker are in front.
        let waits = [Lane::Short, Lane::Long].into_iter().any(|side| self.queue.len_of(side) > 0);
        (!waits || self.has_lanes(offer)) && self.place(side, need, None, offer).is_some()
    }

    /// Slots that serve as long as lanes are not in force, or for one of them: one of each worker where others are for what waits.
    fn servers(&self, offer: &Offer) -> u32 {
        let is_shared = self.may_share_while_waiting();
        match offer.short_ready {
            0 if is_shared => offer.long_ready,
            0 => offer.long_slots,
            ready if is_shared => ready,
            _ => offer.short_slots,
        }
    }

    fn predict_ms(&self, need: Need, offer: &Offer) -> Option<u64> {
        let Home::At(worker) = need.home else { return self.predict_side_ms(self.side(need), need, offer) };
        if self.goes_at_once(need, offer) {
            return Some(0);
        }
        let is_known = self.predictor.knows(Lane::Short) || self.predictor.knows(Lane::Long);
        self.at_home_us(worker, need).filter(|_| is_known).map(|us| us / 1000)
    }

    fn predict_side_ms(&self, side: Lane, need: Need, offer: &Offer) -> Option<u64> {
        let servers = self.servers(offer);
        if servers == 0 {
            return None;
        }
        if self.side_goes_at_once(side, need, offer) {
            return Some(0);
        }
        if !self.predictor.knows(side) {
            return None;
        }
        let Backlog { requests, work_us } = self.before(side, need.priority);
        let work_us = work_us.saturating_add(self.running_us().unwrap_or_else(|| self.work_us(need.class)));
        let us = if self.has_lanes(offer) {
            self.predictor.paced_us(side, requests + 1, work_us, servers)
        } else if side == Lane::Short {
            work_us / u64::from(servers)
        } else {
            work_us.saturating_add(self.before(Lane::Short, need.priority).work_us) / u64::from(servers)
        };
        Some(us / 1000)
    }

    /// What such a request would wait if it arrived now, in milliseconds: what has to go before it, by the pace at which that
    /// goes. `None` while that cannot be known, because no worker is ready or too few requests have been finished, and for
    /// one that is let in to get its class known.
    #[must_use]
    pub fn predicted_wait_ms_of(&self, need: Need) -> Option<u64> {
        let need = self.with_home(need);
        let wait_ms = self.predict_ms(need, &self.offer());
        wait_ms.filter(|_| !self.is_on_trial(need))
    }

    /// The same for a request of any class without a priority: the longer of what short and long ones would wait.
    #[must_use]
    pub fn predicted_wait_ms(&self) -> Option<u64> {
        let offer = self.offer();
        let short = self.predict_side_ms(Lane::Short, Need::default(), &offer);
        if self.has_two_sides() { short.max(self.predict_side_ms(Lane::Long, Need::default(), &offer)) } else { short }
    }

    /// Whether a request that arrived now would go to a worker at once, if it is short.
    #[must_use]
    pub fn has_free_slot(&self) -> bool {
        self.side_goes_at_once(Lane::Short, Need::default(), &self.offer())
    }

    /// Half the predicted wait is a fair time to try again: by then half the queue has gone. 1 s at least, 60 s at most.
    pub(crate) fn retry_after_s(&self, wait_ms: Option<u64>) -> u32 {
        let wait_ms = wait_ms.unwrap_or(self.limits.queue_wait_ms_max);
        u32::try_from((wait_ms / 2000).clamp(1, 60)).unwrap_or(60)
    }
}
