//! Admission to the queue, by the queue's length and by the predicted wait.

use crate::lanes::Offer;
use crate::pool::{Demand, SHORT_PARTS_MAX, WHOLE};
use crate::queue::Waiting;
use crate::{Action, ClassId, Home, Lane, Need, Order, Refusal, RequestId, Scheduler, Time};

/// Multiple of its own cost that a request may wait before it can be overdue: a shorter wait is no hardship.
const AGEING_COSTS: u64 = 4;
/// Upper bound of the worker time of a request, as a multiple of its CPU time. In a worker where other requests wait,
/// the rest of the service time is waiting.
const WORK_COSTS: u64 = 2;

/// Requests that wait, and the worker time that they will take, in microseconds.
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
        let reason = if self.is_full(need) {
            Refusal::Full
        } else if wait_ms.is_some_and(|wait| wait > self.wait_ms_max(need)) {
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

    /// Longest predicted wait with which the request is admitted, milliseconds.
    pub(crate) fn wait_ms_max(&self, need: Need) -> u64 {
        let longest_ms = self.limits.queue_wait_ms_max;
        let service_ms = self.expected_service_us(need.class) / 1000;
        need.deadline_ms.map_or(longest_ms, |ms| u64::from(ms).saturating_sub(service_ms).min(longest_ms))
    }

    /// Whether a worker has a seat for the request that no request ahead of it can use, because all of those wait for
    /// memory.
    fn passes_all(&self, need: Need, offer: &Offer) -> bool {
        need.home == Home::Any
            && !need.is_alone()
            && self.is_passing(need)
            && self.pool.is_any_full()
            && self.place(self.side(need), need, None, offer).is_some()
    }

    /// Whether the request could start now. Refusing it is a mistake if no other request waits.
    fn has_seat_for(&self, need: Need, offer: &Offer) -> bool {
        let may_begin = need.home == Home::Any && !need.is_alone() && self.queue.is_empty();
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

    /// Latest time at which a request must get a worker to meet its deadline. A free worker takes it even later;
    /// otherwise, a class whose cost is overestimated would stay so.
    pub(crate) fn latest_start(&self, arrived: Time, need: Need) -> Option<Time> {
        let deadline = arrived.plus_ms(u64::from(need.deadline_ms?));
        Some(Time(deadline.0.saturating_sub(self.expected_service_us(need.class)).max(arrived.0 + 1)))
    }

    /// Expected service time of a request of this class, in microseconds: its CPU time, or more if it waits for I/O or
    /// gets the CPU late.
    pub fn expected_service_us(&self, class: ClassId) -> u64 {
        self.costs.expected_us(class).max(self.predictor.service_us_of(class).unwrap_or(0))
    }

    /// Whether the request counts as long only because little is known of its class, and no other request of the class
    /// waits that would provide a report.
    fn is_on_trial(&self, need: Need) -> bool {
        let is_taken_for_long = self.side(need) == Lane::Long && !self.costs.is_known(need.class);
        is_taken_for_long && !self.queue.has_strand(need)
    }

    /// Time at which a request of this class that arrives now becomes overdue: after a multiple of its wait in the
    /// order of arrival.
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

    /// Work of all waiting requests, divided by the slots that serve, in microseconds.
    fn in_order_us(&self, offer: &Offer) -> u64 {
        let work_us = self.queue.before(i8::MIN).map(|((_, class, _), requests)| self.work_of_us(class, requests));
        work_us.sum::<u64>() / u64::from(self.servers(offer).max(1))
    }

    /// Backlog of this side that goes before a request of this priority.
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

    /// Mean work of the running requests, microseconds: about the remaining work that a new request finds in all
    /// workers together.
    fn running_us(&self) -> Option<u64> {
        let works = self.pool.running_classes().map(|class| self.work_us(class));
        let (count, sum_us) = works.fold((0, 0_u64), |(count, sum_us), us| (count + 1, sum_us.saturating_add(us)));
        sum_us.checked_div(count)
    }

    /// Work of so many requests of a class, microseconds.
    pub(crate) fn work_of_us(&self, class: ClassId, requests: usize) -> u64 {
        self.work_us(class).saturating_mul(requests as u64)
    }

    /// Worker time that a request of this class takes from other requests, microseconds. Where workers share, this is
    /// CPU time. A class with few reports then has the average cost of all requests, because how long others waited
    /// says nothing of it.
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

    /// Side of the queue on which the request waits. Requests with a session are on the short side.
    pub(crate) fn side(&self, need: Need) -> Lane {
        if need.home == Home::Any { self.side_of(need.class) } else { Lane::Short }
    }

    /// Side that requests of this class belong to.
    pub(crate) fn side_of(&self, class: ClassId) -> Lane {
        if self.limits.order == Order::Shortest && self.costs.is_long(class) { Lane::Long } else { Lane::Short }
    }

    /// Whether the queue has short and long requests, of which neither may crowd the other out.
    fn has_two_sides(&self) -> bool {
        self.limits.order == Order::Shortest && self.costs.cut_us().is_some()
    }

    /// Whether the queue has no room for the request. Each side leaves a quarter of the queue to the other.
    pub(crate) fn is_full(&self, need: Need) -> bool {
        let max = self.limits.queue_length_max;
        if let Home::At(worker) = need.home {
            return self.queue.len() >= max || self.queue.len_at(worker) >= self.share_of_home();
        }
        let side = self.side(need);
        let side_max = if self.has_two_sides() { max - max / 4 } else { max };
        self.queue.len() >= max || self.queue.len_of(side) >= side_max
    }

    /// Pressure on the pool. It is pressing from a tenth of the queue's length or a twentieth of its longest wait: far
    /// below refusals, but clearly more than chance.
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

    /// Slots that serve: all while lanes are not in force, else those of one lane. Only one per worker counts where the
    /// other slots are for requests that wait for I/O.
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

    /// Predicted wait of such a request if it arrived now, in milliseconds: the backlog before it, at the present pace.
    ///
    /// `None` while no worker is ready, too few requests have finished, or the request is admitted to measure its
    /// class.
    pub fn predicted_wait_ms_of(&self, need: Need) -> Option<u64> {
        let need = self.with_home(need);
        let wait_ms = self.predict_ms(need, &self.offer());
        wait_ms.filter(|_| !self.is_on_trial(need))
    }

    /// Predicted wait of a request of any class without a priority, in milliseconds: the longer one of the two sides.
    pub fn predicted_wait_ms(&self) -> Option<u64> {
        let offer = self.offer();
        let short = self.predict_side_ms(Lane::Short, Need::default(), &offer);
        if self.has_two_sides() { short.max(self.predict_side_ms(Lane::Long, Need::default(), &offer)) } else { short }
    }

    /// Whether a short request that arrived now would go to a worker at once.
    pub fn has_free_slot(&self) -> bool {
        self.side_goes_at_once(Lane::Short, Need::default(), &self.offer())
    }

    /// Time after which a refused client should retry, in seconds: half the predicted wait, when half the queue has
    /// gone. From 1 to 60.
    pub(crate) fn retry_after_s(&self, wait_ms: Option<u64>) -> u32 {
        let wait_ms = wait_ms.unwrap_or(self.limits.queue_wait_ms_max);
        u32::try_from((wait_ms / 2000).clamp(1, 60)).unwrap_or(60)
    }
}
