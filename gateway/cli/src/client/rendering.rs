//! Part of `sluice status` on rendering: the dial, components, and what pages with each setting cost and were like.

use std::collections::BTreeMap;
use std::fmt::Write;

use sluice_catalog::snapshot::{
    ArmSnapshot, DialSnapshot, EffectsSnapshot, ExperimentSnapshot, FindingSnapshot, SettingSnapshot, VitalsSnapshot,
};

use super::status::{duration, harmless, milliseconds};

/// Settings of the dial that `sluice status` shows; the dashboard and `--json` have all.
const SETTINGS_MAX: usize = 6;
/// Experiments that `sluice status` shows.
const EXPERIMENTS_MAX: usize = 6;

/// Nothing where neither `@sluice/render` nor `render.server` is in use.
pub fn write_rendering(out: &mut String, dial: &DialSnapshot, effects: Option<&EffectsSnapshot>) -> std::fmt::Result {
    let is_set = dial.turned || dial.server.len() > 1 || dial.server.values().any(|share| share != "100%");
    if is_set || effects.is_some() {
        writeln!(out, "dial          {}", dial_text(dial))?;
    }
    let Some(effects) = effects else { return Ok(()) };
    if effects.components_count > 0 {
        writeln!(out, "components    {}", components_text(effects))?;
    }
    for setting in effects.settings.iter().take(SETTINGS_MAX) {
        writeln!(out, "  {:<12}{}", harmless(&setting.name), setting_text(setting))?;
    }
    let more = effects.settings.len().saturating_sub(SETTINGS_MAX);
    if more > 0 {
        writeln!(out, "  and {more} further settings  (dashboard, --json)")?;
    }
    for experiment in effects.experiments.iter().take(EXPERIMENTS_MAX) {
        for arm in experiment.arms.iter().filter(|arm| arm.name != experiment.baseline) {
            writeln!(out, "experiment    {}", arm_text(experiment, arm))?;
        }
        if experiment.left_out > 0 {
            let name = harmless(&experiment.name);
            writeln!(
                out,
                "  and {} further arms of {name}, which are not compared: at most 8 are",
                experiment.left_out
            )?;
        }
    }
    let more = effects.experiments.len().saturating_sub(EXPERIMENTS_MAX);
    if more > 0 { writeln!(out, "  and {more} further experiments  (dashboard, --json)") } else { Ok(()) }
}

fn dial_text(dial: &DialSnapshot) -> String {
    let shares: Vec<String> =
        dial.server.iter().map(|(name, share)| format!("{} {}", harmless(name), harmless(share))).collect();
    let turned = if dial.turned { "  (until the next reload)" } else { "" };
    format!("on the server for {} of visitors{turned}", shares.join(", "))
}

fn components_text(effects: &EffectsSnapshot) -> String {
    let mut outcomes: BTreeMap<&str, u64> = BTreeMap::new();
    for (outcome, count) in effects.components.iter().flat_map(|component| &component.outcomes) {
        *outcomes.entry(outcome).or_default() += count;
    }
    let cpu_ms: f64 = effects.components.iter().map(|component| component.cpu_ms_total).sum();
    let mut outcomes: Vec<_> = outcomes.into_iter().collect();
    outcomes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let outcomes: Vec<_> =
        outcomes.into_iter().map(|(outcome, count)| format!("{} {count}", harmless(outcome))).collect();
    let of = match effects.components_count {
        count if count > effects.components.len() as u64 => format!("{} of {count}", effects.components.len()),
        count => count.to_string(),
    };
    format!("{of}: {}; CPU {}", outcomes.join(", "), duration(cpu_ms / 1000.0))
}

/// An arm beside the baseline of its experiment: what surely differs, and by how much.
fn arm_text(experiment: &ExperimentSnapshot, arm: &ArmSnapshot) -> String {
    let baseline = experiment.arms.iter().find(|arm| arm.name == experiment.baseline);
    let mut text = format!(
        "{} {} ({} views) against {} ({}): ",
        harmless(&experiment.name),
        harmless(&arm.name),
        arm.views,
        harmless(&experiment.baseline),
        baseline.map_or(0, |baseline| baseline.views)
    );
    let told: Vec<String> =
        arm.findings.iter().map(|finding| format!("{} {}", finding.measure, change_text(finding))).collect();
    text.push_str(if told.is_empty() { "too few views for a result" } else { "" });
    text + &told.join("; ")
}

fn change_text(finding: &FindingSnapshot) -> String {
    let percent = |share: Option<f64>| share.map_or_else(String::new, |share| format!("{:+.1}", share * 100.0));
    let sure = match finding.verdict.as_str() {
        "worse" | "better" => format!("{}, {:.2} % sure", finding.verdict, (finding.sure * 100.0).min(99.99)),
        "equal" => "alike".to_owned(),
        _ => "not sure".to_owned(),
    };
    let [change, low, high] = [finding.change, finding.low, finding.high].map(percent);
    format!("{change} % ({low} to {high}), {sure}")
}

fn setting_text(setting: &SettingSnapshot) -> String {
    let mut text = format!("{} pages", setting.pages_total);
    if let Some(cpu_ms) = setting.cpu_ms_per_page {
        let _ = write!(text, ", CPU {} each", milliseconds(Some(cpu_ms)));
    }
    for vitals in &setting.devices {
        let VitalsSnapshot { name, reports_total, ttfb_ms, lcp_ms, inp_ms, tti_ms, key_ms, long_ms, .. } = vitals;
        let _ = write!(text, "; {} {reports_total} visitors", harmless(name));
        let measures = [
            ("TTFB", ttfb_ms),
            ("LCP", lcp_ms),
            ("INP", inp_ms),
            ("TTI", tti_ms),
            ("key", key_ms),
            ("long frames", long_ms),
        ];
        for (measure, ms) in measures {
            if ms.is_some() {
                let _ = write!(text, ", {measure} {}", milliseconds(*ms));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use sluice_catalog::snapshot::ComponentSnapshot;

    use super::*;

    fn written(dial: &DialSnapshot, effects: Option<&EffectsSnapshot>) -> String {
        let mut out = String::new();
        write_rendering(&mut out, dial, effects).unwrap();
        out
    }

    fn dial(shares: &[(&str, &str)], turned: bool) -> DialSnapshot {
        let server = shares.iter().map(|(name, share)| ((*name).to_owned(), (*share).to_owned())).collect();
        DialSnapshot { server, turned }
    }

    #[test]
    fn nothing_is_said_of_rendering_where_nobody_uses_it() {
        assert_eq!(written(&dial(&[("*", "100%")], false), None), "");
        assert_eq!(written(&DialSnapshot::default(), None), "", "of a gateway that knows no dial");
    }

    #[test]
    fn arms_are_shown_with_what_surely_differs() {
        let finding = |verdict: &str, sure: f64| FindingSnapshot {
            measure: "time to interactive".to_owned(),
            verdict: verdict.to_owned(),
            change: Some(0.12),
            low: Some(0.08),
            high: Some(0.163),
            sure,
            is_share: false,
        };
        let arm = |name: &str, views, findings| ArmSnapshot { name: name.to_owned(), views, findings };
        let arms = vec![
            arm("big", 900, vec![finding("worse", 1.0)]),
            arm("control", 8100, vec![]),
            arm("new\u{1b}", 3, vec![]),
            arm("small", 900, vec![finding("unknown", 0.4)]),
        ];
        let card = ExperimentSnapshot { name: "card".to_owned(), baseline: "control".to_owned(), arms, left_out: 2 };
        let effects = EffectsSnapshot { experiments: vec![card], ..EffectsSnapshot::default() };
        let text = written(&DialSnapshot::default(), Some(&effects));
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                "experiment    card big (900 views) against control (8100): time to interactive +12.0 % (+8.0 to +16.3), worse, 99.99 % sure",
                "experiment    card new? (3 views) against control (8100): too few views for a result",
                "experiment    card small (900 views) against control (8100): time to interactive +12.0 % (+8.0 to +16.3), not sure",
                "  and 2 further arms of card, which are not compared: at most 8 are",
            ]
        );
    }

    #[test]
    fn dial_is_shown_with_what_it_does() {
        let mobile = VitalsSnapshot {
            name: "mobile".to_owned(),
            reports_total: 12,
            ttfb_ms: Some(80.0),
            lcp_ms: Some(1900.0),
            ..VitalsSnapshot::default()
        };
        let setting = SettingSnapshot {
            name: "s50".to_owned(),
            pages_total: 4,
            cpu_ms_total: 40.0,
            cpu_ms_per_page: Some(10.0),
            devices: vec![mobile],
        };
        let outcomes = [("rendered", 90), ("error", 2)].map(|(outcome, count)| (outcome.to_owned(), count)).into();
        let component = ComponentSnapshot { name: "Price".to_owned(), outcomes, cpu_ms_total: 40.0 };
        let effects = EffectsSnapshot {
            components: vec![component],
            components_count: 1,
            settings: vec![setting; 7],
            ..EffectsSnapshot::default()
        };
        let text = written(&dial(&[("*", "50%"), ("Price@bot", "100%")], true), Some(&effects));
        let mut lines = text.lines();
        let first = "dial          on the server for * 50%, Price@bot 100% of visitors  (until the next reload)";
        assert_eq!(lines.next(), Some(first));
        assert_eq!(lines.next(), Some("components    1: rendered 90, error 2; CPU 40 ms"));
        let setting = "  s50         4 pages, CPU 10 ms each; mobile 12 visitors, TTFB 80 ms, LCP 1.90 s";
        assert_eq!(lines.next(), Some(setting));
        assert_eq!(lines.last(), Some("  and 1 further settings  (dashboard, --json)"));
    }
}
