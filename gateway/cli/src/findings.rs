//! Findings of comparisons, for people.

use sluice_compare::Finding;

/// A finding as a part of a sentence: `CPU time +11.2 % (+4.0 to +18.9)`.
pub fn said(finding: &Finding) -> String {
    let name = finding.measure.name();
    match finding.change {
        None => format!("{name} unknown"),
        Some(_) => format!("{name} {}", change_said(finding)),
    }
}

/// Change of a finding: `+11.2 % (+4.0 to +18.9)`.
pub fn change_said(finding: &Finding) -> String {
    let unit = if finding.measure.is_share() { " percentage points" } else { " %" };
    match finding.change {
        None => "unknown".to_owned(),
        Some(change) if change.low < change.high => {
            let [value, low, high] = [change.value, change.low, change.high].map(|part| part * 100.0);
            format!("{value:+.1}{unit} ({low:+.1} to {high:+.1})")
        }
        Some(change) => format!("{:+.1}{unit}", change.value * 100.0),
    }
}

/// Confidence in a difference, percent: never all of it.
pub fn percent_sure(finding: &Finding) -> f64 {
    ((finding.sure * 10_000.0).floor() / 100.0).min(99.99)
}
