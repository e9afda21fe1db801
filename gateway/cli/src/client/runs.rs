//! Uninterrupted runs of workers' main threads, as `sluice status` shows them.

use std::fmt::Write;

use sluice_catalog::snapshot::{LongRunSnapshot, RUN_CLASSES_US, RunsSnapshot};

use super::status::{harmless, milliseconds};

/// Name of each class of runs.
const CLASSES: [&str; RUN_CLASSES_US.len()] =
    ["below 1 ms", "of 1 to 10 ms", "of 10 to 100 ms", "of 100 ms to 1 s", "longer"];
/// Classes of runs that are told to be in the way of others: from 10 ms.
const IN_THE_WAY: [(usize, &str); 3] = [(2, "10 ms"), (3, "100 ms"), (4, "1 s")];

/// Nothing while no worker has told of any.
pub(super) fn write_runs(out: &mut String, runs: &RunsSnapshot) -> std::fmt::Result {
    if runs.observed_us == 0 {
        return Ok(());
    }
    let classes = runs.by_class();
    let counts: Vec<String> = CLASSES.iter().zip(classes).map(|(name, (count, _))| format!("{count} {name}")).collect();
    let collector = percent(runs.collected_us, runs.observed_us);
    writeln!(out, "runs          {}; garbage collector {collector} of the time", counts.join(", "))?;
    let chances: Vec<String> = IN_THE_WAY
        .iter()
        .map(|(from, name)| {
            let time_us = classes[*from..].iter().map(|(_, time_us)| time_us).sum();
            format!("{} behind a run above {name}", percent(time_us, runs.observed_us))
        })
        .collect();
    let with = runs.requests_with.get(1).copied().unwrap_or(0);
    writeln!(
        out,
        "              an arriving request waits with a probability of {}; {} of requests have a run above 10 ms",
        chances.join(", "),
        percent(with, runs.requests)
    )?;
    match runs.longest.iter().max_by(|one, other| one.ms.total_cmp(&other.ms)) {
        Some(longest) => writeln!(out, "              longest recent run: {}", longest_text(longest)),
        None => Ok(()),
    }
}

fn longest_text(run: &LongRunSnapshot) -> String {
    let mut text = format!("{} in worker {}", milliseconds(Some(run.ms)), run.worker);
    if let Some(place) = &run.place {
        let _ = write!(text, ", killed in {}", harmless(place));
    }
    if let Some(cpu_ms) = run.cpu_ms {
        let _ = write!(text, ", {} of it on a CPU", milliseconds(Some(cpu_ms)));
    }
    if let Some(spent) = run.spent.as_deref().filter(|spent| *spent != "computing") {
        let _ = write!(text, ", {}", harmless(spent));
    }
    if run.collected_ms > 0.0 {
        let _ = write!(text, " ({} of it in the garbage collector)", milliseconds(Some(run.collected_ms)));
    }
    match (&run.class, &run.request) {
        (Some(class), Some(request)) => {
            let _ = write!(text, ", {} ({})", harmless(class), harmless(request));
        }
        _ => text.push_str(", not attributed to a request"),
    }
    text
}

#[allow(clippy::cast_precision_loss, reason = "shown with two decimals")]
fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    format!("{:.2} %", part as f64 / whole as f64 * 100.0)
}

#[cfg(test)]
mod tests {
    use sluice_catalog::snapshot::{RUN_BOUNDS_US, RUN_BUCKETS};

    use super::*;

    #[test]
    fn runs_are_told_with_what_they_mean_for_others() {
        let mut out = String::new();
        write_runs(&mut out, &RunsSnapshot::default()).unwrap();
        assert_eq!(out, "");
        let mut runs = RunsSnapshot {
            upper_us: RUN_BOUNDS_US.to_vec(),
            counts: vec![0; RUN_BUCKETS],
            time_us: vec![0; RUN_BUCKETS],
            observed_us: 10_000_000,
            collected_us: 100_000,
            requests: 200,
            requests_with: vec![100, 4, 1, 0],
            ..RunsSnapshot::default()
        };
        (runs.counts[0], runs.counts[10], runs.time_us[10]) = (900, 5, 75_000);
        (runs.counts[13], runs.time_us[13]) = (1, 150_000);
        runs.longest = vec![LongRunSnapshot {
            ms: 150.0,
            collected_ms: 2.5,
            cpu_ms: Some(12.0),
            spent: Some("starved".to_owned()),
            worker: 3,
            request: Some("id\x1b".to_owned()),
            class: Some("shop GET /all".to_owned()),
            ..LongRunSnapshot::default()
        }];
        write_runs(&mut out, &runs).unwrap();
        assert!(
            out.contains("900 below 1 ms, 0 of 1 to 10 ms, 5 of 10 to 100 ms, 1 of 100 ms to 1 s, 0 longer"),
            "{out}"
        );
        assert!(out.contains("garbage collector 1.00 % of the time"), "{out}");
        assert!(out.contains("2.25 % behind a run above 10 ms, 1.50 % behind a run above 100 ms, 0.00 %"), "{out}");
        assert!(out.contains("; 2.00 % of requests have"), "{out}");
        let killed = LongRunSnapshot { place: Some("spin (app.js:2:9)".to_owned()), ..runs.longest[0].clone() };
        assert!(longest_text(&killed).starts_with("150 ms in worker 3, killed in spin (app.js:2:9), "), "{killed:?}");
        assert!(
            out.contains(
                "150 ms in worker 3, 12 ms of it on a CPU, starved (2.50 ms of it in the garbage \
            collector), shop GET /all (id?)"
            ),
            "{out}"
        );
    }
}
