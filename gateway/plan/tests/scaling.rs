//! The chart's autoscaler: from few pods to many and back, without flapping, with the settings that are shipped.

mod bursts;

use std::path::Path;

use bursts::ALL;
use sluice_plan::{Autoscaler, Fleet, Scaled, scaling};

const FLEET: Fleet = Fleet { workers: 2, start_s: 20.0, first: 1, traffic: 1_000, late_ms: 1_000, seed: 1 };

fn run(burst: usize, settings: Autoscaler) -> Scaled {
    let of = scaling(&ALL[burst].log(), &FLEET, settings, 1_800.0);
    assert_eq!(of.waits.total() + of.refused, of.requests, "{}: every request ends", ALL[burst].name);
    of
}

fn last(of: &Scaled) -> usize {
    of.steps.last().expect("a first step").1
}

#[test]
fn simulated_settings_are_those_of_the_chart() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/helm/sluice/values.yaml");
    let text = std::fs::read_to_string(file).expect("the chart's values");
    let part = text.split_once("\nautoscaling:\n").expect("a part on autoscaling").1;
    let part = part.split_once("\n  keda:\n").expect("its end").0;
    let (settings, number) = (Autoscaler::default(), |value: f64| format!("{value}"));
    let pace = |pace: sluice_plan::Pace| [pace.pods, pace.percent, pace.period_s].map(|value| value.to_string());
    let ([up_pods, up_percent, up_period], [_, down_percent, down_period]) = (pace(settings.up), pace(settings.down));
    let expected = [
        ("min", settings.min.to_string()),
        ("max", settings.max.to_string()),
        ("waitMs", number(settings.wait_ms)),
        ("cpuPercent", number(settings.cpu_percent.expect("a share"))),
        ("pods", up_pods),
        ("percent", up_percent),
        ("period", up_period),
        ("after", number(settings.down_after_s)),
        ("percent", down_percent),
        ("period", down_period),
    ];
    let lines = part.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let found: Vec<(&str, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .filter(|(key, _)| *key != "by")
        .map(|(key, value)| (key, value.to_owned()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn fleet_grows_from_one_pod_and_becomes_one_again() {
    for is_external in [false, true] {
        let of = run(0, Autoscaler { min: 1, is_external, ..Autoscaler::default() });
        assert!(of.most() >= 6 && last(&of) == 1, "{:?}", of.steps);
        assert!(of.turns() <= 1, "one burst: up and down once, {:?}", of.steps);
    }
}

#[test]
fn steady_traffic_and_spikes_do_not_make_the_fleet_flap() {
    let steady = run(3, Autoscaler::default());
    assert!(steady.turns() <= 1, "{:?}", steady.steps);
    // A spike every six minutes: the pods stay for the next one.
    let spikes = run(2, Autoscaler::default());
    assert!(spikes.turns() <= 4, "{:?}", spikes.steps);
    assert_eq!(last(&spikes), 2);
}

#[test]
fn wait_alone_flaps_where_cpu_keeps_the_pods() {
    let both = run(1, Autoscaler::default());
    let alone = run(1, Autoscaler { cpu_percent: None, ..Autoscaler::default() });
    assert!(both.turns() < alone.turns(), "{:?} {:?}", both.steps, alone.steps);
}
