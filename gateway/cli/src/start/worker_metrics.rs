//! Metrics of workers by their place in the pool, from what the supervisor knows of their processes.

use std::collections::BTreeMap;

use sluice_admin::descriptors;
use sluice_catalog::metrics::{self, BUCKETS_SECONDS, Metric};
use sluice_journal::{Bucket, Page};
use sluice_proxy::gate::Gate;
use sluice_scheduler::WorkerState as Life;
use sluice_supervisor::{ProcessView, Supervisor};

/// Numbers of one place. While a worker is replaced there are two in one place, of which the higher number counts, as two samples
/// with the same labels are not allowed.
#[derive(Default)]
struct SlotPeaks {
    utilization: Option<f64>,
    delay_s: Option<f64>,
    descriptors: Option<u64>,
    descriptors_max: Option<u64>,
}

impl SlotPeaks {
    fn add(&mut self, view: &ProcessView) {
        let higher =
            |before: Option<f64>, now: Option<f64>| now.map(|now| before.unwrap_or_default().max(now)).or(before);
        self.utilization = higher(self.utilization, view.event_loop_utilization);
        self.delay_s = higher(self.delay_s, view.event_loop_delay_max.map(|delay| delay.as_secs_f64()));
        let pid = view.pid.map(|pid| pid.to_string());
        self.descriptors = self.descriptors.max(pid.as_deref().and_then(descriptors::open));
        self.descriptors_max = self.descriptors_max.max(pid.as_deref().and_then(descriptors::limit));
    }
}

/// Writes all of them.
pub(super) fn write(page: &mut Page, gate: &Gate, supervisor: &Supervisor) {
    let views: Vec<_> = gate.scheduler.read(|scheduler| scheduler.workers().collect());
    let known: Vec<_> = views.iter().map(|view| (view, supervisor.view(view.worker))).collect();
    let mut places: BTreeMap<u32, SlotPeaks> = BTreeMap::new();
    for (worker, view) in &known {
        places.entry(worker.instance).or_default().add(view);
    }
    let places: Vec<_> = places.into_iter().map(|(place, numbers)| (place.to_string(), numbers)).collect();
    let ready: Vec<_> = known
        .iter()
        .filter(|(worker, _)| matches!(worker.state, Life::Ready | Life::Trial))
        .map(|(worker, view)| (worker.instance.to_string(), view))
        .collect();

    #[allow(clippy::cast_precision_loss, reason = "no heap has 2^53 bytes")]
    let heap = |view: &&ProcessView| view.heap_used_bytes.map(|bytes| bytes as f64);
    by_place(page, &metrics::WORKER_HEAP_USED_BYTES, &ready, heap);
    by_place(page, &metrics::WORKER_GC_RATIO, &ready, |view| view.gc_share);
    by_place(page, &metrics::WORKER_UNATTRIBUTED_CPU_RATIO, &ready, |view| view.lost_share);
    by_place(page, &metrics::WORKER_EVENT_LOOP_UTILIZATION_RATIO, &places, |place| place.utilization);
    by_place(page, &metrics::WORKER_EVENT_LOOP_DELAY_SECONDS, &places, |place| place.delay_s);
    #[allow(clippy::cast_precision_loss, reason = "no process has 2^53 descriptors")]
    let number = |number: Option<u64>| number.map(|number| number as f64);
    by_place(page, &metrics::WORKER_OPEN_DESCRIPTORS, &places, |place| number(place.descriptors));
    by_place(page, &metrics::WORKER_DESCRIPTORS_MAX, &places, |place| number(place.descriptors_max));

    let delays = supervisor.loop_delays();
    let bounds = BUCKETS_SECONDS.into_iter().chain([f64::INFINITY]);
    let buckets = bounds.zip(delays.counts).map(|(bound, own)| Bucket { bound, own, exemplar: None });
    page.metric(&metrics::EVENT_LOOP_DELAY_SECONDS).histogram(buckets, delays.sum.as_secs_f64());
}

fn by_place<T>(page: &mut Page, metric: &'static Metric, places: &[(String, T)], value: impl Fn(&T) -> Option<f64>) {
    page.metric(metric);
    for (place, value) in places.iter().filter_map(|(place, of)| Some((place, value(of)?))) {
        page.sample(&[("place", place)], value);
    }
}
