//! Settings that the scheduler takes from the config.

use crate::order::Order;

/// Settings that the scheduler takes from the config. All times in milliseconds.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "keys of the config, each of which is on or off by itself")]
pub struct Limits {
    /// Maximum number of requests that wait.
    pub queue_length_max: usize,
    /// Longest wait of a request, both as predicted on arrival and as measured.
    pub queue_wait_ms_max: u64,
    /// Requests that a worker may hold at once; 1 is strict mode.
    pub concurrency: u32,
    /// Requests that a worker may hold while all of them wait for something else than the CPU
    /// ([`Event::Waits`](crate::Event::Waits)); no more than `concurrency` where that is fixed.
    pub concurrency_max: u32,
    /// Cheap requests that a worker gets ahead of time, beside those that it holds; 0 disables this.
    pub ahead_max: u32,
    /// CPU time, at the 99th percentile, and mean service time up to which a class is cheap, in microseconds.
    pub cheap_us: u64,
    /// Order in which waiting requests are dispatched.
    pub order: Order,
    /// Multiple of its wait in the order of arrival after which a request goes first, whatever it costs. Only with
    /// [`Order::Shortest`].
    pub ageing: u32,
    /// Whether long requests get a worker of their own while there are both long and short requests.
    pub lanes: bool,
    /// Whether the caller can carry out [`Action::Raise`](crate::Action::Raise): raise a priority again without a new
    /// process.
    pub may_raise: bool,
    /// CPUs that the workers share.
    pub cpus: u32,
    /// Longest time from a worker's start until it listens.
    pub start_timeout_ms: u64,
    /// Time after the request to stop at which a worker is killed.
    pub stop_timeout_ms: u64,
    /// First delay before a worker that failed again is started again; doubles each time.
    pub backoff_ms_min: u64,
    /// Maximum of that delay.
    pub backoff_ms_max: u64,
    /// Time as ready after which a worker counts as healthy: its next death is not part of a crash loop.
    pub healthy_after_ms: u64,
    /// Whether a place whose worker exited waits for [`Event::Changed`](crate::Event::Changed) instead of backing off:
    /// an app under development would fail the same way again.
    pub holds_failed: bool,
    /// Upgraded connections and event streams that one worker may hold.
    pub streams_per_worker_max: u32,
    /// Whether a listening worker is warmed before it takes requests, if other workers can take them meanwhile.
    pub warm_up: bool,
    /// Workers of a new generation that start at once; 0 means a quarter of the pool.
    pub reload_at_once: u32,
    /// Requests after which a healthy worker is replaced; 0 disables this. Each worker's own bound is up to a tenth
    /// lower, so that workers which started together do not end together.
    pub recycle_requests_max: u64,
    /// Time without a further stand-in after one that turned out to be needless; doubles each time.
    pub needless_wait_ms_min: u64,
    /// Maximum of that time.
    pub needless_wait_ms_max: u64,
    /// Longest time for taking the stack and profile of a stuck worker before it is killed.
    pub examine_timeout_ms: u64,
}
