//! The chart's autoscaler before made-up bursts, or before logs of your own: pods, late requests, and changes of direction.
//!
//! `cargo run --release -p sluice_plan --example scale`; `-- access.log` replays a log. The table is in
//! docs/guide/many-machines.md.

#![allow(clippy::print_stdout, reason = "it prints a table")]
#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader};

use sluice_plan::{Autoscaler, Fleet, Format, LogReader, Scaled, Stretch, scaling};
use sluice_sketch::Times;

/// Time after the last request in which the fleet becomes small again, seconds.
const CALM_S: f64 = 1_800.0;

#[path = "../tests/bursts/mod.rs"]
mod bursts;

fn row(name: &str, of: &Scaled) {
    let share = |part: u64| part as f64 / of.requests.max(1) as f64 * 100.0;
    let p99_ms = Times::percentiles(&[&of.waits].into_iter(), [99]).map_or(0.0, |[us]| us / 1e3);
    println!(
        "| {name} | {} | {} | {:.2} % | {:.2} % | {p99_ms:.0} | {:.2} |",
        of.most(),
        of.turns(),
        share(of.late),
        share(of.refused),
        of.pod_s / 3_600.0
    );
}

fn table(name: &str, stretch: &Stretch) {
    let shipped = Autoscaler::default();
    println!("\n{name}: {} requests in {:.0} min", stretch.len(), stretch.span_us() as f64 / 6e7);
    println!("\n| autoscaler | most pods | turns | late | refused | p99 of the wait, ms | pod hours |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let fleet = Fleet { workers: 2, start_s: 20.0, first: 1, traffic: 1_000, late_ms: 1_000, seed: 1 };
    let cases = [
        ("as shipped", shipped, fleet),
        ("from 1 pod", Autoscaler { min: 1, ..shipped }, fleet),
        ("pods start in 60 s", shipped, Fleet { start_s: 60.0, ..fleet }),
        ("wait alone", Autoscaler { cpu_percent: None, ..shipped }, fleet),
        ("CPU alone", Autoscaler { wait_ms: 1e9, ..shipped }, fleet),
        ("half of both thresholds", scaled(0.5), fleet),
        ("twice the wait, 100 % CPU", scaled(2.0), fleet),
        ("10 pods always", Autoscaler { min: 10, ..shipped }, fleet),
    ];
    for (name, settings, fleet) in cases {
        row(name, &scaling(stretch, &fleet, settings, CALM_S));
    }
    let steps = scaling(stretch, &fleet, shipped, CALM_S).steps;
    let text = steps.iter().fold(String::new(), |mut text, (at_s, pods)| {
        let _ = write!(text, " {:.0}:{pods}", at_s / 60.0);
        text
    });
    println!("\npods by minute, as shipped:{text}");
}

/// Thresholds that are so many times the shipped ones; a pod cannot use more than all of its CPUs.
fn scaled(times: f64) -> Autoscaler {
    let shipped = Autoscaler::default();
    let cpu_percent = shipped.cpu_percent.map(|percent| (percent * times).min(100.0));
    Autoscaler { wait_ms: shipped.wait_ms * times, cpu_percent, ..shipped }
}

fn main() -> io::Result<()> {
    let logs: Vec<String> = std::env::args().skip(1).collect();
    for name in &logs {
        let mut reader = LogReader::new(Format::default(), 1);
        reader.read(name, &mut BufReader::new(File::open(name)?))?;
        table(name, &reader.busiest(usize::MAX).0);
    }
    if logs.is_empty() {
        for burst in bursts::ALL {
            table(burst.name, &burst.log());
        }
        for times in [25, 40] {
            table(&format!("recorded visitors, {times} times as many"), &bursts::recorded(times));
        }
    }
    Ok(())
}
