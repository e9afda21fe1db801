//! The systemd unit.

use std::fmt::Write as _;

use super::Plan;

/// Settings that take rights away from gateway and workers. The compiler of Node.js writes code and runs it, so memory stays
/// writable and executable.
const HARDENING: &str = include_str!("texts/hardening.txt");

pub fn unit(plan: &Plan) -> String {
    let name = &plan.name;
    let program = if plan.has_own_sluice() {
        format!("/srv/{name}/node_modules/.bin/sluice")
    } else {
        "/usr/local/bin/sluice".to_owned()
    };
    let args: String = plan.start_args.iter().fold(String::new(), |mut out, word| {
        let _ = write!(out, " {}", quoted(word));
        out
    });
    let (flags, app): (&str, &str) = if args.starts_with(" --") { ("", &args) } else { (&args, "") };
    let folder = if plan.is_standalone { format!("/srv/{name}/.next/standalone") } else { format!("/srv/{name}") };
    let mut out = format!(
        include_str!("texts/unit.txt"),
        name = name,
        folder = folder,
        program = program,
        flags = flags,
        app = app,
        start_s = plan.times.start_s(),
        stop_s = plan.times.stop_s()
    );
    if plan.needs_low_port {
        out += "# Only for ports below 1024.\nAmbientCapabilities=CAP_NET_BIND_SERVICE\nCapabilityBoundingSet=CAP_NET_BIND_SERVICE\n\n";
    } else {
        out += "CapabilityBoundingSet=\n\n";
    }
    out += HARDENING;
    out += "\n[Install]\nWantedBy=multi-user.target\n";
    out
}

/// One word of a command line: `%` begins specifiers there, `$` variables.
fn quoted(word: &str) -> String {
    let escaped = word.replace('%', "%%").replace('$', "$$");
    if escaped.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./=:@%$".contains(&byte)) {
        return escaped;
    }
    format!("\"{}\"", escaped.replace('\\', "\\\\").replace('"', "\\\""))
}
