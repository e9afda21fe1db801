//! The compose file.

use super::Plan;

pub fn compose(plan: &Plan) -> String {
    let Plan { name, port, times, .. } = plan;
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
            plan.ping_path,
            times.start_s()
        )
    };
    format!(
        include_str!("texts/compose.txt"),
        name = name,
        port = port,
        stop_s = times.stop_s(),
        health = health,
        capabilities = if plan.needs_low_port { "    cap_add: [NET_BIND_SERVICE]\n" } else { "" }
    )
}
