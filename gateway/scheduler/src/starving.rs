//! Whether a class starves: its requests wait while what the workers give goes to others that came later.
//!
//! That everybody waits is no starvation, however long. So nothing is judged by what was predicted when a request came,
//! which knows neither what comes after it nor that a worker dies, but by what was given away since: in the order of
//! arrival, nothing of that goes to those that came later. It decides nothing about any request.

use std::collections::BTreeMap;

use crate::queue::Waiting;
use crate::{ClassId, RequestId, Scheduler, Time};

/// Waits under that are no starvation: of tiny waits any multiple is tiny.
const WAITED_US_MIN: u64 = 1_000_000;
/// What was given away still weighs a look later: about the last ten looks count.
const WEIGHT: f64 = 0.9;
/// What is noted between two looks. If there is more, a part of the time speaks for all of it.
const GIVEN_MAX: usize = 4_096;

/// A class that starves, or is close to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Starving {
    /// Which.
    pub class: ClassId,
    /// For how long one of its requests has waited too long without any that went in its turn; 0 if it is only close to
    /// that.
    pub for_ms: u64,
    /// How long its oldest request has waited.
    pub waited_ms: u64,
    /// When that would have been answered in the order of arrival.
    pub in_order_ms: u64,
}

/// A request that a worker was given.
#[derive(Clone, Copy, Debug)]
struct Given {
    request: RequestId,
    class: ClassId,
    cost_us: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// What was given to workers while it waited, decaying, and how much of it to others that came later.
    all_us: f64,
    later_us: f64,
    starving_us: u64,
}

/// What is known from one look to the next. Bounded by the number of classes.
#[derive(Debug, Default)]
pub(crate) struct Starvation {
    given: Vec<Given>,
    rows: BTreeMap<ClassId, Row>,
    looked: Time,
}

impl Scheduler {
    /// A request goes to a worker; those that still wait are in the queue.
    pub(crate) fn note_given(&mut self, now: Time, request: RequestId, waiting: &Waiting) {
        let class = waiting.need.class;
        if now.since_us(waiting.arrived) < WAITED_US_MIN && !self.starvation.rows.is_empty() {
            self.starvation.rows.remove(&class);
        }
        let is_missed = self.queue.oldest().is_some_and(|(_, arrived)| now.since_us(arrived) >= WAITED_US_MIN);
        if is_missed && self.starvation.given.len() < GIVEN_MAX {
            let cost_us = self.costs.expected_us(class);
            self.starvation.given.push(Given { request, class, cost_us });
        }
    }

    /// The classes of which a request has waited at least half of `factor` times as long as it would have taken to be
    /// answered in the order of arrival. To be called about once a second.
    pub fn look_for_starving(&mut self, now: Time, factor: u64) -> Vec<Starving> {
        let given = std::mem::take(&mut self.starvation.given);
        let since_us = now.since_us(std::mem::replace(&mut self.starvation.looked, now));
        // Who serves nobody favours nobody.
        let passed_us = if self.pool.in_service() > 0 { since_us } else { 0 };
        let mut old = self.queue.oldest_by_class();
        old.retain(|_, (_, arrived)| factor > 0 && now.since_us(*arrived) >= WAITED_US_MIN);
        let mut rows = std::mem::take(&mut self.starvation.rows);
        rows.retain(|class, row| {
            // What was given to others while an earlier one waited says nothing of the next.
            if !old.contains_key(class) {
                (row.all_us, row.later_us) = (0.0, 0.0);
            }
            row.starving_us > 0 || old.contains_key(class)
        });
        let mut starving = Vec::new();
        for (class, (request, arrived)) in old {
            let row = rows.entry(class).or_default();
            row.take(&given, class, request);
            let waited_us = now.since_us(arrived);
            let in_order_us = self.in_order_us_of(class, request, waited_us, row);
            let limit_us = in_order_us.saturating_mul(factor);
            row.starving_us = if waited_us >= limit_us { row.starving_us + passed_us } else { 0 };
            if waited_us >= limit_us / 2 {
                let for_ms = row.starving_us / 1000;
                starving.push(Starving { class, for_ms, waited_ms: waited_us / 1000, in_order_ms: in_order_us / 1000 });
            }
        }
        self.starvation.rows = rows;
        starving
    }

    /// When the oldest request of a class would have been answered in the order of arrival: after what was given to those
    /// before it, what these still ask for, and its own work.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Far below 2^53 µs.
    fn in_order_us_of(&self, class: ClassId, request: RequestId, waited_us: u64, row: &Row) -> u64 {
        let own = if row.all_us > 0.0 { 1.0 - row.later_us / row.all_us } else { 1.0 };
        let in_front_us: u64 = self
            .queue
            .waiting_before(request)
            .map(|(class, requests)| (requests as u64).saturating_mul(self.holds_us(class)))
            .sum();
        let slots = Self::slots(&self.offer()).max(1);
        (waited_us as f64 * own) as u64 + in_front_us / u64::from(slots) + self.holds_us(class)
    }

    /// How long a request of this class would be expected to hold its worker. With lanes, service times say less than costs:
    /// the long ones are what short ones have left them, which is what is to be judged.
    fn holds_us(&self, class: ClassId) -> u64 {
        let service_us = self.predictor.service_us(self.side_of(class)).filter(|_| !self.is_mixed());
        service_us.unwrap_or(0).max(self.costs.expected_us(class))
    }
}

impl Row {
    #[allow(clippy::cast_precision_loss)] // Costs are far below 2^53 µs.
    fn take(&mut self, given: &[Given], class: ClassId, oldest: RequestId) {
        let is_later = |given: &&Given| given.request > oldest && given.class != class;
        let all_us: u64 = given.iter().map(|given| given.cost_us).sum();
        let later_us: u64 = given.iter().filter(is_later).map(|given| given.cost_us).sum();
        self.all_us = self.all_us * WEIGHT + all_us as f64;
        self.later_us = self.later_us * WEIGHT + later_us as f64;
    }
}
