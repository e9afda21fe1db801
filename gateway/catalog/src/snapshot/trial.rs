//! The trial of a version beside the present one, as operators see it.

use serde::{Deserialize, Serialize};

/// A version on trial, or the latest one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialSnapshot {
    /// Generation of the version.
    pub generation: u64,
    /// State of the trial.
    pub state: TrialState,
    /// Reason for the state, if there is one to tell.
    pub reason: Option<String>,
    /// Share of visitors who get the version, 0 to 1; `null` where it has taken places over and chance decides.
    pub share: Option<f64>,
    /// Seconds for which both versions have been compared.
    pub compared_s: f64,
    /// Seconds for which they are compared at least.
    pub lasts_s: f64,
    /// Requests that ended in its workers.
    pub requests: u64,
    /// Requests that ended in workers of the present version meanwhile.
    pub requests_present: u64,
    /// Requests of its workers that are not compared, because a worker's first ones are slow.
    pub requests_warming: u64,
    /// Findings by measure.
    pub findings: Vec<FindingSnapshot>,
    /// Classes with requests of this version alone.
    pub new_classes: Vec<String>,
    /// Pages of both versions, compared word by word; `null` unless that was asked for.
    #[serde(default)]
    pub html: Option<PagesSnapshot>,
}

/// Pages that both versions rendered for a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PagesSnapshot {
    /// Share of pages that are rendered again, 0 to 1.
    pub share: f64,
    /// Pages that were compared.
    pub compared: u64,
    /// Pages of them with a difference.
    pub differing: u64,
    /// Pages that could not be compared: they vary too much, are too long, or a render did not end.
    pub unclear: u64,
    /// Classes, those with most differing pages first.
    pub classes: Vec<PageClassSnapshot>,
}

/// Compared pages of a class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageClassSnapshot {
    /// Class.
    pub class: String,
    /// Pages that were compared.
    pub compared: u64,
    /// Pages of them with a difference.
    pub differing: u64,
    /// Pages that could not be compared: they vary too much, are too long, or a render did not end.
    pub unclear: u64,
    /// Path of the first page with a difference.
    pub path: Option<String>,
    /// Line of the difference, from 1; `null` if the status differs.
    pub line: Option<u64>,
    /// Text there in the present version.
    pub present: Option<String>,
    /// Text there in the version on trial.
    pub trial: Option<String>,
}

/// State of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrialState {
    /// The workers of the version start.
    Starting,
    /// Both versions serve and are compared.
    Running,
    /// A person has to say how it ends.
    Held,
    /// The version takes the other places over, or has.
    Promoted,
    /// The version was turned back.
    Back,
}

impl TrialState {
    /// The word for people.
    pub fn as_str(self) -> &'static str {
        match self {
            TrialState::Starting => "starting",
            TrialState::Running => "running",
            TrialState::Held => "held",
            TrialState::Promoted => "promoted",
            TrialState::Back => "rolled back",
        }
    }

    /// Whether the trial can still be promoted, held or rolled back.
    pub fn is_open(self) -> bool {
        matches!(self, TrialState::Starting | TrialState::Running | TrialState::Held)
    }
}

/// Comparison of a version with the present one in one measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindingSnapshot {
    /// The measure.
    pub measure: String,
    /// `better`, `equal`, `worse` or `unknown`.
    pub verdict: String,
    /// Change: relative for times and heaps (0.1 is 10 % more), a difference of shares for others.
    pub change: Option<f64>,
    /// Lower end of its interval of 99 %.
    pub low: Option<f64>,
    /// Upper end of the same.
    pub high: Option<f64>,
    /// Confidence in a difference, 0 to 1.
    pub sure: f64,
    /// Whether the change is a difference of shares.
    pub is_share: bool,
}
