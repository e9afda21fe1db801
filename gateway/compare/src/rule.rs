//! What follows from findings: the version on trial goes on, passes, waits for a person, or is turned back.

use std::time::Duration;

use crate::{Arm, Comparison, Finding, Measure, Verdict};

/// Rule of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Time for which the version is tried at least.
    pub lasts: Duration,
    /// Requests that it must have served before it passes.
    pub requests_min: u64,
    /// Whether a person says if it passes.
    pub asks: bool,
}

/// What is done with the version on trial.
#[derive(Clone, Debug, PartialEq)]
pub enum Ruling {
    /// The trial goes on.
    GoesOn,
    /// The version passes.
    Passes,
    /// The trial is over, and a person says what follows. The text says why.
    Asks(String),
    /// The version is turned back for this finding.
    Back(Finding),
}

impl Rule {
    /// What follows from the comparison, so long after the trial's start.
    pub fn judge(&self, comparison: &Comparison, since: Duration) -> Ruling {
        let findings = comparison.findings();
        let is_worse = |finding: &&Finding| finding.verdict == Verdict::Worse;
        let (heap, tested): (Vec<Finding>, Vec<Finding>) =
            findings.into_iter().partition(|finding| finding.measure == Measure::Heap);
        if let Some(worst) = tested.iter().filter(is_worse).max_by(|a, b| a.sure.total_cmp(&b.sure)) {
            return Ruling::Back(*worst);
        }
        if since < self.lasts {
            return Ruling::GoesOn;
        }
        let served = comparison.requests(Arm::Trial);
        if self.asks {
            return Ruling::Asks("the time is over".to_owned());
        }
        if heap.iter().any(|finding| finding.verdict == Verdict::Worse) {
            return Ruling::Asks(
                "the heap grows and is larger than that of any worker of the present version".to_owned(),
            );
        }
        if served < self.requests_min {
            return Ruling::Asks(format!("the time is over, and {served} of {} requests have come", self.requests_min));
        }
        Ruling::Passes
    }
}
