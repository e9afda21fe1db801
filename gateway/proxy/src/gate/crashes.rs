//! Workers that end unexpectedly, as an operator sees them, and the CPU time that they took with them.
//!
//! What a worker used for requests that it never reported is those requests' all the same: a class whose requests end workers
//! would otherwise stand among those that cost nothing.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::rc::Rc;
use std::time::Duration;

use sluice_catalog::snapshot::CrashSnapshot;
use sluice_scheduler::WorkerId;
use sluice_supervisor::{Crash, Held};
use tokio::time::Instant;

use super::tails::now_unix_ms;
use super::{Cause, Gate};
use crate::upstream::InFlight;

/// Crashes that are remembered.
const CRASHES_MAX: usize = 5;

/// What is known of crashes.
#[derive(Debug, Default)]
pub(super) struct Crashes {
    latest: VecDeque<CrashSnapshot>,
    total: u64,
    /// What is told of the latest, where there was one since the latest look for alarms.
    pub(super) unjudged: Option<String>,
}

impl Gate {
    /// What the worker holds, as others may be told of it.
    pub(super) fn held_by(&self, worker: WorkerId) -> Vec<Held> {
        let mut begun: Vec<_> = self.begun_by(worker).into_iter().filter(|exchange| !exchange.is_own).collect();
        begun.sort_by_key(|exchange| exchange.started.get());
        let told = begun.iter().map(|exchange| {
            let shown = exchange.describe();
            Held {
                request: exchange.request,
                request_id: shown.id,
                method: shown.method,
                path: shown.path,
                class: Rc::clone(&exchange.class.name),
            }
        });
        told.collect()
    }

    pub(super) fn note_crash(&self, worker: WorkerId, crash: &Crash<'_>) {
        let Crash { status, exception, held, request } = *crash;
        let mut crashes = self.crashes.borrow_mut();
        crashes.total += 1;
        crashes.unjudged = Some(text(worker, crash, crashes.total));
        crashes.latest.push_front(CrashSnapshot {
            at_unix_ms: now_unix_ms(),
            worker: worker.0,
            status: status.to_owned(),
            exception: exception.map(str::to_owned),
            held: held as u64,
            request: request.map(|held| held.request_id.clone()),
            method: request.map(|held| held.method.clone()),
            path: request.map(|held| held.path.clone()),
            class: request.map(|held| held.class.to_string()),
        });
        crashes.latest.truncate(CRASHES_MAX);
    }

    /// The latest crashes, the latest first.
    pub fn crashes(&self) -> Vec<CrashSnapshot> {
        self.crashes.borrow().latest.iter().cloned().collect()
    }

    /// Charges what the worker has used and told of no request to those that it holds: to the one in which it got stuck, else
    /// to each alike. No request has used more than the time for which the worker had it.
    pub(super) fn charge_untold(&self, worker: WorkerId, cpu: Duration) {
        let begun = self.begun_by(worker);
        let is_at_work = |exchange: &Rc<InFlight>| !exchange.is_own && !exchange.account.is_finished();
        let mut charged: Vec<_> =
            begun.iter().filter(|exchange| is_at_work(exchange) && !exchange.is_taken.get()).collect();
        if charged.is_empty() {
            charged = begun.iter().filter(|exchange| is_at_work(exchange)).collect();
        }
        let is_stuck = self.slots_of(worker).is_some_and(|slots| slots.cause() == Cause::Stuck);
        // One that was alone has used this beyond doubt, as one that ends in the end has: its class is as long as that.
        let is_certain = is_stuck && begun.len() == 1;
        if is_stuck {
            charged.sort_by_key(|exchange| std::cmp::Reverse(exchange.started.get()));
            charged.truncate(1);
        }
        let Ok(count) = u32::try_from(charged.len()) else { return };
        if count == 0 || cpu.is_zero() {
            return;
        }
        let now = Instant::now();
        for exchange in charged {
            let had = now.saturating_duration_since(exchange.started.get());
            let cpu_us = u64::try_from((cpu / count).min(had).as_micros()).unwrap_or(u64::MAX);
            exchange.answer.untold_cpu_us.update(|us| us.saturating_add(cpu_us));
            // Its client may have gone before, and then its line waits for a report that cannot come.
            exchange.account.write(self, Some(cpu_us), 1);
            if is_certain {
                self.take_cost(&exchange.class, cpu_us);
            } else {
                self.classes.estimated(&exchange.class, cpu_us);
            }
        }
    }
}

fn text(worker: WorkerId, crash: &Crash<'_>, total: u64) -> String {
    let mut text = format!("worker {} ended unexpectedly ({})", worker.0, crash.status);
    // Writing to a String cannot fail.
    if let Some(exception) = crash.exception {
        let _ = write!(text, ": {exception}");
    }
    let _ = match crash.request {
        Some(held) => {
            write!(text, "; with request {}, {} {} of class {}", held.request_id, held.method, held.path, held.class)
        }
        None if crash.held > 1 => write!(text, "; with one of the {} requests that it held", crash.held),
        None => Ok(()),
    };
    let _ = write!(
        text,
        ". `sluice logs --kind app --worker {}` shows its last words. Unexpected ends so far: {total}",
        worker.0
    );
    text
}
