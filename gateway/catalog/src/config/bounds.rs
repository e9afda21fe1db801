//! Bounds of the gateway that no operator can set better than we do, each with its unit and its reason, in one table.
//!
//! The page of bounds is made from this table. Tests alone change a bound, by `SLUICE_TEST_BOUNDS`; see CONTRIBUTING.md.

/// Variable with bounds for a test, as a JSON object of numbers by name.
pub const TEST_BOUNDS: &str = "SLUICE_TEST_BOUNDS";

/// Fault in a test's bounds, as the words after the variable's name.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotBounds {
    #[error("must be a JSON object of whole numbers: {0}")]
    Json(#[from] serde_json::Error),
    #[error("contains {0}, which is not a bound")]
    Unknown(String),
    #[error("contains {1} for {0}, which is too large")]
    TooLarge(String, u64),
}

macro_rules! bounds {
    ($($(#[doc = $doc:literal])+ $name:ident: $type:ty = $value:literal, $unit:literal;)+) => {
        /// Bounds in force: the constants of the table, but for what a test changes.
        #[derive(Clone, Debug, PartialEq)]
        pub struct FixedBounds {
            $($(#[doc = $doc])+ pub $name: $type,)+
        }

        impl Default for FixedBounds {
            fn default() -> Self {
                Self { $($name: $value),+ }
            }
        }

        impl FixedBounds {
            fn set(&mut self, name: &str, number: u64) -> Result<(), NotBounds> {
                let too_large = || NotBounds::TooLarge(name.to_owned(), number);
                match name {
                    $(stringify!($name) => self.$name = number.try_into().map_err(|_| too_large())?,)+
                    _ => return Err(NotBounds::Unknown(name.to_owned())),
                }
                Ok(())
            }
        }
    };
}

impl FixedBounds {
    /// Default bounds, with those of a JSON object in their place.
    pub(super) fn with(text: &str) -> Result<Self, NotBounds> {
        let written: std::collections::BTreeMap<String, u64> = serde_json::from_str(text)?;
        let mut bounds = Self::default();
        for (name, number) in written {
            bounds.set(&name, number)?;
        }
        Ok(bounds)
    }
}

bounds! {
    /// Time limit for all headers of a request. Browsers send headers in one piece, so only clients that hold connections
    /// on purpose (slow loris) need this long.
    headers_timeout_ms: u64 = 15_000, "milliseconds";
    /// Maximum size of the request line, or `server.headers_bytes_max` if that is more. Node.js has the same default.
    request_line_bytes_max: u64 = 16_384, "bytes";
    /// Maximum number of header lines of a request. Other servers have similar limits, so a client that sends more fails
    /// there too.
    headers_count_max: u64 = 100, "headers";
    /// Time before the rate of a request body is measured, so that a slow start of TCP or a short pause of a mobile network
    /// does not count.
    body_grace_ms: u64 = 10_000, "milliseconds";
    /// Minimum mean rate of a request body after that time. Even slow modems are faster; slower clients hold memory on
    /// purpose.
    body_rate_bytes_per_s_min: u64 = 512, "bytes per second";
    /// Part of a request body in memory; the rest is in a temporary file. Forms and JSON fit. `memory.buffers_bytes_max`
    /// limits all bodies together.
    body_memory_bytes_max: u64 = 262_144, "bytes";
    /// Maximum number of concurrent TLS handshakes. One takes a millisecond of CPU time, so more would only delay each
    /// other.
    handshakes_max: u32 = 256, "handshakes";
    /// Maximum number of open requests of one HTTP/2 connection. RFC 9113 §6.5.2 recommends at least this number.
    http2_streams_max: u32 = 100, "requests";
    /// Maximum total size of request bodies of one HTTP/2 connection, or `server.body_bytes_max` if that is more. Uploads
    /// of one page fit. A body over 128 KiB waits for earlier ones.
    http2_bodies_bytes_max: u64 = 67_108_864, "bytes";
    /// Maximum number of clients whose rates the gateway remembers. One takes about 100 bytes. Beyond the limit, the
    /// gateway forgets the client closest to its full allowance.
    rate_clients_max: u64 = 100_000, "clients";
    /// Size of the compile cache directory above which the oldest files are deleted. Several versions of a large app fit.
    compile_cache_bytes_max: u64 = 268_435_456, "bytes";
    /// Nice value of workers above that of the gateway. With 2, the gateway goes first when both need a CPU, and workers
    /// lose little to other processes.
    worker_nice: u32 = 2, "steps";
    /// Maximum time of a cheap class: its CPU time at the 99th percentile, and its mean service time. Cheap requests are
    /// handed ahead to workers. For longer ones, a wrong estimate would cost more than the gap that this avoids.
    cheap_us: u64 = 2_000, "microseconds";
    /// CPU time below which nearly all requests of a light class stay. Workers measure one in sixteen of them. They measure
    /// all requests of other classes, because a report is a small part of their cost.
    light_us: u64 = 1_500, "microseconds";
    /// Wait before the restart of a worker that exited; it doubles with each further exit soon after. So a crash loop uses
    /// little CPU time, and a single crash causes no noticeable delay.
    backoff_ms_min: u64 = 100, "milliseconds";
    /// Maximum wait before such a restart. An app that cannot start uses little CPU time then, and returns soon after its
    /// cause is fixed.
    backoff_ms_max: u64 = 30_000, "milliseconds";
    /// Time for which a worker's event loop may be blocked while it computes. Then the worker gets a stand-in and a lower
    /// priority. Half of it if 99 of 100 requests of every class cost at most a twentieth. 0 disables it.
    overdue_after_ms: u64 = 1_000, "milliseconds";
    /// Time for which a worker's event loop may be blocked while it waits, or `workers.stuck_after_ms` if that is more. A
    /// synchronous child process or a slow disk may take that long.
    blocked_after_ms: u64 = 60_000, "milliseconds";
    /// Successors that a reload starts at once. 0 means a quarter of the pool, which leaves most CPU time and memory to the
    /// serving workers.
    reload_at_once: u32 = 0, "workers";
    /// Time limit of one warm-up. 0 means `workers.start_timeout_ms`, because a warm-up is the end of a start.
    warm_up_timeout_ms: u64 = 0, "milliseconds";
    /// Maximum number of requests of one warm-up. By then, Node.js has compiled hot code; a steady service time ends the
    /// warm-up earlier.
    warm_up_requests_max: u32 = 50, "requests";
    /// Factor of the wait in order of arrival after which a request goes first. With less, short requests wait for long
    /// ones. With more, long ones wait for minutes under load.
    ageing: u32 = 3, "times";
    /// Time for which the cause of an alarm must last before the alarm is raised, and be absent before it is cleared. A
    /// short load peak raises no alarm.
    alarm_after_s: u32 = 60, "seconds";
    /// Mean queue wait that raises an alarm, or a twentieth of `queue.wait_ms_max` if that is more. Users notice half a
    /// second.
    alarm_queue_wait_ms: u64 = 500, "milliseconds";
    /// Increase of a class's cost above its long-term mean that raises an alarm. A doubled cost is not a random variation.
    alarm_cost_drift_percent: u32 = 100, "percent";
    /// Age of a worker from which its growth is judged. An app's caches are full by then.
    alarm_growth_after_s: u32 = 3_600, "seconds";
    /// Maximum number of classes that the gateway distinguishes, including those of `classes.routes`. A class takes a few
    /// kilobytes. New classes replace rare ones.
    classes_count_max: u32 = 400, "classes";
    /// Maximum number of requests in quarantine. If more requests than these crash an app, probably all of them do.
    quarantine_entries_max: u64 = 1_000, "requests";
    /// Part of a response to a slow client in memory; the rest is in a temporary file. Pages fit, downloads do not.
    response_memory_bytes_max: u64 = 1_048_576, "bytes";
    /// Maximum size of the status line and header lines of a response. Proxies and browsers have lower limits.
    response_headers_bytes_max: u64 = 65_536, "bytes";
    /// Maximum number of header lines of a response. Proxies and browsers have lower limits.
    response_headers_count_max: u64 = 256, "headers";
    /// Maximum number of streams of one worker. 0 means `server.connections_max`, because most streams have their own
    /// connection.
    streams_per_worker_max: u64 = 0, "streams";
    /// Maximum size of a cached page. Larger ones would evict hundreds of others, and belong on a disk.
    page_bytes_max: u64 = 4_194_304, "bytes";
    /// Time for which requests for a page do not wait for each other after a private answer. A cacheable answer ends it
    /// earlier, so a longer time would only delay later requests.
    private_s: u64 = 120, "seconds";
    /// Maximum depth of nested includes. Each level adds a round trip to the page.
    include_depth_max: u32 = 3, "levels";
    /// Maximum number of includes of one page, including nested ones. Each is a request.
    includes_max: u32 = 64, "includes";
    /// Maximum size of an include. A part of a page is smaller than most pages.
    include_bytes_max: u64 = 1_048_576, "bytes";
    /// Size below which an answer is not compressed, because it fits in one packet anyway.
    compression_size_min: u64 = 1_024, "bytes";
    /// Maximum number of answers compressed at once, each with about 1 MiB of memory. Further ones are sent uncompressed.
    compression_answers_max: u32 = 200, "answers";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_change_bounds_by_name() {
        let bounds = FixedBounds::with(r#"{ "backoff_ms_min": 1, "ageing": 0 }"#).unwrap();
        assert_eq!(bounds, FixedBounds { backoff_ms_min: 1, ageing: 0, ..FixedBounds::default() });
        for text in ["", "[]", r#"{ "ageing": "3" }"#, r#"{ "aging": 3 }"#, r#"{ "ageing": 4294967296 }"#] {
            assert!(FixedBounds::with(text).is_err(), "{text}");
        }
    }
}
