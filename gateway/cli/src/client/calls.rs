//! Part of `sluice status` on the app's HTTP calls to other hosts.

use std::fmt::Write;

use sluice_catalog::snapshot::CalledHostSnapshot;

use super::status::{duration, harmless, milliseconds};

/// Hosts that `sluice status` shows; the dashboard and `--json` have all.
const HOSTS_MAX: usize = 5;

/// Nothing while the app has called nobody lately.
pub fn write_calls(out: &mut String, called: &[CalledHostSnapshot]) -> std::fmt::Result {
    let recent: Vec<_> = called.iter().filter(|host| host.calls > 0 || host.waiting > 0).collect();
    for host in recent.iter().take(HOSTS_MAX) {
        writeln!(out, "calls         {}", host_text(host))?;
    }
    let more = recent.len().saturating_sub(HOSTS_MAX);
    if more > 0 { writeln!(out, "              and {more} further hosts  (dashboard, --json)") } else { Ok(()) }
}

fn host_text(host: &CalledHostSnapshot) -> String {
    let CalledHostSnapshot { calls, errors, failures_total, p50_ms, p95_ms, share, waiting, oldest_ms, .. } = host;
    let mut text = format!("{}: {calls} in the last minute", harmless(&host.host));
    if p50_ms.is_some() {
        let _ = write!(
            text,
            ", p50 {}, p95 {}, {:.0} % of the time to answers",
            milliseconds(*p50_ms),
            milliseconds(*p95_ms),
            share * 100.0
        );
    }
    if *errors > 0 {
        let _ = write!(text, ", {errors} without an answer");
    }
    if *failures_total > 0 {
        let _ = write!(text, ", {failures_total} answers of 500 and above since the start");
    }
    if let Some(oldest_ms) = oldest_ms {
        let _ = write!(text, "; {waiting} waiting, the first for {}", duration(oldest_ms / 1000.0));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str) -> CalledHostSnapshot {
        CalledHostSnapshot {
            host: name.to_owned(),
            calls: 12,
            p50_ms: Some(4.0),
            p95_ms: Some(1200.0),
            share: 0.5,
            ..CalledHostSnapshot::default()
        }
    }

    fn written(called: &[CalledHostSnapshot]) -> String {
        let mut out = String::new();
        write_calls(&mut out, called).unwrap();
        out
    }

    #[test]
    fn recent_hosts_are_shown_with_what_is_wrong() {
        let quiet = CalledHostSnapshot { calls: 0, ..host("quiet.test") };
        assert_eq!(written(std::slice::from_ref(&quiet)), "");
        let stuck = CalledHostSnapshot {
            errors: 2,
            failures_total: 7,
            p50_ms: None,
            waiting: 3,
            oldest_ms: Some(12_500.0),
            ..host("stuck.test\u{1b}[2J")
        };
        assert_eq!(
            written(&[stuck, quiet, host("api.test:8080")]),
            "calls         stuck.test?[2J: 12 in the last minute, 2 without an answer, 7 answers of 500 and above since the \
             start; 3 waiting, the first for 12 s\n\
             calls         api.test:8080: 12 in the last minute, p50 4.00 ms, p95 1.20 s, 50 % of the time to answers\n"
        );
        assert!(written(&vec![host("one.test"); 7]).ends_with("and 2 further hosts  (dashboard, --json)\n"));
    }
}
