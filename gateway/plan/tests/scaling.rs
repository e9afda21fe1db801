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

/// Ten times as many recorded visitors from one second to the next, 60 s and 180 s after the beginning, with thresholds that are so many
/// times the shipped ones. A pod cannot use more than all of its CPUs.
fn of_recorded(times_as_many: u64, thresholds: f64) -> Scaled {
    let shipped = Autoscaler::default();
    let cpu_percent = shipped.cpu_percent.map(|percent| (percent * thresholds).min(100.0));
    let settings = Autoscaler { wait_ms: shipped.wait_ms * thresholds, cpu_percent, ..shipped };
    let of = scaling(&bursts::recorded(times_as_many), &FLEET, settings, 1_800.0);
    assert_eq!(of.waits.total() + of.refused, of.requests, "every request ends");
    of
}

/// Percent of the requests that waited for too long, or were refused.
#[allow(clippy::cast_precision_loss, reason = "small")]
fn unwell(of: &Scaled) -> f64 {
    (of.late + of.refused) as f64 / of.requests as f64 * 100.0
}

#[test]
fn fleet_has_caught_up_with_a_recorded_burst_after_a_minute_and_stays_for_the_next_one() {
    let of = of_recorded(40, 1.0);
    assert!(of.late_until_s > 60.0, "a burst that takes more than the first pods have: {}", of.late_until_s);
    assert!(of.late_until_s < 120.0, "{} {:?}", of.late_until_s, of.steps);
    assert!(unwell(&of) < 20.0, "{}", unwell(&of));
    assert!(of.turns() <= 1 && last(&of) == 2, "{:?}", of.steps);
}

#[test]
fn other_thresholds_do_not_make_pods_start_sooner() {
    let [half, shipped, twice] = [0.5, 1.0, 2.0].map(|thresholds| of_recorded(40, thresholds));
    for of in [&half, &twice] {
        assert!((of.late_until_s - shipped.late_until_s).abs() < 5.0, "{} {}", of.late_until_s, shipped.late_until_s);
        assert!((unwell(of) - unwell(&shipped)).abs() < 1.0, "{} {}", unwell(of), unwell(&shipped));
    }
    assert!(half.pod_s > shipped.pod_s && shipped.pod_s > twice.pod_s);
}

#[test]
fn half_of_the_thresholds_help_in_a_burst_that_first_pods_nearly_carry_and_twice_of_them_harm() {
    let [half, shipped, twice] = [0.5, 1.0, 2.0].map(|thresholds| of_recorded(25, thresholds));
    assert!(unwell(&half) < 0.5 && half.late_until_s < 120.0, "{} {}", unwell(&half), half.late_until_s);
    assert!((1.0..4.0).contains(&unwell(&shipped)), "{}", unwell(&shipped));
    assert!(unwell(&twice) > unwell(&shipped) + 1.0, "{} {}", unwell(&twice), unwell(&shipped));
    assert!(half.pod_s > shipped.pod_s * 1.2, "what it costs: {} {}", half.pod_s, shipped.pod_s);
}
