//! Two reports, before and after a change, line by line.

use std::collections::HashMap;

use serde::Serialize;

use super::{CodeLocation, HotLine, Hotspots};

/// Change of a line between two profiles.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Place of the line, afterwards if it is there.
    #[serde(flatten)]
    pub place: CodeLocation,
    /// Figures before; none if it is new.
    pub before: Option<Figures>,
    /// Figures after; none if it is gone.
    pub after: Option<Figures>,
    /// Additional time of the thread in the line itself, in milliseconds of each second watched.
    pub effect_ms_per_s: f64,
}

/// Figures that are compared. Profiles may have lasted differently, so that times are those of each second.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// The longest single run, milliseconds.
    pub worst_ms: f64,
    /// Runs above the threshold, in each second.
    pub runs_over_per_s: f64,
    /// Time with it on the stack.
    pub total_ms_per_s: f64,
    /// Time with it on top.
    pub self_ms_per_s: f64,
    /// Time of the garbage collector within its runs.
    pub gc_ms_per_s: f64,
}

/// Compares, the largest effect first. A function is the same one if file and name are; lines may have moved.
pub fn compare(before: &Hotspots, after: &Hotspots) -> Vec<Change> {
    let mut of_before: HashMap<(&str, &str, &str), Vec<&HotLine>> = HashMap::new();
    for line in in_order(before) {
        of_before.entry(key(line)).or_default().push(line);
    }
    // Those that have not moved find each other first.
    let mut found: HashMap<&CodeLocation, &HotLine> = HashMap::new();
    for line in &after.lines {
        let Some(candidates) = of_before.get_mut(&key(line)) else { continue };
        if let Some(at) = candidates.iter().position(|candidate| candidate.place == line.place) {
            found.insert(&line.place, candidates.remove(at));
        }
    }
    for line in in_order(after) {
        if found.contains_key(&line.place) {
            continue;
        }
        if let Some(candidates) = of_before.get_mut(&key(line)).filter(|candidates| !candidates.is_empty()) {
            found.insert(&line.place, candidates.remove(0));
        }
    }
    let is = after.lines.iter().map(|line| {
        let was = found.get(&line.place).map(|line| figures(line, before));
        change(&line.place, was, Some(figures(line, after)))
    });
    let gone = of_before.values().flatten().map(|line| change(&line.place, Some(figures(line, before)), None));
    let mut changes: Vec<Change> = is.chain(gone).collect();
    changes.sort_by(|a, b| {
        let by_effect = b.effect_ms_per_s.abs().total_cmp(&a.effect_ms_per_s.abs());
        let place = |change: &Change| (change.place.file.clone(), change.place.line, change.place.column);
        by_effect
            .then_with(|| b.worst_change_ms().abs().total_cmp(&a.worst_change_ms().abs()))
            .then_with(|| place(a).cmp(&place(b)))
    });
    changes
}

impl Change {
    /// Growth of the worst run, milliseconds.
    pub fn worst_change_ms(&self) -> f64 {
        let worst = |figures: &Option<Figures>| figures.as_ref().map_or(0.0, |figures| figures.worst_ms);
        worst(&self.after) - worst(&self.before)
    }
}

fn in_order(report: &Hotspots) -> Vec<&HotLine> {
    let mut lines: Vec<&HotLine> = report.lines.iter().collect();
    lines.sort_by_key(|line| (line.place.line, line.place.column));
    lines
}

fn key(line: &HotLine) -> (&str, &str, &str) {
    (&line.place.file, &line.place.function, &line.place.owner)
}

fn change(place: &CodeLocation, before: Option<Figures>, after: Option<Figures>) -> Change {
    let self_ms = |figures: &Option<Figures>| figures.as_ref().map_or(0.0, |figures| figures.self_ms_per_s);
    Change { place: place.clone(), effect_ms_per_s: self_ms(&after) - self_ms(&before), before, after }
}

fn figures(line: &HotLine, report: &Hotspots) -> Figures {
    let per_s = |figure: f64| if report.duration_ms > 0.0 { figure * 1000.0 / report.duration_ms } else { 0.0 };
    #[allow(clippy::cast_precision_loss, reason = "runs are far fewer than 2^53")]
    let runs_over = line.runs_over as f64;
    Figures {
        worst_ms: line.worst_ms,
        runs_over_per_s: per_s(runs_over),
        total_ms_per_s: per_s(line.total_ms),
        self_ms_per_s: per_s(line.self_ms),
        gc_ms_per_s: per_s(line.gc_ms),
    }
}
