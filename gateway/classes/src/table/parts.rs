//! Classes that fall into parts, and join again.

use std::rc::Rc;

use sluice_scheduler::{ClassId, SavedCosts};

use super::{Change, Origin, RARE_HITS, Split, Table};
use crate::Traits;
use crate::features::Features;
use crate::split::{By, Group, Moments, Splitter};

/// Maximum number of classes whose costs are analysed at once.
const SPLITTERS_MAX: usize = 64;
/// Maximum number of parts of one class.
const PARTS_MAX: usize = 6;
/// Reports of a class before its spread is judged, and after which the sums are halved.
const SPREAD_MIN: f64 = 60.0;
const SPREAD_HALVE_AT: f64 = 1_000.0;
/// Reports that a new part starts with: enough to be known.
const SEED_RECORDS: u32 = 25;

impl Table {
    /// The part of the class that the request belongs to, and what may explain its cost where that is asked.
    pub(crate) fn part(&mut self, base: ClassId, asked: &Traits<'_>) -> (ClassId, Option<Features>) {
        let row = self.row_mut(base);
        let Some(splitter) = &mut row.splitter else { return (base, None) };
        splitter.notice(asked.target);
        let features = Features::of(asked.target, asked.body_bytes);
        let part = row.split.as_ref().and_then(|split| split.part(&features)).unwrap_or(base);
        (part, Some(features))
    }

    pub(crate) fn measured(
        &mut self,
        class: ClassId,
        name: &Rc<str>,
        features: Option<&Features>,
        cost_us: u64,
    ) -> Option<ClassId> {
        let row = self.same_row(class, name)?;
        row.totals.cpu_us = row.totals.cpu_us.saturating_add(cost_us);
        let base = if let Origin::Part { of } = row.origin { of } else { class };
        if base == ClassId::OTHER {
            return Some(class);
        }
        #[allow(clippy::cast_precision_loss)] // Costs are far below 2^53 µs.
        let log = (cost_us.max(1) as f64).ln();
        let row = self.row_mut(base);
        row.spread.add(log);
        if row.spread.count >= SPREAD_HALVE_AT {
            row.spread.halve();
        }
        if let (Some(splitter), Some(features)) = (&mut row.splitter, features) {
            if splitter.record(features, log) {
                self.reconsider(base);
            }
        } else if row.splitter.is_none() && row.spread.count >= SPREAD_MIN && row.spread.is_wide() {
            let splitters = self.rows.iter().filter(|row| row.splitter.is_some()).count();
            if splitters < SPLITTERS_MAX {
                self.row_mut(base).splitter = Some(Box::default());
            }
        }
        Some(class)
    }

    /// The request took about so much CPU time; how much exactly is not known.
    pub(crate) fn estimated(&mut self, class: ClassId, name: &Rc<str>, cost_us: u64) {
        if let Some(row) = self.same_row(class, name) {
            row.totals.cpu_us = row.totals.cpu_us.saturating_add(cost_us);
        }
    }

    fn reconsider(&mut self, base: ClassId) {
        let row = self.row(base);
        let Some(splitter) = &row.splitter else { return };
        let found = splitter.best();
        match (&row.split, found) {
            (Some(split), _) if !splitter.holds(split.by) => self.join(base),
            (Some(split), Some((by, groups))) if split.by == by => self.add_parts(base, by, groups),
            (None, Some((by, groups))) => {
                let rest = splitter.rest(by);
                self.row_mut(base).split = Some(Split { by, parts: Vec::new() });
                self.add_parts(base, by, groups);
                self.start_anew(base, rest);
            }
            (None, None) if !row.spread.is_wide() => self.row_mut(base).splitter = None,
            _ => {}
        }
    }

    fn add_parts(&mut self, base: ClassId, by: By, groups: Vec<Group>) {
        for Group { value, name, moments } in groups {
            let parts = self.row(base).split.as_ref().map_or(&[][..], |split| &split.parts);
            if parts.len() >= PARTS_MAX || parts.iter().any(|(known, _)| *known == value) {
                continue;
            }
            let name = format!("{} {name}", self.row(base).name);
            let Some(part) = self.allocate(name.into(), Origin::Part { of: base }, RARE_HITS) else { continue };
            self.start_anew(part, moments);
            if let Some(split) = &mut self.row_mut(base).split {
                debug_assert_eq!(split.by, by);
                split.parts.push((value, part));
            }
        }
    }

    /// Joins the parts again, because they no longer explain the cost.
    fn join(&mut self, base: ClassId) {
        let row = self.row_mut(base);
        row.splitter = Some(Box::<Splitter>::default());
        let spread = row.spread;
        if let Some(split) = row.split.take() {
            for (_, part) in split.parts {
                self.release(part);
            }
        }
        self.start_anew(base, spread);
    }

    /// Starts a number anew for other requests than before, with the known part of their costs.
    fn start_anew(&mut self, class: ClassId, moments: Moments) {
        self.changes.push(Change::Forget(class));
        if moments.count < 1.0 {
            return;
        }
        // Of a log-normal cost.
        let mean_us = (moments.mean() + moments.variance() / 2.0).exp();
        let saved = SavedCosts {
            records: SEED_RECORDS,
            mean_us,
            mean_square: mean_us * mean_us * moments.variance().exp(),
            long_mean_us: mean_us,
            buckets: Vec::new(),
        };
        self.changes.push(Change::Seed(class, saved));
    }
}

impl Split {
    fn part(&self, features: &Features) -> Option<ClassId> {
        let value = self.by.group(features)?;
        self.parts.iter().find(|(of, _)| *of == value).map(|(_, part)| *part)
    }
}
