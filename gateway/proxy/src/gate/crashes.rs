//! CPU time that a worker did not report for the requests that it held when it ended.
//!
//! CPU time that a worker used for requests and never reported counts as theirs: a class whose requests end workers would otherwise appear
//! to cost nothing.

use std::rc::Rc;
use std::time::Duration;

use sluice_dispatch::Cause;
use sluice_scheduler::WorkerId;
use tokio::time::Instant;

use super::costs::Costs;
use crate::upstream::WorkerRequest;

impl Costs {
    /// Charges CPU time that the worker has not reported to the requests that it holds: to the one in which it got stuck, else to each
    /// alike. No request is charged more than the time for which the worker had it.
    pub(super) fn charge_untold(&self, worker: WorkerId, cpu: Duration) {
        let begun = self.dispatch.slots.begun_by(worker);
        let is_at_work = |exchange: &Rc<WorkerRequest>| !exchange.is_own && !exchange.account.is_finished();
        let mut charged: Vec<_> =
            begun.iter().filter(|exchange| is_at_work(exchange) && !exchange.is_taken()).collect();
        if charged.is_empty() {
            charged = begun.iter().filter(|exchange| is_at_work(exchange)).collect();
        }
        let is_stuck = self.dispatch.slots.of(worker).is_some_and(|slots| slots.cause() == Cause::Stuck);
        // One that was alone has used this beyond doubt, as one that ends in the end has: its class is as long as that.
        let is_certain = is_stuck && begun.len() == 1;
        if is_stuck {
            charged.sort_by_key(|exchange| std::cmp::Reverse(exchange.times.started.get()));
            charged.truncate(1);
        }
        let Ok(count) = u32::try_from(charged.len()) else { return };
        if count == 0 || cpu.is_zero() {
            return;
        }
        let now = Instant::now();
        for exchange in charged {
            let had = now.saturating_duration_since(exchange.times.started.get());
            let cpu_us = u64::try_from((cpu / count).min(had).as_micros()).unwrap_or(u64::MAX);
            exchange.answer.facts.untold_cpu_us.update(|us| us.saturating_add(cpu_us));
            // Its client may have gone before, and then its record waits for a report that cannot come.
            exchange.account.give_untold(&self.observer, cpu_us);
            if is_certain {
                self.take_cost(&exchange.class, cpu_us);
            } else {
                self.classes.estimated(&exchange.class, cpu_us);
            }
        }
    }
}
