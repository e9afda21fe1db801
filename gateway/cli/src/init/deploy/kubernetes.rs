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
        "# Written by `sluice init --kubernetes`.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  labels: {{ app.kubernetes.io/name: {name} }}
spec:
  replicas: 2
  selector:
    matchLabels: {{ app.kubernetes.io/name: {name} }}
  strategy:
    rollingUpdate: {{ maxUnavailable: 0, maxSurge: 1 }}
  template:
    metadata:
      labels: {{ app.kubernetes.io/name: {name} }}
    spec:
      # preStop or drain.delay_ms, drain.timeout_ms, workers.stop_timeout_ms and a little
      terminationGracePeriodSeconds: {grace_s}
      automountServiceAccountToken: false
      securityContext:
        runAsNonRoot: true
        runAsUser: 1000
        runAsGroup: 1000
        fsGroup: 1000
        seccompProfile: {{ type: RuntimeDefault }}
      containers:
        - name: {name}
          image: {name}:latest # name the image that was pushed
          env:
            # Learned costs and profiles outlive a restart of the container.
            - {{ name: SLUICE_SERVER_STATE_DIR, value: /state/sluice }}
          ports:
            - {{ name: web, containerPort: {port} }}
{probes}{pre_stop}          resources:
            # One worker runs for each CPU of the limit.
            requests: {{ cpu: \"2\", memory: 1Gi }}
            limits: {{ cpu: \"2\", memory: 2Gi }}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: {capabilities}
          volumeMounts:
            - {{ name: tmp, mountPath: /tmp }}
            - {{ name: state, mountPath: /state }}
      volumes:
        - {{ name: tmp, emptyDir: {{}} }}
        - {{ name: state, emptyDir: {{}} }}
---
apiVersion: v1
kind: Service
metadata:
  name: {name}
  labels: {{ app.kubernetes.io/name: {name} }}
spec:
  selector: {{ app.kubernetes.io/name: {name} }}
  ports:
    - {{ name: web, port: {service_port}, targetPort: web }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {name}
spec:
  minAvailable: 1
  selector:
    matchLabels: {{ app.kubernetes.io/name: {name} }}
",
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
