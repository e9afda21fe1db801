//! What is learned of costs meets the queue: those that wait go by what is known of their class now.

use crate::queue::Rating;
use crate::{ClassId, Costs, SavedCosts, Scheduler, Time};

impl Scheduler {
    /// Returns whether anything counts as something else now.
    pub(crate) fn measure(&mut self, now: Time, class: ClassId, cost_us: u64) -> bool {
        let before = (self.costs.cut_us(), Rating::of(class, &self.costs));
        self.costs.record(now, class, cost_us);
        let after = (self.costs.cut_us(), Rating::of(class, &self.costs));
        if after.0 != before.0 {
            self.queue.rate_all_again(&self.costs);
        } else if after.1 != before.1 {
            self.queue.rate_again(class, &self.costs);
        } else {
            return false;
        }
        self.note_emptied();
        true
    }

    /// What each class costs.
    #[must_use]
    pub fn costs(&self) -> &Costs {
        &self.costs
    }

    /// The number belongs to another class from now on, or to other requests of it. Those that wait go by what is known now.
    pub fn forget_class(&mut self, class: ClassId) {
        self.costs.forget(class);
        self.predictor.forget(class);
        self.queue.rate_again(class, &self.costs);
        self.note_emptied();
    }

    /// A report of the class stands for further requests; see [`Costs::repeat`].
    pub fn repeat_cost(&mut self, class: ClassId, cost_us: u64, times: u32) {
        self.costs.repeat(class, cost_us, times);
    }

    /// A request of the class took long without a report that teaches; see [`Costs::doubt`].
    pub fn doubt_class(&mut self, class: ClassId) {
        self.costs.doubt(class);
    }

    /// The class goes on from what was learned of it elsewhere; see [`Costs::restore`].
    pub fn restore_class(&mut self, class: ClassId, saved: &SavedCosts) {
        self.costs.restore(class, saved);
        self.queue.rate_again(class, &self.costs);
        self.note_emptied();
    }

    /// What each class costs, to be changed while nobody waits: those that do are not put in another order by it.
    pub fn costs_mut(&mut self) -> &mut Costs {
        &mut self.costs
    }
}
