//! Kubernetes manifests: a deployment that loses no request when it rolls, its service, and a budget for drains of nodes.

use std::fmt::Write as _;

use super::Plan;

/// Seconds that load balancers get to hear that a pod leaves, where the app's `drain.delay_ms` gives them none.
const PRE_STOP_S: u64 = 5;
/// Seconds between two probes.
const PERIOD_S: u64 = 2;

pub fn manifests(plan: &Plan) -> String {
    let Plan { name, port, .. } = plan;
    let (pre_stop, grace_s) = if plan.delay_s == 0 {
        let pre_stop = format!(
            "          lifecycle:
            # Requests still come while endpoints are taken out of balancers.
            preStop: {{ exec: {{ command: [\"sleep\", \"{PRE_STOP_S}\"] }} }}
"
        );
        (pre_stop, plan.stop_s + PRE_STOP_S)
    } else {
        // The gateway itself goes on accepting for `drain.delay_ms`.
        (String::new(), plan.stop_s)
    };
    let capabilities = if plan.needs_low_port { "{ drop: [ALL], add: [NET_BIND_SERVICE] }" } else { "{ drop: [ALL] }" };
    format!(
        include_str!("texts/kubernetes.txt"),
        name = name,
        port = port,
        grace_s = grace_s,
        capabilities = capabilities,
        pre_stop = pre_stop,
        probes = probes(plan),
        service_port = if plan.is_tls { 443 } else { 80 }
    )
}

/// No worker answers them, so that a busy app does not fail them.
fn probes(plan: &Plan) -> String {
    let scheme = if plan.is_tls { "HTTPS" } else { "HTTP" };
    let mut out = String::new();
    let mut add = |kind: &str, path: &str, failures: u64| {
        if !path.is_empty() {
            let _ = writeln!(
                out,
                "          {kind}:\n            httpGet: {{ path: {path:?}, port: web, scheme: {scheme} }}\n            periodSeconds: {PERIOD_S}\n            failureThreshold: {failures}"
            );
        }
    };
    add("startupProbe", &plan.ready_path, plan.start_s.div_ceil(PERIOD_S));
    add("readinessProbe", &plan.ready_path, 2);
    add("livenessProbe", &plan.ping_path, 10);
    out
}
