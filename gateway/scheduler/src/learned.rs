//! Updates of learned costs, and their effect on the queue: waiting requests are ordered by the present costs of their
//! class.

use crate::queue::Rating;
use crate::{ClassId, Costs, SavedCosts, Scheduler, Time};

impl Scheduler {
    /// Records a measured cost. Returns whether the rating of any class has changed.
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

    /// Learned costs of each class.
    pub fn costs(&self) -> &Costs {
        &self.costs
    }

    /// Forgets a class, whose number belongs to another class or to other requests from now on. Waiting requests are
    /// rated again.
    pub fn forget_class(&mut self, class: ClassId) {
        self.costs.forget(class);
        self.predictor.forget(class);
        self.queue.rate_again(class, &self.costs);
        self.note_emptied();
    }

    /// Counts a report of the class for `times` further requests; see [`Costs::repeat`].
    pub fn repeat_cost(&mut self, class: ClassId, cost_us: u64, times: u32) {
        self.costs.repeat(class, cost_us, times);
    }

    /// Marks a class of which a request took long without a usable report; see [`Costs::doubt`].
    pub fn doubt_class(&mut self, class: ClassId) {
        self.costs.doubt(class);
    }

    /// Restores the learned costs of a class; see [`Costs::restore`].
    pub fn restore_class(&mut self, class: ClassId, saved: &SavedCosts) {
        self.costs.restore(class, saved);
        self.queue.rate_again(class, &self.costs);
        self.note_emptied();
    }

    /// Learned costs of each class, for changes while no request waits: waiting requests are not reordered.
    pub fn costs_mut(&mut self) -> &mut Costs {
        &mut self.costs
    }
}
