//! Requests that are handed to a worker ahead of time: while it still has another, so that it need not wait for the gateway
//! between the two. Only what is known to be cheap goes to a worker that has only what is cheap, and no request waits for
//! it longer than it would have in the queue: as soon as another worker could have the request, or the worker turns out to
//! be slower than expected, it is taken back. `docs/decisions/0045-handed-ahead.md` says how that is certain.

use crate::queue::Head;
use crate::{Action, ClassId, Lane, RequestId, Scheduler, Time, WorkerId};

/// CPU time, at the 99th percentile, and mean service time up to which a class is cheap, in microseconds.
pub(crate) const CHEAP_US: u64 = 2_000;
/// How long a request may wait for the worker that it was handed to while another is free. Clocks are coarse, by a millisecond.
pub(crate) const LATE_US: u64 = 1_000;

impl Scheduler {
    /// Mean service time of this class, if its requests are known to keep a worker for a moment only.
    pub(crate) fn cheap_us(&self, class: ClassId) -> Option<u64> {
        self.costs.high_us(class).filter(|us| *us <= CHEAP_US)?;
        self.predictor.service_us_of(class).filter(|us| *us <= CHEAP_US)
    }

    fn is_cheap(&self, class: ClassId) -> bool {
        self.cheap_us(class).is_some()
    }

    /// Hands the next ones of the queue to workers that are about to be free, as long as all is cheap and no more than
    /// [`CHEAP_US`] stands before any of them.
    pub(crate) fn hand_ahead(&mut self, now: Time, actions: &mut Vec<Action>) {
        while let Some((head, side, worker)) = self.next_ahead(now) {
            let request = head.request;
            if !self.give(now, request, side, worker, Some(now)) {
                break;
            }
            actions.push(Action::Hand { request, worker });
        }
    }

    fn next_ahead(&self, now: Time) -> Option<(Head, Lane, WorkerId)> {
        // A worker may be free and kept, for one that yields to what is being taken back.
        if self.limits.ahead_max == 0 || self.queue.is_empty() || self.offer().short_free > 0 {
            return None;
        }
        let head = |side| self.queue.head(side, now).map(|head| (head, side));
        let (head, side) = [head(Lane::Short), head(Lane::Long)].into_iter().flatten().min()?;
        if !head.need.ahead || head.need.alone || !self.is_cheap(head.need.class) {
            return None;
        }
        // Who waits for that worker alone is not passed.
        let is_awaited = |worker| self.queue.len_at(worker) > 0;
        self.pool.worker_ahead(now, &self.limits, is_awaited).map(|worker| (head, side, worker))
    }

    /// Whether the worker of the short lane that this request is to get is first for one that was handed to another and has
    /// not begun: in the queue that would stand before it. It is taken back, and the worker waits for the answer to that.
    pub(crate) fn yields_to_handed(&mut self, request: RequestId, worker: WorkerId, actions: &mut Vec<Action>) -> bool {
        if !self.pool.has_handed() || !self.pool.is_short(worker) {
            return false;
        }
        let Some(need) = self.queue.need(request).filter(|need| !self.is_cheap(need.class)) else { return false };
        self.pool.ask_back_for(need.priority, actions);
        self.pool.is_asked_back()
    }

    /// Takes back what would not be begun for too long where it is.
    pub(crate) fn take_back_handed(&mut self, now: Time, actions: &mut Vec<Action>) {
        if self.pool.has_handed() {
            let is_free = self.offer().short_free > 0;
            self.pool.ask_back_late(now, is_free, actions);
        }
    }

    /// When [`Event::Tick`](crate::Event::Tick) is due, much sooner than anything else is, for a request that was handed to a
    /// worker while another is free.
    #[must_use]
    pub fn take_back_due(&self) -> Option<Time> {
        if !self.pool.has_handed() || self.offer().short_free == 0 {
            return None;
        }
        self.pool.first_late()
    }

    /// Requests that workers were handed and have not begun.
    #[must_use]
    pub fn handed(&self) -> usize {
        self.pool.handed()
    }
}
