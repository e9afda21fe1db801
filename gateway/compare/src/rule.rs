//! Consequences of findings: the version on trial continues, passes, waits for a person, or is turned back.

use std::time::Duration;

use crate::{Arm, Comparison, Finding, Measure, Verdict};

/// Rule of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Time for which the version is tried at least.
    pub lasts: Duration,
    /// Requests of it that must have been compared before it passes.
    pub requests_min: u64,
    /// Whether a person says if it passes: by wish, or because one was asked before. Then nothing passes by itself.
    pub asks: bool,
}

/// Step that is due for the version on trial.
#[derive(Clone, Debug, PartialEq)]
pub enum Ruling {
    /// The trial continues.
    GoesOn,
    /// The version passes.
    Passes,
    /// A person says what follows, for the reason in the text. From now on [`Rule::asks`] must be set: no later comparison is an answer.
    Asks(String),
    /// The version is turned back for this finding.
    Back(Finding),
}

impl Rule {
    /// Judges by the comparison, so long after the trial's start.
    pub fn judge(&self, comparison: &Comparison, since: Duration) -> Ruling {
        let findings = comparison.findings();
        let worse = |measure| findings.iter().any(|of| of.measure == measure && of.verdict == Verdict::Worse);
        // Heaps have no test, and service time depends on the load, which no two workers share alike.
        let turns_back = |finding: &&Finding| {
            finding.verdict == Verdict::Worse && !matches!(finding.measure, Measure::Heap | Measure::Service)
        };
        if let Some(worst) = findings.iter().filter(turns_back).max_by(|a, b| a.sure.total_cmp(&b.sure)) {
            return Ruling::Back(*worst);
        }
        if worse(Measure::Service) {
            return Ruling::Asks("service time is longer, possibly because of the load of its workers".to_owned());
        }
        if since < self.lasts {
            return Ruling::GoesOn;
        }
        if self.asks {
            return Ruling::Asks("the time has passed".to_owned());
        }
        if worse(Measure::Heap) {
            return Ruling::Asks(
                "the heap grows and is larger than that of any worker of the current version".to_owned(),
            );
        }
        if comparison.fails_more() {
            return Ruling::Asks("more requests or parts of pages fail, maybe for few visitors".to_owned());
        }
        let compared = comparison.compared(Arm::Trial);
        if compared < self.requests_min {
            return Ruling::Asks(format!(
                "the time has passed, and {compared} of {} requests have been compared",
                self.requests_min
            ));
        }
        let is_open = |of: &&Finding| of.verdict == Verdict::Unknown && comparison.has_times(of.measure);
        if let Some(open) = findings.iter().find(is_open) {
            let name = open.measure.name();
            return Ruling::Asks(format!("the time has passed, and too little is known of {name}"));
        }
        Ruling::Passes
    }
}
