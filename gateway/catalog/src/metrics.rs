//! The metrics catalogue: name, kind, unit, labels and bounds of everything that the admin address exports.
//!
//! Base units, `_total` for counters, and no label whose values a client could multiply. It must not know the numbers.

mod labels;

use std::collections::BTreeMap;
use std::sync::LazyLock;

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

/// Help of every metric, by its name.
static HELP: LazyLock<BTreeMap<String, String>> =
    LazyLock::new(|| toml::from_str(include_str!("../metrics.toml")).expect("the file is of this version"));

impl Metric {
    /// Text of the `# HELP` line.
    pub fn help(&self) -> &'static str {
        HELP.get(self.name).map_or("", String::as_str)
    }
}

macro_rules! metrics {
    ($($id:ident $name:literal $kind:ident $unit:ident [$($label:literal)*])+) => {
        $(
            #[doc = concat!("`", $name, "`")]
            pub static $id: Metric = Metric {
                name: $name, kind: Kind::$kind, unit: Unit::$unit, labels: &[$($label),*],
            };
        )+

        /// Every metric, in the order of the reference.
        pub static ALL: &[&Metric] = &[$(&$id),+];
    };
}

metrics! {
    BUILD_INFO "sluice_build_info" Gauge Count ["version"]
    START_TIME_SECONDS "sluice_start_time_seconds" Gauge Seconds []
    READY "sluice_ready" Gauge Count []
    GATEWAY_CPU_SECONDS_TOTAL "sluice_gateway_cpu_seconds_total" Counter Seconds []
    GATEWAY_RESIDENT_MEMORY_BYTES "sluice_gateway_resident_memory_bytes" Gauge Bytes []
    GATEWAY_OPEN_DESCRIPTORS "sluice_gateway_open_descriptors" Gauge Count []
    GATEWAY_DESCRIPTORS_MAX "sluice_gateway_descriptors_max" Gauge Count []

    CONNECTIONS "sluice_connections" Gauge Count []
    CONNECTIONS_TOTAL "sluice_connections_opened_total" Counter Count []
    STREAMS "sluice_streams" Gauge Count []
    STREAMS_TOTAL "sluice_streams_opened_total" Counter Count []
    REQUEST_BODY_BYTES_TOTAL "sluice_request_body_bytes_total" Counter Bytes []
    RESPONSE_BODY_BYTES_TOTAL "sluice_response_body_bytes_total" Counter Bytes []
    COMPRESSION_ANSWERS_TOTAL "sluice_compression_answers_total" Counter Count ["encoding"]
    COMPRESSION_FALLBACKS_TOTAL "sluice_compression_fallbacks_total" Counter Count []
    COMPRESSION_INPUT_BYTES_TOTAL "sluice_compression_input_bytes_total" Counter Bytes []
    COMPRESSION_OUTPUT_BYTES_TOTAL "sluice_compression_output_bytes_total" Counter Bytes []
    COMPRESSION_CPU_SECONDS_TOTAL "sluice_compression_cpu_seconds_total" Counter Seconds []
    MEMORY_BUFFERS_BYTES "sluice_memory_buffers_bytes" Gauge Bytes []
    TEMP_BYTES "sluice_temp_bytes" Gauge Bytes []

    REQUESTS_TOTAL "sluice_requests_total" Counter Count ["class" "status" "outcome"]
    CACHE_REQUESTS_TOTAL "sluice_cache_requests_total" Counter Count ["cache"]
    CACHE_STORED_TOTAL "sluice_cache_stored_total" Counter Count []
    CACHE_PURGED_TOTAL "sluice_cache_purged_total" Counter Count []
    CACHE_PAGES "sluice_cache_pages" Gauge Count []
    CACHE_BYTES "sluice_cache_bytes" Gauge Bytes []
    INCLUDES_TOTAL "sluice_includes_total" Counter Count ["include"]
    CACHE_DISK_UP "sluice_cache_disk_up" Gauge Count []
    CACHE_DISK_PAGES "sluice_cache_disk_pages" Gauge Count []
    CACHE_DISK_BYTES "sluice_cache_disk_bytes" Gauge Bytes []
    CACHE_DISK_LOOK_UPS_TOTAL "sluice_cache_disk_look_ups_total" Counter Count ["look_up"]
    CACHE_DISK_WRITES_TOTAL "sluice_cache_disk_writes_total" Counter Count ["write"]
    CACHE_SHARED_UP "sluice_cache_shared_up" Gauge Count []
    CACHE_SHARED_LOOK_UPS_TOTAL "sluice_cache_shared_look_ups_total" Counter Count ["look_up"]
    CACHE_SHARED_WRITES_TOTAL "sluice_cache_shared_writes_total" Counter Count ["write"]
    CACHE_SHARED_PURGES_TOTAL "sluice_cache_shared_purges_total" Counter Count ["direction"]
    REQUESTS_IN_SERVICE "sluice_requests_in_service" Gauge Count []
    REQUESTS_HANDED "sluice_requests_handed" Gauge Count []
    REQUESTS_HANDED_TOTAL "sluice_requests_handed_ahead_total" Counter Count []
    REQUESTS_TAKEN_BACK_TOTAL "sluice_requests_taken_back_total" Counter Count []
    RECEIVE_SECONDS "sluice_receive_seconds" Histogram Seconds []
    QUEUE_WAIT_SECONDS "sluice_queue_wait_seconds" Histogram Seconds []
    QUEUE_UNSERVED_SECONDS "sluice_queue_unserved_seconds" Histogram Seconds []
    SERVICE_TIME_SECONDS "sluice_service_time_seconds" Histogram Seconds []
    REQUEST_CPU_SECONDS "sluice_request_cpu_seconds" Histogram Seconds []
    CLASS_CPU_SECONDS_TOTAL "sluice_class_cpu_seconds_total" Counter Seconds ["class"]
    CLASS_HANDLER_SECONDS_TOTAL "sluice_class_handler_seconds_total" Counter Seconds ["class" "part"]
    CLASS_QUEUE_WAIT_SECONDS "sluice_class_queue_wait_seconds" Histogram Seconds ["class"]
    CLASS_SERVICE_TIME_SECONDS "sluice_class_service_time_seconds" Histogram Seconds ["class"]
    SHED_TOTAL "sluice_shed_total" Counter Count ["code"]
    LADDER_STEPS_TOTAL "sluice_ladder_steps_total" Counter Count ["class" "step"]
    SESSION_REQUESTS_TOTAL "sluice_session_requests_total" Counter Count ["session"]
    ERRORS_TOTAL "sluice_errors_total" Counter Count ["code"]

    REQUESTS_RETRIED_TOTAL "sluice_requests_retried_total" Counter Count []
    QUARANTINED_REQUESTS "sluice_quarantined_requests" Gauge Count []
    QUARANTINE_REFUSED_TOTAL "sluice_quarantine_refused_total" Counter Count []

    QUEUE_LENGTH "sluice_queue_length" Gauge Count []
    QUEUE_LENGTH_MAX "sluice_queue_length_max" Gauge Count []
    QUEUE_WAIT_OLDEST_SECONDS "sluice_queue_wait_oldest_seconds" Gauge Seconds []
    QUEUE_WAIT_PREDICTED_SECONDS "sluice_queue_wait_predicted_seconds" Gauge Seconds []

    WORKERS "sluice_workers" Gauge Count ["state"]
    WORKERS_WANTED "sluice_workers_wanted" Gauge Count []
    GENERATION "sluice_generation" Gauge Count []
    RELOADS_TOTAL "sluice_reloads_total" Counter Count ["result"]
    TRIAL_REQUESTS "sluice_trial_requests" Gauge Count ["version"]
    WORKER_RECYCLES_TOTAL "sluice_worker_recycles_total" Counter Count ["reason"]
    WORKER_STARTS_TOTAL "sluice_worker_starts_total" Counter Count []
    WORKER_RESTARTS_TOTAL "sluice_worker_restarts_total" Counter Count ["place"]
    WORKER_EXITS_TOTAL "sluice_worker_exits_total" Counter Count ["reason" "expected"]
    WORKER_START_FAILURES_TOTAL "sluice_worker_start_failures_total" Counter Count ["code"]
    WORKER_REQUESTS_TOTAL "sluice_worker_requests_total" Counter Count ["place"]
    WORKER_CPU_SECONDS_TOTAL "sluice_worker_cpu_seconds_total" Counter Seconds ["place"]
    WORKER_RESIDENT_MEMORY_BYTES "sluice_worker_resident_memory_bytes" Gauge Bytes ["place"]
    WORKER_HEAP_USED_BYTES "sluice_worker_heap_used_bytes" Gauge Bytes ["place"]
    WORKER_OPEN_DESCRIPTORS "sluice_worker_open_descriptors" Gauge Count ["place"]
    WORKER_DESCRIPTORS_MAX "sluice_worker_descriptors_max" Gauge Count ["place"]
    WORKER_EVENT_LOOP_UTILIZATION_RATIO "sluice_worker_event_loop_utilization_ratio" Gauge Ratio ["place"]
    WORKER_EVENT_LOOP_DELAY_SECONDS "sluice_worker_event_loop_delay_seconds" Gauge Seconds ["place"]
    EVENT_LOOP_DELAY_SECONDS "sluice_event_loop_delay_seconds" Histogram Seconds []
    WORKER_GC_RATIO "sluice_worker_gc_ratio" Gauge Ratio ["place"]
    WORKER_UNATTRIBUTED_CPU_RATIO "sluice_worker_unattributed_cpu_ratio" Gauge Ratio ["place"]
    RUN_DURATION_SECONDS "sluice_run_duration_seconds" Histogram Seconds []
    RUN_OBSERVED_SECONDS_TOTAL "sluice_run_observed_seconds_total" Counter Seconds []
    COLLECTIONS_TOTAL "sluice_collections_total" Counter Count []
    COLLECTION_SECONDS_TOTAL "sluice_collection_seconds_total" Counter Seconds []
    REQUESTS_WITH_RUN_TOTAL "sluice_requests_with_run_total" Counter Count ["run"]
    REACT_RENDERS_TOTAL "sluice_react_renders_total" Counter Count []
    REACT_FALLBACKS_TOTAL "sluice_react_fallbacks_total" Counter Count ["why"]
    COMPONENT_CACHE_HITS_TOTAL "sluice_component_cache_hits_total" Counter Count []
    COMPONENT_CACHE_MISSES_TOTAL "sluice_component_cache_misses_total" Counter Count []
    COMPONENT_CACHE_EVICTIONS_TOTAL "sluice_component_cache_evictions_total" Counter Count []
    COMPONENT_CACHE_BYTES "sluice_component_cache_bytes" Gauge Bytes []
    COMPONENT_CACHE_MAX_BYTES "sluice_component_cache_max_bytes" Gauge Bytes []
    COMPONENT_RENDERS_TOTAL "sluice_component_renders_total" Counter Count ["component" "outcome"]
    COMPONENT_CPU_SECONDS_TOTAL "sluice_component_cpu_seconds_total" Counter Seconds ["component"]
    APP_CALLS_TOTAL "sluice_app_calls_total" Counter Count ["called"]
    APP_CALL_ERRORS_TOTAL "sluice_app_call_errors_total" Counter Count ["called"]
    APP_CALL_FAILURES_TOTAL "sluice_app_call_failures_total" Counter Count ["called"]
    APP_CALL_ANSWERS_TOTAL "sluice_app_call_answers_total" Counter Count ["called"]
    APP_CALL_SECONDS_TOTAL "sluice_app_call_seconds_total" Counter Seconds ["called"]
    APP_CALLS_WAITING "sluice_app_calls_waiting" Gauge Count ["called"]
    GRAPH_CALLS_TOTAL "sluice_graph_calls_total" Counter Count ["route" "method"]
    GRAPH_CALL_PATHS_TOTAL "sluice_graph_call_paths_total" Counter Count ["route" "method"]
    GRAPH_CALL_SECONDS_TOTAL "sluice_graph_call_seconds_total" Counter Seconds ["route" "method"]
    GRAPH_FAILURES_TOTAL "sluice_graph_failures_total" Counter Count ["route" "method"]
    GRAPH_DENIED_TOTAL "sluice_graph_denied_total" Counter Count ["route" "method"]
    GRAPH_UNANSWERED_TOTAL "sluice_graph_unanswered_total" Counter Count ["route" "method"]
    GRAPH_PAGES_TOTAL "sluice_graph_pages_total" Counter Count []
    GRAPH_PAGE_REQUESTS_TOTAL "sluice_graph_page_requests_total" Counter Count []
    GRAPH_FETCHES_TOTAL "sluice_graph_fetches_total" Counter Count []
    GRAPH_PATHS_TOTAL "sluice_graph_paths_total" Counter Count ["pattern" "by"]
    GRAPH_VALUES_TOTAL "sluice_graph_values_total" Counter Count ["pattern"]
    GRAPH_UNREAD_VALUES_TOTAL "sluice_graph_unread_values_total" Counter Count ["pattern"]
    GRAPH_REPEATED_VALUES_TOTAL "sluice_graph_repeated_values_total" Counter Count ["pattern"]
    SETTING_PAGES_TOTAL "sluice_setting_pages_total" Counter Count ["setting"]
    SETTING_CPU_SECONDS_TOTAL "sluice_setting_cpu_seconds_total" Counter Seconds ["setting"]
    VITALS_REPORTS_TOTAL "sluice_vitals_reports_total" Counter Count ["setting" "device"]
    VITALS_SECONDS "sluice_vitals_seconds" Histogram Seconds ["vital" "setting" "device"]
    VITALS_LAYOUT_SHIFT "sluice_vitals_layout_shift" Histogram Count ["setting" "device"]
    VITALS_BYTES_TOTAL "sluice_vitals_bytes_total" Counter Bytes ["content" "setting" "device"]
    VITALS_FAULTS_TOTAL "sluice_vitals_faults_total" Counter Count ["fault" "setting" "device"]
    UPSTREAM_REQUESTS_TOTAL "sluice_upstream_requests_total" Counter Count ["upstream" "ended"]
    UPSTREAM_RETRIES_TOTAL "sluice_upstream_retries_total" Counter Count ["upstream"]
    UPSTREAM_FIRST_BYTE_SECONDS "sluice_upstream_first_byte_seconds" Histogram Seconds ["upstream"]
    UPSTREAM_TARGETS "sluice_upstream_targets" Gauge Count ["upstream" "health"]
    UPSTREAM_CONNECTIONS "sluice_upstream_connections" Gauge Count ["upstream"]
    ALARMS "sluice_alarms" Gauge Count ["alarm"]
    CERTIFICATE_EXPIRY_SECONDS "sluice_certificate_expiry_seconds" Gauge Seconds ["certificate"]
    OVERLAPS_TOTAL "sluice_overlaps_total" Counter Count []
    TRACE_SPANS_TOTAL "sluice_trace_spans_total" Counter Count ["export"]
    LOG_LINES_DROPPED_TOTAL "sluice_log_lines_dropped_total" Counter Count []
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
    fn every_metric_has_a_help_and_every_help_a_metric() {
        assert_eq!(
            ALL.iter().map(|metric| metric.name.to_owned()).collect::<BTreeSet<_>>(),
            HELP.keys().cloned().collect()
        );
    }

    #[test]
    fn buckets_rise() {
        assert!(BUCKETS_SECONDS.is_sorted());
    }
}
