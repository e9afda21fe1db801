//! The systemd unit.

use std::fmt::Write as _;

use super::Plan;

/// Settings that take rights away from gateway and workers. The compiler of Node.js writes code and runs it, so memory stays
/// writable and executable.
const HARDENING: &str = "\
# Rights that neither gateway nor app needs. MemoryDenyWriteExecute= is not among them: V8 compiles to memory.
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
NoNewPrivileges=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
RemoveIPC=yes
LockPersonality=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged
SystemCallErrorNumber=EPERM
UMask=0077
";

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
        "# {name} under Sluice. Written by `sluice init --systemd`; check with `systemd-analyze verify ./{name}.service`.
[Unit]
Description={name}, served by Sluice
Wants=network-online.target
After=network-online.target

[Service]
# The gateway says when the first worker is ready, when a reload ends, and that it is alive. systemd 253 and later take
# Type=notify-reload, which waits for the end of a reload; leave ExecReload= out then.
Type=notify
# After `sluice upgrade` another process of the unit serves.
NotifyAccess=all
# A user for this service alone. For one of your own: User= and Group=.
DynamicUser=yes
WorkingDirectory={folder}
Environment=NODE_ENV=production
ExecStart={program} start{flags} --run-dir /run/{name}{app}
ExecReload={program} reload --run-dir /run/{name}
# SIGTERM goes to the gateway alone. The default would end the workers before they have drained.
KillMode=mixed
# workers.start_timeout_ms and a little
TimeoutStartSec={start_s}
# drain.delay_ms + drain.timeout_ms + workers.stop_timeout_ms + a little
TimeoutStopSec={stop_s}
WatchdogSec=30
Restart=on-failure
RestartSec=1
LimitNOFILE=65536

# Sockets, which systemd deletes at a stop; learned costs and profiles, which stay; compiled code, which may go.
RuntimeDirectory={name}
RuntimeDirectoryMode=0700
StateDirectory={name}
StateDirectoryMode=0700
CacheDirectory={name}
CacheDirectoryMode=0700

",
        start_s = plan.start_s,
        stop_s = plan.stop_s
    );
    if plan.needs_low_port {
        out += "# For ports below 1024, and nothing else.\nAmbientCapabilities=CAP_NET_BIND_SERVICE\nCapabilityBoundingSet=CAP_NET_BIND_SERVICE\n\n";
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
