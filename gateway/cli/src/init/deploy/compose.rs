//! The compose file.

use super::Plan;

pub fn compose(plan: &Plan) -> String {
    let Plan { name, port, stop_s, .. } = plan;
    let health = if plan.ping_path.is_empty() || plan.is_tls {
        String::new()
    } else {
        format!(
            "    healthcheck:
      test: [\"CMD\", \"node\", \"-e\", \"fetch('http://127.0.0.1:{port}{}').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))\"]
      interval: 10s
      timeout: 5s
      start_period: {}s
",
            plan.ping_path, plan.start_s
        )
    };
    format!(
        "# Written by `sluice init --compose`.
services:
  {name}:
    build: .
    image: {name}
    ports: [\"{port}:{port}\"]
    # Collects orphans of the app, and passes signals on.
    init: true
    # drain.delay_ms + drain.timeout_ms + workers.stop_timeout_ms + a little
    stop_grace_period: {stop_s}s
    restart: on-failure
    read_only: true
    cap_drop: [ALL]
{capabilities}    security_opt: [\"no-new-privileges:true\"]
    # Sockets, and bodies that wait for slow clients.
    tmpfs: [/tmp]
    # One worker runs for each CPU.
    deploy:
      resources:
        limits: {{ cpus: \"2\", memory: 2G }}
{health}",
        capabilities = if plan.needs_low_port { "    cap_add: [NET_BIND_SERVICE]\n" } else { "" }
    )
}
