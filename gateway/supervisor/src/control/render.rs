//! Messages to and from workers about rendering. It must not know their effects.

use serde_json::json;
use sluice_catalog::config::VITALS_PATH;
use sluice_vitals::{ComponentReport, SettingReport};
use tokio::time::Instant;

use super::record::ControlRecord;
use crate::Supervisor;
use crate::gate::{DialInForce, RenderReport};
use crate::process::Process;

/// Components, settings or variants accepted in one line.
const RENDERED_MAX: usize = 1000;

/// Sends the dial to the worker, unless it has the present one. A worker that does not accept the line gets it with its
/// next beat.
pub(super) fn tell_dial(supervisor: &Supervisor, process: &Process) {
    let dial = supervisor.gate.dial();
    let DialInForce { version, server } = &*dial;
    if process.dial_told.get() == *version {
        return;
    }
    if process.say(&json!({ "type": "render", "server": server, "vitals": VITALS_PATH }).to_string()) {
        process.dial_told.set(*version);
    }
}

/// Sends the components that exceeded their budgets to the worker, unless it has the present counts.
pub(super) fn tell_overruns(supervisor: &Supervisor, process: &Process) {
    let overruns = supervisor.overruns.borrow();
    if process.overruns_told.get() == overruns.version() {
        return;
    }
    let (heard, components) = (process.overruns_heard.get(), overruns.told(Instant::now()));
    if process.say(&json!({ "type": "overruns", "heard": heard, "components": components }).to_string()) {
        process.overruns_told.set(overruns.version());
    }
}

/// Records that a component of the worker has exceeded its budget, or no longer does.
pub(super) fn hear_overrun(supervisor: &Supervisor, process: &Process, said: &ControlRecord) {
    process.overruns_heard.set(process.overruns_heard.get().saturating_add(1));
    supervisor.overruns.borrow_mut().note(&said.component, said.over, Instant::now());
}

/// Reports rendered components and pages of the worker.
pub(super) fn hear(supervisor: &Supervisor, process: &Process, said: &ControlRecord) {
    let components = said.components.iter().take(RENDERED_MAX).map(|one| ComponentReport {
        component: &one.component,
        outcome: &one.outcome,
        count: one.count,
        cpu_us: one.cpu_us,
    });
    let settings = said.settings.iter().take(RENDERED_MAX);
    let settings = settings.map(|one| SettingReport { setting: &one.setting, pages: one.pages, cpu_us: one.cpu_us });
    let variants = said.variants.iter().take(RENDERED_MAX).map(String::as_str);
    supervisor.gate.reports().rendered(&RenderReport {
        worker: process.worker,
        components: components.collect(),
        settings: settings.collect(),
        variants: variants.collect(),
    });
}
