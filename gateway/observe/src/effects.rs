//! Reports of workers and browsers about rendering. This module must not know how a share of visitors is drawn.

mod metrics;

use std::cell::RefCell;
use std::rc::Rc;

use sluice_catalog::snapshot::{ArmSnapshot, EffectsSnapshot, ExperimentSnapshot};
use sluice_journal::Page;
use sluice_vitals::{ArmFindings, Beacon, ComponentReport, Effects, ExperimentFindings, Holes, SettingReport};
use tokio::time::Instant;

use crate::context::Context;
use crate::deploys::finding_snapshot;

/// Reports about rendering, collected for metrics and snapshots.
pub struct RenderEffects {
    context: Rc<Context>,
    effects: RefCell<Effects>,
}

impl RenderEffects {
    pub(crate) fn new(context: &Rc<Context>) -> Self {
        RenderEffects { context: Rc::clone(context), effects: RefCell::default() }
    }

    /// Records components that a worker rendered, pages by settings of the dial, and variants of pages.
    pub fn rendered(&self, components: &[ComponentReport<'_>], settings: &[SettingReport<'_>], variants: &[&str]) {
        let (mut effects, now) = (self.effects.borrow_mut(), self.context.since_start(Instant::now()));
        for rendered in components {
            effects.rendered(rendered, now);
        }
        for spent in settings {
            effects.spent(spent, now);
        }
        for variant in variants {
            effects.varied(variant, now);
        }
    }

    /// Records a browser's measurement of a page of this class.
    pub fn measured(&self, beacon: &Beacon, class: Option<&str>) {
        self.effects.borrow_mut().measured(beacon, class, self.context.since_start(Instant::now()));
    }

    /// Summary of the reports for operators.
    pub fn snapshot(&self) -> Option<EffectsSnapshot> {
        let mut effects = self.effects.borrow_mut();
        let snapshot = effects.snapshot(self.context.since_start(Instant::now()))?;
        Some(EffectsSnapshot { experiments: effects.experiments().into_iter().map(experiment).collect(), ..snapshot })
    }

    /// Component of whose recent renders most left a hole, and their share.
    pub(crate) fn worst_holes(&self, now: Instant) -> Option<Holes> {
        self.effects.borrow_mut().worst_holes(self.context.since_start(now))
    }

    pub(crate) fn write_metrics(&self, page: &mut Page) {
        metrics::write(page, &self.effects.borrow());
    }
}

fn experiment(of: ExperimentFindings) -> ExperimentSnapshot {
    let arm = |arm: ArmFindings| ArmSnapshot {
        name: arm.name,
        views: arm.views,
        findings: arm.findings.iter().map(finding_snapshot).collect(),
    };
    let arms = of.arms.into_iter().map(arm).collect();
    ExperimentSnapshot { name: of.name, baseline: of.baseline, arms, left_out: of.left_out }
}
