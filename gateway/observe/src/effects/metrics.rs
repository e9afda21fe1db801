//! Metrics of what workers and browsers report of rendering. It must not know where the reports come from.

use sluice_catalog::metrics::{self, BUCKETS_SECONDS};
use sluice_journal::{Bucket, Page};
use sluice_vitals::{CLS_BOUNDS, Device, Effects, Histogram, Measure};

pub(super) fn write(page: &mut Page, effects: &Effects) {
    page.metric(&metrics::COMPONENT_RENDERS_TOTAL);
    for (component, outcome, count) in effects.renders() {
        page.sample(&[("component", component), ("outcome", outcome)], count);
    }
    page.metric(&metrics::COMPONENT_CPU_SECONDS_TOTAL);
    for (component, us) in effects.component_cpu_us() {
        page.sample(&[("component", component)], in_seconds(us));
    }
    page.metric(&metrics::SETTING_PAGES_TOTAL);
    for (setting, pages, _) in effects.costs() {
        page.sample(&[("setting", setting)], pages);
    }
    page.metric(&metrics::SETTING_CPU_SECONDS_TOTAL);
    for (setting, _, us) in effects.costs() {
        page.sample(&[("setting", setting)], in_seconds(us));
    }
    write_vitals(page, effects);
}

fn write_vitals(page: &mut Page, effects: &Effects) {
    page.metric(&metrics::VITALS_REPORTS_TOTAL);
    for (setting, device, count) in effects.reports() {
        page.sample(&of(setting, device), count);
    }
    page.metric(&metrics::VITALS_SECONDS);
    for measure in Measure::ALL {
        for (setting, device, histogram) in effects.seconds(measure) {
            let [setting, device] = of(setting, device);
            write_histogram(page, &[("vital", measure.as_str()), setting, device], histogram, &BUCKETS_SECONDS);
        }
    }
    page.metric(&metrics::VITALS_LAYOUT_SHIFT);
    for (setting, device, histogram) in effects.shifts() {
        write_histogram(page, &of(setting, device), histogram, &CLS_BOUNDS);
    }
    page.metric(&metrics::VITALS_BYTES_TOTAL);
    for (setting, device, bytes) in effects.bytes() {
        let [setting, device] = of(setting, device);
        for (content, bytes) in ["html", "js"].into_iter().zip(bytes) {
            page.sample(&[("content", content), setting, device], bytes);
        }
    }
    page.metric(&metrics::VITALS_FAULTS_TOTAL);
    for (setting, device, faults) in effects.faults() {
        let [setting, device] = of(setting, device);
        for (fault, count) in ["mismatch", "failed"].into_iter().zip(faults) {
            page.sample(&[("fault", fault), setting, device], count);
        }
    }
}

fn of(setting: &str, device: Device) -> [(&'static str, &str); 2] {
    [("setting", setting), ("device", device.as_str())]
}

fn write_histogram<const BUCKETS: usize>(
    page: &mut Page,
    labels: &[(&str, &str)],
    histogram: &Histogram<BUCKETS>,
    bounds: &[f64],
) {
    let bounds = bounds.iter().copied().chain([f64::INFINITY]);
    let buckets = bounds.zip(histogram.counts).map(|(bound, own)| Bucket { bound, own, exemplar: None });
    page.histogram_of(labels, buckets, histogram.sum);
}

#[allow(clippy::cast_precision_loss, reason = "microseconds of CPU time are below 2^52 for a century")]
fn in_seconds(us: u64) -> f64 {
    us as f64 / 1e6
}
