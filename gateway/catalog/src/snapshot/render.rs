//! Rendering as operators see it: the dial, components, and what settings of the dial do to pages.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::FindingSnapshot;

/// The dial in force.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DialSnapshot {
    /// Shares of visitors for whom the server renders, as in `render.server`.
    pub server: BTreeMap<String, String>,
    /// Whether `sluice dial` has changed it since the config came into force.
    pub turned: bool,
}

/// Reports of workers and browsers on rendering since the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EffectsSnapshot {
    /// The 50 components that took most CPU time, that one first.
    pub components: Vec<ComponentSnapshot>,
    /// Components in all; those beyond 500 are one, `other`.
    pub components_count: u64,
    /// Renders of all components.
    #[serde(default)]
    pub renders_total: u64,
    /// Renders among them that left a hole in their page.
    #[serde(default)]
    pub holes_total: u64,
    /// Component of whose recent renders most left a hole; `None` while none does.
    #[serde(default)]
    pub worst_hole: Option<HoleSnapshot>,
    /// Figures by setting of the dial.
    pub settings: Vec<SettingSnapshot>,
    /// Figures by variant.
    pub variants: Vec<VitalsSnapshot>,
    /// Arms of experiments, compared by what browsers measured.
    #[serde(default)]
    pub experiments: Vec<ExperimentSnapshot>,
    /// Figures by class of the page: the 20 with most reports, that with most first.
    pub pages: Vec<VitalsSnapshot>,
}

/// Arms of an experiment, compared with one of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExperimentSnapshot {
    /// Name of the experiment.
    pub name: String,
    /// The arm that the others are compared with: `control`, or the first one by name.
    pub baseline: String,
    /// Arms that are compared, by name. At most 8.
    pub arms: Vec<ArmSnapshot>,
    /// Number of further arms that pages had in the last hour, which are not compared. At most 32.
    #[serde(default)]
    pub left_out: u64,
}

/// An arm of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ArmSnapshot {
    /// Name of the arm.
    pub name: String,
    /// Page views whose browsers have reported.
    pub views: u64,
    /// Findings on its times, compared with those of the baseline; none for the baseline itself.
    pub findings: Vec<FindingSnapshot>,
}

/// Component that leaves holes in pages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HoleSnapshot {
    /// Name of the component.
    pub component: String,
    /// Share of its renders in about the last half minute that left a hole, 0 to 1.
    pub share: f64,
    /// Outcome of the latest one: `error`, `late` and the like.
    pub outcome: String,
}

/// One component since the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ComponentSnapshot {
    /// Name.
    pub name: String,
    /// Renders by outcome: `rendered`, `cached`, `error`, `late`, `client` and the like.
    pub outcomes: BTreeMap<String, u64>,
    /// CPU time of all of them, milliseconds.
    pub cpu_ms_total: f64,
}

/// Pages with one setting of the dial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SettingSnapshot {
    /// The setting, in the words of the renderer.
    pub name: String,
    /// Pages that workers have made with it.
    pub pages_total: u64,
    /// CPU time of their components, milliseconds.
    pub cpu_ms_total: f64,
    /// The same for one page; `None` where no page was counted.
    pub cpu_ms_per_page: Option<f64>,
    /// Measurements of browsers, by device.
    pub devices: Vec<VitalsSnapshot>,
}

/// Measurements of browsers for one kind of page. Figures without `_total` are 75th percentiles of the last one to two hours;
/// `None` if nothing was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VitalsSnapshot {
    /// Device, variant or class.
    pub name: String,
    /// Reports since the start.
    pub reports_total: u64,
    /// Components whose HTML was not what the browser would have rendered, since the start.
    pub mismatches_total: u64,
    /// Components that the browser could not bring to life, since the start.
    pub failed_total: u64,
    /// Time to the first byte, milliseconds.
    pub ttfb_ms: Option<f64>,
    /// First contentful paint, milliseconds.
    pub fcp_ms: Option<f64>,
    /// Largest contentful paint, milliseconds.
    pub lcp_ms: Option<f64>,
    /// Interaction to next paint, milliseconds.
    pub inp_ms: Option<f64>,
    /// Time to interactive: until the page's components answered, milliseconds. Absent where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tti_ms: Option<f64>,
    /// Slowest answer to a key of a page view, milliseconds. Absent where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_ms: Option<f64>,
    /// Time by which frames took longer than 50 ms, milliseconds of a page view. Absent where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long_ms: Option<f64>,
    /// JavaScript's memory when a page was left. Absent where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<f64>,
    /// Cumulative layout shift.
    pub cls: Option<f64>,
    /// HTML of a page.
    pub html_bytes: Option<f64>,
    /// JavaScript of a page.
    pub js_bytes: Option<f64>,
}
