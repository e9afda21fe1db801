//! Renders of components, as workers report them: counts by outcome, and CPU time. It must not know pages or browsers.

use std::collections::BTreeMap;
use std::time::Duration;

use sluice_catalog::snapshot::ComponentSnapshot;
use sluice_sketch::Fading;

use crate::names::{Names, OTHER};

/// Maximum number of distinguished components.
const COMPONENTS_MAX: usize = 500;
/// Maximum number of distinguished outcomes, over all components.
const OUTCOMES_MAX: usize = 16;
/// Longest name of a component.
const NAME_CHARS_MAX: usize = 100;
/// Longest outcome.
const OUTCOME_BYTES_MAX: usize = 24;
/// Maximum number of components shown to operators. Metrics have all.
const SHOWN_MAX: usize = 50;
/// Maximum CPU time that one report can add, microseconds. An hour.
const CPU_US_MAX: u64 = 3_600_000_000;

/// Outcomes that leave no hole that nobody wanted: HTML, a component that only the browser renders, and one that the visitor's browser cannot run.
const WANTED: [&str; 6] = ["rendered", "cached", "over-budget", "client", "unsupported", "aborted"];
/// Time after which a render counts for a third of a new one.
const RECENT: Duration = Duration::from_secs(30);
/// Fewest recent renders of a component of which the share of holes says something.
const RENDERS_MIN: f64 = 20.0;

/// Whether renders with this outcome left a hole in their page.
pub fn is_hole(outcome: &str) -> bool {
    !WANTED.contains(&outcome)
}

/// Report of a worker on the renders of one component that ended alike, since its report before.
#[derive(Clone, Copy, Debug)]
pub struct ComponentReport<'a> {
    /// Name of the component.
    pub component: &'a str,
    /// End of the renders.
    pub outcome: &'a str,
    /// Number of renders.
    pub count: u64,
    /// CPU time, microseconds.
    pub cpu_us: u64,
}

#[derive(Debug, Default)]
struct Component {
    outcomes: BTreeMap<String, u64>,
    cpu_us: u64,
    /// Share of recent renders that left a hole.
    holes: Fading,
    /// Latest outcome of these.
    hole: String,
    /// Time to which `holes` is faded.
    faded: Duration,
}

impl Component {
    fn fade(&mut self, now: Duration) {
        let since = now.saturating_sub(self.faded);
        self.holes.fade((-since.as_secs_f64() / RECENT.as_secs_f64()).exp());
        self.faded = now;
    }
}

/// Component that leaves holes in pages.
#[derive(Clone, Debug, PartialEq)]
pub struct Holes {
    /// Name of the component.
    pub component: String,
    /// Share of its renders in about the last half minute that left a hole, from 0 to 1.
    pub share: f64,
    /// Outcome of the latest one: `error`, `late` and the like.
    pub outcome: String,
}

/// All components since the start.
#[derive(Debug, Default)]
pub(crate) struct Components {
    rows: Names<Component, COMPONENTS_MAX>,
    outcomes: Names<(), OUTCOMES_MAX>,
}

impl Components {
    pub(crate) fn add(&mut self, rendered: &ComponentReport<'_>, now: Duration) {
        let ComponentReport { component, outcome, count, cpu_us } = *rendered;
        let name = component.char_indices().nth(NAME_CHARS_MAX).map_or(component, |(end, _)| &component[..end]);
        let is_word = (1..=OUTCOME_BYTES_MAX).contains(&outcome.len())
            && outcome.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        let outcome = if is_word && self.outcomes.has(outcome, now) { outcome } else { OTHER };
        let row = self.rows.used(if name.is_empty() { OTHER } else { name }, now);
        let total = match row.outcomes.get_mut(outcome) {
            Some(total) => total,
            None => row.outcomes.entry(outcome.to_owned()).or_default(),
        };
        *total = total.saturating_add(count);
        row.fade(now);
        let is_hole = is_hole(outcome);
        #[allow(clippy::cast_precision_loss, reason = "a report is of far fewer renders than 2^52")]
        row.holes.add(if is_hole { count as f64 } else { 0.0 }, count as f64);
        if is_hole {
            row.hole.clear();
            row.hole.push_str(outcome);
        }
        row.cpu_us = row.cpu_us.saturating_add(cpu_us.min(CPU_US_MAX));
    }

    /// The component of whose recent renders most left a hole, if any did.
    pub(crate) fn worst(&mut self, now: Duration) -> Option<Holes> {
        let shares = self.rows.iter_mut().filter_map(|(name, component)| {
            component.fade(now);
            let share = component.holes.get(RENDERS_MIN).filter(|share| *share > 0.0)?;
            Some(Holes { component: name.to_owned(), share, outcome: component.hole.clone() })
        });
        shares.max_by(|one, other| one.share.total_cmp(&other.share))
    }

    /// Components that took most CPU time, and the number of all.
    pub(crate) fn snapshot(&self) -> (Vec<ComponentSnapshot>, u64) {
        let mut all: Vec<_> = self.rows.iter().collect();
        let count = all.len() as u64;
        all.sort_by_key(|(_, component)| std::cmp::Reverse(component.cpu_us));
        let shown = all.into_iter().take(SHOWN_MAX).map(|(name, component)| ComponentSnapshot {
            name: name.to_owned(),
            outcomes: component.outcomes.clone(),
            cpu_ms_total: in_ms(component.cpu_us),
        });
        (shown.collect(), count)
    }

    /// All renders, and those that left a hole in their page.
    pub(crate) fn holes(&self) -> [u64; 2] {
        self.renders().fold([0, 0], |[renders, holes], (_, outcome, count)| {
            let left = if is_hole(outcome) { count } else { 0 };
            [renders.saturating_add(count), holes.saturating_add(left)]
        })
    }

    /// Renders by component and outcome.
    pub(crate) fn renders(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        self.rows.iter().flat_map(|(name, component)| {
            component.outcomes.iter().map(move |(outcome, count)| (name, outcome.as_str(), *count))
        })
    }

    /// CPU time by component, microseconds.
    pub(crate) fn cpu_us(&self) -> impl Iterator<Item = (&str, u64)> {
        self.rows.iter().map(|(name, component)| (name, component.cpu_us))
    }
}

#[allow(clippy::cast_precision_loss, reason = "microseconds of CPU time are below 2^52 for a century")]
pub(crate) fn in_ms(us: u64) -> f64 {
    us as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered<'a>(component: &'a str, outcome: &'a str, count: u64, cpu_us: u64) -> ComponentReport<'a> {
        ComponentReport { component, outcome, count, cpu_us }
    }

    #[test]
    fn renders_add_up_by_component_and_outcome() {
        let (mut components, now) = (Components::default(), Duration::ZERO);
        for report in [
            rendered("Price", "rendered", 3, 900),
            rendered("Reviews", "rendered", 1, 5000),
            rendered("Price", "error", 1, 100),
            rendered("Price", "rendered", 2, 0),
        ] {
            components.add(&report, now);
        }
        let (shown, count) = components.snapshot();
        assert_eq!((count, components.holes()), (2, [7, 1]));
        assert_eq!(shown.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["Reviews", "Price"]);
        assert_eq!(shown[1].outcomes, BTreeMap::from([("rendered".to_owned(), 5), ("error".to_owned(), 1)]));
        assert!((shown[1].cpu_ms_total - 1.0).abs() < 1e-9);
    }

    #[test]
    fn recent_holes_are_a_share_of_recent_renders_and_are_forgotten() {
        let (mut components, at) = (Components::default(), Duration::from_secs);
        components.add(&rendered("Price", "rendered", 10, 1), at(1));
        components.add(&rendered("Price", "error", 5, 1), at(1));
        assert_eq!(components.worst(at(1)), None, "too few say nothing");
        components.add(&rendered("Price", "rendered", 20, 1), at(1));
        components.add(&rendered("Ad", "client", 100, 1), at(1));
        let worst = components.worst(at(1)).unwrap();
        assert_eq!((worst.component.as_str(), worst.outcome.as_str()), ("Price", "error"));
        assert!((worst.share - 1.0 / 7.0).abs() < 1e-9, "{worst:?}");
        components.add(&rendered("Price", "rendered", 1000, 1), at(31));
        assert!(components.worst(at(31)).unwrap().share < 0.002);
        assert_eq!(components.worst(at(600)), None, "nothing was rendered lately");
    }

    #[test]
    fn i6_reports_of_a_worker_are_bounded() {
        let (mut components, now) = (Components::default(), Duration::ZERO);
        for number in 0..10_000 {
            components.add(&rendered(&format!("C{number}"), "rendered", 1, 1), now);
        }
        for number in 0..100_u8 {
            let outcome = format!("o{}", "x".repeat(usize::from(number)));
            components.add(&rendered("C1", &outcome, 1, 1), now);
        }
        for outcome in ["", "a\"b", "Ünwort", "x\n"] {
            components.add(&rendered(&"é".repeat(5000), outcome, u64::MAX, u64::MAX), now);
        }
        let names: std::collections::BTreeSet<_> = components.renders().map(|(name, ..)| name).collect();
        let outcomes: std::collections::BTreeSet<_> = components.renders().map(|(_, outcome, _)| outcome).collect();
        assert_eq!((names.len(), outcomes.len()), (COMPONENTS_MAX + 1, OUTCOMES_MAX + 1));
        assert!(outcomes.iter().all(|outcome| outcome.len() <= OUTCOME_BYTES_MAX));
        assert!(components.cpu_us().all(|(name, us)| name.len() <= 200 && us <= 5 * CPU_US_MAX));
        assert_eq!(components.snapshot().0.len(), SHOWN_MAX);
    }
}
