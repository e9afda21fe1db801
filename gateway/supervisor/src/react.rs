//! React renders reported by workers, counted over the gateway's whole life, including workers that have exited.
//!
//! Workers are input (I8): reasons are bounded in number and length, and a count that falls adds nothing.

use sluice_catalog::snapshot::ComponentCacheSnapshot;
use sluice_journal::Level;

use crate::Supervisor;
use crate::process::Process;
use crate::process::facts::Renders;

/// Reasons that are counted by name; later ones count as [`OTHER`].
const REASONS_MAX: usize = 32;
/// Longest reason that is kept, characters.
const REASON_CHARS_MAX: usize = 80;
const OTHER: &str = "other";
/// Longest explanation of a worker for not using the renderer, characters.
const WHY_CHARS_MAX: usize = 500;

impl Renders {
    /// Adds a worker's renders since its last report.
    fn add(&mut self, now: &Renders, before: &Renders) {
        self.renders += now.renders.saturating_sub(before.renders);
        for (reason, count) in &now.reasons {
            let new = count.saturating_sub(before.reasons.get(reason).copied().unwrap_or(0));
            if new == 0 {
                continue;
            }
            let name: String = reason.chars().take(REASON_CHARS_MAX).collect();
            let is_known = self.reasons.contains_key(&name);
            // One place is kept for the rest.
            let name = if is_known || self.reasons.len() < REASONS_MAX { name } else { OTHER.to_owned() };
            *self.reasons.entry(name).or_default() += new;
        }
    }
}

impl Supervisor {
    /// Renders of all workers since the start; `None` while there were none.
    pub fn react_renders(&self) -> Option<Renders> {
        let renders = self.react.borrow();
        (*renders != Renders::default()).then(|| renders.clone())
    }

    /// Handles a worker's counts since its start.
    pub(crate) fn heard_renders(&self, process: &Process, now: Renders) {
        let before = process.react.borrow();
        self.react.borrow_mut().add(&now, &before);
        drop(before);
        *process.react.borrow_mut() = now;
    }

    /// Component caches of all workers: activity since the start, and contents of those that run. `None` while no cache
    /// was used.
    pub fn component_cache(&self) -> Option<ComponentCacheSnapshot> {
        let mut all = self.component_cache.get();
        if all == ComponentCacheSnapshot::default() {
            return None;
        }
        for process in self.processes.borrow().values().filter(|process| !process.has_exited.get()) {
            let ComponentCacheSnapshot { entries, bytes, bytes_max, .. } = process.component_cache.get();
            all.entries = all.entries.saturating_add(entries);
            all.bytes = all.bytes.saturating_add(bytes);
            all.bytes_max = all.bytes_max.saturating_add(bytes_max);
        }
        Some(all)
    }

    /// Handles a worker's report about its component cache: activity since its start, and contents.
    pub(crate) fn heard_component_cache(&self, process: &Process, now: ComponentCacheSnapshot) {
        let before = process.component_cache.replace(now);
        self.component_cache.set(with_done(self.component_cache.get(), now, before));
    }

    /// Reports that a worker does not use the configured renderer, once, because all of a generation would report the
    /// same.
    pub(crate) fn heard_react_off(&self, process: &Process, why: &str) {
        if self.react_off_told.replace(true) {
            return;
        }
        let why: String = why.chars().take(WHY_CHARS_MAX).collect();
        let text = format!("react = \"fast\" has no effect in worker {}: {why}", process.worker.0);
        self.note(Level::Warn, &text);
    }
}

/// Adds the activity of one cache since its last report.
fn with_done(
    all: ComponentCacheSnapshot,
    now: ComponentCacheSnapshot,
    before: ComponentCacheSnapshot,
) -> ComponentCacheSnapshot {
    let more = |all: u64, now: u64, before: u64| all.saturating_add(now.saturating_sub(before));
    ComponentCacheSnapshot {
        hits_total: more(all.hits_total, now.hits_total, before.hits_total),
        misses_total: more(all.misses_total, now.misses_total, before.misses_total),
        evictions_total: more(all.evictions_total, now.evictions_total, before.evictions_total),
        ..all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn component_caches_add_up_and_nothing_that_a_worker_says_overflows() {
        let cache =
            |hits_total, misses_total| ComponentCacheSnapshot { hits_total, misses_total, ..Default::default() };
        let first = with_done(cache(0, 0), cache(3, 1), cache(0, 0));
        assert_eq!(with_done(first, cache(5, 1), cache(3, 1)), cache(5, 1));
        // A worker that takes something back is not believed.
        assert_eq!(with_done(first, cache(1, 0), cache(3, 1)), first);
        assert_eq!(with_done(first, cache(u64::MAX, u64::MAX), cache(0, 0)), cache(u64::MAX, u64::MAX));
    }

    fn renders(renders: u64, reasons: &[(&str, u64)]) -> Renders {
        Renders { renders, reasons: reasons.iter().map(|(reason, count)| ((*reason).to_owned(), *count)).collect() }
    }

    #[test]
    fn what_workers_count_adds_up_over_their_deaths() {
        let mut total = Renders::default();
        let first = renders(5, &[("SuspenseList", 1)]);
        total.add(&first, &Renders::default());
        total.add(&renders(8, &[("SuspenseList", 1), ("development build", 2)]), &first);
        // Its successor counts from 0.
        total.add(&renders(2, &[("SuspenseList", 2)]), &Renders::default());
        assert_eq!(total, renders(10, &[("SuspenseList", 3), ("development build", 2)]));
        // A worker that takes something back is not believed.
        total.add(&renders(1, &[]), &first);
        assert_eq!(total, renders(10, &[("SuspenseList", 3), ("development build", 2)]));
    }

    #[test]
    fn reasons_are_bounded_in_number_and_length_i6() {
        let mut total = Renders::default();
        for number in 0..1000 {
            total.add(&renders(1, &[(&format!("reason {number}"), 1)]), &Renders::default());
        }
        total.add(&renders(1, &[(&"x".repeat(10_000), 1)]), &Renders::default());
        assert_eq!(total.reasons.len(), REASONS_MAX + 1);
        assert_eq!(total.reasons.values().sum::<u64>(), 1001);
        assert_eq!(total.reasons[OTHER], 1001 - REASONS_MAX as u64);
        assert!(total.reasons.keys().all(|reason| reason.chars().count() <= REASON_CHARS_MAX));
    }
}
