//! The metrics catalogue: name, kind, unit, labels and bounds of everything that the admin address exports.
//!
//! Base units, `_total` for counters, and no label whose values a client could multiply. It must not know the numbers.

mod labels;

pub use labels::{LABELS, Label};

/// Way in which a metric moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only up, from 0 at the start of the gateway.
    Counter,
    /// Moves up and down.
    Gauge,
    /// Counts by size; exported as `_bucket`, `_sum` and `_count`.
    Histogram,
}

/// Unit that a metric counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// A share, from 0 to 1.
    Ratio,
    /// Things, which the name says.
    Count,
}

/// One metric.
#[derive(Debug, PartialEq, Eq)]
pub struct Metric {
    /// Full name.
    pub name: &'static str,
    /// Way in which it moves.
    pub kind: Kind,
    /// Unit that it counts.
    pub unit: Unit,
    /// Text of the `# HELP` line.
    pub help: &'static str,
    /// Names of its labels, all of them in [`LABELS`].
    pub labels: &'static [&'static str],
}

/// Distinct values of the label `class`; requests of further classes count under [`CLASS_OTHER`].
pub const CLASSES_MAX: usize = 100;

/// Value of the label `class` for requests beyond [`CLASSES_MAX`], and for those that have none.
pub const CLASS_OTHER: &str = "other";

/// Upper bounds of every histogram's buckets, seconds; `+Inf` follows.
pub const BUCKETS_SECONDS: [f64; 16] =
    [0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0];

/// Upper bounds of the buckets of histograms by class, seconds; `+Inf` follows. They are few, as there is a set for each class.
pub const CLASS_BUCKETS_SECONDS: [f64; 8] = [0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

macro_rules! metrics {
    ($($id:ident $name:literal $kind:ident $unit:ident [$($label:literal)*] $help:literal)+) => {
        $(
            #[doc = concat!("`", $name, "`: ", $help)]
            pub static $id: Metric = Metric {
                name: $name, kind: Kind::$kind, unit: Unit::$unit, help: $help, labels: &[$($label),*],
            };
        )+

        /// Every metric, in the order of the reference.
        pub static ALL: &[&Metric] = &[$(&$id),+];
    };
}

metrics! {
    BUILD_INFO "sluice_build_info" Gauge Count ["version"]
        "Always 1; says which version runs."
    START_TIME_SECONDS "sluice_start_time_seconds" Gauge Seconds []
        "Unix time at which the gateway started."
    READY "sluice_ready" Gauge Count []
        "1 while the readiness path answers 200, else 0."
    GATEWAY_CPU_SECONDS_TOTAL "sluice_gateway_cpu_seconds_total" Counter Seconds []
        "CPU time of the gateway's own process, user and system."
    GATEWAY_RESIDENT_MEMORY_BYTES "sluice_gateway_resident_memory_bytes" Gauge Bytes []
        "Resident memory of the gateway's own process."
    GATEWAY_OPEN_DESCRIPTORS "sluice_gateway_open_descriptors" Gauge Count []
        "Files and sockets that the gateway's own process has open. Linux only."
    GATEWAY_DESCRIPTORS_MAX "sluice_gateway_descriptors_max" Gauge Count []
        "How many it may have open (`LimitNOFILE=`, `ulimit -n`); nothing where it has no limit. Linux only."

    CONNECTIONS "sluice_connections" Gauge Count []
        "Client connections open now."
    CONNECTIONS_TOTAL "sluice_connections_opened_total" Counter Count []
        "Client connections accepted."
    STREAMS "sluice_streams" Gauge Count []
        "Upgraded connections, event streams and long polls of Engine.IO open now; they hold no slot."
    STREAMS_TOTAL "sluice_streams_opened_total" Counter Count []
        "Upgraded connections, event streams and long polls of Engine.IO opened."
    REQUEST_BODY_BYTES_TOTAL "sluice_request_body_bytes_total" Counter Bytes []
        "Bytes of request bodies received from clients."
    RESPONSE_BODY_BYTES_TOTAL "sluice_response_body_bytes_total" Counter Bytes []
        "Bytes of response bodies sent to clients."
    COMPRESSION_ANSWERS_TOTAL "sluice_compression_answers_total" Counter Count ["encoding"]
        "Answers that the gateway compressed."
    COMPRESSION_FALLBACKS_TOTAL "sluice_compression_fallbacks_total" Counter Count []
        "Answers that were sent as they are because too many others were being compressed."
    COMPRESSION_INPUT_BYTES_TOTAL "sluice_compression_input_bytes_total" Counter Bytes []
        "Bytes of answers before compression."
    COMPRESSION_OUTPUT_BYTES_TOTAL "sluice_compression_output_bytes_total" Counter Bytes []
        "Bytes of the same answers after compression."
    COMPRESSION_CPU_SECONDS_TOTAL "sluice_compression_cpu_seconds_total" Counter Seconds []
        "CPU time of compression, which is in `sluice_gateway_cpu_seconds_total` as well."
    MEMORY_BUFFERS_BYTES "sluice_memory_buffers_bytes" Gauge Bytes []
        "Bytes in memory of bodies and answers that wait for slow clients; `memory.buffers_bytes_max` bounds them."
    TEMP_BYTES "sluice_temp_bytes" Gauge Bytes []
        "Bytes in temporary files now."

    REQUESTS_TOTAL "sluice_requests_total" Counter Count ["class" "status" "outcome"]
        "Requests that ended, however they ended."
    CACHE_REQUESTS_TOTAL "sluice_cache_requests_total" Counter Count ["cache"]
        "Requests that the page cache was asked for."
    CACHE_STORED_TOTAL "sluice_cache_stored_total" Counter Count []
        "Answers that the page cache has kept."
    CACHE_PURGED_TOTAL "sluice_cache_purged_total" Counter Count []
        "Variants of pages that were purged."
    CACHE_PAGES "sluice_cache_pages" Gauge Count []
        "Pages that are kept now."
    CACHE_BYTES "sluice_cache_bytes" Gauge Bytes []
        "Memory that they take; `cache.bytes_max` bounds it."
    INCLUDES_TOTAL "sluice_includes_total" Counter Count ["include"]
        "Includes of composed pages, by what came of them."
    CACHE_DISK_UP "sluice_cache_disk_up" Gauge Count []
        "Whether pages on disk are in use: 0 while another gateway has the directory, or it cannot be used. Only with `cache.disk_dir`, like the next four."
    CACHE_DISK_PAGES "sluice_cache_disk_pages" Gauge Count []
        "Pages on disk now."
    CACHE_DISK_BYTES "sluice_cache_disk_bytes" Gauge Bytes []
        "Bytes that they take there; `cache.disk_bytes_max` bounds them."
    CACHE_DISK_LOOK_UPS_TOTAL "sluice_cache_disk_look_ups_total" Counter Count ["look_up"]
        "Pages that were looked up on disk; one for all clients that wait for a page."
    CACHE_DISK_WRITES_TOTAL "sluice_cache_disk_writes_total" Counter Count ["write"]
        "Pages for the disk."
    CACHE_SHARED_UP "sluice_cache_shared_up" Gauge Count []
        "Whether the shared cache is in use: 0 while its server is away or too slow. Only with `cache.shared_url`, like the next three."
    CACHE_SHARED_LOOK_UPS_TOTAL "sluice_cache_shared_look_ups_total" Counter Count ["look_up"]
        "Pages that were looked up in the shared cache; one for all clients that wait for a page."
    CACHE_SHARED_WRITES_TOTAL "sluice_cache_shared_writes_total" Counter Count ["write"]
        "Pages for the shared cache."
    CACHE_SHARED_PURGES_TOTAL "sluice_cache_shared_purges_total" Counter Count ["direction"]
        "Purges between gateways."
    REQUESTS_IN_SERVICE "sluice_requests_in_service" Gauge Count []
        "Requests that workers have begun and not ended now."
    REQUESTS_HANDED "sluice_requests_handed" Gauge Count []
        "Cheap requests that workers were handed ahead of time and have not begun now: neither in the queue nor in service."
    REQUESTS_HANDED_TOTAL "sluice_requests_handed_ahead_total" Counter Count []
        "Cheap requests that workers were handed ahead of time, while they had another."
    REQUESTS_TAKEN_BACK_TOTAL "sluice_requests_taken_back_total" Counter Count []
        "Those of them that were taken back before the app saw them, as the one before took long or its worker left."
    RECEIVE_SECONDS "sluice_receive_seconds" Histogram Seconds []
        "Time from a request's first byte until all of it was there."
    QUEUE_WAIT_SECONDS "sluice_queue_wait_seconds" Histogram Seconds []
        "Time from the whole request until a worker took it, for requests that a worker took. Steadily over zero: too few workers."
    QUEUE_UNSERVED_SECONDS "sluice_queue_unserved_seconds" Histogram Seconds []
        "Time from the whole request until it was refused or its client left, for requests for workers that no worker took."
    SERVICE_TIME_SECONDS "sluice_service_time_seconds" Histogram Seconds []
        "Time in a worker, until its answer was complete."
    REQUEST_CPU_SECONDS "sluice_request_cpu_seconds" Histogram Seconds []
        "CPU time that one request used in a worker, for requests whose own time the worker measured. A request of a light class counts for as many as its sample stands for."
    CLASS_CPU_SECONDS_TOTAL "sluice_class_cpu_seconds_total" Counter Seconds ["class"]
        "CPU time of the same requests, by class. With `sluice_requests_total` it is what a request costs."
    CLASS_HANDLER_SECONDS_TOTAL "sluice_class_handler_seconds_total" Counter Seconds ["class" "part"]
        "Service time of requests whose router shows its handlers, in two parts: in the handler of the route, and before it (parsing, middleware)."
    CLASS_QUEUE_WAIT_SECONDS "sluice_class_queue_wait_seconds" Histogram Seconds ["class"]
        "Queue wait by class, with fewer buckets than `sluice_queue_wait_seconds`."
    CLASS_SERVICE_TIME_SECONDS "sluice_class_service_time_seconds" Histogram Seconds ["class"]
        "Service time by class, with fewer buckets than `sluice_service_time_seconds`."
    SHED_TOTAL "sluice_shed_total" Counter Count ["code"]
        "Requests refused for lack of room or time."
    LADDER_STEPS_TOTAL "sluice_ladder_steps_total" Counter Count ["class" "step"]
        "Requests for workers by what they were given: a render, or something cheaper where that would have come too late."
    SESSION_REQUESTS_TOTAL "sluice_session_requests_total" Counter Count ["session"]
        "Requests of clients that come back to the worker which keeps their session (`[sticky]`)."
    ERRORS_TOTAL "sluice_errors_total" Counter Count ["code"]
        "Errors that the gateway answered itself, shed requests among them."

    REQUESTS_RETRIED_TOTAL "sluice_requests_retried_total" Counter Count []
        "Requests that were given to a second worker after the first had died with them."
    QUARANTINED_REQUESTS "sluice_quarantined_requests" Gauge Count []
        "Requests in quarantine now: two workers died with them."
    QUARANTINE_REFUSED_TOTAL "sluice_quarantine_refused_total" Counter Count []
        "Requests answered without a worker because they are in quarantine."

    QUEUE_LENGTH "sluice_queue_length" Gauge Count []
        "Requests waiting for a worker now."
    QUEUE_LENGTH_MAX "sluice_queue_length_max" Gauge Count []
        "Requests that may wait, from the config."
    QUEUE_WAIT_OLDEST_SECONDS "sluice_queue_wait_oldest_seconds" Gauge Seconds []
        "Wait so far of the request at the head of the queue; 0 when nothing waits."
    QUEUE_WAIT_PREDICTED_SECONDS "sluice_queue_wait_predicted_seconds" Gauge Seconds []
        "Predicted queue wait of a request that arrives now."

    WORKERS "sluice_workers" Gauge Count ["state"]
        "Workers by state."
    WORKERS_WANTED "sluice_workers_wanted" Gauge Count []
        "Workers that should run."
    GENERATION "sluice_generation" Gauge Count []
        "Version of the app in force, counted from 1; each reload tries the next."
    RELOADS_TOTAL "sluice_reloads_total" Counter Count ["result"]
        "Reloads that ended."
    WORKER_RECYCLES_TOTAL "sluice_worker_recycles_total" Counter Count ["reason"]
        "Workers that live for which a successor was started."
    WORKER_STARTS_TOTAL "sluice_worker_starts_total" Counter Count []
        "Processes started, restarts among them."
    WORKER_RESTARTS_TOTAL "sluice_worker_restarts_total" Counter Count ["place"]
        "Times that the process in this place was started again after it had ended; successors of healthy workers do not count."
    WORKER_EXITS_TOTAL "sluice_worker_exits_total" Counter Count ["reason" "expected"]
        "Processes that ended."
    WORKER_START_FAILURES_TOTAL "sluice_worker_start_failures_total" Counter Count ["code"]
        "Starts after which the app never listened."
    WORKER_REQUESTS_TOTAL "sluice_worker_requests_total" Counter Count ["place"]
        "Requests that workers in this place answered."
    WORKER_CPU_SECONDS_TOTAL "sluice_worker_cpu_seconds_total" Counter Seconds ["place"]
        "CPU time of the processes in this place."
    WORKER_RESIDENT_MEMORY_BYTES "sluice_worker_resident_memory_bytes" Gauge Bytes ["place"]
        "Resident memory of the process in this place."
    WORKER_HEAP_USED_BYTES "sluice_worker_heap_used_bytes" Gauge Bytes ["place"]
        "JavaScript heap in use in the process in this place."
    WORKER_OPEN_DESCRIPTORS "sluice_worker_open_descriptors" Gauge Count ["place"]
        "Files and sockets that the process in this place has open. Linux only."
    WORKER_DESCRIPTORS_MAX "sluice_worker_descriptors_max" Gauge Count ["place"]
        "How many it may have open; nothing where it has no limit. Linux only."
    WORKER_EVENT_LOOP_UTILIZATION_RATIO "sluice_worker_event_loop_utilization_ratio" Gauge Ratio ["place"]
        "Share of the last minute in which the event loop was busy."
    WORKER_EVENT_LOOP_DELAY_SECONDS "sluice_worker_event_loop_delay_seconds" Gauge Seconds ["place"]
        "Longest delay of the event loop within the last minute, and one that has not ended."
    EVENT_LOOP_DELAY_SECONDS "sluice_event_loop_delay_seconds" Histogram Seconds []
        "Longest delay of an event loop within a second, once for each second of each worker."
    WORKER_GC_RATIO "sluice_worker_gc_ratio" Gauge Ratio ["place"]
        "Garbage collection's part of the CPU time of the main thread, while requests shared the worker and that was measured."
    WORKER_UNATTRIBUTED_CPU_RATIO "sluice_worker_unattributed_cpu_ratio" Gauge Ratio ["place"]
        "Part of the same CPU time that belongs to no request. Above 0.2, the costs of requests that share the worker stay unknown."
    RUN_DURATION_SECONDS "sluice_run_duration_seconds" Histogram Seconds []
        "Uninterrupted runs of workers' main threads. The buckets are 1, 2 and 5 of each decade from 10 microseconds to 10 seconds."
    RUN_OBSERVED_SECONDS_TOTAL "sluice_run_observed_seconds_total" Counter Seconds []
        "Time for which main threads were watched for runs, all workers added up."
    COLLECTIONS_TOTAL "sluice_collections_total" Counter Count []
        "Pauses of the garbage collectors of workers."
    COLLECTION_SECONDS_TOTAL "sluice_collection_seconds_total" Counter Seconds []
        "Time in those pauses, which is in the runs that they interrupt as well."
    REQUESTS_WITH_RUN_TOTAL "sluice_requests_with_run_total" Counter Count ["run"]
        "Requests with at least one uninterrupted run of this length or longer, in which their worker did nothing else."
    REACT_RENDERS_TOTAL "sluice_react_renders_total" Counter Count []
        "React renders that `@sluice/react` was asked for."
    REACT_FALLBACKS_TOTAL "sluice_react_fallbacks_total" Counter Count ["why"]
        "Those of them that were left to react-dom, because they could not be done identically."
    COMPONENT_CACHE_HITS_TOTAL "sluice_component_cache_hits_total" Counter Count []
        "Components whose HTML was used again, in the caches of `<Cached>` of all workers."
    COMPONENT_CACHE_MISSES_TOTAL "sluice_component_cache_misses_total" Counter Count []
        "Components that were rendered because no HTML in the cache fitted."
    COMPONENT_CACHE_EVICTIONS_TOTAL "sluice_component_cache_evictions_total" Counter Count []
        "Entries of these caches that made room for others."
    COMPONENT_CACHE_BYTES "sluice_component_cache_bytes" Gauge Bytes []
        "About what the entries of workers that run take in memory."
    COMPONENT_CACHE_MAX_BYTES "sluice_component_cache_max_bytes" Gauge Bytes []
        "Bytes that these entries may take, all workers added up."
    COMPONENT_RENDERS_TOTAL "sluice_component_renders_total" Counter Count ["component" "outcome"]
        "Components that `@sluice/render` was asked for, by how that ended."
    COMPONENT_CPU_SECONDS_TOTAL "sluice_component_cpu_seconds_total" Counter Seconds ["component"]
        "CPU time of these renders."
    SETTING_PAGES_TOTAL "sluice_setting_pages_total" Counter Count ["setting"]
        "Pages that `@sluice/render` has made, by setting of the dial (`render.server`)."
    SETTING_CPU_SECONDS_TOTAL "sluice_setting_cpu_seconds_total" Counter Seconds ["setting"]
        "CPU time of their components. With `sluice_setting_pages_total` it is what a page costs the server."
    VITALS_REPORTS_TOTAL "sluice_vitals_reports_total" Counter Count ["setting" "device"]
        "Beacons of browsers that were counted. Refused ones are in `sluice_errors_total`."
    VITALS_SECONDS "sluice_vitals_seconds" Histogram Seconds ["vital" "setting" "device"]
        "Times that browsers measured."
    VITALS_LAYOUT_SHIFT "sluice_vitals_layout_shift" Histogram Count ["setting" "device"]
        "Cumulative layout shift of pages. The buckets are 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5 and 1."
    VITALS_BYTES_TOTAL "sluice_vitals_bytes_total" Counter Bytes ["content" "setting" "device"]
        "Bytes of pages and of their JavaScript, as browsers measured them."
    VITALS_FAULTS_TOTAL "sluice_vitals_faults_total" Counter Count ["fault" "setting" "device"]
        "Components that did not come to life in browsers as they should."
    ALARMS "sluice_alarms" Gauge Count ["alarm"]
        "Alarms that are raised now; of those about a class, how many classes. `sluice status` says what each is about."
    CERTIFICATE_EXPIRY_SECONDS "sluice_certificate_expiry_seconds" Gauge Seconds ["certificate"]
        "Time until a certificate expires; negative where it has. A name of `acme.names` without a certificate has no series."
    OVERLAPS_TOTAL "sluice_overlaps_total" Counter Count []
        "Times that a worker held more requests than its slots. Anything but 0 is a bug: please report it."
    TRACE_SPANS_TOTAL "sluice_trace_spans_total" Counter Count ["export"]
        "Spans of requests by what became of them. Nothing but `exported` is seen in traces."
    LOG_LINES_DROPPED_TOTAL "sluice_log_lines_dropped_total" Counter Count []
        "Log lines dropped because standard output did not take them in time."
}

impl Kind {
    /// The word after the name on the `# TYPE` line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

impl Unit {
    /// The word used in docs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Bytes => "bytes",
            Self::Ratio => "ratio",
            Self::Count => "count",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_say_kind_and_unit() {
        let names: BTreeSet<_> = ALL.iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), ALL.len());
        for metric in ALL {
            let name = metric.name;
            assert!(name.starts_with("sluice_"), "{name}");
            assert_eq!(name.ends_with("_total"), metric.kind == Kind::Counter, "{name}");
            let stem = name.trim_end_matches("_total");
            // In OpenMetrics a counter goes by that name.
            assert!(stem == name || !names.contains(stem), "{name} and {stem}");
            match metric.unit {
                Unit::Count => {}
                unit => assert!(stem.ends_with(&format!("_{}", unit.as_str())), "{name} does not name its unit"),
            }
        }
    }

    #[test]
    fn every_label_is_bounded_and_used() {
        let used: BTreeSet<_> = ALL.iter().flat_map(|metric| metric.labels).copied().collect();
        let known: BTreeSet<_> = LABELS.iter().map(|label| label.name.as_str()).collect();
        assert_eq!(used, known);
        let class = LABELS.iter().find(|label| label.name == "class").unwrap();
        assert!(class.bound.contains(&CLASSES_MAX.to_string()) && class.bound.contains(CLASS_OTHER));
    }

    #[test]
    fn no_label_is_one_that_prometheus_sets_itself() {
        for label in &*LABELS {
            assert!(!["job", "instance", "le", "quantile"].contains(&label.name.as_str()), "{}", label.name);
            assert!(!label.name.starts_with("exported_") && !label.name.starts_with("__"), "{}", label.name);
        }
    }

    #[test]
    fn buckets_rise() {
        assert!(BUCKETS_SECONDS.is_sorted());
    }
}
