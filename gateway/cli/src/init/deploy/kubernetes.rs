//! Kubernetes manifests: a deployment that loses no request when it rolls, its service, and a budget for drains of nodes. They are
//! what the chart in `packaging/helm/sluice` gives (`tests/deploy/chart.test.ts`).

use super::Plan;

/// Time that load balancers get to hear that a pod leaves, where the app's `drain.delay_ms` gives them none, milliseconds.
const DELAY_MS: u64 = 5_000;
/// Seconds between two probes.
const PERIOD_S: u64 = 2;

pub fn manifests(plan: &Plan) -> String {
    let Plan { name, port, times, .. } = plan;
    let more_ms = if times.delay_ms == 0 { DELAY_MS } else { 0 };
    format!(
        include_str!("texts/kubernetes.txt"),
        name = name,
        port = port,
        grace_s = times.stop_s() + more_ms / 1_000,
        delay_ms = times.delay_ms + more_ms,
        drain_ms = times.drain_ms,
        stop_ms = times.worker_stop_ms,
        start_ms = times.worker_start_ms,
        period_s = PERIOD_S,
        start_failures = times.start_s().div_ceil(PERIOD_S),
        capabilities = if plan.needs_low_port { "{ drop: [ALL], add: [NET_BIND_SERVICE] }" } else { "{ drop: [ALL] }" },
        service_port = if plan.is_tls { 443 } else { 80 }
    )
}
