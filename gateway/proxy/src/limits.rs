//! Limits of the scheduler, from the config.

use sluice_catalog::config::{Config, Mode};
use sluice_scheduler::{Limits, Order};
use sluice_wire::ids::to_usize;

use crate::upstream;

/// The scheduler's limits.
pub(crate) fn of(config: &Config) -> Limits {
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
