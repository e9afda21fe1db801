//! `sluice profile`.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use sluice_admin::protocol::Request;
use sluice_catalog::snapshot::{ComponentCpu, ProfileSnapshot};

use super::connect::{ClientError, Gateway};
use super::status::{aligned, duration, harmless, milliseconds};
use crate::args::ProfileArgs;
use crate::output;

/// What the gateway and the worker need beyond the profile's own time.
const LAST_STEPS_MAX: Duration = Duration::from_secs(30);
/// The most of a name that is shown.
const NAME_CHARS_MAX: usize = 60;
/// Rows that people read; `--json` has more.
const ROWS_MAX: usize = 40;

pub fn run(args: &ProfileArgs) -> Result<ExitCode, ClientError> {
    let mut gateway = Gateway::connect(&args.run_dir)?;
    gateway.set_patience(Some(Duration::from_millis(args.duration_ms) + LAST_STEPS_MAX))?;
    let reply = gateway.ask(&Request::Profile { worker: args.worker, duration_ms: args.duration_ms })?;
    let profile = reply.profile.unwrap_or_default();
    if args.json { gateway.print_json(&profile) } else { Ok(output::print(&table(&profile))) }
}

fn table(profile: &ProfileSnapshot) -> String {
    let ProfileSnapshot { worker, renders, samples, components, .. } = profile;
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "worker {worker}, {}: {} of CPU in {samples} samples, {renders} renders by @sluice/react",
        duration(profile.duration_ms / 1000.0),
        milliseconds(Some(profile.cpu_ms)),
    );
    let _ = writeln!(out, "whole profile: {}\n", harmless(&profile.file));
    if components.is_empty() {
        out.push_str("The main thread did nothing in that time.\n");
        return out;
    }
    let mut rows = vec![["COMPONENT", "SELF", "TOTAL", "SELF", "SELF/RENDER", "TOTAL/RENDER"].map(str::to_owned)];
    rows.extend(components.iter().take(ROWS_MAX).map(|component| row(component, profile)));
    out.push_str(&aligned(&rows));
    if components.len() > ROWS_MAX {
        let _ = writeln!(out, "… and {} more (--json)", components.len() - ROWS_MAX);
    }
    out
}

#[allow(clippy::cast_precision_loss, reason = "renders of a minute are far below 2^52")]
fn row(component: &ComponentCpu, profile: &ProfileSnapshot) -> [String; 6] {
    let per_render = |ms: f64| (profile.renders > 0).then(|| ms / profile.renders as f64);
    let share = if profile.cpu_ms > 0.0 { component.self_ms / profile.cpu_ms } else { 0.0 };
    [
        harmless(&component.component).chars().take(NAME_CHARS_MAX).collect(),
        milliseconds(Some(component.self_ms)),
        milliseconds(Some(component.total_ms)),
        format!("{:.1} %", share * 100.0),
        milliseconds(per_render(component.self_ms)),
        milliseconds(per_render(component.total_ms)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_what_each_component_took_of_a_render() {
        let cpu =
            |component: &str, self_ms, total_ms| ComponentCpu { component: component.to_owned(), self_ms, total_ms };
        let mut profile = ProfileSnapshot {
            worker: 3,
            duration_ms: 5000.0,
            renders: 100,
            samples: 9000,
            cpu_ms: 4000.0,
            components: vec![cpu("Card\u{1b}", 1000.0, 1500.0), cpu("(garbage collector)", 200.0, 200.0)],
            file: "/run/shop/profiles/worker-3.cpuprofile".to_owned(),
        };
        let text = table(&profile);
        assert!(
            text.starts_with("worker 3, 5.0 s: 4.00 s of CPU in 9000 samples, 100 renders by @sluice/react\n"),
            "{text}"
        );
        let words: Vec<_> = text.lines().nth(4).unwrap().split_whitespace().collect();
        assert_eq!(words.join(" "), "Card? 1.00 s 1.50 s 25.0 % 10 ms 15 ms");
        profile.renders = 0;
        assert!(table(&profile).lines().nth(4).unwrap().ends_with('-'));
        profile.components.clear();
        assert!(table(&profile).contains("did nothing"));
    }
}
