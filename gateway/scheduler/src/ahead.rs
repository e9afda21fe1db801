//! Requests that are handed ahead: a worker gets them while it still has another, so that it starts them without a gap.
//!
//! Only cheap requests are handed ahead, and only to workers that hold only cheap ones. A handed request never waits
//! longer than it would in the queue. The scheduler takes it back as soon as another worker could have it, or if its
//! worker is slower than expected. `docs/decisions/0045-handed-ahead.md` gives the proof.

use crate::queue::Head;
use crate::{Action, ClassId, Lane, RequestId, Scheduler, Time, WorkerId};

/// Longest wait of a handed request while another worker is free, microseconds. Clocks are coarse, by a millisecond.
pub(crate) const LATE_US: u64 = 1_000;

impl Scheduler {
    /// Mean service time of this class, microseconds. `None` unless its requests are known to be cheap.
    pub(crate) fn cheap_us(&self, class: ClassId) -> Option<u64> {
        self.costs.high_us(class).filter(|us| *us <= self.limits.cheap_us)?;
        self.predictor.service_us_of(class).filter(|us| *us <= self.limits.cheap_us)
    }

    fn is_cheap(&self, class: ClassId) -> bool {
        self.cheap_us(class).is_some()
    }

    /// Hands the first requests of the queue to workers that are about to be free. All of them must be cheap, with at
    /// most `cheap_us` of work before each.
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
        if !head.need.ahead || head.need.is_alone() || !self.is_cheap(head.need.class) {
            return None;
        }
        // Who waits for that worker alone is not passed.
        let is_awaited = |worker| self.queue.len_at(worker) > 0;
        self.pool.worker_ahead(now, &self.limits, is_awaited).map(|worker| (head, side, worker))
    }

    /// Whether the request must let a handed one go first that has not begun, because the queue would have put that one
    /// before it. The scheduler then takes the handed one back, and the worker in the short lane waits for the answer.
    pub(crate) fn yields_to_handed(&mut self, request: RequestId, worker: WorkerId, actions: &mut Vec<Action>) -> bool {
        if !self.pool.has_handed() || !self.pool.is_short(worker) {
            return false;
        }
        let Some(need) = self.queue.need(request).filter(|need| !self.is_cheap(need.class)) else { return false };
        self.pool.ask_back_for(need.priority, actions);
        self.pool.is_asked_back()
    }

    /// Takes back handed requests that would begin too late where they are.
    pub(crate) fn take_back_handed(&mut self, now: Time, actions: &mut Vec<Action>) {
        if self.pool.has_handed() {
            let is_free = self.offer().short_free > 0;
            self.pool.ask_back_late(now, is_free, actions);
        }
    }

    /// Time at which [`Event::Tick`](crate::Event::Tick) is due for a request that was handed to a worker while another
    /// is free. It comes much sooner than any other deadline.
    pub fn take_back_due(&self) -> Option<Time> {
        if !self.pool.has_handed() || self.offer().short_free == 0 {
            return None;
        }
        self.pool.first_late()
    }

    /// Requests that workers were handed and have not begun.
    pub fn handed(&self) -> usize {
        self.pool.handed()
    }
}
