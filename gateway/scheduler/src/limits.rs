//! What the scheduler must know from the config.

use crate::order::Order;

/// What the scheduler must know from the config. All times in milliseconds.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "keys of the config, each of which is on or off by itself")]
pub struct Limits {
    /// Requests that may wait at once.
    pub queue_length_max: usize,
    /// The longest a request may wait, both predicted on arrival and as it turns out.
    pub queue_wait_ms_max: u64,
    /// Requests a worker may hold at once; 1 is strict mode.
    pub concurrency: u32,
    /// Requests that a worker may hold of which all wait on something else than the CPU ([`Event::Waits`](crate::Event::Waits)); no more than
    /// `concurrency` where that is fixed.
    pub concurrency_max: u32,
    /// Cheap requests that a worker gets ahead of time, beside what it holds; 0 for none.
    pub ahead_max: u32,
    /// Which of the waiting requests is given away next.
    pub order: Order,
    /// With [`Order::Shortest`]: how many times as long as in the order of arrival a request may wait before it goes
    /// first, whatever it costs.
    pub ageing: u32,
    /// Whether what is long gets a worker of its own, as long as there are both long and short requests.
    pub lanes: bool,
    /// Whether [`Action::Raise`](crate::Action::Raise) can be carried out: priorities can be raised again without a new process.
    pub may_raise: bool,
    /// CPUs that the workers share.
    pub cpus: u32,
    /// How long a worker may take from its start until it listens.
    pub start_timeout_ms: u64,
    /// How long a worker that was asked to stop may take before it is killed.
    pub stop_timeout_ms: u64,
    /// The first delay before a worker that failed again is started again; doubles each time.
    pub backoff_ms_min: u64,
    /// The longest such delay.
    pub backoff_ms_max: u64,
    /// A worker that was ready for this long counts as healthy: its next death is not part of a crash loop.
    pub healthy_after_ms: u64,
    /// Whether a place whose worker ended by itself waits for [`Event::Changed`](crate::Event::Changed) instead of backing off: the app is
    /// being developed, and would fail the same way again.
    pub holds_failed: bool,
    /// Upgraded connections and event streams that one worker may hold.
    pub streams_per_worker_max: u32,
    /// Whether a worker that listens is warmed before it takes requests, as far as others are there to take them.
    pub warm_up: bool,
    /// Workers of a new generation that start at once; 0 for a quarter of the pool.
    pub reload_at_once: u32,
    /// Requests after which a healthy worker is replaced; 0 for never. Each worker's own bound is up to a tenth lower, so that
    /// workers which started together do not end together.
    pub recycle_requests_max: u64,
    /// How long no stand-in is started for a worker that is overdue after one that turned out to have been needless; doubles
    /// each time.
    pub needless_wait_ms_min: u64,
    /// The longest such wait.
    pub needless_wait_ms_max: u64,
    /// How long the look into a stuck worker may take before it is killed.
    pub examine_timeout_ms: u64,
}
