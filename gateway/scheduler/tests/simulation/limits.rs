//! Limits of a gateway as installed, in strict mode, with shorter times where processes start and end. Examples use them, too.

use sluice_scheduler::{Limits, Order};

pub const LIMITS: Limits = Limits {
    queue_length_max: 1_000,
    queue_wait_ms_max: 10_000,
    concurrency: 1,
    concurrency_max: 1,
    ahead_max: 0,
    cheap_us: 2_000,
    order: Order::Shortest,
    ageing: 3,
    lanes: true,
    may_raise: false,
    cpus: 4,
    start_timeout_ms: 60_000,
    stop_timeout_ms: 1_000,
    backoff_ms_min: 100,
    backoff_ms_max: 1_000,
    healthy_after_ms: 1_000,
    holds_failed: false,
    streams_per_worker_max: 0,
    warm_up: false,
    reload_at_once: 0,
    recycle_requests_max: 0,
    needless_wait_ms_min: 1_000,
    needless_wait_ms_max: 1_000,
    examine_timeout_ms: 900,
};
