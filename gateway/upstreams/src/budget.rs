//! Budget of retries: a fifth of the requests, and a few for quiet times: 10 at the start, and one every 10 s while fewer are left. What
//! requests have earned is saved up to 20 retries, so that an outage makes little more than a fifth of additional requests. Pure.

/// Parts of a retry that a request earns.
const EARNED: u32 = 20;
/// Parts that a retry costs.
const COST: u32 = 100;
/// Maximum number of saved parts. 20 retries.
const SAVED_MAX: u32 = 20 * COST;
/// Parts at the start, and those up to which time fills: 10 retries.
const RESERVE: u32 = 10 * COST;
/// Parts that a second adds below the reserve: a retry every 10 s.
const FILLED: u32 = COST / 10;

/// Balance of the budget.
#[derive(Debug)]
pub(crate) struct Budget {
    saved: u32,
    filled_s: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { saved: RESERVE, filled_s: 0 }
    }
}

impl Budget {
    /// Counts a request.
    pub(crate) fn earn(&mut self) {
        self.saved = (self.saved + EARNED).min(SAVED_MAX);
    }

    /// Takes a retry, if the budget has one. Below the reserve, time adds some.
    pub(crate) fn take(&mut self, now_s: u64) -> bool {
        let seconds = u32::try_from(now_s.saturating_sub(self.filled_s)).unwrap_or(u32::MAX);
        self.filled_s = now_s.max(self.filled_s);
        if self.saved < RESERVE {
            self.saved = self.saved.saturating_add(seconds.saturating_mul(FILLED)).min(RESERVE);
        }
        let has_one = self.saved >= COST;
        if has_one {
            self.saved -= COST;
        }
        has_one
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quiet_times_leave_ten_retries_and_one_more_every_ten_seconds() {
        let mut budget = Budget::default();
        assert_eq!((0..20).filter(|_| budget.take(0)).count(), 10);
        assert!(!budget.take(9) && budget.take(10) && !budget.take(10));
        assert_eq!((0..20).filter(|_| budget.take(1_000)).count(), 10);
    }

    #[test]
    fn busy_times_save_twenty_retries() {
        let mut budget = Budget::default();
        for _ in 0..1_000 {
            budget.earn();
        }
        assert_eq!((0..50).filter(|_| budget.take(0)).count(), 20);
    }

    proptest! {
        #[test]
        fn retries_are_a_fifth_of_the_requests_at_most(wants in proptest::collection::vec(any::<bool>(), 0..5_000)) {
            let mut budget = Budget::default();
            let (mut requests, mut retries) = (0, 0);
            for wants in wants {
                budget.earn();
                requests += 1;
                if wants && budget.take(0) {
                    retries += 1;
                }
            }
            prop_assert!(retries <= requests / 5 + 10);
        }
    }
}
