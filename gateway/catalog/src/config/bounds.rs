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
    #[error("holds {0}, which is no bound")]
    Unknown(String),
    #[error("holds {1} for {0}, which is too large")]
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
    /// Time for a request's headers as a whole. Browsers send them in one piece, so only a client that holds
    /// connections on purpose (slow loris) comes near it.
    headers_timeout_ms: u64 = 15_000, "milliseconds";
    /// Longest request line, or `server.headers_bytes_max` where that is more. Node.js takes as much by default.
    request_line_bytes_max: u64 = 16_384, "bytes";
    /// Header lines of a request. Parsers of other servers take as many, so a client that sends more fails elsewhere too.
    headers_count_max: u64 = 100, "headers";
    /// Time that a request body may take before its rate is measured, so that a slow start of TCP and a short pause of
    /// a mobile network do not count.
    body_grace_ms: u64 = 10_000, "milliseconds";
    /// Slowest mean rate of a request body after that time. The slowest modem is faster; a client below it holds memory
    /// on purpose.
    body_rate_bytes_per_s_min: u64 = 512, "bytes per second";
    /// Part of a request body in memory; the rest is in a temporary file. Forms and JSON fit, and all bodies together
    /// are bounded by `memory.buffers_bytes_max`.
    body_memory_bytes_max: u64 = 262_144, "bytes";
    /// TLS handshakes under way at once. One costs a millisecond of CPU time, so more of them only make each other late.
    handshakes_max: u32 = 256, "handshakes";
    /// Requests that one HTTP/2 connection may have under way, the number that RFC 9113 §6.5.2 recommends at least.
    http2_streams_max: u32 = 100, "requests";
    /// Request bodies of one HTTP/2 connection together, or `server.body_bytes_max` where that is more. Uploads of one
    /// page fit, and a body over 128 KiB waits for those before it.
    http2_bodies_bytes_max: u64 = 67_108_864, "bytes";
    /// Clients whose rates are remembered. The table takes some 100 bytes for each; beyond it, the client whose allowance
    /// is soon whole again is forgotten.
    rate_clients_max: u64 = 100_000, "clients";
    /// Size of the directory with compiled code at which the oldest files are deleted. Several versions of a large app
    /// fit.
    compile_cache_bytes_max: u64 = 268_435_456, "bytes";
    /// Nice value of workers above the gateway's. With 2 the gateway goes first where both want a CPU, and workers lose
    /// little to other processes.
    worker_nice: u32 = 2, "steps";
    /// Time up to which a class of requests is cheap, by its CPU time at the 99th percentile and by its mean service time.
    /// Cheap requests are handed to workers ahead of time; with longer ones, a wrong estimate would cost more than the gap
    /// that this saves.
    cheap_us: u64 = 2_000, "microseconds";
    /// CPU time that nearly all requests of a light class stay below. One in sixteen of them is measured; of dearer ones, each,
    /// as a report is a small part of what they cost.
    light_us: u64 = 1_500, "microseconds";
    /// Wait before a worker that exited is started again; it doubles with each exit that follows soon. A loop of crashes does
    /// not spin then, and nobody notices a single one.
    backoff_ms_min: u64 = 100, "milliseconds";
    /// Longest such wait: what an app that cannot start costs is then little, and it is back soon after its cause is gone.
    backoff_ms_max: u64 = 30_000, "milliseconds";
    /// Time for which a worker's event loop may not turn while it computes before the worker gets a stand-in and a lower
    /// priority. Half of it where 99 of 100 requests of every class cost at most a twentieth. 0 disables it.
    overdue_after_ms: u64 = 1_000, "milliseconds";
    /// Time for which a worker's event loop may not turn while it waits, where `workers.stuck_after_ms` is not more. A
    /// synchronous child process or a slow disk may take that long.
    blocked_after_ms: u64 = 60_000, "milliseconds";
    /// Successors that a reload starts at once; 0 takes a quarter of the pool, which leaves most of its CPU time and
    /// memory to the workers that serve.
    reload_at_once: u32 = 0, "workers";
    /// Time of one warm-up; 0 takes `workers.start_timeout_ms`, as a warm-up is the end of a start.
    warm_up_timeout_ms: u64 = 0, "milliseconds";
    /// Requests of one warm-up. Node.js has compiled what is hot by then; a steady service time ends it sooner.
    warm_up_requests_max: u32 = 50, "requests";
    /// Times that a request may wait as long as in the order of arrival before it goes first. With less, short requests
    /// wait for long ones; with more, long ones wait for minutes under load.
    ageing: u32 = 3, "times";
    /// Time for which the cause of an alarm must last, and be gone before the alarm is over. Load that passes by itself is
    /// none.
    alarm_after_s: u32 = 60, "seconds";
    /// Mean queue wait that raises an alarm, or a twentieth of `queue.wait_ms_max` where that is more. Users notice half a
    /// second.
    alarm_queue_wait_ms: u64 = 500, "milliseconds";
    /// Cost of a class above its long-term mean that raises an alarm. Twice the cost is no chance.
    alarm_cost_drift_percent: u32 = 100, "percent";
    /// Age of a worker from which its growth is judged. Caches of an app have filled by then.
    alarm_growth_after_s: u32 = 3_600, "seconds";
    /// Classes that the gateway distinguishes, those of `classes.routes` included. A class takes some kilobytes, and rare
    /// ones make room.
    classes_count_max: u32 = 400, "classes";
    /// Requests in quarantine. An app that crashes from more than these has no innocent requests left.
    quarantine_entries_max: u64 = 1_000, "requests";
    /// Part of a response in memory for a slow client; the rest is in a temporary file. Pages fit, downloads do not.
    response_memory_bytes_max: u64 = 1_048_576, "bytes";
    /// Status line and header lines of a response together. Proxies and browsers refuse less than this.
    response_headers_bytes_max: u64 = 65_536, "bytes";
    /// Header lines of a response. Proxies and browsers refuse less than this.
    response_headers_count_max: u64 = 256, "headers";
    /// Streams of one worker; 0 takes `server.connections_max`, as most streams have a connection of their own.
    streams_per_worker_max: u64 = 0, "streams";
    /// Largest page in the cache. Larger ones would displace hundreds of others, and belong on a disk.
    page_bytes_max: u64 = 4_194_304, "bytes";
    /// Time for which requests for a page do not wait for each other after an answer for one client alone. An answer
    /// that may be cached ends it sooner, so a longer time would only delay those after it.
    private_s: u64 = 120, "seconds";
    /// Depth of includes in includes. Each level is one more round trip for the page.
    include_depth_max: u32 = 3, "levels";
    /// Includes of one page, with those of its includes. Each is a request.
    includes_max: u32 = 64, "includes";
    /// Largest include. A part of a page is smaller than most pages.
    include_bytes_max: u64 = 1_048_576, "bytes";
    /// Size below which an answer is not compressed: it fits one packet either way.
    compression_size_min: u64 = 1_024, "bytes";
    /// Answers that are compressed at once, each with about 1 MiB of memory. Further ones are sent as they are.
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
