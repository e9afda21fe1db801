//! The page of metrics: what the journal counted, what the snapshot shows, and what the operator adds.
//!
//! It must not know where a snapshot comes from.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use sluice_catalog::metrics;
use sluice_catalog::snapshot::{
    ComponentCacheSnapshot, RUN_CLASSES, ReactSnapshot, RunsSnapshot, Snapshot, WorkerSnapshot, WorkerState,
};
use sluice_journal::{Bucket, Exposition, Journal, Page};

use crate::{Operator, descriptors};

/// Everything there is to know.
pub fn page(operator: &dyn Operator, journal: &Journal, format: Exposition) -> String {
    let mut page = Page::new(format);
    let snapshot = operator.snapshot();
    write_gateway(&mut page, &snapshot);
    page.metric(&metrics::READY).sample(&[], u8::from(operator.readiness().ready));
    write_queue(&mut page, &snapshot);
    write_workers(&mut page, &snapshot.workers);
    write_runs(&mut page, &snapshot.runs);
    write_react(&mut page, &snapshot.react.unwrap_or_default());
    write_component_cache(&mut page, snapshot.component_cache.unwrap_or_default());
    journal.write_metrics(&mut page);
    operator.write_metrics(&mut page);
    page.into_text()
}

fn write_gateway(page: &mut Page, snapshot: &Snapshot) {
    page.metric(&metrics::BUILD_INFO).sample(&[("version", &snapshot.version)], 1);
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    // Rounded, as the difference of two clocks would else tremble from scrape to scrape.
    page.metric(&metrics::START_TIME_SECONDS).sample(&[], (now_s - snapshot.uptime_s).round());
    if let Some(seconds) = own_cpu_seconds() {
        page.metric(&metrics::GATEWAY_CPU_SECONDS_TOTAL).sample(&[], seconds);
    }
    if let Some(bytes) = own_resident_bytes() {
        page.metric(&metrics::GATEWAY_RESIDENT_MEMORY_BYTES).sample(&[], bytes);
    }
    page.metric(&metrics::GATEWAY_OPEN_DESCRIPTORS);
    if let Some(open) = descriptors::open("self") {
        page.sample(&[], open);
    }
    page.metric(&metrics::GATEWAY_DESCRIPTORS_MAX);
    if let Some(limit) = descriptors::limit("self") {
        page.sample(&[], limit);
    }
    page.metric(&metrics::GENERATION).sample(&[], snapshot.generation);
    page.metric(&metrics::CONNECTIONS).sample(&[], snapshot.connections);
    page.metric(&metrics::STREAMS).sample(&[], snapshot.streams);
}

fn write_queue(page: &mut Page, snapshot: &Snapshot) {
    let queue = &snapshot.queue;
    page.metric(&metrics::REQUESTS_IN_SERVICE).sample(&[], snapshot.requests.in_service);
    page.metric(&metrics::REQUESTS_HANDED).sample(&[], snapshot.requests.handed);
    page.metric(&metrics::REQUESTS_HANDED_TOTAL).sample(&[], snapshot.requests.handed_total);
    page.metric(&metrics::REQUESTS_TAKEN_BACK_TOTAL).sample(&[], snapshot.requests.taken_back_total);
    page.metric(&metrics::QUEUE_LENGTH).sample(&[], queue.length);
    page.metric(&metrics::QUEUE_LENGTH_MAX).sample(&[], queue.length_max);
    page.metric(&metrics::QUEUE_WAIT_OLDEST_SECONDS).sample(&[], queue.oldest_wait_ms / 1000.0);
    page.metric(&metrics::QUEUE_WAIT_PREDICTED_SECONDS);
    if let Some(wait_ms) = queue.predicted_wait_ms {
        page.sample(&[], wait_ms / 1000.0);
    }
}

/// Figures of a place in the pool. While a worker is replaced there are two in one place; their numbers are added up, as
/// two samples with the same labels are not allowed.
#[derive(Default)]
struct SlotTotals {
    restarts: u64,
    requests: u64,
    cpu_ms: Option<f64>,
    rss_bytes: Option<u64>,
}

fn write_workers(page: &mut Page, workers: &[WorkerSnapshot]) {
    page.metric(&metrics::WORKERS);
    for state in WorkerState::ALL {
        let count = workers.iter().filter(|worker| worker.state == state).count();
        page.sample(&[("state", state.as_str())], count);
    }
    let mut places: BTreeMap<u32, SlotTotals> = BTreeMap::new();
    for worker in workers {
        let place = places.entry(worker.instance).or_default();
        place.restarts = place.restarts.max(worker.restarts_total);
        place.requests += worker.requests_total;
        if let Some(cpu_ms) = worker.cpu_ms_total {
            *place.cpu_ms.get_or_insert_default() += cpu_ms;
        }
        if let Some(rss_bytes) = worker.rss_bytes {
            *place.rss_bytes.get_or_insert_default() += rss_bytes;
        }
    }
    let places: Vec<(String, SlotTotals)> =
        places.into_iter().map(|(instance, place)| (instance.to_string(), place)).collect();
    page.metric(&metrics::WORKER_RESTARTS_TOTAL);
    for (instance, place) in &places {
        page.sample(&[("place", instance)], place.restarts);
    }
    page.metric(&metrics::WORKER_REQUESTS_TOTAL);
    for (instance, place) in &places {
        page.sample(&[("place", instance)], place.requests);
    }
    page.metric(&metrics::WORKER_CPU_SECONDS_TOTAL);
    for (instance, cpu_ms) in places.iter().filter_map(|(instance, place)| Some((instance, place.cpu_ms?))) {
        page.sample(&[("place", instance)], cpu_ms / 1000.0);
    }
    page.metric(&metrics::WORKER_RESIDENT_MEMORY_BYTES);
    for (instance, bytes) in places.iter().filter_map(|(instance, place)| Some((instance, place.rss_bytes?))) {
        page.sample(&[("place", instance)], bytes);
    }
}

fn write_runs(page: &mut Page, runs: &RunsSnapshot) {
    let bounds = runs.upper_us.iter().map(|us| in_seconds(*us)).chain([f64::INFINITY]);
    let buckets = bounds.zip(&runs.counts).map(|(bound, own)| Bucket { bound, own: *own, exemplar: None });
    page.metric(&metrics::RUN_DURATION_SECONDS).histogram(buckets, in_seconds(runs.time_us.iter().sum()));
    page.metric(&metrics::RUN_OBSERVED_SECONDS_TOTAL).sample(&[], in_seconds(runs.observed_us));
    page.metric(&metrics::COLLECTIONS_TOTAL).sample(&[], runs.collections);
    page.metric(&metrics::COLLECTION_SECONDS_TOTAL).sample(&[], in_seconds(runs.collected_us));
    page.metric(&metrics::REQUESTS_WITH_RUN_TOTAL);
    for (run, requests) in RUN_CLASSES[1..].iter().zip(&runs.requests_with) {
        page.sample(&[("run", run)], requests);
    }
}

#[allow(clippy::cast_precision_loss, reason = "shown to nobody who counts microseconds of centuries")]
fn in_seconds(us: u64) -> f64 {
    us as f64 / 1e6
}

fn write_react(page: &mut Page, react: &ReactSnapshot) {
    page.metric(&metrics::REACT_RENDERS_TOTAL).sample(&[], react.renders_total);
    page.metric(&metrics::REACT_FALLBACKS_TOTAL);
    for (why, count) in &react.fallbacks {
        page.sample(&[("why", why)], *count);
    }
}

fn write_component_cache(page: &mut Page, cache: ComponentCacheSnapshot) {
    page.metric(&metrics::COMPONENT_CACHE_HITS_TOTAL).sample(&[], cache.hits_total);
    page.metric(&metrics::COMPONENT_CACHE_MISSES_TOTAL).sample(&[], cache.misses_total);
    page.metric(&metrics::COMPONENT_CACHE_EVICTIONS_TOTAL).sample(&[], cache.evictions_total);
    page.metric(&metrics::COMPONENT_CACHE_BYTES).sample(&[], cache.bytes);
    page.metric(&metrics::COMPONENT_CACHE_MAX_BYTES).sample(&[], cache.bytes_max);
}

#[allow(clippy::cast_precision_loss, reason = "microseconds of CPU time are below 2^52 for a century")]
fn own_cpu_seconds() -> Option<f64> {
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    let used_us = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Some(used_us as f64 / 1_000_000.0)
}

/// Only where the kernel tells by a file; elsewhere the metric is left out.
fn own_resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sluice_catalog::metrics::Metric;

    use super::*;
    use crate::tests_support::{TestOperator, journal};

    /// Metrics of the catalogue that [`Operator::write_metrics`] has to write.
    static OPERATOR_METRICS: &[&Metric] = &[
        &metrics::CERTIFICATE_EXPIRY_SECONDS,
        &metrics::UPSTREAM_REQUESTS_TOTAL,
        &metrics::UPSTREAM_RETRIES_TOTAL,
        &metrics::UPSTREAM_FIRST_BYTE_SECONDS,
        &metrics::UPSTREAM_TARGETS,
        &metrics::UPSTREAM_CONNECTIONS,
        &metrics::TRACE_SPANS_TOTAL,
        &metrics::CONNECTIONS_TOTAL,
        &metrics::STREAMS_TOTAL,
        &metrics::COMPRESSION_ANSWERS_TOTAL,
        &metrics::COMPRESSION_FALLBACKS_TOTAL,
        &metrics::COMPRESSION_INPUT_BYTES_TOTAL,
        &metrics::COMPRESSION_OUTPUT_BYTES_TOTAL,
        &metrics::COMPRESSION_CPU_SECONDS_TOTAL,
        &metrics::MEMORY_BUFFERS_BYTES,
        &metrics::TEMP_BYTES,
        &metrics::CACHE_REQUESTS_TOTAL,
        &metrics::CACHE_STORED_TOTAL,
        &metrics::CACHE_PURGED_TOTAL,
        &metrics::CACHE_PAGES,
        &metrics::CACHE_BYTES,
        &metrics::INCLUDES_TOTAL,
        &metrics::CACHE_DISK_UP,
        &metrics::CACHE_DISK_PAGES,
        &metrics::CACHE_DISK_BYTES,
        &metrics::CACHE_DISK_LOOK_UPS_TOTAL,
        &metrics::CACHE_DISK_WRITES_TOTAL,
        &metrics::CACHE_SHARED_UP,
        &metrics::CACHE_SHARED_LOOK_UPS_TOTAL,
        &metrics::CACHE_SHARED_WRITES_TOTAL,
        &metrics::CACHE_SHARED_PURGES_TOTAL,
        &metrics::REQUESTS_RETRIED_TOTAL,
        &metrics::QUARANTINED_REQUESTS,
        &metrics::QUARANTINE_REFUSED_TOTAL,
        &metrics::ALARMS,
        &metrics::TRIAL_REQUESTS,
        &metrics::WORKERS_WANTED,
        &metrics::WORKER_HEAP_USED_BYTES,
        &metrics::WORKER_OPEN_DESCRIPTORS,
        &metrics::WORKER_DESCRIPTORS_MAX,
        &metrics::WORKER_EVENT_LOOP_UTILIZATION_RATIO,
        &metrics::EVENT_LOOP_DELAY_SECONDS,
        &metrics::WORKER_EVENT_LOOP_DELAY_SECONDS,
        &metrics::WORKER_GC_RATIO,
        &metrics::WORKER_UNATTRIBUTED_CPU_RATIO,
        &metrics::COMPONENT_RENDERS_TOTAL,
        &metrics::COMPONENT_CPU_SECONDS_TOTAL,
        &metrics::SETTING_PAGES_TOTAL,
        &metrics::SETTING_CPU_SECONDS_TOTAL,
        &metrics::APP_CALLS_TOTAL,
        &metrics::APP_CALL_ERRORS_TOTAL,
        &metrics::APP_CALL_FAILURES_TOTAL,
        &metrics::APP_CALL_ANSWERS_TOTAL,
        &metrics::APP_CALL_SECONDS_TOTAL,
        &metrics::APP_CALLS_WAITING,
        &metrics::GRAPH_CALLS_TOTAL,
        &metrics::GRAPH_CALL_PATHS_TOTAL,
        &metrics::GRAPH_CALL_SECONDS_TOTAL,
        &metrics::GRAPH_FAILURES_TOTAL,
        &metrics::GRAPH_DENIED_TOTAL,
        &metrics::GRAPH_UNANSWERED_TOTAL,
        &metrics::GRAPH_PAGES_TOTAL,
        &metrics::GRAPH_PAGE_REQUESTS_TOTAL,
        &metrics::GRAPH_FETCHES_TOTAL,
        &metrics::GRAPH_PATHS_TOTAL,
        &metrics::GRAPH_VALUES_TOTAL,
        &metrics::GRAPH_UNREAD_VALUES_TOTAL,
        &metrics::GRAPH_REPEATED_VALUES_TOTAL,
        &metrics::VITALS_REPORTS_TOTAL,
        &metrics::VITALS_SECONDS,
        &metrics::VITALS_LAYOUT_SHIFT,
        &metrics::VITALS_BYTES_TOTAL,
        &metrics::VITALS_FAULTS_TOTAL,
    ];

    #[test]
    fn every_metric_of_the_catalogue_is_on_the_page_once() {
        let text = page(&*TestOperator::shared(), &journal(), Exposition::default());
        let types: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
        let own: BTreeSet<&str> = types.iter().copied().collect();
        assert_eq!(own.len(), types.len(), "twice: {types:?}");
        let left: BTreeSet<&str> = OPERATOR_METRICS.iter().map(|metric| metric.name).collect();
        assert!(own.is_disjoint(&left));
        let known: BTreeSet<&str> = metrics::ALL.iter().map(|metric| metric.name).collect();
        assert_eq!(own.union(&left).copied().collect::<BTreeSet<_>>(), known);
    }

    #[test]
    fn labels_are_those_of_the_catalogue_and_no_series_stands_twice() {
        let text = page(&*TestOperator::shared(), &journal(), Exposition::default());
        let mut series = BTreeSet::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (name, value) = line.rsplit_once(' ').unwrap();
            value.parse::<f64>().unwrap();
            assert!(series.insert(name), "{name} stands twice");
            let (name, labels) = name.split_once('{').unwrap_or((name, ""));
            let metric = metrics::ALL
                .iter()
                .find(|metric| {
                    let rest = name.strip_prefix(metric.name);
                    rest.is_some_and(|rest| ["", "_bucket", "_sum", "_count"].contains(&rest))
                })
                .unwrap_or_else(|| panic!("{name} is unknown"));
            for label in labels.split("\",").filter(|label| !label.is_empty()) {
                let label = label.split('=').next().unwrap();
                assert!(label == "le" || metric.labels.contains(&label), "{label} in {line}");
            }
        }
        assert!(series.contains("sluice_worker_resident_memory_bytes{place=\"0\"}"));
    }
}
