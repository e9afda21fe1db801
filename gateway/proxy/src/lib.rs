//! The road's end: the queue, the slots of workers, exchanges with them, and the records of what they did.
//!
//! [`gate`] has the state and carries out what `sluice_scheduler` decides. `ask` submits a request and waits for its answer. `upstream` speaks
//! with workers as `sluice_dispatch` decides. `quarantine` and `ladder` judge requests, and `record` reports on them to `sluice_observe`.
//! None of it may know how a client is read, nor which other source could answer.

#![forbid(unsafe_code)]

mod ask;
pub mod gate;
mod ladder;
mod quarantine;
mod record;
#[cfg(test)]
mod tests;
mod upstream;
mod warm_up;

use std::rc::Rc;

use sluice_catalog::config::{Config, Mode};
use sluice_observe::Observer;
use sluice_scheduler::{Limits, Order, Scheduler};

use gate::Gate;
pub use sluice_road::ActiveConfig;
use sluice_road::Road;
pub use sluice_road::Unusable;
pub use sluice_road::cache::{SuccessorPurger, hear_other_gateways};
use sluice_wire::ids::to_usize;

/// Makes the gate from the config.
///
/// # Errors
/// Fails if a value is well formed but means nothing, or names a directory that does not exist, and names the value.
pub fn gate(active: ActiveConfig, observer: Rc<Observer>) -> Result<Rc<Gate>, Unusable> {
    let scheduler = Scheduler::new(limits(active.config()));
    let traces = active.traces.clone();
    let gate = Gate::new(Road::new(active, observer)?, scheduler);
    gate.road.observer.traces.apply(traces);
    Ok(gate)
}

fn limits(config: &Config) -> Limits {
    Limits {
        queue_length_max: to_usize(config.queue.length_max),
        queue_wait_ms_max: config.queue.wait_ms_max,
        concurrency: config.workers.held_always(),
        concurrency_max: config.workers.held_max(),
        ahead_max: upstream::AHEAD_MAX,
        cheap_us: config.bounds.cheap_us,
        order: match config.queue.order {
            sluice_catalog::config::Order::Fifo => Order::Fifo,
            sluice_catalog::config::Order::Shortest => Order::Shortest,
        },
        ageing: config.bounds.ageing,
        lanes: config.workers.lanes == sluice_catalog::config::Lanes::Auto,
        may_raise: false,
        cpus: std::thread::available_parallelism().map_or(1, |count| u32::try_from(count.get()).unwrap_or(u32::MAX)),
        start_timeout_ms: config.workers.start_timeout_ms,
        stop_timeout_ms: config.workers.stop_timeout_ms,
        backoff_ms_min: config.bounds.backoff_ms_min,
        backoff_ms_max: config.bounds.backoff_ms_max,
        healthy_after_ms: 10_000,
        holds_failed: config.mode == Mode::Development,
        warm_up: !config.warm_up.paths.is_empty(),
        reload_at_once: config.bounds.reload_at_once,
        recycle_requests_max: config.recycle.requests_max,
        needless_wait_ms_min: 10_000,
        needless_wait_ms_max: 640_000,
        examine_timeout_ms: 900,
        streams_per_worker_max: u32::try_from(config.streams_per_worker_max()).unwrap_or(u32::MAX),
    }
}
